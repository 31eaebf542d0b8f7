"""Ranks of our own for functions that are taken out of a demo: a process group, and `join()`."""

import multiprocessing
import sys
import tempfile
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LIMIT = 100.0  # seconds; a rank that has said nothing by then never will


def on_ranks(number: int, work: Callable[..., Any], *args: Any) -> list[Any]:
    """Call `work(*args)` on ranks that have joined; what each returned, in order of rank."""
    # One server imports what each rank would else import for itself, and the ranks are forked from
    # it: nobody forks pytest's own threads. An optimizer of torch's imports dynamo when it is made.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytest", "torch", "torch._dynamo"])
    if str(ROOT) not in sys.path:  # where the ranks find the module that `work` is written in
        sys.path.append(str(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        ends: list[Connection] = []
        processes = []
        for rank in range(number):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_rank, args=(theirs, folder, rank, number, work, args), daemon=True
            )
            process.start()
            theirs.close()
            ends.append(ours)
            processes.append(process)
        try:
            return _answers(ends)
        finally:
            for process in processes:
                process.kill()
                process.join()


def _answers(ends: list[Connection]) -> list[Any]:
    """What each rank says; the first that fails is heard at once, though others wait for it."""
    found: dict[int, Any] = {}
    while len(found) < len(ends):
        ready = wait([end for i, end in enumerate(ends) if i not in found], LIMIT)
        assert ready, f"only ranks {sorted(found)} came to an end"
        for rank, end in enumerate(ends):
            if end in ready:
                fine, found[rank] = end.recv()
                assert fine, f"rank {rank}:\n{found[rank]}"
    return [found[rank] for rank in range(len(ends))]


def _rank(
    end: Connection, folder: str, rank: int, number: int, work: Callable[..., Any], args: Any
) -> None:
    """The life of one rank."""
    from _bench import join

    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    try:
        where = f"file://{folder}/store"
        dist.init_process_group("gloo", init_method=where, rank=rank, world_size=number)
        join()
        end.send((True, work(*args)))
    except BaseException:
        end.send((False, traceback.format_exc()))
    end.poll(None)  # until the others are through: then it is killed
