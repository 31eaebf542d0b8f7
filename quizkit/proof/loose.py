"""Find parts of a key that hang on nothing measured, although every claim is true.

The recorded runs are held against the key again with their numbers changed. A number has to follow
what was measured; an option, a point or a claim has to be false of some other report, and a wrong
option's claim true of one.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence

from quizkit.bank.functions import Value
from quizkit.bank.model import Cloze, Numeric, Order, Question, Text, Trace
from quizkit.lab.catalogue import Demo
from quizkit.proof.conjuncts import lenient, parts_of, strict, without_slack
from quizkit.proof.exact import exact
from quizkit.proof.jointly import before, loose_together, ordered, places
from quizkit.proof.judge import BoundRun, Role, key_names, scope, statements
from quizkit.proof.meant import meant
from quizkit.proof.messages import where
from quizkit.proof.number import loose_number
from quizkit.proof.points import loose_points
from quizkit.proof.said import both
from quizkit.proof.worlds import Scene, Search, World, names_of, truth_of

_SENTINEL = ("index", "rank")


def loose(
    question: Question, runs: Sequence[BoundRun], demo: Demo, seen: Sequence[World] = ()
) -> Iterator[Text]:
    """Yield what is wrong with each part of a key that what was measured does not hold.

    `seen` are the runs of the demo that are on record.
    """
    scenes = [scene(question, run, demo) for run in runs]
    for place, role, claim, replaced in statements(question):
        if not replaced:
            yield from _claim(question, place, role, claim.tree, scenes)
    match question:
        case Numeric() | Trace() | Cloze():
            for name in key_names(question):
                yield from loose_number(question, name, scenes)
        case Order():
            yield from _order(question, scenes)
        case _:
            pass
    yield from loose_points(question, scenes)
    yield from loose_together(question, scenes)
    yield from meant(question, scenes, demo, seen)
    yield from exact(question, runs)


def scene(question: Question, run: BoundRun, demo: Demo) -> Scene:
    """Return what a question's claims mean by their names in a run, and which were measured."""
    how = run.report.how
    measured = {name for name in run.report.metrics if how.get(name) != "computed"}
    if question.proof and question.proof.broken:
        measured.add("outcome")
    compared = frozenset(name for name in measured if how.get(name) == "compared")
    # An index says with -1 that there is none.
    below = frozenset(name for name, each in demo.watch.items() if each.unit in _SENTINEL)
    return Scene(scope(question, run, demo), frozenset(measured), compared, below, where(run))


def _claim(
    question: Question, place: str, role: Role, claim: ast.expr, scenes: Sequence[Scene]
) -> Iterator[Text]:
    if role == "refuted":
        false = [each for each in scenes if truth_of(claim, each.values) is False]
        if false and not any(Search(each).find(claim, True) for each in false):
            yield both("prove.loose_never", place=place, claim=ast.unparse(claim))
        return
    keys = {*key_names(question)}
    # What the key is compared with is looked at from the key.
    parts = [part for part in parts_of(claim) if not names_of(part) & keys]
    for part in parts:
        if any(
            truth_of(without_slack(part, each.measured), each.values) is False for each in scenes
        ):
            yield both("prove.loose_slack", place=place, part=ast.unparse(part))
            return
        if not any(Search(each).find(part, False) for each in scenes):
            measured = any(names_of(part) & each.measured for each in scenes)
            key = "prove.loose_always" if measured else "prove.loose_unmeasured"
            yield both(key, place=place, part=ast.unparse(part))
            return
    if parts and not any(
        Search(each, near=True).find(part, False) for part in parts for each in scenes
    ):
        yield both("prove.loose_lax", place=place, part=ast.unparse(parts[0]))


def _order(question: Order, scenes: Sequence[Scene]) -> Iterator[Text]:
    assert question.proof is not None
    ids = [step.id for step in question.steps]
    claims = [part for each in question.proof.claims for part in parts_of(each.tree)]
    for first, second in ordered(question):
        swapped = places(ids, before(ids, first, second))
        named = [each for each in claims if names_of(each) & {first, second, "order"}]
        if not any(_decides(claim, swapped, each) for claim in named for each in scenes):
            yield both("prove.loose_order", first=first, second=second)


def _decides(claim: ast.expr, swapped: Mapping[str, Value], run: Scene) -> bool:
    """Tell whether the claim is true of this order here, and of the other in another report."""
    other = {**run.values, **swapped}
    if truth_of(claim, other) is not False:
        return False
    if not all(truth_of(each(claim, run.measured), run.values) for each in (strict, lenient)):
        return False  # what was measured is alike, and comes in no order
    keyed = {name: run.values[name] for name in swapped}
    found = Search(run).worlds(claim, True, other)
    return any(truth_of(claim, {**each, **keyed}) is False for each in found)
