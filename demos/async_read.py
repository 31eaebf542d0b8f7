"""Between the start of an asynchronous sum and its wait, the tensor is not yours.

The trick
    `async_op=True` returns at once, with a handle. Until `wait` the tensor may hold the old value,
    part of the sum or all of it, depending on who has come; and it is still being sent from, so
    what is written into it meanwhile may be what the others get. Nothing fails either way.

    Overlap therefore means work on something else: other tensors until `wait`, and a second buffer
    for what is computed next. Here luck is taken out (`started`): rank 0 starts, and no other rank
    joins until it has looked at its tensor, or written into it.

    Every rank adds rank + 1, then 10 (rank + 1), with the next values computed while the first ones
    travel. On NCCL, wait makes the current stream wait, not the program: another stream, or the
    host reading through a pinned copy, has to be synchronised by itself.

Watch
    read_early (shared, value)    that rank 0 reads between the start of a sum of rank + 1 and its
                                  wait
    read_late (shared, value)     that rank 0 reads after the wait
    first_sum (value)             sum of rank + 1, the tensor having been left alone until wait
    second_sum (value)            sum of 10 (rank + 1), computed into a second buffer meanwhile
    written_over (shared, value)  sum of rank + 1 on rank 0 if it computes its 10 into the same
                                  tensor

Run
    quizkit demo async-read --gpus 4
    python demos/async_read.py --ranks 4
    torchrun --nproc-per-node 4 demos/async_read.py
"""

from _bench import Break, Metrics, check, counted, refuse, run, shared, everyone, rank, ranks

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import _get_default_store

TOPIC = "comm"


def started(tensor, group, name, meanwhile):
    """Start a sum; rank 0 does something while nobody else has joined. The handle, and that."""
    store = dist.PrefixStore(name, _get_default_store())
    if rank() > 0:
        store.get("go on")  # blocks until rank 0 has left the word
    work = dist.all_reduce(tensor, async_op=True, group=group)
    found = meanwhile(tensor)
    store.set("go on", "yes")
    return work, found


def looked_at(elements, group):
    """A sum of which rank 0 reads the first element before wait, and after."""
    tensor = torch.full((elements,), rank() + 1.0, dtype=torch.float64)
    work, early = started(tensor, group, "look", lambda t: t[0].item())
    work.wait()
    late = tensor[0].item()
    return early, late


def overlapped(elements, group):
    """Two sums; the second one's values are computed while the first travels."""
    first = torch.full((elements,), rank() + 1.0, dtype=torch.float64)
    second = torch.empty_like(first)
    work, _ = started(first, group, "overlap", lambda t: second.fill_(10 * (rank() + 1.0)))
    work.wait()
    whole = first[-1].item()
    dist.all_reduce(second, group=group)
    return whole, second[-1].item()


def reused(elements, group):
    """The same with one buffer: the next value is written into a tensor that still travels."""
    tensor = torch.full((elements,), rank() + 1.0, dtype=torch.float64)
    next_one = 10 * (rank() + 1.0)
    work, _ = started(tensor, group, "reuse", lambda t: t.fill_(next_one) if rank() == 0 else None)
    work.wait()
    return tensor[-1].item()


def main(
    elements: int = 1000,  # fp64 elements of each tensor that is summed
) -> Metrics:
    """Look too early, look in time; write beside it, write into it."""
    if elements < 1:
        refuse("take 1 element or more")
    n = ranks()
    group = dist.new_group(backend="gloo")
    early, late = looked_at(elements, group)
    first, second = overlapped(elements, group)
    whole = n * (n + 1) // 2
    check("what is read before wait is rank 0's own part", on_rank_0(early), "==", 1)
    check("after wait the sum is whole", on_rank_0(late), "==", whole)
    check(
        "a tensor left alone is summed as it was",
        everyone(abs(first - whole)).max().item(),
        "==",
        0,
    )
    check(
        "the second buffer is summed too", everyone(abs(second - 10 * whole)).max().item(), "==", 0
    )
    return {
        "read_early": shared(counted(on_rank_0(early))),
        "read_late": shared(counted(on_rank_0(late))),
        "first_sum": counted(first),
        "second_sum": counted(second),
        "written_over": shared(counted(on_rank_0(reused(elements, group)))),
    }


# Below: what is reported.


def on_rank_0(number):
    """The number as rank 0 has it, on all ranks."""
    return everyone(number)[0].item()


BREAKS = {
    "read-before-wait": Break(
        old="    work.wait()\n    late = tensor[0].item()\n",
        new="    late = early\n    work.wait()\n",
        expect="after wait the sum is whole",
        ranks=2,
        source="async_op=True added for overlap, and the tensor used before its handle",
    ),
    "one-buffer": Break(
        old="    second = torch.empty_like(first)\n",
        new="    second = first if rank() == 0 else torch.empty_like(first)\n",
        expect="a tensor left alone is summed as it was",
        ranks=1,
        source="a gradient buffer filled by the next micro-batch while its bucket still travels",
    ),
}

if __name__ == "__main__":
    run(__file__)
