"""Claims on the screen: what is said, whether it is so, and the same with the values put in."""

import ast
import copy
from collections.abc import Mapping

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.draw import show_value
from quizkit.bank.formula import Formula, FormulaError, parse
from quizkit.bank.functions import Value
from quizkit.bank.model import Cloze, Order
from quizkit.proof.judge import Judged
from quizkit.proof.view import ProofView
from quizkit.tutor.desk import Moment
from quizkit.ui.screens.parts import RIGHT, WRONG, below, colon, section, short
from quizkit.ui.text.inline import CODE, inline
from quizkit.words import Lang, say

_LONGEST = 40  # columns of a step's words inside a claim


def claims(
    moment: Moment, proof: ProofView, names: Mapping[str, Value], plain: bool
) -> list[RenderableType]:
    """List every claim once, and whether it is so; `names` have their values in this run."""
    spelt = _spelt(moment)
    lines: list[RenderableType] = []
    said: set[tuple[str, str]] = set()
    for judged in proof.claims:
        # A point of a rubric may rest on what is claimed already; once is enough.
        what = (str(judged.claim), judged.place if judged.role in ("right", "refuted") else "")
        if (judged.role != "trap" and what not in said) or _is_hit(moment, judged):
            said.add(what)
            shown = in_words(judged.claim, spelt)
            lines.append(_claim(moment, judged, shown, plain, judged.place in proof.untested))
            error, values = judged.error, _instead(judged, names)
            details = [error[moment.lang]] if error else put_in(judged.claim, values)
            if judged.place in proof.shows:
                lines.append(below(inline(proof.shows[judged.place][moment.lang], plain)))
            lines += [below(Text(each, "dim", overflow="fold")) for each in details]
    return section(say("ui.claims", moment.lang), *lines) if lines else []


def _claim(moment: Moment, judged: Judged, shown: str, plain: bool, untested: bool) -> Text:
    """Return a claim, in words whether it is so, and what that decides."""
    lang = moment.lang
    truth = judged.truths[-1] if judged.truths else "error"
    word = say("ui.undecided" if truth == "error" else f"ui.{truth}", lang)
    line = Text(overflow="fold")
    line.append(word + colon(lang), RIGHT if judged.holds else WRONG)
    line.append(f"`{shown}`" if plain else shown, CODE)
    if role := _role(moment, judged, truth, untested):
        line.append(f"  {role}", "bold")
    return line


def _spelt(moment: Moment) -> Mapping[str, str]:
    """Map the key's own names, which stand on no screen, to words the learner knows them by."""
    question, lang = moment.question, moment.lang
    match question:
        case Cloze():
            known = enumerate(question.gaps, start=1)
            return {name: say("ui.gap_name", lang, number=number) for number, name in known}
        case Order():
            texts = {step.id: moment.asked.fill(step.text, lang) for step in question.steps}
            return {step: _quoted(text, lang) for step, text in texts.items()}
        case _:
            return {}


def _quoted(text: str, lang: Lang) -> str:
    words = short(Text(text.replace("`", "")), _LONGEST).plain
    return f"“{words}”" if lang == "zh" else f'"{words}"'


def in_words(claim: Formula, spelt: Mapping[str, str]) -> str:
    """Write the claim with words in place of the names that have some."""
    if not claim.names & {*spelt}:
        return str(claim)
    tree = copy.deepcopy(claim.tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = spelt.get(node.id, node.id)
    return ast.unparse(tree)


def put_in(claim: Formula, names: Mapping[str, Value]) -> list[str]:
    """Write the claim with values in place of names; then, if there is a sum to do, done."""
    shown = [str(claim)]
    for done in (False, True):
        text = ast.unparse(_Values(names, done).visit(copy.deepcopy(claim.tree)))
        if text != shown[-1]:
            shown.append(text)
    return shown[1:]


class _Values(ast.NodeTransformer):
    """Puts values in. What makes one number of a list, which stands above and is long, is its
    value at once; what is left of arithmetic only if it is to be `done`."""

    def __init__(self, names: Mapping[str, Value], done: bool) -> None:
        self._names = names
        self._done = done

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return _as_read(self._names[node.id]) if node.id in self._names else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return _as_read(node.value) if isinstance(node.value, float) else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return self._value(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        return self._value(node) if self._done else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        judges = isinstance(node.func, ast.Name) and node.func.id in ("isclose", "all_equal")
        if not judges:
            return self._value(node)
        return ast.Call(node.func, [self.visit(arg) for arg in node.args], node.keywords)

    def _value(self, node: ast.expr) -> ast.AST:
        try:
            return _as_read(parse(ast.unparse(node))(self._names))
        except FormulaError:
            return self.generic_visit(node)


def _as_read(value: Value) -> ast.AST:
    # A name may hold any text, so this shows the value as it should be read.
    return ast.Name(repr(value) if isinstance(value, str) else show_value(value), ast.Load())


def _role(moment: Moment, judged: Judged, truth: str, untested: bool) -> str:
    """Say what a claim decides about: an option by its place on the screen, or a trap."""
    lang = moment.lang
    if judged.role == "trap":
        return say("ui.trap_refuted", lang) if truth == "false" else ""
    if judged.role not in ("right", "refuted"):
        return ""
    option = moment.asked.order.index(int(judged.place.split(".")[1])) + 1
    if untested:
        return say("ui.untested", lang, option=option)
    if judged.role == "refuted":
        return say("ui.refuted" if truth == "false" else "ui.unrefuted", lang, option=option)
    return say("ui.option_holds" if truth == "true" else "ui.option_fails", lang, option=option)


def _is_hit(moment: Moment, judged: Judged) -> bool:
    """Tell whether it is the trap the learner fell into."""
    trap = moment.verdict.trap if moment.verdict else None
    return bool(trap and judged.instead and judged.instead.source == trap.formula.source)


def _instead(judged: Judged, names: Mapping[str, Value]) -> Mapping[str, Value]:
    """For a trap: the names with the wrong formula's value as the answer."""
    if judged.instead is None:
        return names
    try:
        return {**names, "answer": judged.instead(names)}
    except FormulaError:
        return names
