"""Get an answer out of lines of text, for every kind of question."""

import re
import unicodedata
from collections.abc import Sequence
from typing import cast

from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order
from quizkit.tutor.desk import Command, CommandName, Given, Interrupted, Moment
from quizkit.ui.lines.lines import Lines
from quizkit.ui.screens.parts import help_screen
from quizkit.ui.screens.question_screen import pre_ticked, question_screen, rubric
from quizkit.ui.screens.verdict_screen import nothing_to_show
from quizkit.ui.terminal import keymap
from quizkit.ui.terminal.draft import Draft, draft_of, found_line
from quizkit.ui.terminal.keymap import State
from quizkit.words import Lang, say

_BETWEEN = re.compile(r"[\s,.、，;；]+")
_PROMPT = "> "
_PAUSE: dict[Lang, str] = {"zh": "；", "en": "; "}


class LineAsking:
    """One question, or one verdict, in front of whoever writes lines."""

    def __init__(self, lines: Lines, moment: Moment) -> None:
        self.lines = lines
        self.moment = moment
        self.lang: Lang = moment.lang
        self.blank = False
        self.ended = False

    def verdict(self) -> Command:
        """Ask for the command that follows the verdict; an empty line goes on."""
        wanted = say("ui.line_verdict", self.lang)
        while True:
            line = self._read("verdict", wanted, Draft())
            if isinstance(line, Command):
                return line
            if not line:
                return Command("continue")
            grade = read_numbers(line, 4)
            if grade and len(grade) == 1 and grade[0] > 0:
                return Command("grade", grade[0])
            self._unread(line)

    def answer(self) -> Given | Command:
        """Read lines until there is an answer, or a command instead."""
        # Lines once written cannot be mended: what is no essay is written anew.
        draft = self.moment.draft if isinstance(self.moment.draft, Draft) else Draft()
        order = self.moment.asked.order
        match self.moment.question:
            case Choice() as question:
                state: State = "tick" if question.several else "pick"
                key = "ui.line_several" if question.several else "ui.line_pick"
                wanted = say(key, self.lang, last=len(order))
                most = len(order) if question.several else 1
                chosen = self._numbers(state, wanted, draft, range(1, most + 1), len(order))
                if isinstance(chosen, Command):
                    return chosen
                return Given(sorted(order[number - 1] for number in chosen))
            case Order() as question:
                wanted = say("ui.line_order", self.lang, last=len(order))
                every = range(len(order), len(order) + 1)
                chosen = self._numbers("order", wanted, draft, every, len(order))
                if isinstance(chosen, Command):
                    return chosen
                return Given([question.steps[order[number - 1]].id for number in chosen])
            case Cloze() as question:
                return self._cloze(draft, [*question.gaps])
            case Bug():
                return self._bug(draft)
            case Essay():
                return self._essay(draft_of(self.moment))
            case question:
                unit = question.unit if isinstance(question, Numeric) else ""
                wanted = say("ui.answer_in" if unit else "ui.answer", self.lang, unit=unit)
                line = self._text(wanted, draft)
                return line if isinstance(line, Command) else Given(line)

    def _cloze(self, draft: Draft, names: Sequence[str]) -> Given | Command:
        for at, name in enumerate(names):
            if name not in draft.parts:
                line = self._text(say("ui.gap", self.lang, number=at + 1), draft)
                if isinstance(line, Command):
                    return line
                draft = draft.holding(**{name: line})
        return Given({name: draft.parts[name] for name in names})

    def _bug(self, draft: Draft) -> Given | Command:
        if draft.stage != "reasons":
            code = self.moment.asked.code
            last = len(code.lines) if code else 0
            wanted = say("ui.line_line", self.lang, last=last)
            line = self._numbers("line", wanted, draft, range(1, 2), last)
            if isinstance(line, Command):
                return line
            draft = Draft({"line": line[0], "reasons": []}, "reasons")
        found = found_line(self.moment, draft)
        return self._ticks(draft, "reasons") if found else Given(draft.parts)

    def _essay(self, draft: Draft) -> Given | Command:
        written = draft.typed
        if draft.stage != "rubric":
            self._prompt(say("ui.line_essay", self.lang))
            if written:  # what there is to go on from
                self.lines.tell(written)
        while draft.stage != "rubric":
            try:
                line = self.lines.read(_PROMPT)
            except KeyboardInterrupt:
                raise Interrupted(written) from None
            draft = draft.but(typed=written)
            heard = "" if line is None else self._heard(line, "compose", draft)
            if isinstance(heard, Command):
                return heard
            if heard:
                written += ("\n" if written else "") + heard
            elif heard is None:
                continue
            elif written:  # an empty line, or the end of the input: this is the answer
                draft = pre_ticked(self.moment, written)
            elif line is None:
                return self._end(draft)
            elif self._gives_up():
                return Command("continue", draft=draft)
        return self._ticks(draft, "points")

    def _ticks(self, draft: Draft, part: str) -> Given | Command:
        """The rubric: the numbers of what was said, points before vetoes."""
        points, _, rows = rubric(self.moment, plain=True)
        if not rows:
            return Given(draft.parts)
        self.lines.show(question_screen(self.moment, draft, plain=True))
        split = len(points)
        before = [*draft.ticks(part), *(split + veto for veto in draft.ticks("vetoes"))]
        ticked = " ".join(str(at + 1) for at in before) or say("ui.line_none", self.lang)
        wanted = say("ui.line_ticks", self.lang, ticked=ticked)
        while True:
            line = self._read("tick", wanted, draft)
            if isinstance(line, Command):
                # With nobody left to judge, what the keywords say stands.
                return Given(draft.parts) if self.ended else line
            numbers = read_numbers(line, len(rows)) if line else [at + 1 for at in before]
            if numbers is not None and (numbers == [0] or 0 not in numbers):
                chosen = [number - 1 for number in numbers if number]
                draft = draft.holding(**{part: [at for at in chosen if at < split]})
                if part == "points":
                    draft = draft.holding(vetoes=[at - split for at in chosen if at >= split])
                return Given(draft.parts)
            self._unread(line)

    def _text(self, wanted: str, draft: Draft, state: State = "type") -> str | Command:
        """A line with something in it."""
        while True:
            line = self._read(state, wanted, draft)
            if isinstance(line, Command) or line:
                return line
            if self._gives_up():
                return Command("continue", draft=draft)

    def _numbers(
        self, state: State, wanted: str, draft: Draft, count: range, last: int
    ) -> list[int] | Command:
        """So many different numbers from 1 to `last`, in the order they were given."""
        while True:
            line = self._text(wanted, draft, state)
            if isinstance(line, Command):
                return line
            numbers = read_numbers(line, last)
            if numbers and 0 not in numbers and len(numbers) in count:
                return numbers
            self._unread(line)

    def _read(self, state: State, wanted: str, draft: Draft) -> str | Command:
        """A line after its prompt, or the command that it is."""
        while True:
            self._prompt(wanted)
            line = self.lines.read(_PROMPT)
            if line is None:
                return self._end(draft)
            heard = self._heard(line, state, draft)
            if heard is not None:
                return heard

    def _heard(self, line: str, state: State, draft: Draft) -> str | Command | None:
        """Read a line as text or a command; None if it only asked how to go on."""
        word, _, rest = unicodedata.normalize("NFKC", line).strip().partition(" ")
        command = keymap.line_command(word) if word.startswith(":") else None
        if command == "help":
            last = len(self.moment.asked.order) or len(rubric(self.moment, plain=True)[2])
            idle = nothing_to_show(self.moment)
            self.lines.show(help_screen(state, self.lang, last, "lines", idle))
            return None
        if command and keymap.allows(state, command):
            said = rest.strip() or None
            if command == "flag" and not said and not self.moment.flagged:
                try:
                    said = self._word()
                except KeyboardInterrupt:  # at this prompt it ends the flag alone
                    return None
            return Command(cast("CommandName", command), said, draft, draft.unsent)
        if command:  # known, but for another moment: `:p` before there is an answer
            self.lines.tell(say("ui.line_not_now", self.lang, command=word))
            return None
        if word.startswith(":") and state != "compose":
            self._unread(line.strip())
            return None
        return line.strip()

    def _word(self) -> str | None:
        """Ask for a word on what is wrong with the question; None if none was given."""
        self.lines.tell(say("ui.flag_asked", self.lang))
        return (self.lines.read(_PROMPT) or "").strip() or None

    def _end(self, draft: Draft) -> Command:
        self.ended = True
        self.lines.tell(say("ui.line_end", self.lang))
        return Command("quit", draft=draft, unsent=draft.unsent)

    def _gives_up(self) -> bool:
        """An empty line asks back once: it counts as an answer."""
        again, self.blank = self.blank, True
        if not again:
            self.lines.tell(say("ui.nothing_yet", self.lang))
        return again

    def _prompt(self, wanted: str) -> None:
        self.lines.tell(f"{wanted}{_PAUSE[self.lang]}{say('ui.line_help', self.lang)}")

    def _unread(self, line: str) -> None:
        self.lines.tell(say("ui.line_unread", self.lang, line=line))


def read_numbers(line: str, last: int) -> list[int] | None:
    """Read different numbers from 0 to `last`: `1 3`, `1,3`, or `13` where all have one digit."""
    words = [word for word in _BETWEEN.split(unicodedata.normalize("NFKC", line).strip()) if word]
    if len(words) == 1 and last <= 9:
        words = [*words[0]]
    if not words or not all(word.isdecimal() and int(word) <= last for word in words):
        return None
    numbers = [int(word) for word in words]
    return numbers if len(set(numbers)) == len(numbers) else None
