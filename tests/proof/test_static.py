"""Every name in a proof exists, or lint says where and what was meant; nothing is run for it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from quizkit.bank.model import Question
from quizkit.lab.catalogue import catalogue
from quizkit.proof.static import wrong_names
from quizkit.proof.thin import thin_proof

Read = Callable[[str], Question]

NUMERIC = """\
kind: numeric
params: {p: [2, 3, 4], m: [2, 5, 8]}
answer: (p - 1) / (m + p - 1)
proof:
  demo: pipeline
  ranks: =p
  args: {microbatches: =m}
  at: [{p: 4, m: 8}, {p: 3, m: 5}, {p: 2, m: 2}]
  claims:
    - isclose(bubble_1f1b, answer)
"""


def test_a_right_proof_has_nothing_to_say(question: Read):
    asked = question(NUMERIC)
    assert [*wrong_names(asked, catalogue()), *thin_proof(asked)] == []


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("demo: pipeline", "demo: pipelin", "proof.demo", "did you mean `pipeline`"),
        ("demo: pipeline", "demo: ../../etc/passwd", "proof.demo", "unknown demo"),
        ("{microbatches: =m}", "{microbatch: =m}", "proof.args.microbatch", "`microbatches`"),
        ("{microbatches: =m}", "{microbatches: eight}", "proof.args.microbatches", "cannot be"),
        ("{microbatches: =m}", "{microbatches: true}", "proof.args.microbatches", "cannot be"),
        ("{microbatches: =m}", "{microbatches: =k}", "proof.args.microbatches", "by no row"),
        ("ranks: =p", "ranks: =p / 3", "proof.at.0", "not a whole number"),
        ("ranks: =p", "ranks: =p - 2", "proof.at.2", "0 ranks"),
        ("bubble_1f1b,", "bubble_1f1,", "proof.claims.0", "did you mean `bubble_1f1b`"),
        ("{p: 2, m: 2}", "{p: 2}", "proof.at.2", "binds the same names"),
        ("{p: 2, m: 2}", "{p: 2}", "proof.at.2", "must bind the params"),
        ("{microbatches: =m}", "{microbatches: =m / 2}", "proof.at.1", "cannot be 2.5"),
        ("  claims:", "  when: x < 3\n  claims:", "proof.when", "`x` is not among"),
        ("  claims:", "  when: 1 / (m - 2) > 0\n  claims:", "proof.when", "at {'p': 2, 'm': 2}"),
        ("  claims:", "  break: no-cooldow\n  claims:", "proof.break", "`no-cooldown`"),
    ],
)
def test_a_wrong_name(question: Read, old: str, new: str, place: str, message: str):
    assert NUMERIC.count(old) == 1
    found = [*wrong_names(question(NUMERIC.replace(old, new)), catalogue())]
    assert any(where == place and message in said for where, said in found), found


REGIME = {"pipeline": replace(catalogue()["pipeline"], regime=("microbatches", "hop"))}


@pytest.mark.parametrize(
    ("more", "place", "message"),
    [
        ("", "proof.args", "`hop` changes what pipeline measures"),
        ("regardless: [hop, microbatches]", "proof.regardless", "also set in `args`"),
        ("regardless: [hop, seed]", "proof.regardless", "unknown regime option `seed`"),
    ],
)
def test_what_changes_the_meaning_of_a_metric_is_named(
    question: Read, more: str, place: str, message: str
):
    asked = question(NUMERIC.replace("  claims:", f"  {more}\n  claims:"))
    found = [*wrong_names(asked, REGIME)]
    assert [where for where, _ in found] == [place]
    assert message in found[0][1]


def test_a_regime_that_is_named_or_does_not_matter_is_fine(question: Read):
    named = NUMERIC.replace("=m}", "=m, hop: 2}")
    left = NUMERIC.replace("  claims:", "  regardless: [hop]\n  claims:")
    for text in (named, left):
        assert [*wrong_names(question(text), REGIME)] == []


def test_a_parameter_called_like_a_metric_is_refused(question: Read):
    text = NUMERIC.replace("p:", "grad_error:").replace("(p - 1)", "(grad_error - 1)")
    text = text.replace("+ p - 1", "+ grad_error - 1").replace("=p", "=grad_error")
    found = [*wrong_names(question(text), catalogue())]
    assert ("proof.at", "`grad_error` already has a meaning in claims") in found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    - isclose(bubble_1f1b, answer)", "    - bubble_1f1b < 1", "no claim names `answer`"),
        (", {p: 2, m: 2}", "", "three or more"),
        ("{p: 2, m: 2}", "{p: 3, m: 5}", "2 different rows"),
        ("{p: 3, m: 5}", "{p: 4, m: 4}", "power of two"),
        ("ranks: =p", "ranks: =min(p, 4)", "`min(p, 4)`: a row runs on the ranks that it says"),
        ("(bubble_1f1b,", "(1.25 * bubble_1f1b,", "the words nowhere tell the factor 1.25"),
    ],
)
def test_a_thin_proof(question: Read, old: str, new: str, message: str):
    assert NUMERIC.count(old) == 1
    found = [*thin_proof(question(NUMERIC.replace(old, new)), catalogue())]
    assert any(message in said for _, said in found), found


def test_a_factor_that_is_told_is_fine(question: Read):
    text = NUMERIC.replace("(bubble_1f1b,", "(1.25 * bubble_1f1b,")
    told = "assume: [{zh: x, en: a slot takes 1.25 ms}]\n" + text
    assert "proof.claims.0" not in [place for place, _ in thin_proof(question(told), catalogue())]


def test_a_planted_bug_is_told_unless_its_code_is_shown(question: Read):
    planted = NUMERIC.replace("  claims:", "  break: no-cooldown\n  claims:")
    message = "quote the words that tell of the bug: `said: {break: ...}`"
    assert ("proof.break", message) in [*thin_proof(question(planted))]
    told = "assume: [{zh: x, en: it stops early}]\n" + planted
    quoted = told.replace("  claims:", "  said: {break: stops early}\n  claims:")
    assert "proof.break" not in [place for place, _ in thin_proof(question(quoted))]
    assert [*wrong_names(question(quoted), catalogue())] == []
    shown = "kind: trace\nfunction: main\nanswer: 1\nproof: {demo: pipeline, break: no-cooldown}\n"
    assert "proof.break" not in [place for place, _ in thin_proof(question(shown))]


def test_a_bug_must_lie_in_the_function_shown(question: Read):
    text = (
        "kind: bug\nfunction: schedule_gpipe\nreasons: [{points: 1, says: x}]\n"
        "proof: {demo: pipeline, break: no-cooldown}\n"
    )
    found = [*wrong_names(question(text), catalogue())]
    assert [place for place, _ in found] == ["function"], found


def test_a_parameter_called_like_an_argument_must_be_passed_on(question: Read):
    # Claims would speak of 2, 5 and 8 micro-batches, and every run would have the default.
    text = NUMERIC.replace("m:", "microbatches:").replace("(m + p", "(microbatches + p")
    passed = text.replace("=m}", "=microbatches}")
    assert [*wrong_names(question(passed), catalogue())] == []
    found = [*wrong_names(question(text.replace("  args: {microbatches: =m}\n", "")), catalogue())]
    assert ("proof.at", "`microbatches` is an argument of pipeline; pass it on in `args`") in found


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("kind: order\nsteps: [{id: a, text: a}, {id: b, text: b}]\n", "no claim names a step"),
        ('kind: cloze\ntext: "[[g]]"\ngaps: {g: {answer: "7", value: 7}}\n', "no claim names `g`"),
    ],
)
def test_a_claim_that_does_not_name_the_key_proves_nothing(question: Read, kind: str, message: str):
    proof = "proof: {demo: pipeline, claims: [bubble_1f1b < 1]}\n"
    found = [*thin_proof(question(kind + proof))]
    assert any(message in said for _, said in found), found


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("(bubble_1f1b, answer)", "(bubble_1f1b, answer, rel=0.02)", "claims.0", "0.01 at most"),
        ("(bubble_1f1b, answer)", "(bubble_1f1b, answer, abs=p)", "claims.0", "written out"),
        ("m: 5}, {p: 2, m: 2}", "m: 8}, {p: 2, m: 8}", "proof.at", "`m` is in `answer`: 8 in"),
    ],
)
def test_what_leaves_a_key_open(question: Read, old: str, new: str, place: str, message: str):
    assert NUMERIC.count(old) == 1
    found = [*thin_proof(question(NUMERIC.replace(old, new)))]
    assert any(place in where and message in said for where, said in found), found


def test_a_parameter_that_has_one_value_may_stand_still(question: Read):
    one = NUMERIC.replace("m: [2, 5, 8]", "m: [8]").replace(
        "m: 5}, {p: 2, m: 2}", "m: 8}, {p: 2, m: 8}"
    )
    assert [*thin_proof(question(one))] == []


def test_a_when_that_no_draw_meets(question: Read):
    text = NUMERIC.replace("  claims:", "  when: m > 8\n  claims:")
    assert ("proof.when", "no draw meets it: widen it, or leave it out") in [
        *wrong_names(question(text), catalogue())
    ]


@pytest.mark.parametrize(
    ("answer", "value", "said"),
    [
        ("7", "8", "shows `7`, and 8 is what is proved"),
        ("7 ms", "8", "shows `7 ms`, and 8"),
        ("seven", "8", "shows `seven`, and 8"),
        ("七", "8", "shows `七`, and 8"),
        ("15 / 8", "7 / 4", "shows `15 / 8`, and 1.75"),
        ("7", "bubble_1f1b", "no metric"),
        ("1,024 bytes", "1024", ""),
        ("15/8", "1.875", ""),
        ("3", "ranks - 1", ""),
        ("all-reduce", "2", ""),
    ],
)
def test_a_gap_shows_what_is_proved(question: Read, answer: str, value: str, said: str):
    text = (
        f'kind: cloze\ntext: "[[g]]"\ngaps: {{g: {{answer: "{answer}", value: {value}}}}}\n'
        "proof: {demo: pipeline, ranks: 4, claims: [bubble_1f1b == g]}\n"
    )
    found = " ".join(message for _, message in thin_proof(question(text)))
    assert said in found if said else not found


def test_a_gap_accepts_no_other_number(question: Read):
    text = (
        'kind: cloze\ntext: "[[g]]"\ngaps: {g: {answer: "8", also: ["9", eight], value: 8}}\n'
        "proof: {demo: pipeline, claims: [bubble_1f1b == g]}\n"
    )
    assert ("gaps.g", "shows `9`, and 8 is what is proved") in [*thin_proof(question(text))]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("p if m >= p else 2 * m", "`m >= p` is false at p=3, m=2, and in no row"),
        ("min(p, 5, m - 1)", "`min(p, 5, m - 1)` is `m - 1` at p=2, m=2, and in no row"),
        ("m * floor(log2(p))", "`log2(p)` is not whole at p=3, m=2, and in no row"),
    ],
)
def test_each_case_of_an_answer_is_in_a_row(question: Read, answer: str, said: str):
    rows = "at: [{p: 4, m: 8}, {p: 2, m: 5}, {p: 2, m: 8}]"
    text = NUMERIC.replace("(p - 1) / (m + p - 1)", answer)
    text = text.replace("at: [{p: 4, m: 8}, {p: 3, m: 5}, {p: 2, m: 2}]", rows)
    assert ("proof.at", said) in [*thin_proof(question(text))]
    met = text.replace(rows, rows.replace("]", ", {p: 4, m: 2}, {p: 3, m: 2}]"))
    assert not [each for each in thin_proof(question(met)) if "in no row" in each[1]]


COUPLED = "at: [{p: 4, m: 8}, {p: 3, m: 6}, {p: 5, m: 10}]"


@pytest.mark.parametrize(
    ("answer", "claim", "rows", "said"),
    [
        ("(p - 1) / (m + m / 2 - 1)", "answer", COUPLED, ""),
        ("(p - 1) / (m + p - 1)", "answer * m / p / 2", COUPLED, "`m / p` is in a claim: 2"),
        ("(p - 1) / (p * (m / p) + p - 1)", "answer", COUPLED, "`m / p` is in `answer`: 2"),
        ("1 / (p // 3)", "answer", "at: [{p: 4, m: 8}, {p: 3, m: 5}, {p: 5, m: 2}]", "`p // 3`"),
        ("p", "answer * (p // 3)", "at: [{p: 4, m: 8}, {p: 3, m: 5}, {p: 5, m: 2}]", "`p // 3`"),
        (
            "p + (m - 8) * (m - 5) * (m - 7)",
            "answer",
            "at: [{p: 4, m: 8}, {p: 3, m: 5}, {p: 5, m: 7}]",
            "`(m - 8) * (m - 5) * (m - 7)` is in `answer`: 0 in every row, and -90 at p=2, m=2",
        ),
    ],
)
def test_what_is_the_same_in_every_row_is_not_tried(
    question: Read, answer: str, claim: str, rows: str, said: str
):
    text = NUMERIC.replace("(p - 1) / (m + p - 1)", answer).replace("answer)", f"{claim})")
    text = text.replace("p: [2, 3, 4]", "p: [2, 3, 4, 9]")
    text = text.replace("at: [{p: 4, m: 8}, {p: 3, m: 5}, {p: 2, m: 2}]", rows)
    found = [message for _, message in thin_proof(question(text)) if "every row" in message]
    assert (found and said in found[0]) if said else not found, found
    more = text.replace(rows, rows.replace("]", ", {p: 9, m: 2}]"))
    assert not [each for each in thin_proof(question(more)) if "every row" in each[1]]


def test_a_parameter_that_decides_nothing_is_run_with(question: Read):
    fixed = NUMERIC.replace("(m + p - 1)", "(p + 7)").replace("=m}", "8}")
    said = ("params.m", "`m` decides nothing: run it with two values, or ask without it")
    assert [*thin_proof(question(fixed))] == [said]
    assert [*thin_proof(question(fixed.replace("8}\n", "'=min(m, 2)'}\n")))] == [said]
    # The run is given it, and comes out the same.
    assert [*thin_proof(question(fixed.replace("8}\n", "8, rows: =m}\n")))] == []


@pytest.mark.parametrize(
    ("unit", "answer", "wrong"),
    [
        ("GiB", "m * p / 1e9", "`answer` is said in GiB and worked out by thousands"),
        ("MB", "m * p / 2**20", "`answer` is said in MB and worked out by 1024"),
        ("KiB", "m * p / 1000", "`answer` is said in KiB and worked out by thousands"),
        ("GiB", "m * 1e9 * p / 2**30", ""),  # of a billion parameters
        ("GB", "m * 2**20 * p / 1e9", ""),
        ("tokens", "m * p * 1024", ""),
    ],
)
def test_thousands_are_not_taken_for_1024(question: Read, unit: str, answer: str, wrong: str):
    text = NUMERIC.replace("(p - 1) / (m + p - 1)", f"{answer}\nunit: {unit}")
    found = [message for _, message in thin_proof(question(text))]
    assert found == ([wrong] if wrong else [])
    gap = f'kind: cloze\ntext: "[[g]]"\ngaps: {{g: {{answer: "9 GiB", value: {9e9} / 1e9}}}}\n'
    gap += "proof: {demo: pipeline, claims: [bubble_1f1b == g]}\n"
    assert ("gaps.g.value", "`g` is said in GiB and worked out by thousands") in [
        *thin_proof(question(gap))
    ]


def test_two_parameters_are_not_equal_in_every_row(question: Read):
    rows = "at: [{p: 4, m: 8}, {p: 3, m: 5}, {p: 2, m: 2}]"
    alike = NUMERIC.replace(rows, "at: [{p: 4, m: 4}, {p: 3, m: 3}, {p: 2, m: 2}]")
    (said,) = [message for _, message in thin_proof(question(alike)) if "equal" in message]
    assert said == "`m` and `p` are equal in every row, and not at p=2, m=5"
    assert [*thin_proof(question(alike.replace("{p: 3, m: 3}", "{p: 3, m: 5}")))] == []
    # Those that learners get are always equal too: nobody is asked about others.
    tied = alike.replace("answer:", "where: m == p\nanswer:").replace("[2, 5, 8]", "[2, 3, 4]")
    assert not [each for each in thin_proof(question(tied)) if "are equal" in each[1]]
