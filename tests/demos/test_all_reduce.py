"""The three all-reduces against dist.all_reduce, what they send, and what each bug does to them."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("all-reduce")
FP64 = 8

pytestmark = pytest.mark.demo


def rounds(ranks: int) -> int:
    """How deep a binary tree over the ranks is: log2, rounded up."""
    return {1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 8: 3}[ranks]


# Shorter than the ring, as long as it, divided by every ring, a prime.
@pytest.mark.parametrize("elements", [1, 3, 8, 120, 100_003])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
def test_all_three_are_right_and_send_what_they_must(run: Run, ranks: int, elements: int) -> None:
    report = run(ranks, elements=elements)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    payload, chunk = elements * FP64, -(-elements // ranks) * FP64
    assert measured["payload_bytes"] == payload

    assert measured["sent_messages_ring"] == [2 * (ranks - 1)] * ranks
    assert measured["sent_bytes_ring"] == [2 * (ranks - 1) * chunk] * ranks
    assert measured["sent_bytes_reduce_scatter"] == [(ranks - 1) * chunk] * ranks
    if elements % ranks == 0:  # the law exactly: 2(N-1)/N of the payload
        assert [ranks * sent for sent in measured["sent_bytes_ring"]] == (
            [2 * (ranks - 1) * payload] * ranks
        )

    others = [1] * (ranks - 1)
    assert measured["sent_messages_naive"] == [ranks - 1, *others]
    assert measured["sent_bytes_naive"] == [(ranks - 1) * payload, *(payload for _ in others)]
    assert measured["sent_messages_tree"][0] == rounds(ranks)
    assert sum(measured["sent_messages_tree"]) == 2 * (ranks - 1)
    assert measured["sent_bytes_tree"] == [n * payload for n in measured["sent_messages_tree"]]

    assert measured["identical"] is True
    assert measured["max_error"] < 1e-12
    assert measured["finished_chunk"] == [(rank + 1) % ranks for rank in range(ranks)]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8])
def test_the_clock_counts_rounds(run: Run, ranks: int) -> None:
    measured = run(ranks, elements=120)["metrics"]
    assert measured["time_ring"] == 2 * (ranks - 1)
    assert measured["time_naive"] == 2 * (ranks - 1)
    assert measured["time_tree"] == 2 * rounds(ranks)


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_the_clock_prices_hops_and_bytes(run: Run, ranks: int) -> None:
    hop, byte, payload = 3.0, 0.25, 120 * FP64
    measured = run(ranks, elements=120, hop_cost=hop, byte_cost=byte)["metrics"]
    assert measured["time_ring"] == 2 * (ranks - 1) * (hop + byte * payload / ranks)
    assert measured["time_naive"] == 2 * (ranks - 1) * (hop + byte * payload)
    assert measured["time_tree"] == 2 * rounds(ranks) * (hop + byte * payload)


def test_the_tree_wins_on_short_messages_and_the_ring_on_long_ones(run: Run) -> None:
    dear_hops = run(8, elements=8, hop_cost=100.0, byte_cost=1.0)["metrics"]
    dear_bytes = run(8, elements=8_000, hop_cost=100.0, byte_cost=1.0)["metrics"]
    assert dear_hops["time_tree"] < dear_hops["time_ring"]
    assert dear_bytes["time_ring"] < dear_bytes["time_tree"]


def test_the_timeline_names_the_partners(run: Run) -> None:
    events = run(4, elements=120)["timeline"]["events"]
    names = {
        schedule: [
            event["name"]
            for event in events
            if event["schedule"] == schedule and event["rank"] == 2
        ]
        for schedule in ("ring", "naive", "tree")
    }
    assert names == {
        "ring": ["to 3"] * 6,
        "naive": ["to 0", "from 0"],
        "tree": ["from 3", "to 0", "from 0", "to 3"],
    }


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_shows_at_its_number_of_ranks_and_not_below(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    report = run(planted.ranks, name)
    if planted.expect == "hangs":
        assert report["outcome"] == "hung"
        # Every rank waits in the same place: in its send.
        assert len(report["error"]["stacks"]) == planted.ranks
        assert all("in shift" in stack for stack in report["error"]["stacks"])
    else:
        assert planted.expect in failed(report)
    assert report["verdict"] != "pass"
    assert run(planted.ranks - 1, name, ends=True)["verdict"] == "pass"


def test_what_a_break_leaves_right(run: Run) -> None:
    # The mean is the same on every rank: only a comparison finds it.
    assert failed(run(2, "average")) == ["ring equals all_reduce"]
    # Powers of two are the numbers people try.
    assert [run(ranks, "powers-of-two")["verdict"] for ranks in (2, 4, 8)] == ["pass"] * 3
    # A length that N divides needs no padding.
    assert run(3, "no-padding", elements=120)["verdict"] == "pass"
    # The wrong phase leaves different sums behind.
    assert run(2, "second-phase-adds")["metrics"]["identical"] is False


@pytest.mark.parametrize("elements", [0, -5])
def test_an_empty_payload_is_refused(run: Run, elements: int) -> None:
    report = run(2, elements=elements)
    assert report["outcome"] == "refused"
    assert report["error"]["message"] == (
        f"elements is {elements}: the smallest payload is 1 element"
    )


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]


def test_chunks_are_views_unless_the_payload_needs_padding() -> None:
    import torch
    from all_reduce import cut

    payload = torch.arange(12.0).view(3, 4)
    row, chunks = cut(payload, 4)
    assert [len(chunk) for chunk in chunks] == [3] * 4
    chunks[3].zero_()
    assert payload[2].tolist() == [8, 0, 0, 0]

    row, chunks = cut(payload, 5)
    assert [len(chunk) for chunk in chunks] == [3] * 5
    assert row.tolist() == [*payload.flatten().tolist(), 0, 0, 0]
