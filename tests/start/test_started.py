"""What is tested in forks is what interpreters of their own do: here is one for every command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import started

LINES = {
    "": "",
    "bank flags": "",
    "calc kv --json": "",
    "config": "",
    "data --export": "",
    "demo pipelin": "",
    "doctor --nonsense": "",
    "due": "",
    "export sheet --topic ppp": "",
    "learn pp --seed 1": "n\n",
    "mock --list": "",
    "plan --json": "",
    "prove --topic ppp": "",
    "search bubble": "",
    "show pp/bubble-share --lang zh": "",
    "stats": "",
    "study --topic pp --seed 1 --limit 1": "b\n\n",
}


def alone(*words: str, env: dict[str, str], given: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "quizkit", *words]
    return subprocess.run(
        command, input=given, capture_output=True, text=True, env=env, timeout=60, check=False
    )


@pytest.mark.parametrize("line", LINES)
def test_a_fork_says_what_an_interpreter_of_its_own_says(tmp_path: Path, line: str):
    told: list[tuple[int, str, str]] = []
    for run in (started.quizkit, alone):
        home = tmp_path / str(len(told))
        env = os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en"}
        done = run(*line.split(), env=env, given=LINES[line])
        said = (each.replace(str(home), "HOME") for each in (done.stdout, done.stderr))
        told.append((done.returncode, next(said), next(said)))
    assert told[0] == told[1]
    assert told[0][1] or told[0][2]


def test_a_fork_at_a_terminal_draws_what_an_interpreter_of_its_own_draws(tmp_path: Path, terminal):
    drawn: list[tuple[int, str]] = []
    for program in ([], [sys.executable]):
        words = ["-m", "quizkit", "study", "--kind", "choice", "--topic", "pp", "--seed", "1"]
        home = {"QUIZKIT_HOME": str(tmp_path / str(len(drawn))), "QUIZKIT_LANG": "en"}
        desk = terminal([*program, *words], **home)
        desk.until("? help")
        assert not desk.echoes
        desk.press("\x03")
        drawn.append((desk.close(), desk.text))
        assert desk.echoes
    assert drawn[0] == drawn[1]
    assert drawn[0][0] == 130


def test_a_fork_has_nothing_of_the_one_before(tmp_path: Path):
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": "zh"}
    assert "到期 0 题" in started.quizkit("due", env=env).stdout
    assert "0 due" in started.quizkit("due", env=env | {"QUIZKIT_LANG": "en"}).stdout
    (tmp_path / "config.yaml").write_text("lang: zh\n", encoding="utf-8")
    assert "到期 0 题" in started.quizkit("due", env=env | {"QUIZKIT_LANG": ""}).stdout
