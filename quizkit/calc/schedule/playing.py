"""From the inputs of a calculator to a run, once for all figures that ask for it."""

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from quizkit.calc.schedule.orders import order as prescribed
from quizkit.calc.schedule.placement import Name, Order, StagePlacement, chunks_of, place
from quizkit.calc.schedule.reader import Written, parse, read
from quizkit.calc.schedule.simulator import (
    Costs,
    Event,
    Number,
    SimulatedRun,
    messages,
    peak_live,
    simulate,
)
from quizkit.calc.sheet import CalcError

MOST = 1_000_000
"""Operations that are played at most."""


@dataclass(frozen=True)
class Playing:
    """What is to be played, and where; `where` is what messages call each rank."""

    placement: StagePlacement
    orders: Order
    where: tuple[str, ...] = ()

    @property
    def peak_live(self) -> list[Number]:
        """Most micro-batches of a chunk alive at once: a matter of the order alone."""
        return [*peak_live(self.orders)]

    @property
    def messages(self) -> int:
        """Activations and gradients handed from device to device."""
        return messages(self.orders, self.placement)


@dataclass(frozen=True)
class Played:
    """A run, with its times in the unit that was asked in."""

    run: SimulatedRun

    @property
    def busy(self) -> list[Number]:
        """How long each rank works."""
        return self.time(self.run.busy)

    @property
    def first_start(self) -> list[Number]:
        """When each rank starts."""
        return self.time(self.run.first_start)

    @property
    def last_end(self) -> list[Number]:
        """When each rank is done."""
        return self.time(self.run.last_end)

    @property
    def events(self) -> list[Event]:
        """Every operation as (rank, name, start, end)."""
        starts = self.time([start for _, _, start, _ in self.run.events])
        ends = self.time([end for _, _, _, end in self.run.events])
        named = zip(self.run.events, starts, ends, strict=True)
        return [(rank, name, start, end) for (rank, name, _, _), start, end in named]

    def time(self, ticks: list[Number]) -> list[Number]:
        """Ticks of the run's clock as times."""
        shares = self.run.placement.shares
        return [
            each // shares if isinstance(each, int) and each % shares == 0 else each / shares
            for each in ticks
        ]


def planned(stages: int, microbatches: int, schedule: str, virtual: int, order: str) -> Playing:
    """The order that the schedule prescribes, or that a file gives for its placement."""
    written = read(order) if order else None
    return _planned(cast("Name", schedule), int(stages), int(microbatches), int(virtual), written)


def played(
    stages: int,
    microbatches: int,
    schedule: str,
    virtual: int,
    order: str,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
    latency: Number,
    stage_times: list[Number],
) -> Played:
    """What comes of a plan on the clock."""
    written = read(order) if order else None
    name, sizes = cast("Name", schedule), (int(stages), int(microbatches), int(virtual))
    times = (forward, backward_input, backward_weight, latency)
    return Played(_played(name, sizes, written, times, tuple(stage_times)))


# The figures of one sheet ask for the same plan and the same run one after the other.
@lru_cache(maxsize=2)
def _planned(
    schedule: Name, stages: int, microbatches: int, virtual: int, written: Written | None
) -> Playing:
    operations = 3 * stages * microbatches * chunks_of(schedule, virtual)
    if operations > MOST:
        raise CalcError("calc_operations", operations=operations, most=MOST)
    placement = place(schedule, stages, microbatches, virtual)
    if written:
        return Playing(placement, parse(written, placement), written.where)
    return Playing(placement, prescribed(schedule, stages, microbatches, virtual))


@lru_cache(maxsize=2)
def _played(
    schedule: Name,
    sizes: tuple[int, int, int],
    written: Written | None,
    times: tuple[Number, Number, Number, Number],
    slowness: tuple[Number, ...],
) -> SimulatedRun:
    plan = _planned(schedule, *sizes, written)
    # A chunk takes its part of what its device's whole share takes. Whole numbers stay whole if the
    # clock ticks that many times faster instead.
    costs = Costs(*times[:3], latency=times[3] * plan.placement.shares, slowness=slowness)
    return simulate(plan.orders, plan.placement, costs, plan.where)
