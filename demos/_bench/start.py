"""Starts ranks: by fork where that is safe, else in fresh interpreters."""

import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from . import backend, body, interrupt, load, memory, report, stop
from .early import torch_version


@dataclass(frozen=True)
class Setting:
    """What to run."""

    path: Path
    ranks: int = 4
    args: Mapping[str, object] | None = None
    broken: str | None = None
    device: str = "auto"
    deadline: float = 60.0


def method() -> str:
    """How ranks are started here."""
    return "spawn" if sys.platform != "linux" else os.environ.get("QUIZKIT_START", "fork")


def group_timeout(deadline: float) -> float:
    """How long a rank waits for another before that is called a hang."""
    return max(5.0, min(30.0, deadline / 2))


def import_for(script: load.Script) -> None:
    """Import once, in the parent, what every rank would import; a rank reports what is missing."""
    for name in script.imports:
        try:
            import_module(name)
        except ImportError:
            continue


def run(
    setting: Setting,
    others: Mapping[int, Callable[[], bool]] | None = None,
    private: tuple[int, ...] = (),
) -> dict[str, Any]:
    """Run a demo on ranks of our own and report; `private` descriptors are kept from the ranks."""
    script = load.Script(setting.path)
    args = script.arguments(setting.args or {})
    text = script.planted(setting.broken)
    code = load.compiled(setting.path, text)
    version = torch_version()
    choice = backend.decide(
        setting.device, setting.ranks, backend.gpus_here() if setting.device != "cpu" else 0
    )
    task = body.Task(
        path=str(setting.path),
        text=text,
        args=args,
        ranks=setting.ranks,
        backend=choice.backend,
        device=choice.device,
        staged=choice.staged,
        timeout=group_timeout(setting.deadline),
        own_launch=script.own_launch,
    )
    facts = report.Facts(script.name, setting.ranks, args, setting.broken, choice, version)
    how = method()
    if refusal := memory.refusal(setting.ranks, how):
        return report.refused(facts, refusal, how)
    import_for(script)
    started = time.monotonic()
    result = launch(task, code, how, setting.deadline, others or {}, private)
    return report.built(facts, result, how, setting.deadline, time.monotonic() - started)


def launch(
    task: body.Task,
    code: Any,
    how: str,
    deadline: float,
    others: Mapping[int, Callable[[], bool]],
    private: tuple[int, ...],
) -> stop.Watched:
    """Start the ranks and see them through."""
    begin = fork if how == "fork" else spawn
    control = os.pipe()
    store, folder = meeting_place()
    started: list[stop.Started] = []
    gc.freeze()
    try:
        for number in range(1 if task.own_launch else task.ranks):
            results, stacks = os.pipe(), scratch()
            link = body.Link(results[1], control[0], stacks)
            keep_out = (*private, control[1], results[0], *(each.results for each in started))
            with interrupt.held_back():
                pid = begin(task, number, store, link, code, keep_out)
                interrupt.children.add(pid)
            os.close(results[1])
            started.append(stop.Started(number, pid, results[0], stacks))
        return stop.watched(started, control[1], deadline, others)
    finally:
        gc.unfreeze()
        for each in started:
            os.close(each.results)
            os.close(each.stacks)
        os.close(control[0])
        if isinstance(store, int):
            os.close(store)


def scratch() -> int:
    """A file without a name, gone when the last process that has it open is gone."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("quizkit", 0)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def meeting_place() -> tuple[Any, None]:
    """Where the ranks find each other: a nameless file, so nothing can be left behind."""
    return scratch(), None


def store_at(store: Any, ranks: int) -> Callable[[], Any]:
    """Opens the meeting place, in a rank."""

    def opened() -> Any:
        from torch.distributed import FileStore

        return FileStore(f"/proc/self/fd/{store}", ranks)

    return opened


def fork(
    task: body.Task, number: int, store: Any, link: body.Link, code: Any, keep_out: tuple[int, ...]
) -> int:
    """A copy of this process, torch and all."""
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        interrupt.children.clear()
        for descriptor in keep_out:
            os.close(descriptor)
        os.environ["GLOO_SOCKET_IFNAME"] = "lo"
        body.serve_rank(task, number, store_at(store, task.ranks), link, parent, code)
    finally:
        os._exit(70)


def spawn(
    task: body.Task, number: int, store: Any, link: body.Link, code: Any, keep_out: tuple[int, ...]
) -> int:
    """A fresh interpreter."""
    raise NotImplementedError


__all__ = ["Setting", "json", "run"]
