"""Read and check what was written down: a layout by the sums, a schedule by playing it.

layout     `tp=8 pp=4 dp=8` or `TP8 PP4 DP8`: each field once, a whole number
schedule   a line a stage (or `/` between them): `F0 F1 B0 B1`; F takes 1 and B, the whole
           backward, 2; transfers are free. Names for its checks: `runs` (it comes to an end),
           `makespan`, `bubble` (idle share of the step, all stages together), `peak`
           (micro-batches alive at once, by stage)
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import cast

from quizkit.bank.formula import FormulaError
from quizkit.bank.functions import Value
from quizkit.bank.model import Text
from quizkit.bank.script import Layout, Lines, Write
from quizkit.calc.schedule.fault import check
from quizkit.calc.schedule.placement import Order, StagePlacement, place
from quizkit.calc.schedule.reader import Written as OrderLines
from quizkit.calc.schedule.reader import parse
from quizkit.calc.schedule.simulator import Costs, peak_live, simulate
from quizkit.calc.sheet import CalcError
from quizkit.mock.misread import MisreadError
from quizkit.tutor.verdict import Verdict

_BETWEEN = re.compile(r"[\s,;.、，；。x×*]*")
_LARGEST = 10**9
_COSTS = Costs(forward=1, backward_input=1, backward_weight=1)


def read_written(write: Write, text: str) -> object:
    """Read a layout as {field: number}, a schedule as its lines. Raises MisreadError."""
    text = unicodedata.normalize("NFKC", text)
    if write.schedule is None:
        return _layout(write, text)
    lines = tuple(" ".join(line.split()) for line in re.split(r"[\n/]", text) if line.strip())
    try:
        _order(write, lines)
    except CalcError as error:
        raise MisreadError(f"errors.{error.key}", **error.values) from None
    return [*lines]


def passed(write: Write, given: object) -> tuple[bool, ...]:
    """Tell of each check whether what was given (as `read_written` has it) passes."""
    values = _measured(write, given)

    def holds(number: int) -> bool:
        try:
            return write.checks[number].when.truth(values)
        except FormulaError:  # of a schedule that never ends nothing was measured
            return False

    return tuple(map(holds, range(len(write.checks))))


def grade_written(write: Write, given: object) -> Verdict:
    """Score what was written: the points of the checks that it passes, as a share of all."""
    held = passed(write, given)
    every = sum(check.points for check in write.checks)
    got = sum(check.points for check, ok in zip(write.checks, held, strict=True) if ok)
    return Verdict(all(held), got / every, shown(write.example))


def shown(given: object) -> Text:
    """Return a layout or a schedule as one would type it."""
    if isinstance(given, Mapping):
        pairs = cast("Mapping[str, int]", given).items()
        text = " ".join(f"{name}={value}" for name, value in pairs)
    else:
        text = " / ".join(map(str, cast("Sequence[str]", given)))
    return Text(text, text)


def _layout(write: Write, text: str) -> Layout:
    known = {name.casefold(): name for name in write.fields}
    names = "|".join(sorted(map(re.escape, known), key=len, reverse=True))
    found: dict[str, int] = {}
    end = 0
    for pair in re.finditer(rf"({names})\s*[=:]?\s*(\d+)", text.casefold()):
        name, number = known[pair[1]], int(pair[2])
        between = _BETWEEN.fullmatch(text, end, pair.start())
        if name in found or not between or number > _LARGEST:
            raise MisreadError("mock.layout_misread", fields=_fields(write))
        found[name] = number
        end = pair.end()
    if len(found) != len(known) or not _BETWEEN.fullmatch(text, end):
        raise MisreadError("mock.layout_misread", fields=_fields(write))
    return {name: found[name] for name in write.fields}


def _fields(write: Write) -> str:
    return " ".join(f"{name}=…" for name in write.fields)


def _measured(write: Write, given: object) -> Mapping[str, Value]:
    values: dict[str, Value] = {**write.given}
    if write.schedule is None:
        return values | dict(cast("Layout", given))
    orders, placement = _order(write, tuple(cast("Lines", given)))
    try:
        run = simulate(orders, placement, _COSTS)
    except CalcError:
        return values | {"runs": False}
    idle = sum(run.makespan - busy for busy in run.busy)
    peak: list[int | float | bool] = [*peak_live(orders)]
    return values | {
        "runs": True,
        "makespan": run.makespan,
        "bubble": idle / (run.makespan * placement.ranks),
        "peak": peak,
    }


def _order(write: Write, lines: Lines) -> tuple[Order, StagePlacement]:
    """Return the order that the lines say. Raises CalcError where it is not whole."""
    assert write.schedule is not None
    placement = place("1f1b", write.schedule.stages, write.schedule.microbatches)
    written = OrderLines("order", tuple(enumerate(lines, start=1)))
    orders = parse(written, placement)
    check(orders, placement, [f"stage {stage}" for stage in range(placement.ranks)])
    return orders, placement
