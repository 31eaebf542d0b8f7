"""Proofs whose claims are true, and whose words or arithmetic are another thing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from quizkit.bank.model import Question, Text
from quizkit.lab.catalogue import catalogue
from quizkit.lab.report import Report
from quizkit.proof.exact import exact
from quizkit.proof.judge import BoundRun
from quizkit.proof.loose import scene
from quizkit.proof.meant import meant
from quizkit.proof.thin import thin_proof

Read = Callable[[str], Question]
Brings = Callable[..., Report]

ZERO = "proof:\n  demo: model-states\n  ranks: 4\n  claims:\n    - all(weights_same)\n"
MOE = "proof:\n  demo: moe\n  ranks: 2\n  claims:\n"


def said(asked: Question) -> str:
    return "\n".join(message for _, message in thin_proof(asked, catalogue()))


def ring(claim: str, told: str = "messages of a rank") -> str:
    return (
        f"kind: numeric\nassume: [{{zh: x, en: {told}}}]\nparams: {{n: [2, 3, 4]}}\nanswer: n\n"
        "proof:\n  demo: all-reduce\n  ranks: =n\n  args: {elements: 1200}\n"
        f"  at: [{{n: 2}}, {{n: 3}}, {{n: 4}}]\n  claims:\n    - {claim}\n"
    )


FUDGED = {
    "isclose(answer, sent_messages_ring[0] * 4 / 3)": "nowhere tell the factor 1.33333",
    "answer == sent_messages_ring[0] ** 2": "nowhere tell the power",
    "answer == sent_messages_ring[0] + n": "adds the number of ranks",
    "answer == sent_messages_ring[0] * n": "nowhere tell of all ranks",
    "answer == sent_messages_ring[0] + 7": "nowhere tell the 7",
    "answer == sum(sent_messages_ring) - sent_messages_ring[0]": "to a part of itself",
}


@pytest.mark.parametrize(("claim", "message"), FUDGED.items())
def test_arithmetic_that_nobody_is_told(question: Read, claim: str, message: str):
    assert message in said(question(ring(claim)))
    assert said(question(ring("answer == sent_messages_ring[0]"))) == ""


def test_a_factor_that_is_told_is_fair(question: Read):
    claim = "isclose(answer, sent_messages_ring[0] * 7)"
    # How many there are of something is no factor: that has a name.
    assert "nowhere tell the factor 7" in said(question(ring(claim, "messages of 7 ranks")))
    assert said(question(ring(claim, "each of them 7 times"))) == ""


def choice(text: str, claim: str, right: bool = True) -> str:
    other = "  - {text: b, why: w, myth: m, claim: 'sent_bytes_1[0] < 1'}\n"
    more = "correct: true" if right else "why: w, myth: m"
    rest = "" if right else "  - {text: c, correct: true, claim: 'sent_bytes_1[0] > 1'}\n"
    return (
        f'kind: choice\noptions:\n  - {{text: "{text}", {more}, claim: "{claim}"}}\n{rest}{other}'
    )


SAID = {
    ("They grow to 1.5 times", "isclose(sent_bytes_1[0], sent_bytes_0[0])"): "says 1.5",
    ("At least a hundred times less", "sent_bytes_1[0] < sent_bytes_0[0]"): "says 100",
    ("A step is shorter", "sent_bytes_1[0] < sent_bytes_0[0]"): "the words are about `step is`",
    ("They stay the same", "sent_bytes_1[0] < sent_bytes_0[0]"): "nothing is equal",
    ("They shrink", "sent_bytes_1[0] == sent_bytes_0[0]"): "that it is equal",
    ("ZeRO-1 sends as much", "sent_bytes_3[0] == sent_bytes_0[0]"): "another stage of ZeRO",
    ("Weights, not gradients", "weights_bytes_1[0] == weights_bytes_0[0] and "
     "gradients_bytes_2[0] < gradients_bytes_1[0]"): "denies",
}  # fmt: skip


@pytest.mark.parametrize(("told", "message"), SAID.items())
def test_an_option_whose_claim_says_another_thing(
    question: Read, told: tuple[str, str], message: str
):
    assert message in said(question(choice(*told) + ZERO))
    honest = choice("They grow to 1.5 times", "isclose(sent_bytes_1[0], 1.5 * sent_bytes_0[0])")
    assert said(question(honest + ZERO)) == ""


BEYOND = {
    ("The last stage finishes latest", "finish_1f1b[0] >= max(finish_1f1b)"): "the claim of [0]",
    ("Rank 2 finishes latest", "finish_1f1b[1] >= max(finish_1f1b)"): "the claim of [1]",
    ("Rank 2 is far faster than rank 3", "finish_1f1b[2] < finish_1f1b[3]"): "how far is not in",
    ("1F1B idles far less", "bubble_1f1b < bubble_gpipe"): "how far is not in",
}


@pytest.mark.parametrize(("told", "message"), BEYOND.items())
def test_an_option_that_says_more_than_its_claim(
    question: Read, told: tuple[str, str], message: str
):
    run = "proof: {demo: pipeline, ranks: 4, claims: [grad_error < 0.1]}\n"
    text = "kind: choice\noptions:\n  - {text: '%s', correct: true, claim: '%s'}\n"
    text += "  - {text: b, why: w, myth: m}\n" + run
    assert message in said(question(text % told))
    words, claim = told
    nearer = claim.replace("[1]", "[2]").replace("[0]", "[-1]").replace("<", "< 0.1 *")
    assert said(question(text % (words, nearer))) == ""


def numeric(question: Read, asked: str, claim: str) -> Question:
    proof = f"proof:\n  demo: pipeline\n  ranks: 4\n  claims:\n    - {claim}\n"
    return replace(question("kind: numeric\nanswer: 7\n" + proof), prompt=Text(asked, asked))


def test_bits_are_asked_and_bytes_were_measured(question: Read):
    asked = "How many %s does rank 0 send?"
    claim = "answer == sent_bytes_1f1b[0]"
    assert "bits are asked, and bytes" in said(numeric(question, asked % "bits", claim))
    assert "elements are asked" in said(numeric(question, asked % "elements", claim))
    for right in (
        numeric(question, asked % "bytes", claim),
        numeric(question, asked % "bits", claim.replace("==", "== 8 *")),
    ):
        assert "are asked" not in said(right)


def test_what_is_kept_is_asked_and_what_is_sent_was_measured(question: Read):
    words = ("rank 0 hold at most", "rank 0 send")
    claims = ("answer == saved_bytes_1f1b[0]", "answer == sent_bytes_1f1b[0]")
    for asked in words:
        for claim in claims:
            found = said(numeric(question, f"How many bytes does {asked}?", claim))
            matches = words.index(asked) == claims.index(claim)
            assert ("the words are about" in found) is not matches, (asked, claim, found)


def test_a_key_that_goes_by_what_nobody_asks_about(question: Read):
    about = {"peak_live_1f1b[0]": "micro-batches alive", "makespan_1f1b": "length of the step"}
    for metric in about:
        asked = numeric(question, "How many {}?", f"answer == {metric}")
        for other, words in about.items():
            text = f"How many {words}?"
            found = said(replace(asked, prompt=Text(text, text)))
            assert ("no word of the question is about" in found) is (other != metric), found


def test_a_point_about_something_else(question: Read):
    text = "kind: essay\nrubric:\n  - {points: 1, says: %s, keywords: [k], claim: '%s'}\n" + ZERO
    claim = "gradients_bytes_2[0] < gradients_bytes_1[0]"
    assert "no word of the text" in said(question(text % ("it halves the training time", claim)))
    assert said(question(text % ("gradients are cut", claim))) == ""


def test_steps_that_change_places(question: Read):
    text = (
        "kind: order\nsteps:\n  - {id: one, text: Experts compute}\n  - {id: two, text: %s}\n"
        + MOE
        + "    - (one < two) == (turn_gate %s turn_experts)\n"
    )
    assert "worded like" in said(question(text % ("Routing of tokens", "<")))
    assert "turns the comparison round" in said(question(text % ("Wait", ">")))


def test_steps_that_change_places_between_metrics_of_unlike_names(question: Read):
    text = (
        "kind: order\nsteps:\n  - {id: one, text: %s}\n  - {id: two, text: %s}\n"
        "proof:\n  demo: pipeline\n  ranks: 4\n  claims:\n"
        "    - (one < two) == (first_backward_1f1b[0] < finish_1f1b[0])\n"
    )
    steps = "Its first backward starts", "Nothing is left to do"
    assert "worded like" not in said(question(text % steps))
    assert "worded like" in said(question(text % steps[::-1]))


def test_a_gap_in_words(question: Read):
    text = (
        "kind: cloze\ntext: '[[g]] payloads'\ngaps: {g: {answer: %s, value: 3 / 2}}\n"
        "proof:\n  demo: all-reduce\n  claims:\n"
        "    - isclose(sent_bytes_ring[0], payload_bytes * g)\n"
    )
    assert "shows `four times`" in said(question(text % "four times"))
    assert "shows `一打`" in said(question(text % "{zh: 一打, en: '1.5'}"))
    assert said(question(text % "'1.5'")) == ""


def test_a_quotation_that_tells_of_no_free_transfer(question: Read):
    text = choice("b", "sent_bytes_1[0] > 0").replace("text: b", "text: as long as a forward", 1)
    text += "proof: {demo: pipeline, said: {hop: as long as a forward}, claims: [grad_error < 1]}\n"
    assert "does not say that it is free" in said(
        question(text.replace("sent_bytes_1", "makespan"))
    )


def found(asked: Question, brings: Brings, seen: Any = (), **more: Any) -> str:
    demo = catalogue()[asked.proof.demo]  # type: ignore[union-attr]
    run = BoundRun({"p": 4, "m": 8}, brings(**more))
    return "\n".join(each.en for each in meant(asked, [scene(asked, run, demo)], demo, seen))


def test_each_is_asked_and_one_of_those_that_differ_was_measured(question: Read, brings: Brings):
    asked = numeric(
        question, "How many bytes does each stage hold?", "answer == saved_bytes_1f1b[0]"
    )
    for bytes_, differ in (([7, 5, 3, 1], True), ([7, 7, 7, 7], False)):
        told = found(asked, brings, ranks=4, metrics={"saved_bytes_1f1b": bytes_})
        assert ("each is asked for, they differ" in told) is differ
    most = numeric(
        question, "How many bytes does each stage hold?", "answer == max(saved_bytes_1f1b)"
    )
    for bytes_, differ in (([7, 5, 3, 1], True), ([7, 7, 7, 7], False)):
        told = found(most, brings, ranks=4, metrics={"saved_bytes_1f1b": bytes_})
        assert ("the largest or least was measured" in told) is differ
    at_most = replace(most, prompt=Text("x", "How many bytes does each stage hold at most?"))
    told = found(at_most, brings, ranks=4, metrics={"saved_bytes_1f1b": [7, 5, 3, 1]})
    assert "the largest or least was measured" in told
    first = numeric(
        question, "How many bytes has the first stage?", "answer == saved_bytes_1f1b[1]"
    )
    told = found(first, brings, ranks=4, metrics={"saved_bytes_1f1b": [7, 5, 3, 1]})
    assert "the first is asked, and another was measured" in told
    fullest = replace(most, prompt=Text("x", "Of each stage's bytes, how many are the most?"))
    assert found(fullest, brings, ranks=4, metrics={"saved_bytes_1f1b": [7, 5, 3, 1]}) == ""
    one = replace(asked, prompt=Text("x", "How many bytes does stage 0 hold?"))
    assert found(one, brings, ranks=4, metrics={"saved_bytes_1f1b": [7, 5, 3, 1]}) == ""


def test_a_metric_that_is_an_argument_on_record(question: Read, brings: Brings):
    text = (
        "kind: numeric\nparams: {p: [4], m: [8]}\nanswer: (p - 1) / m\n"
        "proof:\n  demo: pipeline\n  ranks: =p\n  args: {microbatches: =m}\n"
        "  at: [{p: 4, m: 8}]\n  claims:\n    - isclose(answer, (p - 1) / backwards_1f1b[0])\n"
    )
    seen = [
        {"microbatches": m, "ranks": p, "backwards_1f1b": [m] * p}
        for p, m in ((4, 8), (3, 5), (2, 6), (2, 4))
    ]
    metrics = {"backwards_1f1b": [8] * 4}
    assert "is microbatches in every run on record" in found(
        question(text), brings, seen, metrics=metrics
    )
    assert found(question(text), brings, seen[:3], metrics=metrics) == ""


def test_the_ranks_that_an_option_means(question: Read, brings: Brings):
    text = choice("Every rank keeps one", "peak_live_1f1b[3] == 1")
    text += "proof: {demo: pipeline, claims: ['peak_live_1f1b[0] > 0']}\n"
    assert "every rank is meant" in found(question(text), brings)


def test_a_wrong_option_refuted_by_a_factor_nobody_is_told(question: Read, brings: Brings):
    text = choice("Fewer are alive", "peak_live_1f1b[0] < 0.1 * peak_live_gpipe[0]", right=False)
    text += "proof: {demo: pipeline, claims: ['peak_live_1f1b[0] > 0']}\n"
    metrics = {"peak_live_1f1b": [4, 3, 2, 1], "peak_live_gpipe": [8] * 4, "sent_bytes_1": [1]}
    assert "by a factor that the option does not say" in found(
        question(text), brings, metrics=metrics
    )


def test_a_size_told_and_another_run(question: Read):
    text = choice("They shrink", "sent_bytes_2[0] < sent_bytes_1[0]") + ZERO
    for told in ("4 GPUs accumulate 4 micro-batches", "gradient accumulation"):
        assert "and the run has 1" in said(question(f"assume: [{{zh: x, en: {told}}}]\n{text}"))
    assert "and the run has 1" not in said(question(text))


PIPE = "proof: {demo: pipeline, claims: ['peak_live_1f1b[0] > 0']}\n"


@pytest.mark.parametrize("claim", ["min(peak_live_1f1b) == 1", "max(peak_live_1f1b) == 1"])
def test_every_stage_is_not_the_least_or_the_most(question: Read, claim: str):
    other = "'sent_bytes_1[0] < 1'", "'bubble_1f1b < 0'"
    assert "every rank is said" in said(
        question(choice("Every stage keeps 1", claim).replace(*other) + PIPE)
    )
    fair = "min(peak_live_1f1b) == 1 and max(peak_live_1f1b) == 1"
    assert "every rank is said" not in said(
        question(choice("Every stage keeps 1", fair).replace(*other) + PIPE)
    )


def test_languages_that_compare_in_opposite_directions(question: Read):
    claim = "makespan_1f1b == makespan_gpipe"
    for zh, found in (("1F1B 更短", True), ("1F1B 一样长", False)):
        text = choice("1F1B takes equally long", claim)
        text = text.replace('text: "1F1B', f'text: {{zh: {zh}, en: "1F1B').replace(
            'long",', 'long"},', 1
        )
        text = text.replace("'sent_bytes_1[0] < 1'", "'bubble_1f1b < 0'")
        assert ("en says `equal`" in said(question(text + PIPE))) is found


def test_a_price_that_its_quotation_does_not_tell(question: Read):
    text = choice("b", "makespan_1f1b > 0").replace(
        "text: b", "text: equal stages or a hop of 1", 1
    )
    text = text.replace("'sent_bytes_1[0] < 1'", "'bubble_1f1b < 0'")
    proof = "proof: {demo: pipeline, args: {hop: 1.0}, said: {hop: %s}, claims: [grad_error < 1]}\n"
    assert "does not tell `hop: 1.0`" in said(question(text + proof % "equal stages"))
    assert "does not tell" not in said(question(text + proof % "a hop of 1"))


def test_equal_bits_are_identical(question: Read, brings: Brings):
    for words, found in (("Bit for bit the same", 1), ("The same up to rounding", 0)):
        text = choice(words, "grad_error < 1e-12").replace("sent_bytes_1[0] < 1", "grad_error > 1")
        report = brings(metrics={"grad_error": 1e-16}, how="compared")
        assert len([*exact(question(text + PIPE), [BoundRun({}, report)])]) == found


def test_a_metric_that_is_a_product_of_arguments(question: Read, brings: Brings):
    text = (
        "kind: numeric\nparams: {t: [10], k: [2]}\nanswer: 96 * t * k\n"
        "proof:\n  demo: moe\n  args: {tokens: =t, top: =k}\n  at: [{t: 10, k: 2}]\n"
        "  claims:\n    - answer == copies[0] * 96\n"
    )
    seen = [
        {"tokens": t, "top": k, "ranks": 4, "copies": [t * k] * 4}
        for t, k in ((10, 2), (6, 4), (6, 8), (9, 1))
    ]
    asked = question(text)
    demo = catalogue()["moe"]
    report = brings(metrics={"copies": [20] * 4}, how="counted", demo="moe")
    scenes = [scene(asked, BoundRun({"t": 10, "k": 2}, report), demo)]
    said = [each.en for each in meant(asked, scenes, demo, seen)]
    assert "is tokens * top in every run on record" in said[0]


def test_an_order_of_times_by_what_is_no_time(question: Read):
    asked = question(
        "kind: order\nsteps: [{id: mlp, text: mlp}, {id: core, text: attention}]\n"
        "proof:\n  demo: flops\n  ranks: 1\n  claims:\n"
        "    - (flops_mlp[0] < flops_attention[0]) == (mlp < core)\n"
    )
    assert "the words are about `sent`" in said(asked)
    counted = replace(asked, prompt=Text("算", "Which multiplies least?"))
    assert said(counted) == ""
