"""`quizkit data`: where the learner's files are, all that is in them, and how to be rid of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quizkit.cli.common import language, tell
from quizkit.cli.options import Json, Spoken

if TYPE_CHECKING:
    from quizkit.words import Lang


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
    erase: Annotated[bool, typer.Option("--erase", help="Remove every answer for good.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Erase without asking.")] = False,
    json: Json = False,
    lang: Spoken = None,
) -> None:
    """Your files: where they are (the default), what is in them, and how to remove them."""
    from quizkit.errors import UsageError
    from quizkit.paths import diary_file

    spoken = language(lang)
    if where + export + erase + (merge is not None) > 1:
        raise UsageError("data_one")
    if export:
        _export(diary_file())
    elif merge is not None:
        _merge(diary_file(), merge, json, spoken)
    elif erase:
        _erase(diary_file(), yes, json, spoken)
    else:
        _where(spoken, json)


def _where(lang: "Lang", json: bool) -> None:
    from quizkit.diary import backups
    from quizkit.paths import cache_folder, config_file, diary_file, home
    from quizkit.words import say

    files = {"home": home(), "diary": diary_file(), "config": config_file()}
    files |= {"cache": folder} if (folder := cache_folder()) else {}
    kept = backups(files["diary"])
    if json:
        said = {name: str(path) for name, path in files.items()}
        _print({"schema": "quizkit/data/1"} | said | {"backups": [str(each) for each in kept]})
        return
    for name, path in files.items():
        there = path.exists()
        missing = "" if there else say("study.data_missing", lang)
        typer.echo(f"{say(f'study.data_{name}', lang)}  {path}{missing}")
    for path in kept:
        typer.echo(f"{say('study.data_backup', lang)}  {path}")


def _export(path: Path) -> None:
    from quizkit.diary import Diary, Pages, exported

    rows = Pages()
    if path.exists():
        with Diary(path) as diary:
            rows = Pages(diary.answers(), diary.events())
    _print(exported(rows))


def _merge(path: Path, source: Path, json: bool, lang: "Lang") -> None:
    import sys

    from quizkit.diary import Diary, imported, pages
    from quizkit.words import say

    # Read whole before the own diary is touched.
    piped = str(source) == "-"
    rows = imported(sys.stdin.buffer.read(), "stdin") if piped else pages(source)
    with Diary(path) as diary:
        answers, events, kept = diary.take_in(rows.answers, rows.events)
    if json:
        backup = str(kept) if kept else None
        _print(
            {"schema": "quizkit/merge/1", "answers": answers, "events": events, "backup": backup}
        )
        return
    tell(say("study.merged", lang, answers=answers, events=events))
    if kept:
        tell(say("study.merge_kept", lang, file=kept))


def _erase(path: Path, yes: bool, json: bool, lang: "Lang") -> None:
    import sys

    from quizkit.diary import erase
    from quizkit.errors import UsageError
    from quizkit.words import say

    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("erase_yes")
        wanted = say("study.erase_word", lang)
        tell(say("study.erase_ask", lang, file=path, word=wanted), err=True)
        if input("> ").strip() != wanted:
            tell(say("study.erase_kept", lang), err=True)
            raise typer.Exit(1)
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
