"""Whose bits agree after an all-reduce, and what sums in few bits come to."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run

DEMO = find("all-reduce-rounding")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8])
def test_whose_bits_agree(run: Run, ranks: int) -> None:
    report = run(ranks, elements=4800)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["unlike"] == measured["rerun_differ"] == measured["differ_integers"] == 0
    others = [measured[f"differ_{name}"] for name in ("halves", "gathered", "pairs")]
    # a + b is b + a: two ranks have one order only.
    assert all(0.1 < share < 0.7 for share in others) if ranks > 2 else others == [0, 0, 0]
    assert measured["differ_dealt"] > 0.5


def test_ones_stall_in_a_chain_and_not_in_pairs(run: Run) -> None:
    measured = run(1, ones=3000, elements=8)["metrics"]
    assert measured["ones_bf16"] == 256
    assert measured["ones_fp16"] == 2048
    assert measured["ones_pairs"] == 3008  # the last two of seven significant bits go
    few = run(1, ones=200, elements=8)["metrics"]
    assert few["ones_bf16"] == few["ones_fp16"] == few["ones_pairs"] == 200


def test_a_mean_in_fp16(run: Run) -> None:
    measured = run(8, gradient=10_000.0, elements=4800)["metrics"]
    assert measured["lost_sum_first"] == 4800
    assert measured["lost_divide_first"] == 0
    assert measured["mean_divide_first"] == 9992
    assert run(4, gradient=10_000.0, elements=8)["metrics"]["lost_sum_first"] == 0
    # What dividing first costs: the smallest numbers are gone.
    assert run(8, gradient=1e-7, elements=8)["metrics"]["mean_divide_first"] == 0


@pytest.mark.parametrize("parts", [16, 64, 256])
def test_errors_of_a_chain_and_of_pairs(run: Run, parts: int) -> None:
    measured, levels = run(1, parts=parts, elements=8)["metrics"], parts.bit_length() - 1
    # Two bf16 numbers of a size make ties, which round by more than other sums: some 10 % over.
    assert measured["error_chain"] == pytest.approx(((parts + 1) / 2) ** 0.5, rel=0.12)
    assert measured["error_pairs"] == pytest.approx(levels**0.5, rel=0.15)


def test_the_owner_rounds_once_for_the_bytes_of_the_ring(run: Run) -> None:
    for ranks in (3, 4, 8):
        measured = run(ranks, elements=4800)["metrics"]
        assert measured["sent_bytes_owner"] == measured["sent_bytes_ring"]
        assert measured["sent_bytes_ring"] == [2 * (ranks - 1) * 4800 * 2 // ranks] * ranks
        assert measured["sent_bytes_wide"] == [2 * sent for sent in measured["sent_bytes_ring"]]
        once = measured["error_once"]
        assert measured["error_owner"] == pytest.approx(once, rel=0.001)
        assert measured["error_wide"] == pytest.approx(once, rel=0.001)
        assert measured["error_ring"] == pytest.approx(once * (ranks / 2) ** 0.5, rel=0.15)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"elements": 7}, "2 ranks cannot cut 7 elements evenly: use 6 or 8"),
        ({"elements": 0}, "2 ranks cannot cut 0 elements evenly: use 2 or 4"),
        ({"parts": 1}, "parts is 1 and ones is 1024: take 2 parts and 1 one, or more"),
        ({"gradient": 7e4}, "gradient is 70000.0: fp16 ends at 65,504, take -60,000 to 60,000"),
    ],
)
def test_what_cannot_be_is_refused(run: Run, args: dict[str, float], message: str) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert report["error"]["message"] == message


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]
