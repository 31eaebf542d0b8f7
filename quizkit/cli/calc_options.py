"""The options of one calculator, which no command can declare: they stand in its sheet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quizkit.calc.figure import Value
from quizkit.calc.sheet import Calculator, Filled, Input, option
from quizkit.cli.quantity import quantity, wanted
from quizkit.errors import UsageError
from quizkit.near import nearest

if TYPE_CHECKING:
    from quizkit.calc.chips import Chip
    from quizkit.calc.models import Model

# What the command itself takes; named here so that a misspelt one is recognised.
COMMON = (
    "--model", "--gpu", "--json", "--explain", "--quiz", "--check", "--svg", "--lang", "--plain",
    "--help",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Named:
    """A model and an accelerator, named instead of their numbers."""

    model: "Model | None" = None
    chip: "Chip | None" = None


NOBODY = Named()


def named(model: str | None, gpu: str | None) -> Named:
    """Look both names up. Raises UsageError with the nearest."""
    if not (model or gpu):
        return NOBODY
    from quizkit.calc import chips, models

    return Named(models.model(model) if model else None, chips.chip(gpu) if gpu else None)


def parsed(
    sheet: Calculator, words: Sequence[str], fill: Named = NOBODY
) -> tuple[dict[str, Value], Filled]:
    """Return the inputs that `words` set, as in `--params 7.5B --dp 64 --peak h100`, and the rest.

    The rest is what `fill` says of inputs that words do not, and which words name a GPU.
    """
    flags: dict[str, tuple[Input, bool]] = {}
    for each in sheet.inputs:
        flags[option(each.name)] = (each, True)
        if each.kind == "flag":
            flags["--no-" + option(each.name).removeprefix("--")] = (each, False)
    given: dict[str, Value] = {}
    by: dict[str, Chip] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("--"):
            raise UsageError("calc_stray", given=word, sheet=sheet.name)
        flag, equals, text = word.partition("=")
        if flag not in flags:
            hint = nearest(flag, [*flags, *COMMON])
            raise UsageError("calc_option", sheet=sheet.name, name=flag, hint=hint)
        each, truth = flags[flag]
        if each.kind == "flag":
            if equals:
                raise UsageError("option_switch", name=flag, given=text)
            given[each.name] = truth
            continue
        typed = text if equals else next(rest, None)
        if typed is None:
            raise UsageError("option_alone", name=flag, wanted=wanted(each))
        by.pop(each.name, None)
        if each.of_chip and typed[:1].isalpha():
            from quizkit.calc.chips import chip

            by[each.name] = chip(typed)
            given[each.name] = each.of_chip(by[each.name])
        else:
            given[each.name] = quantity(each, typed)
    filled = sheet.filled(fill.model, fill.chip, given)
    return given, Filled(filled.values, {**filled.by, **by})
