"""Four ways to transpose who holds what, against torch's, and what each puts on the wire."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run

DEMO = find("all-to-all")
ROUNDS = {1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 8: 3}

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("ranks", ROUNDS)
def test_bytes_and_messages(run: Run, ranks: int) -> None:
    report = run(ranks, rows=3, width=7)
    assert report["verdict"] == "pass", report
    measured, part = report["metrics"], 3 * 7 * 8
    assert measured["buffer_bytes"] == ranks * part
    assert measured["sent_bytes_pairs"] == [(ranks - 1) * part] * ranks
    assert measured["sent_bytes_gather"] == [(ranks - 1) * ranks * part] * ranks
    # Chunks of a row too many or too few, where the ring cannot cut the table evenly.
    table = ranks * ranks * part
    assert sum(measured["sent_bytes_sum"]) == 2 * (ranks - 1) * table
    assert measured["sent_messages_pairs"] == [max(ranks - 1, 0)] * ranks
    assert measured["sent_messages_bruck"] == [ROUNDS[ranks]] * ranks
    # A part crosses as many links as there are powers of two in its way.
    hops = sum(distance.bit_count() for distance in range(ranks))
    assert measured["sent_bytes_bruck"] == [hops * part] * ranks


def test_rounds_are_lost_between_powers_of_two_only(run: Run) -> None:
    for ranks in (4, 8):
        assert run(ranks, "log-rounds-down", rows=1, width=1)["verdict"] == "pass"


def test_an_empty_part_is_refused(run: Run) -> None:
    report = run(2, rows=0)
    assert report["outcome"] == "refused"
    assert report["error"]["message"] == "rows is 0 and width is 500: both start at 1"


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]
