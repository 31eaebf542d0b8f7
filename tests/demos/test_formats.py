"""Rounding by hand against torch's casts; what updates, draws and an outlier come to."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("formats")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("kind", "largest", "normal", "smallest", "spacing"),
    [
        ("fp16", 65504, 2**-14, 2**-24, 2**-10),
        ("bf16", 255 * 2.0**120, 2**-126, 2**-133, 2**-7),
        ("tf32", 2047 * 2.0**117, 2**-126, 2**-136, 2**-10),
        ("e4m3", 448, 2**-6, 2**-9, 2**-3),
        ("e5m2", 57344, 2**-14, 2**-16, 2**-2),
    ],
)
def test_ends_and_steps(
    run: Run, kind: str, largest: float, normal: float, smallest: float, spacing: float
) -> None:
    report = run(1, kind=kind)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert [measured[name] for name in ("largest", "normal", "smallest", "spacing")] == [
        largest,
        normal,
        smallest,
        spacing,
    ]


@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        (70000.0, {"fp16": float("inf"), "bf16": 70144, "e4m3": 448, "e5m2": float("inf")}),
        (1e-8, {"fp16": 0, "tf32": 1374 / 1024 * 2**-27, "e4m3": 0}),
        (1 + 1 / 256, {"bf16": 1, "fp16": 1 + 1 / 256}),  # a tie goes to the even
        (1 + 3 / 256, {"bf16": 1 + 2 / 128}),
        (-61440.0, {"e5m2": -float("inf"), "fp16": -61440}),
        (464.0, {"e4m3": 448, "e5m2": 448}),
        (-0.0, {"fp16": 0}),
    ],
)
def test_what_a_number_becomes(run: Run, value: float, becomes: dict[str, float]) -> None:
    measured = run(1, value=value)["metrics"]
    assert {name: measured[name] for name in becomes} == becomes


def test_updates_below_half_a_step_are_lost_and_by_draws_they_are_not(run: Run) -> None:
    measured = run(1, steps=1000)["metrics"]
    assert measured["weight_bf16"] == 1
    assert measured["weight_fp32"] == pytest.approx(2, rel=1e-4)
    assert measured["weight_drawn"] == pytest.approx(2, rel=0.01)
    # From 0 it goes on until the step is more than twice the update.
    assert run(1, weight=0.0, steps=1000)["metrics"]["weight_bf16"] == 0.5


def test_the_mean_of_draws_closes_in_and_the_nearest_does_not(run: Run) -> None:
    few, many = (run(1, draws=draws)["metrics"] for draws in (16, 256))
    assert few["error_mean"] == pytest.approx(1 / 4, rel=0.1)
    assert many["error_mean"] == pytest.approx(1 / 16, rel=0.1)
    assert many["error_nearest"] == pytest.approx(0.5**0.5, rel=0.05)


def test_an_outlier_costs_a_tensor_or_a_block(run: Run) -> None:
    measured = run(1)["metrics"]
    assert measured["zeros_tensor"] > 0.1 > 0.01 > measured["zeros_block"]
    assert measured["error_tensor"] > 3 * measured["error_block"]
    calm = run(1, outlier=0.01)["metrics"]
    assert calm["error_tensor"] == pytest.approx(calm["error_block"], rel=0.1)


def test_every_bug_shows(run: Run) -> None:
    for name, planted in DEMO.breaks.items():
        assert planted.expect in failed(run(1, name))


@pytest.mark.parametrize("args", [{"block": 100}, {"steps": 0}, {"outlier": 0.0}, {"value": 1e305}])
def test_what_cannot_be_is_refused(run: Run, args: dict[str, float]) -> None:
    assert run(1, **args)["outcome"] == "refused"
