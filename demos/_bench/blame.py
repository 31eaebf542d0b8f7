"""Who failed first, and how a run ended, from how its ranks ended."""

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Ending:
    """How one rank ended, or that it has not."""

    rank: int
    kind: str = "alive"  # or returned, refused, raised, died
    at: float = 0.0
    message: dict[str, Any] = field(default_factory=dict)
    status: int = 0
    stack: str = ""

    @property
    def follows(self) -> str | None:
        """Whether it only suffered from another: 'lost' it, or waited until it was too 'late'."""
        return self.message.get("follows")

    def headline(self) -> str:
        """What happened to it, in a few words."""
        if self.kind == "raised":
            text = self.message["text"].strip().splitlines() or [""]
            return f"rank {self.rank} raised {self.message['type']}: {text[0]}".rstrip(": ")
        if self.kind == "died":
            return f"rank {self.rank} {death(self.status)}"
        if self.kind == "returned":
            return f"rank {self.rank} returned early"
        return f"rank {self.rank} never arrived"


def death(status: int) -> str:
    """A wait status in words."""
    if status >= 0:
        return f"ended without a word (exit code {status})"
    name = signal.Signals(-status).name
    return f"died of {name}" + (" (out of memory?)" if name == "SIGKILL" else "")


def waiting(stack: str) -> bool:
    """Whether a rank with this stack was waiting for others: its innermost frames tell."""
    inner = [line for line in stack.splitlines() if line.strip().startswith("File ")][:4]
    return any(re.search(r"[/\\](torch[/\\]distributed|_bench)[/\\]", line) for line in inner)


@dataclass(frozen=True)
class Verdict:
    """How the run ended, and by whose doing."""

    outcome: str
    rank: int | None = None
    message: str = ""


def judge(endings: Sequence[Ending], deadline: float | None) -> Verdict:
    """Find the rank to blame; `deadline` is given (in seconds) if it was passed."""
    for ending in endings:
        if ending.kind == "refused":
            return Verdict("refused", None, ending.message["message"])
    own = [
        ending
        for ending in endings
        if ending.kind == "died" or (ending.kind == "raised" and not ending.follows)
    ]
    if own:
        first = min(own, key=lambda ending: ending.at)
        return Verdict("crashed", first.rank, explained(first, endings))
    if all(ending.kind == "returned" for ending in endings):
        return Verdict("finished")
    missing = [e for e in endings if e.kind == "alive" and not waiting(e.stack)]
    early = [ending for ending in endings if ending.kind == "returned"]
    stuck = [ending for ending in endings if ending not in missing and ending not in early]
    after = f" within {deadline:g} s" if deadline else ""
    if stuck and missing:
        who = missing[0].rank
        text = f"{ranks(missing)} never arrived{after}: {ranks(stuck)} waited"
    elif stuck and early:
        who = early[0].rank
        text = f"{ranks(early)} returned early: {ranks(stuck)} waited"
    elif missing:
        who = missing[0].rank
        text = f"{ranks(missing)} did not finish{after}"
    else:
        who = None
        text = f"{ranks(stuck)} waited for each other{after}: a deadlock"
    return Verdict("hung", who, text)


def ranks(endings: Sequence[Ending]) -> str:
    """Names of ranks, for a sentence."""
    numbers = [str(ending.rank) for ending in endings]
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    return f"ranks {', '.join(numbers[:-1])} and {numbers[-1]}"


def explained(first: Ending, endings: Sequence[Ending]) -> str:
    """The first failure in full, and who failed in its wake."""
    parts = [first.headline()]
    detail = first.message.get("traceback") or first.stack
    if detail:
        parts.append(detail)
    wake = [e for e in endings if e is not first and e.kind in ("raised", "died")]
    if wake:
        parts.append(f"in its wake: {'; '.join(ending.headline() for ending in wake)}")
    return "\n".join(parts)
