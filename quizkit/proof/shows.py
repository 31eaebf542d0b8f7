"""Say what would have been seen if an answer held, and what was, with the run's numbers.

Authors write it as `shows` beside a claim: `if so 2,176 B would be sent; {sent[0]} were`. In braces
stands a formula over the names of the proof. Of traps, gaps and steps the sentence is made here.
"""

from collections.abc import Iterator, Mapping

from quizkit.bank.build import unknown
from quizkit.bank.draw import show_value
from quizkit.bank.entry import statements_of
from quizkit.bank.formula import Formula, FormulaError, parse, unknown_names
from quizkit.bank.functions import Value
from quizkit.bank.model import Numeric, Question, Text
from quizkit.bank.places import places, put
from quizkit.lab.catalogue import Demo
from quizkit.proof.judge import key_names
from quizkit.proof.setting import rows
from quizkit.words import say


def shows_problems(question: Question, demos: Mapping[str, Demo]) -> Iterator[tuple[str, str]]:
    """Yield (place, message) of each `shows` no run can fill, or that shows nothing measured."""
    demo = demos.get(question.proof.demo) if question.proof else None
    for place, text, claim in _written(question):
        place = f"{place}.shows"
        if claim is None or demo is None:
            yield place, "`shows` says what a run showed of a claim: give a `claim:`"
            continue
        sides = [places(text.zh), places(text.en)]
        if sides[0] != sides[1]:
            yield (
                place,
                f"zh and en show different numbers: {', '.join(sorted(sides[0] ^ sides[1]))}",
            )
        known = {*demo.watch, *demo.parameters, *key_names(question), *rows(question)[0]}
        known |= {"ranks", "outcome"}
        measured = False
        for source in sorted(sides[0] | sides[1]):
            try:
                formula = parse(source)
            except FormulaError as error:
                yield place, f"`{{{source}}}`: {error}"
                continue
            measured = measured or bool(formula.names & demo.watch.keys())
            for name in unknown_names(formula, known):
                yield place, unknown("name", name, known)
        if not measured:
            yield place, f"shows no number that was measured; {demo.name} measures {_some(demo)}"


def written(
    question: Question, names: Mapping[str, Value]
) -> tuple[dict[str, Text], dict[str, FormulaError]]:
    """Return the sentences of the question by the place of their claims; and by their own place,
    what is wrong with those that this run cannot fill: a proof fails by them, a screen goes
    without.
    """
    found: dict[str, Text] = {}
    wrong: dict[str, FormulaError] = {}
    for place, text, _ in _written(question):
        try:
            found[f"{place}.claim"] = Text(_filled(text.zh, names), _filled(text.en, names))
        except FormulaError as error:
            wrong[f"{place}.shows"] = error
    return found, wrong


def generated(
    question: Question,
    names: Mapping[str, Value],
    measured: Value | None,
    keyed: Mapping[str, Value],
) -> dict[str, Text]:
    """Return the sentences of traps, by the place of the trap's formula, and of gaps and steps."""
    part = "steps" if question.kind == "order" else "gaps"
    found = {f"{part}.{name}": _said("study.shows", was=value) for name, value in keyed.items()}
    if isinstance(question, Numeric) and measured is not None:
        for index, trap in enumerate(question.traps):
            try:
                value = trap.formula.number(names)
            except FormulaError:
                continue
            found[f"traps.{index}.formula"] = _said("study.shows_if", be=value, was=measured)
    return found


def _written(question: Question) -> Iterator[tuple[str, Text, Formula | None]]:
    for place, each in statements_of(question):
        if each.shows:
            yield place, each.shows, each.claim


def _filled(text: str, names: Mapping[str, Value]) -> str:
    return put(text, lambda source: show_value(parse(source)(names))).strip()


def _said(key: str, **values: Value) -> Text:
    shown = {name: show_value(value) for name, value in values.items()}
    return Text(say(key, "zh", **shown), say(key, "en", **shown))


def _some(demo: Demo) -> str:
    return ", ".join(sorted(demo.watch)[:6])
