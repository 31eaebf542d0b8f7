"""A line that cannot be understood: one sentence that says what is wrong and what would do."""

from collections.abc import Iterable
from typing import Any

from quizkit.cli.common import spoken
from quizkit.cli.manual import path, purpose, typed, typed_so, wanted
from quizkit.errors import UsageError

_ALIKE = 0.7
"""A slip of the hand, and not another word that begins alike: --params is no slip for --plain."""


def refusal(error: Any, ctx: Any) -> UsageError:
    """Return the sentence for what typer found wrong with the words after a command."""
    param: Any = getattr(error, "param", None)
    match type(error).__name__:
        case "NoSuchOption":
            return _unknown_option(ctx, error.option_name)
        case "MissingParameter":
            said = purpose(param, spoken()).removesuffix(".")
            facts = {"name": typed(param), "about": said[0].lower() + said[1:]}
            line = typed_so(ctx, spoken())
            return UsageError("usage_missing", command=path(ctx), line=line, **facts)
        case "BadParameter":
            name = " / ".join(param.opts)
            # What was typed stands in the message alone: "'x' is not a valid int."
            given = error.message.rpartition(" is not ")[0].strip("'\"").removesuffix(".0")
            return UsageError("usage_value", name=name, wanted=wanted(param, spoken()), given=given)
        case "BadOptionUsage":
            option = error.option_name
            params = ctx.command.get_params(ctx)
            meant = next(each for each in params if option in (*each.opts, *each.secondary_opts))
            if meant.is_flag:
                return UsageError("usage_switch", name=option)
            return UsageError("option_alone", name=option, wanted=wanted(meant, spoken()))
        case _:  # words that no argument takes; they stand in brackets behind typer's sentence
            given = error.message.partition(" (")[2].removesuffix(")")
            line = typed_so(ctx, spoken())
            return UsageError("usage_extra", command=path(ctx), given=given, line=line)


def unknown_command(ctx: Any, name: str) -> UsageError:
    """Return the sentence for a command that does not exist."""
    known = ctx.command.commands
    return unknown("usage_command", path(ctx), name, known)


def no_command(ctx: Any) -> UsageError:
    """Return the sentence for a group of commands that is typed alone."""
    known = ", ".join(ctx.command.commands)
    return UsageError("usage_no_command", command=path(ctx), known=known)


def _unknown_option(ctx: Any, name: str) -> UsageError:
    # The front door has hardly an option of its own: `quizkit --lang zh` is meant for a command.
    for command, below in getattr(ctx.command, "commands", {}).items():
        for each in below.params:
            if name in each.opts:
                value = "" if each.is_flag else f" {each.make_metavar(ctx)}"
                line = f"{path(ctx)} {command} {name}{value}"
                return UsageError("usage_option_first", name=name, line=line)
    params = ctx.command.get_params(ctx)
    known = [word for each in params for word in (*each.opts, *each.secondary_opts)]
    return unknown("usage_option", path(ctx), name, [each for each in known if each[0] == "-"])


def unknown(key: str, command: str, name: str, known: Iterable[str]) -> UsageError:
    """Return sentence `errors.KEY` with the nearest known one, `errors.KEY_far` if none is near."""
    from difflib import get_close_matches

    for hint in get_close_matches(name, [*known], n=1, cutoff=_ALIKE):
        return UsageError(key, command=command, name=name, hint=hint)
    return UsageError(f"{key}_far", command=command, name=name)
