"""Partners and trees against dist.all_reduce: bytes, rounds, and who bears the load."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("all-reduce-trees")

pytestmark = pytest.mark.demo

# N: the power of two below it, its logarithm, the depth of the tree.
SIZES = {1: (1, 0), 2: (2, 1), 3: (2, 1), 4: (4, 2), 5: (4, 2), 6: (4, 2), 7: (4, 2), 8: (8, 3)}


@pytest.mark.parametrize("ranks", SIZES)
def test_bytes_and_messages(run: Run, ranks: int) -> None:
    report = run(ranks, elements=1680, pieces=5)
    assert report["verdict"] == "pass", report
    measured, payload, (core, log) = report["metrics"], 1680 * 8, SIZES[ranks]
    folded = ranks - core

    assert measured["sent_bytes_ring"] == [2 * (ranks - 1) * payload // ranks] * ranks
    assert measured["sent_bytes_halving"] == [
        *[2 * (core - 1) * payload // core + payload] * folded,
        *[2 * (core - 1) * payload // core] * (core - folded),
        *[payload] * folded,
    ]
    assert measured["sent_messages_doubling"] == [
        *[log + 1] * folded,
        *[log] * (core - folded),
        *[1] * folded,
    ]
    assert measured["sent_bytes_doubling"] == [
        messages * payload for messages in measured["sent_messages_doubling"]
    ]
    for trees in ("one_tree", "two_trees"):
        assert sum(measured[f"sent_bytes_{trees}"]) == 2 * (ranks - 1) * payload
    assert max(measured["sent_bytes_two_trees"]) <= 2 * payload
    assert sum(measured["inner_in"]) == 2 * (ranks // 2)  # at odd N one rank is spared
    assert measured["ways_unlike"] == 0


def test_one_tree_lets_inner_ranks_send_thrice(run: Run) -> None:
    measured, payload = run(8, elements=1680, pieces=5)["metrics"], 1680 * 8
    assert [sent / payload for sent in measured["sent_bytes_one_tree"]] == [1, 3, 1, 3, 1, 3, 1, 1]
    assert [sent / payload for sent in measured["sent_bytes_two_trees"]] == [2] * 6 + [1] * 2
    assert measured["inner_in"] == [1] * 8


@pytest.mark.parametrize("ranks", SIZES)
def test_the_longest_chain_of_messages(run: Run, ranks: int) -> None:
    measured, (core, log) = run(ranks, elements=1680, pieces=5)["metrics"], SIZES[ranks]
    assert measured["time_ring"] == 2 * (ranks - 1)
    assert measured["time_one_tree"] == measured["time_two_trees"] == 2 * log
    for name, rounds in (("halving", 2 * log), ("doubling", log)):
        extra = measured[f"time_{name}"] - rounds
        assert (extra == 0) if core == ranks else (1 <= extra <= 2), name


def test_pieces_keep_the_links_of_two_trees_busy(run: Run) -> None:
    whole, cut = (
        run(8, elements=3360, pieces=pieces, byte_cost=0.01)["metrics"] for pieces in (1, 32)
    )
    assert cut["time_two_trees"] < 0.6 * whole["time_two_trees"]
    # Latency apart, two payloads against three; a ring and halving are under two.
    byte_time = 3360 * 8 * 0.01
    assert cut["time_two_trees"] < 2.2 * byte_time < 2.9 * byte_time < cut["time_one_tree"]
    assert cut["time_halving"] == pytest.approx(2 * 7 / 8 * byte_time + 6)
    assert cut["time_doubling"] == pytest.approx(3 * byte_time + 3)


@pytest.mark.parametrize("args", [{"elements": 1}, {"pieces": 9, "elements": 7}, {"hop_cost": 0.0}])
@pytest.mark.parametrize("ranks", [3, 4])
def test_odd_settings_pass(run: Run, ranks: int, args: dict[str, float]) -> None:
    assert run(ranks, **args)["verdict"] == "pass"


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_shows_at_its_number_of_ranks_and_not_below(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    report = run(planted.ranks, name)
    if planted.expect.startswith("crashes"):
        assert report["outcome"] == "crashed"
        assert "there is no rank 3" in report["error"]["message"]
    else:
        assert planted.expect in failed(report)
    assert run(planted.ranks - 1, name)["verdict"] == "pass"


def test_two_equal_trees_are_right_and_useless(run: Run) -> None:
    report = run(4, "one-tree-twice", pieces=4)
    assert failed(report) == ["nobody is inner in both trees", "two trees: two payloads at most"]
    measured = report["metrics"]
    assert max(measured["sent_bytes_two_trees"]) / max(measured["sent_bytes_one_tree"]) > 0.99


def test_what_has_no_size_is_refused(run: Run) -> None:
    report = run(2, elements=0)
    assert report["outcome"] == "refused"
    assert report["error"]["message"] == "elements is 0 and pieces is 4: both start at 1"


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]
