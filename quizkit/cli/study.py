"""`quizkit study` and `quizkit due`: the tutor at a terminal, at a pipe, or in JSON lines."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from quizkit.cli import complete
from quizkit.cli.common import choose_topics, language, library
from quizkit.cli.options import Banks, Json, JsonLines, LineByLine, Spoken, Topics
from quizkit.cli.session import open_desk, session

if TYPE_CHECKING:
    from quizkit.answer import Card
    from quizkit.bank.library import Library
    from quizkit.tutor.agenda import Agenda
    from quizkit.tutor.lineup import Allowance
    from quizkit.words import Lang


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(study)
    app.command()(due)


def study(
    topic: Topics = None,
    level: Annotated[
        str | None, typer.Option(metavar="A-B", help="Only these levels, from 1 to 5: 2-3, or 4.")
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Only these kinds.", autocompletion=complete.kinds),
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
    from quizkit.tutor.lineup import chosen, today
    from quizkit.tutor.queue import Queue

    spoken = language(lang)
    levels, kinds = _levels(level), _kinds(kind or [])
    wanted = choose_topics(QUESTIONS, bank or [], topic or [])
    shelves = library(bank or [], thorough=False)
    entries = chosen(shelves.entries(wanted), levels, kinds)
    _tell_broken(shelves, wanted, spoken)
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

        aim = settled_aim(entries, bank or []) if limit is None else None

        def queue(cards: "Mapping[str, Card]", number: int) -> Queue:
            if aim:
                return Queue(entries, todays_lineup(entries, cards, aim), number)
            now = datetime.now(UTC)
            share = _allowance() if limit is None else None
            lineup = today(entries, cards, now, number, limit=limit, allowance=share, start=start)
            return Queue(entries, lineup, number)

        session(
            entries,
            shelves,
            place,
            queue,
            lang=spoken,
            answer_in=_answer_in(answer_in),
            seed=seed,
            topics=topic or (),
            done=("plan.day_done", {"minutes": aim.minutes}) if aim and not json else None,
        )


def due(
    topic: Topics = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Leave with 1 if something is due, with 0 if not.")
    ] = False,
    json: Json = False,
    lang: Spoken = None,
    bank: Banks = None,
) -> None:
    """What is due now, what is new, and when to come back."""
    from datetime import UTC, datetime

    from quizkit.diary import Diary
    from quizkit.paths import QUESTIONS, diary_file
    from quizkit.tutor.agenda import agenda
    from quizkit.tutor.memory import Memory

    spoken = language(lang)
    wanted = choose_topics(QUESTIONS, bank or [], topic or [])
    with library(bank or []) as shelves, Diary(diary_file()) as diary:
        entries = shelves.entries(wanted)
        _tell_broken(shelves, wanted, spoken)
        cards = Memory(diary, entries).cards
    found = agenda(entries, cards, datetime.now(UTC))
    if json:
        _print_json(found)
    else:
        _print_lines(found, spoken)
    if exit_code and found.due:
        raise typer.Exit(1)


def _allowance() -> "Allowance":
    """What the settings allow for a day, less what was asked since midnight here."""
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


def _is_first_time() -> bool:
    """Whether nothing was ever answered here, and no level was settled."""
    from quizkit.diary import Diary
    from quizkit.paths import diary_file
    from quizkit.settings import settings

    if settings()["level"].origin != "default":
        return False
    if not diary_file().exists():
        return True
    with Diary(diary_file()) as diary:
        return not diary.news(0)[1]


def _tell_broken(shelves: "Library", topics: Collection[str] | None, lang: "Lang") -> None:
    from quizkit.words import say

    problems = shelves.problems(topics)
    broken = {problem.file for problem in problems if problem.severity == "error"}
    if broken:
        typer.echo(say("study.broken", lang, count=len(broken)), err=True)


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


def _print_json(found: "Agenda") -> None:
    import json

    rows = [
        {
            "question": question.id,
            "topic": question.topic,
            "level": question.level,
            "kind": question.kind,
            "due": date.isoformat(),
        }
        for question, date in found.due
    ]
    topics = [
        {"topic": shelf.topic, "due": shelf.due, "new": shelf.new, "known": shelf.known}
        for shelf in found.shelves
    ]
    said = {
        "schema": "quizkit/due/1",
        "now": found.now.isoformat(),
        "due": rows,
        "new": found.new,
        "next": found.next_due.isoformat() if found.next_due else None,
        "topics": topics,
    }
    typer.echo(json.dumps(said, ensure_ascii=False))


def _print_lines(found: "Agenda", lang: "Lang") -> None:
    from quizkit.words import say

    typer.echo(say("study.due", lang, due=len(found.due), new=found.new))
    width = max((len(shelf.topic) for shelf in found.shelves), default=0)
    for shelf in found.shelves:
        counts = say("study.due_topic", lang, due=shelf.due, new=shelf.new, known=shelf.known)
        typer.echo(f"  {shelf.topic:{width}}  {counts}")
    if not found.due and found.next_due:
        date = f"{found.next_due.astimezone():%Y-%m-%d %H:%M}"
        typer.echo(say("study.due_next", lang, date=date))
    if found.due or found.new:
        typer.echo(say("study.due_start", lang))
