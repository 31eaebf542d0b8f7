"""What one rank does: join, load the demo, run main, say how it ended."""

import ctypes
import faulthandler
import json
import os
import re
import signal
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import CodeType
from typing import Any, NoReturn

from . import here, load, metric

GRACE = 1.0  # seconds between a first failure, or a first return, and the end of the others
SET_PDEATHSIG = 1
HEAD = struct.Struct("<I")  # the size of the message that follows


@dataclass(frozen=True)
class Task:
    """All a rank must know; plain data, so that it can cross to a fresh interpreter."""

    path: str
    text: str
    args: dict[str, Any]
    ranks: int
    backend: str
    device: str
    staged: bool
    timeout: float
    own_launch: bool


@dataclass(frozen=True)
class Link:
    """A rank's descriptors, shared with the process that started it."""

    results: int  # to it: messages
    output: int  # to it: whatever is printed
    control: int  # from it: nothing, until it closes
    stacks: int  # a nameless file for faulthandler

    def tell(self, message: dict[str, Any]) -> None:
        """Send one message."""
        data = json.dumps(message).encode()
        view = memoryview(HEAD.pack(len(data)) + data)
        while view:
            view = view[os.write(self.results, view) :]


def die_with(parent: int) -> None:
    """Go when the process that started us goes, however it goes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def give_way() -> None:
    """Let no rank cut in on another's turn: gloo polls for messages, and one of two cores polls.

    Under SCHED_BATCH a process that wakes up does not push aside the one that works: the same
    runs take half the CPU. Threads that start later, gloo's own among them, inherit it.
    """
    # Whoever has chosen a policy keeps it; nor may one leave SCHED_IDLE without privilege.
    if sys.platform == "linux" and os.sched_getscheduler(0) == os.SCHED_OTHER:
        with suppress(PermissionError):  # a sandbox forbids it: then runs only cost more
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


class Release:
    """Tells a rank that has reported that all is done, and one that has not that it is alone."""

    def __init__(self, control: int):
        self.reported = False
        self._control = control
        self._closed = threading.Event()
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        """Wait until the other end of the control pipe closes."""
        os.read(self._control, 1)
        if not self.reported:
            os.kill(os.getpid(), signal.SIGKILL)
        self._closed.set()

    def wait(self) -> None:
        """Stay for the others, though not long: if they wait for us, they should be told."""
        self._closed.wait(GRACE)


def settle_in(link: Link, parent: int) -> Release:
    """What a new process does first, before torch: it must not outlive its parent."""
    die_with(parent)
    give_way()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent owns Ctrl-C
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, number in ((nothing, 0), (link.output, 1), (link.output, 2)):
        os.dup2(descriptor, number)
    os.close(nothing)
    os.close(link.output)
    # Should the rank fork (a data loader does), its death must still close the pipe.
    os.register_at_fork(after_in_child=lambda: os.close(link.results))
    faulthandler.enable(file=link.stacks, all_threads=True)
    faulthandler.register(signal.SIGUSR1, file=link.stacks, all_threads=False)
    return Release(link.control)


def serve_rank(
    task: Task,
    number: int,
    store: Callable[[], Any],
    link: Link,
    release: Release,
    code: CodeType,
) -> NoReturn:
    """The life of a started rank; ends the process."""

    def ready() -> None:
        link.tell({"kind": "ready", "pid": os.getpid()})

    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    message = lived(task, number, store, code, number, ready)
    sys.stdout.flush()
    sys.stderr.flush()
    release.reported = True
    link.tell(message)
    if message["kind"] == "returned":
        release.wait()
    os._exit(0)  # closes the sockets, which tells the others


def lived(
    task: Task,
    number: int,
    store: Callable[[], Any],
    code: CodeType,
    local: int,
    ready: Callable[[], None],
) -> dict[str, Any]:
    """Join the others, run main, and put into data how it ended."""
    me: here.Here | None = None
    try:
        me = join(task, number, store, local)
        ready()
        main = load.module(Path(task.path), task.text, code).main
        metrics = metric.packed(main(**task.args), task.ranks if task.own_launch else None)
        message = {"kind": "returned", "metrics": metrics}
    except here.RefusedError as refusal:
        message = {"kind": "refused", "message": str(refusal)}
    except BaseException as error:  # SystemExit too: main must return
        message = raised(error)
    return message | {
        "at": time.time(),
        "checks": me.checks if me else [],
        "events": me.events if me else [],
        "hops": me.hops if me else [],
        "letters": me.letters if me else {},
        "pictures": me.pictures if me else [],
        "seconds": bool(me and me.seconds),
    }


def join(task: Task, number: int, store: Callable[[], Any], local: int) -> here.Here:
    """Become one of the ranks; `local` is the number among those on this machine."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)  # the first call after a fork: OpenMP's threads did not come along
    place = torch.device("cpu")
    if task.device == "cuda":
        place = torch.device("cuda", local % torch.cuda.device_count())
        torch.cuda.set_device(place)
    if not task.own_launch:
        dist.init_process_group(
            task.backend,
            store=store(),
            rank=number,
            world_size=task.ranks,
            timeout=timedelta(seconds=task.timeout),
            device_id=place if task.backend == "nccl" else None,
        )
    torch.manual_seed(0)
    me = here.Here(number, task.ranks, place, task.staged)
    here.settle(me)
    return me


LATE = re.compile(r"timed out|timeout", re.IGNORECASE)
FROM_THE_WIRE = re.compile(
    r"gloo/|connection (closed|reset|refused)|timed out waiting|socket closed|broken pipe"
    r"|remote process exited|communicator was aborted",
    re.IGNORECASE,
)


def raised(error: BaseException) -> dict[str, Any]:
    """An exception as data; and whether it only follows from what happened to another rank."""
    text = str(error)
    follows = None
    if isinstance(error, RuntimeError) and FROM_THE_WIRE.search(text):
        follows = "late" if LATE.search(text) else "lost"
    steps = traceback.TracebackException.from_exception(error)
    while len(steps.stack) > 1 and steps.stack[0].filename == __file__:
        steps.stack.pop(0)
    return {
        "kind": "raised",
        "type": type(error).__name__,
        "text": text,
        "traceback": "".join(steps.format()).rstrip(),
        "follows": follows,
    }
