"""Runs that are not made: remembered ones, and those that ship for want of torch."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from quizkit.errors import LabError
from quizkit.lab.demo import Demo
from quizkit.lab.record import Record
from quizkit.lab.report import Origin, Report, Setting
from quizkit.proof.kept import falling_back, keeping, remembered
from quizkit.proof.prove import Prover, Result
from quizkit.proof.setting import setting
from tests.proof.conftest import Brings, Read

NUMERIC = """
kind: numeric
params: {p: [2, 3, 4], m: [5, 8]}
answer: (p - 1) / (m + p - 1)
proof:
  demo: pipeline
  ranks: =p
  args: {microbatches: =m}
  at: [{p: 4, m: 8}, {p: 3, m: 5}, {p: 2, m: 8}]
  when: p <= 4
  claims: ["isclose(bubble_1f1b, answer)"]
"""


class Bench:
    """A runner that counts what it is asked for."""

    def __init__(self, pipeline: Demo, brings: Brings) -> None:
        self.made: list[Setting] = []
        self.missing = False
        self._pipeline, self._brings = pipeline, brings
        self.more: dict[str, object] = {}

    def __call__(self, wanted: Setting) -> Report:
        if self.missing:
            raise LabError("torch_missing", python="python")
        self.made.append(wanted)
        args = dict(self._pipeline.filled(wanted).args)
        m = float(args["microbatches"])
        share = (wanted.ranks - 1) / (m + wanted.ranks - 1)
        metrics = {"bubble_1f1b": share}
        return self._brings(wanted.ranks, args=args, metrics=metrics, **self.more)


@pytest.fixture
def bench(pipeline: Demo, brings: Brings) -> Bench:
    return Bench(pipeline, brings)


@pytest.fixture
def demos(pipeline: Demo) -> dict[str, Demo]:
    return {"pipeline": pipeline}


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("QUIZKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("QUIZKIT_START", raising=False)
    monkeypatch.setattr("quizkit.lab.record.gpu_here", lambda: False)
    monkeypatch.setattr("quizkit.proof.kept.torch_version", lambda: "2.13.0")


def prove(bench: Bench, demos: dict[str, Demo], text: str, question: Read, fresh: bool) -> Result:
    with remembered(demos) as kept:
        return Prover(demos, keeping(bench, kept, fresh)).prove(question(text))


def test_an_unchanged_proof_is_not_run_again_unless_it_is_to_be_fresh(
    bench: Bench, demos: dict[str, Demo], question: Read
):
    results = [prove(bench, demos, NUMERIC, question, fresh) for fresh in (False, False, True)]
    assert [each.status for each in results] == ["proved"] * 3
    assert [each.origins for each in results] == [["ran"] * 3, ["cached"] * 3, ["ran"] * 3]
    assert len(bench.made) == 6


def test_what_is_remembered_shows_all_that_the_run_did(
    bench: Bench, demos: dict[str, Demo], question: Read
):
    # Evidence is held against the order of events, not against metrics alone.
    event = {"schedule": "gpipe", "rank": 0, "name": "F0", "start": 0.0, "end": 1.0}
    bench.more = {"timeline": {"clock": "virtual", "events": [event]}}
    shown: list[Report] = []
    for _ in range(2):
        result = prove(bench, demos, NUMERIC, question, fresh=False)
        assert result.judgement is not None
        shown.append(result.judgement.runs[0].report)
    assert [each.origin for each in shown] == ["ran", "cached"]
    assert shown[0].timeline == shown[1].timeline


def test_what_fails_runs_again(bench: Bench, demos: dict[str, Demo], question: Read):
    bench.more = {"verdict": "fail"}
    for _ in range(2):
        assert prove(bench, demos, NUMERIC, question, fresh=False).status == "failed"
    assert len(bench.made) == 6
    bench.more = {}
    assert prove(bench, demos, NUMERIC, question, fresh=False).origins == ["ran"] * 3


def test_a_cache_that_takes_nothing_is_never_an_error(
    bench: Bench, demos: dict[str, Demo], question: Read, tmp_path: Path
):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "runs").write_text("a file where the folder would be", encoding="utf-8")
    for _ in range(2):
        assert prove(bench, demos, NUMERIC, question, fresh=False).origins == ["ran"] * 3


def test_without_a_place_for_a_cache_everything_runs(
    bench: Bench, demos: dict[str, Demo], question: Read, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("quizkit.paths.cache_folder", lambda: None)
    for _ in range(2):
        assert prove(bench, demos, NUMERIC, question, fresh=False).origins == ["ran"] * 3


def test_what_an_earlier_torch_has_shown_is_no_answer_where_there_is_none(
    bench: Bench, demos: dict[str, Demo], question: Read, monkeypatch: pytest.MonkeyPatch
):
    prove(bench, demos, NUMERIC, question, fresh=False)
    monkeypatch.setattr("quizkit.proof.kept.torch_version", lambda: None)
    bench.missing = True
    assert prove(bench, demos, NUMERIC, question, fresh=False).status == "skipped"


@pytest.fixture
def record(bench: Bench, demos: dict[str, Demo], tmp_path: Path, question: Read) -> Record:
    """A record of all rows; and then torch is gone."""
    made = Record(tmp_path / "record", demos, "recorded")
    for p, m in ((4, 8), (3, 5), (2, 8)):
        made.put(bench(setting(question(NUMERIC), {"p": p, "m": m})))
    bench.missing = True
    return made


def test_without_torch_a_question_is_recorded_and_not_proved(
    bench: Bench, demos: dict[str, Demo], question: Read, record: Record
):
    prover = Prover(demos, falling_back(bench, record))
    result = prover.prove(question(NUMERIC))
    assert (result.status, result.origins) == ("recorded", ["recorded"] * 3)
    wrong = prover.prove(question(NUMERIC.replace("answer: (p", "answer: (2 * p")))
    assert wrong.status == "failed"  # a record can refute as well as a run


def test_what_is_not_recorded_is_skipped(
    bench: Bench, demos: dict[str, Demo], question: Read, record: Record
):
    prover = Prover(demos, falling_back(bench, record))
    other = NUMERIC.replace("{p: 4, m: 8}", "{p: 4, m: 5}")
    assert prover.prove(question(other)).status == "skipped"


def test_with_torch_nothing_recorded_is_shown(
    bench: Bench, demos: dict[str, Demo], question: Read, record: Record
):
    bench.missing = False
    result = Prover(demos, falling_back(bench, record)).prove(question(NUMERIC))
    assert (result.status, result.origins) == ("proved", ["ran"] * 3)


def test_numbers_of_one_s_own_that_are_not_recorded_give_way_to_a_row(
    bench: Bench, demos: dict[str, Demo], question: Read, record: Record
):
    own = {"p": 2, "m": 5}
    bench.missing = False
    shown = Prover(demos, falling_back(bench, record)).view(question(NUMERIC), own)
    assert (shown.own, shown.report.origin) == (True, "ran")
    bench.missing = True
    shown = Prover(demos, falling_back(bench, record)).view(question(NUMERIC), own)
    assert (shown.own, shown.report.origin, shown.bindings) == (False, "recorded", {"p": 3, "m": 5})
    assert shown.holds


def test_other_failures_are_not_covered_up(demos: dict[str, Demo], question: Read, record: Record):
    def dies(_: Setting) -> Report:
        raise LabError("bench_killed")

    result = Prover(demos, falling_back(dies, record)).prove(question(NUMERIC))
    assert result.status == "failed"


def test_every_origin_is_a_word_of_the_json():
    assert get_args(Origin) == ("ran", "cached", "recorded")


def test_a_recorded_report_s_json_says_so(record: Record, question: Read):
    found = record.get(setting(question(NUMERIC), {"p": 4, "m": 8}))
    assert found is not None
    said = found.to_json()
    assert (said["origin"], said["seconds"]) == ("recorded", None)
    assert Report.from_json(said) == replace(found, origin="ran")


def test_what_reads_a_file_is_not_remembered(
    pipeline: Demo, bench: Bench, demos: dict[str, Demo], tmp_path: Path, brings: Brings
):
    file = tmp_path / "mine.txt"
    named = Setting("pipeline", 4, (("order", str(file)),))

    def run(wanted: Setting) -> Report:
        bench.made.append(wanted)
        return brings(args={**dict(pipeline.filled(wanted).args)})

    runner = keeping(run, Record(tmp_path / "runs", demos, "cached", "2.13.0"))
    for there, made in ((False, 1), (False, 1), (True, 2), (True, 3)):
        if there:
            file.write_text("F0 B0", encoding="utf-8")
        runner(named)
        assert len(bench.made) == made
