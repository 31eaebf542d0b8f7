"""The manners all commands share: which language one speaks, and how a failure leaves."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from quizkit.errors import BankError, QuizkitError, UsageError
from quizkit.settings import glimpse, settings
from quizkit.words import Lang

if TYPE_CHECKING:
    from quizkit.bank.entry import Entry
    from quizkit.bank.library import Library
    from quizkit.bank.model import Retired
    from quizkit.bank.reader import Bank
    from quizkit.tutor.after_mock import Practice
    from quizkit.tutor.lineup import Allowance

_spoken: list[Lang] = []


def language(option: str | None = None) -> Lang:
    """Choose the language to speak: what was said, else the config, the locale, English."""
    if option is not None and option not in ("zh", "en"):
        raise UsageError("lang", name=option)
    chosen = option or os.environ.get("QUIZKIT_LANG") or glimpse("lang") or _locale()
    lang: Lang = "zh" if chosen == "zh" else "en"
    _spoken.append(lang)
    return lang


def typed(words: Sequence[str]) -> str:
    """Join words of the command line: typed as UTF-8, whatever the locale took them for."""
    text = " ".join(words)
    with suppress(UnicodeError):
        return os.fsencode(text).decode()
    return text.encode(errors="replace").decode()


def spoken() -> Lang:
    """Return the language of the running command, for a failure that ends it."""
    return _spoken[-1] if _spoken else language()


def tell(text: str, *, err: bool = False) -> None:
    """Print sentences. On a terminal they break between words; a pipe has each line whole."""
    import sys

    import typer

    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        from quizkit.ui.text.linebreak import wrapped

        text = wrapped(text, columns(stream))
    typer.echo(text, err=err)


def columns(stream: TextIO) -> int:
    """Return the terminal's width. Python's first stdout, which `shutil` asks, may be gone."""
    import shutil

    if not os.environ.get("COLUMNS"):
        with suppress(OSError):
            if wide := os.get_terminal_size(stream.fileno()).columns:
                return wide
    return shutil.get_terminal_size().columns


def choose_topics(folder: Path, banks: Sequence[Path], wanted: Sequence[str]) -> set[str] | None:
    """Return the topics asked for, or None for all. Raises UsageError for one that does not exist.

    Other names that people type are taken; which topic they stand for is said once.
    """
    from quizkit.bank.reader import topic_slugs
    from quizkit.cli.aliases import topic_named
    from quizkit.words import say

    known = {slug for bank in (folder, *own_banks(banks)) for slug in topic_slugs(bank)}
    found = {word: topic_named(word, known) for word in wanted}
    for word, topic in found.items():
        if word != topic:
            tell(say("study.topic_meant", spoken(), name=word, topic=topic), err=True)
    return set(found.values()) or None


def own_banks(banks: Sequence[Path]) -> list[Path]:
    """Return the user's own banks: those settled once, then those said now."""
    settled = settings()["bank"].words
    return [*(Path(each).expanduser() for each in settled), *banks]


def joined_bank(banks: Sequence[Path], topics: Collection[str] | None) -> "Bank":
    """Return the shipped questions of some topics, or of all, and those of the user's own banks."""
    from quizkit.bank.reader import Bank
    from quizkit.paths import QUESTIONS

    found = Bank.load(QUESTIONS, topics)
    for folder in own_banks(banks):
        found = found.joined(Bank.load(folder, topics))
    return found


def library(banks: Sequence[Path], *, thorough: bool = True) -> "Library":
    """Open the shipped questions and those of the user's own banks: only what is asked is read."""
    from quizkit.bank.library import Library
    from quizkit.paths import QUESTIONS, cache_folder

    return Library([QUESTIONS, *own_banks(banks)], cache_folder(), thorough=thorough)


def tell_broken(shelves: "Library", topics: Collection[str] | None, lang: Lang) -> None:
    """Say how many files are left out because they cannot be read."""
    if told := broken_told(broken_files(shelves, topics), lang):
        tell(told, err=True)


def broken_files(shelves: "Library", topics: Collection[str] | None) -> int:
    """Count the files that are left out because they cannot be read."""
    problems = shelves.problems(topics)
    return len({problem.file for problem in problems if problem.severity == "error"})


def broken_told(count: int, lang: Lang) -> str:
    """Return the sentence on so many files left out; nothing where there are none."""
    from quizkit.words import say

    return say("study.broken", lang, count=count) if count else ""


def allowance() -> "Allowance":
    """Return what the settings allow for a day, less what was asked since midnight here."""
    from datetime import datetime, time

    from quizkit.diary import Diary
    from quizkit.paths import diary_file
    from quizkit.settings import settings
    from quizkit.tutor.lineup import Allowance

    midnight = datetime.combine(datetime.now().astimezone(), time()).astimezone()
    with Diary(diary_file()) as diary:
        done = diary.asked_since(midnight)
    found = settings()
    names = ("new_per_day", "reviews_per_day")
    left = [max(0, found[n].number - d) for n, d in zip(names, done, strict=True)]
    return Allowance(*left)


def todays_practice(known: "Iterable[Entry]") -> "Practice | None":
    """Return what the last mock interview left to practise today, of the questions there are."""
    from dataclasses import replace
    from datetime import UTC, datetime

    from quizkit.diary import Diary, exists
    from quizkit.paths import diary_file
    from quizkit.tutor.after_mock import named, practice_today

    if not exists(diary_file()):
        return None
    with Diary(diary_file()) as diary:
        done = diary.events(name="done")
        found = practice_today(done, diary.answers, datetime.now(UTC))
    there = named(found, known) if found else ()
    return replace(found, questions=there) if found and there else None


def no_question(shelves: "Library", name: str) -> QuizkitError:
    """Return the error for a question that is not there, or whose file cannot be read."""
    problems = shelves.problems({name.split("/")[0]})
    broken = [str(each) for each in problems if each.file == f"{name}.yaml"]
    if broken:
        return BankError("question_broken", problems="\n".join(broken))
    return unknown_question(name, [each.id for each in shelves.entries()], shelves.retired())


def unknown_question(
    name: str, known: Collection[str], retired: "Mapping[str, Retired]"
) -> UsageError:
    """Return the error for a question that is not there: was it ever, and what to take."""
    from quizkit.near import nearest

    if gone := retired.get(name):
        reason = gone.reason[spoken()].rstrip("。.")
        return UsageError("question_retired", name=name, reason=reason, see=gone.see)
    return UsageError("question", name=name, hint=nearest(name, known))


def _locale() -> str:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return value[:2].lower()
    return "en"
