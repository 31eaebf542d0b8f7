"""The editor's edges: an interrupt while it loads or sets itself up is neither lost nor a crash."""

import sys

import pytest

from quizkit.ui.terminal.wordwrap import fills

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
from quizkit.ui.terminal.typing import type_text

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
    desk.process.signal(2)
    desk.until("left with half a word")
    assert desk.close() == 0


WORDS = """
from quizkit.ui.terminal.typing import type_text

typed = type_text(lambda: "> ", multiline=True, commands={})
print("typed", ascii(typed.text))
"""
SAID = "gradients are reduced in buckets while 反向还在算，桶满了就发 all-reduce asynchronously"


def test_what_is_typed_breaks_between_words_and_stays_as_it_is(terminal):
    desk = terminal(["-c", WORDS], columns=30, rows=12)
    desk.until(">")
    desk.press(SAID)
    shown = desk.until("asynchronously")
    assert [row.strip() for row in shown.split("\n") if row.strip()] == [
        "> gradients are reduced in",
        "buckets while 反向还在算，桶",
        "满了就发 all-reduce",
        "asynchronously",
    ]
    desk.press(
        *["\x1b[D"]
        * len("reduced in buckets while 反向还在算，桶满了就发 all-reduce asynchronously")
    )
    desk.press("all-")
    desk.until("all-reduced")
    desk.press("\x05", " 完", "\x1b\r")
    said = SAID.replace("are reduced", "are all-reduced") + " 完"
    desk.until("typed")
    assert desk.close() == 0
    assert ascii(said) in desk.text.replace("\n", "")


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("one two three", 8, ["one two ", "three"]),
        ("one two three", 7, ["one two", " three"]),
        ("eight bytes", 5, ["eight", " ", "bytes"]),
        ("unbreakable", 4, ["unbr", "eaka", "ble"]),
        ("桶满了就发", 5, ["桶满 ", "了就 ", "发"]),
        ("a 桶，满", 5, ["a    ", "桶， ", "满"]),
        ("", 5, [""]),
        ("a", 1, ["a"]),
    ],
)
def test_rows_are_filled_up_where_the_next_word_would_be_cut(
    text: str, width: int, rows: list[str]
):
    blanks = fills(text, width)
    shown = "".join(" " * blanks.get(at, 0) + each for at, each in enumerate(text))
    assert shown == "".join(rows)
