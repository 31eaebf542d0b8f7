"""What a tensor holds while a sum of it is under way, and what writing into it does."""

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("elements", [1, 30_000])
def test_old_before_wait_and_whole_after(run: Run, ranks: int, elements: int) -> None:
    measured = run(ranks, elements=elements)["metrics"]
    whole = ranks * (ranks + 1) // 2
    assert measured["read_early"] == 1
    assert measured["read_late"] == whole
    assert measured["first_sum"] == [whole] * ranks
    assert measured["second_sum"] == [10 * whole] * ranks


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_what_is_written_meanwhile_is_what_the_others_get(run: Run, ranks: int) -> None:
    measured = run(ranks)["metrics"]
    assert measured["written_over"] == measured["read_late"] + 9  # 10 from rank 0, not 1


def test_what_each_break_leaves_right(run: Run) -> None:
    report = run(2, "read-before-wait")
    assert failed(report) == ["after wait the sum is whole"]
    assert report["metrics"]["read_late"] == 1
    assert "a tensor left alone is summed as it was" in failed(run(2, "one-buffer"))


def test_nothing_cannot_be_summed(run: Run) -> None:
    assert run(2, elements=0)["outcome"] == "refused"
