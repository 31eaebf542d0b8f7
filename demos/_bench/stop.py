"""Watches started ranks until all have ended, one has failed or time is up; then ends them."""

import json
import os
import selectors
import signal
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from . import interrupt
from .blame import Ending
from .body import GRACE

START_LIMIT = 120.0  # seconds for all ranks to join; the run's own deadline counts from then


@dataclass
class Started:
    """A rank as its parent sees it."""

    rank: int
    pid: int
    results: int
    stacks: int
    ready: bool = False
    data: bytearray = field(default_factory=bytearray)


@dataclass
class Watched:
    """What came of the ranks."""

    endings: list[Ending]
    late: bool
    cancelled: bool


def watched(
    started: list[Started],
    control: int,
    deadline: float,
    others: Mapping[int, Callable[[], bool]],
) -> Watched:
    """See the ranks through; `others` are descriptors to answer meanwhile: True cancels the run."""
    endings = [Ending(each.rank) for each in started]
    begun = time.monotonic()
    limit, late, cancelled = begun + START_LIMIT, False, False
    failed = False
    open_ranks = set(range(len(started)))
    with selectors.DefaultSelector() as selector:
        for index, each in enumerate(started):
            selector.register(each.results, selectors.EVENT_READ, index)
        for descriptor, answer in others.items():
            selector.register(descriptor, selectors.EVENT_READ, answer)
        while open_ranks and not cancelled:
            wait = limit - time.monotonic()
            events = selector.select(max(wait, 0))
            if not events and wait <= 0:
                late = not failed
                break
            for key, _ in events:
                if callable(key.data):
                    cancelled = cancelled or key.data()
                    continue
                each, ending = started[key.data], endings[key.data]
                if not hear(each, ending):
                    selector.unregister(each.results)
                    open_ranks.discard(key.data)
                if ending.kind not in ("alive", "returned") and not failed:
                    failed = True
                    limit = min(limit, time.monotonic() + GRACE)
            if not failed and limit == begun + START_LIMIT and all(e.ready for e in started):
                limit = time.monotonic() + deadline
            if all(ending.kind == "returned" for ending in endings):
                break
    if not cancelled:
        take_stacks(started, endings)
    os.close(control)
    for each in started:
        interrupt.end(each.pid)
    for each, ending in zip(started, endings, strict=True):
        ending.stack = stack(each.stacks)
    return Watched(endings, late, cancelled)


def hear(each: Started, ending: Ending) -> bool:
    """Take what a rank has said; False once it has gone."""
    piece = os.read(each.results, 1 << 16)
    if not piece:
        if ending.kind == "alive":
            status = os.waitstatus_to_exitcode(os.waitpid(each.pid, 0)[1])
            interrupt.children.discard(each.pid)
            ending.kind, ending.status, ending.at = "died", status, time.monotonic()
        return False
    each.data += piece
    while len(each.data) >= 4:
        (size,) = struct.unpack("<I", each.data[:4])
        if len(each.data) < 4 + size:
            break
        message = json.loads(each.data[4 : 4 + size])
        del each.data[: 4 + size]
        if message["kind"] == "ready":
            each.ready = True
        else:
            each.ready = True
            ending.kind, ending.at, ending.message = message["kind"], message["at"], message
    return True


def take_stacks(started: list[Started], endings: list[Ending]) -> None:
    """Ask the ranks still at work where they are."""
    asked: dict[int, Started] = {}
    for each, ending in zip(started, endings, strict=True):
        if ending.kind == "alive" and each.pid in interrupt.children:
            if stopped(each.pid):
                os.write(each.stacks, b"(stopped by a signal: it cannot say where it is)\n")
                continue
            os.kill(each.pid, signal.SIGUSR1)
            asked[each.rank] = each
    patience = time.monotonic() + 1
    while asked and time.monotonic() < patience:
        time.sleep(0.005)
        asked = {rank: each for rank, each in asked.items() if not stack(each.stacks)}
    if asked:
        time.sleep(0.05)


def stopped(pid: int) -> bool:
    """Whether a process is stopped (SIGSTOP)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rsplit(b") ", 1)[1][:1] in b"Tt"
    except OSError:
        return False


def stack(descriptor: int) -> str:
    """What faulthandler has written for a rank."""
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0).decode(errors="replace").strip()
