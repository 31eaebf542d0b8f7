"""`quizkit due`: what waits now, what is new, and when to come back."""

from typing import TYPE_CHECKING, Annotated

import typer

from quizkit.cli.common import allowance, choose_topics, language, library, tell, tell_broken
from quizkit.cli.options import Banks, Json, Spoken, Topics

if TYPE_CHECKING:
    from quizkit.tutor.agenda import Agenda
    from quizkit.words import Lang


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(due)


def due(
    topic: Topics = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Leave with 1 if something is due, with 0 if not.")
    ] = False,
    json: Json = False,
    lang: Spoken = None,
    bank: Banks = None,
) -> None:
    """Show what is due now, what is new, and when to come back."""
    from datetime import UTC, datetime

    from quizkit.diary import Diary
    from quizkit.paths import QUESTIONS, diary_file
    from quizkit.tutor.agenda import agenda
    from quizkit.tutor.lineup import core
    from quizkit.tutor.memory import Memory

    spoken = language(lang)
    wanted = choose_topics(QUESTIONS, bank or [], topic or [])
    with library(bank or []) as shelves, Diary(diary_file()) as diary:
        entries = shelves.entries(wanted)
        tell_broken(shelves, wanted, spoken)
        cards = Memory(diary, entries).cards
    asked = core(entries, cards)
    found = agenda(asked, cards, datetime.now(UTC))
    if json:
        _print_json(found, len(entries) - len(asked))
    else:
        _print_lines(found, spoken)
    if exit_code and found.due:
        raise typer.Exit(1)


def _print_json(found: "Agenda", left_out: int) -> None:
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
        "left_out": left_out,
        "next": found.next_due.isoformat() if found.next_due else None,
        "topics": topics,
    }
    typer.echo(json.dumps(said, ensure_ascii=False))


def _print_lines(found: "Agenda", lang: "Lang") -> None:
    from quizkit.settings import settings
    from quizkit.words import say

    tell(say("study.due", lang, due=len(found.due), new=found.new))
    width = max((len(shelf.topic) for shelf in found.shelves), default=0)
    for shelf in found.shelves:
        counts = say("study.due_topic", lang, due=shelf.due, new=shelf.new, known=shelf.known)
        typer.echo(f"  {shelf.topic:{width}}  {counts}")
    if not found.due and found.next_due:
        date = f"{found.next_due.astimezone():%Y-%m-%d %H:%M}"
        tell(say("study.due_next", lang, date=date))
    if found.due or found.new:
        left = allowance()
        more = (found.due and left.reviews) or (found.new and left.new)
        planned = settings()["interview"].value is not None  # then the day goes by its minutes
        tell(say("study.due_start" if more or planned else "study.due_share_done", lang))
