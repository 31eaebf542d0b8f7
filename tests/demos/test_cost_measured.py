"""A line fitted on a pair misses a ring by what its ranks share; nothing here asks for a time."""

from itertools import pairwise
from math import ceil

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(("ranks", "cores"), [(2, 1), (3, 2), (5, 2), (4, 4)])
def test_a_pair_misses_by_the_ranks_on_a_core(run: Run, ranks: int, cores: int) -> None:
    report = run(ranks, cores=cores, repeats=1)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["clock_off_pair"] == pytest.approx(ceil(ranks / cores))
    assert measured["clock_off_all"] == pytest.approx(1)
    assert (measured["at_once_pair"], measured["at_once_all"]) == (1, ranks)


@pytest.mark.parametrize("ranks", [3, 5])
def test_the_ring_sends_what_it_always_sends(run: Run, ranks: int) -> None:
    measured = run(ranks, cores=2, repeats=1)["metrics"]
    assert measured["ring_messages"] == 2 * (ranks - 1)
    assert measured["ring_bytes"] == 2 * (ranks - 1) * 8 * ceil(49152 / ranks)


def test_ranks_of_a_core_take_turns(run: Run) -> None:
    events = run(3, cores=2, repeats=1)["timeline"]["events"]
    busy = [(e["start"], e["end"]) for e in events if e["schedule"] == "ring" and e["rank"] != 1]
    assert len(busy) == 2 * 4  # ranks 0 and 2 are on core 0, and take 4 steps each
    ordered = sorted(busy)
    assert all(one[1] <= other[0] + 1e-9 for one, other in pairwise(ordered))


@pytest.mark.parametrize(
    "options", [{"cores": 0}, {"repeats": 0}, {"beta": 0.0}, {"alpha": 0.0}, {"alpha": -1.0}]
)
def test_what_is_no_price_is_refused(run: Run, options: dict[str, float]) -> None:
    assert run(2, **options)["outcome"] == "refused"


def test_one_rank_has_nobody_to_talk_to(run: Run) -> None:
    assert "2" in run(1)["error"]["message"]


def test_the_pair_will_do_where_nobody_shares(run: Run) -> None:
    assert failed(run(2, "pair-for-all", repeats=1)) == []
    assert failed(run(3, "pair-for-all", repeats=1)) == ["fitted on shifts at once, the line holds"]
    assert failed(run(3, "pair-for-all", cores=3, repeats=1)) == []


def test_a_round_trip_is_two_messages(run: Run) -> None:
    assert "the ping-pong gives its own price" in failed(run(2, "round-trip", repeats=1))
