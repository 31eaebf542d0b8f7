"""What a split backward gains in time, what it keeps in memory, and what each planted bug does."""

import re
from pathlib import Path

import pytest

from quizkit.calc.schedule import Costs, Name, order, peak_live, place, simulate

from .conftest import Run, failed

DEMOS = Path(__file__).parents[2] / "demos"
SOURCE = (DEMOS / "pipeline_zero_bubble.py").read_text(encoding="utf-8")
LAYER = 4 * 16 * 8  # bytes of [rows, width] in fp64


@pytest.mark.demo
@pytest.mark.parametrize(
    ("p", "m", "f", "b", "w"),
    [(1, 3, 1, 1, 1), (2, 2, 1, 1, 1), (3, 5, 2, 2, 1), (4, 8, 1, 1, 1), (4, 9, 1, 2, 0.5)],
)
def test_the_laws_hold_on_real_ranks(
    run: Run, p: int, m: int, f: float, b: float, w: float
) -> None:
    report = run(p, microbatches=m, forward=f, backward_input=b, backward_weight=w)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    for name, idle in (("1f1b", (p - 1) * (f + b + w)), ("zb_h1", (p - 1) * (f + b - w))):
        assert measured[f"idle_{name}"] == pytest.approx(idle)
        assert measured[f"makespan_{name}"] == pytest.approx(m * (f + b + w) + idle)
        assert measured[f"bubble_{name}"] == pytest.approx(idle / (m * (f + b + w) + idle))
        # The last stage starts last and never waits after that.
        waits = [idle * (p - 1 - s) / max(1, p - 1) for s in range(p)]
        assert measured[f"waits_{name}"] == pytest.approx(waits)
    assert measured["peak_live_1f1b"] == [min(p - s, m) for s in range(p)]
    assert measured["peak_live_zb_h1"] == [min(p, m)] * p
    assert measured["owed_zb_h1"] == [min(s + 1, m) for s in range(p)]
    names = {check["name"] for check in report["checks"]}
    assert ("zb_h1 gradients equal torch's" in names) == (m != 9)


@pytest.mark.demo
@pytest.mark.parametrize(("p", "m"), [(3, 5), (4, 7)])
def test_h2_waits_for_nobody_once_it_runs(run: Run, p: int, m: int) -> None:
    measured = run(p, microbatches=m)["metrics"]
    assert measured["waits_zb_h2"] == [0] * p
    assert measured["idle_zb_h2"] == measured["idle_zb_h1"] == p - 1
    assert measured["peak_live_zb_h2"] == [2 * p - 1] * p
    uneven = run(p, microbatches=m, forward=2, backward_input=2)["metrics"]
    assert uneven["waits_zb_h2"] == [2 * (p - 1 - s) for s in range(p)]  # (p - 1)(F + B - 2W)


@pytest.mark.demo
@pytest.mark.parametrize(("p", "m", "f", "w"), [(4, 8, 1, 1), (3, 2, 1, 1), (4, 8, 0.5, 1.5)])
def test_the_clock_says_what_the_simulator_says(
    run: Run, p: int, m: int, f: float, w: float
) -> None:
    costs = Costs(forward=f, backward_input=1, backward_weight=w)
    measured = run(p, microbatches=m, forward=f, backward_weight=w)["metrics"]
    pairs: list[tuple[str, Name]] = [("1f1b", "1f1b"), ("zb_h1", "zb-h1"), ("zb_h2", "zb-h2")]
    for name, theirs in pairs:
        played = simulate(order(theirs, p, m), place(theirs, p, m), costs)
        assert measured[f"makespan_{name}"] == pytest.approx(played.makespan)
        assert measured[f"waits_{name}"] == pytest.approx(played.idle)
        assert measured[f"peak_live_{name}"] == peak_live(played.orders)


@pytest.mark.demo
def test_a_w_put_off_keeps_inputs_and_output_gradients(run: Run) -> None:
    measured = run(4)["metrics"]
    # Two layers a stage: before B two inputs and two outputs of tanh, after B two inputs and two
    # gradients. The last stage's loss keeps its output and its target until B.
    each, loss = 4 * LAYER, 2 * LAYER
    assert measured["owed_bytes_zb_h1"] == [each, 2 * each, 3 * each, 4 * each]
    assert measured["kept_bytes_zb_h1"] == [4 * each] * 3 + [4 * each + loss]
    assert measured["kept_bytes_1f1b"] == [4 * each, 3 * each, 2 * each, each + loss]


@pytest.mark.demo
def test_the_timeline_shows_the_halves(run: Run) -> None:
    events = run(3, microbatches=4)["timeline"]["events"]
    at = {(e["schedule"], e["rank"], e["name"]): e for e in events}
    assert len(at) == len(events) == 3 * 3 * (3 * 4)
    for i in range(4):
        assert at["zb_h1", 1, f"B{i}"]["start"] >= at["zb_h1", 2, f"B{i}"]["end"]
        assert at["1f1b", 1, f"B{i}"]["start"] >= at["1f1b", 2, f"W{i}"]["end"]
    assert at["zb_h1", 1, "B1"]["start"] < at["zb_h1", 2, "W1"]["end"]


IDLES = "zb_h1 idles (p - 1)(F + B - W)"


@pytest.mark.demo
@pytest.mark.parametrize(
    ("name", "peak"), [("sent-after-w", [4, 4, 4, 4]), ("w-at-once", [4, 3, 2, 1])]
)
def test_half_the_gain_is_lost_with_right_gradients(run: Run, name: str, peak: list[int]) -> None:
    report = run(4, name)
    assert failed(report) == [IDLES, "zb_h2 waits (p - 1 - s)(F + B - 2W)"]
    # 9 of 1F1B, 3 of ZB-H1.
    assert report["metrics"]["idle_zb_h1"] == 6
    assert report["metrics"]["peak_live_zb_h1"] == peak
    assert IDLES in failed(run(2, name))
    assert run(1, name)["verdict"] == "pass"


@pytest.mark.demo
@pytest.mark.parametrize("name", ["newest-gradient-first", "drain-forgets-w"])
def test_a_wrong_w_makes_wrong_gradients(run: Run, name: str) -> None:
    report = run(4, name)
    wrong = {"zb_h1 gradients equal one process", "zb_h2 gradients equal one process"}
    assert wrong | {"zb_h1 gradients equal torch's"} <= set(failed(report))
    assert "1f1b gradients equal one process" not in failed(report)
    assert "zb_h1 gradients equal one process" in failed(run(2, name))
    assert run(1, name)["verdict"] == "pass"


@pytest.mark.demo
@pytest.mark.parametrize("args", [{"microbatches": 0}, {"forward": 0}, {"backward_weight": -1}])
def test_what_cannot_run_is_refused_with_what_can(run: Run, args: dict[str, float]) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert re.search(r"\b1\b", report["error"]["message"])
