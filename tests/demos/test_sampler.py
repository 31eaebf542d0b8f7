"""What the sampler deals, against its law; what is seen again when a run goes on; its bugs."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("sampler")

pytestmark = pytest.mark.demo


# Fewer samples than ranks, as many, a prime, and one that all of the ranks divide.
@pytest.mark.parametrize(
    ("ranks", "samples"), [(1, 10), (2, 1), (2, 31), (3, 10), (3, 24), (4, 4), (4, 31), (8, 10)]
)
def test_every_rank_gets_as_many_slots_and_padding_repeats_the_first(
    run: Run, ranks: int, samples: int
) -> None:
    report = run(ranks, samples=samples, batch=2)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    each = -(-samples // ranks)
    assert measured["slots"] == ranks * each
    assert measured["repeated"] == ranks * each - samples
    assert measured["missed"] == 0
    assert measured["steps"] == -(-each // 2)
    assert measured["steps_alone"] == -(-samples // 2)
    assert measured["last_sample"] == [
        ((each - 1) * ranks + rank) % samples for rank in range(ranks)
    ]
    assert measured["moved_stale"] == [0] * ranks
    # One order for all and batches of 2: a step holds what one process would take.
    assert measured["distinct_step"] == min(samples, 2 * ranks)
    assert measured["distinct_alike"] == min(samples, 2)
    assert measured["weight_error"] < 1e-12


@pytest.mark.parametrize(("ranks", "samples"), [(4, 10), (3, 10), (2, 10)])
def test_drop_last_leaves_the_tail_out(run: Run, ranks: int, samples: int) -> None:
    report = run(ranks, samples=samples, drop_last=True)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["slots"] == samples // ranks * ranks
    assert measured["repeated"] == 0
    assert measured["missed"] == samples % ranks


def test_padding_bends_an_evaluation(run: Run) -> None:
    one, none, all_wrong = (
        run(4, samples=10, mistakes=mistakes)["metrics"] for mistakes in (1, 0, 10)
    )
    assert (one["accuracy"], one["accuracy_padded"]) == (0.9, 10 / 12)
    assert none["accuracy_padded"] == 1
    assert all_wrong["accuracy_padded"] == all_wrong["accuracy"] == 0
    # 12 samples need no padding; with 8 misjudged of 10, the two repeated are both wrong.
    assert run(4, samples=12)["metrics"]["accuracy_padded"] == 11 / 12
    assert run(4, samples=10, mistakes=8)["metrics"]["accuracy_padded"] == 2 / 12


def test_seeds_of_the_ranks_own_miss_as_many_as_they_repeat(run: Run) -> None:
    for ranks in (2, 4):
        measured = run(ranks, samples=2000, batch=500, epochs=1)["metrics"]
        assert measured["repeated_seeds"] == measured["missed_seeds"]
        assert measured["missed_seeds"] / 2000 == pytest.approx((1 - 1 / ranks) ** ranks, abs=0.03)
        assert measured["distinct_own"] > measured["distinct_alike"] == 500


@pytest.mark.parametrize(("stop", "batch"), [(3, 1), (2, 2)])
def test_fewer_ranks_that_skip_their_own_see_samples_twice(run: Run, stop: int, batch: int) -> None:
    measured = run(4, samples=48, stop=stop, batch=batch, after=2)["metrics"]
    assert measured["done"] == 4 * stop * batch
    assert measured["again_restart"] == 4 * stop * batch
    assert measured["again_skip"] == 2 * stop * batch
    assert measured["never_skip"] == 0
    assert measured["again_global"] == measured["never_global"] == 0
    assert measured["again_stale"] == measured["never_stale"] > 0


def test_more_ranks_that_skip_their_own_miss_samples(run: Run) -> None:
    measured = run(4, samples=48, batch=1, stop=3, before=2, after=4)["metrics"]
    assert measured["done"] == 6
    assert measured["never_skip"] == 6
    assert measured["again_skip"] == 0
    as_many = run(4, samples=48, batch=1, stop=3, before=4, after=4)["metrics"]
    assert as_many["again_skip"] == as_many["never_skip"] == 0


def test_a_run_may_stop_before_it_began_or_after_its_end(run: Run) -> None:
    for ranks, stop in ((3, 0), (3, 99)):
        report = run(ranks, samples=10, stop=stop)
        assert report["verdict"] == "pass", report
        assert report["metrics"]["done"] == min(10, 2 * stop * ranks)


def test_what_a_break_leaves_right(run: Run) -> None:
    # Each sample is dealt once, so that only the order tells.
    blocks = failed(run(4, "blocks"))
    assert "none is left out but by drop-last" not in blocks
    assert failed(run(4, "no-set-epoch")) == ["weights equal one process"]
    assert failed(run(4, "skips-its-own")) == ["a resumed epoch sees each sample once"]
    # As many ranks as before: what each has done is all that counts.
    assert run(4, "skips-its-own", after=4)["verdict"] == "pass"
    assert run(4, "padding-judged", samples=12)["verdict"] == "pass"


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"samples": 0}, "start at 1"),
        ({"batch": 0}, "start at 1"),
        ({"stop": -1}, "stop at 0"),
        ({"mistakes": 11}, "0 to 10"),
        ({"after": 3}, "take 1 to 2"),
        ({"samples": 1, "mistakes": 0, "drop_last": True}, "take 2 or more"),
    ],
)
def test_what_cannot_be_dealt_is_refused(run: Run, bad: dict[str, int], says: str) -> None:
    report = run(2, **bad)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]
