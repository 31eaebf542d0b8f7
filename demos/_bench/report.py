"""The report of a run: as data, and as plain text."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from . import backend, blame, metric, pictures
from .load import Break
from .stop import Watched

Report = dict[str, Any]

SCHEMA = "quizkit/report/1"


def strict(value: Any) -> Any:
    """The same in strict JSON: NaN and the infinities become strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: strict(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [strict(each) for each in value]
    return value


def blank(
    *,
    demo: str,
    ranks: int,
    args: Mapping[str, Any],
    broken: str | None,
    choice: backend.Backend,
    torch: str,
    start: str,
    seconds: float,
) -> Report:
    """A report in which nothing has happened yet."""
    return {
        "schema": SCHEMA,
        "demo": demo,
        "ranks": ranks,
        "args": dict(args),
        "broken": broken,
        **choice.data(),
        "torch": torch,
        "start": start,
        "seconds": round(seconds, 4),
        "outcome": "finished",
        "error": None,
        "checks": [],
        "metrics": {},
        "how": {},
        "floors": {},
        "timeline": {"clock": "virtual", "events": [], "hops": [], "letters": {}},
        "pictures": [],
        "verdict": "error",
    }


def error(rank: int | None, message: str, stacks: Sequence[str | None] = ()) -> Report:
    """The error entry; stacks, where there are any, one a rank."""
    return {"rank": rank, "message": message, "stacks": list(stacks)}


def refused(report: Report, message: str) -> Report:
    """A run that was not started."""
    return report | {"outcome": "refused", "error": error(None, message)}


def killed(report: Report) -> Report:
    """A run that was called off."""
    return report | {"outcome": "killed", "error": error(None, "cancelled")}


def built(report: Report, watched: Watched) -> Report:
    """Put together what the ranks said."""
    endings = watched.endings
    messages = [ending.message for ending in endings]
    report["checks"] = metric.worst([c for each in messages for c in each.get("checks", ())])
    report["pictures"] = pictures.merged([each.get("pictures", ()) for each in messages])
    for kept in ("events", "hops"):
        report["timeline"][kept] = [e for each in messages for e in each.get(kept, ())]
    for each in messages:
        report["timeline"]["letters"] |= each.get("letters", {})
    if any(each.get("seconds") for each in messages):
        report["timeline"]["clock"] = "wall"
    if watched.cancelled:
        return strict(killed(report))
    verdict = blame.judge(endings, watched.late)
    report["outcome"] = verdict.outcome
    if verdict.outcome != "finished":
        stacks = [] if verdict.outcome == "refused" else [ending.where for ending in endings]
        report["error"] = error(verdict.rank, verdict.message, stacks)
        return strict(report)
    try:
        report["metrics"] = metric.merged([each["metrics"] for each in messages])
    except metric.DisagreementError as problem:
        report["error"] = error(problem.rank, str(problem))
        return strict(report)
    first = messages[0]["metrics"]
    report["how"] = {name: each["how"] for name, each in first.items()}
    report["floors"] = {n: each["floor"] for n, each in first.items() if "floor" in each}
    if report["checks"]:
        report["verdict"] = "pass" if all(c["holds"] for c in report["checks"]) else "fail"
    else:
        report["error"] = error(None, "the run made no check, so it cannot pass")
    return strict(report)


def came_out(report: Report, change: Break) -> bool:
    """Whether a planted bug was given away as declared."""
    first = (report["error"] or error(None, ""))["message"].split("\n")[0]
    if change.expect == "hangs":
        return report["outcome"] == "hung"
    if change.expect.startswith("crashes: "):
        name = change.expect.removeprefix("crashes: ")
        known = (f"raised {name}", f"died of {name}")
        return report["outcome"] == "crashed" and any(
            first.split(":")[0].split(" (")[0].endswith(words) for words in known
        )
    failed = [check["name"] for check in report["checks"] if not check["holds"]]
    return report["outcome"] == "finished" and change.expect in failed


def exit_code(report: Report) -> int:
    """What the program ends with."""
    if report["verdict"] == "pass":
        return 0
    return {"refused": 2, "hung": 124, "killed": 130}.get(report["outcome"], 1)


def as_json(report: Report) -> str:
    """One line of strict JSON."""
    return json.dumps(report, allow_nan=False)


def number(value: Any) -> str:
    """A number for people."""
    if isinstance(value, list):
        return "[" + ", ".join(number(each) for each in value) + "]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def as_text(report: Report, change: Break | None = None) -> str:
    """The report for a plain terminal."""
    ranks = f"{report['ranks']} rank{'s' if report['ranks'] != 1 else ''}"
    state = backend.state(report["backend"], report["device"], report["staged"], report["ranks"])
    planted = f", bug {report['broken']!r} planted" if report["broken"] else ""
    lines = [
        f"{report['demo']} on {ranks}{planted}: {state} ({report['reason']}),"
        f" {report['start']}, {report['seconds']:.2f} s"
    ]
    wide = max((len(name) for name in report["metrics"]), default=0)
    lines += [
        f"  {name:{wide}}  {number(value)}  ({report['how'][name]})"
        for name, value in report["metrics"].items()
    ]
    lines += [
        f"  {'ok  ' if c['holds'] else 'FAIL'} {c['name']}:"
        f" {number(c['measured'])} {c['relation']} {number(c['expected'])}"
        for c in report["checks"]
    ]
    lines.append(f"{report['verdict']} ({report['outcome']})")
    if problem := report["error"]:
        lines.append(problem["message"])
        if report["outcome"] == "hung":
            for rank, where in enumerate(problem["stacks"]):
                lines += [f"rank {rank}:", where or "  (returned)"]
    if change:
        came = "it did" if came_out(report, change) else "IT DID NOT"
        lines.append(f"bug {report['broken']!r}: expected {change.expect!r} to show: {came}")
    return "\n".join(lines)
