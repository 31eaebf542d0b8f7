"""A hand on a terminal: keys at moments when nobody waits for one yet."""

import io
import os
import signal

import pytest
from rich.console import Console

from quizkit.tutor.desk import Moment
from quizkit.ui.terminal.draft import Draft
from quizkit.ui.terminal.hand import Hand
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.screen import Screen
from quizkit.ui.terminal.view import View

from . import shelf


class Interrupted(io.StringIO):
    """A terminal at which Ctrl-C is pressed as soon as the prompt is read."""

    def write(self, text: str) -> int:
        written = super().write(text)
        if text.endswith("line> "):
            os.kill(os.getpid(), signal.SIGINT)
        return written


def test_ctrl_c_before_a_key_is_waited_for_ends_the_line_of_the_prompt():
    terminal = Interrupted()
    screen = Screen(Console(file=terminal, force_terminal=True, width=80))
    ends = os.openpty()
    with os.fdopen(ends[0]), os.fdopen(ends[1]) as keys:
        moment = Moment("question", shelf.asked("bug"), "en", 1, 1)
        hand = Hand(View(screen), Keyboard(keys, keys), moment)
        with pytest.raises(KeyboardInterrupt):
            hand.press("line", Draft(), 5, "line> ")
    assert terminal.getvalue().endswith("line> \n")
