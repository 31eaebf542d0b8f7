"""Where the pieces of a model live: which device runs which stage, and which way they follow."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from quizkit.calc.sheet import CalcError

Name = Literal[
    "gpipe",
    "1f1b",
    "interleaved",
    "zb-h1",
    "zb-h2",
    "zb-v",
    "v-half",
    "v-min",
    "dualpipe",
    "dualpipe-v",
]
SCHEDULES: tuple[Name, ...] = get_args(Name)

Op = tuple[str, int, int]
"""(kind, stage, micro-batch). Kinds: F forward; B backward, all of it; B- the gradient of the
input alone, where W, that of the weights, runs apart; F+ a forward that overlaps with the backward
after it: they start together and end together. Only the letter is ever shown."""
Order = list[list[Op]]
"""What each rank runs, in this order."""


@dataclass(frozen=True)
class StagePlacement:
    """`devices[s]` runs stage s. A new way begins at every stage in `starts`.

    DualPipe has two ways: stages 0 to p-1 lead down the devices, p to 2p-1 back up, and the second
    half of the micro-batches takes the second. All others have one.
    """

    ranks: int
    microbatches: int
    devices: tuple[int, ...]
    starts: tuple[int, ...] = (0,)

    @cached_property
    def chunks(self) -> int:
        """Stages on each device."""
        return len(self.devices) // self.ranks

    @property
    def shares(self) -> int:
        """Parts into which a device's work on one micro-batch is cut: its chunks, or one a way."""
        return self.chunks // len(self.starts)

    @cached_property
    def local(self) -> tuple[int, ...]:
        """For each stage, which of its device's chunks it is."""
        seen = [0] * self.ranks
        found: list[int] = []
        for device in self.devices:
            found.append(seen[device])
            seen[device] += 1
        return tuple(found)

    @cached_property
    def stages(self) -> tuple[tuple[int, ...], ...]:
        """For each rank, the stages it runs, by chunk."""
        found: list[list[int]] = [[] for _ in range(self.ranks)]
        for stage, device in enumerate(self.devices):
            found[device].append(stage)
        return tuple(map(tuple, found))

    def expected(self, stage: int) -> range:
        """The micro-batches that pass through a stage."""
        ways = len(self.starts)
        way = sum(start <= stage for start in self.starts) - 1
        return range(way * self.microbatches // ways, (way + 1) * self.microbatches // ways)

    def follows(self, stage: int) -> bool:
        """Whether another stage comes before this one."""
        return stage not in self.starts

    def leads(self, stage: int) -> bool:
        """Whether another stage comes after this one."""
        return stage + 1 < len(self.devices) and stage + 1 not in self.starts

    def receives(self, op: Op) -> bool:
        """Whether an operation needs a message from another device."""
        kind, stage, _ = op
        if kind == "W":
            return False
        forward = kind[0] == "F"
        if not (self.follows(stage) if forward else self.leads(stage)):
            return False
        return self.devices[stage] != self.devices[stage - 1 if forward else stage + 1]

    def name(self, op: Op) -> str:
        """What an operation is called: F3, or F3.1 on the second chunk of its device."""
        kind, stage, microbatch = op
        chunk = f".{self.local[stage]}" if self.chunks > 1 else ""
        return f"{kind[0]}{microbatch}{chunk}"


def chunks_of(schedule: Name, virtual: int = 0) -> int:
    """Chunks on a device; 0 asks for what the schedule has by itself."""
    usual = 1 if schedule in ("gpipe", "1f1b", "zb-h1", "zb-h2") else 2
    return virtual or usual


def place(schedule: Name, stages: int, microbatches: int, virtual: int = 0) -> StagePlacement:
    """The placement a schedule is made for: a loop over the devices, a V, or two ways."""
    down, up = tuple(range(stages)), tuple(reversed(range(stages)))
    chunks = chunks_of(schedule, virtual)
    folded = schedule in ("zb-v", "v-half", "v-min", "dualpipe-v")
    if (folded or schedule == "dualpipe") and chunks != 2:
        raise CalcError("calc_two_chunks", schedule=schedule, virtual=virtual)
    if schedule == "dualpipe":
        return StagePlacement(stages, microbatches, down + up, starts=(0, stages))
    if folded:
        return StagePlacement(stages, microbatches, down + up)
    return StagePlacement(stages, microbatches, down * chunks)
