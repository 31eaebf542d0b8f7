"""Ctrl-C at the worst moments: in the middle of an import, and when all is said and done."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from quizkit.cli import app, home

# As a callback of a weak reference does.
SWALLOWED = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000): pass
except KeyboardInterrupt:
    pass
"""


def started(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """A program with `folder` before all else it could import from."""
    return subprocess.run(
        [sys.executable, "-m", *words],
        env={**os.environ, "PYTHONPATH": str(folder), "QUIZKIT_HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("module", "words"), [("typer", ["due"]), ("rich", ["demo", "pipeline"])])
def test_in_the_middle_of_an_import(tmp_path: Path, module: str, words: list[str], family) -> None:
    (tmp_path / f"{module}.py").write_text(SWALLOWED, encoding="utf-8")
    done = started(tmp_path, "quizkit", *words)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_when_the_exit_code_is_settled(tmp_path: Path) -> None:
    late = "import atexit, os, signal\natexit.register(os.kill, os.getpid(), signal.SIGINT)\n"
    (tmp_path / "sitecustomize.py").write_text(late, encoding="utf-8")
    done = started(tmp_path, "quizkit", "--version")
    assert (done.returncode, done.stderr) == (0, "")


def test_one_that_was_dealt_with_leaves_the_exit_code_alone(tmp_path: Path) -> None:
    own = """
import sys
from quizkit.interrupt import over
try:
    exec("raise KeyboardInterrupt")
except KeyboardInterrupt:
    pass
{}
sys.exit(5)
"""
    (tmp_path / "own.py").write_text(own.format("over()"), encoding="utf-8")
    assert started(tmp_path, "own").returncode == 5
    (tmp_path / "own.py").write_text(own.format(""), encoding="utf-8")
    assert started(tmp_path, "own").returncode == -2  # why over() does what it does


def test_one_that_came_out_as_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def torn(plain: bool) -> None:
        raise RuntimeError from KeyboardInterrupt()

    monkeypatch.setattr(home, "home", torn)
    monkeypatch.setattr(sys, "argv", ["quizkit"])
    assert app.run() == 130
