"""A proof at a glance: what was said and what the run says, the numbers that decide, where it ran.

It fits a screen of 80 x 24 above the footer; everything else is in `proof_screen`.
"""

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console, RenderableType
from rich.text import Text

from quizkit.proof.setting import taken
from quizkit.proof.view import ProofView
from quizkit.tutor.desk import Moment
from quizkit.ui.pictures.chart import charts
from quizkit.ui.proof.agreement import agreement
from quizkit.ui.proof.bearing import bearing, claimable, setting
from quizkit.ui.proof.contrast import contrast
from quizkit.ui.proof.proof_screen import telling
from quizkit.ui.proof.rows import rows
from quizkit.ui.screens.parts import WRONG, pairs, rule, short
from quizkit.ui.screens.report_screen import options, pictures
from quizkit.words import Lang, say

_AROUND = 3  # lines of a picture beside those of its ranks: a blank one, its title, its axis
_UNCUT = 10_000
"""Columns of a line, and lines, where all is read out and nothing has to fit."""

ROWS = 17
"""Lines that a glance may take: 24, less its title, the standing, the footer and the cursor's."""


def glance(moment: Moment, width: int, plain: bool = False) -> list[RenderableType]:
    """Draw the run that was made for this question, to be read in one look."""
    proof, lang = moment.proof, moment.lang
    assert proof is not None
    kept = "" if proof.report.origin == "ran" else "_recorded"
    title = say(f"glance.title{kept}", lang)
    head: list[RenderableType] = [Text(f"\n{title}", "bold") if plain else rule(title)]
    cut = _UNCUT if plain else width
    last = _ending(moment, proof, cut)
    if proof.judgement.reason:
        reason = say("ui.no_decision", lang, reason=proof.judgement.reason)
        return [*head, Text(reason, WRONG, overflow="fold"), *last]
    said: list[RenderableType] = [pairs(agreement(moment, proof, cut)), Text("")]
    left = _UNCUT if plain else ROWS - _lines(said, width) - _lines(last, width)
    settings = contrast(moment, proof, width, left - len(moment.asked.order))
    body = rows(moment, proof, plain, cut, left - _lines(settings, width), not settings)
    body += settings
    drawn = _drawn(proof, width, lang, left - _lines(body, width))
    gap = [Text("")] if _lines([*body, *drawn], width) < left else []
    return [*head, *said, *body, *drawn, *gap, *last]


def _lines(parts: Sequence[RenderableType], width: int) -> int:
    """Count the lines these take."""
    console = Console(width=width, no_color=True, legacy_windows=False)
    return sum(
        1
        if isinstance(part, Text) and "\n" not in part.plain and part.cell_len <= width
        else len(console.render_lines(part, pad=False))
        for part in parts
    )


def _drawn(proof: ProofView, width: int, lang: Lang, room: int) -> list[RenderableType]:
    """The timelines that the numbers are about, or the first, if there is room for all of it."""
    if room < proof.report.ranks + _AROUND:
        return []
    every = telling(charts(proof.report.timeline, proof.report.ranks), proof)
    for some in (every, every[:1]):
        drawn = [*pictures(some, width, lang)]
        if some and _lines(drawn, width) <= room:
            return drawn
    return []


def _ending(moment: Moment, proof: ProofView, width: int) -> list[RenderableType]:
    """Say where it ran and with which numbers; then what it leaves open."""
    told: list[RenderableType] = [Text(_where(moment, proof), overflow="fold")]
    told.append(short(Text(command(proof)), width))
    left = "" if proof.judgement.reason else _open(moment, proof)
    return [*told, short(Text(left), width)] if left else told


def _where(moment: Moment, proof: ProofView) -> str:
    """With which numbers, and where: what was not run now is never said to be."""
    report, lang = proof.report, moment.lang
    made = say(
        f"glance.where_{report.origin}",
        lang,
        ranks=report.ranks,
        backend=report.backend,
        device=report.device,
        torch=report.torch,
    )
    return " · ".join(filter(None, (made, _numbers(moment, proof))))


def _numbers(moment: Moment, proof: ProofView) -> str:
    """Say whether it ran with the learner's numbers."""
    lang = moment.lang
    if not proof.bindings:
        return ""
    names = {*proof.bindings}
    used = names & taken(moment.question) if proof.own else names
    bound = setting({n: v for n, v in proof.bindings.items() if n in used})
    if proof.own:
        key = "mine" if used == names else "mine_part" if used else "mine_none"
    else:
        key = "nearest" if moment.asked.values else "set_to"
    return say(f"glance.{key}", lang, setting=bound)


def command(proof: ProofView) -> str:
    """Return the command line that shows the same run: defaults are left out."""
    report = proof.report
    given = {
        name: value
        for name, value in report.args.items()
        if name in proof.demo.parameters and value != proof.demo.parameters[name].default
    }
    typed = options(replace(report, args=given))
    planted = f" --break {report.broken}" if report.broken else ""
    return f"quizkit demo {report.demo} --ranks {report.ranks}{planted} {typed}".strip()


def _open(moment: Moment, proof: ProofView) -> str:
    """The options, points or reasons that no known run decides, by their numbers."""
    if proof.parts is None:
        return ""
    places = claimable(moment)
    which = [
        number
        for number, place in enumerate(places, start=1)
        if bearing(moment.question, proof, place, moment.lang).mark == "open"
    ]
    numbers = ", ".join(map(str, which))
    return say(f"glance.open_{proof.parts.kind}", moment.lang, which=numbers) if which else ""
