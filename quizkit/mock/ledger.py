"""Write an interview down while it goes on; each row is on disk before what comes next."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

from quizkit.answer import Answer, SessionEvent
from quizkit.bank.model import Bug
from quizkit.bank.script import Look, Station
from quizkit.diary import Diary
from quizkit.errors import DiaryError
from quizkit.mock.desk import Handed, Stop, Ticks
from quizkit.mock.heard import Weighed
from quizkit.mock.judge import judge, rubric
from quizkit.mock.sitting import InterviewState, Judge, Kept
from quizkit.mock.timer import Clock, Timer
from quizkit.tutor.asked import Asked
from quizkit.tutor.memory import rate
from quizkit.tutor.verdict import Verdict, as_mapping
from quizkit.words import Lang

HEARTBEAT = 5.0
"""Seconds between two rows that say the interview goes on: the most that a kill can blur."""


class Ledger:
    """The rows of one sitting, with the sitting and its timer kept in step."""

    def __init__(self, diary: Diary, clock: Clock, sitting: InterviewState) -> None:
        self.sitting = sitting
        self.timer = Timer(clock, sitting.total, sitting.budget, sitting.used, sitting.paused)
        self.draft = self._on_disk = sitting.draft
        self._diary = diary
        self._clock = clock
        self._device = diary.device
        self._beat = clock.steady()

    def start(self, note: dict[str, Any]) -> None:
        """Write that the opening was heard; the clock starts."""
        self._write("start", note)

    def back(self) -> tuple[float, float]:
        """Charge the time since the last row; returns it, and how much of it the clock paid."""
        away = max(0.0, (self._clock.wall() - self.sitting.last) / timedelta(seconds=1))
        charged = self.timer.away(away)
        self.sitting.charged += charged
        self._log("back", away=away, charged=charged)
        return away, charged

    def open(self, station: Station) -> None:
        """Write that a question is put, or put again after the interview was left at it."""
        again = self.sitting.station == station.id
        self.timer.open(self.sitting.spent if again else 0.0)
        if not again:
            self.sitting.station, self.draft, self._on_disk = station.id, "", ""
            self._log("shown", station=station.id)

    def keep(self, draft: str) -> None:
        """Keep what is being typed. Comes many times a second; goes to disk now and then."""
        self.draft = draft
        if self._clock.steady() - self._beat < HEARTBEAT:
            return
        news = {} if draft == self._on_disk else {"draft": draft}
        self._beat = self._clock.steady()
        try:
            self._log("alive", hurried=True, spent=self.timer.spent(), **news)
        except DiaryError as error:
            # Whoever types need not wait for a lock: the next row says as much.
            if error.key != "diary_busy":
                raise
        else:
            self._on_disk = draft

    def leave(self, draft: str) -> None:
        """Write that the learner goes, with the text so far."""
        self._log("left", spent=self.timer.spent(), draft=draft)

    def hint(self, station: Station) -> None:
        """Write that a hint was taken."""
        self._log("hint", station=station.id)
        self.sitting.hints[station.id] = self.sitting.hints.get(station.id, 0) + 1

    def look(self, look: Look) -> None:
        """Write that evidence was looked at; the clock pays for it."""
        self.timer.charge(look.seconds * self.sitting.scale)
        self._log("look", look=look.id, seconds=look.seconds * self.sitting.scale)
        self.sitting.looks.append(look.id)

    def told(self, text: str, facts: Sequence[int]) -> None:
        """Write what was asked, and the numbers of the facts that were told."""
        self._log("told", text=text, facts=[*facts])
        self.sitting.questions.append(text)
        self.sitting.told += [fact for fact in facts if fact not in self.sitting.told]

    def note(self, text: str) -> None:
        """Write a note of the candidate's own."""
        self._log("note", text=text)
        self.sitting.notes.append(text)

    def sure(self, station: Station, sure: bool) -> None:
        """Write that the candidate is sure of the answer under way, or no longer."""
        self._log("sure", station=station.id, sure=sure)
        self.sitting.sure[station.id] = sure

    def spoken(self, lang: Lang) -> None:
        """Write which language is spoken from here on."""
        self._log("spoken", lang=lang)
        self.sitting.lang = lang

    def answer(
        self, station: Station, asked: Asked, weighed: Weighed, came: Handed, late: bool
    ) -> None:
        """Write the answer to the question that is open. An essay's is not judged yet."""
        # A bug's line is judged by the key, its reason like any free text.
        waits = bool(rubric(asked.question)) and weighed.given is not None
        decided: Judge = "keywords" if waits else "nobody" if weighed.given is None else "key"
        hints = self.sitting.hints.get(station.id, 0)
        kept = Kept(
            station=station.id,
            heard=weighed.heard,
            late=late,
            judge=decided,
            typed=came.text,
            target=station.seconds * self.sitting.scale,
            used=self.timer.used(),
            paused=self.timer.paused,
        )
        verdict, seconds = weighed.verdict, self.timer.spent()
        answer = Answer(
            uuid=uuid4().hex,
            device=self._device,
            at=self._clock.wall(),
            session=self.sitting.session,
            mode="mock",
            question=asked.question.id,
            lang=self.sitting.lang,
            seed=asked.seed,
            given=weighed.given,
            score=None if waits else verdict.score,
            right=None if waits else verdict.right,
            grade=None if waits else _rated(asked, verdict, seconds, hints),
            hints=hints,
            seconds=seconds,
            sure=self.sitting.sure.get(station.id) or None,
            bank_hash=asked.question.digest,
            note=kept.note(),
        )
        self._diary.append(answer)
        self.sitting.answers[station.id] = answer

    def judged(self, station: Station, asked: Asked, ticks: Ticks) -> None:
        """Write the learner's ticks on a free text; this row takes the place of the open one."""
        before = self.sitting.answers[station.id]
        ticked: dict[str, object] = {"points": [*ticks.points], "vetoes": [*ticks.vetoes]}
        if isinstance(asked.question, Bug):
            ticked = {"reasons": [*ticks.points]}
        given = {**as_mapping(before.given), **ticked}
        verdict = judge(asked, given)
        decided: Judge = "learner" if ticks.confirmed else "keywords"
        answer = replace(
            before,
            uuid=uuid4().hex,
            at=self._clock.wall(),
            given=given,
            score=verdict.score,
            right=verdict.right,
            grade=_rated(asked, verdict, before.seconds, before.hints),
            undoes=before.uuid,
            note=replace(Kept.of(before), judge=decided).note(),
        )
        self._diary.append(answer)
        self.sitting.answers[station.id] = answer

    def stop(self, why: Stop) -> None:
        """Write that the clock stands still from here on."""
        self._log("stopped", why=why)
        sitting = self.sitting
        sitting.stop, sitting.used, sitting.paused = why, self.timer.used(), self.timer.paused

    def done(self, card: dict[str, Any]) -> None:
        """Write the scorecard as it was given, whatever becomes of the script."""
        self._write("done", {"card": card})
        self.sitting.card = card

    def _log(self, name: str, *, hurried: bool = False, **note: object) -> None:
        clock = {"used": self.timer.used(), "paused": self.timer.paused}
        self._write(name, {**note, **clock}, hurried=hurried)

    def _write(self, name: str, note: dict[str, Any], *, hurried: bool = False) -> None:
        session, at = self.sitting.session, self._clock.wall()
        event = SessionEvent(device=self._device, at=at, session=session, name=name, note=note)
        self._diary.log(event, hurried=hurried)


def _rated(asked: Asked, verdict: Verdict, seconds: float, hints: int) -> int:
    # Who was sure is not graded easier for it: under a clock one says so at random moments.
    myth = verdict.myth is not None
    return rate(asked.question.kind, verdict.right, verdict.score, hints, seconds, None, myth=myth)
