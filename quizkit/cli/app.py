"""The typer app: every command is registered here, and does its work in its own module.

A command's module imports nothing heavy; what it needs it imports when it runs, so that `--help`
and the first question come at once.
"""

import io
import os
import sys
from copy import copy
from errno import EBADF, EDQUOT, EFBIG, EIO, ENOSPC, EPIPE
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, cast

import typer

from quizkit.cli import (
    bank,
    calc,
    config,
    data,
    demo,
    doctor,
    due,
    export,
    learn,
    mock,
    plan,
    prove,
    read,
    stats,
    study,
)
from quizkit.cli.common import language, spoken, tell
from quizkit.cli.help import called, dress, word
from quizkit.interrupt import INTERRUPTED
from quizkit.words import say

if TYPE_CHECKING:
    from quizkit.errors import QuizkitError

_FULL = (ENOSPC, EFBIG, EDQUOT, EIO)
"""What is said of an output that takes no more."""

app = typer.Typer(
    name="quizkit",
    no_args_is_help=False,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (
    study,
    due,
    learn,
    plan,
    mock,
    demo,
    prove,
    calc,
    read,
    stats,
    export,
    bank,
    config,
    data,
    doctor,
):
    module.register(app)
dress(app)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    plain: Annotated[bool, typer.Option("--plain", hidden=True)] = False,
) -> None:
    """Show what is due and what to do next."""
    if version:
        from quizkit import __version__

        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        from quizkit.cli.home import home

        while words := home(plain):
            code = int(app(words, standalone_mode=False) or 0)
            if code or words[0] != "demo":  # whoever leaves the demos, and not by Ctrl-C, is back
                raise typer.Exit(code)


def run() -> int:
    """Run the command line; gives the exit code."""
    from quizkit.errors import LabError, QuizkitError

    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]  # it was closed: `<&-`
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        return _fail(LabError("file_write", file="stdout", reason=os.strerror(EBADF)))
    try:
        language(_said(sys.argv[1:]))
        app.info.help = say("help.quizkit", spoken())
        word(app)
        # Not standalone: typer would turn Ctrl-C into exit code 1.
        code = int(asked(sys.argv[1:])(standalone_mode=False) or 0)
        sys.stdout.flush()  # not when Python ends: what fails then is told by nobody
        return code
    except QuizkitError as error:
        return _fail(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as leaving:
        # The reader has gone (`| head`): typer wraps what is broken and leaves with 1, which means
        # something else here. There is nobody left to tell, and nothing failed.
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":
            _forget_output()
            return 0
        return int(leaving.code or 0) if not isinstance(leaving.code, str) else 1
    except OSError as error:
        # Files that a command writes have names and messages of their own; this is its output.
        if error.errno not in (*_FULL, EPIPE) or error.filename is not None:
            raise
        _forget_output()
        if error.errno == EPIPE:
            return 0
        return _fail(QuizkitError("file_write", file="stdout", reason=error.strerror))
    except Exception as error:
        # typer brings its own copy of click or not, by version: know it by its name.
        if type(error).__name__ == "Abort" or isinstance(error.__cause__, KeyboardInterrupt):
            return INTERRUPTED
        raise


def asked(words: list[str]) -> typer.Typer:
    """Return the app with only the command a line begins with: typer makes all of them to run one.

    Whole where it begins with anything else: a slip, an option, nothing.
    """
    name = words[0] if words else ""
    alone = copy(app)
    alone.registered_commands = [each for each in app.registered_commands if called(each) == name]
    alone.registered_groups = [each for each in app.registered_groups if each.name == name]
    return alone if alone.registered_commands or alone.registered_groups else app


def buffer_output() -> None:
    """Buffer stdout under `PYTHONUNBUFFERED`: writing at once, Python forgets what did not fit."""
    out = sys.stdout
    if isinstance(getattr(out, "buffer", None), io.FileIO) and isinstance(out, io.TextIOWrapper):
        encoding, errors = out.encoding, out.errors
        whole = io.BufferedWriter(cast("io.FileIO", out.detach()))
        sys.stdout = io.TextIOWrapper(whole, encoding, errors, line_buffering=True)


def _forget_output() -> None:
    """Keep Python from trying once more, as it ends, to write what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _said(words: list[str]) -> str | None:
    """The language that the line asks for: help and refusals come before it is understood."""
    pairs = [word.partition("=")[::2] for word in words] + [*pairwise(words)]
    return next(
        (value for name, value in pairs if name == "--lang" and value in ("zh", "en")), None
    )


def _fail(error: "QuizkitError") -> int:
    tell(f"quizkit: {error.message(spoken())}", err=True)
    return error.exit_code
