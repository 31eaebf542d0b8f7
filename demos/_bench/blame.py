"""Who failed first, and how a run ended, from how its ranks ended."""

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import stack


@dataclass
class Ending:
    """How one rank ended, or that it has not."""

    rank: int
    kind: str = "alive"  # or returned, refused, raised, died
    at: float = 0.0
    message: dict[str, Any] = field(default_factory=dict)
    status: int | None = 0  # of the process; None if only its launcher knows
    calls: list[stack.Frame] = field(default_factory=list)
    output: str = ""
    stopped: bool = False

    @property
    def follows(self) -> str | None:
        """Whether it only suffered from another: 'lost' it, or waited until it was too 'late'."""
        return self.message.get("follows")

    @property
    def waits(self) -> bool:
        """Whether it was waiting for other ranks."""
        return bool(self.follows) or (self.kind == "alive" and stack.waits(self.calls))

    @property
    def where(self) -> str | None:
        """Its traceback or stack."""
        if self.stopped:
            return "  stopped by a signal (SIGSTOP)"
        return self.message.get("traceback") or stack.shown(self.calls) or None

    def headline(self) -> str:
        """What happened to it, in a few words."""
        if self.follows:
            how = "waited in vain" if self.follows == "late" else "lost its connection"
            return f"rank {self.rank} {how}"
        if self.kind == "raised":
            text = self.message["text"].strip().splitlines()
            return f"rank {self.rank} raised {self.message['type']}" + (
                f": {text[0]}" if text else ""
            )
        return f"rank {self.rank} {death(self.status)}"


def death(status: int | None) -> str:
    """An exit code, or the negative of a signal, in words."""
    if status is None:
        return "ended without a word"
    if status >= 0:
        return f"ended without a word (exit code {status})"
    name = signal.Signals(-status).name
    return f"died of {name}" + (" (out of memory, perhaps)" if name == "SIGKILL" else "")


def named(endings: Sequence[Ending]) -> str:
    """Names of ranks, for a sentence."""
    numbers = [str(ending.rank) for ending in endings]
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    return f"ranks {', '.join(numbers[:-1])} and {numbers[-1]}"


@dataclass(frozen=True)
class Verdict:
    """How the run ended, and by whose doing."""

    outcome: str
    rank: int | None = None
    message: str = ""


def judge(endings: Sequence[Ending], deadline: float | None) -> Verdict:
    """Find the rank to blame; `deadline` is given, in seconds, if it has passed."""
    for ending in endings:
        if ending.kind == "refused":
            return Verdict("refused", None, ending.message["message"])
    own = [e for e in endings if e.kind == "died" or (e.kind == "raised" and not e.follows)]
    if own:
        first = min(own, key=lambda ending: ending.at)
        return Verdict("crashed", first.rank, explained(first, endings))
    if all(ending.kind == "returned" for ending in endings):
        return Verdict("finished")
    return hung(endings, deadline)


def hung(endings: Sequence[Ending], deadline: float | None) -> Verdict:
    """Nobody failed by itself: somebody was waited for."""
    waiting = [ending for ending in endings if ending.waits]
    missing = [e for e in endings if e.kind == "alive" and not e.waits]
    early = [ending for ending in endings if ending.kind == "returned"]
    after = f" within {deadline:g} s" if deadline else ""
    if missing and waiting:
        text = f"{named(missing)} never arrived{after}: {named(waiting)} waited"
    elif missing:
        text = f"{named(missing)} did not finish{after}"
    elif early:
        text = f"{named(early)} returned early: {named(waiting)} waited"
    else:
        text = f"{named(waiting)} waited for each other{after}: a deadlock"
    guilty = missing or early
    return Verdict("hung", guilty[0].rank if guilty else None, text)


def explained(first: Ending, endings: Sequence[Ending]) -> str:
    """The first failure in full, and who failed in its wake."""
    parts = [first.headline()]
    if first.where:
        parts.append(first.where)
    if first.kind == "died":
        # C++ says why it aborts on standard error only.
        parts += re.findall(r"^\s*what\(\):\s*(.*)$", first.output, re.MULTILINE)
        if first.status and first.status > 0:
            parts.append(first.output.strip())
    wake = [e for e in endings if e is not first and e.kind in ("raised", "died")]
    if wake:
        parts.append("in its wake: " + "; ".join(ending.headline() for ending in wake))
    return "\n".join(part for part in parts if part)
