"""The clock that plays an order against the clock that real ranks carry on their messages."""

from collections.abc import Iterator

import pytest

from quizkit.calc import pipeline
from quizkit.calc.figure import Value
from quizkit.lab.bench import Bench
from quizkit.lab.report import Setting

pytestmark = pytest.mark.demo


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench() as made:
        yield made


@pytest.mark.parametrize(
    ("stages", "args", "inputs"),
    [
        (4, {"microbatches": 8}, {}),
        (3, {"microbatches": 5, "hop": 0.5}, {"latency": 0.5}),
        (4, {"microbatches": 2}, {}),
        (3, {"microbatches": 6, "imbalance": 2.0}, {"stage_times": [2, 1, 1]}),
        (2, {"microbatches": 3, "forward": 1.5, "backward": 3.5}, {"forward": 1.5}),
    ],
)
def test_a_run_takes_as_long_as_its_simulation(
    bench: Bench, stages: int, args: dict[str, float], inputs: dict[str, Value]
) -> None:
    report = bench.run(Setting("pipeline", stages, tuple(args.items()), None), device="cpu")
    assert report.verdict == "pass", report.error
    weight = args.get("backward", 2.0) - 1
    for name in ("gpipe", "1f1b"):
        given = {"stages": stages, "microbatches": int(args["microbatches"]), "schedule": name}
        worked = pipeline.SHEET.work({**given, "backward_weight": weight, **inputs})
        figures = worked.figures
        assert report.metrics[f"makespan_{name}"] == figures["makespan"]
        assert report.metrics[f"bubble_{name}"] == pytest.approx(figures["bubble_share"])
        assert report.metrics[f"overhead_{name}"] == pytest.approx(figures["bubble_over_ideal"])
        live = report.metrics[f"peak_live_{name}"]
        assert isinstance(live, tuple)
        assert list(live) == figures["peak_live"]
        ran = {
            (e.rank, e.name, e.start, e.end) for e in report.timeline.events if e.schedule == name
        }
        assert ran == set(pipeline.events(worked.inputs))
        sent = report.metrics["messages_1f1b"]
        assert isinstance(sent, tuple)
        assert sum(sent) == figures["messages"]
