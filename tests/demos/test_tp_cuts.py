"""What the four pairings of two cut products send, and which activations may act on shares."""

import re

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

PAIRS = ("column_row", "column_column", "row_column", "row_row")


@pytest.mark.parametrize(
    ("t", "tokens", "h", "w"),
    [(1, 6, 24, 96), (2, 1, 2, 6), (3, 5, 9, 3), (3, 7, 3, 27), (4, 6, 24, 24), (4, 6, 24, 16)],
)
def test_each_pairing_is_right_and_sends_its_law(
    run: Run, t: int, tokens: int, h: int, w: int
) -> None:
    report = run(t, tokens=tokens, hidden=h, wide=w)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    laws = (2 * h, w + h, 2 * w + h, 2 * w + 2 * h)
    for pair, law in zip(PAIRS, laws, strict=True):
        # Every width divides by t, so every slice is as long as every other.
        assert measured[f"sent_{pair}"] == [(t - 1) * tokens * law * 8 // t] * t
    assert [measured[f"talks_{pair}"][0] for pair in PAIRS] == [1, 2, 2, 2]
    assert measured["out_error"] < 1e-12


def test_column_row_sends_the_same_whatever_is_in_between(run: Run) -> None:
    square, narrow = run(4, hidden=24, wide=24)["metrics"], run(4, hidden=24, wide=16)["metrics"]
    assert square["sent_column_row"] == narrow["sent_column_row"]
    # A rule by widths would start this one with a row cut.
    assert narrow["sent_row_column"][0] > narrow["sent_column_row"][0]


def test_only_what_is_linear_may_act_on_shares(run: Run) -> None:
    measured = run(4)["metrics"]
    assert min(measured["shares_gelu_error"]) > 0.1
    assert min(measured["shares_relu_error"]) > 0.1
    assert max(measured["shares_scale_error"] + measured["shares_mask_error"]) < 1e-12
    assert max(measured["slices_gelu_error"]) < 1e-12


def test_an_activation_of_shares_spoils_row_cuts_with_one_after_them(run: Run) -> None:
    red = {"row-column equals one process", "row-row equals one process"}
    assert set(failed(run(2, "activation-before-the-sum"))) == red
    assert failed(run(1, "activation-before-the-sum")) == []


def test_joining_the_slices_changes_nothing_but_the_bytes(run: Run) -> None:
    report = run(4, "joins-the-slices")
    assert set(failed(report)) == {"column-row talks once", "column-row sends its law"}
    right = run(4)["metrics"]["sent_column_row"]
    assert report["metrics"]["sent_column_row"] == [3 * sent for sent in right]


@pytest.mark.parametrize("name", ["joined-times-own-rows", "wrong-dimension"])
def test_shapes_that_do_not_meet_crash(run: Run, name: str) -> None:
    report = run(2, name)
    assert report["outcome"] == "crashed"
    assert "shapes cannot be multiplied" in report["error"]["message"]
    assert run(1, name)["outcome"] == "finished"


@pytest.mark.parametrize(
    ("args", "fits"), [({"wide": 50}, "51"), ({"hidden": 25}, "27"), ({"tokens": 0}, "1")]
)
def test_what_cannot_run_is_refused_with_what_can(
    run: Run, args: dict[str, int], fits: str
) -> None:
    report = run(3, **args)
    assert report["outcome"] == "refused"
    assert re.search(rf"\b{fits}\b", report["error"]["message"])
