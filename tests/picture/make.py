"""Makes the README's picture from a real session on a real pseudo-terminal.

python tests/picture/make.py tests/picture/study.svg

Nothing is drawn by hand: a question is answered, its proof is run, and what then stands on the
terminal is written as SVG, cell by cell. So that it fits a first screen only the question, the
answers and the timelines are shown; a row of dots stands for what is left out.
"""

import contextlib
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from html import escape
from pathlib import Path

import pexpect
import pyte

from quizkit.bank.entry import entry
from quizkit.bank.functions import Number
from quizkit.bank.model import Question
from quizkit.bank.reader import Bank
from quizkit.paths import QUESTIONS
from quizkit.tutor.asked import ask
from quizkit.tutor.lineup import Lineup
from quizkit.tutor.queue import Queue

ROOT = Path(__file__).parents[2]
COLUMNS, LINES = 80, 110
CELL, LINE = 8.4, 18.0
COLOURS = {
    "default": "#d8dee9",
    "red": "#e0707a",
    "green": "#a3be8c",
    "brown": "#ebcb8b",
    "blue": "#81a1c1",
    "magenta": "#b48ead",
    "cyan": "#88c0d0",
    "black": "#4c566a",
    "white": "#eceff4",
}
FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, 'Noto Sans Mono CJK SC', monospace"


QUESTION, ASKED, DRAWN = "pp/bubble-share", "share of the whole step", {"p": 4, "m": 8}
SHOWN = (("4 stages", "Trap"), ("The run", "The demo's own checks"), ("You predicted", "Wrong"))
"""From the row that begins so to the next one that begins so, which is left out."""
MOSTLY_SAID = "3/8"  # the overhead over ideal compute: another convention than the one asked for


def seed() -> int:
    """A session's seed that asks the question with these numbers."""
    question = Bank.load(QUESTIONS, ["pp"]).questions[QUESTION]
    return next(each for each in itertools.count() if _drawn(question, each) == DRAWN)


def _drawn(question: Question, seed: int) -> Mapping[str, Number]:
    turn = Queue([entry(question)], Lineup(plan=[question.id]), seed).next()
    assert turn is not None
    return ask(question, turn.seed).values


def session() -> pyte.Screen:
    """Answer one question with what most people say, run its proof, keep the screen."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    with tempfile.TemporaryDirectory() as home:
        command = f"-m quizkit study --topic pp --kind numeric --lang en --limit 12 --seed {seed()}"
        child = pexpect.spawn(
            sys.executable,
            [*map(str, command.split())],
            cwd=str(ROOT),
            dimensions=(LINES, COLUMNS),
            env=os.environ | {"QUIZKIT_HOME": home, "TERM": "xterm-256color", "LANG": "C.UTF-8"},
            timeout=30,
        )
        # prompt_toolkit asks where the cursor is, and waits for the answer.
        screen.write_process_input = child.send  # pyright: ignore[reportAttributeAccessIssue]

        def until(text: str) -> None:
            limit = time.monotonic() + 30
            while text not in "\n".join(screen.display):
                if time.monotonic() > limit:
                    raise TimeoutError("\n".join(screen.display))
                try:
                    stream.feed(child.read_nonblocking(65536, timeout=0.2))
                except pexpect.TIMEOUT:
                    continue

        def settle() -> None:
            with contextlib.suppress(pexpect.TIMEOUT):
                while True:  # the page may come in several pieces
                    stream.feed(child.read_nonblocking(65536, timeout=0.3))

        until("Enter hand in")
        settle()
        while ASKED not in " ".join(" ".join(screen.display).split()):
            child.send("\x13")  # skip: others stand before it in the reading order
            settle()
        child.send(f"{MOSTLY_SAID}\r")
        until("go on")
        child.send("p")
        until("The run bears out the right answer")
        settle()
        child.send("q")
        child.close()
    return screen


def shown(lines: list[str]) -> list[int]:
    """The rows of the screen that the picture has; -1 where some are left out."""
    rows, at = list[int](), 0
    for first, beyond in SHOWN:
        begin = next(row for row in range(at, len(lines)) if lines[row].startswith(first))
        at = next(row for row in range(begin, len(lines)) if lines[row].startswith(beyond))
        last = max(row for row in range(begin, at) if lines[row].strip())
        rows += [*([-1] if rows else []), *range(begin, last + 1)]
    return rows


def svg(screen: pyte.Screen) -> str:
    """The screen as one picture; runs of equal style become one text each."""
    rows = shown([*screen.display])
    width, height = COLUMNS * CELL + 24, len(rows) * LINE + 24
    title = "quizkit study: an answer and the run that decides it"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
        f' font-family="{escape(FONTS)}" font-size="14" role="img" aria-label="{title}">',
        f'<title>{title}</title><rect width="100%" height="100%" rx="8" fill="#1f2430"/>',
    ]
    for row, source in enumerate(rows):
        if source < 0:
            y = 12 + (row + 0.75) * LINE
            parts.append(f'<text x="12" y="{y:g}" fill="{COLOURS["black"]}">· · ·</text>')
            continue
        cells = [(column, screen.buffer[source][column]) for column in range(COLUMNS)]
        styles = itertools.groupby(cells, key=lambda cell: (cell[1].fg, cell[1].bg, cell[1].bold))
        for (colour, ground, bold), group in styles:
            run = list(group)
            text = "".join(cell.data for _, cell in run)
            if not text.strip():
                continue
            fill = COLOURS.get(colour, f"#{colour}" if len(colour) == 6 else COLOURS["default"])
            weight = ' font-weight="bold"' if bold else ""
            x, y = 12 + run[0][0] * CELL, 12 + (row + 0.75) * LINE
            if ground != "default":
                parts.append(
                    f'<rect x="{x:g}" y="{12 + row * LINE:g}" width="{len(text) * CELL:g}"'
                    f' height="{LINE:g}" fill="{COLOURS[ground]}"/>'
                )
                fill = "#1f2430"
            parts.append(
                f'<text x="{x:g}" y="{y:g}" fill="{fill}"{weight} xml:space="preserve"'
                f' textLength="{len(text) * CELL:g}">{escape(text)}</text>'
            )
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(svg(session()), encoding="utf-8")
