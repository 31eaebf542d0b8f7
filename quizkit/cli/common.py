"""What every command shares: which language it speaks, and how a failure leaves."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from quizkit.errors import DiaryError, UsageError
from quizkit.words import Lang

if TYPE_CHECKING:
    from quizkit.bank.library import Library
    from quizkit.bank.reader import Bank

LANG_HELP = "Language of the words: zh or en. Default: config, else the locale."
BANK_HELP = "Another folder of questions beside the shipped ones. May be repeated."
JSON_HELP = "One JSON object on stdout."

_spoken: list[Lang] = []


def language(option: str | None = None) -> Lang:
    """The language to speak: what was said, else the config, else the locale, else English."""
    if option is not None and option not in ("zh", "en"):
        raise UsageError("lang", name=option)
    chosen = option or os.environ.get("QUIZKIT_LANG") or _configured() or _locale()
    lang: Lang = "zh" if chosen == "zh" else "en"
    _spoken.append(lang)
    return lang


def spoken() -> Lang:
    """The language of the running command, for a failure that ends it."""
    return _spoken[-1] if _spoken else language()


def choose_topics(folder: Path, banks: Sequence[Path], wanted: Sequence[str]) -> set[str] | None:
    """The topics asked for, or None for all. Raises UsageError for one that does not exist."""
    from quizkit.bank.reader import topic_slugs
    from quizkit.near import nearest

    known = {slug for bank in (folder, *banks) for slug in topic_slugs(bank)}
    for topic in wanted:
        if topic not in known:
            raise UsageError("topic", name=topic, hint=nearest(topic, known))
    return set(wanted) or None


def joined_bank(banks: Sequence[Path], topics: Collection[str] | None) -> "Bank":
    """The shipped questions of some topics, or of all, and those of the user's own banks."""
    from quizkit.bank.reader import Bank
    from quizkit.paths import QUESTIONS

    found = Bank.load(QUESTIONS, topics)
    for folder in banks:
        found = found.joined(Bank.load(folder, topics))
    return found


def library(banks: Sequence[Path], *, thorough: bool = True) -> "Library":
    """The shipped questions and those of the user's own banks: only what is asked is read."""
    from quizkit.bank.library import Library
    from quizkit.paths import QUESTIONS, cache_folder

    return Library([QUESTIONS, *banks], cache_folder(), thorough=thorough)


def _configured() -> str | None:
    from quizkit.paths import config_file

    try:
        # A stray byte in another line is no reason not to find this one.
        text = config_file().read_text(encoding="utf-8", errors="replace")
    except (OSError, DiaryError):
        # No home, no config. Whoever needs the home for more will say so, in the language found.
        return None
    # One key of one file: not worth the YAML library before the first question.
    found = [line.partition(":")[2].strip() for line in text.splitlines() if line[:5] == "lang:"]
    return found[-1] if found else None


def _locale() -> str:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return value[:2].lower()
    return "en"
