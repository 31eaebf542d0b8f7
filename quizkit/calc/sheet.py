"""A calculator is a sheet: named inputs with their defaults, and the figures worked out of them."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Literal

from quizkit.calc.figure import Figure, Value
from quizkit.errors import UsageError
from quizkit.near import nearest

if TYPE_CHECKING:
    from quizkit.calc.chips import Chip
    from quizkit.calc.models import Model

Kind = Literal[
    "count", "size", "rate", "time", "speed", "number", "numbers", "choice", "flag", "file", "text"
]


class CalcError(UsageError):
    """A sum that makes no sense for these inputs; the message says why and what would."""


@dataclass(frozen=True, slots=True)
class Input:
    """One argument of a sheet, and the option of the same name.

    Kinds: count (a whole number from `least`), size (bytes), rate (bytes/s), time (seconds), speed
    (FLOP/s), number (from `least`), numbers (a list), choice, flag, file (a path), text.
    """

    name: str
    kind: Kind = "count"
    default: Value | None = None
    choices: tuple[str | int, ...] = ()
    least: float = 1
    required: bool = False
    of_model: "Callable[[Model], Value | None] | None" = None
    of_chip: "Callable[[Chip], Value] | None" = None


@dataclass(frozen=True, slots=True)
class SumTrap:
    """A wrong formula of the inputs that people use, and the words key of what they forgot."""

    formula: str
    forgot: str


@dataclass(frozen=True, slots=True)
class Quiz:
    """How a sheet becomes a question: which figure is asked, and what is drawn if not given."""

    figure: str
    unit: str
    draws: Mapping[str, tuple[int | float, ...]]
    traps: tuple[SumTrap, ...] = ()
    scale: float = 1.0
    """How many of the figure's own units make one `unit`: 1e9 for GB of bytes."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What a model or an accelerator says of a sheet's inputs, and which of them says it."""

    values: Mapping[str, Value]
    by: "Mapping[str, Chip | Model]"


NOTHING = Filled({}, {})


@dataclass(frozen=True, slots=True)
class Worked:
    """A sheet with its numbers in: every input (defaults too) and every figure there is."""

    sheet: "Calculator"
    inputs: Mapping[str, Value | None]
    given: frozenset[str]
    figures: Mapping[str, Value]
    by: "Mapping[str, Chip | Model]"

    @property
    def values(self) -> Mapping[str, Value | None]:
        """Inputs and figures by name."""
        return {**self.inputs, **self.figures}


@dataclass(frozen=True)
class Calculator:
    """One calculator. `rules` look at all inputs and raise CalcError for what cannot be."""

    name: str
    inputs: Sequence[Input]
    figures: Sequence[Figure]
    rules: Sequence[Callable[[Mapping[str, Value | None]], None]] = ()
    quiz: Quiz | None = None
    models: Literal["all", "dense", "experts"] = "all"
    """Dense: its sums know neither experts nor a latent cache."""
    _named: Mapping[str, Input] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_named", {each.name: each for each in self.inputs})

    def input(self, name: str) -> Input:
        """The input of that name. Raises UsageError with the nearest one."""
        if name not in self._named:
            hint = nearest(name, self._named)
            raise UsageError("calc_input", name=name, sheet=self.name, hint=hint)
        return self._named[name]

    def filled(
        self, model: "Model | None", chip: "Chip | None", said: Container[str] = ()
    ) -> Filled:
        """What they say of the inputs that are not `said`. Raises CalcError if they say nothing."""
        if model and self.models == "dense" and (model.experts or model.latent):
            raise CalcError("calc_dense_only", sheet=self.name, model=model.name)
        if model and self.models == "experts" and not model.experts:
            raise CalcError("calc_experts_only", sheet=self.name, model=model.name)
        asked: dict[str, tuple[Value | None, Chip | Model]] = {}
        for each in self.inputs:
            if model and each.of_model:
                asked[each.name] = each.of_model(model), model
            elif chip and each.of_chip:
                asked[each.name] = each.of_chip(chip), chip
        for named, flag in ((model, "--model"), (chip, "--gpu")):
            if named and all(by is not named for _, by in asked.values()):
                raise CalcError("calc_not_named", sheet=self.name, name=flag)
        found = {name: told for name, told in asked.items() if name not in said}
        values = {name: value for name, (value, _) in found.items() if value is not None}
        return Filled(values, {name: found[name][1] for name in values})

    def work(self, given: Mapping[str, Value | None], filled: Filled = NOTHING) -> Worked:
        """Work every figure out; what is given wins over what is filled in.

        Raises UsageError or CalcError for inputs that cannot be.
        """
        inputs = self.checked(given, filled)
        try:
            figures = self._figures(inputs)
        except ArithmeticError as error:  # a float has no room for it, or only for nought
            raise CalcError("calc_too_large", sheet=self.name) from error
        said = frozenset(name for name, value in given.items() if value is not None)
        return Worked(self, inputs, said, figures, filled.by)

    def checked(
        self, given: Mapping[str, Value | None], filled: Filled = NOTHING
    ) -> dict[str, Value | None]:
        """Every input, said, filled in or by default. Raises UsageError for one that cannot be."""
        said = {name: value for name, value in given.items() if value is not None}
        for name, value in said.items():
            _fits(self.input(name), value)
        for each in self.inputs:
            if each.required and each.name not in {**filled.values, **said}:
                raise UsageError("calc_missing", name=option(each.name), sheet=self.name)
        return {each.name: each.default for each in self.inputs} | {**filled.values, **said}

    def _figures(self, inputs: Mapping[str, Value | None]) -> dict[str, Value]:
        for rule in self.rules:
            rule(inputs)
        values = dict(inputs)
        figures: dict[str, Value] = {}
        for each in self.figures:
            value = each(values)
            if value is not None:
                values[each.name] = figures[each.name] = value
        for value in values.values():
            _finite(value)
        return figures


def option(name: str) -> str:
    """The option of an input: `backward_input` is `--backward-input`."""
    return "--" + name.replace("_", "-")


def _finite(value: Value | None) -> None:
    """Raise OverflowError for a number that no float can show."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, (int, float)) and not isfinite(each):
            raise OverflowError


def _fits(each: Input, value: Value) -> None:
    """Refuse a value that is not of the input's kind."""
    if each.kind == "choice":
        good = value in each.choices
    elif each.kind in ("flag", "file", "text"):
        good = isinstance(value, bool if each.kind == "flag" else str)
    elif each.kind == "numbers":
        good = isinstance(value, list) and all(item > 0 for item in value)
    else:
        number = None if isinstance(value, (bool, str, list)) else value
        good = number is not None and each.least <= number < float("inf")
        good = good and (each.kind != "count" or number == int(number or 0))
    if not good:
        least = "> 0" if each.kind == "numbers" else f">= {each.least:g}"
        wanted = ", ".join(map(str, each.choices)) or f"{each.kind} {least}"
        raise UsageError("calc_value", name=option(each.name), value=value, wanted=wanted)
