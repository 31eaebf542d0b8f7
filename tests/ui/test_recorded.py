"""Without torch a proof shows the run that was recorded, and says on every way that it is one."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import started

from quizkit.lab.catalogue import find
from quizkit.lab.record import Record
from quizkit.lab.report import Report, Setting
from quizkit.paths import DEMOS

ROOT = DEMOS.parent
QUESTION = """
kind: numeric
level: 2
prompt: {zh: "气泡占整步多少？（p={p}，m={m}）", en: "Which share is bubble? (p={p}, m={m})"}
explain: {zh: 数, en: count}
params: {p: [4], m: [3]}
answer: (p - 1) / (m + p - 1)
proof:
  demo: pipeline
  ranks: =p
  args: {microbatches: =m}
  at: [{p: 4, m: 3}, {p: 3, m: 5}, {p: 2, m: 9}]
  claims: ["isclose(bubble_1f1b, answer)"]
"""
ROWS = ((4, 3), (3, 5), (2, 9))
REPORT = ROOT / "tests" / "lab" / "reports" / "pipeline.json"
WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
from pathlib import Path
import quizkit.paths
quizkit.paths.RECORD = Path({record!r})
quizkit.paths.QUESTIONS = Path({bank!r})
from quizkit.__main__ import main
main()
"""
SAYS = {
    "en": ("recorded with torch 2.13.0, gloo on cpu; not run here", "The recorded run bears out"),
    "zh": ("附带的记录，没在这里跑：torch 2.13.0，cpu 上的 gloo", "这份记录支持"),
}


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A record of the runs that `zz/share` asks for."""
    demo = find("pipeline")
    data: dict[str, Any] = json.loads(REPORT.read_text(encoding="utf-8"))
    made = Record(tmp_path / "record", {"pipeline": demo}, "recorded")
    for p, m in ROWS:
        data["args"] = dict(demo.filled(Setting("pipeline", p, (("microbatches", m),))).args)
        data |= {"ranks": p, "metrics": {"bubble_1f1b": (p - 1) / (m + p - 1)}}
        made.put(Report.from_json(data))
    made.write()
    return tmp_path / "record"


@pytest.fixture
def command(record: Path, tmp_path: Path) -> Callable[..., list[str]]:
    bank = tmp_path / "bank"
    (bank / "zz").mkdir(parents=True)
    (bank / "zz" / "_topic.yaml").write_text("title: a\nintro: b\n", encoding="utf-8")
    (bank / "zz" / "share.yaml").write_text(QUESTION, encoding="utf-8")
    start = WITHOUT_TORCH.format(record=str(record), bank=str(bank))

    def words(*words: str) -> list[str]:
        return ["-c", start, *words]

    return words


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_p_shows_the_recorded_run_and_says_so(terminal, command, tmp_path: Path, lang: str):
    words = command("study", "zz/share", "--lang", lang)
    desk = terminal(words, 100, 60, QUIZKIT_HOME=str(tmp_path / "home"))
    desk.until("p=4")
    desk.press("1/2", "\r")
    desk.until("0.5")
    desk.press("p")
    head, end = SAYS[lang]
    desk.until(head)
    desk.press("v")
    screen = "".join(desk.until(end).split())
    torch = screen.index("torch2.13.0")
    assert torch < screen.index("bubble_1f1b=")
    for running in ("Running pipeline", "正在跑"):
        assert running.encode() not in desk.raw


def test_a_record_that_does_not_fit_the_demo_is_not_shown(
    terminal, command, record: Path, tmp_path: Path
):
    path = record / "pipeline.jsonl"
    text = path.read_text(encoding="utf-8")
    head = json.loads(text.split("\n")[0])
    path.write_text(text.replace(head["content"], "0" * 32), encoding="utf-8")
    words = command("study", "zz/share", "--lang", "en")
    desk = terminal(words, 100, 60, QUIZKIT_HOME=str(tmp_path / "home"))
    desk.until("p=4")
    desk.press("1/2", "\r")
    desk.until("0.5")
    desk.press("p")
    desk.until("pip install torch")
    assert "bubble_1f1b" not in desk.text


def run(words: list[str], home: Path, given: str = "") -> "subprocess.CompletedProcess[str]":
    return started.python(words, {"PATH": "/usr/bin:/bin", "QUIZKIT_HOME": str(home)}, given)


def test_lines_and_json_say_so_too(command, tmp_path: Path):
    words = command("study", "zz/share", "--plain", "--lang", "en")
    told = run(words, tmp_path / "one", "1/2\n:p\n:q\n")
    assert SAYS["en"][0] in told.stdout
    assert "Running" not in told.stdout + told.stderr
    given = '{"answer": "1/2"}\n{"command": "prove"}\n{"command": "quit"}\n'
    told = run(command("study", "zz/share", "--json"), tmp_path / "two", given)
    said = [json.loads(line) for line in told.stdout.splitlines()]
    report = next(each["proof"] for each in said if "proof" in each)
    assert (report["origin"], report["seconds"], report["torch"]) == ("recorded", None, "2.13.0")


def test_prove_counts_it_apart_and_proves_nothing(command, tmp_path: Path):
    done = run(command("prove", "zz/share", "--json"), tmp_path)
    said = json.loads(done.stdout)
    assert done.returncode == 3, done.stderr
    assert (said["proved"], said["recorded"], said["skipped"]) == (0, 1, 0)
    assert said["runs"] == {"ran": 0, "cached": 0, "recorded": 3}
    (row,) = said["results"]
    assert (row["status"], row["runs"]["recorded"]) == ("recorded", 3)
    for lang, word in (("en", "recorded"), ("zh", "按记录")):
        told = run(command("prove", "zz/share", "--lang", lang), tmp_path).stderr
        assert f"{word}  zz/share" in told
    done = run(command("prove", "zz/share", "--fresh", "--json"), tmp_path)
    said = json.loads(done.stdout)
    assert (done.returncode, said["recorded"], said["skipped"]) == (3, 0, 1)
