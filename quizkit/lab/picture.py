"""The pictures of a run: small tables of what it counted, clocked or compared."""

from dataclasses import dataclass
from typing import Literal

from quizkit.lab.fields import Value, a_list, is_a, items, number, numbers, one_of, texts

Kind = Literal["staircase", "messages", "tiles", "curve"]


@dataclass(frozen=True, slots=True)
class Stair:
    """One step of a staircase: a value for each part."""

    label: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Staircase:
    """The amounts kept at each step, the parts they consist of, and the most there is room for."""

    kind: Literal["staircase"]
    title: str
    unit: str
    parts: tuple[str, ...]
    steps: tuple[Stair, ...]
    budget: Value = 0
    """0 where nothing limits them."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of parallelism: the groups of ranks that talk along it."""

    label: str
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Messages:
    """The amounts each rank (a row) sent to each; `node` ranks are a node, 0 if none are."""

    kind: Literal["messages"]
    title: str
    unit: str
    node: int
    cells: tuple[tuple[Value, ...], ...]
    axes: tuple[Axis, ...] = ()
    """Where the run says along which axes its ranks are arranged."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """A table of cells, each a place in the legend; `down` and `across` say what the axes are."""

    kind: Literal["tiles"]
    title: str
    legend: tuple[str, ...]
    down: str
    across: str
    cells: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a curve, a y for each x."""

    label: str
    x: tuple[Value, ...]
    y: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """Lines over one axis; `x` and `y` say what the axes are."""

    kind: Literal["curve"]
    title: str
    x: str
    y: str
    series: tuple[Series, ...]


Picture = Staircase | Messages | Tiles | Curve


def read_picture(value: object) -> Picture:
    """Read one picture of a report. Raises KeyError, TypeError or ValueError if it is none."""
    data = dict(items(value))
    kind: Kind = one_of(Kind, data["kind"])
    title = is_a(str, data["title"])
    if kind == "staircase":
        parts = texts(data["parts"])
        steps = tuple(_step(each, len(parts)) for each in a_list(data["steps"]))
        budget = number(data.get("budget", 0))
        return Staircase(kind, title, is_a(str, data["unit"]), parts, steps, budget)
    if kind == "curve":
        series = tuple(_series(each) for each in a_list(data["series"]))
        return Curve(kind, title, is_a(str, data["x"]), is_a(str, data["y"]), series)
    cells = tuple(numbers(row) for row in a_list(data["cells"]))
    if any(len(row) != len(cells[0]) for row in cells):
        raise ValueError("rows of a picture differ in length")
    if kind == "messages":
        if cells and len(cells) != len(cells[0]):
            raise ValueError("a message map needs as many columns as rows")
        axes = tuple(_axis(each, len(cells)) for each in a_list(data.get("groups", [])))
        return Messages(kind, title, is_a(str, data["unit"]), is_a(int, data["node"]), cells, axes)
    legend = texts(data["legend"])
    if any(cell not in range(len(legend)) for row in cells for cell in row):
        raise ValueError(f"a cell is none of the {len(legend)} that the legend names")
    return Tiles(kind, title, legend, is_a(str, data["down"]), is_a(str, data["across"]), cells)


def _step(value: object, parts: int) -> Stair:
    data = dict(items(value))
    values = numbers(data["values"])
    if len(values) != parts or any(not number(each) >= 0 for each in values):
        raise ValueError(f"a step needs {parts} values of 0 or more, not {values}")
    return Stair(is_a(str, data["label"]), values)


def _axis(value: object, ranks: int) -> Axis:
    data = dict(items(value))
    groups = tuple(
        tuple(is_a(int, rank) for rank in a_list(each)) for each in a_list(data["ranks"])
    )
    if any(rank not in range(ranks) for each in groups for rank in each):
        raise ValueError(f"a group has a rank that is none of {ranks}")
    return Axis(is_a(str, data["label"]), groups)


def _series(value: object) -> Series:
    data = dict(items(value))
    x, y = numbers(data["x"]), numbers(data["y"])
    if len(x) != len(y):
        raise ValueError(f"{len(x)} x and {len(y)} y make no curve")
    return Series(is_a(str, data["label"]), x, y)
