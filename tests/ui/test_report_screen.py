"""A run on the screen, in both languages, at the widths people have."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from quizkit.lab.catalogue import Break, Demo, Watch
from quizkit.lab.report import Failure, Report
from quizkit.ui.screens.report_screen import options, show, state
from quizkit.ui.text import linebreak
from quizkit.words import Lang

REPORTS = Path(__file__).parents[1] / "lab" / "reports"
LANGS: list[Lang] = ["zh", "en"]


def report(name: str) -> Report:
    return Report.from_json(json.loads((REPORTS / f"{name}.json").read_text(encoding="utf-8")))


def demo(run: Report, **breaks: Break) -> Demo:
    return Demo(
        name=run.demo,
        path=Path("demo.py"),
        topic="pp",
        law="The law of it, said in one line that is longer than the narrowest of screens.",
        trick="",
        watch={name: Watch(False, f"what {name} is, in some words") for name in run.metrics},
        parameters={},
        breaks={name.replace("_", "-"): each for name, each in breaks.items()},
        own_launch=False,
        source="",
        story="",
    )


def shown(
    run: Report,
    of: Demo,
    lang: Lang = "en",
    width: int = 80,
    plain: bool = False,
    colour: bool = False,
) -> str:
    linebreak.install()
    file = io.StringIO()
    system = "standard" if colour else None
    screen = Console(
        file=file,
        width=width,
        force_terminal=colour,
        color_system=system,
        markup=False,
        emoji=False,
        highlight=False,
    )
    show(screen, run, of, lang, plain)
    return file.getvalue()


@pytest.mark.parametrize("file", sorted(REPORTS.glob("*.json")), ids=lambda file: file.stem)
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("lang", LANGS)
def test_no_line_is_too_long(file: Path, lang: Lang, plain: bool) -> None:
    run = report(file.stem)
    for width in (60, 80, 120):
        text = shown(run, demo(run), lang, width, plain)
        assert max(cell_len(line) for line in text.splitlines()) <= width


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("lang", LANGS)
def test_everything_measured_is_there(lang: Lang, width: int, plain: bool) -> None:
    run = report("pipeline")
    text = " ".join(shown(run, demo(run), lang, width, plain).split())
    for name in run.metrics:
        assert f" {name}" in text  # the name is never cut in two
        assert width < 120 or f"what {name} is, in some words" in text
    assert "[3, 3, 2, 1]" in text  # one value for each rank, not collapsed
    for check in run.checks:
        assert all(word in text for word in check.name.split())
    assert ("没有找到 CUDA GPU" if lang == "zh" else "no CUDA GPU found") in text
    assert "rank 3 |" in text
    assert ("所有检查都成立" if lang == "zh" else "every check holds") in text


def test_plain_is_one_fact_a_line() -> None:
    run = report("pipeline")
    lines = shown(run, demo(run), width=400, plain=True).splitlines()
    assert "  peak_live_1f1b  [3, 3, 2, 1]  counted  what peak_live_1f1b is, in some words" in lines


def test_the_options_can_be_typed_again() -> None:
    given = {"order": "", "lines": "F0 B0 / F0 B0", "cut_off": False, "hop_time": 0.5}
    text = options(replace(report("pipeline"), args=given))
    assert text == "--order '' --lines 'F0 B0 / F0 B0' --no-cut-off --hop-time 0.5"


def test_prose_breaks_where_the_screen_ends() -> None:
    run = report("ring_attention")
    of = demo(run)
    told = " ".join(["tell"] * 30)
    of = replace(of, watch={"work": Watch(False, told)})
    for width in (60, 120):
        assert shown(run, of, width=width).split().count("tell") == 30


def test_words_say_what_colours_say() -> None:
    run = report("all_reduce_average")
    planted = Break("a + b", "a - b", "ring equals all_reduce", 2, "told at a whiteboard")
    text = shown(run, demo(run, average=planted))
    assert "FAILS  ring equals all_reduce" in text
    assert "ok     tree equals all_reduce" in text
    assert "- a + b" in text
    assert "+ a - b" in text
    assert 'the check "ring equals all_reduce" fails' in text
    assert "told at a whiteboard" in text
    assert "fail  failing: ring equals all_reduce" in text
    assert "showed itself as declared" in text
    assert "\x1b" not in text
    coloured = shown(run, demo(run, average=planted), colour=True)
    assert "\x1b[1;31mFAILS\x1b[0m" in coloured
    assert "\x1b[1;31mfail\x1b[0m" in coloured


def test_a_break_that_shows_in_another_way_is_not_praised() -> None:
    run = report("all_reduce_average")
    for expect in ("hangs", "crashes: ValueError", "tree equals all_reduce"):
        text = shown(run, demo(run, average=Break("a", "b", expect)))
        assert "did not show itself" in text


@pytest.mark.parametrize(
    ("lang", "ending", "said"),
    [("zh", "死锁", "rank 1 停在"), ("en", "deadlock", "rank 1 was at")],
)
def test_a_hang_shows_where_each_rank_waits(lang: Lang, ending: str, said: str) -> None:
    run = report("all_reduce_hung")
    text = shown(run, demo(run), lang, 120)
    assert ending in text
    assert said in text
    assert "demos/all_reduce.py" in text


def test_a_refusal_says_what_would_work() -> None:
    run = report("ring_attention_refused")
    assert "380 or 390" in shown(run, demo(run))


def test_the_state_of_the_machine_is_named() -> None:
    run = replace(report("ring_attention"), backend="nccl", device="cuda", ranks=2)
    run = replace(run, reason="8 CUDA GPUs found, one for each of 2 ranks")
    assert "nccl x 2" in shown(run, demo(run), width=200)
    assert "找到 8 张 CUDA GPU" in shown(run, demo(run), "zh", 200)
    shared = replace(run, backend="gloo", staged=True, reason="1 CUDA GPU found for 2 ranks")
    assert "staged through the host" in shown(shared, demo(run), width=200)
    assert "2 个 rank 共用 1 张" in shown(shared, demo(run), "zh", 200)
    assert state(run, "en").startswith("2 ranks, ")
    assert state(replace(run, ranks=1), "en").startswith("1 rank, ")


def test_text_from_a_run_is_never_markup() -> None:
    run = report("ring_attention")
    message = "rank 0 raised KeyError: [bold]x[/bold] :smile: [4, 3]"
    run = replace(run, outcome="crashed", verdict="error", error=Failure(0, message))
    assert message in shown(run, demo(run), width=200)
