"""`quizkit study`: the tutor at a terminal, at a pipe, or in JSON lines."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from quizkit.cli import complete
from quizkit.cli.common import (
    allowance,
    choose_topics,
    language,
    library,
    no_question,
    tell_broken,
    todays_practice,
)
from quizkit.cli.options import AllOfThem, Banks, JsonLines, LineByLine, Spoken, Topics
from quizkit.cli.session import open_desk, session

if TYPE_CHECKING:
    from quizkit.answer import Card
    from quizkit.bank.entry import Entry
    from quizkit.bank.library import Library
    from quizkit.words import Lang


_KINDS = "Only these kinds: choice, numeric, order, cloze, trace, bug or essay."


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(study)


def study(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID",
            help="Questions, as in pp/bubble-share: just these, in this order, due or not.",
            autocompletion=complete.questions,
        ),
    ] = None,
    topic: Topics = None,
    all_: AllOfThem = False,
    level: Annotated[
        str | None, typer.Option(metavar="A-B", help="Only these levels, from 1 to 5: 2-3, or 4.")
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help=_KINDS, autocompletion=complete.kinds),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="How many questions; wrong ones come back in addition."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The same seed, the same questions.")
    ] = None,
    lang: Spoken = None,
    answer_in: Annotated[
        str | None,
        typer.Option(metavar="zh|en", help="The language to write in, if not the one you read."),
    ] = None,
    plain: LineByLine = False,
    json: JsonLines = False,
    bank: Banks = None,
) -> None:
    """Answer questions: what is due first, then what is new."""
    from datetime import UTC, datetime

    from quizkit.cli.plan import settled_aim, todays_lineup
    from quizkit.errors import UsageError
    from quizkit.paths import QUESTIONS
    from quizkit.settings import settings
    from quizkit.tutor.after_mock import with_practice
    from quizkit.tutor.lineup import Lineup, chosen, core, today
    from quizkit.tutor.queue import Queue

    spoken = language(lang)
    if names:
        if (topic, level, kind, limit, all_) != (None, None, None, None, False):
            raise UsageError("study_named")
        with library(bank or [], thorough=False) as shelves:
            named = _named(shelves, names)
            plan = Lineup(plan=[each.id for each in named])
            session(
                named,
                shelves,
                open_desk(json, plain, spoken),
                lambda _cards, number: Queue(named, plan, number, strict=True),
                lang=spoken,
                answer_in=_answer_in(answer_in),
                seed=seed,
                command=" ".join(["quizkit study", *names]),
            )
        return
    levels, kinds = _levels(level), _kinds(kind or [])
    wanted = choose_topics(QUESTIONS, bank or [], topic or [])
    shelves = library(bank or [], thorough=False)
    entries = chosen(shelves.entries(wanted), levels, kinds)
    tell_broken(shelves, wanted, spoken)
    if not entries:
        raise UsageError("nothing_chosen")
    place = open_desk(json, plain, spoken)
    start = max(levels[0], settings()["level"].number)
    anything = (topic, level, kind, limit, seed) == (None,) * 5
    with shelves:
        if anything and place.interactive and _is_first_time():
            from quizkit.cli.learn import offered

            chosen_lang = offered(shelves, place, spoken)
            if chosen_lang is None:
                return
            spoken, start = chosen_lang, settings()["level"].number

        aim = settled_aim(entries, bank or [], spoken) if limit is None else None
        practice = todays_practice(entries)
        first = practice.questions[:limit] if practice else ()

        def queue(cards: "Mapping[str, Card]", number: int) -> Queue:
            asked = entries if all_ else core(entries, {*cards, *first})
            others = [each for each in asked if each.id not in first]
            if aim:
                lineup = todays_lineup(others, cards, aim)
            else:
                now = datetime.now(UTC)
                share = allowance().less(first, cards) if limit is None else None
                rest = limit - len(first) if limit is not None else None
                if others and rest != 0:
                    lineup = today(
                        others, cards, now, number, limit=rest, allowance=share, start=start
                    )
                else:
                    lineup = Lineup(cards=cards)
            return Queue(
                asked, with_practice(lineup, practice, asked) if practice else lineup, number
            )

        session(
            entries,
            shelves,
            place,
            queue,
            lang=spoken,
            answer_in=_answer_in(answer_in),
            seed=seed,
            topics=sorted(wanted or ()),
            command=" ".join(["quizkit study", *(f"--topic {each}" for each in wanted or ())]),
            done=("plan.day_done", {"minutes": aim.minutes}) if aim and not json else None,
        )


def _named(shelves: "Library", names: Sequence[str]) -> "Sequence[Entry]":
    """The questions of these names, or of the names they had before, each once."""
    from quizkit.cli.aliases import TOPICS, meant
    from quizkit.errors import UsageError

    every = shelves.entries()
    known = {old: each for each in every for old in each.was.split()}
    known |= {each.id: each for each in every}
    for name in names:
        if topic := meant(name, shelves.topics(), TOPICS):
            raise UsageError("study_topic", name=name, topic=topic[0])
        if name not in known:
            raise no_question(shelves, name)
    return [*{known[name].id: known[name] for name in names}.values()]


def _is_first_time() -> bool:
    """Tell whether nothing was ever answered here, and no level was settled."""
    from quizkit.diary import Diary, exists
    from quizkit.paths import diary_file
    from quizkit.settings import settings

    if settings()["level"].origin != "default":
        return False
    if not exists(diary_file()):
        return True
    with Diary(diary_file()) as diary:
        return not diary.news(0)[1]


def _answer_in(option: str | None) -> "Lang | None":
    from quizkit.errors import UsageError
    from quizkit.settings import settings

    chosen = option or settings()["answer_in"].value
    if chosen not in (None, "zh", "en"):
        raise UsageError("lang", name=chosen)
    return "zh" if chosen == "zh" else "en" if chosen == "en" else None


def _levels(text: str | None) -> tuple[int, int]:
    from quizkit.errors import UsageError

    low, dash, high = (text or "1-5").partition("-")
    low, high = low or "1", high or ("5" if dash else low)
    if not (low in "12345" and high in "12345" and low <= high):
        raise UsageError("levels", text=text)
    return int(low), int(high)


def _kinds(wanted: Sequence[str]) -> Sequence[str]:
    from quizkit.bank.model import KINDS
    from quizkit.errors import UsageError
    from quizkit.near import nearest

    for kind in wanted:
        if kind not in KINDS:
            raise UsageError("kind", name=kind, hint=nearest(kind, KINDS))
    return wanted
