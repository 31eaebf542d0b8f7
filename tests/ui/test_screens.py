"""Questions, verdicts and proofs as they look: every kind, both languages, three widths."""

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType

from quizkit.bank.formula import parse
from quizkit.bank.functions import Value
from quizkit.bank.model import Bug, Choice, Numeric, Question, Text
from quizkit.bank.reader import Bank
from quizkit.mock.desk import RubricSheet
from quizkit.proof.parts import Parts
from quizkit.proof.view import ProofView
from quizkit.tutor.asked import ask
from quizkit.tutor.desk import Moment, Summary
from quizkit.tutor.grade import grade
from quizkit.tutor.tally import Tally
from quizkit.ui.mock.judge_screen import judge_screen
from quizkit.ui.pictures.chart import charts
from quizkit.ui.proof.claims import put_in
from quizkit.ui.proof.glance import glance
from quizkit.ui.proof.proof_screen import telling
from quizkit.ui.screens.parts import footer, help_screen
from quizkit.ui.screens.question_screen import pre_ticked, question_screen
from quizkit.ui.screens.summary_screen import summary_screen
from quizkit.ui.screens.verdict_screen import nothing_to_show, verdict_screen
from quizkit.ui.terminal import keymap
from quizkit.ui.terminal.draft import Draft
from quizkit.ui.text import linebreak
from quizkit.ui.text.code import listing
from quizkit.words import Lang, say

from . import shelf

LANGS: tuple[Lang, ...] = ("zh", "en")
WIDTHS = (60, 80, 120)
GIVEN: dict[str, object] = {
    "single": [2],
    "several": [0, 1],
    "number": "1.0",
    "order": ["warm", "drain", "steady", "step"],
    "cloze": {"gap1": "优化器状态", "gap2": "parameters"},
    "trace": "3",
    "bug": {"line": 3, "reasons": [0]},
    "essay": {"text": "因为分母跨块，省显存", "points": [0], "vetoes": [0]},
}


def drawn(part: RenderableType, width: int = 80, colour: bool = False) -> str:
    linebreak.install()
    console = Console(
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        markup=False,
        highlight=False,
    )
    with console.capture() as shown:
        console.print(part)
    return "\n".join(line.rstrip() for line in shown.get().split("\n"))


def asking(name: str, lang: Lang = "en", **more: object) -> Moment:
    return replace(Moment("question", shelf.asked(name), lang, 3, 10), **more)


def judged(name: str, lang: Lang = "en", given: object = None, **more: object) -> Moment:
    asked = shelf.asked(name)
    given = GIVEN[name] if given is None else given
    moment = Moment(
        "verdict", asked, lang, 3, 10, given=given, verdict=grade(asked, given), grade=2, full=True
    )
    return replace(moment, **more)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("name", shelf.KINDS)
def test_no_line_is_wider_than_the_terminal(name: str, lang: Lang, width: int):
    drafts = [Draft(), Draft(GIVEN[name])]
    if name in ("bug", "essay"):
        drafts.append(replace(pre_ticked(asking(name), "分母"), stage="rubric"))
    proof = shelf.proof(shelf.asked(name)) if name in ("single", "number", "bug") else None
    for plain in (False, True):
        question = asking(name, lang, hints_shown=2, sure=True, flagged=True)
        verdict = judged(name, lang, why=True, say=True, proof=proof)
        screens = [question_screen(question, draft, plain) for draft in drafts]
        screens += [verdict_screen(verdict, width, plain), footer("tick", lang, 4)]
        screens += [footer("compose", lang, 4), help_screen("verdict", lang, 4)]
        for screen in screens:
            shown = drawn(screen, width)
            assert max(cell_len(line) for line in shown.split("\n")) <= width
            assert not re.search(r"^\s*[，。、；：？！）”]", shown, re.MULTILINE)


@pytest.mark.parametrize("name", shelf.KINDS)
def test_the_verdict_is_said_in_words(name: str):
    shown = drawn(verdict_screen(judged(name), 80))
    right = judged(name).verdict
    assert right is not None
    word = "Partly right" if right.score else "Wrong"
    # At the head of the verdict, and again at the foot, where it cannot have scrolled away.
    assert len(re.findall(rf"^{word}", shown, re.MULTILINE)) == 2
    chinese = drawn(verdict_screen(judged(name, "zh"), 80))
    assert ("部分答对" if right.score else "答错了") in chinese


def test_plain_words_are_joined_as_their_language_joins_them():
    when = datetime(2026, 3, 1, 12).astimezone()
    chinese, english = (
        drawn(verdict_screen(judged("single", lang, due=when), 80, plain=True)) for lang in LANGS
    )
    assert "评分 2：吃力，下次复习 2026-03-01" in chinese
    assert "grade 2: hard, next on 2026-03-01" in english


def test_after_a_miss_what_is_easier_is_not_what_an_interviewer_would_go_on_to():
    easier = ask(replace(shelf.questions()["single"], level=1), 1)
    alike = ask(shelf.questions()["single"], 1)
    down, on = "Next, a step down", "Next: what an interviewer would ask"
    for given, after, told in ((0, easier, down), (0, alike, on), (1, easier, on)):
        shown = drawn(verdict_screen(judged("single", given=[given], followup=after), 80))
        assert (down in shown, on in shown) == (told == down, told == on)


def test_a_letter_of_the_explanation_is_given_its_number():
    moment = judged("number")
    values = {"p": 4, "m": 8, "s": 96, "layers": 3}
    texts = (
        Text(*["Stages: {p}, $m$ = {m}."] * 2),
        Text(*["A rank's 2s/p of m in its layers, not {s}."] * 2),
    )
    question = replace(moment.question, prompt=texts[0], explain=texts[1])
    asked = replace(moment.asked, question=question, values=values)
    assert "Here p = 4, s = 96" in drawn(verdict_screen(replace(moment, asked=asked), 80))
    # Neither an article nor a letter of another word.
    plain = replace(question, explain=Text(*["A rank's {p}, 3 GB to a GPU and to a rank."] * 2))
    asked = replace(asked, question=plain, values={**values, "a": 64})
    assert "Here " not in drawn(verdict_screen(replace(moment, asked=asked), 80))


def test_the_end_says_first_what_has_ended_and_last_what_comes():
    when = datetime(2026, 3, 1, 12).astimezone()
    summary = Summary(7, 2, 0, 90.0, (), {"as-if-one-word " * 6: 1}, 0, when, "en")
    shown = drawn(summary_screen(summary))
    assert shown.startswith("\nThat was all of it: 7 answered, 2 right, 2 min\n")
    assert shown.endswith("\nEverything is kept. Next review on 2026-03-01\n")
    assert "\n  as-if-one-word " in shown
    assert not re.search("^as-if-one-word", shown, re.MULTILINE)  # set in on its second line too
    shown = drawn(summary_screen(replace(summary, lang="zh")))
    assert shown.endswith("\n全部已保存。下次复习 2026-03-01\n")
    day = drawn(summary_screen(replace(summary, spared=33, lang="zh")))
    assert day.startswith("\n今天的量做完了：答了 7 题，对 2 题，用时 2 分钟\n")
    assert "全部已保存。还有 33 题留到以后" in day
    left = drawn(summary_screen(replace(summary, answered=0, skipped=1, stopped=True, due_now=4)))
    assert left.startswith("\nStopped here: 1 skipped\n")
    assert left.endswith("\nEverything is kept. 4 still due\n")


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("width", WIDTHS)
def test_what_to_look_at_again_is_named_by_its_first_words_and_an_id_to_type(
    width: int, lang: Lang
):
    long = replace(
        shelf.asked("single").question, id="pp/single", prompt=Text(*["长 long " * 30] * 2)
    )
    wrong = (ask(long, 1), shelf.asked("number"), shelf.asked("bug"))
    shown = drawn(summary_screen(Summary(3, 0, 0, 9.0, wrong, {}, 3, None, lang)), width)
    rows = [line for line in shown.split("\n") if "pp/" in line]
    assert re.fullmatch(r"  (长 long )+.*…  pp/single", rows[0])
    assert cell_len(rows[0]) in (width, width - 1)
    assert rows[1].startswith("  1F1B，4 级，" if lang == "zh" else "  1F1B with 4 stages")
    assert rows[1].endswith("  pp/number")
    assert rows[2] == f"  {shelf.asked('bug').question.prompt[lang]}  pp/bug"


def test_a_day_whose_share_is_done_is_told_how_to_go_on_and_not_that_nothing_was_answered():
    done = Summary(0, 0, 0, 0.0, (), {}, 0, None, "zh", spared=33)
    shown = drawn(summary_screen(done), 120)
    assert shown.startswith("\n今天的量做完了\n")
    assert "还有 33 题留到以后；今天还想做，就在命令后面加 --limit 10" in shown
    assert "0 题" not in shown
    assert "答了 2 题" in drawn(summary_screen(replace(done, answered=2)))
    assert "答了 0 题" in drawn(summary_screen(replace(done, spared=0)))


def test_options_stand_where_this_asking_put_them():
    moment = asking("single")
    shown = drawn(question_screen(moment, Draft()))
    places = re.findall(r"^(\d)\) (one|two|four)$", shown, re.MULTILINE)
    order = [("one", "two", "four", "")[index] for index in moment.asked.order]
    assert [(str(order.index(text) + 1), text) for _, text in places] == places


def test_a_wrong_option_is_told_from_the_right_one_without_colour():
    shown = drawn(verdict_screen(judged("single"), 80))
    assert re.search(r"^✓ \d\) two \(right\)$", shown, re.MULTILINE)
    assert re.search(r"^✗ \d\) four \(yours\)$", shown, re.MULTILINE)
    assert "Misconception  gathers-all" in shown
    assert "That is all-gather." in shown
    assert "No room for the block arriving." not in shown  # that is for `w`
    every = drawn(verdict_screen(judged("single", why=True), 80))
    assert "No room for the block arriving." in every


def test_a_trap_is_named_with_what_was_forgotten():
    shown = drawn(verdict_screen(judged("number"), 80))
    assert "Trap           the warm-up in the denominator" in shown
    assert "over-ideal" in shown
    assert re.search(r"Your answer\s+1\.0", shown)
    assert re.search(r"Right answer\s+0\.5", shown)


def test_mistakes_stand_apart_with_the_reason_set_in_below_each():
    for plain, sign in ((False, ""), (True, "`")):
        shown = drawn(verdict_screen(judged("number", why=True), 80, plain))
        mistake = f"{sign}(p - 1) / m{sign} = 1"
        assert f"\n{mistake}\n    the warm-up in the denominator" in shown
    narrow = drawn(verdict_screen(judged("number", why=True), 20), 20)
    assert "= 1\n    the warm-up in\n    the denominator" in narrow
    shown = drawn(verdict_screen(judged("essay", why=True), 80))
    assert "\nsays it saves memory\n    It does not." in shown


def test_a_mistake_that_is_one_number_whatever_was_drawn_is_not_said_to_equal_itself():
    moment = judged("number", why=True)
    question = moment.question
    assert isinstance(question, Numeric)
    trap = replace(question.traps[0], formula=parse("3"))
    asked = replace(moment.asked, question=replace(question, traps=(trap,)))
    shown = drawn(verdict_screen(replace(moment, asked=asked), 80))
    assert "\n3\n    the warm-up in the denominator" in shown


def test_the_wrong_line_and_the_learners_are_marked():
    shown = drawn(verdict_screen(judged("bug"), 80))
    assert re.search(r"^3 >     new_lse", shown, re.MULTILINE)
    assert re.search(r"^5 !     return", shown, re.MULTILINE)
    right = drawn(verdict_screen(judged("bug", given={"line": 5, "reasons": [0]}), 80))
    assert re.search(r"^5 >!     return", right, re.MULTILINE)


def test_a_question_that_was_given_up_shows_its_answer():
    for name in shelf.KINDS:
        asked = shelf.asked(name)
        verdict = grade(asked, None)
        moment = Moment("verdict", asked, "en", 1, given=None, verdict=verdict, grade=1)
        shown = drawn(verdict_screen(moment, 80))
        # Above what explains it and in the line that sums up: not knowing is not being wrong.
        assert shown.count("Not known") == 2
        assert "Wrong" not in shown
        assert "None" not in shown


def test_filled_gaps_are_shown_as_typed():
    draft = Draft({"gap1": "a*b*c $x$ `d`", "gap2": ""})
    assert "[1 a*b*c $x$ `d`]" in drawn(question_screen(asking("cloze"), draft))


def test_an_essay_shows_what_was_said_and_what_was_not():
    shown = drawn(verdict_screen(judged("essay"), 80))
    assert "said: the denominator spans blocks (2 pt)" in shown
    assert "not said: no overflow (1 pt)" in shown
    assert "said, and false: says it saves memory: It does not." in shown


def test_keywords_tick_beforehand_and_say_so():
    draft = pre_ticked(asking("essay"), "The denominator, of course")
    shown = drawn(question_screen(asking("essay"), draft))
    assert "1) [x] the denominator spans blocks (2 pt) *" in shown
    assert "2) [ ] no overflow (1 pt)" in shown
    assert "The denominator, of course" in shown


def test_a_hint_says_what_it_costs_and_the_verdict_why_the_grade_is_low():
    hinted = drawn(question_screen(asking("number", hints_shown=2), Draft()))
    assert "Hint 1 of 2 (after one, a right answer is grade 2 at most)\n" in hinted
    assert "Hint 2 of 2\n" in hinted
    assert "after one, a right answer is grade 2 at most: hard" in drawn(
        help_screen("pick", "en", 4), 120
    )
    why = (("study.lowered_hints", {"hints": 2}), ("study.lowered_unsure", {}))
    both: dict[Lang, str] = {
        "en": "grade 2: hard (hints taken: 2, not sure)",
        "zh": "评分 2：吃力（看了 2 条提示，没把握）",
    }
    for lang, told in both.items():
        moment = judged("number", lang, given="0.5", lowered=why)
        for plain in (False, True):
            assert told in drawn(verdict_screen(moment, 100, plain), 100)


def _answered(question: Question, given: object, proof: ProofView, lang: Lang = "en") -> Moment:
    asked = ask(question, 1)
    verdict = grade(asked, given)
    return Moment("verdict", asked, lang, 1, given=given, verdict=verdict, proof=proof, full=True)


class TestProof:
    def test_the_numbers_that_decide_stand_beside_the_learners(self):
        proof = shelf.proof(shelf.asked("number"))
        shown = drawn(verdict_screen(judged("number", proof=proof), 100), 100)
        assert re.search(r"You predicted\s+1$", shown, re.MULTILINE)
        assert re.search(r"The run measured\s+0\.5\s+off by 100%", shown)
        assert "4 ranks, gloo on cpu (no CUDA GPU found)" in shown
        assert "With the very numbers you were asked" in shown
        assert "\nbubble_1f1b = 0.5  clocked\n    " + proof.demo.watch["bubble_1f1b"].line in shown
        exact = drawn(verdict_screen(judged("number", given="0.5", proof=proof), 100), 100)
        assert re.search(r"The run measured\s+0\.5\s+exactly that", exact)

    @pytest.mark.parametrize(
        ("claim", "told"),
        [
            ("isclose(answer * 1024, 1024 * bubble_1f1b)", True),
            ("isclose(bubble_1f1b / 2 + 1, 1 + answer / ranks * 2)", True),
            ("isclose(answer ** 2, bubble_1f1b ** 2)", False),
            ("answer * 2 <= bubble_1f1b * 3", False),
        ],
    )
    def test_what_is_claimed_in_another_unit_is_measured_in_the_answers(
        self, tmp_path: Path, claim: str, told: bool
    ):
        text = (Path(shelf.__file__).parent / "shelf/pp/number.yaml").read_text(encoding="utf-8")
        (tmp_path / "pp").mkdir()
        changed = text.replace("isclose(bubble_1f1b, answer)", claim)
        (tmp_path / "pp" / "number.yaml").write_text(changed, encoding="utf-8")
        asked = ask(Bank.load(tmp_path).questions["pp/number"], 1)
        shown = drawn(verdict_screen(judged("number", proof=shelf.proof(asked)), 100), 100)
        assert bool(re.search(r"The run measured\s+0\.5\s+off by 100%", shown)) is told

    @pytest.mark.parametrize(
        ("ranks", "args", "said"),
        [
            ("=p", "{microbatches: 3}", "With your p=4; your other numbers at most"),
            ("4", "{microbatches: 3}", "None of your numbers set up this run"),
        ],
    )
    def test_numbers_that_a_run_was_not_made_with_are_not_called_the_runs(
        self, tmp_path: Path, ranks: str, args: str, said: str
    ):
        text = (Path(shelf.__file__).parent / "shelf/pp/number.yaml").read_text(encoding="utf-8")
        text = text.replace("ranks: =p", f"ranks: {ranks}").replace("{microbatches: =m}", args)
        (tmp_path / "pp").mkdir()
        (tmp_path / "pp" / "number.yaml").write_text(text, encoding="utf-8")
        asked = ask(Bank.load(tmp_path).questions["pp/number"], 1)
        moment = replace(judged("number", proof=shelf.proof(asked)), asked=asked)
        assert said in drawn(verdict_screen(moment, 100), 100)

    def test_claims_are_shown_with_their_values_and_true_or_false_in_words(self):
        proof = shelf.proof(shelf.asked("number"))
        shown = drawn(verdict_screen(judged("number", proof=proof), 100), 100)
        assert "true: isclose(bubble_1f1b, answer)\n    isclose(0.5, 0.5)" in shown
        assert "false: bubble_1f1b < 0.1\n    0.5 < 0.1" in shown
        narrow = drawn(verdict_screen(judged("number", proof=proof), 20), 20)
        assert "\n    isclose(0.5,\n    0.5)" in narrow
        # The trap that was hit, and by what it is refuted.
        assert "isclose(bubble_1f1b, answer)  the trap is refuted" in shown
        assert "The run does not bear out the right answer" in shown

    def test_of_another_setting_the_run_and_the_learner_each_have_their_own_key(self):
        proof = shelf.proof(shelf.asked("number"), own=False)
        shown = drawn(verdict_screen(judged("number", proof=proof), 100), 100)
        assert "the nearest that the question lists: p=4, m=3" in shown
        rows = [r"You predicted\s+1", r"The key for your numbers\s+0\.5  off by 100%"]
        rows += [r"The run measured\s+0\.5", r"The key says for it\s+0\.5"]
        assert re.search("\n".join(rows) + "\n", shown), shown

    def test_without_a_number_of_the_learners_the_run_stands_by_itself(self):
        proof = shelf.proof(shelf.asked("number"), own=False)
        moment = judged("number", proof=proof)
        moment = replace(moment, given=None, verdict=grade(moment.asked, None))
        shown = drawn(verdict_screen(moment, 100), 100)
        assert "You predicted" not in shown
        assert "The key for your numbers" not in shown
        assert re.search(r"The run measured\s+0\.5\n", shown)

    @pytest.mark.parametrize(
        "claims",
        [
            ["peak_live_1f1b == answer"],
            [f"peak_live_1f1b[{rank}] == answer[{rank}]" for rank in (0, 1)]
            + ["answer[3] == peak_live_1f1b[3] and peak_live_1f1b[2] == answer[2]"],
        ],
    )
    def test_a_list_that_was_traced_stands_beside_the_measured_one(
        self, tmp_path: Path, claims: list[str]
    ):
        question = shelf.traced(tmp_path, [3, 3, 2, 1], claims)
        proof = shelf.run_of(question, "pipeline")
        asked = ask(question, 1, shelf.code(question))
        for given, row in (("4,3,2,1", r"\[3, 3, 2, 1\]"), ("3 3 2 1", ".*  exactly that")):
            verdict = grade(asked, given)
            moment = _answered(question, given, proof)
            moment = replace(moment, asked=asked, verdict=verdict)
            shown = drawn(verdict_screen(moment, 100), 100)
            said = given.replace(" ", ",").replace(",", ", ")
            told = rf"You predicted\s+\[{said}\]\nThe run measured\s+{row}\n"
            assert re.search(told, shown), shown

    def test_a_wrong_option_is_refuted_by_its_place_on_the_screen(self):
        moment = judged("single", proof=shelf.proof(shelf.asked("single")))
        place = moment.asked.order.index(2) + 1
        shown = drawn(verdict_screen(moment, 100), 100)
        assert f"option {place} is refuted" in shown
        assert "all_equal([2, 2, 2], 4)" in shown
        # What was picked, what was measured of it, and what that says: last, before the verdict.
        said = shown[shown.index("You said") :]
        assert re.match(
            r"You said +four\n"
            r"The run measured +kv_blocks_held = \[2, 2, 2\]\n"
            r" +This run refutes it\n\nOf 4 options the run decides 1",
            said,
        )
        # No run decides about this one.
        unclaimed = judged("single", given=[0], proof=moment.proof)
        assert "You said" not in drawn(verdict_screen(unclaimed, 100), 100)

    def test_of_a_key_that_is_proved_in_part_it_says_how_much(self, tmp_path: Path):
        proof = shelf.proof(shelf.asked("single"))
        english = drawn(verdict_screen(judged("single", proof=proof), 100), 100)
        assert "\nOf 4 options the run decides 1, and bears out the key on them\n" in english
        assert "The run bears out the right answer" not in english
        chinese = drawn(verdict_screen(judged("single", "zh", proof=proof), 100), 100)
        assert "4 个选项里，这次实测判定了 1 个，都跟答案一致" in chinese
        points = [
            {"points": 1, "says": {"zh": "甲", "en": "a"}, "claim": "peak_live_1f1b[0] == 3"},
            {"points": 1, "says": {"zh": "乙", "en": "b"}, "claim": "peak_live_1f1b[1] == 3"},
        ]
        essay = shelf.claimed(tmp_path, "essay", [], rubric=points)
        run = shelf.run_of(essay, "pipeline")
        shown = drawn(verdict_screen(_answered(essay, "1", run), 100), 100)
        assert "The run bears out" in shown
        assert "points the run" not in shown
        half = replace(run, parts=Parts("points", 1, 2))
        shown = drawn(verdict_screen(_answered(essay, "1", half), 100), 100)
        assert "Of 2 points the run decides 1," in shown

    def test_what_a_run_of_another_case_leaves_open_is_not_called_right(self):
        moment = judged("single", proof=shelf.proof(shelf.asked("single")))
        assert moment.proof
        other = replace(moment.proof, untested=frozenset({"options.2.claim"}))
        shown = drawn(verdict_screen(replace(moment, proof=other), 100), 100)
        place = moment.asked.order.index(2) + 1
        assert f"this run does not test option {place}" in shown
        said = shown[shown.index("You said") :]
        assert re.match(r"You said +four\n +This run is of another case and does not", said)

    def test_a_gap_that_is_a_number_stands_beside_what_was_measured(self, tmp_path: Path):
        answers = {
            "live": "3",
            "twice": "4",
            "even": "3",
            "first": "10",
            "word": "more",
            "off": "7",
        }
        question = shelf.claimed(
            tmp_path,
            "cloze",
            [
                "peak_live_1f1b[0] == live",
                "2 * peak_live_1f1b[2] == twice and all_equal(peak_live_gpipe, even + 0)",
                "first_backward_1f1b == [first, first - 2, 6, 4]",
                "peak_live_gpipe[3] - peak_live_1f1b[3] == word",
                "ranks == 4 or peak_live_1f1b[1] == off - 5",
            ],
            text=" ".join(f"[[{name}]]" for name in answers),
            gaps={n: {"answer": a, "value": a if a != "more" else 2} for n, a in answers.items()},
        )
        proof = shelf.run_of(question, "pipeline")
        assert proof.keyed == {"live": 3, "twice": 4, "even": 3, "first": 10}
        given = {
            "live": "three",
            "twice": "2",
            "even": "",
            "first": "9",
            "word": "more",
            "off": "1",
        }
        shown = drawn(verdict_screen(_answered(question, given, proof), 80), 80)
        rows = [
            r" +You said +The run measured",
            r"gap 1 +three +3 +exactly that",
            r"gap 2 +2 +4 +off by 2",
            r"gap 3 +- +3",
            r"gap 4 +9 +10 +off by 1",
            r"gap 5 +more +not measured by this run",
            r"gap 6 +1 +not measured by this run",
        ]
        assert re.search("\n".join(rows) + "\n\nThe run bears", shown), shown
        # What the key calls a gap is nowhere to be read.
        assert "true: 2 * peak_live_1f1b[2] == gap2 and" in shown
        assert not re.search("twice|even|word", shown)

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            (
                ["last", "top", "end"],
                ["最后一级 +4", "第一级 +10", "全部 +18", "", ".*顺序依次变大"],
            ),
            (
                ["top", "last", "end"],
                ["第一级 +10", "最后一级 +4", "全部 +18", "", ".*不是依次变大"],
            ),
            (None, ["最后一级 +4", "第一级 +10", "全部 +18", "", "这次实测"]),
        ],
    )
    def test_an_order_stands_beside_the_measured_moments(
        self, tmp_path: Path, given: object, told: list[str]
    ):
        steps = {"last": "最后一级", "top": "第一级", "end": "全部"}
        pairs = ["(first_backward_1f1b[3] < first_backward_1f1b[0]) == (last < top)"]
        pairs += ["(first_backward_1f1b[0] < makespan_1f1b) == (top < end)"]
        listed = [{"id": each, "text": text} for each, text in steps.items()]
        question = shelf.claimed(tmp_path, "order", pairs, steps=listed)
        proof = shelf.run_of(question, "pipeline")
        shown = drawn(verdict_screen(_answered(question, given, proof, "zh"), 100), 100)
        title = "你的顺序" if given else "正确顺序"
        rows = [rf"{n}\) +{row}" if n < 4 else row for n, row in enumerate(told, start=1)]
        assert re.search("\n".join([rf" +{title} +实测值", *rows]), shown), shown
        assert "== (“最后一级” < “第一级”)\n    (4 < 10) == (1 < 2)" in shown
        assert ("你的答案\n没有作答\n" in shown) is (given is None)
        # One number for two of them, or none for one, does not show an order.
        for last in ("99", "first_backward_1f1b[3]"):
            claims = [pairs[0], pairs[1].replace("makespan_1f1b", last)]
            less = shelf.claimed(tmp_path, "order", claims, steps=listed)
            assert shelf.run_of(less, "pipeline").keyed == {}

    def test_points_are_shown_with_what_was_measured_of_them_said_or_not(self, tmp_path: Path):
        claims = ["peak_live_1f1b[0] == 3", None, "makespan_1f1b < makespan_gpipe"]
        says = ["three are live", "nothing runs", "one-forward-one-backward is " + "faster " * 20]
        rubric = [{"points": 1, "says": s, "claim": c} for s, c in zip(says, claims, strict=True)]
        rubric[1].pop("claim")
        question = shelf.claimed(tmp_path, "essay", ["bubble_1f1b == 0.5"], rubric=rubric)
        proof = shelf.run_of(question, "pipeline")
        given = {"text": "x", "points": [2], "vetoes": []}
        shown = drawn(verdict_screen(_answered(question, given, proof), 80), 80)
        rows = [
            r"You left out +three are live",
            r"The run measured +peak_live_1f1b = \[3, 3, 2, 1\]",
            r" +The run bears it out",
            r"You said +one-forward-one-backward is faster .*…",
            r"The run measured +makespan_1f1b = 18",
            r" +makespan_gpipe = 18",
            r" +This run refutes it",
        ]
        assert re.search("\n".join(rows) + "\n", shown), shown
        unknown = drawn(verdict_screen(_answered(question, None, proof), 80), 80)
        assert "You left out" not in unknown

    def test_of_a_point_that_says_more_than_its_claim_a_part_is_borne_out(self, tmp_path: Path):
        says = {"zh": "前三个在，因为要等反向", "en": "three are live, because backward is due"}
        rubric = [{"points": 1, "says": says, "claim": "peak_live_1f1b[0] == 3"}]
        question = shelf.claimed(tmp_path, "essay", [], rubric=rubric)
        proof = shelf.run_of(question, "pipeline")
        given = {"text": "x", "points": [0], "vetoes": []}
        english = _answered(question, given, proof)
        for moment, part, of_all, glanced in (
            (english, "The run bears out the part of it that it measures",
             "Of 1 points the run bears out 0, and 1 in part", "measured in part"),
            (replace(english, lang="zh"), "实测支持其中测到的部分",
             "1 个要点里，这次实测完整支持 0 个，部分支持 1 个", "只测到一部分"),
        ):  # fmt: skip
            shown = drawn(verdict_screen(moment, 120), 120)
            assert part in shown
            assert of_all in shown
            at_a_glance = drawn(Group(*glance(moment, 120)), 120)
            assert glanced in at_a_glance
            assert (
                say("glance.points_run", moment.lang, held=0, part=1, out=0, rest=0) in at_a_glance
            )

    def test_a_planted_bug_shows_the_check_that_fails(self):
        moment = judged("bug", proof=shelf.proof(shelf.asked("bug")))
        shown = drawn(verdict_screen(moment, 100), 100)
        assert "Planted bug: average" in shown
        assert "A check fails: ring equals all_reduce" in shown

    def test_reasons_are_held_against_the_run_where_they_were_asked_for(self):
        asked = shelf.asked("bug")
        assert isinstance(asked.question, Bug)
        first, *others = asked.question.reasons
        reasons = (replace(first, claim=parse("max_error > 2")), *others)
        asked = replace(asked, question=replace(asked.question, reasons=reasons))
        proof = shelf.proof(asked)
        said = "weigh by the denominators\nThe run measured  max_error = "
        for given, label in (
            ({"line": 5, "reasons": [0]}, "You said          "),
            ({"line": 5, "reasons": []}, "You left out      "),
            ({"line": 3, "reasons": []}, ""),
        ):
            moment = Moment("verdict", asked, "en", 1, given=given, proof=proof, full=True)
            shown = drawn(verdict_screen(replace(moment, verdict=grade(asked, given)), 80), 80)
            assert (label + said in shown) is bool(label), shown
            assert ("You " in shown[shown.index("Claim by") :]) is bool(label)

    def test_a_claim_that_a_point_repeats_is_said_once(self):
        proof = shelf.proof(shelf.asked("single"))
        claims = proof.judgement.claims
        repeated = tuple(replace(claim, role="point") for claim in claims if claim.role == "claim")
        assert repeated
        twice = replace(proof, judgement=replace(proof.judgement, claims=claims + repeated))
        shown = drawn(verdict_screen(judged("single", proof=proof), 80), 80)
        assert drawn(verdict_screen(judged("single", proof=twice), 80), 80) == shown

    def test_the_timelines_that_the_deciding_numbers_are_about_are_drawn(self):
        proof = shelf.proof(shelf.asked("number"))
        shown = drawn(verdict_screen(judged("number", proof=proof), 80), 80)
        assert re.search(r"^1f1b: .*\nrank 0 \|.*F0.*B0", shown, re.MULTILINE)
        assert shown.count("rank 0 |") == 1
        every = charts(proof.report.timeline, proof.report.ranks)
        assert [each.schedule for each in every] == ["gpipe", "1f1b"]
        drawn_for = {
            ("bubble_gpipe", "makespan_1f1b"): every,
            ("peak_live_gpipe",): every[:1],
            ("sent_bytes",): (),
        }
        for metrics, wanted in drawn_for.items():
            asked = replace(proof, values=dict.fromkeys(metrics, 0))
            assert tuple(telling(every, asked)) == wanted
        parts = (*every, replace(every[1], schedule="1f1b, sums"))
        asked = replace(proof, values={"exposed_1f1b": 25})
        assert telling(parts, asked) == [parts[1], parts[2]]
        # A time that names no schedule may be of any of them; a picture alone is shown anyway.
        clocked = replace(
            proof,
            values={"makespan": 0},
            report=replace(proof.report, how={"makespan": "clocked"}),
        )
        assert telling(every, clocked) == every
        assert telling(every[:1], replace(proof, values={"sent_bytes": 0})) == every[:1]


def test_colour_adds_nothing_that_is_not_said():
    moment = judged("single", proof=shelf.proof(shelf.asked("single")), why=True)
    coloured = drawn(verdict_screen(moment, 80), 80, colour=True)
    bare = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert [line.rstrip() for line in bare.split("\n")] == drawn(
        verdict_screen(moment, 80), 80
    ).split("\n")
    # Black or white is only ever written on a colour of our own, as the terminal may be either.
    inked = re.findall(r"\x1b\[([\d;]*\b(?:30|37|90|97)\b[\d;]*)m", coloured)
    assert inked
    assert all(re.search(r"\b4[1-6]\b", codes) for codes in inked)


def test_a_claim_is_shown_with_its_values_and_not_with_what_lies_around_them():
    names: dict[str, Value] = {"live": [4, 3, 2, 1], "p": 4, "s": 1, "end": "finished"}
    shown = {
        "live[s] == p - s": ["3 == 4 - 1", "3 == 3"],
        "max(live) == live[0]": ["4 == 4"],
        "sum(live) / p > 2 and not all_equal(live)": [
            "10 / 4 > 2 and (not all_equal([4, 3, 2, 1]))",
            "2.5 > 2 and (not all_equal([4, 3, 2, 1]))",
        ],
        "isclose(live[0] / (p - s), 2 * p, rel=0.2)": [
            "isclose(4 / (4 - 1), 2 * 4, rel=0.2)",
            "isclose(1.33333, 8, rel=0.2)",
        ],
        "end == 'hung'": ["'finished' == 'hung'"],
        "1 < 2": [],
        "p * 1e9 > 1e-6": ["4 * 1000000000 > 1e-06", "4000000000 > 1e-06"],
        "live[p] > other[0]": ["[4, 3, 2, 1][4] > other[0]"],
    }
    for claim, values in shown.items():
        assert put_in(parse(claim), names) == values


@pytest.mark.parametrize("lang", LANGS)
def test_sure_and_wrong_is_said_at_the_head_of_the_verdict(lang: Lang):
    for given, sure, told in ((0, True, True), (0, None, False), (1, True, False)):
        shown = drawn(verdict_screen(judged("single", lang, given=[given], sure=sure), 100), 100)
        assert (say("ui.sure_wrong", lang) in shown) is told
        assert (say("ui.sure_wrong_note", lang)[:20] in shown) is told
    moment = judged("single", lang, sure=True)
    not_known = replace(moment, given=None, verdict=grade(moment.asked, None))
    assert say("ui.sure_wrong", lang) not in drawn(verdict_screen(not_known, 100), 100)


def test_the_head_says_why_it_is_this_questions_turn():
    moment = asking("single", why_now=("study.now_link", {"number": 2, "of": 3}))
    for plain in (False, True):
        head = drawn(question_screen(moment, Draft(), plain)).split("\n")[0]
        assert head.endswith("follow-up 2 of 3")


@pytest.mark.parametrize("lang", LANGS)
def test_the_head_and_the_standing_break_between_facts_and_never_inside_one(lang: Lang):
    moment = judged("single", lang, sure=True, due=datetime(2026, 11, 24, 12))
    due = say("ui.due", lang, date="2026-11-24")
    seen = set[int]()
    for width in range(44, 100):
        lines = drawn(verdict_screen(moment, width), width).split("\n")
        (at,) = (at for at, line in enumerate(lines) if line.endswith(due))
        seen.add(lines[at].count("  "))
        top = drawn(question_screen(moment, Draft()), width).split("\n-")[0].split("\n")
        assert any(line.endswith(say("ui.is_sure", lang)) for line in top)
        assert any(say("ui.level_2", lang) in line for line in top)
    assert len(seen) > 1  # both where it breaks and where it need not


@pytest.mark.parametrize(("lang", "points"), [("zh", "（2 分）"), ("en", " (2 pt)")])
def test_points_stand_in_the_languages_own_brackets(lang: Lang, points: str):
    sheet = RubricSheet(shelf.asked("essay"), lang, 1, 3, "x", (), ())
    shown = drawn(judge_screen(sheet, plain=False))
    assert points in shown
    assert ("(" in shown) is (lang == "en")


def test_code_that_does_not_fit_goes_on_deeper_than_its_own_line():
    line = "    self.flying[turn] = self.start(turn)  # meanwhile backward goes on"
    shown = drawn(listing(["def ready(self):", line]), 40).split("\n")
    assert shown[1] == "2       self.flying[turn] ="
    assert [row[:12].isspace() for row in shown[2:4]] == [True, True]
    assert " ".join(" ".join(shown[1:]).split()) == "2 " + " ".join(line.split())
    assert drawn(listing(["def ready(self):", line]), 90).split("\n")[1] == f"2   {line}"


@pytest.mark.parametrize("name", shelf.KINDS)
def test_the_verdict_comes_before_the_question(name: str):
    shown = drawn(verdict_screen(judged(name), 80))
    prompt = shelf.questions()[name].prompt["en"].split()[0]
    at = [shown.index(each) for each in ("\nWhy\n", "The question ---")]
    assert at == sorted(at)
    assert prompt in shown[at[1] :]


@pytest.mark.parametrize("lang", LANGS)
def test_what_speaks_against_ones_own_option_comes_before_the_explanation(lang: Lang):
    question = shelf.questions()["single"]
    assert isinstance(question, Choice)
    index, own = next((i, o) for i, o in enumerate(question.options) if o.why)
    shown = drawn(verdict_screen(judged("single", lang=lang, given=[index]), 100), 100)
    assert own.why
    reason = "".join(own.why[lang].split())[:12]
    told = "".join(shown.split())
    assert 0 < told.index(reason) < told.index("".join(say("ui.explain", lang).split()))


def test_hints_are_offered_as_long_as_there_are_any():
    given = len(shelf.questions()["single"].hints)
    shown = [
        "hint" in nothing_to_show(asking("single", hints_shown=count)) for count in range(given + 1)
    ]
    assert shown == [False] * given + [True]


@pytest.mark.parametrize("name", shelf.KINDS)
def test_a_key_that_leads_nowhere_is_not_offered(name: str):
    moment = judged(name)
    idle = nothing_to_show(moment)
    assert moment.verdict
    spelt = name in ("number", "cloze", "trace", "essay")
    assert ("right" in idle) is (moment.verdict.right or not spelt)
    assert ("prove" in idle) is (moment.question.proof is None)
    labels = {each.command: each.label("en") for each in keymap.KEYMAP}
    offered = {item.partition(" ")[2] for item in keymap.footer("verdict", "en", without=idle)}
    assert not offered & {labels[command] for command in idle}
    does = {each.command: each.explanation("en") for each in keymap.KEYMAP}
    helped = {told for _, told in keymap.explained("verdict", "en", without=idle)}
    assert not helped & {does[command] for command in idle}
    sentences = {"why": say("ui.why_none", "en"), "say": say("ui.say_none", "en")}
    for command, sentence in sentences.items():
        opened = drawn(verdict_screen(replace(moment, **{command: True}), 80))  # pyright: ignore
        assert (sentence in opened) is (command in idle)


@pytest.mark.parametrize("lang", LANGS)
def test_what_the_run_showed_stands_with_the_claim_and_with_what_was_picked(lang: Lang):
    moment = judged("single", lang)
    proof = shelf.proof(moment.asked)
    said = Text("若是会留 4 块，实测 `2` 块", "if so 4 would be held; `2` were")
    shown = replace(proof, shows={"options.2.claim": said})
    words = {"zh": "若是会留 4 块，实测 2 块", "en": "if so 4 would be held; 2 were"}[lang]
    before = drawn(verdict_screen(replace(moment, proof=proof), 100), 100)
    after = drawn(verdict_screen(replace(moment, proof=shown), 100), 100)
    assert (before.count(words), after.count(words)) == (0, 2)  # option 2 is what was picked


@pytest.mark.parametrize("lang", LANGS)
def test_the_end_puts_first_what_was_wrong_and_sure_and_tells_strength_by_topic(lang: Lang):
    sure, other = shelf.asked("single"), shelf.asked("number")
    strength = {"pp": Tally(20, 8, 5.0), "dp": Tally(3, 1, 0.9)}
    summary = Summary(2, 0, 0, 9.0, (other, sure), {}, 3, None, lang)
    shown = drawn(summary_screen(replace(summary, mistaken=(sure,), strength=strength)), 80)
    titles = [say(f"ui.end_{name}", lang) for name in ("mistaken", "wrong", "strength")]
    places = [shown.index(each) for each in titles]
    assert places == sorted(places)
    assert places[0] < shown.index("pp/single") < places[1] < shown.index("pp/number") < places[2]
    assert shown.count("pp/single") == 1
    row = next(line for line in shown.split("\n") if "####" in line)
    assert row.startswith("pp")
    assert "#####....." in row
    assert "25%" in row
    assert "dp" not in shown  # three questions say nothing about a topic
    assert "####" not in drawn(summary_screen(summary), 80)
