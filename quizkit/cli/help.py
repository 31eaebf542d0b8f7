"""Commands that speak the reader's language: their help pages, and the refusal of a wrong word.

typer lays out and words both itself, in English only. What stands at an option is English too;
`words/options.py` has the Chinese of each such line.
"""

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandInfo

from quizkit.cli.common import spoken
from quizkit.words import say


class HelpedCommand(TyperCommand):
    """A command with its own help page."""

    def get_help(self, ctx: Any) -> str:
        """Return the page, as `--help` prints it."""
        return _page(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what was typed. Raises UsageError in the reader's language."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            _refuse(error, ctx)
            raise


class CommandGroup(TyperGroup):
    """A command that holds commands."""

    def get_help(self, ctx: Any) -> str:
        """Return the page, as `--help` prints it."""
        return _page(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what was typed. Raises UsageError in the reader's language."""
        if not (args or self.invoke_without_command or ctx.resilient_parsing):
            from quizkit.cli.usage import no_command

            raise no_command(ctx)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            _refuse(error, ctx)
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named. Raises UsageError for one that does not exist."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            from quizkit.cli.usage import unknown_command

            raise unknown_command(ctx, args[0])
        return super().resolve_command(ctx, args)


def dress(app: typer.Typer) -> None:
    """Give every command below `app` these manners."""
    app.info.cls = CommandGroup
    for command in app.registered_commands:
        command.cls = HelpedCommand
    for group in app.registered_groups:
        assert group.typer_instance is not None
        group.cls = CommandGroup
        dress(group.typer_instance)


def word(app: typer.Typer, above: str = "") -> None:
    """Put each command's line into the language that is spoken; typer has the docstrings."""
    for command in app.registered_commands:
        command.help = say(f"help.{above}{called(command)}", spoken())
    for group in app.registered_groups:
        group.help = say(f"help.{group.name}", spoken())
        assert group.typer_instance is not None
        word(group.typer_instance, f"{group.name}_")


def called(command: CommandInfo) -> str:
    """Return the name that is typed for a command."""
    return command.name or getattr(command.callback, "__name__", "")


def _refuse(error: Exception, ctx: Any) -> None:
    """Say in the reader's language what typer would say in English."""
    # Known by their shape: typer brings its own copy of click or not, by version.
    if hasattr(error, "format_message"):
        from quizkit.cli.usage import refusal

        raise refusal(error, ctx) from error


def _page(ctx: Any) -> str:
    from quizkit.cli.manual import manual
    from quizkit.ui.screens.help_page import help_page
    from quizkit.ui.terminal.console import console, is_plain

    screen = console(is_plain())
    with screen.capture() as shown:
        screen.print(help_page(manual(ctx, spoken()), screen.width, is_plain()))
    return "\n".join(line.rstrip() for line in shown.get().rstrip("\n").split("\n"))
