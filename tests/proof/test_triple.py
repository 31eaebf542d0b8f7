"""Formula, simulator and run agree for every calculator, and a difference is told."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from quizkit.calc.sheets import NAMES, sheet
from quizkit.errors import LabError
from quizkit.lab.bench import Bench
from quizkit.lab.catalogue import catalogue
from quizkit.lab.report import Report, Setting
from quizkit.proof.prove import Runner, on_bench
from quizkit.proof.triple import Triple, compare
from quizkit.proof.triples import TRIPLES

REPORT = Report.from_json(
    {
        "schema": "quizkit/report/1", "demo": "all-reduce", "ranks": 4, "args": {}, "broken": None,
        "backend": "gloo", "device": "cpu", "staged": False, "reason": "", "torch": "2.13.0",
        "start": "fork", "seconds": 0.1, "outcome": "finished", "error": None, "checks": [],
        "metrics": {"sent_bytes_ring": [14400] * 4, "guess": 14400},
        "how": {"sent_bytes_ring": "counted", "guess": "computed"},
        "floors": {},
        "timeline": {"clock": "virtual", "events": []}, "verdict": "pass",
    }
)  # fmt: skip
RING = Triple(
    "allreduce", {"bytes": 9600, "ranks": 4}, "sent_bytes_per_rank", "", "all-reduce", 4, {},
    "sent_bytes_ring[0]",
)  # fmt: skip


def given(report: Report) -> Runner:
    def run(setting: Setting) -> Report:
        return report

    return run


def test_equal_numbers_agree():
    (row,) = compare([RING], given(REPORT))
    assert (row.formula, row.measured, row.outcome) == (14400, 14400, "agree")


@pytest.mark.parametrize(
    "wrong",
    [
        replace(RING, inputs={"bytes": 9608, "ranks": 4}),
        replace(RING, measured="sent_bytes_ring[0] + 1"),
        replace(RING, measured="sent_bytes_ring"),
        replace(RING, measured="no_such_metric"),
        replace(RING, measured="guess"),  # the run computed it by a formula of its own
        replace(RING, formula="seconds"),  # no bandwidth was given: there is no such figure
        replace(RING, formula=""),
    ],
)
def test_what_does_not_agree_is_told(wrong: Triple):
    assert compare([wrong], given(REPORT))[0].outcome == "differ"


def test_both_formula_and_simulator_have_to_agree():
    inputs = {"stages": 4, "microbatches": 8, "stage_times": [3, 1, 1, 1]}
    row = Triple("pipeline", inputs, "", "makespan", "all-reduce", 4, {}, "sent_bytes_ring[0]")
    assert compare([row], given(REPORT))[0].outcome == "differ"


def test_a_run_that_failed_agrees_with_nothing():
    broken = replace(REPORT, verdict="fail")
    assert compare([RING], given(broken))[0].outcome == "differ"


def test_what_could_not_run_here_is_skipped_and_never_agrees():
    def no_torch(setting: Setting) -> Report:
        raise LabError("torch_missing", python="python3")

    (row,) = compare([RING], no_torch)
    assert (row.outcome, row.measured) == ("skipped", None)


def test_every_calculator_is_held_against_a_run():
    assert {triple.sheet for triple in TRIPLES} == set(NAMES)
    for triple in TRIPLES:
        figures = {figure.name for figure in sheet(triple.sheet).figures}
        assert {triple.formula, triple.simulator} - {""} <= figures, triple


@pytest.fixture(scope="module")
def run() -> Iterator[Runner]:
    with Bench() as bench:
        yield on_bench(bench, catalogue())


@pytest.mark.demo
def test_formula_simulator_and_run_agree(run: Runner):
    rows = compare(TRIPLES, run)
    assert [row for row in rows if row.outcome != "agree"] == []
    assert len(rows) == len(TRIPLES)
