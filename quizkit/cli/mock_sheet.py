"""`quizkit mock SCRIPT --interviewer`: the sheet of whoever plays the interviewer."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quizkit.bank.reader import Bank
    from quizkit.bank.script import Script
    from quizkit.words import Lang


def show_sheet(script: "Script", shelf: "Bank", lang: "Lang", plain: bool) -> None:
    """Print it: to be read at a terminal, as Markdown where it goes into a file."""
    import sys

    import typer

    from quizkit.cli.mock import code
    from quizkit.export.interviewer import interviewer_sheet
    from quizkit.ui.terminal.console import console, is_plain
    from quizkit.ui.text.markup import prose

    text = interviewer_sheet(script, shelf.questions, lang, code)
    flat = is_plain(plain)
    made = console(plain=flat)
    if sys.stdout.isatty():
        made.print(prose(text, flat))
    else:
        typer.echo(text, nl=False)
