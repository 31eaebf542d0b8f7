"""The options of one calculator, which no command can declare: they stand in its sheet."""

from collections.abc import Sequence

from quizkit.calc.figure import Value
from quizkit.calc.sheet import Calculator, Input, option
from quizkit.cli.quantity import quantity, wanted
from quizkit.errors import UsageError
from quizkit.near import nearest

# What the command itself takes; named here so that a misspelt one is recognised.
COMMON = ("--json", "--explain", "--quiz", "--check", "--svg", "--lang", "--plain", "--help")


def parsed(sheet: Calculator, words: Sequence[str]) -> dict[str, Value]:
    """Return the inputs that `words` set, for example `--params 7.5B --dp 64 --no-master`."""
    flags: dict[str, tuple[Input, bool]] = {}
    for each in sheet.inputs:
        flags[option(each.name)] = (each, True)
        if each.kind == "flag":
            flags["--no-" + option(each.name).removeprefix("--")] = (each, False)
    given: dict[str, Value] = {}
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
        given[each.name] = quantity(each, typed)
    return given
