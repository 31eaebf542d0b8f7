"""`study`, `due` and `data` as a person or a program meets them: real processes, real files."""

import json
import signal
import sqlite3
import stat
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import started

from .conftest import Tool

RIGHT, WRONG = {"answer": [0]}, {"answer": [1]}
HEAVY = {"torch", "numpy", "fsrs", "prompt_toolkit", "asyncio", "quizkit.lab.catalogue"}


class Quizkit(Tool):
    """What most tests here do with it."""

    def study(self, *arguments: str, topic: str = "alpha") -> "Session":
        options = ["--bank", str(self.bank), "--topic", topic, "--json", "--seed", "1"]
        return Session("study", *options, *arguments, env=self.environment)

    def exported(self) -> list[dict[str, Any]]:
        done = self.run("data", "--export")
        assert done.returncode == 0
        said = json.loads(done.stdout)
        assert said["schema"] == "quizkit/diary/1"
        return said["answers"]


class Session(started.Talk):
    """A session in JSON lines, driven line by line."""

    def __init__(self, *words: str, env: dict[str, str]) -> None:
        super().__init__("-m", "quizkit", *words, env=env)

    def hear(self) -> dict[str, Any]:
        return json.loads(self.read())

    def tell(self, line: dict[str, Any]) -> dict[str, Any]:
        self.say(json.dumps(line))
        return self.hear()


@pytest.fixture
def quizkit(tmp_path: Path) -> Quizkit:
    return Quizkit(tmp_path)


def test_a_session_line_by_line(quizkit: Quizkit):
    session = quizkit.study("--limit", "2")
    first = session.hear()["ask"]
    assert (first["topic"], first["number"], first["total"]) == ("alpha", 1, 2)
    verdict = session.tell(RIGHT)["verdict"]
    assert (verdict["question"], verdict["right"]) == (first["id"], True)
    # What was acknowledged is on disk, while the session goes on.
    assert [row["uuid"] for row in quizkit.exported()] == [verdict["uuid"]]
    second = session.hear()["ask"]
    assert second["id"] != first["id"]
    assert session.tell({"command": "quit"})["end"]["answered"] == 1
    assert session.end() == (0, "", "")


def test_the_end_of_the_input_is_the_end(quizkit: Quizkit):
    session = quizkit.study()
    session.hear()
    code, rest, _ = session.end()
    assert code == 0
    assert "end" in json.loads(rest)


def test_a_closed_input_is_the_end(quizkit: Quizkit):
    done = subprocess.run(
        f"exec {sys.executable} -m quizkit study --json --topic alpha --bank {quizkit.bank} <&-",
        shell=True,
        capture_output=True,
        env=quizkit.environment,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b'"end"' in done.stdout.splitlines()[-1]


def test_a_killed_session_has_lost_nothing_and_goes_on(quizkit: Quizkit):
    acknowledged: list[str] = []
    asked: list[str] = []
    for _ in range(3):
        session = quizkit.study()
        asked.append(session.hear()["ask"]["id"])
        acknowledged.append(session.tell(RIGHT)["verdict"]["uuid"])
        session.signal(signal.SIGKILL)
        assert session.end()[0] == -signal.SIGKILL
    assert len({*asked}) == 3
    assert [row["uuid"] for row in quizkit.exported()] == acknowledged


def test_two_sessions_at_once(quizkit: Quizkit):
    one, other = quizkit.study(), quizkit.study(topic="beta")
    one.hear()
    other.hear()
    uuids = [session.tell(RIGHT)["verdict"]["uuid"] for session in (one, other)]
    one.hear()
    uuids.append(one.tell(WRONG)["verdict"]["uuid"])
    assert [one.end()[0], other.end()[0]] == [0, 0]
    assert [row["uuid"] for row in quizkit.exported()] == uuids


def test_an_undone_answer_stays_in_the_diary_and_counts_no_more(quizkit: Quizkit):
    session = quizkit.study()
    session.hear()
    uuid = session.tell(WRONG)["verdict"]["uuid"]
    session.hear()
    assert session.tell({"command": "undo"})["message"]["uuid"] == uuid
    session.end()
    first, second = quizkit.exported()
    assert (first["uuid"], first["counts"]) == (uuid, False)
    assert (second["undoes"], second["counts"]) == (uuid, False)


def test_an_interrupt_is_130_and_keeps_everything(quizkit: Quizkit):
    session = quizkit.study()
    session.hear()
    session.tell(RIGHT)
    session.hear()
    session.signal(signal.SIGINT)
    assert session.end()[0] == 130
    assert len(quizkit.exported()) == 1


@pytest.mark.parametrize(
    ("words", "goes_on"),
    [
        (["study", "--topic", "alpha"], "quizkit study --topic alpha"),
        (["study", "beta/q2", "alpha/q0"], "quizkit study beta/q2 alpha/q0"),
        (["learn", "alpha", "--no-runs"], "quizkit learn alpha"),
    ],
)
def test_an_interrupt_names_the_command_that_goes_on(
    quizkit: Quizkit, words: list[str], goes_on: str
):
    options = ["--bank", str(quizkit.bank), "--json", "--lang", "en"]
    session = Session(*words, *options, env=quizkit.environment)
    while "ask" not in session.hear():
        pass
    session.signal(signal.SIGINT)
    assert session.end()[2].strip().endswith(f"To go on: {goes_on}")


def test_without_a_terminal_answers_are_read_line_by_line(quizkit: Quizkit):
    options = ["--bank", str(quizkit.bank), "--topic", "beta", "--limit", "1", "--lang", "zh"]
    done = quizkit.run("study", *options, given="1\n")
    assert done.returncode == 0
    assert "题" in done.stdout
    assert len(quizkit.exported()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--topic", "alpah"], "alpha"),
        (["--kind", "choise"], "choice"),
        (["--level", "0-3"], "0-3"),
        (["--level", "4-2"], "4-2"),
        (["--topic", "alpha", "--level", "5"], "quizkit list"),
        (["--lang", "fr"], "fr"),
        (["--limit", "0"], "0"),
    ],
)
def test_what_cannot_be_asked_for(quizkit: Quizkit, arguments: list[str], said: str):
    done = quizkit.run("study", "--bank", str(quizkit.bank), *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def named(quizkit: Quizkit, *names: str) -> Session:
    options = ["--bank", str(quizkit.bank), "--json", "--seed", "1"]
    return Session("study", *options, *names, env=quizkit.environment)


def test_named_questions_in_their_order_due_or_not(quizkit: Quizkit):
    quizkit.run("config", "new_per_day", "0")
    for _ in range(2):  # the second time none of them is due
        session = named(quizkit, "beta/q2", "alpha/q0", "beta/q2", "alpha/q1")
        asked = [session.hear()["ask"]]
        verdicts: list[str] = []
        for answer in (WRONG, RIGHT, RIGHT, RIGHT):
            verdicts.append(session.tell(answer)["verdict"]["question"])
            following = session.hear()
            following = session.hear() if "message" in following else following
            asked += [following["ask"]] if "ask" in following else []
        assert [each["id"] for each in asked] == ["beta/q2", "alpha/q0", "alpha/q1", "beta/q2"]
        assert (asked[0]["total"], verdicts) == (3, [each["id"] for each in asked])
        assert session.end() == (0, "", "")


def test_a_question_is_found_by_the_name_it_had(quizkit: Quizkit):
    with (quizkit.bank / "alpha" / "q0.yaml").open("a", encoding="utf-8") as file:
        file.write("was: [alpha/first]\n")
    session = named(quizkit, "alpha/first")
    assert session.hear()["ask"]["id"] == "alpha/q0"
    assert session.end()[0] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["alpha/q0", "beta/q22"], 2, "Try: beta/q2"),
        (["alpha"], 2, "quizkit study --topic alpha"),
        (["alpha/q0", "--topic", "alpha"], 2, "leave out --topic"),
        (["alpha/q0", "--limit", "1"], 2, "leave out --topic"),
        (["alpha/q0", "--level", "1"], 2, "leave out --topic"),
        (["alpha/q0", "--kind", "choice"], 2, "leave out --topic"),
        (["alpha/bad"], 4, "alpha/bad.yaml"),
    ],
)
def test_what_cannot_be_asked_for_by_name(
    quizkit: Quizkit, arguments: list[str], code: int, said: str
):
    (quizkit.bank / "alpha" / "bad.yaml").write_text("kind: choice\nlevel: nine\n")
    done = quizkit.run("study", "--bank", str(quizkit.bank), "--lang", "en", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


@pytest.mark.parametrize(
    ("level", "names"), [("2", {2}), ("2-3", {2, 3}), ("-1", {1}), ("3-", {3})]
)
def test_levels(quizkit: Quizkit, level: str, names: set[int]):
    session = quizkit.study("--level", level)
    seen = {session.hear()["ask"]["level"]}
    while "ask" in (said := session.tell({"command": "skip"})):
        seen.add(said["ask"]["level"])
    session.end()
    assert seen == names


def test_what_is_due(quizkit: Quizkit):
    session = quizkit.study()
    session.hear()
    session.tell(RIGHT)
    session.end()
    options = ["--bank", str(quizkit.bank), "--topic", "alpha", "--topic", "beta"]
    nothing = quizkit.run("due", "--json", "--exit-code", *options)
    assert nothing.returncode == 0
    said = json.loads(nothing.stdout)
    assert (said["schema"], said["due"], said["new"]) == ("quizkit/due/1", [], 5)
    assert said["topics"] == [
        {"topic": "alpha", "due": 0, "new": 2, "known": 1},
        {"topic": "beta", "due": 0, "new": 3, "known": 0},
    ]
    assert said["next"] > said["now"]
    long_ago = "update cards set due = 0"
    db = sqlite3.connect(quizkit.home / "diary.sqlite3")
    db.execute(long_ago)
    db.commit()
    db.close()
    something = quizkit.run("due", "--json", "--exit-code", *options)
    assert something.returncode == 1
    said = json.loads(something.stdout)
    assert [row["question"] for row in said["due"]] == ["alpha/q0"]
    assert said["next"] is None
    assert "1 due" in quizkit.run("due", *options).stdout


def test_home_does_not_send_to_a_share_that_is_done(quizkit: Quizkit):
    options = ["--bank", str(quizkit.bank), "--topic", "alpha", "--lang", "en"]
    assert "To begin: quizkit study" in quizkit.run("due", *options).stdout
    assert quizkit.run("config", "new_per_day", "1").returncode == 0
    session = quizkit.study()
    session.hear()
    session.tell(RIGHT)
    session.end()
    told = quizkit.run("due", *options).stdout
    assert "To begin: quizkit study" not in told
    assert "Today's share is done" in told
    assert "quizkit study --limit 10" in told


def test_where_the_files_are(quizkit: Quizkit):
    done = quizkit.run("data", "--where")
    assert done.returncode == 0
    assert str(quizkit.home / "diary.sqlite3") in done.stdout
    said = json.loads(quizkit.run("data", "--json").stdout)
    assert (said["schema"], said["home"]) == ("quizkit/data/1", str(quizkit.home))
    assert quizkit.exported() == []
    assert list(quizkit.home.iterdir()) == []
    assert stat.S_IMODE(quizkit.home.stat().st_mode) == 0o700


def test_erase(quizkit: Quizkit):
    session = quizkit.study()
    session.hear()
    session.tell(RIGHT)
    session.end()
    refused = quizkit.run("data", "--erase")
    assert (refused.returncode, len(quizkit.exported())) == (2, 1)
    assert "--yes" in refused.stderr
    assert quizkit.run("data", "--erase", "--yes").returncode == 0
    assert list(quizkit.home.iterdir()) == []
    assert quizkit.run("data", "--where", "--export").returncode == 2


def test_a_diary_that_cannot_be_read_is_4(quizkit: Quizkit):
    quizkit.home.mkdir()
    diary = quizkit.home / "diary.sqlite3"
    diary.write_bytes(b"a shopping list " * 100)
    for command in (["study", "--topic", "pp", "--json"], ["due"], ["data", "--export"]):
        done = quizkit.run(*command)
        assert (done.returncode, done.stdout) == (4, "")
        assert str(diary) in done.stderr
    assert diary.read_bytes() == b"a shopping list " * 100


def test_one_bad_file_does_not_take_the_others_down(quizkit: Quizkit):
    (quizkit.bank / "alpha" / "bad.yaml").write_text("kind: choice\nlevel: nine\n")
    session = quizkit.study()
    assert session.hear()["ask"]["total"] == 3
    assert "quizkit bank lint" in session.end()[2]


def test_the_first_question_waits_for_nothing_heavy(quizkit: Quizkit):
    code = (
        "import sys; from quizkit.cli.app import app\n"
        "from quizkit.ui.jsonl import json_desk as desk\n"
        "def look(self, *_): print(*sorted(HEAVY & {*sys.modules})); sys.exit(0)\n"
        f"HEAVY = {HEAVY!r}; desk.JsonDesk._read = look\n"
        f"app(['study', '--json', '--topic', 'alpha', '--bank', {str(quizkit.bank)!r}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=quizkit.environment,
        timeout=60,
        check=True,
    )
    ask, heavy = done.stdout.splitlines()
    assert '"ask"' in ask
    assert heavy == ""


def test_the_core_comes_first_and_all_of_it_on_request(quizkit: Quizkit):
    own = ["--bank", str(quizkit.bank), "--topic", "alpha", "--json"]

    def mark(*names: str) -> dict[str, Any]:
        """Make just these the core; what `list --core` says then."""
        for path in (quizkit.bank / "alpha").glob("q*.yaml"):
            plain = path.read_text(encoding="utf-8").removeprefix("core: true")
            path.write_text("core: true" * (path.stem in names) + plain, encoding="utf-8")
        return json.loads(quizkit.run("list", "--core", *own).stdout)

    def asked(*options: str, topic: str = "alpha") -> int:
        session = quizkit.study(*options, topic=topic)
        said = session.hear()
        session.end()
        return said["ask"]["total"]

    assert asked() == 3  # no core: as ever
    assert mark("q0", "q1")["count"] == {"all": 3, "core": 2}
    assert asked() == 2
    assert asked("--all") == 3
    assert asked(topic="beta") == 3  # of its own, no core
    # What was met comes again whatever the core is by then.
    session = quizkit.study()
    met = session.hear()["ask"]["id"]
    session.tell(RIGHT)
    session.end()
    assert met != "alpha/q2"
    assert [each["id"] for each in mark("q2")["questions"]] == ["alpha/q2"]
    due = json.loads(quizkit.run("due", *own).stdout)
    assert (due["new"], due["left_out"]) == (1, 1)
    plan = ["plan", "--interview", str(date.today() + timedelta(days=9)), *own]
    planned, every = (json.loads(quizkit.run(*plan, *more).stdout) for more in ([], ["--all"]))
    assert (planned["all"]["questions"], planned["left_out"]) == (2, 1)
    assert (every["all"]["questions"], every["left_out"]) == (3, 0)
