"""The sheet: its formulas are those of the calculators, its pictures recorded, its pages two."""

import re
import unicodedata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quizkit.bank.formula import parse
from quizkit.bank.library import Library
from quizkit.bank.lint import glossary
from quizkit.cli.app import app
from quizkit.cli.kept import kept_run
from quizkit.export.formulas import FORMULAS
from quizkit.export.sheet import CONVENTIONS, PICTURES, Sheet, printed, sheet, text
from quizkit.paths import QUESTIONS, cache_folder
from quizkit.words import Lang

NUMBERS = {
    "p": 4, "m": 8, "v": 2, "i": 1, "F": 3, "B": 2, "W": 1, "N": 8, "t": 4, "S": 8000, "α": 0.5,
    "w": 1000, "Ψ": 10**9, "K": 4, "b": 2, "s": 512, "h": 1024, "a": 16, "L": 8, "g": 2, "d": 64,
    "n": 64, "P": 10**15, "u": 0.4, "r": 4000, "D": 10**11, "Q": 2 * 10**9, "C": 10**6,
}  # fmt: skip
STATES = "memory_model_states_bytes(params=10**9, dp=8, zero="
LAYER = "activations_bytes_per_layer(hidden=1024, heads=16, seq=512, batch=2, flash=False"
HALVES = "forward=3, backward_input=2, backward_weight=1"
CALC = {
    "bubble.share": "pipeline_bubble_share(stages=4, microbatches=8)",
    "bubble.over": "pipeline_bubble_over_ideal(stages=4, microbatches=8, schedule='gpipe')",
    "bubble.chunks": "pipeline_bubble_over_ideal(stages=4, microbatches=8,"
    " schedule='interleaved', virtual=2)",
    "zero_bubble.plain": f"pipeline_closed_bubble(stages=4, microbatches=8, {HALVES})",
    "zero_bubble.zb": "pipeline_closed_bubble(stages=4, microbatches=8,"
    f" schedule='zb-h1', {HALVES})",
    "live.gpipe": "pipeline_peak_live(stages=4, microbatches=8, schedule='gpipe')[1]",
    "live.live": "pipeline_peak_live(stages=4, microbatches=8)[1]",
    "ring.sent": "allreduce_sent_bytes_per_rank(bytes=8000, ranks=8)",
    "ring.time": "allreduce_seconds(bytes=8000, ranks=8, alpha=0.5, bandwidth=1000)",
    "states.whole": f"{STATES}0)",
    "states.one": f"{STATES}1)",
    "states.two": f"{STATES}2)",
    "states.three": f"{STATES}3)",
    "traffic.two": "traffic_dp_bytes(params=10**9, dp=8) / 2",
    "traffic.three": "traffic_zero_bytes(params=10**9, dp=8, zero=3) / 2",
    "traffic.again": "traffic_zero_bytes(params=10**9, dp=8, zero=3, microbatches=4) / 2",
    "tensor.layer": "traffic_tp_bytes(params=1, layers=1, batch=2, seq=512, hidden=1024, tp=4) / 2",
    "activations.whole": f"{LAYER})",
    "activations.lean": f"{LAYER}, recompute='selective')",
    "activations.cut": f"{LAYER}, recompute='selective', tp=4, sp=True)",
    "flops.mfu": "mfu(params=10**9, layers=8, hidden=1024, seq=512, tokens_per_second=4000,"
    " gpus=64, peak=10**15)",
    "flops.days": "days(params=10**9, tokens=10**11, gpus=64, achieved=0.4 * 10**15)",
    "cache.token": "kv_bytes_per_token(layers=8, kv_heads=2, head_dim=64, seq=1)",
}


def worth(latex: str) -> float:
    """What a formula comes to, read as it is written."""
    while True:
        made = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", latex)
        if made == latex:
            break
        latex = made
    made = latex.replace(r"\times", "*").replace(r"\Psi", "Ψ").replace(r"\alpha", "α")
    made = re.sub(r"\\min(\(.*\))", r"min\1", made)
    made = re.sub(r"(?<=[\w)])\s*(?=[A-Za-zΨα(])(?<!min)(?!in\(|n\()", "*", made)
    return float(eval(made, {"min": min}, NUMBERS))


@pytest.mark.parametrize("name", CALC)
def test_a_formula_comes_to_what_the_calculator_does(name: str):
    group, place = name.split(".")
    assert worth(FORMULAS[group][place]) == pytest.approx(parse(CALC[name]).number({}), rel=1e-9)


def test_every_formula_is_held_to_a_calculator():
    every = {f"{group}.{place}" for group, parts in FORMULAS.items() for place in parts}
    # One is a part of the MFU, the other the definition of a floor.
    assert every - {*CALC} == {"flops.token", "cache.floor"}
    assert len(FORMULAS) == 10


def made(lang: Lang) -> Sheet:
    with Library([QUESTIONS], cache_folder(), thorough=False) as shelves:
        return sheet(glossary(QUESTIONS, []), lambda name: kept_run(shelves, name), lang)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_ten_formulas_three_pictures_and_the_conventions(lang: Lang):
    found = made(lang)
    assert (len(found.formulas), len(found.conventions)) == (10, len(CONVENTIONS))
    wanted = [drawn for _, drawn in PICTURES.values()]
    assert [tuple(each.schedule for each in one.charts) for one in found.pictures] == wanted
    page = printed(found)
    assert page.count("<svg") == 3
    assert "<span>(p-1)/(m+p-1)</span>" in page
    assert not re.search(r"https?:(?!//www.w3.org/2000/svg)|<script|<link|<img|url\(", page)
    told = text(found)
    assert "rank 3 |......F0B0--F1B1" in told
    assert not re.search(r"(?m)^\S*/\S*-\S* ", told)  # no slug, no paragraph of a question


def test_without_a_record_no_picture_is_promised():
    found = sheet(glossary(QUESTIONS, []), lambda _: None, "en")
    assert found.pictures == []
    assert "Three pictures" not in text(found) + printed(found)


def lines(source: str, columns: int) -> int:
    """How many lines it takes: a Chinese letter is two columns wide."""
    bare = re.sub(r"\\frac|\\|[*${}]", "", source)
    wide = sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in bare)
    return -(-wide // columns)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_sheet_is_two_pages(lang: Lang):
    """Points of an A4 page between its margins: 275 mm, which is 780."""
    found = made(lang)
    formulas = sum(13.3 * lines(each, 96) + 3.4 for each in found.formulas)
    letters = 12 * lines(found.letters, 110) + 6
    # Two columns, and one of them may be an item longer.
    notes = (sum(11.1 * lines(each, 50) + 3.4 for each in found.conventions) + 48) / 2
    assert formulas + letters + notes + 90 < 780
    boxes = re.findall(r'<svg [^>]*viewBox="0 0 (\d+) (\d+)"', printed(found))
    assert len(boxes) == 3
    assert sum(533 * int(high) / int(wide) + 6 for wide, high in boxes) + 40 < 780


def test_the_command_writes_a_page_or_tells_it(tmp_path: Path):
    env = {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": "en"}
    file = tmp_path / "s.html"
    done = CliRunner().invoke(app, ["export", "sheet", str(file), "--lang", "zh"], env=env)
    assert done.exit_code == 0, done.stderr
    assert "十个公式" in file.read_text(encoding="utf-8")
    told = CliRunner().invoke(app, ["export", "sheet", "--plain"], env=env).stdout
    assert "Ten formulas" in told
    assert "rank 0 |F0" in told
