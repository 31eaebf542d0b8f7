"""Nouns for what a run is asked for (Setting) and what it brings back (Report)."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, cast

from quizkit.errors import LabError
from quizkit.lab.fields import Value, a_list, is_a, items, number, one_of
from quizkit.lab.picture import Picture, read_picture

SCHEMA = "quizkit/report/1"

Scalar = int | float | bool | str
Metric = Value | tuple[Value, ...]
Outcome = Literal["finished", "crashed", "hung", "killed", "refused"]
Verdict = Literal["pass", "fail", "error"]
Origin = Literal["ran", "cached", "recorded"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One distinct run: two proofs with equal settings share it."""

    demo: str
    ranks: int
    args: tuple[tuple[str, Scalar], ...] = ()
    broken: str | None = None

    def __str__(self) -> str:
        """As it would be typed, nearly."""
        planted = [f"--break {self.broken}"] if self.broken else []
        options = [f"{name}={value}" for name, value in self.args]
        return " ".join([self.demo, f"--ranks {self.ranks}", *planted, *options])


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison that the demo made, as its worst rank saw it."""

    name: str
    measured: Value
    relation: str
    expected: Value
    holds: bool


@dataclass(frozen=True, slots=True)
class Event:
    """One operation of one rank; events of one schedule share a picture."""

    schedule: str
    rank: int
    name: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Hop:
    """One message, called by what is in it: from when it left a rank until it was `to` another."""

    schedule: str
    rank: int
    to: int
    name: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """The events of a run, and by which clock: `virtual` counts costs, `wall` counts seconds.

    `letters` say what names stand for, by what they have before their number: that is `{}` there.
    """

    clock: str = "none"
    events: tuple[Event, ...] = ()
    hops: tuple[Hop, ...] = ()
    letters: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason a run did not finish: the rank to blame if any, and where each rank was."""

    rank: int | None
    message: str
    stacks: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything one run measured. A metric is one value if shared, else one for each rank.

    `floors` holds what was declared of differences: up to it, one is rounding.
    `origin` says whether it ran just now, earlier here, or elsewhere, as the record that ships;
    how many seconds it took is told only of a run just made.
    """

    demo: str
    ranks: int
    args: Mapping[str, Scalar]
    broken: str | None
    start: str
    backend: str
    device: str
    staged: bool
    reason: str
    torch: str
    seconds: float | None
    outcome: Outcome
    error: Failure | None
    checks: tuple[Check, ...]
    metrics: Mapping[str, Metric]
    how: Mapping[str, str]
    floors: Mapping[str, float] = field(default_factory=dict[str, float])
    timeline: Timeline
    pictures: tuple[Picture, ...] = ()
    verdict: Verdict
    origin: Origin = "ran"

    def shows(self, expect: str) -> bool:
        """Tell whether a planted break came out as declared, and not in some other way."""
        if expect == "hangs":
            return self.outcome == "hung"
        if expect.startswith("crashes:"):
            cause = re.escape(expect.removeprefix("crashes:").strip())
            # Later lines of the message tell of the ranks that only failed in its wake.
            first = self.error.message.split("\n")[0] if self.error else ""
            found = re.search(rf"\b(raised|died of) {cause}\b", first)
            return self.outcome == "crashed" and found is not None
        named = [check for check in self.checks if check.name == expect]
        return self.outcome == "finished" and any(not check.holds for check in named)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Report":
        """Read a report; one that is not as we know it is an error, never a guess."""
        if data.get("schema") != SCHEMA:
            raise LabError("report_schema", found=data.get("schema"), known=SCHEMA)
        try:
            return cls(
                demo=is_a(str, data["demo"]),
                ranks=is_a(int, data["ranks"]),
                args={name: _scalar(value) for name, value in items(data["args"])},
                broken=None if data["broken"] is None else is_a(str, data["broken"]),
                start=is_a(str, data["start"]),
                backend=is_a(str, data["backend"]),
                device=is_a(str, data["device"]),
                staged=is_a(bool, data["staged"]),
                reason=is_a(str, data["reason"]),
                torch=is_a(str, data["torch"]),
                seconds=None if data["seconds"] is None else float(number(data["seconds"])),
                outcome=one_of(Outcome, data["outcome"]),
                error=None if data["error"] is None else _failure(data["error"]),
                checks=tuple(_check(each) for each in a_list(data["checks"])),
                metrics={name: _metric(value) for name, value in items(data["metrics"])},
                how={name: is_a(str, value) for name, value in items(data["how"])},
                timeline=_timeline(data["timeline"]),
                # Reports made before there were pictures have none.
                pictures=tuple(read_picture(each) for each in a_list(data.get("pictures", ()))),
                verdict=one_of(Verdict, data["verdict"]),
                floors={name: float(number(value)) for name, value in items(data["floors"])},
            )
        except KeyError as error:
            raise LabError("report_field", reason=f"{error.args[0]} is missing") from None
        except (TypeError, ValueError) as error:
            raise LabError("report_field", reason=str(error)) from None

    def to_json(self) -> dict[str, Any]:
        """Return the same as strict JSON: NaN and infinities as strings."""
        return {"schema": SCHEMA, **plain(self)}


def plain(value: object) -> Any:
    """Write dataclasses as objects, tuples as lists, and what JSON cannot say as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in items(cast("object", value))}
    if isinstance(value, tuple):
        return [plain(each) for each in cast("tuple[object, ...]", value)]
    return value


def _scalar(value: object) -> Scalar:
    return value if isinstance(value, str) else number(value)


def _metric(value: object) -> Metric:
    if isinstance(value, list):
        return tuple(number(each) for each in a_list(cast("object", value)))
    return number(value)


def _check(value: object) -> Check:
    data = dict(items(value))
    return Check(
        name=is_a(str, data["name"]),
        measured=number(data["measured"]),
        relation=is_a(str, data["relation"]),
        expected=number(data["expected"]),
        holds=is_a(bool, data["holds"]),
    )


def _timeline(value: object) -> Timeline:
    if value is None:
        return Timeline()
    data = dict(items(value))
    return Timeline(
        clock=is_a(str, data["clock"]),
        events=tuple(Event(**_event(each)) for each in a_list(data["events"])),
        # Reports made before messages were kept have none.
        hops=tuple(_hop(each) for each in a_list(data.get("hops", ()))),
        letters={name: is_a(str, text) for name, text in items(data.get("letters", {}))},
    )


def _hop(value: object) -> Hop:
    return Hop(to=is_a(int, dict(items(value))["to"]), **_event(value))


def _event(value: object) -> dict[str, Any]:
    data = dict(items(value))
    return {
        "schedule": is_a(str, data["schedule"]),
        "rank": is_a(int, data["rank"]),
        "name": is_a(str, data["name"]),
        "start": float(number(data["start"])),
        "end": float(number(data["end"])),
    }


def _failure(value: object) -> Failure:
    data = dict(items(value))
    rank = data["rank"]
    return Failure(
        rank=None if rank is None else is_a(int, rank),
        message=is_a(str, data["message"]),
        stacks=tuple(each if each is None else is_a(str, each) for each in a_list(data["stacks"])),
    )
