"""What is kept of runs on a GPU: each as a row of a file that a later go takes up again."""

import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from _bench import backend

SCHEMA = "quizkit/gpu-record/1"
LINES = 12  # of an error's message, kept in the record

Row = dict[str, Any]


class Run(NamedTuple):
    """One run to make: a demo, in one of the bench's states, on so many ranks."""

    demo: str
    device: str
    ranks: int

    @property
    def key(self) -> str:
        """Its name in the record."""
        return f"{self.demo} {self.device} {self.ranks}"

    @property
    def state(self) -> str:
        """What the bench should say of it."""
        if self.device == "cpu":
            return "gloo on cpu"
        staged = self.device == "shared"
        return backend.state("gloo" if staged else "nccl", "cuda", staged, self.ranks)

    @property
    def short(self) -> str:
        """For a line of many: the state's first word, and the ranks."""
        return f"{self.state.split(',')[0].split()[0].replace('cuda', 'shared')}×{self.ranks}"


def scrubbed(text: str) -> str:
    """An error's first and last lines; of a path of this machine the last two names."""
    lines = re.sub(r"(?<![\w.])/(?:[\w.+@-]+/)+(?=[\w.+@-]+/)", "", text).splitlines()
    half = LINES // 2
    kept = lines if len(lines) <= LINES else [*lines[:half], "  …", *lines[-half:]]
    return "\n".join(line[:300] for line in kept)


def row(run: Run, reply: Mapping[str, Any]) -> Row:
    """What the record keeps of a run."""
    head = {"demo": run.demo, "ranks": run.ranks, "state": run.state, "key": run.key}
    result = {"verdict": "error", "outcome": "not run", "failed": [], "error": None, "seconds": 0.0}
    if "error" in reply:
        return head | result | {"error": scrubbed(reply["error"]["message"])}
    told = reply["report"]
    state = backend.state(told["backend"], told["device"], told["staged"], told["ranks"])
    if state != run.state:
        message = f"this ran as {state!r} and not as {run.state!r}: {told['reason']}"
        return head | result | {"error": message}
    result |= {name: told[name] for name in ("verdict", "outcome", "seconds")}
    keep = ("name", "measured", "relation", "expected")
    result["failed"] = [{k: c[k] for k in keep} for c in told["checks"] if not c["holds"]]
    result["checks"] = len(told["checks"])
    if told["error"]:
        result["error"] = scrubbed(told["error"]["message"])
    return head | result


def bad(each: Row) -> bool:
    """Whether a run should be looked at: neither green nor refused."""
    return each["verdict"] != "pass" and each["outcome"] != "refused"


def word(each: Row) -> str:
    """How a run ended, in a word and the number that decided."""
    if each["verdict"] == "pass":
        return f"pass {each['seconds']:.1f} s"
    if each["failed"] and each["outcome"] == "finished":
        first = each["failed"][0]
        return f"FAIL {first['name']}: {first['measured']} {first['relation']} {first['expected']}"
    if each["outcome"] == "refused":
        return "refused"
    first = (each["error"] or "").strip().split("\n")[0]
    return f"{each['outcome'].upper()} {first[:160]}"


@dataclass
class Record:
    """The file: what the runs were made on, and a row for each."""

    path: Path
    head: dict[str, Any]
    rows: dict[str, Row] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def resume(self) -> None:
        """Take over the rows of an earlier go, if it was on the same machine."""
        if not self.path.exists():
            return
        try:
            before = json.loads(self.path.read_text(encoding="utf-8"))
            same = before["schema"] == SCHEMA and before["machine"] == self.head["machine"]
            rows = {each["key"]: each for each in before["runs"]}
        except (OSError, ValueError, KeyError, TypeError):
            raise SystemExit(said(f"{self.path} is no record: name another file", 2)) from None
        if not same:
            raise SystemExit(said(f"{self.path} is of another machine: name another file", 2))
        self.rows = rows

    def add(self, each: Row, todo: Sequence[Run] = ()) -> None:
        """One more row, on disk at once."""
        with self.lock:
            self.rows[each["key"]] = each
            self.save(todo)

    def save(self, todo: Sequence[Run]) -> None:
        """Write the file, whole or not at all."""
        left = [run.key for run in todo if run.key not in self.rows]
        counts = Counter(
            each["outcome"] if each["outcome"] != "finished" else each["verdict"]
            for each in self.rows.values()
        )
        runs = [self.rows[key] for key in sorted(self.rows)]
        content = {**self.head, "counts": dict(sorted(counts.items())), "left": left, "runs": runs}
        draft = self.path.with_name(self.path.name + ".draft")
        draft.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        draft.replace(self.path)


def said(message: str, code: int) -> int:
    """A sentence on standard error; gives the exit code."""
    print(message, file=sys.stderr)
    return code
