"""Many runs side by side: a few warm benches, each busy with one run at a time."""

import os
import queue
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Self

from quizkit.lab.bench import Bench, interrupts_ring
from quizkit.lab.report import Report, Setting

_WORTH = 12  # runs that take as long as the import of torch, which each further bench pays for
_MOST = 8


def lanes_for(runs: int) -> int:
    """Return how many benches these runs are worth: one more than cores, as ranks wait a lot."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min((cores or 1) + 1, _MOST, runs // _WORTH))


class Lanes:
    """A bench, as to `run`, that has begun many of the runs before they are asked for."""

    def __init__(self, lanes: int, demos: Path | None = None) -> None:
        self._benches = [Bench(demos) for _ in range(lanes)]
        self._free: queue.SimpleQueue[Bench] = queue.SimpleQueue()
        for bench in self._benches:
            self._free.put(bench)
        self._pool = ThreadPoolExecutor(lanes)
        self._begun: dict[Setting, Future[Report]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, setting: Setting, deadline: float = 60.0) -> None:
        """Run it as soon as a bench is free, after what was begun before; do not wait for it."""
        if setting not in self._begun:
            self._begun[setting] = self._pool.submit(self._run, setting, deadline)

    def run(self, setting: Setting, deadline: float = 60.0) -> Report:
        """Return the report of one setting, whether begun long ago or only now."""
        self.begin(setting, deadline)
        return self._begun[setting].result()

    def settle(self) -> None:
        """Wait until nothing runs."""
        wait(self._begun.values())

    def close(self) -> None:
        """End every bench and whatever it runs; afterwards no process is left."""
        with interrupts_ring(queue.SimpleQueue()):  # no second Ctrl-C leaves this half done
            self._pool.shutdown(wait=False, cancel_futures=True)
            for bench in self._benches:
                bench.close()
            self._pool.shutdown()

    def _run(self, setting: Setting, deadline: float) -> Report:
        bench = self._free.get()
        try:
            return bench.run(setting, deadline)
        finally:
            self._free.put(bench)
