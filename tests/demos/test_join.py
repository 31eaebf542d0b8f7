"""What a script of a user's own can use, once it has a process group."""

from typing import Any

import pytest

from .ranks import on_ranks


def use_everything() -> list[Any]:
    from _bench import all_gather, device, everyone, exchange, rank, ranks, ring_sum, wire

    import torch

    right, left = (rank() + 1) % ranks(), (rank() - 1) % ranks()
    mine = torch.full((3,), float(rank()), device=device())
    with wire() as sent:
        came = exchange(mine, right, torch.empty_like(mine), left).wait()
    return [
        rank(),
        ranks(),
        device().type,
        came.tolist(),
        sent.sent_bytes,
        ring_sum(mine).tolist(),
        len(all_gather(mine)),
        everyone(rank()).tolist(),
    ]


@pytest.mark.demo
def test_a_script_with_a_group_of_its_own_joins_and_uses_the_bench() -> None:
    found = on_ranks(3, use_everything)
    for rank, said in enumerate(found):
        before = float((rank - 1) % 3)
        assert said == [rank, 3, "cpu", [before] * 3, 12, [3.0] * 3, 3, [0.0, 1.0, 2.0]]


@pytest.mark.demo
def test_without_a_group_it_says_what_to_call_first() -> None:
    from _bench import join, rank

    with pytest.raises(RuntimeError, match=r"init_process_group\(\) before join\(\)"):
        join()
    with pytest.raises(RuntimeError, match=r"in a script of your own, call join\(\)"):
        rank()
