"""`quizkit bank flags`: what you found wrong with questions, ready for whoever mends them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quizkit.cli.common import language, library, tell
from quizkit.cli.options import Json, Spoken

if TYPE_CHECKING:
    from quizkit.answer import Answer
    from quizkit.bank.library import Library
    from quizkit.words import Lang


def flags(
    write: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A Markdown file for the authors, with nothing about you in it."
        ),
    ] = None,
    json: Json = False,
    lang: Spoken = None,
) -> None:
    """List the questions you flagged while studying, each with what you wrote."""
    from quizkit.answer import flagged
    from quizkit.diary import Diary
    from quizkit.paths import diary_file
    from quizkit.words import say

    spoken = language(lang)
    with Diary(diary_file()) as diary:
        found = flagged(diary.answers())
    if write:
        _write(write, found)
    if json:
        _print(found)
        return
    for row in found:
        date = row.at.astimezone().date().isoformat()
        typer.echo(f"{row.question}  {date}  {row.bank_hash}  {_comment(row, spoken)}")
    if write:
        tell(say("bank.flags_written", spoken, count=len(found), file=write), err=True)
    elif not found:
        tell(say("bank.no_flags", spoken), err=True)


def _comment(row: "Answer", lang: "Lang") -> str:
    from quizkit.words import say

    said = row.note.partition(": ")[2]
    # What another machine's row says is shown, and not done by the terminal.
    shown = "".join(each if each.isprintable() else " " for each in said)
    return shown or say(f"bank.{row.note.replace('-', '_')}", lang)


def _print(found: Sequence["Answer"]) -> None:
    import json

    rows = [
        {
            "question": row.question,
            "at": row.at.isoformat(),
            "edition": row.bank_hash,
            "given": row.given,
            "note": row.note,
        }
        for row in found
    ]
    typer.echo(json.dumps({"schema": "quizkit/flags/1", "flags": rows}, ensure_ascii=False))


def _write(file: Path, found: Sequence["Answer"]) -> None:
    """One note a flag: which edition of which file, what was asked, given and expected, and why."""
    from quizkit import safe_file

    with library(()) as shelves:
        notes = [_note(row, shelves) for row in found]
    safe_file.write(file, "\n".join(["# Flagged questions\n", *notes]))


def _note(row: "Answer", shelves: "Library") -> str:
    import json

    from quizkit.cli.laboratory import Laboratory
    from quizkit.tutor.asked import ask
    from quizkit.tutor.expected import expected
    from quizkit.tutor.stem import stem

    question = shelves.question(row.question)
    lines = [f"## {row.question}", "", f"- comment: {_comment(row, 'en')}"]
    if question is None:
        return "\n".join([*lines, f"- edition {row.bank_hash}; the file is no longer there", ""])
    with Laboratory(()) as lab:
        asked = ask(question, row.seed, lab.show(question))
    same = question.digest == row.bank_hash
    now = "as it is now" if same else f"now {question.digest}: look whether it is mended"
    lines.append(f"- file: questions/{question.file}, edition {row.bank_hash} ({now})")
    drawn = ", ".join(f"{name}={value}" for name, value in asked.values.items())
    lines.append(f"- asked: {row.lang}, seed {row.seed}" + (f", {drawn}" if drawn else ""))
    if row.given is not None:
        lines.append(f"- given: `{json.dumps(row.given, ensure_ascii=False)}`")
    if same:
        lines.append(f"- expected: {expected(asked)[row.lang]}")
    quoted = stem(asked, row.lang).markdown().replace("\n", "\n> ")
    return "\n".join([*lines, "", f"> {quoted}", ""])
