"""Gaps as they were filled in, and steps as they were put, beside what the run measured of each."""

import re

from rich.cells import cell_len, chop_cells
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from quizkit.bank.draw import show_value
from quizkit.bank.functions import is_number
from quizkit.bank.model import Cloze, Order
from quizkit.proof.view import ProofView
from quizkit.tutor.desk import Moment
from quizkit.tutor.typed import gap_number
from quizkit.ui.proof.predicted import off
from quizkit.ui.screens.parts import RIGHT, WRONG, colon, short
from quizkit.ui.terminal.draft import Draft
from quizkit.ui.text.inline import inline
from quizkit.words import say

_GAP = re.compile(r"\[\[(\w+)\]\]")
_STOP = re.compile(r"[。，；：！？、]|[.,;:!?](?= |$)")
_WIDE = 42  # columns of the words around a gap


def filled(moment: Moment, proof: ProofView, plain: bool) -> list[RenderableType]:
    """Show what this run tells of what was asked; nothing where it tells nothing in numbers."""
    match moment.question:
        case Cloze() as question if proof.keyed:
            return _gaps(moment, proof, question)
        case Order() as question if proof.keyed:
            return _steps(moment, proof, question, plain)
        case _:
            return []


def _gaps(moment: Moment, proof: ProofView, question: Cloze) -> list[RenderableType]:
    """Every gap by its place in the text; some are beyond what a run can measure."""
    given, lang = Draft(moment.given), moment.lang
    rows = _columns("", say("ui.you_said", lang), say("ui.measured", lang))
    around = _around(question.text[lang])
    for number, name in enumerate(question.gaps, start=1):
        typed = str(given.parts.get(name, given.text)).strip()
        said = gap_number(question, typed)
        if name in proof.keyed:
            measured = proof.keyed[name]
            shown = Text(show_value(measured), "bold", overflow="fold")
            if said is not None and is_number(measured):
                shown.append(f"  {off(said, measured, lang)}", "not bold")
        else:
            shown = Text(say("ui.gap_unmeasured", lang), "dim", overflow="fold")
        clause = around.get(name, "__")
        label = say("ui.gap", lang, number=number)
        label += f"{colon(lang)}{clause}" if clause != "__" else ""
        label = short(inline(label, True), _WIDE)
        rows.add_row(label, Text(typed or "-", overflow="fold"), shown)
    return [Text(""), rows]


def _around(text: str) -> dict[str, str]:
    """Map each gap to the clause it stands in, up to the gaps beside it."""
    pieces = _GAP.split(" ".join(text.split()))
    found: dict[str, str] = {}
    for at in range(1, len(pieces), 2):
        before = _STOP.split(pieces[at - 1])[-1].lstrip()
        if cell_len(before) > _WIDE // 3:  # what the gap itself stands with says most
            before = "…" + chop_cells(before[::-1], _WIDE // 3)[0][::-1].lstrip()
        after = _STOP.split(pieces[at + 1])[0].rstrip()
        found[pieces[at]] = f"{before}__{after}"
    return found


def _steps(moment: Moment, proof: ProofView, question: Order, plain: bool) -> list[RenderableType]:
    """The learner's order; what the run measured of it rises, or not."""
    lang, key = moment.lang, [step.id for step in question.steps]
    texts = {step.id: moment.asked.fill(step.text, lang) for step in question.steps}
    mine = Draft(moment.given).steps
    order = mine or key
    title = say("ui.your_order" if mine else "ui.step_right", lang)
    rows = _columns("", title, say("ui.measured", lang))
    for number, step in enumerate(order, start=1):
        value = Text(show_value(proof.keyed[step]), "bold")
        rows.add_row(Text(f"{number})", "bold"), inline(texts[step], plain), value)
    parts: list[RenderableType] = [Text(""), rows]
    if mine and _rises(proof, key):
        rises = _rises(proof, mine)
        word = say("ui.order_rises" if rises else "ui.order_differs", lang)
        parts += [Text(""), Text(word, RIGHT if rises else WRONG, overflow="fold")]
    return parts


def _rises(proof: ProofView, order: list[str]) -> bool:
    values = [value for value in map(proof.keyed.get, order) if is_number(value)]
    return len(values) == len(order) and values == sorted(values)


def _columns(*titles: str) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in titles:
        grid.add_column(overflow="fold")
    grid.add_row(*(Text(title, "dim") for title in titles))
    return grid
