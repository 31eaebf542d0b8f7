"""The desk of an interview: at a terminal with the clock in the prompt, or line by line."""

from contextlib import AbstractContextManager
from dataclasses import replace

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.model import Essay
from quizkit.mock.desk import (
    Aside,
    Handed,
    Left,
    Opening,
    OpenQuestion,
    RubricSheet,
    Stop,
    Talk,
    Ticks,
)
from quizkit.mock.judge import rubric
from quizkit.mock.timer import face
from quizkit.tutor.verdict import Note
from quizkit.ui.mock.answer_page import END, LEAVE, NO_ANSWER, AnswerPage, Writer
from quizkit.ui.mock.clock_line import clock_line, nearing
from quizkit.ui.mock.judge_screen import judge_screen
from quizkit.ui.mock.opening_screen import opening_screen
from quizkit.ui.mock.question_parts import how, question_parts, takes_lines
from quizkit.ui.mock.talk_parts import given, news, on_request
from quizkit.ui.screens.parts import footer, note
from quizkit.ui.text.inline import inline
from quizkit.words import Lang, say

_REPLY = "mock.reply"


class MockDesk:
    """The one desk of the interview, for either hand."""

    def __init__(self, hand: Writer, plain: bool) -> None:
        self._hand = hand
        self._plain = plain
        self._notice: list[RenderableType] = []
        self._before: OpenQuestion | None = None
        # The facts and notes that stand in the lines above, in this language.
        self._above = Talk()
        # The text that was handed in last: if it comes back, it could not be read.
        self._handed = ""

    @property
    def interactive(self) -> bool:
        """Tell whether somebody is there who can hand an answer in once more."""
        return self._hand.attended

    def busy(self, text: str) -> AbstractContextManager[object]:
        """Held while something else has to end first."""
        return self._hand.busy(text)

    def open(self, opening: Opening) -> bool:
        """Say the opening, and wait for Enter where somebody is there to press it."""
        lang = opening.lang
        screen = opening_screen(opening, self._plain, self._hand.lines)
        if not self._hand.attended:
            self._hand.tell(screen, Text(say("mock.start_lines", lang)), Text(""))
            return True
        ready = [Text(""), Text(say("mock.start", lang), "bold")]
        typed = self._hand.type(AnswerPage(lang, [screen], ready, told=[screen, *ready]))
        said = typed.text.strip().casefold()
        return isinstance(typed, Aside) or (typed.command is None and said not in ("q", "ｑ"))

    def meet(self, moment: OpenQuestion) -> Handed | Left | Aside:
        """Put the question, the clock in the prompt."""
        before = self._before
        again = before is not None and before.asked is moment.asked
        if before is not None and before.lang == moment.lang:
            self._above = Talk(told=before.talk.told, notes=before.talk.notes)
        self._before = moment
        near = nearing(moment.timer, moment.target)
        typed = self._hand.type(self._page(moment, before if again else None))
        if isinstance(typed, Aside):
            return typed
        if self._hand.lines:
            self._warn(moment, near)
        if typed.command in (LEAVE, END):
            return Left(typed.text)
        self._handed = typed.text
        return Handed(typed.text, late=typed.late, passed=typed.command == NO_ANSWER)

    def stopped(self, why: Stop, lang: Lang) -> None:
        """Say that the clock has stopped, now and above what comes next."""
        self._notice = [Text(say(f"mock.stopped_{why}", lang), "bold", overflow="fold"), Text("")]
        self._hand.tell(Text(""), *self._notice)

    def tick(self, sheet: RubricSheet) -> Ticks | Left:
        """Ask for the numbers of what was said, until they can be read."""
        question, lang = sheet.asked.question, sheet.lang
        split = len(rubric(question))
        last = split + len(question.vetoes if isinstance(question, Essay) else ())
        before = [*sheet.points, *(split + veto for veto in sheet.vetoes)]
        listed = " ".join(str(number + 1) for number in before)
        wanted = say("mock.judge_line", lang, ticked=listed or say("mock.judge_none", lang))
        said: list[RenderableType] = []
        while True:
            screen = judge_screen(sheet, self._plain)
            foot = [Text(""), *said, Text(wanted, "dim", overflow="fold")]
            body = [*self._notice, screen]
            told = [screen, *foot] if not said else foot
            typed = self._hand.type(
                AnswerPage(lang, body, foot, told, name=("judge", sheet.number))
            )
            assert not isinstance(typed, Aside)  # nobody is there to talk to any more
            if typed.command == LEAVE:
                return Left()
            # Where the input has ended nobody will ever judge: the keywords stand, and say so.
            ended = typed.command == END
            numbers = before if ended or not typed.text.strip() else _numbers(typed.text, last)
            if numbers is not None:
                points = tuple(number for number in numbers if number < split)
                vetoes = tuple(number - split for number in numbers if number >= split)
                return Ticks(points, vetoes, confirmed=not ended)
            said = [Text(say("mock.judge_misread", lang, last=last), "bold")]

    def _page(self, moment: OpenQuestion, before: OpenQuestion | None) -> AnswerPage:
        """The page of a question; `before` if it was there already, and something has happened."""
        lang, talk, lines = moment.lang, moment.talk, self._hand.lines
        body = question_parts(moment, self._plain)
        so_far = given(talk, lang, self._plain)
        message = [] if moment.message is None else _message(moment.message, lang, self._plain)
        asked = Text(how(moment.asked, lang, lines), "dim", overflow="fold")
        many = takes_lines(moment.asked)
        if lines:
            keys = Text(say("mock.keys_lines", lang), "dim", overflow="fold")
            help_ = [*on_request(talk, lang, lines), Text(""), asked, keys, Text("")]
            told = [Text(""), *message, *body, *self._unread(talk, lang), *help_]
            if before is not None and before.lang == lang:
                told = [*message, *self._new(moment, before)]
            help_ = [*so_far, *help_]
            foot: list[RenderableType] = []
        else:
            body += [*on_request(talk, lang, lines), *so_far]
            gone = () if talk.more_hints else ("hint",)
            foot = [Text(""), asked, footer("interview", lang, 0, gone)]
            told, help_ = [], []
        return AnswerPage(
            lang,
            body,
            foot,
            told,
            help_,
            said=message,
            name=("question", moment.asked.question.id, moment.asked.seed),
            show=news(before.talk, talk) if before and before.lang == lang else "",
            # A text of several lines starts below the clock, where it has the whole width.
            prompt=lambda: (
                clock_line(moment.timer, moment.target, lang, talk.sure)
                + ([("", "\n> ")] if many else [])
            ),
            draft=moment.draft,
            multiline=many,
            seconds=moment.timer.left(),
            keep=moment.keep,
            talks=True,
            offers=before is None and moment.draft != self._handed,
        )

    def _unread(self, talk: Talk, lang: Lang) -> list[RenderableType]:
        """What was given and is not in the lines above; facts and notes go on counting."""
        return given(talk, lang, self._plain, since=self._above)

    def _new(self, moment: OpenQuestion, before: OpenQuestion) -> list[RenderableType]:
        """What has come since the question was last put: all that lines need to be told."""
        lang, talk = moment.lang, moment.talk
        since = before.talk
        if moment.message and moment.message[0] == _REPLY:  # which is the facts themselves
            since = replace(since, told=talk.told)
        parts = given(talk, lang, self._plain, since=since)
        if talk.sure != before.talk.sure:
            parts.append(_said(say("mock.is_sure" if talk.sure else "mock.is_unsure", lang)))
        return parts

    def _warn(self, moment: OpenQuestion, before: tuple[str, ...]) -> None:
        """Say once a line was sent that time has come close meanwhile: lines show no clock."""
        left = face(moment.timer.left())
        for each in nearing(moment.timer, moment.target):
            if each not in before:
                self._hand.tell(_said(say(f"mock.near_{each}", moment.lang, left=left)))


def _message(message: Note, lang: Lang, plain: bool) -> list[RenderableType]:
    """Draw a message: what the interviewer replies is written as the facts are, a line for each."""
    sentence = note(message, lang)
    if message[0] != _REPLY:
        return [_said(sentence)]
    return [inline(line, plain, "bold") for line in sentence.splitlines()]


def _said(sentence: str) -> RenderableType:
    return Text(sentence, "bold", overflow="fold")


def _numbers(text: str, last: int) -> list[int] | None:
    """Numbers from 1 to `last` as indexes, none for 0; None if it is not that."""
    import re
    import unicodedata

    words = re.split(r"[\s,.、，]+", unicodedata.normalize("NFKC", text).strip(" ,.、，"))
    if not all(word.isdecimal() and int(word) <= last for word in words):
        return None
    numbers = sorted({int(word) for word in words})
    if numbers == [0]:
        return []
    return None if 0 in numbers else [number - 1 for number in numbers]
