"""How fast orders are played: operations a second, and whether twice as many take twice as long.

python tests/bench/schedules.py [--rounds 5]

The target is 200,000 operations a second, from a schedule's name to the times of all operations,
and a time in proportion to their number.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median

from quizkit.calc import pipeline
from quizkit.calc.schedule import SCHEDULES, Costs, order, place, simulate
from quizkit.calc.schedule.placement import Name

TARGET = 200_000
STAGES = 16
SIZES = (128, 256, 512, 1024)


def seconds(what: Callable[[], object], rounds: int) -> float:
    """Median of some rounds; what is cached is a different input in each."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        what()
        times.append(time.perf_counter() - start)
    return median(times)


def play(schedule: Name, stages: int, microbatches: int) -> int:
    """From the name to the end; how many operations."""
    orders = order(schedule, stages, microbatches)
    simulate(orders, place(schedule, stages, microbatches), Costs(latency=0.1))
    return sum(len(ops) for ops in orders)


def main() -> None:
    """A line for each schedule, and the two large pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(f"operations a second on {STAGES} stages (target {TARGET:,}); last: against the first")
    for schedule in SCHEDULES:
        speeds: list[float] = []
        for microbatches in SIZES:
            count = play(schedule, STAGES, microbatches)
            took = seconds(lambda s=schedule, m=microbatches: play(s, STAGES, m), rounds)
            speeds.append(count / took)
        cells = "  ".join(f"m={m}: {speed:>9,.0f}" for m, speed in zip(SIZES, speeds, strict=True))
        good = "ok" if min(speeds) >= TARGET else "SLOW"
        print(f"{schedule:12} {cells}   x{speeds[-1] / speeds[0]:.2f}  {good}")
    print("64 stages, 512 micro-batches: from inputs to all figures and all events of a picture")
    for schedule in SCHEDULES:
        times: list[float] = []
        count = 0
        for n in range(rounds):
            # Another latency each round, or the second would find the first one's run.
            given = {"stages": 64, "microbatches": 512, "schedule": schedule, "latency": n / 8}
            start = time.perf_counter()
            events = pipeline.events(pipeline.SHEET.work(given).inputs)
            times.append(time.perf_counter() - start)
            count = len(events)
        print(f"{schedule:12} {count:>7,} events in {median(times):.2f} s")


if __name__ == "__main__":
    main()
