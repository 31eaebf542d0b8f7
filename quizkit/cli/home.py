"""`quizkit` alone: the home screen at a terminal, lines of text everywhere else."""

import sys
from typing import TYPE_CHECKING, NamedTuple

from quizkit.cli.common import (
    allowance,
    broken_files,
    broken_told,
    columns,
    language,
    library,
    tell,
    todays_practice,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from quizkit.answer import Card
    from quizkit.bank.entry import Entry
    from quizkit.bank.model import Text
    from quizkit.tutor.home import Home
    from quizkit.words import Lang


class _Found(NamedTuple):
    """The learner's place, the names for it, and how many are due and new beyond today.

    `broken` are the question files that cannot be read.
    """

    home: "Home"
    titles: "Mapping[str, Text]"
    myth: "Text | None"
    due: int
    new: int
    broken: int


def home(plain: bool) -> "Sequence[str]":
    """Show it; gives the command that the learner chose there, or nothing where none was."""
    lang = language()
    found = _found(lang)
    if sys.stdin.isatty() and sys.stdout.isatty() and sys.platform != "win32":
        from quizkit.ui.terminal.console import is_plain

        if not is_plain(plain):
            return _screen(found, lang)
    if told := broken_told(found.broken, lang):
        tell(told, err=True)
    _lines(found, lang)
    return ()


def _found(lang: "Lang") -> _Found:
    from datetime import UTC, datetime, timedelta

    from quizkit.diary import Diary
    from quizkit.paths import diary_file
    from quizkit.settings import settings
    from quizkit.tutor.beliefs import beliefs
    from quizkit.tutor.home import Home
    from quizkit.tutor.lineup import core, due
    from quizkit.tutor.memory import Memory
    from quizkit.tutor.standing import judged
    from quizkit.tutor.tally import tallies

    now, settled = datetime.now(UTC), settings()
    with library([], thorough=False) as shelves, Diary(diary_file()) as diary:
        every = shelves.entries()
        broken = broken_files(shelves, None)
        cards = Memory(diary, every).cards
        held = beliefs(every, judged(every, diary.answers())) if cards else []
        titles = {slug: each.title for slug, each in shelves.topics().items()}
        myths = shelves.myths() if held else {}
    practice = todays_practice(every)
    first = practice.questions if practice else ()
    asked = core(every, {*cards, *first})
    late = len(due(asked, cards, now))
    unseen = sum(each.id not in cards for each in asked)
    others = [each for each in asked if each.id not in first]
    days, reviews, new = _today(others, cards, lang, first)
    known = sum(name in cards for name in first)
    reviews, new = reviews + known, new + len(first) - known
    home = Home(
        level=settled["level"].number if settled["level"].origin != "default" else None,
        days=days,
        minutes=settled["minutes"].number,
        reviews=reviews,
        new=new,
        topics=dict(
            sorted(tallies(asked, cards, [], now + timedelta(days=1), lambda e: e.topic).items())
        ),
        belief=held[0] if held else None,
        begun=bool(cards),
        practice=practice,
    )
    myth = myths.get(home.belief.myth) if home.belief else None
    return _Found(home, titles, myth, late, unseen, broken)


def _today(
    asked: "Sequence[Entry]", cards: "Mapping[str, Card]", lang: "Lang", first: "Sequence[str]"
) -> tuple[int | None, int, int]:
    """Days to the interview, if one is settled, and how many reviews and new ones today holds
    besides those that come first.
    """
    from datetime import UTC, datetime

    from quizkit.cli.plan import settled_aim, todays_lineup
    from quizkit.tutor.lineup import due

    if aim := settled_aim(asked, [], lang):
        days = (aim.interview - datetime.now().astimezone().date()).days
        planned = todays_lineup(asked, cards, aim).plan
        reviews = sum(name in cards for name in planned)
        return days, reviews, len(planned) - reviews
    late = len(due(asked, cards, datetime.now(UTC)))
    unseen = sum(each.id not in cards for each in asked)
    left = allowance().less(first, cards)
    return None, min(late, left.reviews), min(unseen, left.new)


def _screen(found: _Found, lang: "Lang") -> "Sequence[str]":
    from quizkit.ui.screens.home_screen import HomePage
    from quizkit.ui.terminal.console import console
    from quizkit.ui.terminal.home_keys import chosen
    from quizkit.ui.terminal.keys import Keyboard
    from quizkit.ui.terminal.screen import Screen

    def drawn(spoken: "Lang") -> HomePage:
        titles = {slug: title[spoken] for slug, title in found.titles.items()}
        myth = found.myth[spoken] if found.myth else ""
        return HomePage(found.home, titles, myth, broken_told(found.broken, spoken), spoken)

    screen, keyboard = Screen(console()), Keyboard()
    command, spoken = chosen(screen, keyboard, lang, drawn)
    if command == "quit":
        return ()
    chosen_words = {"next": found.home.words, "demos": ("demo",)}.get(command, (command,))
    return (*chosen_words, "--lang", spoken)


def _lines(found: _Found, lang: "Lang") -> None:
    from quizkit.ui.screens.home_screen import facts, practice_told, topic_lines
    from quizkit.words import say

    here = found.home
    told = [" · ".join(facts(here, lang)), say("study.due", lang, due=found.due, new=found.new)]
    told += [each] if (each := practice_told(here, lang)) else []
    if here.belief:
        myth = found.myth[lang] if found.myth else here.belief.myth
        told.append(say("home.belief", lang, times=here.belief.times, myth=myth))
    tell("\n".join(told))
    titles = {slug: title[lang] for slug, title in found.titles.items()}
    tell("\n" + say("home.topics", lang) + "\n" + "\n".join(topic_lines(here, titles, lang)))
    step = f"quizkit {' '.join(here.words)}"
    tell(f"\n{say('home.next', lang)}  {step}\n{' ' * 6}{say(f'home.step_{here.step}', lang)}")
    steps = say("study.next_steps", lang)
    if sys.stdout.isatty():
        from quizkit.ui.text.linebreak import narrowed

        steps = narrowed(steps, columns(sys.stdout))
    tell("\n" + steps)
