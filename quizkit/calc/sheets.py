"""Every calculator by its name, and every figure by the name that questions call it by."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from quizkit.calc.figure import Value
from quizkit.calc.sheet import Calculator
from quizkit.errors import QuizkitError

NAMES = (
    "memory",
    "activations",
    "pipeline",
    "traffic",
    "moe",
    "allreduce",
    "flops",
    "mfu",
    "days",
    "kv",
)
EVERY = (*NAMES, "plan")
"""With the one that looks at many layouts of a job, and is no sum that a question could ask."""


@cache
def sheet(name: str) -> Calculator:
    """The sheet of a calculator; its module is `quizkit.calc.<name>` and calls it SHEET."""
    return import_module(f"quizkit.calc.{name}").SHEET


def called(sheet_name: str, figure: str) -> str:
    """What questions call a figure: its sheet's name and its own, without saying one twice."""
    return figure if figure.split("_")[0] == sheet_name else f"{sheet_name}_{figure}"


@dataclass(frozen=True, slots=True)
class Sum:
    """One figure of a sheet, as a function of the sheet's inputs by keyword."""

    sheet: str
    figure: str
    inputs: frozenset[str]

    def __call__(self, **inputs: Value) -> Value:
        """The figure. Raises ValueError for inputs it does not take or that cannot be."""
        try:
            figures = sheet(self.sheet).work(inputs).figures
        except QuizkitError as error:
            raise ValueError(str(error)) from error
        if self.figure not in figures:
            raise ValueError(f"not given enough to work out {self.figure}")
        return figures[self.figure]


@cache
def find(name: str) -> Sum | None:
    """The figure that questions call by this name, if there is one. Only its sheet is loaded."""
    sheet_name = name.split("_")[0]
    if sheet_name not in NAMES:
        return None
    found = sheet(sheet_name)
    # A question may do arithmetic and nothing else: it cannot open a file.
    inputs = frozenset(each.name for each in found.inputs if each.kind != "file")
    names = {called(sheet_name, each.name): each.name for each in found.figures}
    return Sum(sheet_name, names[name], inputs) if name in names else None


def names() -> list[str]:
    """What every figure of every sheet is called by questions."""
    return [called(name, each.name) for name in NAMES for each in sheet(name).figures]
