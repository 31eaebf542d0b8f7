"""The wheel holds the content, and the quiz alone runs where there is no torch."""

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from quizkit.paths import DEMOS

pytestmark = pytest.mark.wheel
ROOT = DEMOS.parent


def run(*command: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    base = {"PATH": "/usr/bin:/bin", "HOME": str(cwd), "LANG": "C.UTF-8"}
    return subprocess.run(
        words, cwd=cwd, env=base | environment, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "-w",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(command, check=True, timeout=300)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel and its dependencies, and nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "pip"), "install", "-q", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, str(wheel)], check=True, timeout=300)
    return folder / "bin"


def content(folder: str) -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {line for line in listed.stdout.split("\n") if line and "README" not in line}


def test_all_content_is_in_it_and_nothing_lies_beside_it(wheel: Path):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("questions", "demos"):
        assert {f"quizkit/_content/{name}" for name in content(folder)} <= names
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"quizkit"}


def test_the_record_of_every_proof_s_runs_is_in_it_and_small(wheel: Path, bare: Path):
    kept = [each for each in zipfile.ZipFile(wheel).infolist() if "/_record/" in each.filename]
    assert sum(each.compress_size for each in kept) < 1_000_000
    script = """
from quizkit.bank.reader import Bank
from quizkit.lab.catalogue import catalogue
from quizkit.paths import QUESTIONS
from quizkit.proof.kept import shipped
from quizkit.proof.prove import distinct
demos = catalogue()
record = shipped(demos)
runs = distinct(Bank.load(QUESTIONS).questions.values(), demos)
print(len(runs), *(each.demo for each in runs if not record.get(each)))
"""
    done = run(bare / "python", "-c", script, cwd=wheel.parent)
    wanted, *lacking = done.stdout.split()
    assert (lacking, int(wanted) > 500) == ([], True), "quizkit bank record makes it"


def test_the_quiz_runs_without_torch(bare: Path, tmp_path: Path):
    listed = run(bare / "quizkit", "list", "--json", cwd=tmp_path)
    questions = json.loads(listed.stdout)["questions"]
    assert len(questions) == sum(
        name.endswith(".yaml") and "/_" not in name and "/mocks/" not in name
        for name in content("questions")
        if name.count("/") == 2
    )
    found = run(bare / "quizkit", "search", "气泡", "--json", cwd=tmp_path)
    assert json.loads(found.stdout)["questions"]


def test_without_torch_a_proof_shows_what_was_recorded_and_is_not_called_proved(
    bare: Path, tmp_path: Path
):
    ask = (bare / "quizkit", "prove", "pp/gpipe-or-1f1b", "--lang", "en")
    done = run(*ask, cwd=tmp_path)
    assert done.returncode == 3
    assert "recorded  pp/gpipe-or-1f1b" in done.stderr
    assert "0 proved" in done.stderr
    assert "bubble_1f1b = " in done.stderr
    done = run(*ask, "--fresh", cwd=tmp_path)
    assert done.returncode == 3
    assert "skipped" in done.stderr
    assert "pip install torch" in done.stderr
    demo = run(bare / "quizkit", "demo", "all-reduce", "--lang", "en", cwd=tmp_path)
    assert demo.returncode == 3
    assert "pip install torch" in demo.stderr
