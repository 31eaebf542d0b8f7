"""`quizkit` alone: a screen with single keys at a terminal, lines of text everywhere else."""

import json
import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
import started
from rich.cells import cell_len

from quizkit.answer import Answer
from quizkit.diary import Diary

FIRST = "ten minutes that find your level"


def told(folder: Path, *words: str, lang: str = "en") -> str:
    env = os.environ | {"QUIZKIT_HOME": str(folder), "QUIZKIT_LANG": lang}
    done = started.quizkit(*words, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_screen_fits_the_terminal_and_q_leaves(
    tmp_path: Path, terminal, columns: int, lang: str
) -> None:
    at = terminal(["-m", "quizkit"], columns, 24, QUIZKIT_HOME=str(tmp_path), QUIZKIT_LANG=lang)
    seen = at.until("q quit" if lang == "en" else "q 退出")
    lines = seen.split("\n")
    # Nothing has scrolled off: the first line is there, and so is every topic.
    assert lines[0].startswith("level not found yet" if lang == "en" else "还没定级")
    topics = json.loads(told(tmp_path, "due", "--json"))["topics"]
    shown = {word for line in lines for word in line.split()}
    assert {each["topic"] for each in topics} <= shown
    assert max(map(cell_len, lines)) <= columns
    at.press("q")
    assert at.close() == 0
    assert at.echoes


def test_t_turns_it_and_enter_begins_with_the_level_in_that_language(
    tmp_path: Path, terminal
) -> None:
    at = terminal(["-m", "quizkit"], 80, 24, QUIZKIT_HOME=str(tmp_path), QUIZKIT_LANG="en")
    at.until(FIRST)
    at.press("t")
    at.until("十分钟定级")
    at.press("\r")
    at.until("先定个级")  # the placement's own page, which asks before it begins
    at.press("q")
    at.close()


def test_what_a_key_leads_to_leaves_with_its_own_code(tmp_path: Path, terminal) -> None:
    (tmp_path / "config.yaml").write_text("level: 2\n")
    at = terminal(["-m", "quizkit"], 80, 24, QUIZKIT_HOME=str(tmp_path), QUIZKIT_LANG="en")
    at.until("level 2")
    at.press("\r")
    at.until("1/20")
    at.press("\x03")
    assert at.close() == 130


def test_who_leaves_the_demos_is_back_and_ctrl_c_ends_it_all(tmp_path: Path, terminal) -> None:
    at = terminal(["-m", "quizkit"], 80, 24, QUIZKIT_HOME=str(tmp_path), QUIZKIT_LANG="en")
    for key in ("q", "\x03"):
        at.until(FIRST)
        at.press("d")
        at.until("Five to start with")
        at.press(key)
    assert at.close() == 130
    assert "Traceback" not in at.raw.decode()


def test_piped_or_plain_it_says_all_of_that_in_lines_and_asks_nothing(
    tmp_path: Path, terminal
) -> None:
    (tmp_path / "config.yaml").write_text("level: 2\n")
    lines = told(tmp_path).splitlines()
    assert lines[0] == "level 2: compute it · today: 0 to review, 20 new"
    assert any(line.startswith("  cp ") and line.endswith("long sequences") for line in lines)
    assert "Next  quizkit study" in lines
    at = terminal(["-m", "quizkit", "--plain"], QUIZKIT_HOME=str(tmp_path), QUIZKIT_LANG="en")
    assert at.close() == 0
    assert "\x1b" not in at.raw.decode()
    assert "Next  quizkit study" in at.raw.decode()


def test_the_interview_and_what_its_plan_holds_today_are_said(tmp_path: Path) -> None:
    day = date.today() + timedelta(days=9)
    (tmp_path / "config.yaml").write_text(f"level: 2\ninterview: {day}\nminutes: 12\n")
    first = told(tmp_path).splitlines()[0]
    assert "days to the interview: 9 · today, 12 minutes: 0 to review, " in first
    new = int(first.split(", ")[-1].split()[0])
    assert 0 < new < 20


def test_a_belief_is_named_and_is_next_once_the_day_is_done(tmp_path: Path) -> None:
    shown = "pp/accumulation-is-no-flush"
    with Diary(tmp_path / "diary.sqlite3") as diary:
        diary.append(
            Answer(
                uuid="one",
                device="d",
                at=datetime.now(UTC),
                session="s",
                question=shown,
                lang="en",
                seed=1,
                right=False,
                grade=1,
                note="myth: accumulation-is-a-flush",
            )
        )
    assert "Next  quizkit study\n" in told(tmp_path)
    (tmp_path / "config.yaml").write_text("new_per_day: 0\nreviews_per_day: 0\n")
    said = told(tmp_path)
    assert "today's questions are done" in said
    assert "Still believed (shown 1 times): " in said
    named = said.partition("Next  quizkit study pp/")[2].split("\n")[0].split()
    assert named
    assert shown not in named  # other questions that catch it, not the one it was seen in


def test_home_asks_for_nothing_heavy() -> None:
    code = (
        "import sys; from quizkit.cli.home import home; home(True);"
        "print(*sorted({'torch', 'prompt_toolkit', 'fsrs', 'termios'} & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, stdin=-3
    )
    assert done.stdout.splitlines()[-1] == ""
