"""The learner's hand on a terminal: painted screens, keys that mean something, typed text."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import cast, get_args

from rich.text import Text

from quizkit.tutor.desk import Command, CommandName, Interrupted, Moment
from quizkit.ui.screens.parts import footer, said
from quizkit.ui.screens.question_screen import question_body
from quizkit.ui.screens.verdict_screen import (
    SECTIONS,
    Section,
    nothing_to_show,
    standing,
    verdict_body,
)
from quizkit.ui.terminal import keymap
from quizkit.ui.terminal.draft import Draft
from quizkit.ui.terminal.keymap import State
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.paging import read_keys
from quizkit.ui.terminal.typing import type_text, typed_ahead
from quizkit.ui.terminal.view import View
from quizkit.words import say

_HAND = 4  # lines left free for a text of several
Press = tuple[str, int]
"""A key as it was meant: the command, and the digit if it was one."""


class Hand:
    """One moment on the screen, and whatever is pressed or typed while it is there.

    `notice` is a sentence above the footer, gone with the next key that does something.
    """

    def __init__(self, view: View, keyboard: Keyboard, moment: Moment) -> None:
        self.view = view
        self.keyboard = keyboard
        self.moment = moment
        self.notice = ""
        self.opened: Sequence[Section] = SECTIONS
        # The anchor to begin at when next painted, and whether the cursor was moved.
        self.show = ""
        self._moved = False

    def press(self, state: State, draft: Draft, last: int, prompt: str = "") -> Press | Command:
        """Paint, then the next key that means something."""
        with self.keyboard, self._line_ended(prompt):
            self.keyboard.put_back(typed_ahead())
            self._paint(state, draft, last, prompt)
            while True:
                key = self.keyboard.read()
                if key == "eof":
                    return Command("quit", draft=draft, unsent=draft.unsent)
                if key == "redraw":
                    self._paint(state, draft, last, prompt)
                    continue
                command = keymap.bound(state, key)
                digit = int(key) if key in "0123456789" else 0
                if command is None or digit > last:
                    continue
                if command not in ("reveal", "submit"):
                    self.notice = ""
                if command == "help" or self.view.scroll(command):
                    if command == "help":
                        self._help(state, last)
                    self._paint(state, draft, last, prompt)
                elif command in get_args(CommandName):
                    told = self._command(command, draft, digit)
                    if told:
                        return told
                    self._paint(state, draft, last, prompt)
                else:
                    self._moved = True
                    return command, digit

    @contextmanager
    def _line_ended(self, prompt: str) -> Generator[None]:
        """End the prompt's line on an interrupt, so that what is said then begins below it."""
        try:
            yield
        except KeyboardInterrupt:
            if prompt:
                self.view.screen.add(Text(""))
            raise

    def _command(self, name: str, draft: Draft, digit: int = 0) -> Command | None:
        """A command of the session; a grade brings its digit along, a flag a word.

        None where it was thought better of: Ctrl-C at the flag's prompt ends the flag alone.
        """
        value: object = digit or None
        if name == "flag" and not self.moment.flagged:
            try:
                value = self._flag()
            except Interrupted:
                return None
        return Command(cast("CommandName", name), value, draft, draft.unsent)

    def _help(self, state: State, last: int) -> None:
        """The keys of this state, until one is pressed."""
        told = self.view.screen, self.keyboard, state, self.moment.lang
        read_keys(*told, last, without=self._idle())

    def type(
        self, state: State, draft: Draft, label: str, multiline: bool = False
    ) -> str | Command:
        """Paint, then let type; a chord gives the text back as the draft."""

        def paint() -> None:
            self._paint(state, draft, 0)

        while True:
            with self.keyboard:
                paint()
                typed = type_text(
                    lambda: f"{label}> ",
                    draft=draft.typed,
                    multiline=multiline,
                    commands=keymap.chords(state),
                    redraw=paint,
                    cursor=draft.cursor,
                    rows=(lambda: self.view.free) if multiline else None,
                )
            if typed.command is None:
                if typed.text.strip():  # what was said about the line before is past
                    self.notice = ""
                return typed.text
            self.notice = ""
            draft = draft.but(typed=typed.text, cursor=typed.cursor)
            if typed.command == "help":
                self._help(state, 0)
            elif self.view.scroll(typed.command):
                continue
            elif told := self._command(typed.command, draft):
                return told

    def _flag(self) -> str:
        """A word on what is wrong with the question."""
        asked = say("ui.flag_asked", self.moment.lang)
        return type_text(lambda: f"{asked}> ", commands={}).text.strip()

    def gives_up(self) -> bool:
        """Tell whether handing in nothing is meant: asked back once, as it counts as an answer."""
        asked = say("ui.nothing_yet", self.moment.lang)
        again, self.notice = self.notice == asked, asked
        return again

    def _idle(self) -> list[str]:
        """The commands that do nothing now."""
        return [*nothing_to_show(self.moment), *(() if self.view.is_long else keymap.SCROLLING)]

    def _paint(self, state: State, draft: Draft, last: int, prompt: str = "") -> None:
        moment = self.moment
        if state == "verdict":
            body = verdict_body(moment, self.view.screen.width, opened=self.opened)
            below = standing(moment, plain=False)
        else:
            body, below = question_body(moment, draft), []
        foot = said(moment, plain=False)
        if state == "compose":
            foot += [Text(""), Text(say("ui.compose", moment.lang), "dim")]
        if self.notice:
            foot += [Text(""), Text(self.notice, "bold")]
        foot += [*below, Text(""), footer(state, moment.lang, last, nothing_to_show(moment))]
        self.view.open((moment.phase, moment.asked, draft.stage))
        self.view.paint(
            body,
            foot,
            moment.lang,
            prompt=prompt,
            typing=_HAND if state == "compose" else 1,
            show=self.show,
            keep="here" if self._moved else "",
        )
        self.show, self._moved = "", False
