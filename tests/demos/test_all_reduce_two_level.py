"""Two levels against flat rings: what leaves a node, through how many ranks, in how many steps."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("all-reduce-two-level")
SHAPES = [(1, 1), (3, 1), (2, 2), (4, 2), (6, 3), (8, 4)]

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(("ranks", "per_node"), SHAPES)
def test_what_leaves_a_node(run: Run, ranks: int, per_node: int) -> None:
    report = run(ranks, per_node=per_node, elements=2880)
    assert report["verdict"] == "pass", report
    measured, payload, nodes = report["metrics"], 2880 * 8, ranks // per_node
    ring = 2 * (ranks - 1) * payload // ranks
    assert measured["sent_bytes_flat"] == measured["sent_bytes_two_level"] == [ring] * ranks

    leaves = ring if nodes > 1 else 0
    assert measured["crossing_bytes_flat"] == [*[0] * (per_node - 1), leaves] * nodes
    assert measured["crossing_bytes_rails"] == [leaves // per_node] * ranks
    assert measured["crossing_bytes_scattered"] == [leaves] * ranks
    assert measured["crossing_bytes_two_level"] == [2 * (nodes - 1) * payload // ranks] * ranks
    assert measured["unlike"] == 0


@pytest.mark.parametrize(("ranks", "per_node"), SHAPES)
def test_steps(run: Run, ranks: int, per_node: int) -> None:
    measured, nodes = run(ranks, per_node=per_node, elements=2880)["metrics"], ranks // per_node
    two_level = 2 * (per_node - 1) + 2 * (nodes - 1)
    assert measured["sent_messages_flat"] == [2 * (ranks - 1)] * ranks
    assert measured["sent_messages_two_level"] == [two_level] * ranks
    assert measured["crossing_messages"] == [2 * (nodes - 1)] * ranks
    assert measured["time_flat"] == measured["time_rails"] == 2 * (ranks - 1)
    assert measured["time_two_level"] == two_level


def test_slow_links_are_met_at_every_step_of_a_flat_ring(run: Run) -> None:
    measured = run(8, per_node=4, elements=2880, slow=9.0)["metrics"]
    assert measured["time_flat"] == measured["time_scattered"] == 9 * 14
    assert measured["time_two_level"] == 6 + 9 * 2


def test_long_messages_win_by_the_rails_and_not_by_the_levels(run: Run) -> None:
    # Free hops, links between nodes 100 times slower: only bytes across matter.
    args = {"elements": 2880, "hop_cost": 0.0, "byte_cost": 1.0, "slow": 100.0}
    measured = run(8, per_node=2, **args)["metrics"]
    payload = 2880 * 8 * 100
    assert measured["time_flat"] == 2 * 7 / 8 * payload
    assert measured["time_rails"] == measured["time_flat"] / 2
    assert measured["time_two_level"] == pytest.approx((2 * 3 / 4 / 2 + 2 / 2 / 100) * payload)


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_shows_at_its_number_of_ranks_and_not_below(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    assert planted.expect in failed(run(planted.ranks, name))
    assert run(planted.ranks - 1, name)["outcome"] == "refused"
    assert run(planted.ranks - 2, name)["verdict"] == "pass"


def test_whole_payloads_across_are_right_and_dear(run: Run) -> None:
    for name in ("whole-payload", "levels-swapped"):
        report = run(8, name, per_node=4, elements=2880)
        assert "two_level equals all_reduce" not in failed(report)
        assert report["metrics"]["crossing_bytes_two_level"] == [2880 * 8] * 8  # 4 times its due


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "nodes of 2 are not filled by 3 ranks: per-node can be one of [1, 3]"),
        ({"per_node": 0}, "elements is 24001 and per-node is 0: both start at 1"),
        ({"slow": -1.0, "per_node": 1}, "hop-cost, byte-cost and slow are 0 or more"),
    ],
)
def test_what_cannot_be_is_refused(run: Run, args: dict[str, float], message: str) -> None:
    report = run(3, **args)
    assert report["outcome"] == "refused"
    assert report["error"]["message"] == message


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]
