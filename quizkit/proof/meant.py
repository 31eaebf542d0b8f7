"""Find measurements taken for another: an argument, one rank of many, a number only shown.

A metric that equals its arguments in every run on record supports no formula of the author; one
rank's value is not every rank's; a factor that no word tells must not decide.
"""

import ast
import math
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import combinations, product
from typing import cast

from quizkit.bank.functions import Value, is_number
from quizkit.bank.model import Choice, Cloze, Numeric, Question, Text, Trace
from quizkit.lab.catalogue import Demo
from quizkit.proof.conjuncts import decided, parts_of
from quizkit.proof.judge import key_names
from quizkit.proof.neutral import factors
from quizkit.proof.reading.claimed import last_sentence
from quizkit.proof.reading.phrase import amounts, main_clause
from quizkit.proof.said import both
from quizkit.proof.worlds import Scene, World, names_of, sides, truth_of, value_of

_PRODUCT = re.compile(r"(?:\d+ \* )?[a-z_]+(?: \* [a-z_]+)+")
_FEWEST = 4  # runs on record from which a law may be told
_EACH = re.compile(r"\b(?:does|do|did|must|can|will|at|for|on)? ?(?:every|each)(?: \d+)? "
                   r"(?:ranks?|gpus?|stages?|nodes?)\b")  # fmt: skip
_TOGETHER = re.compile(
    r"\b(?:ranks|gpus|stages|nodes)\b.{0,25}\b(?:together|altogether|in total|combined)\b|"
    r"\b(?:together|altogether|in total)\b.{0,12}\b(?:all|the|of) (?:\w+ )?(?:ranks|gpus|stages)\b"
)
_RANK = {
    "first": re.compile(r"\b(?:first|root|rank 0|stage 0)\b"),
    "last": re.compile(r"\blast\b"),
    "most": re.compile(r"\b(?:busiest|fullest|heaviest)\b"),
}
_FIRST_RANK = re.compile(r"\bfirst (?:rank|stage|gpu|node)\b|\b(?:rank|stage) 0\b")
_OF_THE_MOST = re.compile(
    r"\b(?:(?<!at )(?<!at the )most|busiest|largest|fullest|heaviest|slowest|longest)\b"
)
_LESS = re.compile(r"\b(?:fewer|less|smaller|shorter|lower|falls?|shrinks?|faster)\b")
_MORE = re.compile(r"\b(?:more|larger|longer|higher|grows?|rises?|slower)\b")


def meant(
    question: Question, scenes: Sequence[Scene], demo: Demo, seen: Sequence[World]
) -> Iterator[Text]:
    """Yield what is wrong with what the key's claims take measurements for.

    `seen` are all runs of the demo that are on record.
    """
    match question:
        case Numeric() | Trace() | Cloze():
            yield from _echoes(question, scenes, demo, seen)
            if isinstance(question, Numeric | Trace):
                yield from _whose(question, scenes, demo)
        case Choice():
            yield from _option_ranks(question, scenes)
            yield from _untold_factors(question, scenes)
            yield from _for_display(question, scenes, demo, seen)
        case _:
            pass


def _echoes(
    question: Question, scenes: Sequence[Scene], demo: Demo, seen: Sequence[World]
) -> Iterator[Text]:
    """A formula of the author's beside a metric that is its arguments, or one, in every run."""
    assert question.proof is not None
    given = [{n: v for n, v in run.items() if n in {"ranks", *demo.parameters}} for run in seen]
    for name in key_names(question):
        claims = [each.tree for each in question.proof.claims if name in each.names]
        parts = decided(claims, name, scenes[0])
        laws = [_law_alone(part, name, scenes[0], seen, given) for part in parts]
        alone = [law for law in laws if law != ""]
        if parts and alone and all(alone):
            metric, said = cast("tuple[str, str]", alone[0])
            place = f"gaps.{name}" if isinstance(question, Cloze) else "answer"
            yield both("prove.echo", place=place, metric=metric, law=said)


def _law_alone(
    part: ast.expr, key: str, scene: Scene, seen: Sequence[World], given: Sequence[World]
) -> tuple[str, str] | str | None:
    """The one metric beside a formula, and what it is in every run; None where it is measured.

    Nothing ("") where the part names no measurement.
    """
    found = {ast.unparse(each): each for each in _atoms(part, scene.measured)}
    if not found:
        return ""
    if len(found) != 1:
        return None
    ((said, atom),) = found.items()
    others = names_of(part) - {key} - scene.measured
    formula = bool(others) and _has_formula(part, atom, others)
    law = monomial(atom, seen) if formula else None
    if law is not None and (law == "1" or _adds(part, others)):
        return said, law
    # No law of the author's: then only a product of arguments is an echo, and where it is not
    # what is asked itself.
    if not formula and not any(
        isinstance(node, ast.BinOp) and names_of(node) & names_of(atom) for node in ast.walk(part)
    ):
        return None
    own = names_of(atom)
    only = [
        {**sizes, **{name: run[name] for name in own if name in run}}
        for sizes, run in zip(given, seen, strict=True)
    ]
    law = monomial(atom, only)
    return (said, law) if key == "answer" and law and _PRODUCT.fullmatch(law) else None


def _atoms(node: ast.expr, measured: frozenset[str]) -> Iterator[ast.expr]:
    match node:
        case ast.Name(name) if name in measured:
            yield node
        case ast.Subscript(ast.Name(name)) if name in measured:
            yield node
        case ast.Call(ast.Name("sum" | "max" | "min"), [ast.Name(name)]) if name in measured:
            yield node
        case _:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from _atoms(child, measured)


def _has_formula(part: ast.expr, atom: ast.expr, others: frozenset[str]) -> bool:
    """Tell whether something but the metric is held against the key."""
    said = ast.unparse(atom)
    for left, right in sides(part):
        chain = [each for each, _ in (*factors(left, 1), *factors(right, 1))]
        if any(names_of(each) & others and ast.unparse(each) != said for each in chain):
            return True
    return False


def _adds(part: ast.expr, others: frozenset[str]) -> bool:
    """Tell whether a sum of what is known stands in a part: a law, not a size."""
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add | ast.Sub)
        and names_of(node) & others
        for node in ast.walk(part)
    )


def monomial(atom: ast.expr, seen: Sequence[World]) -> str | None:
    """Return what a measurement equals in all runs on record: a constant, a product of sizes."""
    values = [(run, value_of(atom, run)) for run in seen]
    known = [(run, float(value)) for run, value in values if is_number(value)]
    if len(known) < max(_FEWEST, len(values)):
        return None
    first = known[0][1]
    if all(math.isclose(each, first, rel_tol=1e-6, abs_tol=1e-9) for _, each in known):
        return f"{first:g}"
    if any(each <= 0 for _, each in known):
        return None
    names = [
        name
        for name, value in known[0][0].items()
        if is_number(value)
        and all(is_number(size := run.get(name)) and size > 0 for run, _ in known)
        and len({float(cast("float", run[name])) for run, _ in known}) > 1
        and name not in names_of(atom)
    ]
    for count in (1, 2):
        for some in combinations(names, count):
            for powers in product((1, 2), repeat=count):
                pairs = [*zip(some, powers, strict=True)]
                rest = [
                    value / math.prod(cast("float", run[name]) ** by for name, by in pairs)
                    for run, value in known
                ]
                if all(math.isclose(each, rest[0], rel_tol=1e-6) for each in rest):
                    sizes = (name if by == 1 else f"{name}**{by}" for name, by in pairs)
                    return " * ".join([*([f"{rest[0]:g}"] if rest[0] != 1 else []), *sizes])
    return None


def _whose(question: Question, scenes: Sequence[Scene], demo: Demo) -> Iterator[Text]:
    """Another rank's number than the one that the question asks for."""
    assert question.proof is not None
    sentence = last_sentence(question)
    said = {name for name, pattern in _RANK.items() if pattern.search(sentence)}
    for index, claim in enumerate(question.proof.claims):
        if not claim.names & key_names(question).keys():
            continue
        for name, at in _picked(claim.tree, demo):
            among = [s for s in scenes if _uneven(s.values.get(name))]
            if not among:
                continue
            values = cast("list[float]", among[0].values[name])
            where = value_of(at, among[0].values) if at is not None else None
            told = ""
            if at is None and "most" in said:
                told = "the busiest is asked, and the least was measured"
            elif where == 0 and said & {"first", "last"} == {"last"}:
                told = "the last is asked, and the first was measured"
            elif (
                at is not None
                and where != 0
                and _FIRST_RANK.search(sentence)
                and "last" not in said
            ):
                told = "the first is asked, and another was measured"
            elif where in (-1, len(values) - 1) and said & {"first", "last"} == {"first"}:
                told = "the first is asked, and the last was measured"
            if told:
                yield both("prove.whose", place=f"proof.claims.{index}", metric=name, told=told)
        single = [name for name, at in _picked(claim.tree, demo) if at is not None]
        uneven = [name for name in single if any(_uneven(s.values.get(name)) for s in scenes)]
        end = _end_of_uneven(claim.tree, demo, scenes)
        if end and _EACH.search(sentence) and not _OF_THE_MOST.search(sentence):
            told = "each is asked for, they differ, and the largest or least was measured"
            yield both("prove.whose", place=f"proof.claims.{index}", metric=end, told=told)
        if _EACH.search(sentence) and uneven and not said and not _sums(claim.tree, question):
            told = "each is asked for, they differ, and one was measured"
            yield both("prove.whose", place=f"proof.claims.{index}", metric=uneven[0], told=told)
        if _TOGETHER.search(sentence) and single and not _sums(claim.tree, question):
            told = "all together are asked, and one was measured"
            yield both("prove.whose", place=f"proof.claims.{index}", metric=single[0], told=told)


def _end_of_uneven(tree: ast.expr, demo: Demo, scenes: Sequence[Scene]) -> str:
    """Return a metric of which the largest or least of all ranks is taken, where they differ."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Name("max" | "min"), [ast.Name(name)]) if name in demo.watch:
                if any(_uneven(each.values.get(name)) for each in scenes):
                    return name
            case _:
                pass
    return ""


def _sums(tree: ast.expr, question: Question) -> bool:
    proof = question.proof
    assert proof is not None
    ranks = {"ranks", getattr(proof.ranks, "source", "ranks")}
    return bool(names_of(tree) & ranks) or any(
        isinstance(each, ast.Name) and each.id == "sum" for each in ast.walk(tree)
    )


def _picked(tree: ast.expr, demo: Demo) -> Iterator[tuple[str, ast.expr | None]]:
    """Each metric of which one rank's value is taken, and which; None for the least of all."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(ast.Name(name), at) if name in demo.watch:
                if not demo.watch[name].shared:
                    yield name, at
            case ast.Call(ast.Name("min"), [ast.Name(name)]) if name in demo.watch:
                yield name, None
            case _:
                pass


def _uneven(value: Value | None) -> bool:
    return isinstance(value, list) and len({*value}) > 1


def _option_ranks(question: Choice, scenes: Sequence[Scene]) -> Iterator[Text]:
    """An option that is about every rank, and one rank's number in its claim."""
    for index, option in enumerate(question.options):
        if option.claim is None or not _EACH.search(main_clause(option.text.en)):
            continue
        tree = option.claim.tree
        subscripts = [each for each in ast.walk(tree) if isinstance(each, ast.Subscript)]
        for name in sorted(option.claim.names & scenes[0].measured):
            own = [each for each in subscripts if ast.unparse(each.value) == name]
            at = {ast.unparse(each.slice) for each in own}
            if any(ast.unparse(e.slice) in at and e not in own for e in subscripts):
                continue  # rank by rank
            bare = sum(isinstance(each, ast.Name) and each.id == name for each in ast.walk(tree))
            if len(own) == bare == 1 and any(_uneven(each.values[name]) for each in scenes):
                told = "every rank is meant, and they differ"
                place = f"options.{index}.claim"
                yield both("prove.whose", place=place, metric=ast.unparse(own[0]), told=told)


def _untold_factors(question: Choice, scenes: Sequence[Scene]) -> Iterator[Text]:
    """A wrong option that is true without a factor that no word tells."""
    for index, option in enumerate(question.options):
        if option.claim is None or option.correct:
            continue
        text = main_clause(option.text.en)
        if not (_LESS.search(text) or _MORE.search(text)) or [*amounts(text)]:
            continue
        for part in parts_of(option.claim.tree):
            match part:
                case ast.Compare(left, [ast.Lt() | ast.Gt()], [right]) if all(
                    names_of(side) and names_of(side) <= scenes[0].measured
                    for side in (left, right)
                ):
                    bare = cast("ast.expr", _Bare().visit(deepcopy(part)))
                    was = all(truth_of(part, each.values) for each in scenes)
                    if not was and all(truth_of(bare, each.values) for each in scenes):
                        place = f"options.{index}.claim"
                        yield both("prove.untold", place=place, part=ast.unparse(part))
                case _:
                    pass


class _Bare(ast.NodeTransformer):
    """Takes numbers off what they multiply or divide."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        match node:
            case ast.BinOp(ast.Constant(), ast.Mult(), inner):
                return self.visit(inner)
            case ast.BinOp(inner, ast.Mult() | ast.Div(), ast.Constant()):
                return self.visit(inner)
            case _:
                return self.generic_visit(node)


def _for_display(
    question: Choice, scenes: Sequence[Scene], demo: Demo, seen: Sequence[World]
) -> Iterator[Text]:
    """A number that the demo works out, in every claim: it would be there whatever was measured."""
    claims = [each.claim for each in question.options if each.claim]
    computed = {name for name in demo.watch.keys() - scenes[0].measured if name in scenes[0].values}
    for name in sorted(computed.intersection(*(each.names for each in claims)) if claims else ()):
        atom = ast.Name(name, ast.Load())
        if not seen or monomial(atom, seen) is None:
            yield both("prove.computed", metric=name)
