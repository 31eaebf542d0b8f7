"""Every calculator by its name, and every figure by the name that questions call it by."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module

from quizkit.calc.figure import Value
from quizkit.calc.sheet import Sheet
from quizkit.errors import QuizkitError

NAMES = (
    "memory",
    "activations",
    "pipeline",
    "traffic",
    "allreduce",
    "flops",
    "mfu",
    "days",
    "kv",
)


@cache
def sheet(name: str) -> Sheet:
    """The sheet of a calculator; its module is `quizkit.calc.<name>` and calls it SHEET."""
    return import_module(f"quizkit.calc.{name}").SHEET


def called(sheet_name: str, figure: str) -> str:
    """What questions call a figure: its sheet's name and its own, without saying one twice."""
    return figure if figure.split("_")[0] == sheet_name else f"{sheet_name}_{figure}"


@cache
def functions() -> Mapping[str, Callable[..., Value]]:
    """Every figure of every sheet, as a function of the sheet's inputs by keyword."""
    found: dict[str, Callable[..., Value]] = {}
    for name in NAMES:
        for each in sheet(name).figures:
            found[called(name, each.name)] = _function(name, each.name)
    return found


def _function(name: str, figure: str) -> Callable[..., Value]:
    def worked(**inputs: Value) -> Value:
        try:
            figures = sheet(name).work(inputs).figures
        except QuizkitError as error:
            raise ValueError(str(error)) from error
        if figure not in figures:
            raise ValueError(f"not given enough to work out {figure}")
        return figures[figure]

    return worked
