"""`quizkit stats`: where the learner stands, on the screen, as JSON, or as a page to keep."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quizkit.cli.common import choose_topics, language, library, tell
from quizkit.cli.options import Banks, Json, LineByLine, Spoken, Topics

if TYPE_CHECKING:
    from quizkit.tutor.retention import Retention
    from quizkit.tutor.standing import Standing
    from quizkit.tutor.tally import Tally

_LISTED = 8  # of a kind: more on a screen nobody reads


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(stats)


def stats(
    topic: Topics = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write it as a page to keep or to share."),
    ] = None,
    bank: Banks = None,
    json: Json = False,
    lang: Spoken = None,
    plain: LineByLine = False,
) -> None:
    """Show where you stand: what is remembered, what falls due, what is still believed."""
    from datetime import UTC, datetime

    from quizkit import safe_file
    from quizkit.diary import Diary
    from quizkit.paths import QUESTIONS, diary_file
    from quizkit.tutor.memory import Memory
    from quizkit.tutor.standing import standing
    from quizkit.ui.screens.stats_page import stats_page
    from quizkit.words import say

    spoken = language(lang)
    wanted = choose_topics(QUESTIONS, bank or [], topic or [])
    topics = sorted(wanted or ())
    with library(bank or []) as shelves, Diary(diary_file()) as diary:
        entries, names = shelves.entries(), shelves.myths()
        cards = Memory(diary, entries).cards
        found = standing(entries, cards, diary.answers(), datetime.now(UTC), topics=wanted)
    if html:
        from quizkit.ui.screens.stats_html import stats_html

        text = stats_html(stats_page(found, spoken, names, topics), spoken)
        safe_file.write(html, text)
        tell(say("stats.written", spoken, file=html), err=True)
    if json:
        _print(found, topics)
    elif not html:
        from quizkit.ui.screens.stats_screen import stats_screen
        from quizkit.ui.terminal.console import console, is_plain

        page = stats_page(found, spoken, names, topics, most=_LISTED)
        console(plain=is_plain(plain)).print(stats_screen(page, spoken, is_plain(plain)))


def _print(found: "Standing", topics: Sequence[str]) -> None:
    import json
    from dataclasses import asdict

    coming, done = found.forecast, found.activity
    said = {
        "schema": "quizkit/stats/1",
        "now": found.now.isoformat(),
        "chosen": topics,
        "study": asdict(found.study),
        "mock": dict(zip(("answered", "right"), found.mock, strict=True)),
        "gone": found.gone,
        "flags": found.flags,
        "topics": [{"topic": name, **asdict(each)} for name, each in found.topics.items()],
        "levels": _rows("level", found.levels),
        "kinds": _rows("kind", found.kinds),
        "forecast": {
            "late": coming.late,
            "days": [{"date": day.isoformat(), "due": count} for day, count in coming.days],
            "later": coming.later,
        },
        "retention": {"all": _reviews(found.every), "last_30_days": _reviews(found.recent)},
        "calibration": asdict(found.calibration),
        "myths": [asdict(each) | {"last": each.last.isoformat()} for each in found.beliefs],
        "leeches": [asdict(each) for each in found.leeches],
        "activity": {
            "days": [
                {"date": day.isoformat(), "study": study, "mock": mock}
                for day, study, mock in done.days
            ],
            "active": done.active,
            "row": done.row,
            "longest": done.longest,
        },
    }
    typer.echo(json.dumps(said, ensure_ascii=False))


def _rows(
    name: str, tallies: "Mapping[tuple[str, int], Tally] | Mapping[tuple[str, str], Tally]"
) -> list[dict[str, Any]]:
    from dataclasses import asdict

    return [
        {"topic": topic, name: value, **asdict(each)}
        for (topic, value), each in sorted(tallies.items(), key=lambda row: row[0])
    ]


def _reviews(of: "Retention") -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(of)
