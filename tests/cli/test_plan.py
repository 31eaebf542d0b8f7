"""`plan` as a person or a program meets it, and the study session that follows it."""

import json
import re
import subprocess
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from quizkit.cli.plan import plan
from quizkit.errors import UsageError

from .conftest import Tool


class Quizkit(Tool):
    """The command, with this bank named each time, on a narrow screen."""

    def run(self, *words: object, given: str = "") -> subprocess.CompletedProcess[str]:
        return super().run(*words, "--bank", self.bank, given=given)

    def plan(self, *words: str) -> dict[str, Any]:
        done = self.run("plan", "--json", *words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def quizkit(tmp_path_factory: pytest.TempPathFactory) -> Quizkit:
    """One for all: only the first test writes into its home, and asks in topics of its own."""
    return Quizkit(tmp_path_factory.mktemp("plan"), COLUMNS="60")


def ahead(days: int) -> str:
    return (datetime.now().astimezone().date() + timedelta(days=days)).isoformat()


def test_a_plan_that_study_follows(quizkit: Quizkit):
    """Four minutes hold three of these short questions, one in two of which comes back once."""
    topics = ("--topic", "alpha", "--topic", "beta")
    first = quizkit.plan("--interview", ahead(5), "--minutes", "4", *topics, "--save")
    assert first["schema"] == "quizkit/plan/1"
    assert (first["interview"], first["minutes"], first["for"]) == (ahead(5), 4, None)
    assert [day["date"] for day in first["days"]] == [ahead(n) for n in range(5)]
    today = first["days"][0]
    assert (len(today["new"]), today["reviews"], today["due"]) == (3, [], 0)
    assert 3 < today["minutes"] <= 4
    assert first["all"]["questions"] == 6
    assert 0 < first["all"]["recall_without"] < first["all"]["recall_with"] < 1
    assert first["slip_today"] > 0
    # The plan keeps to its topics from now on, here and in study; the shipped ones are not asked.
    assert quizkit.plan() == first
    # Three answers without a clock: the session asks what was planned, and then it is over.
    study = ["study", "--json", "--seed", "1"]
    slow = json.dumps({"answer": [0], "seconds": 79})
    done = quizkit.run(*study, given=f"{slow}\n" * 6)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    asked = [line["ask"]["id"] for line in said if "ask" in line]
    assert sorted(asked) == sorted(today["new"])
    again = quizkit.plan()
    assert again["all"]["met"] == 3
    assert again["days"][0]["new"] == again["days"][0]["reviews"] == []
    assert again["spent_today"] == pytest.approx(4, abs=0.1)
    assert again["days"][1]["new"]
    assert "only alpha, beta" in quizkit.run("plan", "--lang", "en").stdout
    over = quizkit.run("study", "--plain", "--lang", "en")
    assert over.returncode == 0
    assert "Today's plan is done (4 minutes)" in over.stdout


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("zh", ["到面试那天", "照计划练", "题里预计多答对约", "提高最多", "--save"]),
        (
            "en",
            [
                "To the interview on",
                "with plan",
                "questions come right on the day",
                "rises most: about",
                "--save",
            ],
        ),
    ],
)
def test_on_the_screen(quizkit: Quizkit, lang: str, words: list[str]):
    done = quizkit.run("plan", "--interview", ahead(40), "--minutes", "3", "--lang", lang)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split()) if lang == "en" else "".join(done.stdout.split("\n"))
    for each in words:
        assert each in text
    assert "alpha" in done.stdout
    assert "\x1b" not in done.stdout
    wide = [line for line in done.stdout.splitlines() if len(line) > 60]
    assert wide == []


def test_due_and_reviews_are_told_apart_once_something_falls_due(tmp_path: Path):
    quizkit, words = Quizkit(tmp_path), ("plan", "--interview", ahead(9), "--lang", "en")
    said = "'reviews' is what the plan chose"
    assert said not in " ".join(quizkit.run(*words).stdout.split())
    quizkit.run("study", "alpha/q0", given="\n\n")
    assert said in " ".join(quizkit.run(*words).stdout.split())


def test_a_day_that_can_be_missed_is_not_called_worthless(tmp_path: Path):
    done = Quizkit(tmp_path).run("plan", "--interview", ahead(40), "--minutes", "3", "--lang", "en")
    text = " ".join(done.stdout.split())
    assert "No time today? What it leaves out finds room in the 39 days after it." in text
    assert "0.0 points" not in text


def test_a_minute_that_holds_no_question_is_not_called_idle(quizkit: Quizkit):
    done = quizkit.run("plan", "--interview", ahead(9), "--minutes", "1", "--lang", "en")
    text = " ".join(done.stdout.split())
    assert re.search(r"\d+ questions take more than 1 minutes each", text)
    assert "Today asks for nothing" not in text
    assert "quizkit mock" not in text


@pytest.mark.parametrize(
    ("interview", "aimed", "key"),
    [
        (None, None, "plan_no_date"),
        (ahead(0), None, "plan_today"),
        (ahead(-1), None, "plan_past"),
        (ahead(800), None, "plan_far"),
        ("soon", None, "plan_date"),
        (ahead(3), "stff", "plan_for"),
        (ahead(3), "pipeline-screen", "nothing_chosen"),
    ],
)
def test_what_cannot_be_planned_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    interview: str | None,
    aimed: str | None,
    key: str,
):
    monkeypatch.setenv("QUIZKIT_HOME", str(tmp_path))
    with pytest.raises(UsageError) as raised:
        plan(interview=interview, for_=aimed, topic=["debug"], lang="en")
    assert raised.value.key == key


def test_one_message_and_exit_code_2(quizkit: Quizkit):
    done = quizkit.run("plan", "--interview", "soon", "--lang", "en")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "soon is no date" in done.stderr


def test_weighed_for_a_script(quizkit: Quizkit):
    interview = ("--interview", ahead(2), "--minutes", "5")
    done = quizkit.run("plan", "--json", *interview, "--for", "pipeline-screen")
    found = json.loads(done.stdout)
    assert found["for"] == "pipeline-screen"
    assert {row["topic"] for row in found["topics"]} == {"pp", "comm"}
