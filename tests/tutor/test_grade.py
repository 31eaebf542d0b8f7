"""A right answer is right in any spelling; a wrong one is named."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from quizkit.bank.evidence import evidence
from quizkit.bank.formula import FormulaError, parse
from quizkit.bank.model import Choice, Numeric, Order, Text, Trap
from quizkit.bank.reader import Bank
from quizkit.lab.excerpt import Excerpt
from quizkit.tutor.asked import Asked, ask
from quizkit.tutor.grade import UnreadableError, Verdict, grade
from quizkit.tutor.typed import near

CODE = Excerpt(
    ("def story():", "    for step in range(n - 1):", "        go()"), 40, frozenset({2})
)


def verdict(bank: Bank, question: str, given: object, seed: int = 1) -> Verdict:
    return grade(ask(bank.questions[question], seed, CODE), given)


def with_n(bank: Bank, n: int) -> Asked:
    question = bank.questions["comm/ring-share"]
    return next(a for seed in range(100) if (a := ask(question, seed)).values["n"] == n)


def notes(verdict: Verdict) -> list[str]:
    return [key for key, _ in verdict.notes]


def test_one_option(bank: Bank):
    assert verdict(bank, "pp/stages", [0]).right
    assert verdict(bank, "pp/stages", 0).score == 1
    wrong = verdict(bank, "pp/stages", [1])
    assert (wrong.right, wrong.score, wrong.myth) == (False, 0, "1f1b-cuts-bubble")
    assert wrong.expected["zh"] == "激活显存"
    assert verdict(bank, "pp/stages", [2]).myth is None


@pytest.mark.parametrize("given", [[], [0, 1], [3], [-1], ["0"], "0", [True], {"a": 1}])
def test_what_is_no_pick_is_asked_again(bank: Bank, given: object):
    with pytest.raises(UnreadableError):
        verdict(bank, "pp/stages", given)


@pytest.mark.parametrize(
    ("given", "right", "score"),
    [
        ([0, 1, 2], True, 1),
        ([2, 1, 0], True, 1),
        ([0, 1], False, 2 / 3),
        ([0, 1, 2, 3], False, 2 / 3),
        ([0, 3], False, 0),
        ([3], False, 0),
    ],
)
def test_several_options_give_partial_credit_and_say_so(
    bank: Bank, given: list[int], right: bool, score: float
):
    found = verdict(bank, "pp/bubble-parts", given)
    assert (found.right, found.score) == (right, pytest.approx(score))
    assert notes(found) == ([] if right else ["study.partial"])
    assert found.myth == ("1f1b-cuts-bubble" if 3 in given else None)


def test_a_number_within_the_tolerance(bank: Bank):
    asked = with_n(bank, 4)
    for given in ("1.5", "３/2", "2*(4-1)/4", "1.507", "1.5x", "1.5 倍", "150%", 1.5):
        assert grade(asked, given).right, given
    assert grade(asked, "1.5").number == 1.5
    assert not grade(asked, "1.52").right


def test_the_trap_that_was_hit_is_named(bank: Bank):
    found = grade(with_n(bank, 4), "0.75")
    assert found.trap is not None
    assert found.trap.forgot["zh"] == "忘了 all-gather 那一半"
    assert (found.right, found.score, found.myth) == (False, 0, "half-ring")
    assert grade(with_n(bank, 4), "0.9").trap is None


def test_a_trap_that_is_right_for_this_draw_is_never_named(bank: Bank):
    # n = 2: the answer is 1; so is half of 2, the trap `2` is not.
    asked = with_n(bank, 2)
    assert grade(asked, "1").right
    assert grade(asked, "1").trap is None
    named = grade(asked, "2").trap
    assert named is not None
    assert named.forgot["en"] == "the share that stays"


def test_a_trap_as_near_to_the_answer_as_that_is_never_named(bank: Bank):
    # 1.52 is wrong (1 % of 1.5 is 0.015) and near to 1.51, which would be right for this draw.
    trap = Trap(parse("1.51"), Text("忘了", "forgot"))
    question = replace(bank.questions["comm/ring-share"], traps=(trap,))  # pyright: ignore
    found = grade(replace(with_n(bank, 4), question=question), "1.52")
    assert (found.right, found.trap) == (False, None)


def share(bank: Bank, *traps: str) -> Asked:
    """The bubble of 8 stages and 64 micro-batches, 9.86 %, and what people take it for."""
    wrong = tuple(Trap(parse(each), Text("忘了", "forgot")) for each in traps)
    question = replace(bank.questions["comm/idle-share"], answer=parse("7 / 71"), traps=wrong)  # pyright: ignore
    return ask(question, 1)


@pytest.mark.parametrize(
    "given",
    ["~10 %", "约为 10%", "nearly 10%", "约 10%", "10%左右", "≈0.099", "7/71≈0.1", "约百分之十"],
)
def test_about_so_much_is_right_within_its_digits(bank: Bank, given: str):
    assert grade(share(bank, "7 / 64"), given).right


@pytest.mark.parametrize("given", ["10 %", "= 10 %", "~9 %", "~11 %", "7/64≈0.109"])
def test_what_is_not_within_them_is_wrong(bank: Bank, given: str):
    found = grade(share(bank, "7 / 64"), given)
    assert not found.right
    # 7/64 is 10.9 %: whoever says "about 11 %" has made that mistake.
    assert (found.trap is not None) is ("11" in given or "64" in given)


def test_about_does_not_hide_a_mistake_that_rounds_to_the_same(bank: Bank):
    asked = share(bank, "0.102")
    with pytest.raises(UnreadableError) as asked_again:
        grade(asked, "~10 %")
    assert asked_again.value.note == ("study.too_rough", {"typed": "~10 %"})
    assert grade(asked, "~9.9 %").right
    named = grade(asked, "~10.2 %")
    assert (named.right, named.trap is not None) == (False, True)


@pytest.mark.parametrize(
    "given", ["0.2727", "3/11", "27.3%", "27.27 %", "27.3", "百分之27.3", ".2727"]
)
def test_a_share_in_any_spelling(bank: Bank, given: str):
    found = verdict(bank, "comm/idle-share", given)
    assert found.right
    assert found.number == pytest.approx(0.2727, abs=1e-3)


def test_gb_is_not_gib(bank: Bank):
    assert verdict(bank, "comm/buffer", "16").right
    assert verdict(bank, "comm/buffer", "16384 MiB").right
    assert verdict(bank, "comm/buffer", "17.18 GB").right
    wrong = verdict(bank, "comm/buffer", "16 GB")
    assert not wrong.right
    assert wrong.notes == (("study.converted", {"typed": "16 GB", "turned": "14.9012 GiB"}),)
    assert not verdict(bank, "comm/speed", "50 Gbps").right
    assert verdict(bank, "comm/speed", "400 Gbps").right


def test_a_wrong_unit_is_named(bank: Bank):
    wrong = verdict(bank, "comm/buffer", "16 ms")
    assert wrong.notes == (("study.wrong_unit", {"typed": "ms", "asked": "GiB"}),)
    assert wrong.number is None


@pytest.mark.parametrize("given", ["", "  ", "many", [], [16], {"a": 1}, True])
def test_what_is_no_number_is_asked_again(bank: Bank, given: object):
    with pytest.raises(UnreadableError):
        verdict(bank, "comm/buffer", given)


@pytest.mark.parametrize("given", ["1.29世界", "1.5 foo", "3/11 foo"])
def test_a_number_with_a_word_nobody_knows_is_asked_again(bank: Bank, given: str):
    for question in ("comm/ring-share", "comm/idle-share", "comm/buffer", "pp/trace-number"):
        with pytest.raises(UnreadableError):
            verdict(bank, question, given)


@pytest.mark.parametrize("given", ["17179869184", "16*2^30", "1.718e10"])
def test_right_but_for_a_unit_that_was_not_said(bank: Bank, given: str):
    with pytest.raises(UnreadableError) as asked:
        verdict(bank, "comm/buffer", given)
    assert asked.value.note == ("study.which_unit", {"typed": given, "asked": "GiB"})
    assert verdict(bank, "comm/buffer", f"{given} bytes").right
    assert not verdict(bank, "comm/buffer", f"{given} GiB").right
    assert not verdict(bank, "comm/buffer", "16000000000").right


def test_order_counts_pairs(bank: Bank):
    assert verdict(bank, "pp/order", ["forward", "send", "backward", "step"]).right
    swapped = verdict(bank, "pp/order", ["send", "forward", "backward", "step"])
    assert (swapped.right, swapped.score) == (False, pytest.approx(5 / 6))
    assert swapped.notes == (("study.pairs", {"kept": 5, "of": 6}),)
    assert verdict(bank, "pp/order", ["step", "backward", "send", "forward"]).score == 0
    assert swapped.expected["en"] == "forward → send → backward → optimiser step"


@pytest.mark.parametrize("log", range(4))
def test_a_partial_order_leaves_a_step_free(bank: Bank, log: int):
    order = ["forward", "backward", "step"]
    order.insert(log, "log")
    assert verdict(bank, "pp/partial-order", order).right


def test_a_partial_order_knows_what_follows_from_it(bank: Bank):
    # step after backward after forward: step before forward breaks a pair nobody wrote down.
    wrong = verdict(bank, "pp/partial-order", ["step", "forward", "backward", "log"])
    assert wrong.score == pytest.approx(1 / 3)


@pytest.mark.parametrize("given", [["forward"], ["a", "b", "c", "d"], "forward", ["forward"] * 4])
def test_every_step_once(bank: Bank, given: object):
    with pytest.raises(UnreadableError):
        verdict(bank, "pp/order", given)


GAPS = {"gap1": "all-reduce", "gap2": "0.5", "gap3": "16 GB", "gap4": "1F1B"}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"gap1": " ＡＬＬ  Reduce "},
        {"gap1": "allreduce"},
        {"gap1": "全规约"},
        {"gap1": "`all_reduce`"},
        {"gap2": "1/2"},
        {"gap2": "50%"},
        {"gap2": "０．５０"},
        {"gap3": "16000MB"},
        {"gap3": "16 gb"},
        {"gap4": "1f1b"},
    ],
)
def test_a_gap_in_any_spelling(bank: Bank, given: dict[str, str]):
    assert verdict(bank, "pp/cloze", GAPS | given).right


@pytest.mark.parametrize(
    "given",
    [{"gap1": "reduce"}, {"gap2": "0.51"}, {"gap3": "16"}, {"gap3": "16 GiB"}, {"gap4": "1"}],
)
def test_a_wrong_gap_is_named(bank: Bank, given: dict[str, str]):
    found = verdict(bank, "pp/cloze", GAPS | given)
    assert (found.right, found.score) == (False, 0.75)
    assert found.notes == (("study.gaps", {"gaps": next(iter(given)).removeprefix("gap")}),)


def test_every_gap_is_filled(bank: Bank):
    with pytest.raises(UnreadableError):
        verdict(bank, "pp/cloze", {"gap1": "all-reduce"})


@pytest.mark.parametrize("given", ["4 3 2 1", "[4,3,2,1]", "4，3，2，1", [4, 3, 2, 1]])
def test_a_predicted_list(bank: Bank, given: object):
    assert verdict(bank, "pp/trace-list", given).right


def test_a_predicted_list_that_is_wrong(bank: Bank):
    found = verdict(bank, "pp/trace-list", "4 4 2 1")
    assert (found.right, found.score, found.expected["en"]) == (False, 0.75, "[4, 3, 2, 1]")
    short = verdict(bank, "pp/trace-list", "4 3 2")
    assert (short.right, notes(short)) == (False, ["study.length"])
    with pytest.raises(UnreadableError):
        verdict(bank, "pp/trace-list", "four three two one")


def test_a_predicted_number(bank: Bank):
    assert verdict(bank, "pp/trace-number", "1/4").right
    assert verdict(bank, "pp/trace-number", "0.254").right
    assert verdict(bank, "pp/trace-number", "0.26").number == 0.26
    assert not verdict(bank, "pp/trace-number", "0.26").right


def test_the_line_of_a_bug(bank: Bank):
    full = verdict(bank, "pp/bug", {"line": 2, "reasons": [0, 1]})
    assert (full.right, full.score) == (True, 1)
    assert full.expected["zh"] == "第 2 行：for step in range(n - 1):"
    some = verdict(bank, "pp/bug", {"line": 2, "reasons": [0]})
    assert (some.right, some.score) == (True, pytest.approx((1 + 2 / 3) / 2))
    assert verdict(bank, "pp/bug", 2).score == 0.5
    wrong = verdict(bank, "pp/bug", {"line": 3, "reasons": [0, 1]})
    assert (wrong.right, wrong.score) == (False, 0)
    for given in ({"line": 0}, {"line": 4}, {"line": "2"}, {}, "2", {"line": 2, "reasons": [2]}):
        with pytest.raises(UnreadableError):
            verdict(bank, "pp/bug", given)


def test_an_essay_is_its_ticks(bank: Bank):
    def essay(points: list[int], vetoes: list[int]) -> Verdict:
        return verdict(bank, "pp/essay", {"text": "...", "points": points, "vetoes": vetoes})

    assert (essay([0, 1], []).right, essay([0, 1], []).score) == (True, 0.7)
    assert (essay([0], []).right, essay([0], []).score) == (False, 0.5)
    vetoed = essay([0, 1, 2], [0])
    assert (vetoed.right, vetoed.score, vetoed.myth) == (False, 0.5, "1f1b-cuts-bubble")
    assert essay([0, 1, 2], [0, 1]).score == 0.25
    assert essay([2], [0]).score == 0.3
    assert notes(vetoed) == ["study.points", "study.vetoes"]


def test_an_essay_nobody_ticked_is_ticked_by_its_keywords(bank: Bank):
    found = verdict(bank, "pp/essay", "峰值激活更低，气泡不变")
    assert (found.right, found.score) == (True, 0.7)
    assert verdict(bank, "pp/essay", "a smaller bubble").score == 0.2


def test_not_knowing_is_wrong_and_shows_the_answer(bank: Bank):
    for question in bank.questions:
        found = verdict(bank, question, None)
        assert (found.right, found.score, notes(found)) == (False, 0, ["study.not_known"])
        assert found.expected["zh"]
        assert found.expected["en"]


def test_evidence():
    text = "ＡＬＬ reduce of the gradients; we apply 1F1B on 8 GPUs"
    keywords = ("all-reduce", "gradient", "pp", "1f1b", "GPU", "激活", "")
    assert evidence(text, keywords) == ("all-reduce", "gradient", "1f1b", "GPU")
    assert evidence("流水线气泡率", ("气泡",)) == ("气泡",)
    assert evidence("DDP and FSDP", ("dp", "ddp")) == ("ddp",)


def test_the_same_seed_is_the_same_asking(bank: Bank):
    for question in bank.questions.values():
        assert ask(question, 7) == ask(question, 7)
    question = bank.questions["pp/bubble-parts"]
    assert isinstance(question, Choice)
    assert len({ask(question, seed).order for seed in range(50)}) > 10
    assert all(sorted(ask(question, seed).order) == [0, 1, 2, 3] for seed in range(50))
    assert {ask(bank.questions["comm/ring-share"], s).values["n"] for s in range(60)} == {
        2,
        3,
        4,
        8,
    }


def test_steps_are_never_shown_in_the_right_order(bank: Bank):
    question = bank.questions["pp/order"]
    assert all(ask(question, seed).order != (0, 1, 2, 3) for seed in range(200))


def test_texts_are_filled(bank: Bank):
    asked = with_n(bank, 4)
    assert asked.fill(asked.question.prompt, "en").startswith("Ring all-reduce on 4 GPUs")
    assert asked.fill(asked.question.explain, "zh") == "共 1.5 倍"


@pytest.mark.parametrize(
    "typed", ["６", "第6格", "6 格", "６格", "六", "第六格", "slot 6", "6 slots"]
)
def test_words_that_stand_beside_the_gap_may_be_typed_too(tmp_path: Path, typed: str):
    text = (
        "kind: cloze\nlevel: 1\nprompt: x\nexplain: x\n"
        "text: {zh: '在第 [[first]] 格', en: 'in slot [[first]] slots'}\n"
        "gaps: {first: {answer: '6', value: 6}}\n"
    )
    (tmp_path / "pp").mkdir()
    (tmp_path / "pp" / "q.yaml").write_text(text, encoding="utf-8")
    question = Bank.load(tmp_path).questions["pp/q"]
    assert grade(ask(question, 1), {"first": typed}).right
    assert not grade(
        ask(question, 1), {"first": typed.translate({54: 55, 0xFF16: 55, 0x516D: 55})}
    ).right
    assert not grade(ask(question, 1), {"first": "6 GB"}).right


def test_what_is_wrong_with_a_list_of_steps_does_not_tell_their_order(bank: Bank):
    with pytest.raises(UnreadableError) as caught:
        verdict(bank, "pp/order", ["nonsense"])
    named = str(caught.value.note[1]["steps"]).split(", ")
    assert named == sorted(named)
    assert named != [step.id for step in cast(Order, bank.questions["pp/order"]).steps]


@pytest.mark.parametrize(
    ("answer", "right", "wrong"),
    [
        (
            "2",
            ["two", "Two", "两", "二", "两个", "slot two", "two times"],
            ["three", "十二", "twos"],
        ),
        ("0", ["zero", "零"], ["ten", "十"]),
        ("12", ["twelve", "十二", "第十二格"], ["二十二", "二", "twelfth"]),
        (
            "48",
            ["四十八", "第四十八格", "~48", "forty-eight", "Forty eight"],
            ["四十九", "forty", "~47"],
        ),
        ("128", ["一百二十八", "第 一百二十八 格"], ["一百二十"]),
        ("2000", ["两千", "两千个", "2千"], ["两百"]),
        ("32000", ["3.2万", "三万二千", "三万二"], ["3.2"]),
        ("16", ["sixteen", "Sixteen", "十六", "第十六格"], ["six", "二十六", "sixteenth"]),
        ("6 GB", [], ["six", "six pieces"]),
        ("second", ["the second"], ["two"]),
    ],
)
def test_a_small_whole_number_may_be_a_word(
    tmp_path: Path, answer: str, right: list[str], wrong: list[str]
):
    text = (
        "kind: cloze\nlevel: 1\nprompt: x\nexplain: x\n"
        "text: {zh: '在第 [[first]] 格', en: 'in slot [[first]] times'}\n"
        f"gaps: {{first: {{answer: '{answer}', also: [the second]}}}}\n"
    )
    (tmp_path / "pp").mkdir()
    (tmp_path / "pp" / "q.yaml").write_text(text, encoding="utf-8")
    asked = ask(Bank.load(tmp_path).questions["pp/q"], 1)
    given = [*right, *wrong]
    assert [each for each in given if grade(asked, {"first": each}).right] == right


def test_no_mistake_passes_as_about_the_answer(shipped: Bank):
    """Each wrong result of the bank's numbers, rounded to two digits and said to be about so."""
    tried = 0
    for question in shipped.questions.values():
        if not isinstance(question, Numeric):
            continue
        asked = ask(question, 1)
        for trap in question.traps:
            try:
                wrong = float(trap.formula.number(asked.values))
            except FormulaError:
                continue
            typed = f"{wrong:.2g}"
            if near(wrong, asked.answer(), question.within) or near(
                float(typed), asked.answer(), question.within
            ):
                continue  # with these numbers it is the answer, or rounds to it
            tried += 1
            with suppress(UnreadableError):
                assert not grade(asked, f"~{typed} {question.unit}").right, (question.id, typed)
    assert tried > 150
