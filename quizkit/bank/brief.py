"""Hold the core to what an interview allows: asked in a breath, explained in one idea, shown."""

import re
from collections.abc import Iterable, Iterator, Mapping

from quizkit.bank.entry import statements_of
from quizkit.bank.model import Numeric, Question
from quizkit.bank.places import places
from quizkit.bank.reading_time import choices_of, length
from quizkit.bank.rules import Rule
from quizkit.words import Lang

MOST_ASKED: Mapping[Lang, int] = {"zh": 150, "en": 80}  # words, in Chinese Han characters as well
MOST_EXPLAINED: Mapping[Lang, int] = {"zh": 150, "en": 80}
SPOKEN: Mapping[Lang, tuple[int, int]] = {"zh": (60, 180), "en": (40, 105)}  # 20 to 40 seconds
MOST_QUOTING = 0.1  # of the core may ask whether somebody's claim is right
_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_FORMULA = re.compile(r"\$[^$\n]+\$")
_QUOTED: Mapping[Lang, re.Pattern[str]] = {
    "zh": re.compile(r"面试笔记|“[^”]{14,}”"),
    "en": re.compile(r"interview note|\"[^\"]{30,}\""),
}


def not_brief(question: Question) -> Iterator[Rule]:
    """Yield (place, message) of what keeps a core question from being asked as one speaks."""
    every = [*question.asks, *choices_of(question)]
    for lang in MOST_ASKED:
        asked = sum(_words(text[lang]) for text in every)
        if asked > MOST_ASKED[lang]:
            most = MOST_ASKED[lang]
            yield (
                "prompt",
                f"asked, {lang}: {asked} words with conditions and options;"
                f" the core has {most} at most",
            )
        told = _words(question.explain[lang])
        if told > MOST_EXPLAINED[lang]:
            yield (
                "explain",
                f"explained, {lang}: {told} words; the core has {MOST_EXPLAINED[lang]} at most",
            )
        least, most = SPOKEN[lang]
        said = _words(question.say[lang]) if question.say else 0
        if not least <= said <= most:
            yield "say", f"said, {lang}: {said} words; 20 to 40 seconds are {least} to {most}"
    drawn = {*question.params, "answer"} if isinstance(question, Numeric) else set[str]()
    if drawn and question.say and not places(question.say.en) & drawn:
        yield "say", "says no number of this draw; put `{answer}` or a parameter in"
    yield from _unshown(question)


def quoting(core: Iterable[Question]) -> Iterator[str]:
    """Say where too many of the core ask what to think of a quotation: "partly" guesses those."""
    questions = [*core]
    for lang in _QUOTED:
        quoted = [each.id for each in questions if _QUOTED[lang].search(each.prompt[lang])]
        if len(quoted) > MOST_QUOTING * len(questions):
            yield (
                f"{len(quoted)} of {len(questions)} core questions quote a claim ({lang}), one in"
                f" ten at most: {', '.join(quoted)}"
            )


def _words(text: str) -> int:
    """Count the words; a formula is one, and code none: it is looked at."""
    return length(_FORMULA.sub(" formula ", _FENCE.sub("", text)))


def _unshown(question: Question) -> Iterator[Rule]:
    for place, part in statements_of(question):
        if part.claim and not part.shows:
            yield place, "has a claim but no `shows`: say what was seen"
        elif not part.claim and not question.sources:
            yield place, "has no claim; the core gives it one, or a source"
