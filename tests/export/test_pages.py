"""Markdown through the command; and what is left out."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quizkit.cli.app import app

SHELF = Path(__file__).parents[1] / "ui" / "shelf"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with an index, and a bank with one topic of its own."""
    folder = tmp_path_factory.mktemp("home")
    shutil.copytree(SHELF / "pp", folder / "bank" / "zebra")
    return folder


def export(home: Path, *words: str) -> str:
    own = ["--bank", str(home / "bank"), "--topic", "zebra"]
    env = {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en"}
    done = CliRunner().invoke(app, ["export", *words, *own], env=env, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_a_folder_has_a_page_for_each_topic(home: Path, tmp_path: Path):
    said = json.loads(export(home, "markdown", str(tmp_path / "md"), "--lang", "both", "--json"))
    assert said == {
        "schema": "quizkit/export/1",
        "file": str(tmp_path / "md"),
        "questions": 7,
        "left": ["zebra/bug"],
    }
    assert {each.name for each in (tmp_path / "md").iterdir()} == {"README.md", "zebra.md"}
    page = (tmp_path / "md" / "zebra.md").read_text(encoding="utf-8")
    assert page.count("\n## zebra/") == 7
    assert page.count("<details>\n<summary>") == page.count("\n\n</details>") == 14
    for block in re.findall(r"<summary>.*?</details>", page, re.DOTALL):
        assert "</summary>\n\n" in block
    front = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    assert "Which are true?" in front
    assert "哪些说法对？" in front
    for answer in ("Answer", "答案", "beta is wrong"):
        assert answer not in front
    assert "(zebra.md) · 7" in (tmp_path / "md" / "README.md").read_text(encoding="utf-8")


def test_one_language_in_one_file_or_on_stdout(home: Path, tmp_path: Path):
    export(home, "markdown", str(tmp_path / "all.md"), "--lang", "zh")
    page = (tmp_path / "all.md").read_text(encoding="utf-8")
    assert "哪些说法对？" in page
    assert "Which are true?" not in page
    assert export(home, "markdown", "--lang", "zh") == page


def test_anki_through_the_command(home: Path, tmp_path: Path):
    said = export(home, "anki", str(tmp_path / "z.apkg"))
    assert said == f"7 questions written to {tmp_path / 'z.apkg'}\n"
    assert (tmp_path / "z.apkg").read_bytes()[:2] == b"PK"


@pytest.mark.parametrize(
    "words", [["anki", "out.apkg"], ["markdown", "out.md"], ["sheet", "out.html"]]
)
def test_a_full_disk_leaves_the_file_of_before(home: Path, tmp_path: Path, words: list[str]):
    out = tmp_path / words[1]
    out.write_text("of before")
    env = os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en", "TMPDIR": str(tmp_path)}
    own = ["--bank", str(home / "bank"), "--topic", "zebra"] if words[0] != "sheet" else []
    command = [sys.executable, "-B", "-m", "quizkit", "export", words[0], str(out), *own]
    # No file can grow past a block of 1024 bytes: what a full disk does.
    limited = ["bash", "-c", 'ulimit -f 1; exec "$@"', "", *command]
    done = subprocess.run(limited, capture_output=True, text=True, env=env)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("quizkit: Cannot write ")
    assert done.stderr.count("\n") == 1
    assert out.read_text() == "of before"
    assert [*tmp_path.iterdir()] == [out]
