"""Gather what is searched of a question: words of either language, two Chinese characters do.

Plain containment, without regard to case or width: Chinese has no spaces to split at.
"""

import unicodedata

from quizkit.bank.language import texts_of
from quizkit.bank.model import Question


def words(wanted: str) -> list[str]:
    """Return the words of a search, each of which a question must hold."""
    return folded(wanted).split()


def searched(question: Question) -> tuple[str, str]:
    """Return where a word weighs most (id, tags and prompt), and all that is searched."""
    texts = {place: f"{text.zh} {text.en}" for place, text in texts_of(question)}
    front = folded(f"{question.id} {' '.join(question.tags)} {texts.pop('prompt')}")
    return front, f"{front} {folded(' '.join(texts.values()))}"


def folded(text: str) -> str:
    """Return the text without case and width: ＧＰｉｐｅ is gpipe."""
    return unicodedata.normalize("NFKC", text).casefold()
