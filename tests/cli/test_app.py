"""The front door: what it says of a wrong word, and with which code it leaves."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

QUIZKIT = [sys.executable, "-m", "quizkit"]


def run(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en"} | more
    command = [*QUIZKIT, *words]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, check=False)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--version"], 0, ""),
        (["nonsense"], 2, "No such command 'nonsense'"),
        (["study", "--topic", "ppp"], 2, "There is no topic ppp. Try: pp."),
        (["study", "--nonsense"], 2, "No such option: --nonsense"),
        (["study", "--lang", "fr"], 2, "choose zh or en"),
        (
            ["show", "pp/bubble-shar"],
            2,
            "There is no question pp/bubble-shar. Try: pp/bubble-share.",
        ),
        (["prove"], 2, "Name questions, or --topic TOPIC, or --all"),
        (["prove", "pp/nothing-like-it"], 2, "There is no question pp/nothing-like-it"),
        (["bank", "new", "pp/x", "--kind", "choise"], 2, "There is no kind choise. Try: choice."),
        (["bank", "new", "x", "--kind", "choice"], 2, "x is no question id"),
        (["demo", "pipelin"], 2, "There is no demo named pipelin. Try: pipeline."),
        (["mock", "pipeline-scren"], 2, "pipeline-screen"),
        (["search", "no such words"], 1, "No question holds"),
    ],
)
def test_a_wrong_word_has_one_clear_sentence_and_its_code(
    tmp_path: Path, words: list[str], code: int, said: str
):
    done = run(tmp_path, *words)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_alone_it_says_what_is_due_and_what_to_do(tmp_path: Path):
    done = run(tmp_path)
    assert done.returncode == 0
    assert "0 due" in done.stdout
    assert "quizkit study --topic pp" in done.stdout
    chinese = run(tmp_path, QUIZKIT_LANG="zh")
    assert "到期 0 题" in chinese.stdout


@pytest.mark.parametrize(
    ("variables", "zh"),
    [
        ({"LC_ALL": "zh_CN.UTF-8"}, True),
        ({"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, True),
        ({"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, False),
        ({"LC_ALL": "C"}, False),
    ],
)
def test_the_locale_chooses_the_language(tmp_path: Path, variables: dict[str, str], zh: bool):
    done = run(tmp_path, "due", **{"QUIZKIT_LANG": "", "LC_MESSAGES": "", **variables})
    assert ("到期" in done.stdout) is zh
    (tmp_path / "config.yaml").write_text("lang: zh\n")
    done = run(tmp_path, "due", **{"QUIZKIT_LANG": "", "LC_MESSAGES": "", **variables})
    assert "到期" in done.stdout


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path):
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path)}
    line = f"{' '.join(QUIZKIT)} list | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, env=env, timeout=60, check=False
    )
    assert done.returncode == 0
    assert done.stderr == ""


def test_ctrl_c_leaves_with_130_and_no_traceback(tmp_path: Path):
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path)}
    command = [*QUIZKIT, "study", "--json"]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    )
    assert child.stdout is not None
    assert "ask" in json.loads(child.stdout.readline())
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=30)
    assert child.returncode == 130
    assert b"Traceback" not in said
