"""Which gradients are shares, and what becomes of those that are summed without need."""

import re

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("t", "args"),
    [
        (1, {}),
        (2, {"tokens": 1, "hidden": 3, "wide": 2}),
        (3, {"tokens": 7, "hidden": 5, "wide": 9}),
        (4, {}),
        (8, {}),
    ],
)
def test_only_the_column_input_needs_a_sum(run: Run, t: int, args: dict[str, int]) -> None:
    report = run(t, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["backward_sums"] == [1] * t
    exact = ("column_dx_summed", "column_dw_share", "column_db_share")
    exact += ("row_dy_share", "row_dx_share", "row_dw_share", "row_db_share")
    for name in exact:
        assert max(measured[name]) < 1e-12, name
    assert measured["row_dy_scale"] == pytest.approx([t] * t)
    assert measured["row_dy_summed"] == pytest.approx([t - 1] * t, abs=1e-12)
    if t > 1:
        for name in ("column_dx_share", "column_dw_summed", "row_dw_summed"):
            assert min(measured[name]) > 0.05, name


# What a wrong dX spoils: all that lies before it, and nothing of its own product.
BEFORE = {"column dX", "row dX", "row dW", "row db"}
BREAKS = {
    "dx-not-summed": BEFORE,
    "dx-averaged": BEFORE,
    "dw-summed": {"column dW"},
    "dy-summed": {"row dX", "row dW", "row db"},
}


@pytest.mark.parametrize("name", BREAKS)
@pytest.mark.parametrize("t", [2, 3])
def test_a_break_spoils_these_gradients_and_no_others(run: Run, name: str, t: int) -> None:
    red = {check for check in failed(run(t, name)) if "equals one process" in check}
    assert red == {f"{gradient} equals one process" for gradient in BREAKS[name]}


@pytest.mark.parametrize("name", BREAKS)
def test_one_rank_sees_no_wrong_gradient(run: Run, name: str) -> None:
    assert not [check for check in failed(run(1, name)) if "equals one process" in check]


@pytest.mark.parametrize(("args", "fits"), [({"wide": 50}, "51"), ({"tokens": 0}, "1")])
def test_what_cannot_run_is_refused_with_what_can(
    run: Run, args: dict[str, int], fits: str
) -> None:
    report = run(3, **args)
    assert report["outcome"] == "refused"
    assert re.search(rf"\b{fits}\b", report["error"]["message"])
