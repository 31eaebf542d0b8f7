"""A measurement in words: no bound of a formula, no unit that does not fit, nothing cut in two."""

import re

import pytest

from quizkit.lab.catalogue import catalogue
from quizkit.proof.facts import Fact
from quizkit.ui.proof.agreement import fitted
from quizkit.ui.proof.measurement import all_told, told
from quizkit.ui.screens.demo_words import demo_words
from quizkit.words import Lang

DEMOS = catalogue()


def sentence(demo: str, fact: Fact, holds: bool, lang: Lang) -> str:
    return told(fact, holds, DEMOS[demo], demo_words(DEMOS[demo], lang), lang)


@pytest.mark.parametrize(
    ("demo", "fact", "holds", "begins"),
    [
        ("varlen", Fact("error", 1.1e-14, relation="below", wanted=1e-12), True,
         ("agrees to rounding (1.1e-14): outputs and", "在舍入误差之内一致（1.1e-14）：")),
        ("varlen", Fact("error", 0.0), True,
         ("no difference beyond rounding: ", "除舍入外没有差别：")),
        ("varlen", Fact("error", 1.41, relation="below", wanted=1e-12), False,
         ("would agree, differs by 1.4: ", "若成立应一致，实测相差 1.4：")),
        ("varlen", Fact("error", 1e-15, relation="above", wanted=0.01), False,
         ("would differ, agrees to rounding (1.0e-15)", "若成立应不同，实测在舍入误差之内一致")),
        ("paged-cache", Fact("hit_tokens", 32, relation="equal", wanted=16), False,
         ("would be 16, was 32: tokens of its prompt that a late request finds",
          "若成立应为 16 个 token，实测 32 个 token：")),
        ("paged-cache", Fact("hit_tokens", 1), True,
         ("1 token of its prompt", "1 个 token：")),
        ("paged-cache", Fact("alone_error", 0.58), True,
         ("differs by 0.58: second request: from one process", "相差 0.58：第二条请求的输出")),
        ("nan-hunt", Fact("bad_before", 3, "sum"), True,
         ("3 ranks: this rank's own gradient had a NaN", "3 个 rank：求和之前")),
        ("nan-hunt", Fact("bad_before", [0, 0, 0, 1]), True,
         ("yes on rank 3 only: this", "只有 rank 3 是：求和之前")),
        ("nan-hunt", Fact("bad_before", [1, 1]), True,
         ("yes (each rank): this", "每个 rank 是：求和之前")),
        ("flash", Fact("traffic_v1", 10, than="less"), True,
         ("less than 10 elements", "小于 10 个元素：")),
    ],
)  # fmt: skip
def test_a_measurement_is_a_sentence(demo: str, fact: Fact, holds: bool, begins: tuple[str, str]):
    for lang, begin in zip(("en", "zh"), begins, strict=True):
        assert sentence(demo, fact, holds, lang).startswith(begin)


@pytest.mark.parametrize(
    ("demo", "facts", "lines"),
    [
        ("flash", [Fact("traffic_v2", 8), Fact("traffic_v1", 10, than="less"), Fact("seq", 1)],
         ("8 elements.*, less than 10 elements.*\n1", "8 个元素：.*，小于 10 个元素：.*\n1")),
        ("pipeline",
         [Fact("peak_live_1f1b", 4, "max"), Fact("peak_live_1f1b", 4, "rank", than="same")],
         (r"4 micro-batches \(most of any rank\), the same as 4 micro-batches \(rank 0\)",
          "4 个 micro-batch（各 rank 里最大），等于 4 个 micro-batch（rank 0）：1F1B")),
    ],
)  # fmt: skip
def test_two_measurements_held_against_each_other_share_a_line(
    demo: str, facts: list[Fact], lines: tuple[str, str]
):
    for lang, expected in zip(("en", "zh"), lines, strict=True):
        found = all_told(facts, True, DEMOS[demo], demo_words(DEMOS[demo], lang), lang)
        assert len(found) == len(facts) - 1
        assert re.match(expected, "\n".join(found)), found


def test_no_sentence_reads_as_a_check():
    """Whatever a demo measures, a bound that is missed by as good as nothing is not printed."""
    for name, demo in DEMOS.items():
        for metric, watch in demo.watch.items():
            if watch.unit == "difference":
                fact = Fact(metric, 0.3, relation="below", wanted=1e-12)
                for lang in ("zh", "en"):
                    assert "1e-12" not in sentence(name, fact, False, lang)


@pytest.mark.parametrize(
    ("value", "unit", "shown", "scale"),
    [
        (6.4e-07, "GB", "640 B", 1e9),
        (5 / 1024**2, "GiB", "5 KiB", 1024**2),
        (2.304e-05, "ms", "23.04 ns", 1e6),
        (0.27, "GB", "0.27 GB", 1),
        (0, "GB", "0 GB", 1),
        ([1, 2], "ms", "[1, 2] ms", 1),
        (0.001, "", "0.001", 1),
    ],
)
def test_a_small_number_has_a_unit_that_fits(
    value: float | list[int | float], unit: str, shown: str, scale: float
):
    assert fitted(value, unit)[::2] == (shown, pytest.approx(scale))
