"""Find what the rows of `at` leave untried, although the learner is asked about it.

A law is proved where it was run. What is the same in every row could be any other number there,
and a case that no row is in could be any other law.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice

from quizkit.bank.draw import draws, show_value
from quizkit.bank.formula import Formula
from quizkit.bank.functions import Number, is_number
from quizkit.bank.model import Numeric, Proof
from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Setting
from quizkit.proof.neutral import factors, joined, terms
from quizkit.proof.setting import runs_of
from quizkit.proof.worlds import judges, names_of, value_of

Rule = tuple[str, str]
Row = Mapping[str, Number]

_DRAWS = 500  # looked at
_LONGEST = 6  # parts of a sum or product; all their subsets are tried


def untried(question: Numeric, proof: Proof, demo: Demo | None = None) -> Iterator[Rule]:
    """Yield (place, message) of what no row of `at` shows of a number's parameters."""
    different = len({tuple(sorted(row.items())) for row in proof.at})
    if question.params and different < 3:
        yield "proof.at", f"{different} different rows; a number is proved at three or more"
    runs = {*runs_of(question, demo)} if demo else set[Setting]()
    if len(runs) == 1 and len(proof.at) > 2:
        yield "proof.at", "every row makes the same run: one run bears out no law"
    numbers = [value for row in proof.at for value in row.values()]
    if question.params and not any(v != int(v) or int(v) & (int(v) - 1) for v in numbers):
        yield "proof.at", "every number is a power of two; wrong laws often agree there"
    drawn = [*islice(draws(question), _DRAWS if proof.at else 0)]
    yield from _fixed(question, proof, drawn)
    yield from _alike(proof, drawn)
    yield from _without_effect(question, proof)
    yield from _branches(question, proof, drawn)


def _fixed(question: Numeric, proof: Proof, drawn: Sequence[Row]) -> Iterator[Rule]:
    """Yield what comes to one number in every row, and to others where a learner is asked."""
    places = [("`answer`", question.answer.tree)]
    places += [("a claim", each.tree) for each in proof.claims if "answer" in each.names]
    found = set[str]()
    for place, tree in places:
        for part in _parts(tree, frozenset(question.params)):
            said = ast.unparse(part)
            values = {show_value(v) for row in proof.at if (v := value_of(part, row)) is not None}
            if len(values) != 1 or any(each in said for each in found):
                continue
            for draw in drawn:
                value = value_of(part, draw)
                if value is not None and {show_value(value)} != values:
                    found.add(said)
                    other = f"{show_value(value)} at {_said(draw)}"
                    message = f"`{said}` is in {place}: {values.pop()} in every row, and {other}"
                    yield "proof.at", message
                    break


def _parts(tree: ast.expr, params: frozenset[str]) -> Iterator[ast.expr]:
    """The parts of a formula that parameters alone decide; a name before what it is in."""
    nodes = [each for each in ast.walk(tree) if isinstance(each, ast.expr)]
    called = {id(each.func) for each in nodes if isinstance(each, ast.Call)}
    for node in reversed(nodes):
        if id(node) in called or judges(node):
            continue
        if (names := names_of(node)) and names <= params:
            yield node
        for chain, neutral in (([*terms(node, 1)], 0), ([*factors(node, 1)], 1)):
            free = [each for each in chain if names_of(each[0]) <= params]
            for size in range(2, len(free) + 1 if len(free) <= _LONGEST else 0):
                for some in combinations(free, size):
                    if len(some) < len(chain):
                        yield joined(some, neutral)


def _alike(proof: Proof, drawn: Sequence[Row]) -> Iterator[Rule]:
    """Two parameters that are equal in every row: a law with one for the other holds there too."""
    names = {name for row in proof.at for name in row} & {name for row in drawn for name in row}
    for one, other in combinations(sorted(names), 2):
        rows = [*proof.at] if len({row.get(one) for row in proof.at}) > 1 else []
        if rows and all(row.get(one) == row.get(other) for row in rows):
            apart = next((each for each in drawn if each[one] != each[other]), None)
            if apart:
                message = f"`{one}` and `{other}` are equal in every row, and not at {_said(apart)}"
                yield "proof.at", message


def _without_effect(question: Numeric, proof: Proof) -> Iterator[Rule]:
    """A parameter that decides nothing: its rows have to run with it, and show just that."""
    given = [each for each in (proof.ranks, *proof.args.values()) if isinstance(each, Formula)]
    used = {name for each in (question.answer, *proof.claims) for name in each.names}
    for name, values in question.params.items():
        if name in used or len({*values}) == 1 or not proof.at:
            continue
        varied = (
            {str(value_of(each.tree, row)) for row in proof.at}
            for each in given
            if name in each.names
        )
        if not any(len(each) > 1 for each in varied):
            message = f"`{name}` decides nothing: run it with two values, or ask without it"
            yield f"params.{name}", message


def _branches(question: Numeric, proof: Proof, drawn: Sequence[Row]) -> Iterator[Rule]:
    """A case of `answer` that a draw meets, and that no row of `at` is in."""
    shown = {each for row in proof.at for each in _taken(question.answer.tree, row)}
    for draw in drawn:
        for each in _taken(question.answer.tree, draw):
            if each not in shown:
                what, case = each
                yield "proof.at", f"`{what}` is {case} at {_said(draw)}, and in no row"
                return


def _taken(answer: ast.expr, numbers: Row) -> Iterator[tuple[str, str]]:
    """Yield what decides on a case in `answer`, and which case that is."""
    for node in ast.walk(answer):
        match node:
            case ast.IfExp(test):
                yield ast.unparse(test), str(value_of(test, numbers)).lower()
            case ast.Call(ast.Name("min" | "max"), [_, _, *_] as among):
                best = value_of(node, numbers)
                alike = [each for each in among if value_of(each, numbers) == best]
                if len(alike) == 1:  # where two are alike, either law would do
                    yield ast.unparse(node), f"`{ast.unparse(alike[0])}`"
            case ast.Call(ast.Name("floor" | "ceil" | "round"), [rounded]):
                value = value_of(rounded, numbers)
                if is_number(value) and not float(value).is_integer():
                    yield ast.unparse(rounded), "not whole"
            case _:
                pass


def _said(draw: Row) -> str:
    return ", ".join(f"{name}={value:g}" for name, value in draw.items())
