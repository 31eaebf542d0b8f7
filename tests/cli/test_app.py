"""The front door: what it says of a wrong word, and with which code it leaves."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import started
from rich.cells import cell_len

from quizkit.paths import QUESTIONS

MAIN = "from quizkit.__main__ import main; main()"
QUIZKIT = [sys.executable, "-m", "quizkit"]


def run(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en"} | more
    return started.quizkit(*words, env=env)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--version"], 0, ""),
        (["nonsense"], 2, "quizkit has no command nonsense."),
        (["study", "--topic", "ppp"], 2, "There is no topic ppp. Try: pp."),
        (["study", "--nonsense"], 2, "quizkit study has no option --nonsense."),
        (["study", "--lang", "fr"], 2, "choose zh or en"),
        (
            ["show", "pp/bubble-shar"],
            2,
            "There is no question pp/bubble-shar. Try: pp/bubble-share.",
        ),
        (["show", "zzzz"], 2, "There is no question zzzz. Try: "),
        (["prove"], 2, "Name questions, or --topic TOPIC, or --all"),
        (["prove", "pp/nothing-like-it"], 2, "There is no question pp/nothing-like-it"),
        (["bank", "new", "pp/x", "--kind", "choise"], 2, "There is no kind choise. Try: choice."),
        (["bank", "new", "x", "--kind", "choice"], 2, "x is no question id"),
        (["demo", "pipelime"], 2, "There is no demo named pipelime. Try: pipeline."),
        (["demo", "pipelin"], 2, "Several demos go by pipelin: pipeline, pipeline-async, "),
        (["mock", "pipeline-scren"], 2, "pipeline-screen"),
        (["search", "xyzzy plugh"], 1, "No question holds"),
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
    assert len(done.stderr) < 300  # not all there is, where nothing is near


def test_the_bare_command_offers_the_placement_until_there_is_a_level(tmp_path: Path):
    told = run(tmp_path).stdout
    assert told.index("quizkit place") < told.index("quizkit learn pp")
    assert run(tmp_path, "config", "level", "2").returncode == 0
    told = run(tmp_path).stdout
    assert "quizkit place" not in told
    assert "quizkit learn pp" in told


@pytest.mark.parametrize(
    "words",
    [
        ["bank", "lint", "--bank", "typo"],
        ["prove", "--all", "--bank", "typo"],
        ["study", "--json", "--bank", "typo"],
        ["list", "--bank", "typo"],
        ["search", "ring", "--bank", "typo"],
        ["mock", "--list", "--bank", "typo"],
    ],
)
def test_a_bank_that_is_not_there_is_not_taken_for_an_empty_one(tmp_path: Path, words: list[str]):
    done = run(tmp_path, *words)
    assert (done.returncode, done.stdout) == (4, "")
    assert "Cannot read the questions in typo: No such file or directory" in done.stderr


@pytest.mark.parametrize(
    ("home", "said"), [("~nobody-of-this-name/x", "home directory"), ("/proc/x", "No such file")]
)
def test_a_home_that_cannot_be_is_told_and_is_needed_for_answers_alone(home: str, said: str):
    done = run(Path(home), "due", QUIZKIT_LANG="", LC_ALL="C")
    assert (done.returncode, done.stdout) == (4, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert run(Path(home), "list", QUIZKIT_LANG="", LC_ALL="C").returncode == 0


def test_a_config_that_is_no_text_is_no_reason_to_stop(tmp_path: Path):
    (tmp_path / "config.yaml").write_bytes(b"# note: \xff\nlang: zh\n")
    assert "到期 0 题" in run(tmp_path, "due", QUIZKIT_LANG="").stdout


@pytest.mark.parametrize("deadline", ["-1", "0", "nan", "inf", "1e9"])
@pytest.mark.parametrize("words", [["demo", "pipeline"], ["demo", "--all"], ["prove", "--all"]])
def test_a_deadline_is_looked_at_before_anything_runs(
    tmp_path: Path, words: list[str], deadline: str
):
    done = run(tmp_path, *words, "--deadline", deadline)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--deadline takes 0 < S <= 86400, not" in done.stderr
    assert len(done.stderr.splitlines()) == 1


# Python writes at once and forgets what did not fit where it is told to (as containers do).
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["list", "--json"], ["calc", "memory", "--help"]])
def test_a_full_disk_is_one_sentence(tmp_path: Path, words: list[str], unbuffered: str):
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": "en"}
    env |= {"PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"}
    run(tmp_path, "list")  # the index is there, and only what is printed does not fit

    def onto(place: Path, limit: str) -> tuple[int, str]:
        line = f"{limit} {' '.join(QUIZKIT + words)} > {place}"
        done = subprocess.run(["bash", "-c", line], stderr=subprocess.PIPE, env=env, text=True)
        return done.returncode, done.stderr

    said = "quizkit: Cannot write stdout: {}\n"
    assert onto(Path("/dev/full"), "") == (1, said.format("No space left on device"))
    # One block of 1024 bytes goes in: what is cut short is no success either.
    assert onto(tmp_path / "out", "ulimit -f 1; ") == (1, said.format("File too large"))


def test_a_damaged_cache_is_made_anew(tmp_path: Path):
    bank = tmp_path / "bank"
    shutil.copytree(QUESTIONS / "pp", bank / "pp")
    start = f"from quizkit import paths; paths.QUESTIONS = paths.Path({str(bank)!r}); {MAIN}"
    home = {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_CACHE": str(tmp_path / "cache")}

    def told(words: tuple[str, ...]) -> str:
        done = started.python(["-c", start, *words], os.environ | home)
        assert done.returncode == 0, done.stderr
        return re.sub(r"\d+-\d+-\d+T[\d:.+]+", "now", done.stdout)

    commands = (
        ("list", "--json"),
        ("search", "bubble", "--json"),
        ("study", "--json", "--seed", "1", "--limit", "1"),
    )
    wanted = {words: told(words) for words in commands}
    (file,) = (tmp_path / "cache").glob("bank-*.sqlite3")
    # What a crash of the machine may leave: which files were read is there, what they hold is not.
    with closing(sqlite3.connect(file)) as database:
        query = "select rootpage from sqlite_master where name in ('entries', 'texts', 'notes')"
        roots = [page for (page,) in database.execute(query)]
    bad = bytearray(file.read_bytes())
    for page in roots:
        bad[(page - 1) * 4096 : page * 4096] = bytes(4096)
    for words in commands:
        file.write_bytes(bad)
        assert told(words) == wanted[words]
    assert told(commands[0]) == wanted[commands[0]]
    assert file.read_bytes() != bad


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


def test_the_list_of_commands_speaks_the_readers_language(tmp_path: Path):
    assert "限时模拟面试" in run(tmp_path, "--help", QUIZKIT_LANG="zh").stdout
    english = run(tmp_path, "--help").stdout
    assert "A timed mock interview" in english
    assert "限时模拟面试" not in english


def test_what_is_flagged_is_listed_until_the_flag_is_taken_off(tmp_path: Path):
    assert "Nothing is flagged" in run(tmp_path, "bank", "flags").stderr
    lines = ['{"command": "flag", "value": "which convention?"}', '{"command": "quit"}']
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": "en"}
    words = ["study", "--json", "--topic", "pp"]
    asked = started.quizkit(*words, env=env, given="\n".join(lines))
    said = [json.loads(line) for line in asked.stdout.splitlines()]
    question = next(line["ask"]["id"] for line in said if "ask" in line)
    listed = json.loads(run(tmp_path, "bank", "flags", "--json").stdout)["flags"]
    assert [flag["question"] for flag in listed] == [question]
    assert question in run(tmp_path, "bank", "flags").stdout
    file = tmp_path / "flags.md"
    assert "1 flags are written" in run(tmp_path, "bank", "flags", "--write", str(file)).stderr
    told = file.read_text(encoding="utf-8")
    assert f"## {question}\n" in told
    assert "- comment: which convention?" in told
    assert f"- file: questions/{question}.yaml, edition {listed[0]['edition']} (as it is" in told
    assert "- expected: " in told
    assert str(tmp_path) not in told
    refused = run(tmp_path, "bank", "flags", "--write", str(tmp_path / "no" / "x.md"))
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("data --merge -", 4),
        ("data --erase", 2),
        ("data --reset pp", 2),
        ("mock pipeline-screen", 130),
        ("study", 0),
    ],
)
def test_a_standard_input_that_is_closed_has_ended(tmp_path: Path, words: str, code: int):
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": "en"}
    line = ["bash", "-c", f"exec {' '.join(QUIZKIT)} {words} <&-"]
    done = subprocess.run(line, capture_output=True, text=True, env=env, timeout=60, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_standard_output_there_is_one_sentence(tmp_path: Path):
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": "en"}
    line = f"{' '.join(QUIZKIT)} study </dev/null >&-"
    done = subprocess.run(
        ["bash", "-c", line], stderr=subprocess.PIPE, text=True, env=env, timeout=60, check=False
    )
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "stdout" in done.stderr


@pytest.mark.parametrize("program", [[], [sys.executable]])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_narrow_terminal_cuts_no_word(
    tmp_path: Path, terminal, lang: str, program: list[str]
) -> None:
    unbuffered = (
        {"PYTHONUNBUFFERED": "1"} if program else {}
    )  # an interpreter reads it at its start
    for words in (["--plain"], ["data", "--reset", "pp", "--undo"]):
        home = {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": lang}
        at = terminal([*program, "-m", "quizkit", *words], 60, 24, **home, **unbuffered)
        at.close()
        lines = at.raw.decode().replace("\r", "").split("\n")
        assert max(map(cell_len, lines)) <= 60
        if words == ["--plain"]:
            assert any(line.endswith("  quizkit place") for line in lines)


def test_what_ctrl_c_says_stands_below_the_prompt(tmp_path: Path, terminal) -> None:
    words = ["-m", "quizkit", "study", "pp/four-stuck-in-send", "--plain"]
    at = terminal(words, QUIZKIT_HOME=str(tmp_path), QUIZKIT_LANG="en")
    at.until("\n>")
    at.press("\x03")
    at.close()
    assert "\nLeft; every answer is kept." in at.raw.decode().replace("\r", "")
