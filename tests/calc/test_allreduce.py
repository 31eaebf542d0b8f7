"""Collectives: counted against a play of the messages, and against published formulas."""

from typing import Any

import pytest

from quizkit.calc.sheet import CalcError
from quizkit.calc.sheets import find, sheet


def cost(size: int, ranks: int, **inputs) -> Any:
    return sheet("allreduce").work({"bytes": size, "ranks": ranks, **inputs}).figures


def tree(ranks: int) -> tuple[int, list[int]]:
    """Rounds, and payloads each rank sends, in a binomial reduce and broadcast."""
    sent, reaches = [0] * ranks, []
    while 2 ** len(reaches) < ranks:
        reaches.append(2 ** len(reaches))
    for reach in reaches:
        for rank in range(reach, ranks, 2 * reach):
            sent[rank] += 1  # up
            sent[rank - reach] += 1  # down again
    return 2 * len(reaches), sent


def halving(ranks: int, chunk: int) -> tuple[int, int]:
    """Rounds and bytes of one rank: half of what is left goes to ever nearer partners."""
    steps, sent, left = 0, 0, ranks * chunk
    while left > chunk:
        left //= 2
        steps, sent = steps + 1, sent + left
    return 2 * steps, 2 * sent


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17])
def test_a_tree_against_its_messages(ranks: int):
    steps, sent = tree(ranks)
    found = cost(1200, ranks, algorithm="tree", alpha=2.0, bandwidth=100.0)
    assert found["steps"] == steps
    assert found["sent_bytes_per_rank"] == 1200 * max(sent)
    # Every round waits for a whole payload, also where another rank than the busiest sends it.
    assert found["seconds"] == pytest.approx(steps * (2.0 + 12.0))


@pytest.mark.parametrize("ranks", [1, 2, 4, 8, 64])
def test_halving_and_doubling_against_its_messages(ranks: int):
    steps, sent = halving(ranks, 10)
    found = cost(10 * ranks, ranks, algorithm="halving-doubling")
    assert (found["steps"], found["sent_bytes_per_rank"]) == (steps, sent)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6, 8, 24])
def test_a_ring_sends_2_n_minus_1_over_n(ranks: int):
    # Patarasuk & Yuan, 2009: 2 (n-1)/n of the payload, in 2 (n-1) steps.
    found = cost(2400, ranks, alpha=1.0, bandwidth=100.0)
    assert found["sent_bytes_per_rank"] == 2 * (ranks - 1) * 2400 // ranks
    assert found["inter_bytes_per_rank"] == 0  # it knows no nodes
    assert found["seconds"] == pytest.approx(2 * (ranks - 1) * (1.0 + 24.0 / ranks))


def test_a_payload_that_does_not_divide_is_padded_to_whole_elements():
    # 100,003 doubles over 4 ranks: chunks of 25,001, as the all-reduce demo counts.
    found = cost(800_024, 4, element_bytes=8)
    assert found["sent_bytes_per_rank"] == 6 * 25_001 * 8
    assert cost(10, 4)["chunk_bytes"] == 3
    assert cost(3, 4, element_bytes=1)["sent_bytes_per_rank"] == 6


@pytest.mark.parametrize("operation", ["all-gather", "reduce-scatter", "all-to-all"])
def test_the_other_operations_are_half_an_all_reduce(operation: str):
    half, whole = cost(960, 6, operation=operation), cost(960, 6)
    assert 2 * half["sent_bytes_per_rank"] == whole["sent_bytes_per_rank"]
    assert 2 * half["steps"] == whole["steps"]


def test_bus_bandwidth_is_the_links():
    # nccl-tests: 1 GB in 4 ms on 8 ranks is algbw 250 GB/s and busbw 437.5 GB/s.
    found = cost(10**9, 8, bandwidth=437.5e9)
    assert found["seconds"] == pytest.approx(4e-3)
    assert found["algbw"] == pytest.approx(250e9)
    for operation in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all"):
        # Without latency a ring runs at what its links carry, whatever the operation.
        busbw = cost(10**9, 8, operation=operation, bandwidth=437.5e9)["busbw"]
        assert busbw == pytest.approx(437.5e9)


def test_two_levels_save_steps_and_traffic_between_nodes():
    size = 128 * 10**6
    flat = cost(size, 128, alpha=5e-6, bandwidth=50e9)
    two = cost(
        size, 128, algorithm="hierarchical", alpha=5e-6, bandwidth=450e9, inter_bandwidth=50e9
    )
    assert (flat["steps"], two["steps"]) == (254, 44)
    # Across: an all-reduce of an eighth over 16 nodes. In all as many bytes as the flat ring.
    assert two["inter_bytes_per_rank"] == 2 * 15 * size // 16 // 8
    assert two["sent_bytes_per_rank"] == flat["sent_bytes_per_rank"]
    inside = 2 * 7 * size / 8
    assert two["seconds"] == pytest.approx(
        44 * 5e-6 + inside / 450e9 + two["inter_bytes_per_rank"] / 50e9
    )
    one_rate = cost(size, 128, algorithm="hierarchical", bandwidth=50e9)
    assert one_rate["seconds"] == pytest.approx(one_rate["sent_bytes_per_rank"] / 50e9)


def test_one_rank_sends_nothing():
    found = cost(1000, 1, alpha=1.0, bandwidth=1.0)
    names = ("sent_bytes_per_rank", "steps", "seconds", "algbw", "busbw")
    assert [found[name] for name in names] == [0, 0, 0, 0, 0]


def test_time_needs_a_link():
    assert "seconds" not in cost(1000, 4)
    with pytest.raises(ValueError, match="seconds"):
        find("allreduce_seconds")(bytes=1000, ranks=4)  # pyright: ignore[reportOptionalCall]


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"ranks": 6, "algorithm": "halving-doubling"}, "4 .* 8"),
        ({"ranks": 12, "algorithm": "hierarchical"}, "12"),
        ({"ranks": 4, "algorithm": "tree", "operation": "all-gather"}, "all-gather"),
        ({"ranks": 4, "algorithm": "tree", "operation": "all-to-all"}, "tree"),
        ({"ranks": 16, "algorithm": "hierarchical", "operation": "all-to-all"}, "hierarchical"),
    ],
)
def test_what_cannot_be_is_refused(inputs, said):
    with pytest.raises(CalcError, match=said):
        cost(1000, **inputs)
