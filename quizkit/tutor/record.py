"""Write the rows of one study session. None is ever changed: a mistake is taken back."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import uuid4

from quizkit.answer import FLAG, GRADE, MYTH, RIGHT, UNDO, Answer
from quizkit.diary import Diary
from quizkit.tutor.asked import Asked
from quizkit.tutor.memory import GOOD, rate
from quizkit.tutor.verdict import Verdict
from quizkit.words import Lang

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Effort:
    """The way to an answer: hints, seconds, and whether the learner was sure."""

    hints: int
    seconds: float
    sure: bool | None


class Recorder:
    """The session's pen. Every method returns once its row is on disk."""

    def __init__(self, diary: Diary, clock: Clock) -> None:
        self.session = uuid4().hex
        self._diary = diary
        self._device = diary.device
        self._clock = clock

    def answer(
        self, asked: Asked, lang: Lang, given: object, verdict: Verdict, effort: Effort
    ) -> Answer:
        """Write down an answer and what it was worth."""
        kind, right, score = asked.question.kind, verdict.right, verdict.score
        return self._write(
            replace(
                self._row(asked, lang),
                given=given,
                score=score,
                right=right,
                grade=rate(
                    kind,
                    right,
                    score,
                    effort.hints,
                    effort.seconds,
                    effort.sure,
                    myth=verdict.myth is not None,
                ),
                hints=effort.hints,
                seconds=effort.seconds,
                sure=effort.sure,
                note=f"{MYTH}: {verdict.myth}" if verdict.myth and not right else "",
            )
        )

    def undo(self, row: Answer) -> Answer:
        """Take a row back; return the row that says so."""
        taken = replace(row, given=None, score=None, right=None, grade=None)
        return self._write(
            replace(taken, hints=0, seconds=0.0, sure=None, undoes=row.uuid, note=UNDO)
        )

    def grade(self, row: Answer, grade: int) -> Answer:
        """Write the learner's own grade in place of the one that followed from what happened."""
        myth = f"\n{MYTH}: {row.myth}" if row.myth else ""
        return self._write(replace(row, grade=grade, undoes=row.uuid, note=f"{GRADE}{myth}"))

    def right(self, row: Answer) -> Answer:
        """Write that the learner says the verdict was wrong; the row also flags the question."""
        judged = replace(row, right=True, score=1.0, grade=GOOD)
        return self._write(replace(judged, undoes=row.uuid, note=RIGHT))

    def flag(self, asked: Asked, lang: Lang, text: str, given: object = None) -> Answer:
        """Write that something is wrong with the question, or with what was said of the answer."""
        note = f"{FLAG}: {text}" if text else FLAG
        return self._write(replace(self._row(asked, lang), given=given, note=note))

    def _row(self, asked: Asked, lang: Lang) -> Answer:
        return Answer(
            uuid="",
            at=self._clock(),
            device=self._device,
            session=self.session,
            question=asked.question.id,
            lang=lang,
            seed=asked.seed,
            bank_hash=asked.question.digest,
        )

    def _write(self, row: Answer) -> Answer:
        written = replace(row, uuid=uuid4().hex, at=self._clock())
        self._diary.append(written)
        return written
