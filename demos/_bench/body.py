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
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import CodeType
from typing import Any, NoReturn

from . import here, load, metric

GRACE = 1.0  # seconds between a first failure, or a first return, and the end of the others


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
    """A rank's connections to the process that started it, as descriptors."""

    results: int
    control: int
    stacks: int

    def tell(self, message: dict[str, Any]) -> None:
        """Send one message."""
        data = json.dumps(message).encode()
        view = memoryview(struct.pack("<I", len(data)) + data)
        while view:
            view = view[os.write(self.results, view) :]


def die_with(parent: int) -> None:
    """Go when the process that started us goes, however it goes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


def watch(control: int, released: threading.Event) -> None:
    """Wait until the other end of the control pipe closes: all is done, or the parent is gone."""
    os.read(control, 1)
    if not released.is_set():
        released.set()
        # A rank that is still at work lost its parent; one that has reported leaves by itself.
    if not reported.is_set():
        os.kill(os.getpid(), signal.SIGKILL)


reported = threading.Event()


def serve_rank(
    task: Task, number: int, store: Callable[[], Any], link: Link, parent: int, code: CodeType
) -> NoReturn:
    """The whole life of a started rank; ends the process."""
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent owns Ctrl-C
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.dup2(2, 1)  # standard output belongs to the report
    faulthandler.enable(file=link.stacks, all_threads=True)
    faulthandler.register(signal.SIGUSR1, file=link.stacks, all_threads=False)
    released = threading.Event()
    threading.Thread(target=watch, args=(link.control, released), daemon=True).start()
    message = lived(task, number, store, code, lambda: link.tell({"kind": "ready"}))
    reported.set()
    sys.stdout.flush()
    sys.stderr.flush()
    link.tell(message)
    # Leaving closes the sockets. After a good end, wait a little for the ranks still at work:
    # but if they wait for this one, they should be told before long.
    if message["kind"] == "returned":
        released.wait(GRACE)
    os._exit(0)


def lived(
    task: Task,
    number: int,
    store: Callable[[], Any],
    code: CodeType,
    ready: Callable[[], None],
) -> dict[str, Any]:
    """Join the others, run main, and put into data how it ended."""
    me: here.Here | None = None
    try:
        me = join(task, number, store)
        ready()
        main = load.module(Path(task.path), task.text, code).main
        metrics = metric.packed(main(**task.args), task.own_launch)
        message = {"kind": "returned", "metrics": metrics}
    except here.Refused as refusal:
        message = {"kind": "refused", "message": str(refusal)}
    except BaseException as error:  # noqa: BLE001  (SystemExit and KeyboardInterrupt too)
        message = raised(error)
    return message | {
        "at": time.monotonic(),
        "checks": me.checks if me else [],
        "events": me.events if me else [],
    }


def join(task: Task, number: int, store: Callable[[], Any]) -> here.Here:
    """Become one of the ranks."""
    import torch

    torch.set_num_threads(1)  # the first call after a fork: OpenMP's threads did not come along
    if task.device == "cuda":
        index = number % torch.cuda.device_count()
        torch.cuda.set_device(index)
        place = torch.device("cuda", index)
    else:
        place = torch.device("cpu")
    if not task.own_launch:
        join_group(task, number, store, place)
    torch.manual_seed(0)
    me = here.Here(number, task.ranks, place, task.staged)
    here.settle(me)
    return me


def join_group(task: Task, number: int, store: Callable[[], Any], place: Any) -> None:
    """Set up the process group."""
    import torch.distributed as dist

    dist.init_process_group(
        task.backend,
        store=store(),
        rank=number,
        world_size=task.ranks,
        timeout=timedelta(seconds=task.timeout),
        device_id=place if task.backend == "nccl" else None,
    )


LATE = re.compile(r"timed out|timeout", re.IGNORECASE)
LOST = re.compile(
    r"gloo/transport|connection (closed|reset|refused)|socket closed|broken pipe"
    r"|remote process exited|communicator was aborted",
    re.IGNORECASE,
)


def raised(error: BaseException) -> dict[str, Any]:
    """An exception as data; whether it only follows from what happened to another rank."""
    text = str(error)
    follows = None
    if isinstance(error, RuntimeError) and (LOST.search(text) or "imed out waiting" in text):
        follows = "late" if LATE.search(text) else "lost"
    bench = str(Path(__file__).parent)
    steps = traceback.TracebackException.from_exception(error)
    while steps.stack and steps.stack[0].filename.startswith(bench):
        steps.stack.pop(0)
    return {
        "kind": "raised",
        "type": type(error).__name__,
        "text": text,
        "traceback": "".join(steps.format()).rstrip(),
        "follows": follows,
    }
