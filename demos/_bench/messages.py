"""Sending and receiving between ranks: staged through the host where needed, and counted."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from . import clock
from .here import here


@dataclass(eq=False)
class Wire:
    """What this rank sent while it was watched."""

    sent_bytes: int = 0
    sent_messages: int = 0
    collectives: int = 0
    to: list[int] = field(default_factory=lambda: [0] * here().ranks)
    """The bytes sent to each rank."""


_watching: list[Wire] = []


@contextmanager
def wire() -> Iterator[Wire]:
    """Count what this rank sends inside: payload handed over, clock stamps not included."""
    counts = Wire()
    _watching.append(counts)
    try:
        yield counts
    finally:
        _watching.remove(counts)


Received = TypeVar("Received", Tensor, None)


class Flight(Generic[Received]):
    """Messages on their way; the buffers stay alive until `wait` is done with them."""

    def __init__(self, works: list[dist.Work], keep: list[Tensor], land: Callable[[], Received]):
        self._works, self._keep, self._land = works, keep, land
        self._landed: list[Received] = []

    def wait(self) -> Received:
        """Block until the messages are through; gives the received tensor, if one was awaited."""
        if not self._landed:
            for work in self._works:
                work.wait()
            self._landed.append(self._land())
            self._works, self._keep = [], []
        return self._landed[0]


def _count(tensor: Tensor, to: int) -> None:
    for counts in _watching:
        counts.to[to] += tensor.numel() * tensor.element_size()
        counts.sent_bytes += tensor.numel() * tensor.element_size()
        counts.sent_messages += 1


def _peer(number: int) -> int:
    me = here()
    if number == me.rank:
        raise ValueError(f"rank {number} cannot send to itself: nothing goes over the wire")
    if not 0 <= number < me.ranks:
        raise ValueError(f"there is no rank {number}: this run has {me.ranks}")
    return number


def _ours(tensor: Tensor) -> Tensor:
    """Its values. One that lies elsewhere would travel in some states and crash in others."""
    if tensor.device != here().device:
        raise ValueError(
            f"a message must lie on {here().device} and this tensor lies on {tensor.device}:"
            " make it with device=device()"
        )
    return tensor.detach()


# A payload travels under an even tag and its virtual arrival under the odd one beside it.
def _outgoing(tensor: Tensor, to: int, tag: int, name: str) -> list[dist.P2POp]:
    _count(tensor, _peer(to))
    payload = _ours(tensor)
    payload = (payload.cpu() if here().staged else payload).contiguous()
    ops = [dist.P2POp(dist.isend, payload, _peer(to), tag=2 * tag)]
    if running := clock.current():
        arrival = running.send(name, to, payload.nbytes)
        stamp = torch.tensor([arrival], dtype=torch.float64, device=payload.device)
        ops.append(dist.P2POp(dist.isend, stamp, to, tag=2 * tag + 1))
    return ops


def _incoming(into: Tensor, source: int, tag: int) -> tuple[list[dist.P2POp], Callable[[], Tensor]]:
    place = _ours(into)
    direct = place.is_contiguous() and not here().staged
    where = "cpu" if here().staged else into.device
    buffer = place if direct else torch.empty(place.shape, dtype=place.dtype, device=where)
    ops = [dist.P2POp(dist.irecv, buffer, _peer(source), tag=2 * tag)]
    stamps: list[Tensor] = []
    if running := clock.current():
        stamps.append(torch.empty(1, dtype=torch.float64, device=where))
        ops.append(dist.P2POp(dist.irecv, stamps[0], source, tag=2 * tag + 1))

    def land() -> Tensor:
        if buffer is not place:
            place.copy_(buffer)
        if running:
            running.reach(stamps[0].item())
        return into

    return ops, land


def _start(ops: list[dist.P2POp]) -> list[dist.Work]:
    if dist.get_backend() == "nccl":
        return dist.batch_isend_irecv(ops)  # one group: else two ranks could wait for each other
    works = [op.op(op.tensor, op.peer, tag=op.tag) for op in ops]
    return [work for work in works if work is not None]


def _fly(ops: list[dist.P2POp], land: Callable[[], Received]) -> Flight[Received]:
    return Flight(_start(ops), [op.tensor for op in ops], land)


def isend(tensor: Tensor, to: int, tag: int = 0, name: str = "") -> Flight[None]:
    """Start sending; do not change the tensor before `wait`.

    With a name the message is part of the timeline, if a virtual clock is open.
    """
    return _fly(_outgoing(tensor, to, tag, name), lambda: None)


def irecv(into: Tensor, source: int, tag: int = 0) -> Flight[Tensor]:
    """Start receiving; `wait` gives `into`, filled."""
    return _fly(*_incoming(into, source, tag))


def exchange(
    out: Tensor, to: int, into: Tensor, source: int, tag: int = 0, name: str = ""
) -> Flight[Tensor]:
    """Start sending one tensor, by its name if it has one, and receiving another.

    `wait` gives `into`, filled.
    """
    incoming, land = _incoming(into, source, tag)
    return _fly(incoming + _outgoing(out, to, tag, name), land)


def send(tensor: Tensor, to: int, tag: int = 0) -> None:
    """Send, and wait until the other rank takes it."""
    isend(tensor, to, tag).wait()
    _settle()


def recv(into: Tensor, source: int, tag: int = 0) -> Tensor:
    """Wait for a message and give `into`, filled."""
    irecv(into, source, tag).wait()
    _settle()
    return into


def _settle() -> None:
    if dist.get_backend() == "nccl":
        torch.cuda.current_stream().synchronize()  # there, wait only orders streams


def _collective() -> None:
    for counts in _watching:
        counts.collectives += 1


def _in_place(tensor: Tensor, operation: Callable[[Tensor], object]) -> Tensor:
    """Run a collective on a tensor, or on a copy that the backend can take, and write it back."""
    _collective()
    place = _ours(tensor)
    taken = (place.cpu() if here().staged else place).contiguous()
    operation(taken)
    if taken is not place:
        place.copy_(taken)
    return tensor


def all_reduce(tensor: Tensor) -> Tensor:
    """Sum over all ranks, in place."""
    return _in_place(tensor, dist.all_reduce)


def all_gather(tensor: Tensor) -> list[Tensor]:
    """Every rank's tensor, in order of rank."""
    _collective()
    mine = _ours(tensor)
    mine = (mine.cpu() if here().staged else mine).contiguous()
    parts = [torch.empty_like(mine) for _ in range(here().ranks)]
    dist.all_gather(parts, mine)
    return [part.to(tensor.device) for part in parts]


def everyone(value: float | Sequence[float]) -> Tensor:
    """The number, or the numbers, that each rank has, on all of them, in order of rank."""
    mine = torch.tensor(value, dtype=torch.float64, device=here().device)
    return torch.stack(all_gather(mine))


def broadcast(tensor: Tensor, source: int) -> Tensor:
    """Make every rank's tensor the one of `source`, in place."""
    return _in_place(tensor, lambda taken: dist.broadcast(taken, source))


def barrier() -> None:
    """Wait until every rank is here."""
    _collective()
    if dist.get_backend() == "nccl":
        dist.barrier(device_ids=[torch.cuda.current_device()])
    else:
        dist.barrier()
