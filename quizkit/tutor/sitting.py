"""One question on the table, and what a session's questions come to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, cast

from quizkit.answer import Answer
from quizkit.bank.model import Cloze, Essay, Question, Text
from quizkit.tutor.asked import Asked
from quizkit.tutor.desk import Moment, Summary
from quizkit.tutor.memory import lowered
from quizkit.tutor.tally import Tally
from quizkit.tutor.turns import Turn
from quizkit.tutor.verdict import Note, Verdict
from quizkit.words import Lang

if TYPE_CHECKING:
    from quizkit.proof.view import ProofView


@dataclass(slots=True, eq=False)
class Sitting:
    """A question and how far it has come; `row` and `verdict` are there once it is answered."""

    turn: Turn
    asked: Asked
    hints: int = 0
    unfolded: bool = False
    sure: bool | None = None
    draft: object = None
    spent: float = 0.0
    flag: Answer | None = None
    given: object = None
    row: Answer | None = None
    verdict: Verdict | None = None
    why: bool = False
    say: bool = False
    proof: "ProofView | None" = None
    full: bool = False
    message: Note | None = None
    before: Answer | None = None
    why_now: Note | None = None

    @property
    def question(self) -> Question:
        """The question that is asked."""
        return self.asked.question

    def redraft(self, given: object) -> object:
        """Return an answer as it was before it was handed in: an essay is text again."""
        if isinstance(self.question, Essay) and isinstance(given, Mapping):
            return cast("Mapping[str, object]", given).get("text")
        return given

    def anew(self) -> "Sitting":
        """Return it as before the answer. What was typed can be mended; picks are made anew."""
        typed = isinstance(self.given, str) or isinstance(self.question, Essay | Cloze)
        draft = self.redraft(self.given) if typed else None
        # A hint that was read stays read.
        again = Sitting(self.turn, self.asked, hints=self.hints, draft=draft, flag=self.flag)
        again.before, again.why_now = self.before, self.why_now
        return again

    def moment(self, lang: Lang, number: int, total: int) -> Moment:
        """Return what of it there is to show."""
        return Moment(
            phase="verdict" if self.verdict else "question",
            asked=self.asked,
            lang=lang,
            number=number,
            total=total,
            hints_shown=self.hints,
            unfolded=self.unfolded,
            sure=self.sure,
            draft=self.draft,
            given=self.given,
            uuid=self.row.uuid if self.row else "",
            verdict=self.verdict,
            grade=self.row.grade if self.row else None,
            lowered=self._lowered(),
            why=self.why,
            say=self.say,
            flagged=self.flag is not None,
            proof=self.proof,
            full=self.full,
            message=self.message,
            before=self.before,
            why_now=self.why_now,
        )

    def _lowered(self) -> tuple[Note, ...]:
        row = self.row
        if row is None or row.undoes:  # the learner graded it, or said that it was right
            return ()
        right, score = bool(row.right), row.score or 0.0
        kind, myth = self.question.kind, row.myth is not None
        return lowered(kind, right, score, row.hints, row.seconds, row.sure, myth=myth)


def summed_up(
    past: Sequence[Sitting],
    dates: Sequence[datetime],
    now: datetime,
    *,
    spared: int,
    stopped: bool,
    lang: Lang,
    names: Mapping[str, Text],
    strength: Mapping[str, Tally],
) -> Summary:
    """Sum up the questions of a session; one without a row was skipped.

    `dates` are when the questions that were ever answered are due.
    """
    rows = [sitting.row for sitting in past if sitting.row]
    wrong = [sitting for sitting in past if sitting.row and not sitting.row.right]
    myths = [sitting.verdict.myth for sitting in wrong if sitting.verdict]
    sure = [sitting for sitting in wrong if sitting.row and sitting.row.sure and sitting.given]
    return Summary(
        answered=len(rows),
        right=len(rows) - len(wrong),
        skipped=len(past) - len(rows),
        seconds=sum(row.seconds for row in rows),
        wrong=_each_once(wrong),
        mistaken=_each_once(sure),
        strength=strength,
        myths={myth: myths.count(myth) for myth in myths if myth},
        due_now=sum(date <= now for date in dates),
        next_due=min((date for date in dates if date > now), default=None),
        lang=lang,
        names=names,
        spared=spared,
        stopped=stopped,
    )


def _each_once(sittings: Sequence[Sitting]) -> tuple[Asked, ...]:
    return tuple({sitting.question.id: sitting.asked for sitting in sittings}.values())
