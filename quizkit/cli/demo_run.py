"""`quizkit demo NAME`: one run, on the screen, as JSON, as pictures."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from quizkit.cli.common import language
from quizkit.interrupt import INTERRUPTED, at_once
from quizkit.lab.bench import Bench, Cancelled, Device, has_torch
from quizkit.lab.report import Report, Setting
from quizkit.words import Lang, say

if TYPE_CHECKING:
    from quizkit.lab.catalogue import Break, Demo

RANKS = 4
DEADLINE = 60.0
LONGEST = 86400  # seconds: a day; what waits for a run cannot wait for ever

_EXITS = {"hung": 124, "killed": INTERRUPTED, "refused": 2}


@dataclass(frozen=True)
class Request:
    """A run as it was asked for; `words` are the demo's own options, not yet looked at."""

    name: str
    words: Sequence[str]
    ranks: int | None
    broken: str | None
    device: Device
    deadline: float | None


def run_one(
    request: Request,
    folder: Path | None,
    json: bool,
    svg: Path | None,
    trace: Path | None,
    watch: bool,
    lang: str | None,
    plain: bool,
) -> int:
    """Run, show, draw; gives the exit code."""
    with Bench(folder) as bench:
        with at_once():
            # First of all: whatever follows happens while the bench imports torch.
            bench.start()
            spoken = language(lang)
            demo, setting = _understood(request, folder)
            planted = demo.breaks[setting.broken] if setting.broken else None
            limit = deadline_for(planted, request.deadline)
            if not json and has_torch():
                import_module("quizkit.ui.screens.report_screen")  # and rich with it
        with waiting(say("lab.starting", spoken, demo=demo.name, ranks=setting.ranks), spoken):
            try:
                report = bench.run(setting, limit, request.device)
            except Cancelled as cancelled:
                if cancelled.report is None:
                    return INTERRUPTED
                report = cancelled.report
        try:  # first, as whoever reads the report may stop reading
            if watch:
                spoken = _watched(report, demo, spoken, plain)
            _draw(report, demo, svg, trace, spoken)
        finally:
            _tell(report, demo, json, spoken, plain)
            sys.stdout.flush()
        return 0 if report.verdict == "pass" else _EXITS.get(report.outcome, 1)


def deadline_for(planted: "Break | None", given: float | None) -> float:
    """Return the seconds a run may take: fewer where a hang was announced. Raises UsageError."""
    from quizkit.errors import UsageError

    if given is not None and not 0 < given <= LONGEST:
        wanted = f"0 < S <= {LONGEST}"
        raise UsageError("option_value", name="--deadline", wanted=wanted, given=given)
    from quizkit.lab.demo import HANGING

    usual = HANGING if planted and planted.expect == "hangs" else DEADLINE
    return usual if given is None else given


def ranks_for(planted: "Break | None", given: int | None) -> int:
    """Return how many ranks: as many as asked for, else as the bug needs to show, else 4."""
    from quizkit.errors import UsageError

    if given is not None and given < 1:
        raise UsageError("option_value", name="--gpus", wanted="N >= 1", given=given)
    usual = planted.ranks if planted else RANKS
    return usual if given is None else given


@contextmanager
def waiting(text: str, lang: Lang) -> Generator[None]:
    """Say on the terminal what is going on, and take it away when it is done."""
    if not sys.stderr.isatty():
        yield
        return
    from quizkit.ui.terminal.console import is_plain

    end = "\n" if is_plain() else "\r"
    sys.stderr.write(f"{text}{end}")
    sys.stderr.flush()
    try:
        yield
    finally:
        if end == "\r":
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _understood(request: Request, folder: Path | None) -> tuple["Demo", Setting]:
    from quizkit.cli.demo_options import parsed
    from quizkit.errors import UsageError
    from quizkit.lab.catalogue import find
    from quizkit.near import nearest

    demo = find(request.name, folder)
    broken = request.broken
    if broken is not None and broken not in demo.breaks:
        hint = nearest(broken, demo.breaks)
        raise UsageError("break_unknown", demo=demo.name, name=broken, hint=hint)
    planted = demo.breaks[broken] if broken else None
    args = tuple(parsed(demo, request.words).items())
    return demo, Setting(demo.name, ranks_for(planted, request.ranks), args, broken)


def _tell(report: Report, demo: "Demo", json: bool, lang: Lang, plain: bool) -> None:
    if json:
        from json import dumps

        print(dumps(report.to_json(), ensure_ascii=False, allow_nan=False))
        return
    from quizkit.ui.screens.report_screen import show
    from quizkit.ui.terminal.console import console, is_plain

    show(console(is_plain(plain)), report, demo, lang, is_plain(plain))


def _watched(report: Report, demo: "Demo", lang: Lang, plain: bool) -> Lang:
    """Play the timeline, or tell its moments line by line; gives the language spoken by then."""
    from quizkit.errors import UsageError
    from quizkit.ui.pictures.chart import charts
    from quizkit.ui.screens.demo_words import demo_words
    from quizkit.ui.terminal.console import console, is_plain

    drawn = charts(report.timeline, report.ranks)
    if not drawn:
        if report.verdict == "pass":
            raise UsageError("no_timeline", demo=report.demo)
        return lang  # the report tells what went wrong
    if is_plain(plain) or not (sys.stdin.isatty() and sys.stdout.isatty()):
        from quizkit.ui.screens.watch_screen import told

        for line in told(drawn, lang, demo_words(demo, lang).picture):
            print(line)
        return lang
    from quizkit.ui.terminal.keys import Keyboard
    from quizkit.ui.terminal.screen import Screen
    from quizkit.ui.terminal.watching import watched

    def in_words(text: str, spoken: Lang) -> str:
        return demo_words(demo, spoken).picture(text)

    return watched(Screen(console()), Keyboard(), drawn, in_words, lang)


def _draw(report: Report, demo: "Demo", svg: Path | None, trace: Path | None, lang: Lang) -> None:
    """Write the pictures that were asked for; nothing is drawn that was not measured."""
    from quizkit.errors import UsageError

    if (trace or svg) and not report.timeline.events and (trace or not report.pictures):
        raise UsageError("no_timeline", demo=report.demo)
    if svg:
        from quizkit.ui.pictures.svg import svg as picture
        from quizkit.ui.screens.demo_words import demo_words

        _write(svg, picture(report, lang, demo_words(demo, lang).picture))
    if trace:
        from json import dumps

        from quizkit.ui.pictures.trace import trace as data

        _write(trace, dumps(data(report), ensure_ascii=False) + "\n")


def _write(file: Path, text: str) -> None:
    from quizkit import safe_file

    safe_file.write(file, text)
