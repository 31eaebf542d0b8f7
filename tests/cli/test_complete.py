"""What the Tab key offers, by the protocol that shells speak, and what it loads."""

import json
import os
import subprocess
import sys
from pathlib import Path

HEAVY = {"torch", "numpy", "yaml", "sqlite3", "rich.console", "prompt_toolkit", "fsrs"}
# A shell would start a process for each press; one for all of them answers the same.
SHELL = f"""
import io, json, os, sys
from contextlib import redirect_stdout, suppress
from quizkit.cli.app import app
found = []
for line in json.load(sys.stdin):
    told = {{"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}}
    os.environ.update(told, _QUIZKIT_COMPLETE="complete_bash")
    with redirect_stdout(io.StringIO()) as out, suppress(SystemExit):
        app(prog_name="quizkit")
    found.append(out.getvalue().split())
json.dump([found, sorted({HEAVY!r} & set(sys.modules))], sys.stdout)
"""
LINES = {
    "quizkit calc al": {"allreduce"},
    "quizkit calc memory --model deepseek": {"deepseek-v2", "deepseek-v3"},
    "quizkit calc memory --gpu h10": {"h100", "h100-pcie"},
    "quizkit study --topic c": {"comm", "cp", "compress"},
    "quizkit study pp/one-at-a-time pp/bubble-s": {"pp/bubble-share"},
    "quizkit learn p": {"pp", "perf"},
    "quizkit study --topic fs": {"fsdp", "fsdp-2"},
    "quizkit learn 流": {"流水线", "流水线并行"},
    "quizkit demo 1f": {"1f1b"},
    "quizkit demo 1f1b --break no-c": {"no-cooldown"},
    "quizkit show pp/bubble-s": {"pp/bubble-share"},
    "quizkit prove pp/one-at-a-time pp/bubble-s": {"pp/bubble-share"},
    "quizkit demo pipeline-d": {"pipeline-data", "pipeline-dualpipe"},
    "quizkit demo pipeline --break no-c": {"no-cooldown"},
    "quizkit mock pipe": {"pipeline-screen"},
    "quizkit study --kind c": {"choice", "cloze"},
    "quizkit config new": {"new_per_day"},
    "quizkit config plain t": {"true"},
}


def offered(home: Path, lines: list[str]) -> list[list[str]]:
    """What bash would be offered at the end of each line; nothing heavy may have been loaded."""
    done = subprocess.run(
        [sys.executable, "-c", SHELL],
        input=json.dumps(lines),
        capture_output=True,
        text=True,
        env=os.environ | {"QUIZKIT_HOME": str(home)},
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    found, heavy = json.loads(done.stdout)
    assert heavy == []
    return found


def test_what_begins_so_is_offered(tmp_path: Path):
    for found, (line, wanted) in zip(offered(tmp_path, [*LINES]), LINES.items(), strict=True):
        assert wanted <= {*found}, line
        assert all(each.startswith(line.split(" ")[-1]) for each in found), line


def test_own_shelves_are_offered_and_a_broken_file_is_no_noise(tmp_path: Path):
    shelf = tmp_path / "mine" / "zebra"
    shelf.mkdir(parents=True)
    (shelf / "stripes.yaml").write_text("kind: [", encoding="utf-8")
    (tmp_path / "config.yaml").write_text(f"bank: [{tmp_path / 'mine'}]\n", encoding="utf-8")
    assert offered(tmp_path, ["quizkit show zeb"]) == [["zebra/stripes"]]
    (tmp_path / "config.yaml").write_text("bank: [/nowhere/at-all]\nnonsense\n", encoding="utf-8")
    assert offered(tmp_path, ["quizkit show zeb"]) == [[]]
