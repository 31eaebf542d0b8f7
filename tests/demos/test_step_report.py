"""The page on a step: FLOPs against arithmetic, what MFU counts, and where its code goes wrong."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("step-report")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "layers", "width", "tokens"),
    [(1, 1, 8, 5), (2, 3, 12, 7), (3, 2, 7, 10), (8, 1, 9, 4)],
)
def test_flops_and_shares(run: Run, ranks: int, layers: int, width: int, tokens: int) -> None:
    args: dict[str, Any] = {"layers": layers, "width": width, "tokens": tokens}
    report = run(ranks, **args, seconds=0.5, peak=3e6, product=16)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    params, read = 2 * layers * width**2, [tokens + rank for rank in range(ranks)]
    assert measured["params_all"] == params == sum(measured["params_here"])
    assert measured["tokens_all"] == sum(read)
    assert measured["flops_here"] == [6 * params * each for each in read]
    assert measured["flops_again"] == [2 * params * each for each in read]
    share = 6 * params * sum(read) / (0.5 * ranks * 3e6)
    assert measured["drawn_mfu"] == pytest.approx(share)
    assert measured["drawn_hfu"] == pytest.approx(share * 4 / 3)
    assert measured["open_flights"] == [0] * ranks
    assert all(seconds > 0 for seconds in measured["measured_step"])


def test_recomputing_keeps_less_and_no_more_mfu(run: Run) -> None:
    plain, again = (run(2, recompute=each)["metrics"] for each in (False, True))
    assert again["kept_for_backward"][0] < plain["kept_for_backward"][0]
    assert again["drawn_mfu"] == plain["drawn_mfu"]


@pytest.mark.parametrize("name", ["local-numel", "gpus-twice", "launched-is-done"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_a_bug_goes_red(run: Run, name: str, ranks: int) -> None:
    assert DEMO.breaks[name].expect in failed(run(ranks, name))


def test_how_far_each_bug_is_off(run: Run) -> None:
    right = run(4)["metrics"]
    assert run(4, "gpus-twice")["metrics"]["drawn_mfu"] == pytest.approx(right["drawn_mfu"] / 4)
    shard = run(4, "local-numel")["metrics"]["flops_model"]
    assert shard == right["flops_model"] / 4
    assert run(4, "own-tokens-only")["metrics"]["flops_model"] < right["flops_model"] / 3.9
    assert run(2, "launched-is-done")["metrics"]["open_flights"] == [4, 4]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"layers": 0}, "1 to 2048"),
        ({"width": 2048, "tokens": 2048}, "2**28"),
        ({"layers": 1, "width": 1}, "take width 4"),
        ({"seconds": 0.0}, "take 2"),
    ],
)
def test_what_cannot_be_run_is_refused(run: Run, wrong: dict[str, Any], says: str) -> None:
    report = run(4, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
