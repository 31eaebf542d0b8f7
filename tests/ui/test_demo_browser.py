"""The demos to choose from: what a filter leaves, what fits, and the riddle of a planted bug."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from quizkit.bank.model import Text
from quizkit.errors import LabError
from quizkit.lab.catalogue import Break, Demo, in_topics
from quizkit.lab.report import Check, Failure, Report, Setting, Timeline
from quizkit.lab.riddle import CRASHES, HANGS, choices, reds
from quizkit.ui.screens.demo_browser import Browser, BrowserScreen
from quizkit.ui.terminal.browsing import Browsing
from quizkit.ui.terminal.screen import Screen
from quizkit.ui.text import linebreak
from quizkit.words import Lang

from .pressed import Pressed

NAMES = ("all-reduce", "ring-attention", "ring-rounding", "ulysses")
CHECKS = tuple(f"check {n}" for n in range(9))
BREAKS = {
    "late": Break("old line", "new line", "check 7", 2, "seen in a pull request"),
    "stuck": Break("old line", "", "hangs", 3),
}
DEMO = Demo(
    name="",
    path=Path("none.py"),
    topic="cp",
    law="Sharing is bearing.",
    trick="",
    watch={},
    parameters={},
    breaks=BREAKS,
    own_launch=False,
    source="",
    story="",
)
DEMOS = [replace(DEMO, name=each) for each in NAMES[1:]]
DEMOS.append(replace(DEMO, name=NAMES[0], topic="comm", law="A sum goes round.", breaks={}))
TITLES = {"cp": Text("上下文并行", "Context parallelism"), "comm": Text("通信", "Collectives")}


def browser(lang: Lang = "en", demos: list[Demo] = DEMOS) -> Browser:
    return Browser(in_topics(demos), TITLES, {"ulysses": ("deepspeed-ulysses",)}, lang)


def left(typed: str) -> list[str]:
    made = browser()
    made.type(typed)
    return [each.name for each in made.shown()]


def report(wanted: Setting, red: tuple[str, ...] = (), outcome: str = "finished") -> Report:
    return Report(
        demo=wanted.demo,
        ranks=wanted.ranks,
        args={},
        broken=wanted.broken,
        start="fork",
        backend="gloo",
        device="cpu",
        staged=False,
        reason="no CUDA GPU found",
        torch="2",
        seconds=0.1,
        outcome=outcome,  # pyright: ignore[reportArgumentType]
        error=None if outcome == "finished" else Failure(0, "no end", ()),
        checks=tuple(Check(name, 1.0, "==", 1.0, name not in red) for name in CHECKS),
        metrics={},
        how={},
        timeline=Timeline(),
        verdict="fail" if red else "pass" if outcome == "finished" else "error",
    )


def test_a_filter_goes_by_names_titles_and_the_beginnings_of_words():
    assert left("ring") == ["ring-attention", "ring-rounding"]  # and not `sharing`
    assert left("bear") == ["ring-attention", "ring-rounding", "ulysses"]
    assert left("上下文 ulys") == ["ulysses"]
    assert left("deepspeed") == ["ulysses"]
    assert left("Collect") == ["all-reduce"]
    assert left("nothing") == []
    # Without one, those to begin with come first and once more in their topic.
    assert left("") == [
        *("ring-attention", "all-reduce"),
        *("all-reduce", "ring-attention", "ring-rounding", "ulysses"),
    ]


def test_the_cursor_goes_to_what_has_it_in_its_name_and_stops_at_the_ends():
    made = browser()
    made.type("r")
    assert made.chosen
    assert made.chosen.name == "ring-attention"  # it begins so, `all-reduce` only has it in it
    made.type("ulys")
    assert (made.at, made.chosen and made.chosen.name) == (0, "ulysses")
    made.type("")
    for by, at in ((-1, 0), (1, 1), (99, 5), (-1, 4)):
        made.walk(by)
        assert made.at == at


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("height", [12, 24])
def test_it_is_as_high_as_the_terminal_and_the_cursor_is_seen(
    lang: Lang, width: int, height: int
) -> None:
    linebreak.install()
    made = browser(lang, [replace(DEMO, name=f"demo-{n:02}", law="law " * 40) for n in range(60)])
    for at in (0, 1, 30, 58, 59):
        made.at = at
        file = io.StringIO()
        shown = Console(file=file, width=width, height=height, color_system=None, markup=False)
        shown.print(BrowserScreen(made))
        lines = file.getvalue().splitlines()
        assert len(lines) == height - 1  # one is left for the cursor of the terminal
        assert max(map(cell_len, lines)) <= width
        assert [line for line in lines if line.startswith(f"> demo-{at:02}  law")]
        [said] = [line for line in lines if line.startswith(("↓ ", "↑ "))]
        assert "↓" in said or at >= 58
        assert "↑" in said or at <= 1
        assert at not in (0, 59) or len(said.split("  ")) == 1


def test_what_may_be_picked_holds_what_is_declared_and_the_two_ends():
    sound = report(Setting("ulysses", 2))
    picks = choices(DEMOS[2], "late", sound)
    assert picks[-2:] == [HANGS, CRASHES]
    assert "check 7" in picks
    assert len(picks) == 7
    assert picks[:-2] == sorted(picks[:-2])  # in the run's own order
    assert picks == choices(DEMOS[2], "late", sound)
    stuck = choices(DEMOS[2], "stuck", sound)
    assert len(stuck) == 6
    assert stuck.count(HANGS) == 1


def test_what_went_red_is_a_check_or_the_end():
    wanted = Setting("ulysses", 2)
    assert reds(report(wanted)) == ()
    assert reds(report(wanted, ("check 4", "check 2"))) == ("check 2", "check 4")
    assert reds(report(wanted, outcome="hung")) == (HANGS,)
    assert reds(report(wanted, outcome="crashed")) == (CRASHES,)


def screens(*keys: str, red: tuple[str, ...] = (), outcome: str = "finished") -> list[str]:
    """What was painted, one text a screen, and the settings that were run, as `run: SETTING`."""
    file = io.StringIO()

    def run(wanted: Setting) -> Report:
        file.write(f"\x1b[H\x1b[2Jrun: {wanted}")
        if wanted.broken == "stuck":
            raise LabError("bench_killed")
        return report(wanted, red, outcome) if wanted.broken else report(wanted)

    console = Console(file=file, width=100, height=40, color_system=None, markup=False)
    made = Browsing(Screen(console), Pressed(keys), browser(), run, 4)
    made.browse(lambda: None)
    return file.getvalue().split("\x1b[H\x1b[2J")


def test_letters_look_enter_runs_and_comes_back():
    shown = screens(*"ulys", "enter", "enter", "escape", "q")
    assert "run: ulysses --ranks 4" in shown
    assert "every check holds" in shown[-3]
    assert "> ulysses" in shown[-2]
    assert shown[-1].startswith("4 demos")


def test_b_shows_the_change_asks_runs_and_says_what_went_red_first():
    keys = [*"ulys", "tab", "b"]
    picks = choices(DEMOS[2], "late", report(Setting("ulysses", 2)))
    pick = str(1 + picks.index("check 7"))
    asked = screens(*keys)[-1]
    assert "- old line" in asked
    assert "+ new line" in asked
    assert f"{pick} check 7" in asked
    told = screens(*keys, pick, red=("check 7", "check 8"))
    assert told.count("run: ulysses --ranks 2") == 1
    assert told.count("run: ulysses --ranks 2 --break late") == 1
    assert "You saw it coming." in told[-1]
    assert "First to go red: check 7" in told[-1]
    assert "seen in a pull request" in told[-1]
    early, *_ = (each for each in picks if each < "check 7")
    assert "goes red too, but not first" in screens(*keys, pick, red=(early, "check 7"))[-1]
    assert "Not that one." in screens(*keys, "1", red=("check 7",))[-1]
    # A check that could not be picked went red before: nobody is wrong because of that.
    hidden = next(each for each in CHECKS if each not in picks and each < "check 7")
    both = screens(*keys, pick, red=(hidden, "check 7"))[-1]
    assert "You saw it coming." in both
    assert f"First to go red: {hidden}" in both


def test_an_end_is_a_pick_and_the_next_b_plants_the_next_bug():
    keys = [*"ulys", "tab", "b"]
    hangs = str(1 + choices(DEMOS[2], "late", report(Setting("ulysses", 2))).index(HANGS))
    assert "You saw it coming." in screens(*keys, hangs, outcome="hung")[-1]
    shown = screens(*keys, "1", "b", "1")
    assert "run: ulysses --ranks 3" in shown
    assert "run: ulysses --ranks 3 --break stuck" in shown
    assert LabError("bench_killed").message("en") in " ".join(shown[-1].split())


def test_a_digit_beyond_the_last_is_no_pick_and_what_has_no_bug_says_so():
    assert not [each for each in screens(*"ulys", "tab", "b", "9") if "--break" in each]
    assert "all-reduce has no bug to plant" in screens("down", "b", "q")[-1]
