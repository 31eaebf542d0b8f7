"""Collectives made of ring steps, for demos whose subject is what travels and not the ring.

demos/all_reduce.py tells how a ring works; here it is ready-made, and every message is counted.
`group` names the ranks that take part, in ring order; without it they are all of the run.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from .here import here
from .messages import exchange

Group = Sequence[int] | None
Combine = Callable[[Tensor, Tensor], Tensor]


def _members(group: Group) -> tuple[Sequence[int], int]:
    """The ring's ranks and this rank's place among them."""
    members = group if group is not None else range(here().ranks)
    if here().rank not in members:
        raise ValueError(f"rank {here().rank} is not in the ring of ranks {list(members)}")
    return members, members.index(here().rank)


def _step(out: Tensor, into: Tensor, members: Sequence[int], me: int) -> Tensor:
    return exchange(out, members[(me + 1) % len(members)], into, members[me - 1]).wait()


def shift(tensor: Tensor, group: Group = None) -> Tensor:
    """One step of the ring: mine goes to the right; gives what the left neighbour had."""
    members, me = _members(group)
    if len(members) == 1:
        return tensor.detach().clone()
    return _step(tensor.detach(), torch.empty_like(tensor), members, me)


def ring_gather(shard: Tensor, dim: int = 0, group: Group = None) -> Tensor:
    """All ranks' shards, equal in shape, joined in ring order: each rank sends N-1 shards."""
    members, me = _members(group)
    shards = {me: shard.detach().contiguous()}
    for step in range(len(members) - 1):
        out = shards[(me - step) % len(members)]
        shards[(me - step - 1) % len(members)] = _step(out, torch.empty_like(out), members, me)
    return torch.cat([shards[place] for place in range(len(members))], dim)


def ring_scatter_sum(part: Tensor, dim: int = 0, group: Group = None) -> Tensor:
    """My shard, along `dim`, of the sum over the ranks: each rank sends N-1 shards.

    A shard is added up on its way round. The length along `dim` must divide by N (ValueError).
    """
    members, me = _members(group)
    if part.shape[dim] % len(members):
        raise ValueError(f"{part.shape[dim]} rows cannot be cut into {len(members)} equal shards")
    shards = [shard.contiguous() for shard in part.detach().chunk(len(members), dim)]
    passing = shards[me - 1].clone()  # alone in the ring, it must not be a view of the part
    for step in range(2, len(members) + 1):
        passing = _step(passing, torch.empty_like(passing), members, me)
        passing = passing + shards[(me - step) % len(members)]
    return passing


def ring_sum(part: Tensor, group: Group = None, combine: Combine = torch.add) -> Tensor:
    """The sum over the ranks, on all of them, as a new tensor: any shape, any length.

    Chunks are combined on their way round and then copied, so all ranks hold the same bits;
    `combine` may be another operation, such as torch.maximum.
    """
    members, me = _members(group)
    n = len(members)
    chunks = list(part.detach().flatten().tensor_split(n))
    for step in range(2 * (n - 1)):
        into = (me - step - 1) % n
        arrived = _step(chunks[(me - step) % n], torch.empty_like(chunks[into]), members, me)
        chunks[into] = combine(arrived, chunks[into]) if step < n - 1 else arrived
    return torch.cat(chunks).view_as(part)
