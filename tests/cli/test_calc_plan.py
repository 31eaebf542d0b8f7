"""`quizkit calc plan` as a person or a program meets it."""

import json
import os
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import started
from typer.testing import CliRunner, Result

from quizkit.calc.plan.ranking import ranked
from quizkit.cli.app import app

LLAMA = ("--model", "llama-3-70b", "--gpus", "64xH100", "--seq", "8192", "--batch", "1024")
MOE = ("--model", "mixtral-8x7b", "--gpus", "16xH100", "--seq", "4096", "--batch", "256")
SMALL = ("--model", "llama-3-8b", "--gpus", "16xH100", "--seq", "4096", "--batch", "64")
LARGE = ("--model", "llama-3-405b", "--gpus", "64xH100", "--seq", "8192", "--batch", "1024")


@pytest.fixture(autouse=True, scope="module")
def each_job_ranked_once() -> Iterator[None]:
    """The same few jobs are shown in many ways; what ranks them is tested in tests/calc."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("quizkit.cli.calc_plan.ranked", cache(ranked))
        yield


def run(home: Path, *words: str, width: int = 80, lang: str = "en") -> Result:
    env = {"QUIZKIT_HOME": str(home), "COLUMNS": str(width), "QUIZKIT_LANG": lang}
    return CliRunner().invoke(app, ["calc", "plan", *words], env=env)


def data(home: Path, *words: str, code: int = 0) -> dict[str, Any]:
    done = run(home, *words, "--json")
    assert (done.exit_code, done.stderr) == (code, "")

    def refused(name: str) -> None:
        pytest.fail(f"{name} is no JSON")

    return json.loads(done.stdout, parse_constant=refused)


def columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_screen_fits(tmp_path: Path, width: int, lang: str):
    here = LLAMA if width == 80 else SMALL
    for words in (
        here,
        (*here, "--why", "tp=8,pp=2"),
        (*here, "--why", "tp=16"),
        LARGE,
        (*SMALL, "--explain"),
        (*SMALL, "--plain"),
    ):
        done = run(tmp_path, *words, width=width, lang=lang)
        assert done.exit_code == (words == LARGE)
        assert done.stderr == ""
        assert "\x1b" not in done.stdout
        assert max(map(columns, done.stdout.splitlines())) <= width
        if width >= 80 and not {"--explain", "--plain"} & {*words}:
            assert len(done.stdout.splitlines()) <= (28 if "--why" in words else 24), words
        if "--explain" not in words:
            torn = r"\d\n *(?:s|GB|GB/s|TFLOP/s|GPUs?)(?![\w/])"
            assert not re.search(torn, done.stdout), words
            torn = r"[\u4e00-\u9fff]\n *[\u4e00-\u9fff]"
            assert not re.search(torn, done.stdout[done.stdout.find("共枚举") :]), words


def test_the_screen_says_what_json_says(tmp_path: Path):
    screen, found = run(tmp_path, *LLAMA).stdout, data(tmp_path, *LLAMA)
    assert found["schema"] == "quizkit/calc.plan/1"
    assert found["layouts"] == found["layouts_fit"] + sum(found["layouts_fell"].values())
    divided = found["grids"] - sum(found["grids_fell"].values())
    assert found["grids_fit"] <= divided - found["grids_slow"]
    rows = [line for line in screen.splitlines() if re.match(r"[1-5]   ", line)]
    assert len(rows) == len(found["best"]) == 5
    for row, best in zip(rows, found["best"], strict=True):
        degrees = best["layout"]
        names = ("tp", "cp", "pp", "virtual", "dp", "zero", "batch")
        told = [*(degrees[name] for name in names), best["microbatches"], degrees["recompute"]]
        assert row.split()[1:10] == [*map(str, told)]
        assert f"{best['tokens_per_second']:,.0f}" in row
        assert f"{100 * best['mfu']:.1f}%" in row
        assert sum(best["seconds"].values()) == pytest.approx(best["step_seconds"])
        parts = [best[f"{part}_bytes"] for part in ("states", "activations", "logits")]
        assert sum(parts) == best["memory_bytes"] <= found["inputs"]["usable_bytes"]
    grids = [tuple(each["layout"][n] for n in ("tp", "cp", "pp", "dp")) for each in found["best"]]
    assert len(set(grids)) == 5
    counts = f"{found['layouts_fit']:,} of {found['layouts']:,} layouts fit"
    assert counts in " ".join(screen.split())
    for said in (
        "65% of 989 TFLOP/s dense",
        "80% of 450 GB/s one way in a node of 8, 50 a GPU across",
        "fullest rank, of 80 GB",
        "80 GB as sold",
        "m: micro-batches",
        "shards over dp x cp",
        "Megatron's is 1: --why zero=1",
        "No DualPipe",
    ):
        assert said in " ".join(screen.split())


def test_the_best_step_adds_up_on_the_screen(tmp_path: Path):
    for words in (LLAMA, MOE, SMALL):
        said = " ".join(run(tmp_path, *words).stdout.split())
        found = re.search(r"Row 1: ([\d.]+) s = ([^;]+); MFU ([\d.]+)% = 65% x ([^.]+.+?)\. ", said)
        assert found, said
        terms = [float(each) for each in re.findall(r"[\d.]+(?= \+|$)", found[2])]
        assert sum(terms) == pytest.approx(float(found[1]), abs=1e-9)
        top, logits, pp, step = map(float, re.findall(r"[\d.]+", found[4]))
        assert 65 * (top + logits / pp) / step == pytest.approx(float(found[3]), abs=0.1)


def test_exposed_shares_are_all_there_and_add_up(tmp_path: Path):
    for words, axes in ((LLAMA, ["tp", "cp", "pp", "dp"]), (MOE, ["tp", "cp", "ep", "pp", "dp"])):
        lines = [
            line
            for line in run(tmp_path, *words).stdout.splitlines()
            if " GB: " in line and "+" in line
        ]
        assert len(lines) == 6, lines
        for line in lines[1:]:
            total, parts = re.findall(r"exposed ([\d.]+)%: (.*)", line)[0]
            shares = dict(zip(parts.split()[::2], map(float, parts.split()[1::2]), strict=True))
            assert list(shares) == axes
            assert sum(shares.values()) == pytest.approx(float(total))


def test_every_grid_is_counted_once(tmp_path: Path):
    for words in (LLAMA, MOE, SMALL):
        said = " ".join(run(tmp_path, *words).stdout.split())
        total, parts = re.findall(r"([\d,]+) grids: ([^.]+)\.", said)[0]
        assert sum(int(each) for each in re.findall(r"(?:^|, )(\d+)", parts)) == int(total)


def test_the_layout_asked_about_has_a_row(tmp_path: Path):
    screen = run(tmp_path, *LLAMA, "--why", "tp=8,pp=4").stdout
    rows = [line.split() for line in screen.splitlines() if re.match(r"(1|21) +\d", line)]
    assert [row[0] for row in rows] == ["1", "21"]
    assert rows[1][1:12] == ["8", "1", "4", "10", "2", "1", "2", "256", "none", "116.7", "71,885"]
    assert "--why tp=8,pp=4" not in screen
    screen = run(tmp_path, *LLAMA, "--why", "zero=1").stdout
    assert "\n-   " in screen  # another layout of its grid is faster
    assert "--why zero=1" not in screen
    assert "\n-   " not in run(tmp_path, *LLAMA, "--why", "tp=2").stdout


def test_what_is_too_close_is_said(tmp_path: Path):
    from quizkit.ui.screens.layout_screen import _CLOSE

    best = [each["step_seconds"] for each in data(tmp_path, *LLAMA)["best"]]
    assert best[4] / best[0] < _CLOSE
    spread = f"within {100 * (best[4] / best[0] - 1):.1f}%: too close to call"
    assert spread in run(tmp_path, *LLAMA).stdout


def test_without_options_an_example_stands_beside(tmp_path: Path):
    done = run(tmp_path)
    said = str(done.exception) + done.output
    assert done.exit_code
    assert "quizkit calc plan --model llama-3-70b --gpus 64xH100" in said


def test_experts_have_a_column(tmp_path: Path):
    screen = run(tmp_path, *MOE).stdout
    assert " ep dp " in " ".join(screen.split())
    assert " ep dp " not in " ".join(run(tmp_path, *LLAMA).stdout.split()).split("Row 1")[0]
    assert "(experts: tp x cp x dp/ep)" in " ".join(screen.split())
    best = data(tmp_path, *MOE)["best"][0]
    assert best["layout"]["ep"] > 1
    assert best["seconds"]["ep"] > 0


def test_explain_tells_every_term_of_the_best(tmp_path: Path):
    said = " ".join(run(tmp_path, *LLAMA, "--explain", width=120).stdout.split())
    found = data(tmp_path, *LLAMA)
    for name, each in found["formulas"].items():
        assert f" {name} = " in said
        assert each["source"].split()[0] in said
    step = found["formulas"]["step_seconds"]
    assert step["value"] == found["best"][0]["step_seconds"]
    assert "bubble_seconds" in step["formula"]
    assert " gradients per device: " in said, "a figure has its own sheet's words"


def test_nothing_fits(tmp_path: Path):
    found = data(tmp_path, *LARGE, code=1)
    assert found["best"] == []
    assert found["least"]["part"] == "states"
    over = sum(found["least"]["bytes"].values()) - found["inputs"]["usable_bytes"]
    assert found["least"]["over_bytes"] == pytest.approx(over)
    assert found["enough_gpus"] == 128
    said = " ".join(run(tmp_path, *LARGE).stdout.split())
    assert "Nothing fits. The smallest is tp=8" in said
    assert f"{over / 1e9:.1f} GB too many" in said
    assert "128 GPUs would do" in said
    assert "一种都放不下" in run(tmp_path, *LARGE, lang="zh").stdout


@pytest.mark.parametrize(
    ("why", "kind", "said"),
    [
        (
            "tp=8,pp=4",
            "slower",
            "16.4 s slower: exposed tp +17.8, recompute -0.8, exposed cp -0.6.",
        ),
        ("tp=1,pp=1,zero=1", "memory", "weights, gradients and optimizer states are too much"),
        ("tp=2,pp=8,cp=1,recompute=none", "memory", "activations are too much"),
        ("tp=16", "divides", "tp=16 is more than the 8 GPUs of a node"),
        ("tp=8,pp=16", "divides", "64 GPUs are no multiple of these degrees"),
        ("mb=3", "divides", "v and mb do not go with it"),
    ],
)
def test_why(tmp_path: Path, why: str, kind: str, said: str):
    screen = " ".join(run(tmp_path, *LLAMA, "--why", why).stdout.split())
    found = data(tmp_path, *LLAMA, "--why", why)["why"]
    assert said in screen
    assert found["kind"] == kind
    if found["mend"]:
        kept = " ".join(f"{name}={value}" for name, value in found["mend"]["kept"].items())
        assert all(found["mend"]["layout"][n] == v for n, v in found["mend"]["kept"].items())
        assert (f"The fastest with {kept} " in screen) == bool(kept)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "llama-3-70c", *LLAMA[2:]), "There is no model llama-3-70c"),
        (("--model", "llama-3-70b", "--gpus", "64xH10", *LLAMA[4:]), "Try: H100"),
        (("--model", "llama-3-70b", "--gpus", "H100", *LLAMA[4:]), "for example 64xH100"),
        (LLAMA[:-2], "calc plan needs --batch"),
        ((*LLAMA, "--why", "pt=8"), "--why has no degree pt. Try: tp"),
        ((*LLAMA, "--why", "tp=x"), "--why cannot read x for tp"),
        ((*LLAMA, "--tp", "8"), "calc plan has no option --tp"),
        ((*LLAMA, "--quiz"), "calc plan has no option --quiz"),
        ((*LLAMA[:-1], "0"), "--batch cannot be 0"),
    ],
)
def test_a_wrong_word_has_one_clear_sentence(tmp_path: Path, words: tuple[str, ...], said: str):
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": "en"}
    done = started.quizkit("calc", "plan", *words, env=env)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_config_of_ones_own_is_a_model(tmp_path: Path):
    file = tmp_path / "config.json"
    sizes = {
        "model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192,
        "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672,
        "vocab_size": 128256, "tie_word_embeddings": False,
    }  # fmt: skip
    file.write_text(json.dumps(sizes), encoding="utf-8")
    mine = data(tmp_path, "--model", str(file), *LLAMA[2:])
    named = data(tmp_path, *LLAMA)
    assert mine["best"] == named["best"]
