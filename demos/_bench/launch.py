"""Starts one rank after another: as copies of this process, or as fresh interpreters."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import CodeType
from typing import Any, NoReturn, Self

from . import body, guard, interrupt
from .blame import Ending
from .stop import Started

OWN_FILES = Path("/proc/self/fd")


def nameless() -> int:
    """A file without a name: gone when the last process that has it open is gone."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("quizkit")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class Launcher:
    """What the ranks of one run have in common; a context, to be left when they are gone."""

    def __init__(self, task: body.Task, code: CodeType, private: tuple[int, ...]):
        self._task, self._code, self._private = task, code, private
        self._started: list[Started] = []

    def __enter__(self) -> Self:
        self._control, self._hold = os.pipe()
        # Where the ranks find each other. As a nameless file it cannot be left behind.
        self._store, self._folder = nameless(), None
        if not OWN_FILES.exists():
            self._folder = tempfile.mkdtemp(prefix="quizkit-")
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        os.close(self._control)
        os.close(self._store)
        if self._folder:
            shutil.rmtree(self._folder)

    def hang_up(self) -> None:
        """Let the ranks know that nobody waits for them any more."""
        if self._hold >= 0:
            os.close(self._hold)
            self._hold = -1

    def meeting(self) -> str:
        """The path of the store."""
        return f"{self._folder}/store" if self._folder else f"{OWN_FILES}/{self._store}"

    def rank(self, number: int) -> Started:
        """Start one rank."""
        results, output, stacks = os.pipe(), os.pipe(), nameless()
        link = body.Link(results[1], output[1], self._control, stacks)
        pid = self.begin(number, link, (results[0], output[0]))
        os.close(results[1])
        os.close(output[1])
        started = Started(pid, results[0], output[0], stacks, Ending(number), pid)
        self._started.append(started)
        return started

    def begin(self, number: int, link: body.Link, ours: tuple[int, ...]) -> int:
        """Start the process; gives its id."""
        raise NotImplementedError


def store_at(path: str, ranks: int) -> Callable[[], Any]:
    """How a rank opens the store."""

    def opened() -> Any:
        from torch.distributed import FileStore

        return FileStore(path, ranks)

    return opened


class Fork(Launcher):
    """Ranks are copies of this process: torch is imported once, and nothing crosses but memory."""

    def begin(self, number: int, link: body.Link, ours: tuple[int, ...]) -> int:
        """Fork."""
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        if pid := os.fork():
            return pid
        try:
            interrupt.forget()
            others = [
                fd for each in self._started for fd in (each.results, each.output, each.stacks)
            ]
            for descriptor in (*self._private, *ours, *others, self._hold):
                os.close(descriptor)
            if self._task.own_launch:
                parent = guard.stand(link)
            self.live(number, link, parent)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(70)

    def live(self, number: int, link: body.Link, parent: int) -> NoReturn:
        """In the rank."""
        os.environ["GLOO_SOCKET_IFNAME"] = "lo"
        release = body.settle_in(link, parent)
        store = store_at(self.meeting(), self._task.ranks)
        body.serve_rank(self._task, number, store, link, release, self._code)


class Spawn(Launcher):
    """Ranks are fresh interpreters: each imports torch for itself."""

    def begin(self, number: int, link: body.Link, ours: tuple[int, ...]) -> int:
        """Start an interpreter and hand it its task in a nameless file."""
        del ours
        order = nameless()
        crossing = {
            "task": asdict(self._task),
            "number": number,
            "link": asdict(link),
            "parent": os.getpid(),
            "store": self.meeting(),
        }
        with os.fdopen(os.dup(order), "w") as file:
            json.dump(crossing, file)
        bench, demo = Path(__file__).parent.parent, Path(self._task.path).parent
        paths = [str(bench), str(demo), os.environ.get("PYTHONPATH", "")]
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "_bench.fresh", str(order)],
            pass_fds=(order, link.results, link.output, link.control, link.stacks, self._store),
            stdin=subprocess.DEVNULL,
            stdout=link.output,
            stderr=link.output,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )
        process.returncode = 0  # we wait for it ourselves
        os.close(order)
        return process.pid


def launcher(start: str, task: body.Task, code: CodeType, private: tuple[int, ...]) -> Launcher:
    """The launcher for a start method; `private` descriptors are kept from the ranks."""
    return (Fork if start == "fork" else Spawn)(task, code, private)
