"""A proof at a glance fits a screen of 80 x 24, and says in words what its claims say in formulas.

Every proof of the bank is drawn from what was recorded of its runs, answered wrongly.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Group

from quizkit import paths
from quizkit.bank.model import Bug, Choice, Cloze, Numeric, Order, Question, Text, Trace
from quizkit.bank.reader import Bank
from quizkit.errors import LabError
from quizkit.lab.catalogue import catalogue
from quizkit.lab.excerpt import excerpt
from quizkit.lab.report import Failure, Report, Setting
from quizkit.proof import kept
from quizkit.proof.prove import Prover
from quizkit.proof.view import view
from quizkit.tutor.asked import Asked, ask
from quizkit.tutor.desk import Moment
from quizkit.tutor.grade import grade
from quizkit.ui.proof.glance import glance
from quizkit.ui.screens.parts import footer
from quizkit.ui.screens.verdict_screen import nothing_to_show, standing
from quizkit.words import Lang

from . import shelf
from .test_screens import drawn, judged

LANGS: list[Lang] = ["zh", "en"]
ROWS = 23  # of 24: the last one is the cursor's
# A formula: something compared as Python does, a function of claims, two metrics joined.
FORMULA = re.compile(r" [=!<>]= |isclose\(|all_equal\(|[a-z]+_[a-z_0-9]+(\[\d\])? (<|>|and|or) ")


questions: dict[str, Question] = {}


@pytest.fixture(autouse=True, scope="module")
def whatever_was_recorded(shipped: Bank) -> Iterator[None]:
    """A demo that was edited since its runs were recorded has no other shape for that."""

    def recorded(demo: Path) -> str:
        file = paths.RECORD / f"{demo.stem}.jsonl"
        if not file.is_file():
            return ""
        with file.open(encoding="utf-8") as lines:
            return json.loads(next(lines))["content"]

    questions.update(shipped.questions)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("quizkit.lab.record.content", recorded)
        yield


@cache
def prover() -> Prover:
    demos = catalogue()
    record = kept.shipped(demos)

    def run(wanted: Setting) -> Report:
        if found := record.get(wanted):
            return found
        raise LabError("torch_missing")

    return Prover(demos, run, known=record.get)


def wrongly(asked: Asked) -> object:
    """An answer that is wrong, or not whole."""
    match asked.question:
        case Choice(options=options):
            return [next(i for i in asked.order if not options[i].correct)]
        case Numeric(traps=traps):
            return str(traps[0].formula.number(asked.values)) if traps else "3.21"
        case Order(steps=steps):
            return [steps[i].id for i in asked.order]
        case Cloze(gaps=gaps):
            return dict.fromkeys(gaps, "7")
        case Trace(answer=answer):
            return " ".join("3" for _ in answer) if isinstance(answer, tuple) else "3"
        case Bug() if asked.code:
            return {"line": min(asked.code.changed), "reasons": [0]}
        case _:
            return {"text": "x", "points": [0], "vetoes": []}


@cache
def answered(name: str, lang: Lang = "en") -> Moment:
    question = questions[name]
    assert question.proof
    code = None
    if isinstance(question, Trace | Bug):
        demo = prover().demos[question.proof.demo]
        code = excerpt(demo, question.function, question.proof.broken)
    asked = ask(question, 1, code)
    given = wrongly(asked)
    proof = prover().view(question, asked.values, given)
    verdict = grade(asked, given)
    return Moment("verdict", asked, lang, 1, given=given, verdict=verdict, grade=1, proof=proof)


def told(moment: Moment, width: int = 80, plain: bool = False) -> str:
    return drawn(Group(*glance(moment, width, plain)), width)


def words_of(moment: Moment) -> str:
    """What the question itself says: its formulas are not ours."""
    question: Question = moment.question
    texts = [question.prompt, *(getattr(each, "text", None) for each in _parts(question))]
    texts += [getattr(each, "says", None) for each in _parts(question)]
    code = moment.asked.code.lines if moment.asked.code else ()
    said = [text[lang] for text in texts if isinstance(text, Text) for lang in LANGS]
    planted = moment.proof.demo.breaks.values() if moment.proof else ()
    return "\n".join([*said, *code, *(p.old + p.new for p in planted)])


def _parts(question: Question) -> tuple[object, ...]:
    names = ("options", "steps", "rubric", "reasons")
    return tuple(each for name in names for each in getattr(question, name, ()))


@pytest.mark.parametrize("half", [0, 1])
def test_every_proof_fits_a_small_screen_and_shows_no_formula(half: int):
    over, raw, unrecorded = list[str](), list[str](), list[str]()
    names = [each.id for each in questions.values() if each.proof][half::2]
    assert len(names) > 200
    for name in names:
        try:
            judged_once = answered(name)
        except LabError:  # the demo has got other options since
            unrecorded.append(name)
            continue
        for moment in (replace(judged_once, lang=lang) for lang in LANGS):
            shown = told(moment)
            idle = nothing_to_show(moment)
            below = Group(*standing(moment, False), "", footer("verdict", moment.lang, 4, idle))
            lines = shown.count("\n") + drawn(below).count("\n")
            if lines > ROWS:
                over.append(f"{name}: {lines}")
            formulas = [found[0] for found in FORMULA.finditer(shown)]
            raw += [f"{name}: {each}" for each in formulas if each not in words_of(moment)]
    assert len(unrecorded) < len(names) / 20, unrecorded
    assert not raw
    assert not over, over


def test_options_stand_as_they_were_shown_with_what_the_run_says_of_each():
    moment = judged("single", proof=shelf.proof(shelf.asked("single")))
    shown = told(moment)
    order = [n for n, i in enumerate(moment.asked.order, 1) if i == 2]
    assert re.search(
        rf"^You said +{order[0]}\) four\n^The run says +not {order[0]}\) four", shown, re.MULTILINE
    )
    assert re.search(
        rf"^✗ {order[0]}\) four \(yours\)\n +would be 4 blocks, was 2 blocks \(each rank\): ",
        shown,
        re.MULTILINE,
    )
    assert shown.count("\n· ") == 3, "no claim, no verdict"
    assert "Left open: options" in shown
    plain = told(moment, plain=True)
    assert f"{order[0]}) four (refuted, yours)" in plain
    assert "(not tested)" in plain
    assert not re.search("[✗✓·]", plain.replace(" · ", ""))


@pytest.mark.parametrize(("origin", "said"), [("ran", "run now"), ("recorded", "not run here")])
def test_where_it_ran_is_told(origin: str, said: str):
    proof = shelf.proof(shelf.asked("number"))
    proof = replace(proof, report=replace(proof.report, origin=origin))
    shown = told(judged("number", proof=proof))
    assert said in shown
    assert ("run now" in shown) is (origin == "ran")
    assert "\nquizkit demo pipeline --ranks 4 --microbatches 3" in shown


def test_a_number_stands_beside_the_measured_one_and_the_trap_that_gives_it():
    shown = told(judged("number", proof=shelf.proof(shelf.asked("number"))))
    assert re.search(r"^You said +1\nThe run says +0\.5$", shown, re.MULTILINE)
    assert re.search(r"^ +0\.5  Measured$", shown, re.MULTILINE)
    assert re.search(r"^ +1  what yours forgets: ", shown, re.MULTILINE)


def test_settings_that_differ_stand_side_by_side_and_are_not_called_run():
    moment = answered("pp/gpipe-or-1f1b")
    assert moment.proof
    moment = replace(moment, proof=replace(moment.proof, shows={}))
    shown = told(moment)
    assert re.search(r"slow=2.* 41\.2% +47\.4%", shown)
    assert re.search(r"slow=1.* 27\.3% +27\.3%", shown)
    assert "recorded, not run now" in shown
    assert len(re.findall("^✗", shown, re.MULTILINE)) == 3
    assert len(re.findall("^✓", shown, re.MULTILINE)) == 1
    assert moment.proof
    alone = told(replace(moment, proof=replace(moment.proof, beside=())))
    assert "41.2%" not in alone


def test_what_the_author_wrote_stands_in_place_of_what_is_made_of_the_claim():
    moment = judged("single", proof=shelf.proof(shelf.asked("single")))
    assert moment.proof
    shows = {"options.2.claim": Text("若是会留 4 块", "four would have been held")}
    shown = told(replace(moment, proof=replace(moment.proof, shows=shows)))
    assert "four would have been held" in shown
    assert "would be 4 blocks" not in shown


def test_of_a_run_that_hung_it_is_said_where_each_rank_stood():
    proof = shelf.proof(shelf.asked("single"))
    stack = '  File "/x/demos/ring_attention.py", line 7, in main\n    barrier()'
    failure = Failure(None, "rank 1 waited for ever", (stack, None))
    hung = replace(proof, report=replace(proof.report, outcome="hung", error=failure))
    shown = told(judged("single", proof=hung))
    assert "So: rank 1 waited for ever\nrank 0 was at ring_attention.py, line 7: barrier()" in shown
    assert "So: " not in told(judged("single", proof=proof))


def test_what_is_read_out_is_not_cut():
    moment = answered("pp/gpipe-or-1f1b")
    assert "…" in told(moment, 50)
    assert "…" not in told(moment, 50, plain=True)


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize("lang", LANGS)
def test_no_line_is_wider_than_the_terminal(lang: Lang, width: int):
    for name in ("pp/gpipe-or-1f1b", "pp/bubble-share", "debug/hang-triage", "dp/least-exposed"):
        if questions[name].proof:
            shown = told(replace(answered(name), lang=lang), width)
            assert max(map(cell_len, shown.split("\n"))) <= width


@pytest.mark.parametrize("name", ["dp/least-exposed", "pp/pp-times-dp", "cp/volumes-in-order"])
def test_what_the_run_says_is_what_it_measured_and_not_the_key(name: str):
    """A run in which all numbers are alike: whatever the key is, this run did not show it."""
    moment = answered(name)
    assert moment.proof
    report = moment.proof.report
    flat = {
        metric: (7.0,) * len(value) if isinstance(value, tuple) else 7.0
        for metric, value in report.metrics.items()
    }
    before = re.search(r"^The run says +(.+)$", told(moment), re.MULTILINE)
    was = moment.proof
    run = replace(report, metrics=flat)
    proof = view(moment.question, was.bindings, True, run, was.demo)
    after = re.search(r"^The run says +(.+)$", told(replace(moment, proof=proof)), re.MULTILINE)
    assert before
    assert after
    assert after[1] != before[1]


@pytest.mark.parametrize(
    ("kind", "said"), [("right", "(the run disagrees;"), ("claim", "(agrees, but something beside")]
)
def test_a_run_that_agrees_with_the_options_and_not_beside_them_says_so(kind: str, said: str):
    moment = answered("pp/leaf-checkpoint")
    assert moment.proof
    assert "(the run agrees)" in told(moment)
    judgement = moment.proof.judgement
    failing = next(claim for claim in judgement.claims if claim.role == kind)
    claims = tuple(
        replace(claim, truths=("false",)) if claim is failing else claim
        for claim in judgement.claims
    )
    proof = replace(moment.proof, judgement=replace(judgement, claims=claims))
    assert said in told(replace(moment, proof=proof))


def test_a_gap_stands_in_its_own_words():
    shown = told(answered("cp/four-all-to-alls"))
    assert re.search(r"^gap 1: .*__.* +7 +4  off by 3$", shown, re.MULTILINE)
    assert re.search(r"^gap 2: …?.*__", shown, re.MULTILINE)
