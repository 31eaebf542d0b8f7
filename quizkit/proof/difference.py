"""Compare a run with the record: what is deterministic must be the same."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from quizkit.lab.processor import processor
from quizkit.lab.record import Made, Record
from quizkit.lab.report import Metric, Report, Setting, Value

_CLOSE = 1e-9  # of itself: another processor may add in another order
_ROUNDING = 1e-9  # differences below it are rounding, where a demo declares nothing else
_FP32 = 1e-7  # a sum in fp32 moves by as much where it is made in another order


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that came out otherwise than it was recorded."""

    what: str
    recorded: object
    measured: object


def differences(
    recorded: Report, measured: Report, varies: Collection[str] = (), *, exact: bool = True
) -> Iterator[Difference]:
    """Yield everything that differs, but for the metrics that vary by themselves.

    Where some do, a planted bug may show in one check more or less: `verdict` is what counts. Where
    the numbers need not be `exact`, as on a processor that rounds otherwise, they have to be near.
    """
    for name in ("outcome", "verdict"):
        was, now = getattr(recorded, name), getattr(measured, name)
        if was != now:
            yield Difference(name, was, now)
    checks = {check.name: check.holds for check in recorded.checks}
    found = {check.name: check.holds for check in measured.checks}
    for name in () if varies else {**checks, **found}:
        if checks.get(name) != found.get(name):
            yield Difference(f"check `{name}`", checks.get(name), found.get(name))
    for name in {**recorded.metrics, **measured.metrics}:
        was, now = recorded.metrics.get(name), measured.metrics.get(name)
        how, floor = measured.how.get(name), measured.floors.get(name, _ROUNDING)
        same = partial(_same, floor=floor if how == "compared" else 0.0) if exact else near
        if recorded.how.get(name) != how:
            yield Difference(f"how {name} was had", recorded.how.get(name), how)
        elif name not in varies and not _alike(was, now, same):
            yield Difference(name, was, now)


def near(was: Value, now: Value) -> bool:
    """Tell whether one number is at most twice the other; up to 1e-7 all are one size."""
    if math.isnan(was) or math.isnan(now):
        return math.isnan(was) and math.isnan(now)
    few, many = sorted((abs(was), abs(now)))
    return many <= _FP32 or (was * now > 0 and many <= 2 * few)


def _alike(was: Metric | None, now: Metric | None, same: Callable[[Value, Value], bool]) -> bool:
    """The same number, or list of numbers."""
    if isinstance(was, tuple) and isinstance(now, tuple):
        return len(was) == len(now) and all(map(same, was, now))
    if was is None or now is None or isinstance(was, tuple) or isinstance(now, tuple):
        return False
    return same(was, now)


def _same(was: Value, now: Value, floor: float) -> bool:
    """The same number; what is at most `floor` counts as one size."""
    if math.isnan(was) or math.isnan(now):
        return math.isnan(was) and math.isnan(now)
    if abs(was) <= floor and abs(now) <= floor:
        return True
    if isinstance(was, float) or isinstance(now, float):
        return math.isclose(was, now, rel_tol=_CLOSE)
    return was == now


@dataclass(frozen=True, slots=True)
class Comparison:
    """The runs of the shipped proofs, each compared with its record.

    `differing` and `missing` name the question; `elsewhere` are demos whose record was made with
    another torch, or on another device: numbers may differ there, so nothing is compared.
    `near` counts runs recorded on another processor, or on nobody knows which: their outcome,
    verdict and checks are the same, and all numbers `near`.
    """

    same: int = 0
    near: int = 0
    differing: Sequence[tuple[str, Difference]] = ()
    missing: Sequence[tuple[str, Setting]] = ()
    elsewhere: Mapping[str, Made] = field(default_factory=dict["str", "Made"])

    @property
    def holds(self) -> bool:
        """Tell whether the record may ship."""
        return not self.differing and not self.missing


def compare(
    asked: Mapping[Setting, str], measured: Mapping[Setting, Report], record: Record
) -> Comparison:
    """Hold runs against the record; `asked` names the question that asks for each."""
    same, close, differing = 0, 0, list[tuple[str, Difference]]()
    missing, elsewhere = list[tuple[str, Setting]](), dict[str, Made]()
    for setting, question in asked.items():
        now = measured.get(setting)
        if now is None:  # it could not run, which was said
            continue
        made, demo = record.made(setting.demo), record.demos[setting.demo]
        there = (made.torch, made.backend, made.device) if made else None
        if made and there != (now.torch, now.backend, now.device):
            elsewhere[setting.demo] = made
        elif (was := record.get(setting)) is None:
            missing.append((question, setting))
        else:
            exact = rounds_as_here(made)
            found = list(differences(was, now, demo.varies, exact=exact))
            differing += [(question, each) for each in found]
            same += not found and exact
            close += not found and not exact
    return Comparison(same, close, differing, missing, elsewhere)


def rounds_as_here(made: Made | None) -> bool:
    """Tell whether runs were made on a processor that rounds as this one does."""
    return made is not None and made.processor == processor() != ""
