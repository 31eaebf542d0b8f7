"""The painted screen."""

import io
import os
import signal
import threading
from contextlib import suppress

from rich.console import Console

from quizkit.ui.terminal.screen import Screen


class Interrupting(io.StringIO):
    """A terminal at which Ctrl-C is pressed just as the main thread draws."""

    pressed = 0

    def write(self, text: str) -> int:
        if text and threading.current_thread() is threading.main_thread():
            self.pressed += 1
            os.kill(os.getpid(), signal.SIGINT)
        return super().write(text)


def test_ctrl_c_while_the_spinner_comes_or_goes_leaves_nothing_behind():
    terminal = Interrupting()
    before = signal.getsignal(signal.SIGINT)
    screen = Screen(Console(file=terminal, force_terminal=True, width=40))
    with suppress(KeyboardInterrupt), screen.spin("running"):
        pass
    assert terminal.pressed
    assert signal.getsignal(signal.SIGINT) is before
    with screen.console.capture() as drawn:
        screen.console.print("next")
    assert drawn.get() == "next\n"
