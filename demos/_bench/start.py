"""Runs a demo on ranks of our own: reads it, decides what it needs, starts, reports."""

import gc
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType
from typing import Any

from . import backend, body, early, interrupt, load, memory, report, stop
from .launch import Launcher, launcher


@dataclass(frozen=True)
class Setting:
    """What to run."""

    path: Path
    ranks: int = 4
    args: Mapping[str, object] = field(default_factory=dict)
    broken: str | None = None
    device: str = "auto"
    deadline: float = 60.0


class Plan:
    """A setting that has been looked at: everything known before the first rank starts."""

    def __init__(self, setting: Setting, start: str, choice: backend.Backend | None = None):
        self.setting = setting
        self.start = start
        self.script = load.Script(setting.path)
        self.args = self.script.arguments(setting.args)
        self.text = self.script.planted(setting.broken)
        load.remember(setting.path, self.text)
        self.torch = early.torch_version()
        self.choice = choice or backend.decide(
            setting.device, setting.ranks, 0 if setting.device == "cpu" else backend.gpus_here()
        )

    @cached_property
    def code(self) -> CodeType:
        """The demo, ready to run."""
        return load.compiled(self.setting.path, self.text)

    @cached_property
    def task(self) -> body.Task:
        """What every rank is told."""
        return body.Task(
            path=str(self.setting.path),
            text=self.text,
            args=self.args,
            ranks=self.setting.ranks,
            backend=self.choice.backend,
            device=self.choice.device,
            staged=self.choice.staged,
            timeout=max(5.0, min(30.0, self.setting.deadline / 2)),
            own_launch=self.script.own_launch,
        )

    def blank(self, seconds: float = 0.0) -> dict[str, Any]:
        """The report before anything has happened."""
        return report.blank(
            demo=self.script.name,
            ranks=self.setting.ranks,
            args=self.args,
            broken=self.setting.broken,
            choice=self.choice,
            torch=self.torch,
            start=self.start,
            seconds=seconds,
        )


def method() -> str:
    """How ranks are started here: forking after torch's import is safe on Linux alone."""
    wanted = os.environ.get("QUIZKIT_START", "fork")
    if wanted not in ("fork", "spawn"):
        raise load.DemoError(f"QUIZKIT_START can be fork or spawn, not {wanted!r}")
    return wanted if sys.platform == "linux" else "spawn"


def run(
    plan: Plan, others: stop.Others | None = None, private: tuple[int, ...] = ()
) -> dict[str, Any]:
    """Run and report; `others` and `private` are for a parent that serves (see stop, launch)."""
    if refusal := memory.refusal(plan.setting.ranks, plan.start):
        return report.refused(plan.blank(), refusal)
    begun = time.monotonic()
    if plan.start == "fork":
        load.import_all({**dict.fromkeys(load.ALWAYS, ()), **plan.script.imports})
    with launcher(plan.start, plan.task, plan.code, private) as start:
        watched = started(plan, start, others or {})
    return report.built(plan.blank(time.monotonic() - begun), watched)


def started(plan: Plan, start: Launcher, others: stop.Others) -> stop.Watched:
    """Start the ranks and see them through."""
    ranks: list[stop.Started] = []
    gc.freeze()  # the collector would touch, and so copy, pages that ranks share
    try:
        for number in range(1 if plan.script.own_launch else plan.setting.ranks):
            with interrupt.held_back():
                rank = start.rank(number)
                interrupt.children.add(rank.pid)
            ranks.append(rank)
        return stop.watched(ranks, start.hang_up, plan.setting.deadline, others)
    finally:
        interrupt.end_all()
        gc.unfreeze()
        for rank in ranks:
            rank.close()
