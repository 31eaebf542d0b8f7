"""Settings side by side: what was measured in this run and in others that are known."""

import ast

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from quizkit.bank.model import Choice
from quizkit.proof.view import ProofView
from quizkit.proof.worlds import names_of
from quizkit.tutor.desk import Moment
from quizkit.ui.proof.bearing import bearing, claimable, setting
from quizkit.ui.proof.measurement import described, in_unit
from quizkit.ui.proof.statements import in_lines
from quizkit.ui.screens.demo_words import demo_words
from quizkit.words import Lang, listed, say

_HEAD = 2  # lines of what stands above the numbers
_MOST, _FEWEST = 4, 2  # settings; one alone has nothing to be compared with
_METRICS = 3
_NARROWEST = 14  # columns of a metric


def contrast(moment: Moment, proof: ProofView, width: int, room: int) -> list[RenderableType]:
    """Draw a small table where options speak of what changes between settings, else nothing.

    It takes `room` lines at most: fewer settings where there is less of it.
    """
    question, lang = moment.question, moment.lang
    if not isinstance(question, Choice) or not proof.beside or proof.shows:
        return []
    claims = [judged.claim for judged in proof.claims if judged.role in ("right", "refuted")]
    varying = {
        name
        for other in proof.beside
        for name, value in other.bindings.items()
        if value != proof.bindings.get(name)
    }
    spoken = {name for claim in claims for name in _conditions(claim.tree, proof)} & varying
    metrics = [name for name in proof.values if any(name in claim.names for claim in claims)]
    if not spoken or not 0 < len(metrics) <= _METRICS:
        return []
    views = _chosen(moment, proof, spoken)[: min(_MOST, room - _HEAD)]
    if len(views) < _FEWEST:
        return []
    words = demo_words(proof.demo, lang)
    changed = [n for n in proof.bindings if len({str(v.bindings.get(n)) for v in views}) > 1]
    settings = [setting({n: v.bindings[n] for n in changed if n in v.bindings}) for v in views]
    origins = listed(dict.fromkeys(say(f"glance.{v.report.origin}", lang) for v in views[1:]), lang)
    note = Text(say("glance.rows", lang, origins=origins), "dim")
    first = max(*(cell_len(line) for line in (*note.plain.split("\n"), *settings))) + 2
    wide = (width - first + 2) // len(metrics) - 2
    cells = [[_cell(view, metric, lang) for metric in metrics] for view in views]
    if wide < _NARROWEST or any(cell_len(cell) > wide for row in cells for cell in row):
        return []
    grid = Table.grid(padding=(0, 2, 0, 0))
    heads = (described(name, proof.demo, words, lang).removeprefix("of ") for name in metrics)
    grid.add_row(note, *(Text("\n".join(in_lines(head, wide, 2)), "dim") for head in heads))
    for view, name, row in zip(views, settings, cells, strict=True):
        style = "bold" if view is proof else ""
        grid.add_row(*(Text(cell, style) for cell in (name, *row)))
    return [grid]


def _conditions(claim: ast.expr, proof: ProofView) -> set[str]:
    """The names of comparisons that nothing measured is in: `slow > 1` says when, not how much."""
    found: set[str] = set()
    for node in ast.walk(claim):
        if isinstance(node, ast.Compare) and not names_of(node) & {*proof.report.metrics}:
            found |= names_of(node)
    return found


def _cell(view: ProofView, metric: str, lang: Lang) -> str:
    return in_unit(view.report.metrics.get(metric, "-"), view.demo.watch.get(metric), lang)


def _chosen(moment: Moment, proof: ProofView, spoken: set[str]) -> list[ProofView]:
    """This run, those that decide an option that it leaves open, those where one thing differs."""
    views = [proof]
    for place in claimable(moment):
        at = bearing(moment.question, proof, place, moment.lang).at
        if at is not None and at not in views:
            views.append(at)
    for other in proof.beside:
        differs = {n for n, v in other.bindings.items() if v != proof.bindings.get(n)}
        if differs & spoken and other not in views:
            views.append(other)
    return views
