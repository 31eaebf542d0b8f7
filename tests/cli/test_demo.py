"""`quizkit demo`: what a person sees, what a program reads, how it leaves."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import started

from quizkit.cli import common
from quizkit.cli.demo_options import parsed
from quizkit.errors import UsageError
from quizkit.lab.catalogue import FIRST, catalogue, find, names
from quizkit.paths import DEMOS

ROOT = DEMOS.parent
QUIZKIT = [sys.executable, "-m", "quizkit"]

TINY = '''"""Two and two is four.

The trick
    Counting.
Watch
    total (shared)   the sum
Run
    quizkit demo tiny
"""
from typing import Literal
import time
from _bench import Break, Metrics, check, counted, run, shared

TOPIC = "sums"

def main(
    left: int = 2, share: float = 0.5, loud: bool = False, way: Literal["up", "down"] = "up"
) -> Metrics:
    total = left + 2
    check("total is four", total, "==", 4)
    return {"total": shared(counted(total))}

BREAKS = {
    "off-by-one": Break(old="left + 2", new="left + 1", expect="total is four", ranks=1),
    "stuck": Break(old="total = left", new="time.sleep(600) or left", expect="hangs", ranks=2),
    "typo": Break(old="left + 2", new="lift + 2", expect="crashes: NameError", ranks=1),
}

if __name__ == "__main__":
    run(__file__)
'''


def quizkit(*words: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "QUIZKIT_LANG": "en", "COLUMNS": "80", **environment}
    return started.quizkit("demo", *words, env=env, cwd=ROOT)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "tiny.py").write_text(TINY, encoding="utf-8")
    return folder


# Without torch.


def test_the_list_names_every_demo() -> None:
    for lang, title in (("en", "pp  Pipeline"), ("zh", "pp  流水线")):
        done = quizkit("--lang", lang, COLUMNS="60")
        assert (done.returncode, done.stderr) == (0, "")
        listed = [each.split()[0] for each in done.stdout.splitlines() if each.startswith("  ")]
        assert sorted(listed) == names()
        assert title in done.stdout
        assert ", ".join(FIRST) in done.stdout
        assert "\x1b" not in done.stdout


def test_the_list_of_a_topic_is_that_topics_alone() -> None:
    told = quizkit("--topic", "context-parallel")
    assert told.returncode == 0
    listed = [each.split()[0] for each in told.stdout.splitlines() if each.startswith("  ")]
    found = {each.name for each in catalogue().values() if each.topic == "cp"}
    assert (listed[0], {*listed}) == ("ring-attention", found)
    data = json.loads(quizkit("--topic", "cp", "--json").stdout)
    assert [row["name"] for row in data["demos"]] == sorted(found)
    assert data["first"] == ["ring-attention"]


def test_the_list_as_json() -> None:
    data = json.loads(quizkit("--json").stdout)
    assert data["schema"] == "quizkit/demos/1"
    assert [row["name"] for row in data["demos"]] == names()
    for row in data["demos"]:
        assert [*row] == ["name", "topic", "title", "breaks", "proves", "questions"]
        demo = find(row["name"])
        assert (row["title"], row["breaks"]) == (demo.law, [*demo.breaks])
        assert bool(row["proves"]) == bool(row["questions"])
    listed = started.quizkit("list", "--json", env=os.environ, cwd=ROOT)
    proved = {q["id"] for q in json.loads(listed.stdout)["questions"] if q["proof"]}
    assert {name for row in data["demos"] for name in row["questions"]} == proved


def test_help_after_a_name_is_that_demos_own(tiny: Path) -> None:
    for option in ("--help", "-h"):
        done = quizkit("tiny", option, "--demos", tiny)
        assert done.returncode == 0
        for text in (
            *("--left N", "--share X", "--loud/--no-loud", "--way up|down", "default 2"),
            *("total (one for the whole run)", "off-by-one", "NameError", "Two and two is four."),
        ):
            assert text in done.stdout
    assert "--gpus" in quizkit("--help").stdout


def test_show_prints_the_source_as_it_is(tiny: Path) -> None:
    assert quizkit("tiny", "--show", "--demos", tiny).stdout == TINY
    broken = quizkit("tiny", "--show", "--break", "off-by-one", "--demos", tiny).stdout
    assert "left + 1" in broken
    assert "BREAKS" not in broken
    told = json.loads(quizkit("tiny", "--show", "--json", "--demos", tiny).stdout)
    assert told == {"schema": "quizkit/source/1", "demo": "tiny", "broken": None, "source": TINY}


GIVEN = [
    ([], {}),
    (["--left", "3"], {"left": 3}),
    (["--left=-3", "--share", "1e-3"], {"left": -3, "share": 0.001}),
    (["--left", "-3"], {"left": -3}),
    (["--loud", "--way", "down"], {"loud": True, "way": "down"}),
    (["--loud", "--no-loud"], {"loud": False}),
    (["--share", "2"], {"share": 2.0}),
]


@pytest.mark.parametrize(("words", "given"), GIVEN)
def test_options_come_from_the_demos_own_signature(
    tiny: Path, words: list[str], given: dict[str, object]
) -> None:
    found = parsed(find("tiny", tiny), words)
    assert found == given
    assert [type(value) for value in found.values()] == [type(value) for value in given.values()]


REFUSED = [
    (["--lft", "3"], "--left"),
    (["--rank", "3"], "--ranks"),
    (["--rank", "3"], "All options: quizkit demo tiny --help"),
    (["--leftover", "3"], "--left"),
    (["--left"], "--left needs a value after it (a whole number)"),
    (["--left", "two"], "--left takes a whole number, not two"),
    (["--left", "2.5"], "--left takes a whole number, not 2.5"),
    (["--way", "left"], "up|down"),
    (["--loud=yes"], "switch"),
    (["three"], "three follows no option"),
    (["--loud", "3"], "3 follows no option"),
    (["-l", "3"], "-l follows no option"),
]


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_what_is_no_option_is_told_with_the_nearest(
    tiny: Path, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another test of this process may have spoken Chinese last.
    monkeypatch.setattr(common, "_spoken", ["en"])
    with pytest.raises(UsageError) as caught:
        parsed(find("tiny", tiny), words)
    assert message in str(caught.value)


WRONG = [
    (["pipelin"], "pipeline"),
    (["pipeline", "--microbatch", "8"], "--microbatches"),
    (["pipeline", "--microbatches", "many"], "many"),
    (["pipeline", "--break", "no-coldown"], "no-cooldown"),
    (["pipeline", "--gpus", "0"], "--gpus"),
    (["pipeline", "--gpus", "four"], "four"),
    (["pipeline", "--device", "tpu"], "tpu"),
    (["pipeline", "--deadline", "0"], "--deadline"),
    (["pipeline", "ring-attention"], "ring-attention"),
    (["--breaks"], "--all"),
    (["--all", "pipeline"], "pipeline"),
    (["--all", "--break", "no-cooldown"], "--break"),
    (["--svg", "x.svg"], "--svg"),
    (["--watch"], "--watch"),
    (["pipeline", "--watch", "--json"], "--watch and --json"),
    (["--microbatches", "8"], "--microbatches"),
    (["pipeline", "--lang", "fr"], "fr"),
]


@pytest.mark.parametrize(("words", "message"), WRONG, ids=str)
def test_wrong_usage_leaves_with_2_and_one_clear_line(
    family, words: list[str], message: str
) -> None:
    done = quizkit(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_broken_file_is_told_with_its_line(tiny: Path) -> None:
    (tiny / "tiny.py").write_text(TINY.replace("left: int = 2", "left: int"), encoding="utf-8")
    done = quizkit("tiny", "--demos", tiny)
    assert done.returncode == 3
    assert "tiny.py:17: " in done.stderr


def test_without_torch_every_run_says_how_to_get_it(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    # An environment made with --system-site-packages finds its packages in several folders.
    places = [Path(each) for each in sys.path if each.endswith(("site-packages", "dist-packages"))]
    for entry in (each for place in places for each in place.iterdir()):
        if not (entry.name.startswith("torch") or (bare / entry.name).exists()):
            (bare / entry.name).symlink_to(entry)
    start = (
        f"import sys; sys.path += [{str(ROOT)!r}, {str(bare)!r}]; "
        "from quizkit.__main__ import main; main()"
    )
    for words in (["pipeline"], ["pipeline", "--json"], ["--all"]):
        done = subprocess.run(
            [sys.executable, "-S", "-P", "-c", start, "demo", *words],
            capture_output=True,
            text=True,
            env={**os.environ, "QUIZKIT_LANG": "en", "PYTHONPATH": ""},
            check=False,
        )
        assert (done.returncode, done.stdout) == (3, "")
        assert f"{sys.executable} -m pip install torch numpy" in done.stderr
    done = subprocess.run(
        [sys.executable, "-S", "-P", "-c", start, "demo"], capture_output=True, check=True
    )
    assert b"pipeline" in done.stdout


def test_the_command_costs_nothing_until_it_is_used() -> None:
    script = "import sys, quizkit.cli.demo; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True
    )
    loaded = done.stdout.split()
    assert "rich" not in loaded
    assert not [name for name in loaded if name.startswith(("quizkit.lab", "quizkit.ui", "torch"))]


# Real runs.


@pytest.mark.demo
def test_one_run_as_json(tiny: Path, family) -> None:
    done = quizkit("tiny", "--gpus", "3", "--left", "2", "--json", "--demos", tiny)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["schema"] == "quizkit/report/1"
    assert (report["demo"], report["ranks"], report["verdict"]) == ("tiny", 3, "pass")
    assert report["args"] == {"left": 2, "share": 0.5, "loud": False, "way": "up"}
    assert report["metrics"] == {"total": 4}


@pytest.mark.demo
@pytest.mark.parametrize(("lang", "word"), [("zh", "所有检查都成立"), ("en", "every check holds")])
def test_one_run_on_the_screen(tiny: Path, family, lang: str, word: str) -> None:
    done = quizkit("tiny", "--ranks=2", "--demos", tiny, "--lang", lang)
    assert (done.returncode, done.stderr) == (0, "")
    assert word in done.stdout
    assert "total is four" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.demo
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--left", "3"], 1, "failing: total is four"),
        (["--break", "off-by-one"], 1, "showed itself as declared"),
        (["--break", "typo"], 1, "NameError: name 'lift' is not defined"),
        (["--break", "stuck", "--deadline", "0.2"], 124, "showed itself as declared"),
        (["--break", "off-by-one", "--left", "3"], 0, "did not show itself"),
    ],
)
def test_the_exit_code_says_how_it_went(
    tiny: Path, family, words: list[str], code: int, said: str
) -> None:
    done = quizkit("tiny", *words, "--demos", tiny)
    assert said in " ".join(done.stdout.split())
    assert done.returncode == code


@pytest.mark.demo
def test_a_refusal_is_a_matter_of_usage(family) -> None:
    done = quizkit("ring-attention", "--gpus", "5")
    assert done.returncode == 2
    assert "380 or 390" in done.stdout


@pytest.mark.demo
def test_pictures_are_written_and_only_of_what_was_measured(
    tiny: Path, tmp_path: Path, family
) -> None:
    svg, trace = tmp_path / "run.svg", tmp_path / "run.json"
    done = quizkit("pipeline", "--gpus", "2", "--svg", svg, "--trace", trace)
    assert done.returncode == 0
    assert svg.read_text(encoding="utf-8").startswith("<svg")
    bars = [e for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"]
    assert len(bars) == 2 * 2 * 2 * 8  # schedules, ranks, forward and backward, micro-batches
    done = quizkit("tiny", "--svg", tmp_path / "none.svg", "--demos", tiny)
    assert done.returncode == 2
    assert "nothing to draw" in done.stderr
    assert not (tmp_path / "none.svg").exists()
    done = quizkit("pipeline", "--gpus", "1", "--svg", tmp_path / "no" / "folder.svg")
    assert done.returncode == 2
    assert "folder.svg" in done.stderr
    assert "every check holds" in done.stdout  # the report of the run is not lost with it


@pytest.mark.demo
def test_a_run_is_played_at_a_terminal_and_told_in_lines_elsewhere(
    tiny: Path, family, terminal
) -> None:
    words = ["ring-attention", "--gpus", "2", "--watch"]
    told = quizkit(*words)
    assert told.returncode == 0
    assert "\n0: rank 0 A0, sends KV0 to rank 1; rank 1 A1, sends KV1 to rank 0\n" in told.stdout
    assert "every check holds" in told.stdout
    desk = terminal(["-m", "quizkit", "demo", *words], QUIZKIT_LANG="en")
    desk.until("Space play/pause")
    desk.press("\x1b[D")
    desk.until("at 0 of")
    desk.press("\x1b[C")
    desk.until("at 0.25 of")
    desk.press("q")
    desk.until("every check holds")
    assert desk.close() == 0
    none = quizkit("tiny", "--gpus", "1", "--watch", "--demos", tiny)
    assert none.returncode == 2
    assert "nothing to draw" in none.stderr


@pytest.mark.demo
def test_a_reader_that_leaves_early_does_not_lose_the_picture(tmp_path: Path, family) -> None:
    command = [
        sys.executable,
        "-m",
        "quizkit",
        "demo",
        "pipeline",
        "--ranks",
        "2",
        "--svg",
        "a.svg",
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=tmp_path, env=env) as run:
        assert run.stdout
        run.stdout.close()
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.demo
def test_all_of_a_folder(tiny: Path, family) -> None:
    done = quizkit("--all", "--breaks", "--demos", tiny, "--deadline", "1")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[:4]] == [
        "tiny",
        "tiny --break off-by-one",
        "tiny --break stuck",
        "tiny --break typo",
    ]
    assert lines[4].startswith("4 runs, 0 of them")


@pytest.mark.demo
def test_all_fails_if_a_demo_or_a_break_is_not_as_it_should_be(tiny: Path, family) -> None:
    wrong = TINY.replace("int = 2, share", "int = 3, share").replace("hangs", "no check")
    (tiny / "wrong.py").write_text(wrong, encoding="utf-8")
    done = quizkit("--all", "--breaks", "--demos", tiny, "--deadline", "1", "--json")
    assert done.returncode == 1
    data = json.loads(done.stdout)
    assert data["schema"] == "quizkit/reports/1"
    assert len(data["reports"]) == 8
    failed = [(each["demo"], each["broken"]) for each in data["failed"]]
    # With 3 instead of 2 the healthy sum is wrong, and the bug makes it right.
    assert failed == [("wrong", None), ("wrong", "off-by-one"), ("wrong", "stuck")]


class Terminal:
    """`quizkit demo` on a real pseudo-terminal."""

    def __init__(self, *words: object, **environment: str) -> None:
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            os.environ.update({"QUIZKIT_LANG": "en", "TERM": "xterm-256color", **environment})
            os.chdir(ROOT)
            os.execv(sys.executable, [*QUIZKIT, "demo", *map(str, words)])

    def leave(self) -> tuple[int, str]:
        said = b""
        while True:
            try:
                piece = os.read(self.screen, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            said += piece
        os.close(self.screen)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status), said.decode()


@pytest.mark.demo
def test_ctrl_c_at_a_terminal_ends_the_run_and_everything(tiny: Path, family) -> None:
    terminal = Terminal("tiny", "--break", "stuck", "--deadline", "60", "--demos", tiny)
    family.becomes(4)  # quizkit, the bench, two ranks
    os.write(terminal.screen, b"\x03")
    code, said = terminal.leave()
    assert code == 130
    assert "it was cancelled" in said
    assert "Traceback" not in said
    family.becomes(0)


@pytest.mark.demo
@pytest.mark.parametrize(
    ("words", "processes"),
    # The first cannot be over before the key is pressed, however late that is.
    [
        (["tiny", "--break", "stuck", "--deadline", "60"], 2),
        (["--all", "--breaks", "--deadline", "60"], 4),
    ],
    ids=["before anything runs", "among many runs"],
)
def test_ctrl_c_stops_all_there_is(tiny: Path, family, words: list[str], processes: int) -> None:
    terminal = Terminal(*words, "--demos", tiny)
    family.becomes(processes)
    os.write(terminal.screen, b"\x03")
    code, said = terminal.leave()
    assert code == 130
    assert "Traceback" not in said
    family.becomes(0)


@pytest.mark.demo
@pytest.mark.parametrize("victim", ["quizkit", "bench"])
def test_nobody_outlives_a_kill(tiny: Path, family, victim: str) -> None:
    terminal = Terminal("tiny", "--break", "stuck", "--deadline", "60", "--demos", tiny)
    family.becomes(4)
    os.kill(terminal.pid if victim == "quizkit" else family.bench(), signal.SIGKILL)
    code, said = terminal.leave()
    assert code == (-signal.SIGKILL if victim == "quizkit" else 3)
    if victim == "bench":
        assert "SIGKILL" in said
    family.becomes(0)


@pytest.mark.demo
def test_colours_only_where_they_are_wanted(tiny: Path, family, terminal) -> None:
    def seen(*words: str, **environment: str) -> str:
        command = ["-m", "quizkit", "demo", "tiny", "--gpus", "1", "--demos", tiny, *words]
        desk = terminal(command, QUIZKIT_LANG="en", **environment)
        assert desk.close() == 0
        return desk.raw.decode()

    colour = "\x1b[32m"
    assert colour in seen()
    assert colour not in seen(NO_COLOR="1")
    for words, environment in ((["--plain"], {}), ([], {"TERM": "dumb"})):
        said = seen(*words, **environment)
        assert "\x1b[3" not in said
        assert "\x1b[1" not in said
        assert "total is four" in said


def test_at_a_terminal_the_demos_are_looked_through(terminal, tmp_path: Path) -> None:
    home = {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": "en"}
    at = terminal(["-m", "quizkit", "demo", "--topic", "cp"], 80, 24, **home)
    at.until("> ring-attention")
    at.press("ulys")
    at.until("> ulysses", gone="  ring-attention")
    at.press("\t", "t")
    at.until("个 demo")
    at.press("q")
    assert at.close() == 0
    assert at.echoes
    for words, more in ((["--plain"], {}), ([], {"TERM": "dumb"})):
        listed = terminal(["-m", "quizkit", "demo", *words], 80, 24, **home, **more)
        assert listed.close() == 0
        assert "\x1b" not in listed.raw.decode()


@pytest.mark.demo
def test_a_bug_is_planted_from_the_list_and_nothing_is_left(tiny: Path, family, terminal) -> None:
    at = terminal(["-m", "quizkit", "demo", "--demos", tiny], 80, 24, QUIZKIT_LANG="en")
    at.until("> tiny")
    at.press("b")
    at.until("Run on 1 ranks: which check goes red first?")
    assert "+ left + 1" in at.text
    at.press("1")
    at.until("First to go red: total is four")
    assert "You saw it coming." in at.text
    at.press("\r")
    at.until("> tiny")
    at.press("\r")
    at.until("every check holds")
    at.press("q")
    assert at.close() == 0
    family.becomes(0)
