"""`quizkit data`: where the learner's files are, what is in them, and how to be rid of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quizkit.cli import complete
from quizkit.cli.common import choose_topics, language, tell
from quizkit.cli.options import Json, Spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quizkit.diary import LeftOut, Pages
    from quizkit.words import Lang

_NAMED = 3  # of the rows that nothing can use: more on a screen nobody reads


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(data)


def data(
    where: Annotated[bool, typer.Option("--where", help="Where your files are.")] = False,
    export: Annotated[
        bool, typer.Option("--export", help="Everything you answered, as JSON on stdout.")
    ] = False,
    merge: Annotated[
        Path | None,
        typer.Option(
            "--merge",
            metavar="FILE",
            help="Take in another machine's diary, or what it exported; - is stdin.",
        ),
    ] = None,
    reset: Annotated[
        str | None,
        typer.Option(
            "--reset",
            metavar="TOPIC",
            help="Begin a topic anew: what you answered so far no longer counts.",
            autocompletion=complete.topics,
        ),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last --reset back.")] = False,
    erase: Annotated[bool, typer.Option("--erase", help="Remove every answer for good.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Reset or erase without asking.")] = False,
    json: Json = False,
    lang: Spoken = None,
) -> None:
    """Show your files: where they are (the default), what is in them, and how to remove them."""
    from quizkit.errors import UsageError
    from quizkit.paths import diary_file

    spoken = language(lang)
    if where + export + erase + (merge is not None) + (reset is not None) > 1:
        raise UsageError("data_one")
    if undo and reset is None:
        raise UsageError("reset_which")
    if export:
        _export(diary_file())
    elif merge is not None:
        _merge(diary_file(), merge, json, spoken)
    elif reset is not None:
        _reset(diary_file(), reset, undo, yes, json, spoken)
    elif erase:
        _erase(diary_file(), yes, json, spoken)
    else:
        _where(spoken, json)


def _where(lang: "Lang", json: bool) -> None:
    import os

    from quizkit.diary import Pages, backups, exists
    from quizkit.errors import DiaryError
    from quizkit.paths import cache_folder, config_file, diary_file, home
    from quizkit.words import say

    files = {"home": home(), "diary": diary_file(), "config": config_file()}
    files |= {"cache": folder} if (folder := cache_folder()) else {}
    kept = backups(files["diary"])
    rows, problem = Pages(), None
    try:
        there = exists(files["diary"])
        rows = _rows(files["diary"]) if there else rows
    except DiaryError as error:
        there, problem = True, error
    if json:
        said = {name: str(path) for name, path in files.items()}
        copies = {"backups": [str(each) for each in kept], "left_out": _places(rows.left_out)}
        _print({"schema": "quizkit/data/1"} | said | copies)
    else:
        for name, path in files.items():
            missing = not (there if name == "diary" else os.path.exists(path))  # noqa: PTH110
            absent = say("study.data_missing", lang) if missing else ""
            typer.echo(f"{say(f'study.data_{name}', lang)}  {path}{absent}")
        for path in kept:
            typer.echo(f"{say('study.data_backup', lang)}  {path}")
    if problem:
        raise problem
    if rows.damage:
        raise DiaryError("diary_corrupt", file=files["diary"], reason=rows.damage)
    if rows.left_out and not json:
        count, named = len(rows.left_out), _named(rows.left_out)
        tell(say("study.data_left_out", lang, count=count, named=named))


def _rows(path: Path) -> "Pages":
    """All rows of the diary, also of one that may only be read."""
    from quizkit.diary import Diary, copied
    from quizkit.errors import DiaryError

    try:
        with Diary(path) as diary:
            return diary.pages()
    except DiaryError as error:
        if error.key != "diary_open":
            raise
    with copied(path) as diary:
        return diary.pages()


def _export(path: Path) -> None:
    from quizkit.diary import Pages, exists, exported
    from quizkit.errors import DiaryError

    rows = _rows(path) if exists(path) else Pages()
    _print(exported(rows))
    if rows.left_out:
        count, named = len(rows.left_out), _named(rows.left_out)
        raise DiaryError("export_left_out", file=path, count=count, named=named)
    if rows.damage:
        raise DiaryError("export_damaged", file=path, reason=rows.damage)


def _merge(path: Path, source: Path, json: bool, lang: "Lang") -> None:
    import sys

    from quizkit.diary import LARGEST, Diary, imported, pages
    from quizkit.errors import DiaryError
    from quizkit.words import say

    # Read whole before the own diary is touched.
    piped = str(source) == "-"
    rows = imported(sys.stdin.buffer.read(LARGEST + 1), "stdin") if piped else pages(source)
    with Diary(path) as diary:
        answers, events, kept = diary.take_in(rows.answers, rows.events)
    if json:
        taken = {"answers": answers, "events": events, "backup": str(kept) if kept else None}
        _print({"schema": "quizkit/merge/1"} | taken | {"left_out": _places(rows.left_out)})
    else:
        tell(say("study.merged", lang, answers=answers, events=events))
        if kept:
            tell(say("study.merge_kept", lang, file=kept))
    if rows.left_out:
        count, named = len(rows.left_out), _named(rows.left_out)
        raise DiaryError("merge_left_out", file=source, count=count, named=named)


def _reset(path: Path, topic: str, undo: bool, yes: bool, json: bool, lang: "Lang") -> None:
    """Forget a topic up to now, or remember it after all."""
    from datetime import UTC, datetime

    from quizkit.diary import Diary
    from quizkit.diary.topics import counting, forget, remember
    from quizkit.errors import UsageError
    from quizkit.paths import QUESTIONS
    from quizkit.words import say

    (topic,) = choose_topics(QUESTIONS, [], [topic]) or {topic}
    with Diary(path) as diary:
        before = counting(diary, topic)
        if undo:
            row = remember(diary, topic, datetime.now(UTC), lang)
            if row is None:
                raise UsageError("reset_none", topic=topic)
        else:
            _agreed(yes, say("study.reset_word", lang), "study.reset_ask", lang, topic=topic,
                    count=before)  # fmt: skip
            row = forget(diary, topic, datetime.now(UTC), lang)
        after = counting(diary, topic)
    if json:
        said = {"topic": topic, "undone": undo, "before": before, "after": after, "uuid": row.uuid}
        _print({"schema": "quizkit/reset/1"} | said)
        return
    key = "study.reset_undone" if undo else "study.reset"
    tell(say(key, lang, topic=topic, count=abs(after - before)))


def _agreed(yes: bool, wanted: str, key: str, lang: "Lang", **values: object) -> None:
    """Go on only if the learner means it: the word is typed, or --yes was said."""
    import sys

    from quizkit.errors import UsageError
    from quizkit.words import say

    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("confirm_yes")
    tell(say(key, lang, word=wanted, **values), err=True)
    if input("> ").strip() != wanted:
        tell(say(f"{key.removesuffix('_ask')}_kept", lang), err=True)
        raise typer.Exit(1)


def _places(rows: "Sequence[LeftOut]") -> list[dict[str, str]]:
    return [{"place": each.place, "why": each.why} for each in rows]


def _named(rows: "Sequence[LeftOut]") -> str:
    """The first rows that were left out: where each stands, and why."""
    return "; ".join(f"{each.place} ({each.why})" for each in rows[:_NAMED])


def _erase(path: Path, yes: bool, json: bool, lang: "Lang") -> None:
    from quizkit.diary import erase
    from quizkit.words import say

    _agreed(yes, say("study.erase_word", lang), "study.erase_ask", lang, file=path)
    gone = erase(path)
    if json:
        _print({"schema": "quizkit/erased/1", "files": [str(file) for file in gone]})
        return
    for file in gone:
        tell(say("study.erased", lang, file=file))
    if not gone:
        tell(say("study.erase_nothing", lang, file=path))


def _print(said: dict[str, Any]) -> None:
    import json

    typer.echo(json.dumps(said, ensure_ascii=False))
