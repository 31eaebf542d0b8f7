"""`quizkit doctor`: what works here."""

import typer

from quizkit.cli.common import columns, language, tell
from quizkit.cli.options import Json, Spoken


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor(
    json: Json = False,
    lang: Spoken = None,
) -> None:
    """Show what works here: torch, backends, GPUs, how ranks start, the terminal, your files."""
    import os
    import platform
    import sys

    from quizkit.errors import DiaryError
    from quizkit.lab.environment import environment
    from quizkit.paths import home
    from quizkit.words import say

    spoken = language(lang)
    found = environment()
    try:
        folder, writable = str(home()), os.access(home(), os.W_OK)
    except DiaryError as error:
        folder, writable = error.message(spoken), False
    facts: dict[str, object] = {
        "python": platform.python_version(),
        "system": platform.system(),
        "torch": found.torch,
        "gloo": found.gloo,
        "nccl": found.nccl,
        "gpus": found.gpus,
        "start": found.start,
        "terminal": sys.stdout.isatty(),
        "columns": columns(sys.stdout),
        "encoding": sys.stdout.encoding,
        "home": folder,
        "home_writable": writable,
        "quiz": writable,
        "demos": not found.problem,
    }
    if json:
        import json as writer

        typer.echo(writer.dumps({"schema": "quizkit/doctor/1", **facts}, ensure_ascii=False))
    else:
        for name, value in facts.items():
            shown = say(f"doctor.{'yes' if value else 'no'}", spoken)
            shown = shown if isinstance(value, bool) else "-" if value is None else str(value)
            typer.echo(f"{say(f'doctor.{name}', spoken)}: {shown}")
        if found.problem:
            advice = say(f"doctor.{found.problem}", spoken, python=sys.executable)
            tell(advice, err=True)
    raise typer.Exit(3 if found.problem else 0 if writable else 4)
