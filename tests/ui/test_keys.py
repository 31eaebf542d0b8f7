"""Single keys: what a terminal sends, and what of it is a key. On a real pseudo-terminal."""

import os
import pty
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from quizkit.ui.terminal.keys import Keyboard


@contextmanager
def keyboard() -> Iterator[tuple[Keyboard, int]]:
    """A keyboard whose other end is ours."""
    ours, theirs = pty.openpty()
    source = os.fdopen(theirs, "r+b", buffering=0)
    with source, Path(os.devnull).open("w", encoding="utf-8") as screen:
        try:
            yield Keyboard(source, screen), ours  # type: ignore[arg-type]
        finally:
            os.close(ours)


def read(sent: str, count: int) -> list[str]:
    with keyboard() as (keys, ours), keys:
        os.write(ours, sent.encode())
        return [keys.read(deadline=time.monotonic() + 5) for _ in range(count)]


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("a1!?", ["a", "1", "!", "?"]),
        ("H", ["h"]),
        ("Ｂ１！？\u3000", ["b", "1", "!", "?", "space"]),
        ("\r \x7f\x08\t", ["enter", "space", "backspace", "backspace", "tab"]),
        ("\x1b[A\x1b[B\x1bOA\x1b[Ck", ["up", "down", "up", "right", "k"]),
        ("\x0c", ["redraw"]),
        ("\x04", ["eof"]),
        ("\x1b", ["escape"]),
        # Nobody asked for these: a mouse, a modified key, Alt, a terminal's colour, a control key.
        ("\x1b[<0;3;4M\x1b[1;5D\x1bx\x1b]11;rgb:0/0/0\x1b\\\x02z", ["z"]),
        ("\x1b[200~1\r2\nyes\x1b[201~3", ["3"]),
        ("气1", ["气", "1"]),
    ],
)
def test_keys(sent: str, keys: list[str]):
    assert read(sent, len(keys)) == keys


def test_what_is_typed_ahead_stays_for_whoever_reads_next():
    with keyboard() as (keys, ours):
        with keys:
            os.write(ours, b"1rest")
            assert keys.read() == "1"
        with keys:
            os.set_blocking(keys._fd, False)  # pyright: ignore[reportPrivateUsage]
            assert os.read(keys._fd, 10) == b"rest"  # pyright: ignore[reportPrivateUsage]


def test_what_was_pressed_meanwhile_can_be_forgotten():
    with keyboard() as (keys, ours), keys:
        os.write(ours, b"junk")
        keys.flush()
        os.write(ours, b"q")
        assert keys.read() == "q"


def test_a_deadline_passes_and_a_status_is_kept_up_to_date():
    with keyboard() as (keys, _), keys:
        told: list[int] = []
        assert keys.read(status=lambda: f"{told.append(1)}", deadline=time.monotonic()) == "late"
        assert told


def test_a_terminal_that_is_gone_is_the_end_of_input():
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "r+b", buffering=0) as source, Keyboard(source, source) as keys:  # type: ignore[arg-type]
        os.close(ours)
        assert keys.read(deadline=time.monotonic() + 5) == "eof"
