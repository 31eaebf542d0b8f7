"""A proof on the screen: what ran and where, the numbers that decide, each claim tested."""

import ast
import copy
import re
from collections.abc import Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.formula import Formula, FormulaError, parse
from quizkit.bank.functions import Value
from quizkit.lab.report import Report
from quizkit.proof.judge import Judged, key_names
from quizkit.proof.setting import taken
from quizkit.proof.view import ProofView
from quizkit.tutor.asked import show_value
from quizkit.tutor.desk import Moment
from quizkit.ui.chart import Chart, charts
from quizkit.ui.demo_words import DemoWords, demo_words
from quizkit.ui.halt import halt
from quizkit.ui.inline import CODE
from quizkit.ui.parts import RIGHT, WRONG, below, colon, section
from quizkit.ui.picked import picked
from quizkit.ui.predicted import predicted
from quizkit.ui.report_screen import options, picture, state
from quizkit.words import Lang, say


def proof_screen(moment: Moment, width: int, plain: bool = False) -> list[RenderableType]:
    """The run that was made for this question."""
    proof, lang = moment.proof, moment.lang
    assert proof is not None
    words = demo_words(proof.demo, lang)
    parts = section(say("ui.proof", lang), *_setting(moment, proof, words))
    if proof.judgement.reason:
        reason = say("ui.no_decision", lang, reason=proof.judgement.reason)
        return [*parts, Text(reason, WRONG, overflow="fold")]
    # What decides comes last, as that is what a small screen still shows.
    for chart in telling(charts(proof.report.timeline, proof.report.ranks), proof):
        parts += picture(chart, width, lang)
    parts += halt(proof.report, words, lang)
    parts += _checks(proof.report, words, lang)
    parts += _metrics(proof, words, lang)
    parts += _claims(moment, proof, plain)
    parts += picked(moment, proof, plain)
    parts += predicted(moment, proof, _names(moment, proof))
    word = say("ui.proved" if proof.holds else "ui.not_proved", lang)
    return [*parts, Text(""), Text(word, RIGHT if proof.holds else WRONG)]


def telling(drawn: Sequence[Chart], proof: ProofView) -> Sequence[Chart]:
    """The charts that the deciding numbers are about: a demo may draw others for comparison."""
    words = [_words(name) for name in proof.values]
    # What comes after a comma says which part of a schedule it is: `rebuilt, sums`.
    of = [_words(each.schedule.partition(",")[0]) for each in drawn]
    named = [each for each, own in zip(drawn, of, strict=True) if any(own <= w for w in words)]
    # Nothing that was read off a clock, nothing to see on a clock: unless it is the only picture.
    clocked = any(proof.report.how.get(name) == "clocked" for name in proof.values)
    return named or (drawn if clocked or len(drawn) == 1 else ())


def _words(name: str) -> set[str]:
    """The words of a schedule's or a metric's name: `two levels` is in `time_two_level`."""
    words = re.findall(r"[a-z]+[0-9]*|[0-9]+[a-z]+", name.lower())
    return {word.removesuffix("s") for word in words}


def _setting(moment: Moment, proof: ProofView, words: DemoWords) -> list[RenderableType]:
    """Which run it was, in one line, and whether it was of the learner's own numbers."""
    report, lang = proof.report, moment.lang
    planted = f" --break {report.broken}" if report.broken else ""
    command = f"quizkit demo {report.demo} --ranks {report.ranks}{planted} {options(report)}"
    lines: list[RenderableType] = [
        Text(command.strip(), CODE, overflow="fold"),
        Text(state(report, lang), overflow="fold"),
    ]
    if report.broken:
        lines.append(Text(say("ui.broken", lang, broken=report.broken), overflow="fold"))
        lines.append(below(Text(words.breaks[report.broken], "dim", overflow="fold")))
    if proof.bindings:
        run = {*proof.bindings} & taken(moment.question) if proof.own else {*proof.bindings}
        key = "ui.own" if proof.own else "ui.nearest" if moment.asked.values else "ui.set_to"
        if run != {*proof.bindings}:  # 4096 tokens may be asked and 128 be run: that is no secret
            key = "ui.own_part" if run else "ui.own_none"
        bound = ", ".join(f"{n}={show_value(v)}" for n, v in proof.bindings.items() if n in run)
        lines.append(Text(say(key, lang, setting=bound), overflow="fold"))
    return lines


def _metrics(proof: ProofView, words: DemoWords, lang: Lang) -> list[RenderableType]:
    if not proof.values:
        return []
    lines: list[RenderableType] = []
    for name, value in proof.values.items():
        how = proof.report.how.get(name, "")
        shown = Text.assemble(f"{name} = ", (show_value(value), "bold"), overflow="fold")
        if how:
            shown.append(f"  {say(f'ui.how_{how}', lang)}", "dim")
        lines += [shown, below(Text(words.watch.get(name, ""), "dim", overflow="fold"))]
    return section(say("ui.metrics", lang), *lines)


def _claims(moment: Moment, proof: ProofView, plain: bool) -> list[RenderableType]:
    names = _names(moment, proof)
    lines: list[RenderableType] = []
    said: set[tuple[str, str]] = set()
    for judged in proof.claims:
        # A point of a rubric may rest on what is claimed already; once is enough.
        what = (str(judged.claim), judged.place if judged.role in ("right", "refuted") else "")
        if (judged.role != "trap" and what not in said) or _is_hit(moment, judged):
            said.add(what)
            lines += _claim(moment, judged, names, plain, judged.place in proof.untested)
    return section(say("ui.claims", moment.lang), *lines) if lines else []


def _claim(
    moment: Moment, judged: Judged, names: Mapping[str, Value], plain: bool, untested: bool
) -> list[RenderableType]:
    """One claim: what is said, in words whether it is so, and the same with the values put in."""
    lang = moment.lang
    truth = judged.truths[-1] if judged.truths else "error"
    word = say("ui.undecided" if truth == "error" else f"ui.{truth}", lang)
    line = Text(overflow="fold")
    line.append(word + colon(lang), RIGHT if judged.holds else WRONG)
    line.append(f"`{judged.claim}`" if plain else str(judged.claim), CODE)
    if role := _role(moment, judged, truth, untested):
        line.append(f"  {role}", "bold")
    details = [judged.error] if judged.error else put_in(judged.claim, _instead(judged, names))
    return [line, *(below(Text(each, "dim", overflow="fold")) for each in details)]


def put_in(claim: Formula, names: Mapping[str, Value]) -> list[str]:
    """The claim with the values in place of the names; then, if there is a sum to do, done."""
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
    """What a claim decides about: an option by its place on the screen, or a trap."""
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
    """Whether it is the trap the learner fell into."""
    trap = moment.verdict.trap if moment.verdict else None
    return bool(trap and judged.instead and judged.instead.source == trap.formula.source)


def _names(moment: Moment, proof: ProofView) -> dict[str, Value]:
    """Every name a claim may use and its value in this run."""
    report = proof.report
    names: dict[str, Value] = {**report.args, "ranks": report.ranks, "outcome": report.outcome}
    names |= {**proof.bindings, **proof.values}
    for name, meaning in key_names(moment.question).items():
        try:
            names[name] = meaning(names) if isinstance(meaning, Formula) else meaning
        except FormulaError:  # a name without a value stays a name
            continue
    return names


def _instead(judged: Judged, names: Mapping[str, Value]) -> Mapping[str, Value]:
    """For a trap: the names with the wrong formula's value as the answer."""
    if judged.instead is None:
        return names
    try:
        return {**names, "answer": judged.instead(names)}
    except FormulaError:
        return names


def _checks(report: Report, words: DemoWords, lang: Lang) -> list[RenderableType]:
    """What the demo checked by itself: that all holds, or what does not."""
    failing = [check for check in report.checks if not check.holds]
    if not failing:
        held = say("ui.checks_hold", lang, count=len(report.checks))
        # Checks that were made before a run hung say nothing about why it did.
        made = report.checks and report.outcome == "finished"
        return [Text(""), Text(held)] if made else []
    lines: Sequence[RenderableType] = [
        Text(
            say(
                "ui.check_fails",
                lang,
                name=words.check(check.name),
                measured=show_value(check.measured),
                relation=check.relation,
                expected=show_value(check.expected),
            ),
            overflow="fold",
        )
        for check in failing
    ]
    return [Text(""), *lines]
