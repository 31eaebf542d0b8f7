"""The session, driven by a script: a desk with a list of replies, a clock that stands still."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from quizkit.answer import counted, flagged
from quizkit.bank.entry import entry
from quizkit.bank.model import Question
from quizkit.bank.reader import Bank
from quizkit.diary import Diary
from quizkit.errors import DiaryError, LabError
from quizkit.lab.excerpt import Excerpt
from quizkit.tutor.asked import Asked
from quizkit.tutor.desk import Command, Given, Moment, Page, Summary
from quizkit.tutor.lineup import Allowance, Lineup, today
from quizkit.tutor.memory import Memory
from quizkit.tutor.queue import Queue
from quizkit.tutor.study import Study

START = datetime(2026, 3, 1, 8, tzinfo=UTC)
CODE = Excerpt(("def story():", "    wrong()"), 1, frozenset({2}))

Reply = Given | Command
Step = Reply | str | Callable[[Moment], Reply]


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Script:
    """A desk that says what it was told to, and remembers what it was shown."""

    interactive = False

    def __init__(self, *steps: Step) -> None:
        self.steps = [*steps]
        self.met: list[Moment] = []
        self.busy_with: list[str] = []
        self.summary: Summary | None = None

    def meet(self, moment: Moment) -> Reply:
        self.met.append(moment)
        step = self.steps.pop(0) if self.steps else Command("quit")
        if isinstance(step, str):
            return Command(cast("Any", step))
        return step if isinstance(step, Given | Command) else step(moment)

    @contextmanager
    def busy(self, text: str) -> Iterator[None]:
        self.busy_with.append(text)
        yield

    def read(self, page: Page) -> Command:
        raise AssertionError(page)  # a session has no pages

    def end(self, summary: Summary) -> None:
        self.summary = summary

    @property
    def last(self) -> Moment:
        return self.met[-1]


def right(moment: Moment) -> Given:
    """The right answer of a choice."""
    options = cast("Any", moment.question).options
    return Given([i for i, option in enumerate(options) if option.correct])


def known(moment: Moment) -> Given:
    """The right answer of a number."""
    return Given(repr(moment.asked.answer()))


def wrong(moment: Moment) -> Given:
    options = cast("Any", moment.question).options
    return Given([next(i for i, option in enumerate(options) if not option.correct)])


class Room:
    """Everything a session needs, and short ways to start one."""

    def __init__(self, folder: Path, bank: Bank) -> None:
        self.path = folder / "diary.sqlite3"
        self.bank = bank
        self.clock = Clock()
        self.proofs: list[tuple[Asked, object]] = []
        self.failure: BaseException | None = None
        self.excerpt: Callable[[Question], Excerpt] = lambda _: CODE

    def prove(self, asked: Asked, given: object) -> Any:
        self.proofs.append((asked, given))
        if self.failure:
            raise self.failure
        return f"proof of {asked.question.id}"

    def study(self, names: Sequence[str], *steps: Step, seed: int = 1, **options: Any) -> Script:
        desk = Script(*steps)
        entries = [entry(self.bank.questions[name]) for name in names]
        now, limit = self.clock(), options.pop("limit", None)
        with Diary(self.path) as diary:
            Study(
                entries,
                diary,
                desk,
                self.clock,
                lang="zh",
                queue=lambda cards: Queue(
                    entries, today(entries, cards, now, seed, limit=limit), seed
                ),
                read=self.bank.questions.get,
                prove=self.prove,
                show=self.excerpt,
                **options,
            ).run()
        return desk

    def rows(self) -> list[Any]:
        with Diary(self.path) as diary:
            return diary.answers()

    def kept(self) -> list[str]:
        with Diary(self.path) as diary:
            return [event.note["text"] for event in diary.events(name="unsent")]


@pytest.fixture
def room(tmp_path: Path, bank: Bank) -> Room:
    return Room(tmp_path, bank)


STAGES = ["pp/stages"]


def test_an_answer_is_on_disk_before_its_verdict_is_shown(room: Room):
    seen: list[tuple[str, object]] = []

    def look(moment: Moment) -> Command:
        seen.extend((row.uuid, row.given) for row in room.rows())
        assert moment.verdict
        assert moment.verdict.right
        assert [moment.uuid] == [uuid for uuid, _ in seen]
        return Command("continue")

    desk = room.study(STAGES, right, look)
    assert seen
    assert seen[0][1] == [0]
    assert desk.summary
    assert (desk.summary.answered, desk.summary.right) == (1, 1)


def test_what_a_row_says(room: Room):
    def answer(moment: Moment) -> Given:
        room.clock.wait(12.5)
        return right(moment)

    room.study(STAGES, "hint", "sure", answer)
    (row,) = room.rows()
    question = room.bank.questions["pp/stages"]
    assert (row.question, row.bank_hash, row.mode) == ("pp/stages", question.digest, "study")
    assert (row.right, row.score, row.given, row.lang) == (True, 1.0, [0], "zh")
    assert (row.seconds, row.hints, row.sure, row.grade) == (12.5, 0, True, 4)
    assert (row.at, row.undoes, row.note) == (START + timedelta(seconds=12.5), None, "")


def test_the_desks_own_seconds_and_certainty_win(room: Room):
    room.study(STAGES, Given([0], seconds=3.0, sure=False))
    (row,) = room.rows()
    assert (row.seconds, row.sure, row.grade) == (3.0, False, 2)


def test_hints_come_one_by_one_and_cost(room: Room):
    desk = room.study(["comm/ring-share"], "hint", "hint", "hint", Given("0.1"))
    assert [moment.hints_shown for moment in desk.met[:4]] == [0, 1, 2, 2]
    assert desk.met[3].message == ("study.no_more_hints", {})
    assert room.rows()[0].hints == 2


def test_the_usual_conditions_open_and_close_and_cost_nothing(room: Room):
    desk = room.study(STAGES, "assume", "toggle", "assume", "assume", right, "assume")
    assert [moment.unfolded for moment in desk.met[:5]] == [False, True, True, False, True]
    assert [moment.unfolded for moment in desk.met if moment.phase == "verdict"] == [True, False]
    assert (room.rows()[0].hints, room.rows()[0].grade) == (0, 3)


def test_toggling_loses_nothing(room: Room):
    draft = {"typed": "1.5 GB"}
    desk = room.study(
        ["comm/ring-share"], "hint", Command("toggle", draft=draft), "toggle", Given("7"), "toggle"
    )
    before, after, back = desk.met[1:4]
    assert (before.lang, after.lang, back.lang) == ("zh", "en", "zh")
    assert after.draft == back.draft == draft
    assert after.asked == before.asked
    assert after.hints_shown == 1
    verdict = desk.met[-1]
    assert (verdict.phase, verdict.lang, verdict.given) == ("verdict", "en", "7")
    assert len(room.rows()) == 1


def test_what_cannot_be_read_is_asked_again_with_what_was_typed(room: Room):
    desk = room.study(["comm/buffer"], Given("many"), Given("16 foo"), Given("16"))
    assert [moment.phase for moment in desk.met] == ["question"] * 3 + ["verdict"]
    assert desk.met[1].message == ("study.not_a_number", {"text": "many"})
    assert desk.met[1].draft == "many"
    assert desk.met[2].draft == "16 foo"
    assert [row.right for row in room.rows()] == [True]


def test_not_knowing_is_an_answer(room: Room):
    desk = room.study(STAGES, "continue")
    (row,) = room.rows()
    assert (row.given, row.right, row.grade) == (None, False, 1)
    assert desk.last.verdict
    assert desk.last.verdict.expected["en"] == "activation memory"


def test_nothing_is_proved_before_it_is_answered(room: Room):
    desk = room.study(STAGES, "prove", "why", "right")
    assert room.proofs == []
    assert [moment.message for moment in desk.met[1:]] == [("study.answer_first", {})] * 3
    assert all(moment.verdict is None for moment in desk.met)


TRACE = ["pp/trace-number"]


def test_a_proof_runs_the_learners_own_draw(room: Room):
    desk = room.study(TRACE, Given("1"), "prove", "why")
    assert room.proofs == [(desk.met[0].asked, "1")]
    assert desk.met[2].proof == desk.met[3].proof == "proof of pp/trace-number"
    assert (desk.met[2].why, desk.met[3].why) == (False, True)
    assert desk.busy_with == ["正在跑 pipeline …"]


def test_a_proof_that_cannot_run_says_why(room: Room):
    room.failure = LabError("torch_missing", python="python")
    desk = room.study(TRACE, Given("1"), "prove", "continue")
    assert desk.met[2].message == ("errors.torch_missing", {"python": "python"})
    assert room.study(STAGES, right, "prove").last.message == ("study.no_proof", {})


def test_an_interrupt_ends_the_run_and_not_the_session(room: Room):
    room.failure = KeyboardInterrupt()
    desk = room.study(TRACE, Given("1"), "prove", "continue")
    assert desk.met[2].message == ("study.cancelled", {})
    assert desk.summary
    assert desk.summary.answered == 1


def test_undo_forgets_and_asks_again_just_as_it_was(room: Room):
    desk = room.study(["comm/ring-share"], Given("0.1"), "undo")
    first, again = desk.met[0], desk.met[2]
    assert again.phase == "question"
    assert again.asked == first.asked
    assert again.draft == "0.1"
    uuid = desk.met[1].uuid
    assert again.message == ("study.undone", {"question": "comm/ring-share", "uuid": uuid})
    rows = room.rows()
    assert [(row.undoes, row.note) for row in rows] == [(None, ""), (uuid, "undo")]
    assert counted(rows) == []
    with Diary(room.path) as diary:
        assert Memory(diary).cards == {}
    assert desk.summary
    assert (desk.summary.answered, desk.summary.wrong) == (0, ())


def test_undo_from_the_next_question_goes_back_and_comes_back(room: Room):
    names = ["pp/stages", "comm/buffer"]
    desk = room.study(
        names, "continue", "continue", Command("undo", draft="half an answ"), "continue", "continue"
    )
    ids = [moment.question.id for moment in desk.met]
    first, second = ids[0], ids[2]
    assert ids == [first, first, second, first, first, second]
    assert desk.met[5].draft == "half an answ"
    assert desk.met[5].asked == desk.met[2].asked
    assert [moment.number for moment in desk.met] == [1, 1, 2, 1, 1, 2]


def test_many_undos_go_back_one_by_one(room: Room):
    names = ["pp/stages", "comm/buffer", "pp/order"]
    go_on = ["continue", "continue"]
    desk = room.study(names, *go_on, *go_on, "undo", "undo", "undo")
    ids = [moment.question.id for moment in desk.met]
    assert ids[5:] == [ids[2], ids[0], ids[0]]
    assert desk.met[-1].message == ("study.nothing_to_undo", {})
    assert counted(room.rows()) == []


def test_a_skip_is_no_answer_and_can_be_taken_back(room: Room):
    names = ["pp/stages", "comm/buffer"]
    desk = room.study(names, "skip", "undo", "skip", "skip")
    ids = [moment.question.id for moment in desk.met]
    assert ids == [ids[0], ids[1], ids[0], ids[1]]
    assert room.rows() == []
    assert desk.summary
    assert (desk.summary.skipped, desk.summary.answered) == (2, 0)


def test_a_wrong_answer_comes_back_once(room: Room):
    desk = room.study(STAGES, wrong, "continue", wrong, "continue")
    assert [moment.phase for moment in desk.met] == ["question", "verdict"] * 2
    assert desk.met[2].asked.seed != desk.met[0].asked.seed
    assert [(m.number, m.total) for m in desk.met] == [(1, 1), (1, 2), (2, 2), (2, 2)]
    assert desk.summary
    assert [asked.question.id for asked in desk.summary.wrong] == ["pp/stages"]
    assert desk.summary.myths == {"1f1b-cuts-bubble": 2}


def test_the_followup_is_announced_and_comes_next(room: Room):
    names = ["pp/stages", "comm/buffer", "comm/speed", "pp/bubble-parts"]
    easy = replace(room.bank.questions["pp/bubble-parts"], level=1)
    room.bank = replace(room.bank, questions={**room.bank.questions, easy.id: easy})

    def answer(moment: Moment) -> Reply:
        if moment.verdict:
            return Command("continue")
        return wrong(moment) if moment.question.id == "pp/stages" else Command("skip")

    desk = room.study(names, *[answer] * 20, seed=2)
    at = next(i for i, m in enumerate(desk.met) if m.question.id == "pp/stages" and m.verdict)
    told, following = desk.met[at].followup, desk.met[at + 1].asked
    assert told
    assert (told.question, told.question.id) == (following.question, "pp/bubble-parts")
    assert (told.seed, told.values) == (following.seed, following.values)  # with its very numbers


def test_the_learners_own_grade(room: Room):
    desk = room.study(STAGES, right, Command("grade", 4), Command("grade", 9), "toggle")
    first, second = room.rows()
    assert (first.grade, second.grade) == (3, 4)
    assert (second.undoes, second.note, second.given) == (first.uuid, "grade", [0])
    assert counted(room.rows()) == [second]
    assert (desk.met[1].grade, desk.met[2].grade) == (3, 4)
    assert desk.met[1].due
    assert desk.met[2].due
    assert desk.met[2].due > desk.met[1].due


def test_what_made_the_grade_low_is_said_until_the_learner_grades(room: Room):
    steps: tuple[Step, ...] = ("hint", "hint", Given("x"), known, Command("grade", 3))
    desk = room.study(["comm/ring-share"], *steps, "continue")
    graded, regraded = (each for each in desk.met if each.verdict)
    assert (graded.grade, graded.lowered) == (2, (("study.lowered_hints", {"hints": 2}),))
    assert (regraded.grade, regraded.lowered) == (3, ())


def test_i_was_right_is_recorded_and_flags_the_question(room: Room):
    gaps = Given({"gap1": "全部相加", "gap2": "1/2", "gap3": "16 GB", "gap4": "1F1B"})
    desk = room.study(["pp/cloze"], gaps, "right", "right", "continue")
    first, second = room.rows()
    assert (first.right, second.right, second.score, second.grade) == (False, True, 1.0, 3)
    assert counted(room.rows()) == [second]
    assert flagged(room.rows()) == [second]
    before, shown = desk.met[1], desk.met[2]
    assert before.verdict
    assert before.verdict.notes == (("study.gaps", {"gaps": "1"}),)
    assert shown.verdict
    # Nothing that spoke against the answer is left on the screen.
    assert (shown.verdict.right, shown.verdict.myth, shown.verdict.notes) == (True, None, ())
    assert shown.message == ("study.you_were_right", {})
    assert desk.met[3].message == ("study.right_already", {})
    # What was right after all does not come back.
    assert len(desk.met) == 4
    assert desk.summary
    assert desk.summary.right == 1


@pytest.mark.parametrize(
    ("question", "given"),
    [
        ("pp/stages", Given([1])),
        ("pp/bubble-parts", Given([0, 3])),
        ("pp/order", Given(["step", "backward", "send", "forward"])),
        ("comm/ring-share", "continue"),  # not known: there is no answer to be right
    ],
)
def test_what_cannot_be_misread_is_not_right_after_all(room: Room, question: str, given: Step):
    desk = room.study([question], given, "right", "quit")
    assert [row.right for row in room.rows()] == [False]
    assert desk.met[2].verdict == desk.met[1].verdict
    assert desk.met[2].message == ("study.right_exact", {})


def test_undo_after_a_correction_forgets_it_all(room: Room):
    room.study(["comm/ring-share"], Given("0.1"), "right", "undo")
    assert counted(room.rows()) == []
    assert flagged(room.rows()) == []


def test_a_flag_can_be_set_with_a_word_and_taken_back(room: Room):
    desk = room.study(STAGES, Command("flag", "题面有歧义"), right, "flag", "flag")
    assert [m.flagged for m in desk.met] == [False, True, True, False, True]
    rows = room.rows()
    assert rows[0].note == "flag: 题面有歧义"
    assert [row.note for row in flagged(rows)] == ["flag"]
    assert len(counted(rows)) == 1


def test_a_wrong_answer_keeps_its_myth(room: Room):
    desk = room.study(["pp/stages"], wrong, Command("grade", 2), "continue", "quit")
    first, graded = room.rows()
    assert desk.met[1].verdict
    assert first.myth == graded.myth == desk.met[1].verdict.myth == "1f1b-cuts-bubble"
    assert (graded.note, graded.grade) == ("grade\nmyth: 1f1b-cuts-bubble", 2)


def test_a_number_that_was_right_after_all_has_no_myth(room: Room):
    room.study(["comm/ring-share"], lambda m: Given(repr(m.asked.answer() / 2)), "right", "quit")
    first, mended = room.rows()
    assert (first.myth, mended.myth) == ("half-ring", None)
    assert [row.note for row in flagged(room.rows())] == ["i-was-right"]


def test_in_a_course_going_on_first_runs_what_decides(room: Room):
    desk = room.study(["pp/trace-list"], Given("4 3 2 1"), "continue", "continue", runs=True)
    assert [(m.phase, m.proof, m.message) for m in desk.met] == [
        ("question", None, None),
        ("verdict", None, ("study.run_next", {})),
        ("verdict", "proof of pp/trace-list", None),
    ]
    assert desk.summary
    room.failure = KeyboardInterrupt()
    desk = room.study(["pp/trace-list"], Given("4 3 2 1"), "continue", "continue", runs=True)
    assert desk.met[-1].message == ("study.cancelled", {})
    assert desk.summary  # one that was stopped is not run again
    desk = room.study(["pp/stages"], right, "continue", runs=True)
    assert len(desk.met) == 2  # nothing to run


def test_a_greeting_comes_with_the_first_question_alone(room: Room):
    greeting = ("study.foundations", {"topics": "comm", "first": "comm"})
    desk = room.study(
        ["pp/stages", "pp/trace-list"], right, "continue", "quit", greeting=lambda _: greeting
    )
    assert [m.message for m in desk.met] == [greeting, None, None]


def test_a_question_that_has_gone_is_passed_over(room: Room):
    questions = dict(room.bank.questions)
    room.bank = replace(room.bank, questions=questions)

    def leave(moment: Moment) -> Given:
        questions.clear()
        return right(moment)

    desk = room.study(["pp/stages", "pp/trace-list"], leave, "continue")
    assert len(desk.met) == 2
    assert desk.summary
    assert desk.summary.answered == 1


def test_looking_back_while_the_next_question_waits(room: Room):
    names = ["pp/trace-number", "pp/trace-list"]
    desk = room.study(
        names, Given("1 1 1 1"), "continue", "prove", "continue", "prove", "quit", seed=5
    )
    ids = [(m.question.id, m.phase) for m in desk.met]
    first, second = ids[0][0], ids[2][0]
    assert ids == [
        (first, "question"),
        (first, "verdict"),
        (second, "question"),
        (first, "verdict"),
        (second, "question"),
        (first, "verdict"),
    ]
    assert desk.met[3].proof == f"proof of {first}"
    assert desk.summary


def test_undo_while_looking_back(room: Room):
    names = ["pp/trace-number", "pp/trace-list"]
    desk = room.study(names, "continue", "continue", "why", "undo")
    assert desk.last.question == desk.met[0].question
    assert desk.last.phase == "question"
    assert counted(room.rows()) == []


def test_quitting_keeps_everything(room: Room):
    desk = room.study(["pp/stages", "comm/buffer"], "continue", "continue", "quit")
    assert desk.summary
    assert (desk.summary.answered, desk.summary.skipped) == (1, 0)
    assert desk.summary.stopped
    assert len(counted(room.rows())) == 1


def test_who_leaves_after_a_wrong_answer_leaves_it_once_more(room: Room):
    leaving = ([wrong, "quit"], [wrong, "continue", wrong, "quit"], [right, "quit"])
    ends = [room.study(["pp/stages"], *steps) for steps in leaving]
    # As the head counts: one of two is not the end.
    assert [(desk.last.number, desk.last.total) for desk in ends] == [(1, 2), (2, 2), (1, 1)]
    assert [desk.summary and desk.summary.stopped for desk in ends] == [True, False, False]


def test_an_interrupt_leaves_what_was_answered(room: Room):
    def interrupt(_: Moment) -> Reply:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        room.study(["pp/stages", "comm/buffer"], "continue", "continue", interrupt)
    assert len(counted(room.rows())) == 1


def test_the_next_session_goes_on_where_the_last_one_stopped(room: Room):
    names = ["pp/stages", "comm/buffer", "pp/order"]
    first = room.study(names, "continue", "continue", seed=5).met[0].question.id
    desk = room.study(names, "skip", "skip", seed=5)
    assert {m.question.id for m in desk.met} == {*names} - {first}
    room.clock.wait(2 * 86400)
    assert room.study(names, seed=5).met[0].question.id == first


def test_ahead_of_time_it_says_so(room: Room):
    room.study(STAGES, right, "continue")
    desk = room.study(STAGES)
    assert desk.met[0].message == ("study.ahead", {})
    assert desk.summary
    assert (desk.summary.due_now, desk.summary.next_due) == (0, START + timedelta(days=2))


def test_a_clock_that_goes_back_takes_no_time(room: Room):
    def back(moment: Moment) -> Given:
        room.clock.wait(-3600)
        return right(moment)

    room.study(STAGES, back)
    assert room.rows()[0].seconds == 0


def test_a_question_whose_demo_cannot_be_read_is_passed_over(room: Room):
    def excerpt(question: Question) -> Excerpt:
        if question.id == "pp/bug":
            raise LabError("torch_missing", python="x")
        return CODE

    room.excerpt = excerpt
    desk = room.study(["pp/bug", "pp/essay"])
    assert [m.question.id for m in desk.met] == ["pp/essay"]


def test_what_cannot_be_written_is_not_shown_as_judged(room: Room, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise DiaryError("diary_full", file=room.path, reason="full")

    monkeypatch.setattr(Diary, "append", full)
    entries = [entry(room.bank.questions["pp/stages"])]
    desk = Script(right)
    with Diary(room.path) as diary, pytest.raises(DiaryError):
        Study(
            entries, diary, desk, room.clock, lang="zh", read=room.bank.questions.get,
            queue=lambda _: Queue(entries, Lineup(plan=["pp/stages"]), 1),
            prove=room.prove, show=lambda _: CODE,
        ).run()  # fmt: skip
    assert [moment.phase for moment in desk.met] == ["question"]


def test_every_kind_goes_through(room: Room):
    given: dict[str, object] = {
        "choice": [0],
        "numeric": "1",
        "order": ["forward", "send", "backward", "step"],
        "cloze": {f"gap{i}": "x" for i in range(1, 5)},
        "trace": "4 3 2 1",
        "bug": {"line": 2, "reasons": [0]},
        "essay": {"text": "激活", "points": [0, 1], "vetoes": []},
    }
    names = [
        "pp/stages",
        "comm/speed",
        "pp/order",
        "pp/cloze",
        "pp/trace-list",
        "pp/bug",
        "pp/essay",
    ]

    def answer(moment: Moment) -> Reply:
        return Command("continue") if moment.verdict else Given(given[moment.question.kind])

    desk = room.study(names, *[answer] * 18)
    assert desk.summary  # a number and the gaps are wrong, and wrong once more
    assert (desk.summary.answered, desk.summary.right) == (9, 5)
    assert {moment.question.id for moment in desk.met} == {*names}


def test_an_essay_that_is_undone_gives_its_text_back(room: Room):
    essay = {"text": "激活更少", "points": [0], "vetoes": []}
    desk = room.study(["pp/essay"], Given(essay), "undo")
    assert desk.last.draft == "激活更少"
    cloze = {f"gap{i}": "x" for i in range(1, 5)}
    assert room.study(["pp/cloze"], Given(cloze), "undo").last.draft == cloze


def test_what_was_written_the_last_time_is_there_to_compare(room: Room):
    essay = Given({"text": "激活少了", "points": [0], "vetoes": []})
    room.study(["pp/essay"], essay, "quit")
    (first,) = room.rows()
    desk = room.study(["pp/essay"], essay, "undo", essay, "quit")
    assert [moment.before for moment in desk.met] == [first] * 4  # what is undone does not count
    desk = room.study(["pp/essay"], "quit")
    assert desk.met[0].before == room.rows()[-1]


def test_what_was_begun_is_kept_until_it_is_handed_in_or_wiped(room: Room):
    begun = Command("quit", unsent="half a sentence ")
    room.study(["pp/essay"], begun)
    desk = room.study(["pp/essay"], begun)
    assert (desk.met[0].draft, desk.met[0].message) == ("half a sentence", ("study.unsent", {}))
    assert room.kept() == ["half a sentence"]  # nothing new to write
    room.study(["pp/essay"], Command("skip", unsent=""))
    assert room.study(["pp/essay"], begun).met[0].draft is None
    room.clock.wait(1)
    room.study(["pp/essay"], Given({"text": "激活", "points": [0], "vetoes": []}), "quit")
    assert room.study(["pp/essay"], "quit").met[0].draft is None
    # Only an essay's text: a number half typed is no loss.
    room.study(STAGES, Command("quit", unsent="0."))
    assert room.kept() == ["half a sentence", "", "half a sentence"]


def test_answering_in_the_other_language(room: Room):
    essay = Given({"text": "fewer activations", "points": [0], "vetoes": []})
    desk = room.study(["pp/essay"], essay, "toggle", "quit", answer_in="en")
    assert [moment.answer_in for moment in desk.met] == ["en", "en", None]
    assert desk.met[1].say is bool(desk.met[1].question.say)
    plain = room.study(["pp/essay"], essay, "quit")
    assert (plain.met[1].answer_in, plain.met[1].say) == (None, False)


def test_what_is_forgotten_again_and_again_wants_another_way(room: Room):
    messages = [room.study(["pp/stages"], wrong, "quit").met[1].message for _ in range(6)]
    assert messages[:4] == [None] * 4
    assert messages[4:] == [("study.leech", {"lapses": n, "topic": "pp"}) for n in (5, 6)]
    assert room.study(["pp/stages"], right, "quit").met[1].message is None


def test_the_days_share_is_named_only_where_it_is_done(room: Room):
    def queue(cards: Any) -> Queue:
        lineup = today(entries, cards, START, 1, allowance=Allowance(new=2, reviews=9))
        return Queue(entries, lineup, 1)

    entries = [
        entry(room.bank.questions[name]) for name in ("pp/stages", "pp/trace-list", "pp/bug")
    ]
    spared: list[tuple[int, bool]] = []
    # Two questions and each once more: what is given up is asked again.
    for left in (12, 0, 7, 3):
        desk = Script(*["continue"] * left, "quit")
        with Diary(room.path.with_name(f"d{len(spared)}")) as diary:
            Study(
                entries, diary, desk, room.clock, lang="zh", queue=queue,
                read=room.bank.questions.get, prove=room.prove, show=room.excerpt,
            ).run()  # fmt: skip
        assert desk.summary
        spared.append((desk.summary.spared, desk.summary.stopped))
    # Who leaves after the last verdict has left nothing undone.
    assert spared == [(1, False), (0, True), (1, False), (0, True)]
