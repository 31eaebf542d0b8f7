"""The study session: pick, ask, judge, write down, show, next.

A plain state machine: it is given a desk (something that shows and asks), a clock and a way to run
proofs. An answer is on disk before its verdict is shown, so a killed session needs nothing but the
diary to go on.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from quizkit.answer import Card
from quizkit.bank.entry import Entry
from quizkit.bank.model import Essay, Question, Text
from quizkit.diary import Diary
from quizkit.errors import DiaryError, QuizkitError
from quizkit.tutor.asked import Asked, ask
from quizkit.tutor.corrected import corrected, flagged, stuck
from quizkit.tutor.desk import Command, Desk, Given, Moment, Summary
from quizkit.tutor.grade import grade
from quizkit.tutor.memory import Memory
from quizkit.tutor.record import Clock, Effort, Recorder
from quizkit.tutor.sitting import Sitting, summed_up
from quizkit.tutor.tally import Tally, tallies
from quizkit.tutor.turns import Turn, Turns
from quizkit.tutor.unsent import Unsent
from quizkit.tutor.verdict import Note, UnreadableError
from quizkit.tutor.why_now import why_now
from quizkit.words import Lang, other, say

if TYPE_CHECKING:  # the first question does not wait for the laboratory
    from quizkit.lab.excerpt import Excerpt
    from quizkit.proof.view import ProofView

Read = Callable[[str], Question | None]
Prove = Callable[[Asked, object], "ProofView"]
Show = Callable[[Question], "Excerpt | None"]
Before = Callable[[Turn, Lang], Lang | None]
"""Tells what comes before a question: the language it was left in, None where one leaves."""

Written = TypeVar("Written")

_AFTERWARDS = ("prove", "full", "why", "say", "grade", "right")


class Study:
    """One session over some questions, each of which is read when its turn comes.

    With `runs` each answer's proof is run before the next question. `greeting` is said with the
    first question and may depend on what is remembered. `before` tells what is to be read before a
    question. `answer_in` is the language to answer in.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        diary: Diary,
        desk: Desk,
        clock: Clock,
        *,
        lang: Lang,
        queue: Callable[[Mapping[str, Card]], Turns],
        read: Read,
        prove: Prove,
        show: Show,
        answer_in: Lang | None = None,
        runs: bool = False,
        greeting: Callable[[Mapping[str, Card]], Note | None] | None = None,
        myths: Mapping[str, Text] | None = None,
        before: Before | None = None,
    ) -> None:
        self._entries = entries
        self._desk = desk
        self._clock = clock
        self.lang: Lang = lang
        self._read = read
        self._prove = prove
        self._show = show
        self._myths = myths or {}
        self._before = before
        self._memory = Memory(diary, entries)
        self._diary = diary
        self._answer_in: Lang | None = answer_in
        # Another program may have the diary locked: that is waited for, and said.
        diary.wait_with(lambda: desk.busy(say("study.diary_waits", self.lang)))
        self._queue = queue(self._memory.cards)
        self._runs = runs
        self._recorder = Recorder(diary, clock)
        self._unsent = Unsent(diary, clock, self._recorder.session)
        self._past: list[Sitting] = []
        self._left: dict[Turn, Sitting] = {}
        greeted = greeting(self._memory.cards) if greeting else None
        self._message: Note | None = ("study.ahead", {}) if self._queue.ahead else greeted

    @property
    def session(self) -> str:
        """The session's name in the diary."""
        return self._recorder.session

    @property
    def left(self) -> int:
        """The number of questions still to come."""
        return len(self._queue)

    def run(self) -> Summary:
        """Ask until the questions or the learner have come to an end."""
        stopped = False
        while not stopped and (turn := self._queue.next()):
            if turn not in self._left and not self._told(turn):
                stopped = True
                break
            sitting = self._left.pop(turn, None) or self._sitting(turn)
            stopped = sitting is not None and not self._question(sitting)
        cards = self._memory.cards
        summary = summed_up(
            self._past,
            [cards[each.id].due for each in self._entries if each.id in cards],
            self._clock(),
            spared=0 if stopped else self._queue.spared,
            stopped=stopped,
            lang=self.lang,
            names=self._myths,
            strength=self._strength(),
        )
        self._desk.end(summary)
        return summary

    def _told(self, turn: Turn) -> bool:
        """Have read what comes before the question; False is the end of the session."""
        left = self._before(turn, self.lang) if self._before else self.lang
        self.lang = left or self.lang
        return left is not None

    def _strength(self) -> Mapping[str, Tally]:
        """Tally how the topics that were answered in stand, a night from now."""
        met = {sitting.question.topic for sitting in self._past if sitting.row}
        asked = [each for each in self._entries if each.topic in met]
        then = self._clock() + timedelta(days=1)
        return tallies(asked, self._memory.cards, (), then, lambda each: each.topic)

    def _sitting(self, turn: Turn) -> Sitting | None:
        question = self._read(turn.question)
        if question is None:
            self._message = ("study.gone", {"question": turn.question})
            return None
        try:
            asked = ask(question, turn.seed, self._show(question))
        except QuizkitError as error:
            # Its demo cannot be read: the others are asked all the same.
            self._message = (f"errors.{error.key}", error.values)
            return None
        before = self._diary.last(turn.question)
        draft = self._unsent.text(question, before) or None
        said: Note | None = ("study.unsent", {}) if draft else None
        said = ("study.again", {}) if turn.repeat else said
        card = self._memory.cards.get(question.id)
        reason = why_now(turn, card, self._clock())
        return Sitting(turn, asked, draft=draft, message=said, before=before, why_now=reason)

    def _question(self, sitting: Sitting) -> bool:
        """Until it is answered or left; False is the end of the session."""
        while True:
            sitting.message, self._message = sitting.message or self._message, None
            began = self._clock()
            reply = self._unsent.meet(self._desk, self._moment(sitting))
            sitting.spent += max(0.0, (self._clock() - began).total_seconds())
            sitting.message = None
            if isinstance(reply, Given):
                if self._answered(sitting, reply):
                    return self._verdict(sitting)
                continue
            sitting.draft = reply.draft if reply.draft is not None else sitting.draft
            if reply.name in _AFTERWARDS:
                reply = self._look_back(reply)
                if reply is None or reply.name in ("continue", "skip"):
                    sitting.message = None if reply else ("study.answer_first", {})
                    continue
            match reply.name:
                case "quit":
                    return False
                case "skip":
                    self._past.append(sitting)
                    return True
                case "continue":
                    if self._answered(sitting, Given(None)):
                        return self._verdict(sitting)
                case "undo":
                    if self._past and self._take_back(sitting):
                        return True
                    sitting.message = sitting.message or ("study.nothing_to_undo", {})
                case _:
                    self._common(sitting, reply)

    def _answered(self, sitting: Sitting, given: Given) -> bool:
        """Judge and write down. False where it cannot be read or written: it is asked again."""
        try:
            verdict = grade(sitting.asked, given.value)
        except UnreadableError as error:
            sitting.draft, sitting.message = given.value, error.note
            return False
        seconds = sitting.spent if given.seconds is None else given.seconds
        sure = sitting.sure if given.sure is None else given.sure
        effort = Effort(sitting.hints, seconds, sure)
        told = sitting.asked, self.lang, given.value, verdict, effort
        row = self._tried(sitting, lambda: self._recorder.answer(*told))
        if row is None:
            sitting.draft = sitting.redraft(given.value)
            return False
        sitting.given, sitting.verdict, sitting.row = given.value, verdict, row
        # Who thinks in one language and speaks in the other compares with how it is said there.
        essay = isinstance(sitting.question, Essay) and sitting.question.say is not None
        sitting.say = essay and self._elsewhere() is not None
        self._past.append(sitting)
        self._memory.refresh()
        return True

    def _elsewhere(self) -> Lang | None:
        return self._answer_in if self._answer_in != self.lang else None

    def _verdict(self, sitting: Sitting) -> bool:
        """Until the learner goes on; False is the end of the session."""
        to_run = self._runs and sitting.question.proof is not None
        sitting.message = stuck(sitting, self._memory.cards.get(sitting.question.id))
        if to_run and sitting.proof is None:
            sitting.message = sitting.message or ("study.run_next", {})
        while True:
            reply = self._desk.meet(self._moment(sitting))
            sitting.message = None
            if isinstance(reply, Given):
                continue
            match reply.name:
                case "quit":
                    return not self._to_come(sitting)  # nobody stops short of what is not there
                case "undo":
                    if self._take_back(None):
                        return True
                case "continue" if to_run and sitting.proof is None:
                    to_run = False
                    self._run(sitting)
                case "continue" | "skip":
                    self._plan(sitting)
                    return True
                case _:
                    self._afterwards(sitting, reply)

    def _look_back(self, command: Command) -> Command | None:
        """A command about the last verdict while the next question is there, and how it ended."""
        last = self._past[-1] if self._past else None
        if last is None or last.row is None:
            return None
        while True:
            self._afterwards(last, command)
            reply = self._desk.meet(self._moment(last))
            last.message = None
            if isinstance(reply, Given):
                return Command("continue")
            if reply.name in ("continue", "skip", "quit", "undo"):
                return reply
            command = reply

    def _plan(self, sitting: Sitting) -> None:
        assert sitting.row
        assert sitting.verdict
        right = bool(sitting.row.right)
        if not right:
            self._queue.wrong(sitting.turn, sitting.verdict.myth)
        self._queue.follow(sitting.question, right)

    def _afterwards(self, sitting: Sitting, command: Command) -> None:
        """Do what can be done once there is a verdict."""
        if command.name == "prove":
            sitting.full = False
            self._run(sitting)
        elif command.name in _AFTERWARDS:
            if self._tried(sitting, lambda: corrected(self._recorder, sitting, command)):
                self._memory.refresh()
        else:
            self._common(sitting, command)

    def _common(self, sitting: Sitting, command: Command) -> None:
        """Do what can be done at any time."""
        asked = sitting.asked
        match command.name:
            case "toggle":
                self.lang = other(self.lang)
            case "assume":
                sitting.unfolded = not sitting.unfolded
            case "hint" if sitting.row is None:
                more = sitting.hints < len(asked.question.hints)
                sitting.hints += more
                sitting.message = None if more else ("study.no_more_hints", {})
            case "sure" if sitting.row is None:
                sitting.sure = {None: True, True: False, False: None}[sitting.sure]
            case "flag":
                self._tried(sitting, lambda: flagged(self._recorder, sitting, command, self.lang))
            case _:
                pass

    def _run(self, sitting: Sitting) -> None:
        proof = sitting.question.proof
        if proof is None:
            sitting.message = ("study.no_proof", {})
            return
        from quizkit.lab.bench import has_torch

        text = say("study.proving", self.lang, demo=proof.demo)
        # Without torch nothing runs: what there is of a record is there at once.
        waiting = self._desk.busy(text) if has_torch() else nullcontext()
        try:
            with waiting:
                sitting.proof = self._prove(sitting.asked, sitting.given)
        except KeyboardInterrupt:
            # The run is over, the session is not.
            sitting.message = ("study.cancelled", {})
        except QuizkitError as error:
            sitting.message = (f"errors.{error.key}", error.values)

    def _tried(self, sitting: Sitting, write: Callable[[], Written]) -> Written | None:
        """Write. None where it could not be: that is said, nothing is lost, and it can be repeated.

        Where nobody is there to repeat it the session ends, and says why.
        """
        try:
            return write()
        except DiaryError as error:
            if not self._desk.interactive:
                raise
            sitting.message = ("study.unwritten", {"why": error.message(self.lang)})
            return None

    def _take_back(self, then: Sitting | None) -> bool:
        """Undo the last answer or skip, and ask it again just as it was. False where it stays."""
        last = self._past[-1]
        said: Note = ("study.unskipped", {"question": last.question.id})
        if row := last.row:
            if self._tried(then or last, lambda: self._recorder.undo(row)) is None:
                return False
            self._memory.refresh()
            said = ("study.undone", {"question": row.question, "uuid": row.uuid})
        self._past.pop()
        self._message = said
        if then:
            self._left[then.turn] = then
        self._left[last.turn] = last.anew()
        self._queue.undo(last.turn, then.turn if then else None)
        return True

    def _to_come(self, sitting: Sitting) -> int:
        """Count the questions that follow, this one once more among them if it went wrong."""
        wrong = sitting.verdict is not None and not sitting.verdict.right
        return len(self._queue) + (wrong and self._queue.repeats(sitting.turn))

    def _moment(self, sitting: Sitting) -> Moment:
        number = len(self._past) + (sitting.row is None)
        total, following = number + self._to_come(sitting), None
        verdict, card = sitting.verdict, self._memory.cards.get(sitting.question.id)
        if verdict:
            name = self._queue.following(sitting.question, verdict.right)
            if name and (question := self._read(name)):
                following = ask(question, self._queue.as_next(name).seed)
        moment = sitting.moment(self.lang, number, total)
        moment = replace(moment, followup=following, names=self._myths, answer_in=self._elsewhere())
        return replace(moment, due=card.due if card and verdict else None)
