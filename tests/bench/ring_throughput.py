"""The hand-written ring against the backend's own all-reduce: medians, taken turn by turn.

python tests/bench/ring_throughput.py --ranks 4
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2] / "demos"))

from _bench import (
    Metrics,
    all_gather,
    all_reduce,
    barrier,
    check,
    clocked,
    counted,
    device,
    max_error,
    run,
    shared,
)

import torch
from all_reduce import ring_all_reduce

TARGET = 0.8


def seconds(algorithm: Callable[[torch.Tensor], object], payload: torch.Tensor) -> float:
    """How long the slowest rank takes, from a common start."""
    barrier()
    start = time.perf_counter()
    algorithm(payload)
    if payload.is_cuda:
        torch.cuda.synchronize()
    took = torch.tensor([time.perf_counter() - start], dtype=torch.float64, device=device())
    return torch.stack(all_gather(took)).max().item()


def main(mebibytes: int = 64, repeats: int = 9) -> Metrics:
    """Sum a payload of fp32, as gradients are, again and again in both ways."""
    payload = torch.randn(mebibytes * 2**20 // 4, device=device())
    ours, theirs = payload.clone(), payload.clone()
    # The first turn makes the connections and the pages; it is not counted.
    ring_all_reduce(ours)
    all_reduce(theirs)
    error = max_error(ours, theirs)

    ring_times, backend_times = [], []
    for _ in range(repeats):
        ring_times.append(seconds(ring_all_reduce, ours.copy_(payload)))
        backend_times.append(seconds(all_reduce, theirs.copy_(payload)))
    ratio = median(backend_times) / median(ring_times)

    check("both sums agree", error, "<", 1e-4)
    check("share of the backend's throughput", ratio, ">=", TARGET)
    return {
        "payload_bytes": shared(counted(payload.nbytes)),
        "ring_ms": shared(clocked(1000 * median(ring_times))),
        "ring_fastest_ms": shared(clocked(1000 * min(ring_times))),
        "backend_ms": shared(clocked(1000 * median(backend_times))),
        "backend_fastest_ms": shared(clocked(1000 * min(backend_times))),
        "throughput_ratio": shared(clocked(ratio)),
    }


if __name__ == "__main__":
    run(__file__)
