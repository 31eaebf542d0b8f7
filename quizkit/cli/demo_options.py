"""A demo's own options, which no command can declare: they stand in the demo's file."""

from collections.abc import Mapping, Sequence

from quizkit.cli.common import spoken
from quizkit.errors import UsageError
from quizkit.lab.catalogue import Demo, Parameter
from quizkit.lab.report import Scalar
from quizkit.near import nearest
from quizkit.words import say

# What the command itself takes; named here so that a misspelt one is recognised.
COMMON = (
    *("--gpus", "--ranks", "--device", "--break", "--deadline", "--show", "--svg", "--trace"),
    *("--watch", "--json", "--all", "--breaks", "--topic", "--demos", "--lang"),
    *("--plain", "--help"),
)


def parsed(demo: Demo, words: Sequence[str]) -> dict[str, Scalar]:
    """Return the arguments that `words` set, for example `--seq 512 --no-causal`."""
    flags = {flag: p for p in demo.parameters.values() for flag in p.flags}
    given: dict[str, Scalar] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("--"):
            raise UsageError("option_stray", given=word)
        flag, equals, text = word.partition("=")
        if flag not in flags:
            hint = nearest(flag, [*flags, *COMMON])
            raise UsageError("option_unknown", demo=demo.name, name=flag, hint=hint)
        parameter = flags[flag]
        if parameter.kind != "bool":
            value = _value(flag, parameter, text if equals else next(rest, None))
        elif equals:
            raise UsageError("option_switch", name=flag, given=text)
        else:
            value = flag == parameter.flags[0]
        given[parameter.name] = value
    return given


def _value(flag: str, parameter: Parameter, text: str | None) -> Scalar:
    if text is None:
        raise UsageError("option_alone", name=flag, wanted=_wanted(parameter))
    kinds: Mapping[str, type[int] | type[float]] = {"int": int, "float": float}
    try:
        value = kinds[parameter.kind](text) if parameter.kind in kinds else text
    except ValueError:
        raise UsageError("option_value", name=flag, wanted=_wanted(parameter), given=text) from None
    if parameter.choices and value not in parameter.choices:
        raise UsageError("option_value", name=flag, wanted=_wanted(parameter), given=text)
    return value


def _wanted(parameter: Parameter) -> str:
    """Return what belongs after the option, for somebody who put something else there."""
    kinds = {"int": "usage.whole", "float": "usage.number"}
    return say(kinds[parameter.kind], spoken()) if parameter.kind in kinds else parameter.wanted
