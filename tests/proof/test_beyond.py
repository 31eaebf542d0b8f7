"""Words that go beyond the runs: further things said, laws of one size, techniques, neighbours."""

import pytest

from quizkit.bank.model import Text
from quizkit.proof.parts import Parts, parts
from quizkit.proof.reading.sayings import sayings

from .conftest import Read, Rules

RUN = "proof: {demo: pipeline, ranks: 4, args: {microbatches: 8}, claims: [grad_error < 0.1]}\n"
ROWS = (
    "proof:\n  demo: pipeline\n  ranks: 4\n  args: {microbatches: =m}\n  at: [{m: 8}, {m: 5}]\n"
    "  claims: [grad_error < 0.1]\n"
)


def choice(en: str, claim: str, zh: str = "甲") -> str:
    other = "  - {text: b, why: w, myth: m, claim: 'bubble_1f1b > 2'}\n"
    return (
        "kind: choice\noptions:\n"
        f'  - {{text: {{zh: "{zh}", en: "{en}"}}, correct: true, claim: "{claim}"}}\n{other}'
    )


@pytest.mark.parametrize(
    ("en", "zh", "count"),
    [
        ("It stays the same", "不变", 1),
        ("It stays the same, because gradients are sent", "不变", 2),
        ("It stays the same", "不变，因为发的是梯度", 2),
        ("It stays; gradients are sent, and so are weights", "不变", 3),
        ("No; it stays as it is", "不对；不变", 1),
        ("As many as before, so far as `a; b` goes", "跟以前一样多", 1),
        ("The one with m = 4, which is slower", "m = 4 的那个", 2),
    ],
)
def test_each_clause_that_could_be_false_by_itself_is_a_saying(en: str, zh: str, count: int):
    assert sayings(Text(zh, en)) == count


TWICE = {
    # A reason, in either language, is a second thing.
    "The time is idle, because stages wait": ("bubble_1f1b > 0.1", "甲", True),
    "The time is idle": ("bubble_1f1b > 0.1", "空着，因为别的 stage 在等", True),
    "Idle time, and no gradient off": ("bubble_1f1b > 0.1 and grad_error < 0.1", "甲", False),
    # Two cases are two things.
    "Idle with m = 8; none without": ("(bubble_1f1b > 0.1) == (microbatches == 8)", "甲", False),
}


@pytest.mark.parametrize("en", TWICE)
def test_an_option_says_no_more_than_its_claim(said: Rules, en: str):
    claim, zh, more = TWICE[en]
    assert ("the option says 2 things and its claim 1" in said(choice(en, claim, zh) + RUN)) is more


def test_two_cases_of_a_row_are_two_things(said: Rules):
    told = choice("Idle with m = 8; none without", "(bubble_1f1b > 0.1) == (m == 8)")
    assert "things and its claim" not in said(told + ROWS)
    assert "2 things and its claim 1" in said(told.replace("m == 8", "p == 8") + ROWS)


def test_a_point_that_says_more_is_proved_in_part(question: Read):
    point = "rubric:\n  - {points: 1, says: {zh: 甲, en: SAYS}, claim: bubble_1f1b > 0.1}\n"
    more = "  - {points: 1, says: {zh: 乙, en: no claim}}\n"
    essay = "kind: essay\n" + point + more + RUN
    assert parts(question(essay.replace("SAYS", "The time is idle"))) == Parts("points", 1, 2)
    reasoned = question(essay.replace("SAYS", "The time is idle since stages wait"))
    assert parts(reasoned) == Parts("points", 0, 2, 1)


@pytest.mark.parametrize(
    ("en", "zh", "message"),
    [
        ("The bubble is idle time whatever m is", "甲", "one size was run"),
        ("The bubble is always idle time", "甲", "`always` is said"),
        ("The bubble is idle time that stops growing", "甲", "`stops growing` is said"),
        ("The bubble is idle time", "无论多少，气泡都是空闲", "`无论` is said"),
        ("The bubble is idle time at any number of ranks", "甲", "every run has one ranks"),
        ("The bubble is idle time at any number of micro-batches", "甲", "one microbatches"),
    ],
)
def test_a_law_is_run_at_two_sizes(said: Rules, en: str, zh: str, message: str):
    law = choice(en, "bubble_1f1b > 0.1", zh)
    assert message in said(law + RUN)
    assert ("is said" in said(law + ROWS)) is ("ranks" in message)


def test_the_same_is_no_bound(said: Rules):
    claim = "isclose(makespan_1f1b, makespan_gpipe, rel=0.02)"
    same = choice("The step takes exactly the same time", claim)
    assert "lets them differ" in said(same + RUN)
    assert "lets them differ" not in said(same.replace("rel=0.02", "rel=1e-9") + RUN)


def test_a_law_is_no_less(said: Rules):
    law = choice("The idle time is proportional to p", "bubble_1f1b > 0.1")
    assert "knows only more and less" in said(law + RUN)
    assert "knows only" not in said(law.replace("bubble_1f1b > 0.1", "bubble_1f1b == 3 / 11") + RUN)


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("weights are offloaded", True),
        ("no weights are offloaded", False),
        ("without offloading", False),
        ("gradients accumulate over 8 micro-batches", False),  # its Watch lines know of them
    ],
)
def test_a_technique_is_one_that_the_demo_knows(said: Rules, told: str, found: bool):
    asked = choice("The bubble is idle time", "bubble_1f1b > 0.1")
    asked += f"assume: [{{zh: 甲, en: {told}}}]\n{RUN}"
    assert ("knows nothing of it" in said(asked)) is found


def test_a_value_that_is_named_is_the_one_that_is_run(said: Rules):
    order = choice("The time is idle", "operations[0] > 1")
    order += "assume: [{zh: 甲, en: the order is gpipe}]\n"
    run = "proof: {demo: pipeline-orders, ranks: 4, args: {schedule: NAME}, claims: [makespan > 1]}"
    message = "the words say `gpipe`, and `schedule` is `1f1b`"
    assert message in said(order + run.replace("NAME", "1f1b"))
    assert message not in said(order + run.replace("NAME", "gpipe"))
    quoted = run.replace("NAME", "1f1b").replace("claims", "said: {schedule: the order is}, claims")
    assert message not in said(order + quoted)


def test_another_scope_is_another_metric(said: Rules):
    run = "proof: {demo: model-states, ranks: 4, claims: [all(weights_same)]}\n"
    asked = choice("The bytes received are equal", "sent_bytes_1[0] == sent_bytes_0[0]")
    assert "the words are about `received`" in said(asked + run)
    assert "the words are about" not in said(asked.replace("received", "sent") + run)


def test_a_neighbour_that_has_the_words_is_what_is_asked(said: Rules):
    run = "proof: {demo: kv-cache, ranks: 2, claims: [decode_error < 1]}\n"
    asked = choice("A token takes bytes", "bytes_mla[0] > 8")
    assert "nearer to `token_bytes_mla` than to `bytes_mla`" in said(asked + run)
    assert "nearer to" not in said(asked.replace("bytes_mla[0]", "token_bytes_mla[0]") + run)
    assert "nearer to" not in said(asked.replace("A token", "The cache of a token") + run)


def test_sizes_at_which_laws_agree_bear_out_no_law(said: Rules):
    law = choice("The bubble is idle time whatever m is", "bubble_1f1b > 0.1")
    assert "every size is a power of two" not in said(law + ROWS)
    assert "every size is a power of two" in said(law + ROWS.replace("{m: 5}", "{m: 4}"))


def test_nothing_is_not_less(said: Rules):
    nothing = choice("No time is idle", "bubble_1f1b < bubble_gpipe")
    assert "knows only less" in said(nothing + RUN)
    assert "knows only less" not in said(nothing.replace("< bubble_gpipe", "== 0") + RUN)
