"""`quizkit mock`: the timed interview."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quizkit.cli import complete
from quizkit.cli.common import language, tell
from quizkit.cli.options import Banks, Json, LineByLine, Spoken
from quizkit.interrupt import INTERRUPTED

if TYPE_CHECKING:
    from quizkit.bank.model import Problem, Question
    from quizkit.bank.reader import Bank
    from quizkit.bank.script import Script
    from quizkit.lab.excerpt import Excerpt
    from quizkit.mock.interview import Interview
    from quizkit.ui.mock.mock_desk import MockDesk
    from quizkit.words import Lang


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(mock)


def mock(
    script: Annotated[
        str | None,
        typer.Argument(
            metavar="SCRIPT",
            help="An interview's script, as --list names it; for --card also an ID of --history.",
            autocompletion=complete.scripts,
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0.05, metavar="M", help="Another total in minutes; targets scale with it."
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the scripts.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the one left unfinished.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history", help="List the interviews so far, and what changed.")
    ] = False,
    card: Annotated[
        bool, typer.Option("--card", help="Show a scorecard again; the last one, if none is named.")
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="With --card: as Markdown on stdout.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="With --card: as a page to keep or to share."),
    ] = None,
    interviewer: Annotated[
        bool,
        typer.Option("--interviewer", help="Print the script with its keys, for who interviews."),
    ] = False,
    bank: Banks = None,
    json: Json = False,
    plain: LineByLine = False,
    lang: Spoken = None,
) -> None:
    """Hold a timed mock interview: questions with follow-ups, one clock, a scorecard at the end."""
    from quizkit.cli.mock_card import show_card, show_history
    from quizkit.cli.mock_sheet import show_sheet
    from quizkit.errors import UsageError

    spoken = language(lang)
    banks = bank or []
    if history:
        show_history(spoken, json)
    elif card or markdown or html is not None:
        told = spoken if lang is not None else None
        show_card(script, told, json=json, plain=plain, markdown=markdown, html=html)
    elif interviewer:
        if script is None:
            raise UsageError("mock_which")
        show_sheet(*_script(script, banks), spoken, plain)
    elif resume:
        _resume(script, banks, lang is not None, spoken, json, plain)
    elif list_ or script is None:
        _list(banks, spoken, json)
        if not json:
            _still_open(spoken)
    else:
        _start(script, minutes, banks, spoken, json, plain)


def _start(
    name: str, minutes: float | None, banks: list[Path], lang: "Lang", json: bool, plain: bool
) -> None:
    from quizkit.cli.mock_card import teller
    from quizkit.diary import Diary
    from quizkit.mock.interview import Interview, begin
    from quizkit.mock.seat import seat
    from quizkit.mock.timer import SystemClock
    from quizkit.paths import diary_file, home
    from quizkit.words import say

    script, shelf = _script(name, banks)
    _still_open(lang)
    with seat(home()), Diary(diary_file()) as diary:
        desk = _desk(json, plain)
        diary.wait_with(lambda: desk.busy(_waits(lang)))
        ledger = begin(script, diary, desk, SystemClock(), lang, minutes)
        if ledger is None:
            tell(say("mock.not_begun", lang), err=True)
            raise typer.Exit(INTERRUPTED)
        tells = teller(shelf)
        _hold(Interview(script, shelf.questions, desk, ledger, None, code, tells), json, plain)


def _still_open(lang: "Lang") -> None:
    """Say so if an interview was left half-way, and how it goes on."""
    from quizkit.diary import Diary, exists
    from quizkit.mock.sitting import sittings
    from quizkit.paths import diary_file
    from quizkit.words import say

    if not exists(diary_file()):
        return
    with Diary(diary_file()) as diary:
        for left in [each for each in sittings(diary) if each.card is None][:1]:
            date = f"{left.at.astimezone():%Y-%m-%d %H:%M}"
            tell(say("mock.unfinished", lang, script=left.script, date=date), err=True)


def _resume(
    name: str | None, banks: list[Path], said: bool, lang: "Lang", json: bool, plain: bool
) -> None:
    from quizkit.cli.mock_card import teller
    from quizkit.diary import Diary
    from quizkit.errors import UsageError
    from quizkit.mock.interview import Interview, resume
    from quizkit.mock.ledger import Ledger
    from quizkit.mock.seat import seat
    from quizkit.mock.sitting import load, sittings
    from quizkit.mock.timer import SystemClock
    from quizkit.paths import diary_file, home

    with seat(home()), Diary(diary_file()) as diary:
        every = sittings(diary)
        left = [each for each in every if each.card is None and name in (None, each.script)]
        if not left:
            raise UsageError("mock_none_open")
        sitting = load(diary, left[0].session)
        script, shelf = _script(sitting.script, banks)
        if said:
            sitting.lang = lang
        desk = _desk(json, plain)
        diary.wait_with(lambda: desk.busy(_waits(sitting.lang)))
        ledger = Ledger(diary, SystemClock(), sitting)
        told, tells = resume(ledger), teller(shelf)
        _hold(Interview(script, shelf.questions, desk, ledger, told, code, tells), json, plain)


def code(question: "Question") -> "Excerpt | None":
    """Return the code that a question shows; the others need not load the laboratory."""
    if question.kind not in ("bug", "trace"):
        return None
    from quizkit.proof.code import code_of

    return code_of(question)


def _waits(lang: "Lang") -> str:
    from quizkit.words import say

    return f"{say('study.diary_waits', lang)}  {say('ui.stop_run', lang)}"


def _hold(interview: "Interview", json: bool, plain: bool) -> None:
    """Hold the interview and show its scorecard; leaving it is exit code 130."""
    from quizkit.cli.mock_card import draw_card, print_json
    from quizkit.mock.readback import read_card
    from quizkit.words import say

    try:
        card = interview.run()
    except KeyboardInterrupt:
        card = None
    lang = interview.sitting.lang
    if card is None:
        tell(say("mock.left", lang), err=True)
        raise typer.Exit(INTERRUPTED)
    told = dict(interview.sitting.card or {})
    if json:
        print_json(told)
        return
    kept = read_card(told)
    assert kept is not None
    draw_card(kept, lang, plain)


def _desk(json: bool, plain: bool) -> "MockDesk":
    from quizkit.ui.lines.lines import Lines
    from quizkit.ui.mock.line_hand import LineHand
    from quizkit.ui.mock.mock_desk import MockDesk
    from quizkit.ui.mock.terminal_hand import TerminalHand
    from quizkit.ui.terminal.console import console, is_plain
    from quizkit.ui.terminal.screen import Screen

    here = sys.stdin.isatty()
    if here and sys.stdout.isatty() and not json and not is_plain(plain):
        return MockDesk(TerminalHand(Screen(console())), plain=False)
    console()  # what it settles about encodings holds for lines too
    lines = Lines(sys.stdin, sys.stderr if json else sys.stdout)
    both = here and sys.stdout.isatty()
    return MockDesk(LineHand(lines, attended=here, edits=both), plain=True)


def _list(banks: list[Path], lang: "Lang", json: bool) -> None:
    from quizkit.cli.mock_card import print_json
    from quizkit.ui.mock.history_screen import list_screen
    from quizkit.ui.terminal.console import console
    from quizkit.ui.terminal.screen import Screen

    scripts, problems = _scripts(banks)
    for problem in problems:
        typer.echo(str(problem), err=True)
    if not json:
        Screen(console()).add(list_screen(scripts, lang))
        return
    rows = [
        {
            "id": script.slug,
            "title": {"zh": script.title.zh, "en": script.title.en},
            "level": script.level,
            "minutes": script.minutes,
            "pause_minutes": script.pause_minutes,
            "questions": len(script.stations),
            "probes": sum(1 for _ in script.placed()) - len(script.stations),
            "topics": sorted(script.topics()),
            "weights": dict(script.weights),
            "pass": dict(script.pass_mark),
        }
        for script in scripts
    ]
    print_json({"schema": "quizkit/mocks/1", "mocks": rows})


def _script(name: str, banks: list[Path]) -> tuple["Script", "Bank"]:
    """The script, and a bank that has every question it may ask."""
    from quizkit.bank.mocks import mock_slugs, read_mock, unasked
    from quizkit.bank.model import Problem
    from quizkit.bank.reader import Bank
    from quizkit.errors import BankError, UsageError
    from quizkit.near import nearest
    from quizkit.paths import QUESTIONS

    folders = [QUESTIONS, *banks]
    having = [folder for folder in folders if name in mock_slugs(folder)]
    if not having:
        known = {slug for folder in folders for slug in mock_slugs(folder)}
        raise UsageError("mock_unknown", name=name, hint=nearest(name, known))
    problems: list[Problem] = []
    script = read_mock(having[-1], name, problems)
    shelf = Bank()
    if script is not None:
        for folder in folders:
            shelf = shelf.joined(Bank.load(folder, script.topics()))
        for place, message in unasked(script, shelf):
            problems.append(Problem(script.file, script.line(place), message))
    if script is None or problems:
        raise BankError("mock_broken", problems="\n".join(str(each) for each in problems))
    return script, shelf


def _scripts(banks: list[Path]) -> tuple[list["Script"], list["Problem"]]:
    """Every script that can be read, and what is wrong with the others."""
    from quizkit.bank.mocks import mock_slugs, read_mock
    from quizkit.paths import QUESTIONS

    problems: list[Problem] = []
    found: dict[str, Script] = {}
    for folder in (QUESTIONS, *banks):
        for slug in mock_slugs(folder):
            script = read_mock(folder, slug, problems)
            if script is not None:
                found[slug] = script
    return [found[slug] for slug in sorted(found)], problems
