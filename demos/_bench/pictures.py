"""Pictures of a run: small tables of what was counted, clocked or compared, for the tool to draw.

Four kinds. Texts are English; `demos/zh/` has them in Chinese, under `pictures`.

staircase   what is kept, a step each: `parts` names what a step's values are, in order;
            `steps` is `{label: [value of each part]}`; `unit`; `budget`, what there is room for
messages    who sent how much to whom: `row` is what this rank sent to each rank (`wire().to`);
            `unit`; `node`, how many ranks a node has, where that matters; `groups`, an axis of
            parallelism each: `{axis: [[rank, ...], ...]}`
tiles       a table of small whole numbers, rows from the top: `cells`; `legend` names 0, 1, ...;
            `down` and `across` name the axes
curve       `series` is `{label: [y, y, ...]}` or `{label: {x: y}}`; `x` and `y` name the axes
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .here import here

LARGEST = 64  # rows, columns, steps and points: records ship with the tool

Kind = Literal["staircase", "messages", "tiles", "curve"]


def picture(kind: Kind, title: str, **data: Any) -> None:
    """Keep a picture of what was measured; all ranks keep the same ones, in the same order.

    What they show is rank 0's; of a message map each rank's row, and of a staircase or a curve
    also the steps or lines that only another rank has: name them after the rank, or ask `everyone`.
    A table larger than 64 x 64 is left out; of a longer curve every k-th point is kept.
    """
    made = _MAKERS[kind](**data)
    here().pictures.append({"kind": kind, "title": title, **made})


def merged(of_ranks: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The pictures of a run, from what each rank kept."""
    result = []
    for number, first in enumerate(of_ranks[0] if of_ranks else ()):
        made = dict(first)
        kept = [mine[number] for mine in of_ranks if number < len(mine)]
        if [each["title"] for each in kept] != [made["title"]] * len(of_ranks):
            continue  # a rank that never said what it sent has not sent nothing
        if made["kind"] == "messages":
            made["cells"] = [each["cells"][0] for each in kept]
        for rows in {"steps", "series"} & made.keys():
            by_label = {row["label"]: row for each in reversed(kept) for row in each[rows]}
            order = dict.fromkeys(row["label"] for each in kept for row in each[rows])
            made[rows] = [by_label[label] for label in order]
        tables = [made[name] for name in ("cells", "steps", "series") if name in made]
        alone = made["kind"] == "messages" and len(of_ranks) == 1
        if not alone and all(0 < len(table) <= LARGEST for table in tables):
            result.append(made)
    return result


def _number(value: Any) -> int | float:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool | int):
        return int(value)
    return float(f"{value:.6g}")


def _staircase(
    *, parts: Sequence[str], steps: Mapping[str, Sequence[Any]], unit: str, budget: float = 0
):
    for label, values in steps.items():
        if len(values) != len(parts):
            raise ValueError(f"step {label!r} has {len(values)} values for {len(parts)} parts")
    rows = [{"label": name, "values": [*map(_number, each)]} for name, each in steps.items()]
    return {"unit": unit, "parts": list(parts), "steps": rows, "budget": _number(budget)}


def _messages(
    *,
    row: Sequence[Any],
    unit: str = "bytes",
    node: int = 0,
    groups: Mapping[str, Sequence[Sequence[int]]] | None = None,
):
    if len(row) != here().ranks:
        raise ValueError(f"a row has a number for each of {here().ranks} ranks, not {len(row)}")
    made = {"unit": unit, "node": node, "cells": [[*map(_number, row)]]}
    axes = (groups or {}).items()
    if axes:
        made["groups"] = [
            {"label": axis, "ranks": [[*each] for each in all_]} for axis, all_ in axes
        ]
    return made


def _tiles(*, cells: Any, legend: Sequence[str], down: str, across: str):
    rows = [[int(cell) for cell in row] for row in cells]
    if not all(0 <= cell < len(legend) for row in rows for cell in row):
        raise ValueError(f"a cell is none of 0 to {len(legend) - 1}, which the legend names")
    if rows and len(rows[0]) > LARGEST:
        rows = [[]] * (LARGEST + 1)  # too wide is too large
    return {"legend": list(legend), "down": down, "across": across, "cells": rows}


def _curve(*, series: Mapping[str, Any], x: str, y: str):
    lines = []
    for label, values in series.items():
        points = [*values.items()] if isinstance(values, Mapping) else [*enumerate(values)]
        points = points[:: max(1, math.ceil(len(points) / LARGEST))]
        xs, ys = [_number(at) for at, _ in points], [_number(value) for _, value in points]
        lines.append({"label": label, "x": xs, "y": ys})
    return {"x": x, "y": y, "series": lines}


_MAKERS = {"staircase": _staircase, "messages": _messages, "tiles": _tiles, "curve": _curve}
