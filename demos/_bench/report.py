"""The report of a run: as data, and as plain text."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import backend, blame, metric
from .stop import Watched

SCHEMA = "quizkit/report/1"


@dataclass(frozen=True)
class Facts:
    """What is known of a run before it starts."""

    demo: str
    ranks: int
    args: Mapping[str, Any]
    broken: str | None
    choice: backend.Backend
    torch: str


def strict(value: Any) -> Any:
    """The same in strict JSON: NaN and the infinities become strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: strict(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [strict(each) for each in value]
    return value


def skeleton(facts: Facts, how: str, seconds: float) -> dict[str, Any]:
    """A report in which nothing has happened yet."""
    return {
        "schema": SCHEMA,
        "demo": facts.demo,
        "ranks": facts.ranks,
        "args": dict(facts.args),
        "broken": facts.broken,
        **facts.choice.data(),
        "torch": facts.torch,
        "start": how,
        "seconds": round(seconds, 4),
        "outcome": "finished",
        "error": None,
        "checks": [],
        "metrics": {},
        "how": {},
        "timeline": {"clock": "virtual", "events": []},
        "verdict": "error",
    }


def refused(facts: Facts, message: str, how: str) -> dict[str, Any]:
    """The report of a run that was not started."""
    return skeleton(facts, how, 0.0) | {
        "outcome": "refused",
        "error": {"rank": None, "message": message, "stacks": []},
    }


def built(
    facts: Facts, result: Watched, how: str, deadline: float, seconds: float
) -> dict[str, Any]:
    """Put together what the ranks said."""
    report = skeleton(facts, how, seconds)
    messages = [ending.message for ending in result.endings]
    report["checks"] = metric.worst([c for m in messages for c in m.get("checks", ())])
    report["timeline"]["events"] = [e for m in messages for e in m.get("events", ())]
    if result.cancelled:
        return strict(report | {"outcome": "killed", "error": error(None, "cancelled", ())})
    verdict = blame.judge(result.endings, deadline if result.late else None)
    report["outcome"] = verdict.outcome
    if verdict.outcome != "finished":
        stacks = () if verdict.outcome == "refused" else result.endings
        report["error"] = error(verdict.rank, verdict.message, stacks)
        return strict(report)
    try:
        report["metrics"] = metric.merged([message["metrics"] for message in messages])
    except metric.Disagreement as problem:
        report["error"] = error(problem.rank, str(problem), ())
        return strict(report)
    report["how"] = {name: each["how"] for name, each in messages[0]["metrics"].items()}
    if not report["checks"]:
        report["error"] = error(None, "the run made no check, so it cannot pass", ())
        return strict(report)
    report["verdict"] = "pass" if all(c["holds"] for c in report["checks"]) else "fail"
    return strict(report)


def error(rank: int | None, message: str, endings: Any) -> dict[str, Any]:
    """The error entry; one stack a rank where there are any."""
    stacks = [e.stack or e.message.get("traceback") for e in endings]
    return {"rank": rank, "message": message, "stacks": stacks}


def exit_code(report: Mapping[str, Any], late: bool = False) -> int:
    """What the program ends with."""
    if report["verdict"] == "pass":
        return 0
    if report["outcome"] == "refused":
        return 2
    return 1


def as_json(report: Mapping[str, Any]) -> str:
    """One line of strict JSON."""
    return json.dumps(report, allow_nan=False, ensure_ascii=False)


def number(value: Any) -> str:
    """A number for people."""
    if isinstance(value, list):
        return "[" + ", ".join(number(each) for each in value) + "]"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def as_text(report: Mapping[str, Any]) -> str:
    """The report for a plain terminal."""
    state = backend.state(report["backend"], report["device"], report["staged"], report["ranks"])
    planted = f", with the bug {report['broken']!r} planted" if report["broken"] else ""
    lines = [
        f"{report['demo']} on {report['ranks']} ranks{planted}: {state} ({report['reason']}),"
        f" {report['seconds']:.2f} s, {report['start']}"
    ]
    wide = max((len(name) for name in report["metrics"]), default=0)
    lines += [
        f"  {name:{wide}}  {number(value)}  {report['how'][name]}"
        for name, value in report["metrics"].items()
    ]
    lines += [
        f"  {'ok  ' if c['holds'] else 'FAIL'} {c['name']}:"
        f" {number(c['measured'])} {c['relation']} {number(c['expected'])}"
        for c in report["checks"]
    ]
    lines.append(f"{report['verdict']} ({report['outcome']})")
    if report["error"]:
        lines.append(report["error"]["message"])
        for rank, stack in enumerate(report["error"]["stacks"]):
            if stack and report["outcome"] == "hung":
                lines += [f"rank {rank}:", stack]
    return "\n".join(lines)
