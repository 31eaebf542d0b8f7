"""The record is made by one command, and held against fresh runs by another; on real ranks."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import started

from quizkit.lab.catalogue import catalogue
from quizkit.lab.record import Record
from quizkit.lab.report import Report, Setting
from quizkit.paths import DEMOS
from quizkit.proof.difference import compare

ROOT = DEMOS.parent
QUESTION = """
kind: numeric
level: 2
prompt: {zh: "多少？（p={p}，m={m}）", en: "Which share? (p={p}, m={m})"}
explain: {zh: 数, en: count}
params: {p: [4, 3, 2], m: [3, 5]}
answer: (p - 1) / (m + p - 1)
proof:
  demo: pipeline
  ranks: =p
  args: {microbatches: =m}
  at: [{p: 4, m: 3}, {p: 3, m: 5}, {p: 2, m: 3}]
  claims: ["isclose(bubble_1f1b, answer)"]
"""
START = """
import sys
from pathlib import Path
import quizkit.paths
quizkit.paths.RECORD, quizkit.paths.QUESTIONS = Path({record!r}), Path({bank!r})
from quizkit.__main__ import main
main()
"""

Tool = tuple[list[str], dict[str, str]]
Quizkit = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "record"


@pytest.fixture
def tool(tmp_path: Path, record: Path) -> Tool:
    """How `python` is the tool where the shipped bank has this one question."""
    bank = tmp_path / "bank"
    (bank / "zz").mkdir(parents=True)
    (bank / "zz" / "_topic.yaml").write_text("title: a\nintro: b\n", encoding="utf-8")
    (bank / "zz" / "share.yaml").write_text(QUESTION, encoding="utf-8")
    start = START.format(record=str(record), bank=str(bank))
    home = {"QUIZKIT_HOME": str(tmp_path / "home"), "QUIZKIT_CACHE": str(tmp_path / "cache")}
    env = {**os.environ, **home, "QUIZKIT_LANG": "en"}

    return ["-c", start], env


@pytest.fixture
def quizkit(tool: Tool) -> Quizkit:
    """The same, with words, waited for."""
    start, env = tool
    return lambda *words: started.python([*start, *words], env)


@pytest.mark.demo
def test_what_was_recorded_is_held_against_fresh_runs(quizkit: Quizkit, record: Path):
    done = quizkit("bank", "record")
    assert done.returncode == 0, done.stderr
    assert "holds 3 runs, 3 of them made now" in done.stderr
    assert "0 of them made now" in quizkit("bank", "record").stderr

    done = quizkit("prove", "--all", "--fresh")
    assert (done.returncode, "came out as recorded: 3" in done.stderr) == (0, True), done.stderr
    said = json.loads(quizkit("prove", "--all", "--json").stdout)
    assert said["runs"] == {"ran": 0, "cached": 3, "recorded": 0}
    assert "record" not in said  # nothing ran, so nothing was compared

    path = record / "pipeline.jsonl"
    head, first, second, *rest = path.read_text(encoding="utf-8").splitlines()
    line = json.loads(first)
    measured = line["metrics"]["bubble_1f1b"]
    line["metrics"]["bubble_1f1b"] = measured * 1.01
    path.write_text("\n".join([head, json.dumps(line), *rest]) + "\n", encoding="utf-8")
    done = quizkit("prove", "--all", "--fresh")
    assert done.returncode == 1
    wrong = f"zz/share: bubble_1f1b: recorded {measured * 1.01}, now {measured}"
    assert wrong in done.stderr
    planted = json.loads(second)
    assert "as pipeline is now: 1 of its runs, as for zz/share (pipeline --ranks " in done.stderr
    assert f"microbatches={planted['args']['microbatches']}" in done.stderr
    assert "came out as recorded: 1" in done.stderr

    assert "1 of them made now" in quizkit("bank", "record").stderr  # what is there stays
    done = quizkit("bank", "record", "--fresh")
    assert "3 of them made now" in done.stderr
    done = quizkit("prove", "--all", "--fresh", "--json")
    assert json.loads(done.stdout)["record"] == {
        "same": 3, "near": 0, "differing": [], "missing": []
    }  # fmt: skip


@pytest.mark.demo
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_was_recorded_is_kept_whoever_ends_the_rest(
    family, tool: Tool, record: Path, tmp_path: Path, how: signal.Signals, code: int
):
    rows = ", ".join(f"{{p: {2 + m % 3}, m: {m}}}" for m in range(3, 40))
    one = tmp_path / "bank" / "zz" / "share.yaml"
    one.write_text(re.sub(r"at: .*", f"at: [{rows}]", QUESTION), encoding="utf-8")
    start, env = tool
    with started.Told(*start, "bank", "record", env=env) as program:
        for _ in range(2):  # a run is named when the one before it has been kept
            program.said.readline()
        program.signal(how)
        said = program.said.read()
    assert program.wait() == code, said
    family.becomes(0)
    kept = (record / "pipeline.jsonl").read_text(encoding="utf-8").splitlines()
    assert 2 <= len(kept) < 38  # where they were made, and what was


REPORT = ROOT / "tests" / "lab" / "reports" / "pipeline.json"


def test_what_another_torch_recorded_is_not_compared(tmp_path: Path):
    demos = catalogue()
    data = json.loads(REPORT.read_text(encoding="utf-8"))
    made = Record(tmp_path, demos, "recorded")
    made.put(Report.from_json(data | {"torch": "2.11.0"}))
    made.write()
    now = Report.from_json(data)
    wanted = Setting(now.demo, now.ranks, tuple(now.args.items()))
    found = compare({wanted: "pp/x"}, {wanted: now}, Record(tmp_path, demos, "recorded"))
    assert (found.same, found.differing, found.missing) == (0, [], [])
    assert (found.same, *found.differing, *found.missing) == (0,)
    assert found.elsewhere["pipeline"].torch == "2.11.0"
    assert found.holds
