"""Numbers a run reports: how each was had, and what the ranks' values become together."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

Number = int | float | bool

RELATIONS = {
    "<": lambda measured, expected: measured < expected,
    "<=": lambda measured, expected: measured <= expected,
    "==": lambda measured, expected: measured == expected,
    ">=": lambda measured, expected: measured >= expected,
    ">": lambda measured, expected: measured > expected,
    "!=": lambda measured, expected: measured != expected,
}


@dataclass(frozen=True)
class Metric:
    """One number of a run, with how it was had."""

    value: Any
    how: str
    shared: bool = False
    floor: float | None = None


Metrics = Mapping[str, Metric]


def counted(value: Any) -> Metric:
    """Counted while the algorithm ran: bytes, messages, live tensors."""
    return Metric(value, "counted")


def compared(value: Any, floor: float | None = None) -> Metric:
    """The difference from a reference.

    Up to `floor` it is rounding, and reads as 0 in claims; 0 says that rounding is the subject.
    Without one the comparison is in fp64: what is below 1e-9 is neither 0 nor a difference.
    """
    return Metric(value, "compared", floor=floor)


def identical(value: bool) -> Metric:
    """Whether two are equal bit by bit."""
    return Metric(value, "identical")


def clocked(value: Any) -> Metric:
    """Read off a clock, virtual or real."""
    return Metric(value, "clocked")


def computed(value: Any) -> Metric:
    """Worked out by a formula: for display, since it cannot disagree with anything."""
    return Metric(value, "computed")


def shared(metric: Metric) -> Metric:
    """One value for the whole run: every rank must come to the same."""
    return replace(metric, shared=True)


def plain(value: Any, what: str) -> Number:
    """The Python number in a number, a 0-d tensor or a numpy scalar."""
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, Number):
        raise TypeError(f"{what} must be one number, not {value!r}")
    return value


def packed(metrics: object, listed: int | None = None) -> dict[str, dict[str, Any]]:
    """What main returned, as data; one that starts `listed` ranks itself gives their lists."""
    if not isinstance(metrics, Mapping):
        raise TypeError(f"main must return {{name: metric}}, not {type(metrics).__name__}")
    result: dict[str, dict[str, Any]] = {}
    for name, metric in metrics.items():
        what = f"metric {name!r}"
        if not isinstance(metric, Metric):
            raise TypeError(
                f"{what} needs counted(), compared(), identical(), clocked() or computed()"
            )
        value: Any = metric.value
        if listed is None or metric.shared:
            value = plain(value, what)
        elif isinstance(value, Sequence) and len(value) == listed:
            value = [plain(each, what) for each in value]
        else:
            raise TypeError(f"{what}: list one value for each of {listed} ranks, or call shared()")
        if metric.how == "identical" and {*map(type, flat(value))} - {bool}:
            raise TypeError(f"{what}: identical() takes True or False, not {value!r}")
        result[name] = {"value": value, "how": metric.how, "shared": metric.shared}
        if metric.floor is not None:
            result[name]["floor"] = metric.floor
    return result


def flat(value: Any) -> Sequence[Any]:
    """The values of a metric, be it one or a list of them."""
    return value if isinstance(value, list) else [value]


class DisagreementError(Exception):
    """Ranks that should have come to the same did not."""

    def __init__(self, rank: int, message: str):
        super().__init__(message)
        self.rank = rank


def same(one: Number, other: Number) -> bool:
    """Equality that takes NaN for equal to itself: ranks may agree on it."""
    return one == other or (math.isnan(one) and math.isnan(other))


def merged(per_rank: Sequence[Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """The metrics of a run: a list over ranks, or the one value they share."""
    first = per_rank[0]
    for number, metrics in enumerate(per_rank):
        if odd := sorted(first.keys() ^ metrics.keys()):
            raise DisagreementError(
                number, f"rank {number} and rank 0 do not report the same: {', '.join(odd)}"
            )
    result: dict[str, Any] = {}
    for name, metric in first.items():
        values = [metrics[name]["value"] for metrics in per_rank]
        if isinstance(values[0], list):  # from a demo that starts its ranks itself
            result[name] = values[0]
            continue
        if not metric["shared"]:
            result[name] = values
            continue
        for number, value in enumerate(values):
            if not same(values[0], value):
                raise DisagreementError(number, f"{name} is shared, but the ranks have {values}")
        result[name] = values[0]
    return result


def checked(name: str, measured: Any, relation: str, expected: Any) -> dict[str, Any]:
    """One comparison, judged."""
    if relation not in RELATIONS:
        raise ValueError(f"check {name!r}: {relation!r} is none of {' '.join(RELATIONS)}")
    measured, expected = (
        plain(measured, f"check {name!r}: measured"),
        plain(expected, f"check {name!r}: expected"),
    )
    holds = not math.isnan(measured) and not math.isnan(expected)
    holds = holds and RELATIONS[relation](measured, expected)
    return {
        "name": name,
        "measured": measured,
        "relation": relation,
        "expected": expected,
        "holds": holds,
    }


def badness(check: Mapping[str, Any]) -> tuple[bool, float]:
    """Order by which the worst of several checks of one name is the largest."""
    gap = check["measured"] - check["expected"]
    if math.isnan(gap):
        return not check["holds"], math.inf
    relation = check["relation"]
    if relation in (">", ">="):
        gap = -gap
    elif relation == "==":
        gap = abs(gap)
    elif relation == "!=":
        gap = -abs(gap)
    return not check["holds"], gap


def worst(checks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One entry a name, in order of first mention, from where it stands worst."""
    result: dict[str, dict[str, Any]] = {}
    for check in checks:
        kept = result.get(check["name"])
        if kept is None or badness(check) > badness(kept):
            result[check["name"]] = dict(check)
    return list(result.values())
