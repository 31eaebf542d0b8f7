"""Makes the README's pictures from real sessions on a real pseudo-terminal.

python tests/picture/make.py tests/picture/study.svg tests/picture/watch.svg tests/picture/card.svg

Nothing is drawn by hand: what stands on the terminal is written as SVG, cell by cell. For study.svg
a question is answered and its proof is run; so that it fits a first screen only the question, the
answers and the numbers are shown, and a row of dots stands for what is left out. For watch.svg a
demo's timeline is played and stopped on its way. For card.svg the middling candidate's sheet of
answers sits through an interview, and the first page of the scorecard is shown.
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
import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "mock"))

from candidates import script_of, sit

from quizkit.bank.entry import entry
from quizkit.bank.functions import Number
from quizkit.bank.model import Question
from quizkit.bank.reader import Bank
from quizkit.cli.mock_card import teller
from quizkit.paths import QUESTIONS
from quizkit.tutor.asked import ask
from quizkit.tutor.lineup import Lineup
from quizkit.tutor.queue import Queue

ROOT = Path(__file__).parents[2]
COLUMNS, LINES = 80, 110
CARD_COLUMNS, CARD_LINES = 100, 30
SHEETS = ROOT / "tests" / "mock" / "sheets"
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
SHOWN = (("4 stages", "Wrong"), ("The run", "run now"))
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


class Terminal:
    """A quizkit command on a pseudo-terminal of its own, until the context ends."""

    def __init__(self, command: str, lines: int, home: str, columns: int = COLUMNS) -> None:
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        # Tests in several workers say LINES=24 to all they start.
        size = {"LINES": str(lines), "COLUMNS": str(columns), "LANG": "C.UTF-8"}
        self._child = pexpect.spawn(
            sys.executable,
            ["-m", "quizkit", *command.split()],
            cwd=str(ROOT),
            dimensions=(lines, columns),
            env=os.environ | size | {"QUIZKIT_HOME": home, "TERM": "xterm-256color"},
            timeout=30,
        )
        self.press = self._child.send
        # prompt_toolkit asks where the cursor is, and waits for the answer.
        self.screen.write_process_input = self.press  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def text(self) -> str:
        """What stands there, its words one space apart."""
        return " ".join(" ".join(self.screen.display).split())

    def until(self, text: str) -> None:
        """Wait for these words."""
        limit = time.monotonic() + 30
        while text not in self.text:
            if time.monotonic() > limit:
                raise TimeoutError("\n".join(self.screen.display))
            with contextlib.suppress(pexpect.TIMEOUT):
                self._stream.feed(self._child.read_nonblocking(65536, timeout=0.2))

    def settle(self) -> None:
        """Wait for the rest of a page that comes in several pieces."""
        with contextlib.suppress(pexpect.TIMEOUT):
            while True:
                self._stream.feed(self._child.read_nonblocking(65536, timeout=0.3))

    def close(self) -> None:
        """Quit."""
        self.press("q")
        self._child.close()


def study() -> str:
    """Answer one question with what most people say, run its proof, keep the screen."""
    with tempfile.TemporaryDirectory() as home:
        options = f"--topic pp --kind numeric --lang en --limit 12 --seed {seed()}"
        desk = Terminal(f"study {options}", LINES, home)
        desk.until("Enter hand in")
        desk.settle()
        while ASKED not in desk.text:
            desk.press("\x13")  # skip: others stand before it in the reading order
            desk.settle()
        desk.press(f"{MOSTLY_SAID}\r")
        desk.until("go on")
        desk.press("p")
        desk.until("run now")
        desk.settle()
        desk.close()
    title = "quizkit study: an answer and the run that decides it"
    return svg(desk.screen, shown([*desk.screen.display]), title)


def watch() -> str:
    """Play ring attention, and stop with the blocks on their second hop."""
    with tempfile.TemporaryDirectory() as home:
        desk = Terminal("demo ring-attention --gpus 4 --lang en --watch", 24, home)
        desk.until("Space play/pause")
        desk.press("\x1b[D")
        desk.until("at 0 of")
        desk.press("\x1b[C" * 4)
        desk.until("at 0.7552 of")
        desk.settle()
        kept = svg(desk.screen, [*range(_used(desk.screen))], "quizkit demo ring-attention --watch")
        desk.close()
    return kept


def card() -> str:
    """Hold an interview with the middling candidate's answers; the scorecard's first page."""
    script = script_of("parallel-strategy")
    shelf = Bank.load(QUESTIONS, script.topics())
    sheet = SHEETS / f"{script.slug}.en.middling.yaml"
    answers = yaml.safe_load(sheet.read_text(encoding="utf-8"))["answers"]
    with tempfile.TemporaryDirectory() as home:
        diary = Path(home) / "diary.sqlite3"
        sit(script, shelf, diary, answers, tells=teller(shelf))
        desk = Terminal("mock --card --lang en", CARD_LINES, home, CARD_COLUMNS)
        desk.until("any key goes back")
        desk.settle()
        kept = svg(desk.screen, [*range(_used(desk.screen))], "quizkit mock: a scorecard")
        desk.close()
    return kept


def _used(screen: pyte.Screen) -> int:
    """Rows down to the last with something in it."""
    return 1 + max(row for row, line in enumerate(screen.display) if line.strip())


PICTURES = {"study.svg": study, "watch.svg": watch, "card.svg": card}


def shown(lines: list[str]) -> list[int]:
    """The rows of the screen that the picture has; -1 where some are left out."""
    rows = list[int]()
    for first, beyond in SHOWN:
        begin = next(row for row in range(len(lines)) if lines[row].startswith(first))
        at = next(row for row in range(begin, len(lines)) if lines[row].startswith(beyond))
        last = max(row for row in range(begin, at) if lines[row].strip())
        rows += [*([-1] if rows else []), *range(begin, last + 1)]
    return rows


def svg(screen: pyte.Screen, rows: list[int], title: str) -> str:
    """These rows of a screen as one picture; runs of equal style become one text each."""
    width, height = screen.columns * CELL + 24, len(rows) * LINE + 24
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
        cells = [(column, screen.buffer[source][column]) for column in range(screen.columns)]
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
    for file in map(Path, sys.argv[1:]):
        file.write_text(PICTURES[file.name](), encoding="utf-8")
