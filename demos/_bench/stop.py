"""Watches started ranks until all have ended, one has failed or time is up; then ends them."""

import json
import os
import selectors
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import interrupt, stack
from .blame import Ending
from .body import GRACE, HEAD

START_LIMIT = 120.0  # seconds for all ranks to join; the run's own deadline counts from then
LONGEST = 86400.0  # seconds a run may be given; the system cannot wait for much more at once
TICK = 1.0  # seconds between two looks at the clock while ranks run
STOPPED = 0.25  # seconds a look at the clock may come late: more, and we did not run meanwhile
TAIL = 4096  # bytes of what a rank printed last, kept for the report

Others = Mapping[int, Callable[[], bool]]
"""Descriptors to answer while ranks run: an answer of True cancels the run."""


@dataclass
class Started:
    """A rank as its parent sees it."""

    pid: int
    results: int
    output: int
    stacks: int
    ending: Ending
    speaker: int  # the process that runs main
    ready: bool = False
    data: bytearray = field(default_factory=bytearray)
    line: bytearray = field(default_factory=bytearray)
    tail: bytes = b""

    def hear(self) -> bool:
        """Take what the rank has said; False once it has gone."""
        piece = os.read(self.results, 1 << 16)
        if not piece:
            if self.ending.kind == "alive":
                status = interrupt.collected(self.pid, GRACE)
                self.died(None if status is None else os.waitstatus_to_exitcode(status))
            return False
        self.data += piece
        while len(self.data) >= HEAD.size:
            end = HEAD.size + HEAD.unpack_from(self.data)[0]
            if len(self.data) < end:
                break
            message = json.loads(self.data[HEAD.size : end])
            del self.data[:end]
            self.take(message)
        return True

    def take(self, message: dict) -> None:
        """One message."""
        self.ready = True
        if message["kind"] == "ready":
            self.speaker = message["pid"]
        elif message["kind"] == "gone":
            if self.ending.kind == "alive":
                self.died(message["status"])
        else:
            self.ending.kind, self.ending.at = message["kind"], message["at"]
            self.ending.message = message

    def died(self, status: int | None) -> None:
        """It ended without a message."""
        self.ending.kind, self.ending.status, self.ending.at = "died", status, time.time()

    def echo(self) -> bool:
        """Pass on what the rank prints, line by line, with its number; False at the end."""
        try:
            piece = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return False
        self.line += piece
        self.tail = (self.tail + piece)[-TAIL:]
        whole, newline, rest = self.line.rpartition(b"\n")
        if not piece and rest:
            whole, newline, rest = self.line, b"\n", bytearray()
        self.line = bytearray(rest)
        if newline:
            mark = f"[rank {self.ending.rank}] ".encode()
            sys.stderr.buffer.write(
                b"".join(mark + line + b"\n" for line in bytes(whole).split(b"\n"))
            )
            sys.stderr.buffer.flush()
        return bool(piece)

    def dump(self) -> str:
        """What faulthandler has written for it."""
        return os.pread(self.stacks, os.fstat(self.stacks).st_size, 0).decode(errors="replace")

    def close(self) -> None:
        """Give back its descriptors."""
        for descriptor in (self.results, self.output, self.stacks):
            os.close(descriptor)


@dataclass(frozen=True)
class Watched:
    """What came of the ranks."""

    endings: list[Ending]
    late: float | None  # the seconds that were not enough
    cancelled: bool


def watched(
    started: list[Started], hang_up: Callable[[], None], deadline: float, others: Others
) -> Watched:
    """See the ranks through; hanging up lets those go that have reported."""
    late, cancelled = attended(started, deadline, others)
    if not cancelled:
        take_stacks(started)
    hang_up()
    interrupt.end_all()
    for each in started:
        os.set_blocking(each.output, False)
        while each.echo():
            pass
        each.ending.output = each.tail.decode(errors="replace")
    return Watched([each.ending for each in started], late, cancelled)


def attended(started: list[Started], deadline: float, others: Others) -> tuple[float | None, bool]:
    """Listen to the end; says which time was not enough, if so, and whether a cancel came.

    Time in which nothing here ran (Ctrl-Z stops the ranks too, then `fg`) is not counted.
    """
    allowed, failed = START_LIMIT, False
    due = time.monotonic()  # when the clock is looked at next
    limit = due + allowed
    with selectors.DefaultSelector() as selector:
        for each in started:
            selector.register(each.results, selectors.EVENT_READ, (each, each.hear))
            selector.register(each.output, selectors.EVENT_READ, (each, each.echo))
        for descriptor, answer in others.items():
            selector.register(descriptor, selectors.EVENT_READ, (None, answer))
        gone = 0
        while gone < len(started):
            now = time.monotonic()
            limit += lost(now - due)  # stopped while we listened
            wait = max(0.0, min(limit - now, TICK))
            events = selector.select(wait)
            due = time.monotonic()
            limit += lost(due - now - wait)  # stopped while we waited
            if not events and limit <= now:
                return None if failed else allowed, False
            for key, _ in events:
                each, answer = key.data
                goes_on = answer()
                if each is None:
                    if goes_on:
                        return None, True
                elif not goes_on:
                    selector.unregister(key.fd)
                    gone += key.fd == each.results
            kinds = {each.ending.kind for each in started}
            if kinds == {"returned"}:
                break
            if not failed and kinds - {"alive", "returned"}:
                failed, limit = True, time.monotonic() + GRACE
            elif not failed and allowed != deadline and all(each.ready for each in started):
                allowed, limit = deadline, time.monotonic() + deadline
    return None, False


def lost(late: float) -> float:
    """Seconds in which we did not run, if the clock was looked at `late` by so many."""
    return late if late > STOPPED else 0.0


def take_stacks(started: list[Started]) -> None:
    """Ask the ranks still at work where they are, and read the dumps of those that crashed."""
    asked: list[Started] = []
    for each in started:
        if each.ending.kind == "alive" and each.pid in interrupt.children:
            each.ending.stopped = stopped(each.speaker)
            if each.ready and not each.ending.stopped:
                os.kill(each.speaker, signal.SIGUSR1)
                asked.append(each)
    patience = time.monotonic() + 1
    while any("\n" not in each.dump() for each in asked) and time.monotonic() < patience:
        time.sleep(0.005)
    if asked:
        time.sleep(0.02)  # a dump is written line by line
    for each in started:
        each.ending.calls = stack.frames(each.dump())


def stopped(pid: int) -> bool:
    """Whether a process is stopped (SIGSTOP)."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rsplit(b") ", 1)[1][:1] in b"Tt"
    except OSError:
        return False
