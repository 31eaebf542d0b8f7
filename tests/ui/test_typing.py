"""The editor's edges: an interrupt while it loads or sets itself up is neither lost nor a crash."""

import sys

import pytest

SCRIPT = """
import contextlib, os, signal, sys
from importlib.abc import MetaPathFinder

WHEN = sys.argv[1]

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

class Interrupting(MetaPathFinder):
    def find_spec(self, name, *_):
        if name == WHEN:
            interrupt()

sys.meta_path.insert(0, Interrupting())

if WHEN == "raw mode":
    from prompt_toolkit.input.vt100 import Vt100Input
    taken = Vt100Input.raw_mode
    Vt100Input.raw_mode = lambda self: interrupt() or taken(self)
elif WHEN == "loop":
    import asyncio
    made = asyncio.new_event_loop
    asyncio.new_event_loop = asyncio.events.new_event_loop = lambda: interrupt() or made()

from quizkit.tutor.desk import Interrupted
from quizkit.ui.typing import type_text

typed = ""
try:
    typed = type_text(lambda: "> ", draft="half", commands={}).text
except Interrupted as left:
    print("left with", left.unsent)
print("end", typed)
"""


@pytest.mark.parametrize("when", ["prompt_toolkit.shortcuts", "loop", "raw mode"])
def test_an_interrupt_before_the_editor_stands_is_heard(terminal, when: str):
    desk = terminal([sys.executable, "-c", SCRIPT, when])
    assert desk.close() == 0
    assert "left with half\nend\n" in desk.text
    assert "Traceback" not in desk.text
    assert desk.echoes


def test_an_interrupt_from_outside_gives_back_what_was_typed(terminal):
    desk = terminal([sys.executable, "-c", SCRIPT, "never"])
    desk.until("> half")
    desk.press(" a word")
    desk.until("a word")
    desk.child.kill(2)
    desk.until("left with half a word")
    assert desk.close() == 0
