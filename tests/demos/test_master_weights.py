"""Which weights stand still in bf16, which gradients are 0 in fp16, and what helps."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("master-weights")

pytestmark = pytest.mark.demo


def test_bf16_weights_stand_still_at_a_low_rate(run: Run) -> None:
    low = run(1)["metrics"]
    assert low["still"] > 0.9
    assert low["loss"] > low["loss_fp32"]
    assert run(1, mode="bf16")["metrics"]["still"] < 0.01
    assert run(1, lr=0.01)["metrics"]["still"] < 0.1


def test_fp16_gradients_are_zero_without_a_scale(run: Run) -> None:
    plain = run(1, mode="fp16", lr=0.001)["metrics"]
    assert plain["zeros"] == plain["still"] == 1
    assert plain["grad_norm"] == 0
    scaled = run(1, mode="fp16-scaled", lr=0.001)["metrics"]
    assert scaled["zeros"] < 0.01
    assert scaled["loss"] == pytest.approx(scaled["loss_fp32"], rel=1e-4)
    assert run(1, mode="fp16", lr=0.001, loss_weight=1.0)["metrics"]["zeros"] < 0.01


@pytest.mark.parametrize("width", [1, 7, 64])
@pytest.mark.parametrize("mode", ["fp32", "bf16", "pure", "fp16", "fp16-scaled"])
def test_it_trains_at_any_width(run: Run, mode: str, width: int) -> None:
    report = run(1, mode=mode, width=width, steps=3)
    assert report["outcome"] == "finished"
    assert report["metrics"]["loss"] > 0


def test_every_bug_shows(run: Run) -> None:
    for name, planted in DEMO.breaks.items():
        assert planted.expect in failed(run(1, name))


@pytest.mark.parametrize("args", [{"steps": 0}, {"lr": 1.0}, {"scale_log2": 30}, {"width": 0}])
def test_what_cannot_be_is_refused(run: Run, args: dict[str, float]) -> None:
    assert run(1, **args)["outcome"] == "refused"
