"""The interview: questions under a clock, then the rubric, then the scorecard.

A plain state machine: it is given a desk and a clock. All it needs to go on is in the diary before
the next question is put, so it may be killed at any moment.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4
from zlib import crc32

from quizkit.bank.evidence import evidence
from quizkit.bank.model import Essay, Question
from quizkit.bank.script import Look, Script, Station
from quizkit.diary import Diary
from quizkit.errors import DiaryError
from quizkit.lab.excerpt import Excerpt
from quizkit.mock.aside import answered, understood
from quizkit.mock.desk import (
    Aside,
    Handed,
    InterviewDesk,
    Left,
    Opening,
    OpenQuestion,
    RubricSheet,
    Seen,
    Talk,
)
from quizkit.mock.heard import Beside, route, shown, weigh
from quizkit.mock.judge import rubric
from quizkit.mock.ledger import Ledger
from quizkit.mock.marks import mark
from quizkit.mock.misread import MisreadError
from quizkit.mock.printed import printed
from quizkit.mock.scorecard import Scorecard, Spent, scorecard
from quizkit.mock.sitting import InterviewState, start_note
from quizkit.mock.timer import Clock, face, lasted
from quizkit.mock.typed import read
from quizkit.tutor.asked import Asked, ask
from quizkit.tutor.verdict import Note, UnreadableError, as_mapping
from quizkit.words import Lang, say

Shows = Callable[[Question], Excerpt | None]
"""Returns the code that a question shows, if it shows any."""
Tells = Callable[[Scorecard], dict[str, Any]]
"""Returns a scorecard as it is kept."""


class Interview:
    """One interview, from where the diary has it to its end."""

    def __init__(
        self,
        script: Script,
        questions: Mapping[str, Question],
        desk: InterviewDesk,
        ledger: Ledger,
        message: Note | None = None,
        shows: Shows = lambda _: None,
        tells: Tells = printed,
    ) -> None:
        self.script = script
        self.desk = desk
        self.ledger = ledger
        self.sitting = ledger.sitting
        self.message = message
        self._questions = questions
        self._shows = shows
        self._tells = tells
        self._asked: dict[str, Asked] = {}

    def run(self) -> Scorecard | None:
        """Go on to the end; None if the learner leaves before."""
        if self.sitting.stop is None and not self._ask():
            return None
        if not self._judge():
            return None
        card = self._card()
        # Recorded runs are looked up for it, which takes a while.
        with self.desk.busy(say("mock.gathering", self.sitting.lang)):
            told = self._tells(card)
        self.ledger.done(told)
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
            station, parent = open_[0]
            number = 1 + self.script.stations.index(self.script.main(station))
            if not self._put(station, parent is not None, number):
                return False

    def _put(self, station: Station, probe: bool, number: int) -> bool:
        """Put one question and keep the answer; False if the learner leaves."""
        asked, ledger = self.asked(station), self.ledger
        ledger.open(station)
        told = False
        while True:
            lang = self.sitting.lang
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
                talk=self._talk(station, asked),
            )
            try:
                came = self.desk.meet(moment)
            except KeyboardInterrupt:
                came = Left(ledger.draft)
            self.message = None
            try:
                if isinstance(came, Aside):
                    ledger.draft = came.draft
                    self._aside(station, asked, came.text)
                    continue
                if isinstance(came, Left):
                    ledger.leave(came.draft)
                    return False
            except DiaryError as error:
                why, draft = error.message(lang), getattr(came, "draft", "")
                if told or not self.desk.interactive:
                    raise DiaryError("unsent", why=why, text=draft) from error
                told, ledger.draft = True, draft
                self.message = ("study.unwritten", {"why": why})
                continue
            late = came.late or ledger.timer.left() <= 0
            text = came.text
            if station.clarifies:  # a question that was put beside the answer is part of it
                text = "\n".join((text, *self.sitting.questions))
            try:
                weighed = weigh(
                    asked, None if came.passed else read(asked, text), self._beside(station)
                )
            except (MisreadError, UnreadableError) as error:
                if not late:
                    self.message, ledger.draft = error.note, came.text
                    continue
                weighed = weigh(asked, None, self._beside(station))
            try:
                ledger.answer(station, asked, weighed, came, late)
            except DiaryError as error:
                if late or not self.desk.interactive:
                    raise
                ledger.draft = came.text
                self.message = ("study.unwritten", {"why": error.message(lang)})
                continue
            self._tell_all(station, came)
            return True

    def _tell_all(self, station: Station, came: Handed) -> None:
        """Tell what was asked for where the answer itself was questions."""
        if station.clarifies and not came.passed:
            facts = self.script.facts_at(self.script.main(station))
            self.ledger.told(came.text, answered(came.text, facts))

    def _aside(self, station: Station, asked: Asked, text: str) -> None:
        """Do what the candidate wants of the interviewer, and say what came of it."""
        wish, rest = understood(text)
        ledger, sitting = self.ledger, self.sitting
        match wish:
            case "hint":
                taken = sitting.hints.get(station.id, 0)
                if taken >= len(asked.question.hints):
                    self.message = _said("no_hint")
                else:
                    ledger.hint(station)
            case "look":
                looks = self._looks(station, asked)
                if not 1 <= int(rest) <= len(looks):
                    self.message = _said("no_look", last=len(looks))
                else:
                    self._look(looks[int(rest) - 1])
            case "toggle":
                ledger.spoken("en" if sitting.lang == "zh" else "zh")
            case "sure":
                ledger.sure(station, not sitting.sure.get(station.id, False))
            case "note" if rest:
                ledger.note(rest)
            case "question" if rest:
                self._answer(station, asked, rest)
            case _:
                self.message = _said("nothing_said")

    def _answer(self, station: Station, asked: Asked, question: str) -> None:
        """Answer what the candidate asks in words: with facts, or with a record."""
        facts = self.script.facts_at(self.script.main(station))
        numbers, before = answered(question, facts), [*self.sitting.told]
        self.ledger.told(question, numbers)
        looks = self._looks(station, asked)
        wanted = [look for look in looks if evidence(question, look.keywords)]
        for look in wanted:
            self._look(look)
        if numbers and before == self.sitting.told:
            lang = self.sitting.lang  # nothing new came below the question, so it is said again
            text = "\n".join(facts[number].answer[lang] for number in numbers)
            self.message = _said("reply", text=text)
        elif not numbers and not wanted:
            self.message = _said("no_fact")

    def _look(self, look: Look) -> None:
        if not self.sitting.saw(look):
            self.ledger.look(look)

    def _looks(self, station: Station, asked: Asked) -> tuple[Look, ...]:
        """Return the records on offer: beside a question with its own evidence no other job's."""
        return station.looks if asked.question.exhibits else self.script.looks(station)

    def _talk(self, station: Station, asked: Asked) -> Talk:
        lang, sitting = self.sitting.lang, self.sitting
        facts = self.script.facts_at(self.script.main(station))
        hints = asked.question.hints[: sitting.hints.get(station.id, 0)]
        return Talk(
            hints=tuple(asked.fill(hint, lang) for hint in hints),
            more_hints=len(asked.question.hints) - len(hints),
            looks=tuple(
                Seen(
                    look,
                    look.seconds * sitting.scale,
                    look.exhibit(self._questions) if sitting.saw(look) else None,
                )
                for look in self._looks(station, asked)
            ),
            told=tuple(
                (facts[n].asks[lang], facts[n].answer[lang]) for n in sitting.told if n in facts
            ),
            notes=tuple(sitting.notes),
            asks=bool(facts),
            sure=sitting.sure.get(station.id, False),
        )

    def _beside(self, station: Station) -> Beside:
        sitting = self.sitting
        seen = tuple(map(sitting.saw, self.script.looks(station)))
        # In the script's own minutes, so that its conditions mean the same in a shorter interview.
        left = self.ledger.timer.left() / sitting.scale / 60
        return Beside(left, sitting.hints.get(station.id, 0), seen)

    def _judge(self) -> bool:
        """Let the learner hold each free text against its points; False if they leave."""
        met = [station for station, _ in route(self.script, self.sitting.heard())]
        answers = self.sitting.answers
        waiting = [each for each in met if each.id in answers and answers[each.id].right is None]
        for number, station in enumerate(waiting, start=1):
            asked = self.asked(station)
            text = str(as_mapping(answers[station.id].given).get("text", ""))
            vetoes = asked.question.vetoes if isinstance(asked.question, Essay) else ()
            sheet = RubricSheet(
                asked=asked,
                lang=self.sitting.lang,
                number=number,
                total=len(waiting),
                text=text,
                points=shown(text, rubric(asked.question)),
                vetoes=shown(text, vetoes),
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
            mark(station, parent, self.asked(station), sitting)
            for station, parent in route(self.script, sitting.heard())
            # A follow-up that the clock left no time for was never part of this interview.
            if parent is None or station.id in sitting.answers
        ]
        spent = Spent(sitting.total, sitting.used, sitting.budget, sitting.paused, sitting.charged)
        at = sitting.at.isoformat(timespec="seconds")
        return scorecard(self.script, sitting, at, marks, spent)

    def asked(self, station: Station) -> Asked:
        """Return a step's question with the draw of this interview, however often it is resumed."""
        if station.id not in self._asked:
            seed = crc32(f"{self.sitting.session}/{station.id}".encode())
            question = self.script.question(station, self._questions)
            self._asked[station.id] = ask(question, seed, self._shows(question))
        return self._asked[station.id]


def _said(key: str, **values: object) -> Note:
    return f"mock.{key}", values


def begin(
    script: Script,
    diary: Diary,
    desk: InterviewDesk,
    clock: Clock,
    lang: Lang,
    minutes: float | None = None,
    session: str = "",
) -> Ledger | None:
    """Say the opening and start the clock; None if the learner goes instead.

    All draws follow from the session's name: one is made up where none is given.
    """
    minutes = minutes or script.minutes
    if not desk.open(Opening(script, lang, minutes, script.pause_minutes)):
        return None
    now = clock.wall()
    sitting = InterviewState(
        session=session or uuid4().hex,
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
