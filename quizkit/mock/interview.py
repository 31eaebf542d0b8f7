"""The interview: questions under a clock, then the rubric, then the scorecard.

A plain state machine: it is given a desk and a clock. All it needs to go on is in the diary before
the next question is put, so it may be killed at any moment.
"""

from collections.abc import Mapping
from uuid import uuid4
from zlib import crc32

from quizkit.bank.mocks import Script, Station
from quizkit.bank.model import Essay, Question
from quizkit.diary import Diary
from quizkit.errors import DiaryError
from quizkit.mock.desk import EssaySheet, InterviewDesk, Left, Opening, OpenQuestion
from quizkit.mock.heard import route, shown, weigh
from quizkit.mock.ledger import Ledger
from quizkit.mock.printed import printed
from quizkit.mock.scorecard import Mark, Scorecard, Spent, scorecard
from quizkit.mock.sitting import InterviewState, Kept, start_note
from quizkit.mock.timer import Clock, face, lasted
from quizkit.mock.typed import MisreadError, read
from quizkit.tutor.asked import Asked, ask
from quizkit.tutor.grade import grade
from quizkit.tutor.verdict import Note, UnreadableError, as_mapping
from quizkit.words import Lang


class Interview:
    """One interview, from where the diary has it to its end."""

    def __init__(
        self,
        script: Script,
        questions: Mapping[str, Question],
        desk: InterviewDesk,
        ledger: Ledger,
        message: Note | None = None,
    ) -> None:
        self.script = script
        self.desk = desk
        self.ledger = ledger
        self.sitting = ledger.sitting
        self.message = message
        self._questions = questions

    def run(self) -> Scorecard | None:
        """Go on to the end; None if the learner leaves before."""
        if self.sitting.stop is None and not self._ask():
            return None
        if not self._judge():
            return None
        card = self._card()
        self.ledger.done(printed(card, self.sitting.lang))
        return card

    def _ask(self) -> bool:
        """Put one question after the other until they or the time are at an end."""
        while True:
            met = list(route(self.script, self.sitting.heard()))
            open_ = [each for each in met if each[0].id not in self.sitting.answers]
            if not open_ or self.ledger.timer.left() <= 0:
                why = "time" if open_ else "asked"
                self.ledger.stop(why)
                self.desk.stopped(why, self.sitting.lang)
                return True
            station, probe = open_[0]
            number = sum(not probed for _, probed in met[: met.index(open_[0]) + 1])
            if not self._put(station, probe, number):
                return False

    def _put(self, station: Station, probe: bool, number: int) -> bool:
        """Put one question and keep the answer; False if the learner leaves."""
        asked, ledger, lang = self._asked(station), self.ledger, self.sitting.lang
        ledger.open(station)
        told = False
        while True:
            moment = OpenQuestion(
                asked=asked,
                lang=lang,
                number=number,
                total=len(self.script.stations),
                probe=probe,
                lead=station.lead[lang] if station.lead else "",
                target=station.seconds * self.sitting.scale,
                timer=ledger.timer,
                keep=ledger.keep,
                draft=ledger.draft,
                message=self.message,
            )
            try:
                came = self.desk.meet(moment)
            except KeyboardInterrupt:
                came = Left(ledger.draft)
            self.message = None
            if isinstance(came, Left):
                try:
                    ledger.leave(came.draft)
                except DiaryError as error:
                    why = error.message(lang)
                    if told or not self.desk.interactive:
                        raise DiaryError("unsent", why=why, text=came.draft) from error
                    told, ledger.draft = True, came.draft
                    self.message = ("study.unwritten", {"why": why})
                    continue
                return False
            late = came.late or ledger.timer.left() <= 0
            try:
                weighed = weigh(asked, None if came.passed else read(asked, came.text))
            except (MisreadError, UnreadableError) as error:
                if not late:
                    self.message, ledger.draft = error.note, came.text
                    continue
                weighed = weigh(asked, None)
            try:
                ledger.answer(station, asked, weighed, came, late)
            except DiaryError as error:
                if late or not self.desk.interactive:
                    raise
                ledger.draft = came.text
                self.message = ("study.unwritten", {"why": error.message(lang)})
                continue
            return True

    def _judge(self) -> bool:
        """Let the learner hold each essay against its rubric; False if they leave."""
        met = [station for station, _ in route(self.script, self.sitting.heard())]
        answers = self.sitting.answers
        waiting = [each for each in met if each.id in answers and answers[each.id].right is None]
        for number, station in enumerate(waiting, start=1):
            asked = self._asked(station)
            question = asked.question
            assert isinstance(question, Essay)
            text = str(as_mapping(answers[station.id].given)["text"])
            sheet = EssaySheet(
                asked=asked,
                lang=self.sitting.lang,
                number=number,
                total=len(waiting),
                text=text,
                points=shown(text, question.rubric),
                vetoes=shown(text, question.vetoes),
            )
            try:
                ticks = self.desk.tick(sheet)
            except KeyboardInterrupt:
                return False
            if isinstance(ticks, Left):
                return False
            self.ledger.judged(station, asked, ticks)
        return True

    def _card(self) -> Scorecard:
        sitting = self.sitting
        assert sitting.stop is not None
        marks = [
            self._mark(station, probe)
            for station, probe in route(self.script, sitting.heard())
            # A follow-up that the clock left no time for was never part of this interview.
            if not probe or station.id in sitting.answers
        ]
        spent = Spent(sitting.total, sitting.used, sitting.budget, sitting.paused, sitting.charged)
        at = sitting.at.isoformat(timespec="seconds")
        return scorecard(self.script, sitting.session, at, sitting.stop, marks, spent)

    def _mark(self, station: Station, probe: bool) -> Mark:
        asked = self._asked(station)
        target = station.seconds * self.sitting.scale
        answer = self.sitting.answers.get(station.id)
        if answer is None:
            return Mark(station, probe, asked, reached=False, target=target)
        kept = Kept.of(answer)
        return Mark(
            station,
            probe,
            asked,
            given=answer.given,
            verdict=grade(asked, answer.given) if answer.given is not None else None,
            judge=kept.judge,
            late=kept.late,
            seconds=answer.seconds,
            target=target,
        )

    def _asked(self, station: Station) -> Asked:
        # The same interview draws the same numbers again, however often it is resumed.
        seed = crc32(f"{self.sitting.session}/{station.id}".encode())
        return ask(self.script.question(station, self._questions), seed)


def begin(
    script: Script,
    diary: Diary,
    desk: InterviewDesk,
    clock: Clock,
    lang: Lang,
    minutes: float | None = None,
) -> Ledger | None:
    """Say the opening and start the clock; None if the learner goes instead."""
    minutes = minutes or script.minutes
    if not desk.open(Opening(script, lang, minutes, script.pause_minutes)):
        return None
    now = clock.wall()
    sitting = InterviewState(
        session=uuid4().hex,
        script=script.slug,
        lang=lang,
        at=now,
        last=now,
        total=minutes * 60.0,
        budget=script.pause_minutes * 60.0,
        scale=minutes / script.minutes,
    )
    ledger = Ledger(diary, clock, sitting)
    ledger.start(start_note(sitting))
    return ledger


def resume(ledger: Ledger) -> Note | None:
    """Charge the time away; what to say about it. Once the clock has stopped, time is free."""
    sitting, timer = ledger.sitting, ledger.timer
    if sitting.stop is not None:
        return None
    away, charged = ledger.back()
    values = {
        "away": lasted(away),
        "budget": face(max(0.0, timer.budget - timer.paused)),
        "charged": lasted(charged),
        "left": face(timer.left()),
    }
    return ("mock.back_charged" if charged else "mock.back", values)
