"""The rank this process is, and what it has noted so far."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from . import metric

if TYPE_CHECKING:
    import torch


@dataclass
class Here:
    """One rank's place in the run, its checks, its timeline and its pictures."""

    rank: int
    ranks: int
    device: "torch.device"
    staged: bool = False
    checks: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    hops: list[dict[str, Any]] = field(default_factory=list)
    letters: dict[str, str] = field(default_factory=dict)
    pictures: list[dict[str, Any]] = field(default_factory=list)
    seconds: bool = False  # whether the events' times were measured; else they are counted


class RefusedError(Exception):
    """The sizes asked for cannot be run; the message names the nearest that can."""


_here: Here | None = None


def settle(here: Here | None) -> None:
    """Say which rank this process is."""
    global _here
    _here = here


def here() -> Here:
    """This rank."""
    if _here is None:
        raise RuntimeError(
            "no run is on: start a demo with --ranks N, or, in a script of your own, call join()"
            " after init_process_group()"
        )
    return _here


def join() -> None:
    """Use the bench from a script of your own, as a rank of the process group it has initialised.

    `device()` is this process's current GPU if the group's backend is nccl, else the CPU.
    """
    import torch
    import torch.distributed as dist

    if not (dist.is_available() and dist.is_initialized()):
        raise RuntimeError(
            "no process group yet: call torch.distributed.init_process_group() before join()"
        )
    on_gpu = "nccl" in dist.get_backend()
    place = torch.device("cuda", torch.cuda.current_device()) if on_gpu else torch.device("cpu")
    settle(Here(dist.get_rank(), dist.get_world_size(), place))


def rank() -> int:
    """The number of this rank."""
    return here().rank


def ranks() -> int:
    """How many ranks this run has."""
    return here().ranks


def device() -> "torch.device":
    """Where this rank makes its tensors."""
    return here().device


def refuse(message: str) -> NoReturn:
    """Say that these sizes cannot be run, before any message is sent, alike on all ranks."""
    raise RefusedError(message)


def check(name: str, measured: Any, relation: str, expected: Any) -> None:
    """Compare a measured number with what it should be; the run passes if all of them hold."""
    here().checks.append(metric.checked(name, measured, relation, expected))
