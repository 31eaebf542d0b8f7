"""`quizkit calc` as a person or a program meets it: real processes, real files."""

import json
import os
import re
import shlex
import subprocess
import sys
import unicodedata
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest
import started
from typer.testing import CliRunner

from quizkit.bank.model import Numeric
from quizkit.calc.sheets import NAMES, sheet
from quizkit.cli.app import app
from quizkit.cli.calc_quiz import question
from quizkit.tutor.asked import ask
from quizkit.tutor.grade import grade
from quizkit.ui.screens.sum_page import EXAMPLES

MEMORY = ("calc", "memory", "--params", "7.5B", "--dp", "64")
PIPELINE = ("calc", "pipeline", "--stages", "4", "--microbatches", "8")


def run(home: Path, *words: str, given: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en", "COLUMNS": "80"} | more
    return started.quizkit(*words, env=env, given=given)


def data(home: Path, *words: str) -> dict[str, Any]:
    done = run(home, *words, "--json")
    assert (done.returncode, done.stderr) == (0, "")

    def refused(name: str) -> None:
        pytest.fail(f"{name} is no JSON")

    return json.loads(done.stdout, parse_constant=refused)


def columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_alone_it_shows_what_one_can_ask_and_a_line_to_paste(
    tmp_path: Path, lang: str, plain: bool
):
    words = ["calc", "--lang", lang, *(["--plain"] if plain else [])]
    done = CliRunner().invoke(app, words, env={"QUIZKIT_HOME": str(tmp_path), "COLUMNS": "80"})
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(columns, lines)) <= 80
    listed = [re.split(r"[ :：]", line[2:])[0] for line in lines if line.startswith("  ")]
    assert sorted(listed) == sorted(EXAMPLES)
    head = [line for line in lines[: lines.index("")] if not line.startswith("  ")]
    assert len(head) == 5  # the questions: no line of a calculator goes on on a second one
    (line,) = (line for line in lines if line.startswith("quizkit calc memory"))
    pasted = CliRunner().invoke(app, [*shlex.split(line)[1:], "--json"])
    assert json.loads(pasted.stdout)["max_params"] > 70e9


def test_programs_get_every_calculator_with_an_example(tmp_path: Path):
    listed = data(tmp_path, "calc")["calculators"]
    assert {each["name"] for each in listed} >= {*NAMES}
    assert all(each["example"].startswith("quizkit calc " + each["name"]) for each in listed)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_runs_and_json_has_every_figure_with_its_formula(tmp_path: Path, name: str):
    words = shlex.split(EXAMPLES[name])[1:]
    found = data(tmp_path, *words)
    assert found["schema"] == f"quizkit/calc.{name}/1"
    figures = {each.name: each for each in sheet(name).figures}
    about = {"schema", "inputs", "given", "filled", "filled_from", "units", "formulas"}
    shown = set(found) - about
    assert shown
    assert shown == set(found["units"]) == set(found["formulas"])
    for each in shown:
        assert found["units"][each] == figures[each].unit
        assert found["formulas"][each]["source"] == figures[each].source
        assert found["formulas"][each]["formula"] == figures[each].formula
        assert found["formulas"][each]["filled"]
    assert set(found["inputs"]) == {each.name for each in sheet(name).inputs}
    given = {word[2:].replace("-", "_") for word in words if word.startswith("--")}
    assert set(found["given"]) == given - {"model", "gpu"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_screen_fits_and_says_defaults(tmp_path: Path, name: str, lang: str):
    # In this process: a process for each of these screens would take most of a minute.
    words = shlex.split(EXAMPLES[name])[1:]
    for more in ([], ["--explain"], ["--help"]):
        for width in (60, 80, 120) if not more else (60, 120):
            env = {"QUIZKIT_HOME": str(tmp_path), "COLUMNS": str(width)}
            done = CliRunner().invoke(app, [*words, *more, "--lang", lang], env=env)
            assert (done.exit_code, done.stderr) == (0, "")
            assert max(map(columns, done.stdout.splitlines())) <= width
            assert "\x1b" not in done.stdout
            word = {"en": "default", "zh": "默认"}[lang]
            assert word in done.stdout


def test_the_screen_says_gb_and_gib_and_every_byte(tmp_path: Path):
    done = run(tmp_path, *MEMORY, "--zero", "3", COLUMNS="120")
    line = next(line for line in done.stdout.splitlines() if "model states" in line)
    assert "1.875 GB = 1.746 GiB" in line
    assert "1,875,000,000 bytes" in line
    assert "Source:" not in done.stdout
    plain = run(tmp_path, *MEMORY, "--zero", "3", "--plain").stdout
    assert "\n  --zero: 3, ZeRO stage" in plain
    assert "--optimizer: adam (default), " in plain


def test_explain_puts_the_numbers_in_and_names_the_source(tmp_path: Path):
    said = run(tmp_path, *MEMORY, "--zero", "1", "--explain", COLUMNS="120").stdout
    lines = [line.strip() for line in said.splitlines()]
    at = next(i for i, line in enumerate(lines) if line.startswith("model_states_bytes ="))
    assert lines[at : at + 4] == [
        "model_states_bytes = weights_bytes + gradients_bytes + optimizer_bytes",
        "= 1.5e+10 + 1.5e+10 + 1.40625e+09",
        "= 31406250000",
        "Source: Rajbhandari et al., ZeRO, SC 2020, figure 1",
    ]
    assert "出处：Rajbhandari" in run(tmp_path, *MEMORY, "--explain", "--lang", "zh").stdout


def test_switches_go_both_ways(tmp_path: Path):
    whole = data(tmp_path, *MEMORY)["optimizer_bytes"]
    assert whole == 12 * 7_500_000_000
    assert data(tmp_path, *MEMORY, "--no-master")["optimizer_bytes"] == 8 * 7_500_000_000
    assert data(tmp_path, *MEMORY, "--no-master", "--master")["optimizer_bytes"] == whole


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["memry"], "There is no calculator memry. Try: memory."),
        (["memory", "--parms", "7B"], "calc memory has no option --parms. Try: --params."),
        (["memory", "--params"], "--params needs a value after it"),
        (["memory", "--params", "80QB"], "--params cannot read 80QB. It reads for example: 8,"),
        (["memory", "--params", "0"], "--params cannot be 0"),
        (["memory", "--fit", "80G"], "It reads for example: 64GB, 80GiB, 1e9"),
        (["memory", "--zero", "4", "--params", "7B"], "--zero has no choice 4. Try: 0|1|2|3"),
        (["memory", "7B"], "7B follows no option"),
        (["memory", "--params", "7B", "--master=no"], "--master is a switch"),
        (["memory", "--params", "7B", "--svg", "x.svg"], "calc memory has no option --svg"),
        (["--params", "7B", "memory"], "--params belongs after the name of a calculator"),
        (["kv"], "calc kv needs --layers"),
        (["memory", "--quiz", "--tp", "4"], "does not go into --tp; what it takes: --params,"),
        (["memory", "--params", "7B", "--lang", "fr"], "choose zh or en"),
        (["--check", "memory"], "takes nothing more (memory)"),
        (
            [*PIPELINE[1:-1], "6", "--schedule", "interleaved"],
            "interleaved needs a multiple of the stages",
        ),
    ],
)
def test_a_wrong_word_has_one_clear_sentence(tmp_path: Path, words: list[str], said: str):
    done = run(tmp_path, "calc", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    chinese = run(tmp_path, "calc", *words, QUIZKIT_LANG="zh")
    assert chinese.returncode == 2
    assert chinese.stderr != done.stderr or "fr" in words


@pytest.mark.parametrize(
    ("schedule", "row"),
    [  # as the demos draw the same step
        ("1f1b", "F0F1F2F3............B---F4B---F5B---F6B---F7B---..B---..B---..B---"),
        ("zb-h1", "F0F1F2F3......B0W0F4B1W1F5B2W2F6B3W3F7B4W4B5W5B6W6B7W7"),
        ("dualpipe", "F0F1F2F3B4W4F4F5B5W5F6B0W0B6W6F7B1W1B7W7B2W2B3W3"),
    ],
)
def test_an_operation_has_the_letter_that_it_has_in_the_demos(
    tmp_path: Path, schedule: str, row: str
):
    shown = run(tmp_path, *PIPELINE, "--schedule", schedule, "--plain", COLUMNS="120").stdout
    (drawn,) = [line for line in shown.splitlines() if line.startswith("rank 0 |")]
    letters = re.sub(r"[^FBW]", "", drawn.partition("|")[2])
    assert letters == re.sub(r"[^FBW]", "", row)
    assert ("W gradient of the weights" in shown) is ("W" in row)


def test_a_pipeline_is_drawn_and_said_to_be_simulated(tmp_path: Path):
    picture = tmp_path / "p.svg"
    done = run(tmp_path, *PIPELINE, "--svg", str(picture))
    assert "1f1b: simulated, not measured; 33 units of time" in done.stdout
    rank = next(line for line in done.stdout.splitlines() if line.startswith("rank 3 |"))
    assert rank.startswith("rank 3 |......F0B0--F1B1--")
    source = picture.read_text(encoding="utf-8")
    bars = [*ElementTree.fromstring(source).iter("{http://www.w3.org/2000/svg}g")]
    assert len(bars) == 4 * 8 * 2
    assert "Every bar is simulated, none is measured" in source
    assert "measured event" not in source
    assert "模拟得到，不是实测" in run(tmp_path, *PIPELINE, "--lang", "zh").stdout
    assert "rank 3" not in run(tmp_path, *PIPELINE, "--json").stdout
    refused = run(tmp_path, *PIPELINE, "--svg", str(tmp_path / "no" / "p.svg"))
    assert refused.returncode == 2
    assert "No such file" in refused.stderr


@pytest.mark.parametrize("room", [0, 1, 9, 10, 20])
def test_an_order_of_ones_own_is_played_under_its_own_name(tmp_path: Path, room: int):
    # The line that names the file wraps at 80 columns: anywhere in the name, or right behind it.
    folder = tmp_path / ("x" * (1 + (80 - room - len(f"{tmp_path}/x/mine.txt:")) % 80))
    folder.mkdir()
    order = folder / "mine.txt"
    order.write_text("F0 F1 B0 B1\nF0 B0 F1 B1\n", encoding="utf-8")
    words = ("calc", "pipeline", "--stages", "2", "--microbatches", "2", "--order", str(order))
    done = run(tmp_path, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{order}:simulated" in "".join(done.stdout.split())
    order.write_text("F0 F1 B0 B1\nB0 F0 F1 B1\n", encoding="utf-8")
    done = run(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{order}:2" in "".join(done.stderr.split())


def answers(home: Path) -> list[dict[str, Any]]:
    return json.loads(run(home, "data", "--export").stdout)["answers"]


@pytest.mark.parametrize(
    ("typed", "right", "said"),
    [
        ("31.40625 GB", True, "Right"),
        ("29.2494 GiB", True, "Right"),
        ("120", False, "that ZeRO shards states"),
        ("1.875", False, "all is sharded at stage 3"),
        ("15", False, "Wrong"),
    ],
)
def test_a_sum_asks_and_the_answer_is_kept(tmp_path: Path, typed: str, right: bool, said: str):
    done = run(tmp_path, *MEMORY, "--zero", "1", "--quiz", given=f"{typed}\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "A model of 7,500,000,000 parameters" in done.stdout
    assert said in " ".join(done.stdout.split())
    assert "model_states_bytes = 1.5e+10 + 1.5e+10 + 1.40625e+09 = 31406250000 bytes" in done.stdout
    (row,) = answers(tmp_path)
    assert (row["question"], row["right"], row["given"]) == ("calc/memory", right, typed)
    # No file of the bank has this id; whoever reads the diary takes that as it comes.
    due = json.loads(run(tmp_path, "due", "--json").stdout)
    assert due["due"] == []
    asked = run(tmp_path, "study", "--limit", "1", "--seed", "1")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert "calc/memory" not in asked.stdout


@pytest.mark.parametrize("name", NAMES)
def test_every_calculator_asks_without_being_given_anything(tmp_path: Path, name: str):
    words = ("calc", name, "--quiz", "--json", "--lang", "zh")
    told = [json.loads(line) for line in run(tmp_path, *words, given="").stdout.splitlines()]
    asked = next(each["ask"] for each in told if "ask" in each)
    assert asked["id"] == f"calc/{name}"
    assert "{" not in asked["prompt"]
    quiz = sheet(name).quiz
    assert quiz is not None
    inputs = {key: asked["values"][key] for key in quiz.draws}
    assert all(value in quiz.draws[key] for key, value in inputs.items())
    value = sheet(name).work(inputs).figures[quiz.figure]
    assert isinstance(value, (int, float))
    fixed = [word for key, each in inputs.items() for word in (_flag(key), repr(each))]
    answer = json.dumps({"answer": repr(value / quiz.scale)})
    told = [
        json.loads(line)
        for line in run(tmp_path, *words, *fixed, given=f"{answer}\n").stdout.splitlines()
    ]
    verdict = next(each["verdict"] for each in told if "verdict" in each)
    assert (verdict["right"], verdict["question"]) == (True, f"calc/{name}")
    assert next(each["ask"] for each in told if "ask" in each)["values"] == asked["values"]


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def test_at_a_terminal_it_asks_on_a_screen(tmp_path: Path, terminal):
    words = ["-m", "quizkit", *MEMORY, "--zero", "3", "--quiz"]
    desk = terminal(words, QUIZKIT_HOME=str(tmp_path), QUIZKIT_LANG="zh")
    desk.until("7,500,000,000 个参数")
    desk.until("GB")
    desk.press("1.875\r")
    desk.until("答对了")
    desk.press("q")
    assert desk.close() == 0
    assert [row["right"] for row in answers(tmp_path)] == [True]


def test_a_terminal_gets_colours_unless_it_is_told_not_to(tmp_path: Path, terminal):
    def painted(*more: str, **env: str) -> bytes:
        words = ["-m", "quizkit", *PIPELINE, *more]
        desk = terminal(words, 80, 60, QUIZKIT_HOME=str(tmp_path), **env)
        assert desk.close() == 0
        return desk.raw

    without = {"NO_COLOR": "1"}
    assert b"\x1b[30;44mF0" in painted()
    assert b"\x1b[30;44mF0" not in painted(**without)
    assert b"\x1b" not in painted("--plain")


def test_only_the_sheet_that_is_asked_for_is_loaded(tmp_path: Path):
    code = (
        "import sys; sys.argv = ['quizkit', 'calc', 'memory', '--params', '7B', '--json']\n"
        "from quizkit.cli.app import run\n"
        "assert not [name for name in sys.modules if name.startswith('quizkit.calc')]\n"
        "assert run() == 0\n"
        "print(*sorted(name for name in sys.modules if name.startswith('quizkit.calc.')))"
    )
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True
    )
    loaded = {name.removeprefix("quizkit.calc.") for name in done.stdout.splitlines()[-1].split()}
    assert loaded == {"figure", "sheet", "sheets", "memory"}


@pytest.mark.parametrize("name", NAMES)
def test_every_trap_can_be_fallen_into(name: str):
    """At some draw each wrong formula has a value that is neither the answer nor far from sense."""
    quiz = sheet(name).quiz
    assert quiz is not None
    missed = {trap.forgot for trap in quiz.traps}
    for seed in range(20):
        asked = ask(question(sheet(name), {}, Random(seed)), seed)
        made = asked.question
        assert isinstance(made, Numeric)
        for trap, source in zip(made.traps, quiz.traps, strict=True):
            wrong = trap.formula.number(asked.values)
            verdict = grade(asked, f"{wrong!r}")
            assert verdict.right or 1e-3 < wrong / asked.answer() < 1e3
            if verdict.trap is trap:
                missed.discard(source.forgot)
    assert missed == set()
