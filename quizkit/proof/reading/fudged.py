"""Arithmetic of the author between a key and what was measured: only what the words tell is fair.

A key is the measured quantity, up to factors that the learner is told, sizes of the run and units.
Any other factor, power or offset would make a wrong key fit the run as well.
"""

import ast
import math
import re
from collections.abc import Iterator
from itertools import combinations_with_replacement

from quizkit.bank.formula import Formula
from quizkit.bank.functions import is_number
from quizkit.bank.model import Numeric, Order, Question, Trace
from quizkit.lab.catalogue import Demo
from quizkit.proof.conjuncts import parts_of
from quizkit.proof.judge import key_names
from quizkit.proof.neutral import factors, terms
from quizkit.proof.reading.plainly import NUMBER
from quizkit.proof.reading.told import numbers_told, words_told
from quizkit.proof.worlds import judges, names_of, sides, value_of

Rule = tuple[str, str]

# Words that tell a number without its digits, and bytes that a type takes.
_MEANT = {
    r"twice|doubl\w+|hal(?:f|ves?|ved)|both|pairs?|k(?:eys?)? and v(?:alues?)?|times as": 2.0,
    r"tripl\w+|thirds?": 3.0, r"quarters?": 4.0, r"percent\w*|%": 100.0, r"dozens?": 12.0,
    r"fp64|float64|double precision": 8.0, r"fp32|float32": 4.0,
    r"bf16|fp16|float16": 2.0, r"days?": 86400.0, r"hours?": 3600.0, r"minutes?": 60.0,
    r"forward and backward|backward (?:at |takes )?twice": 3.0,
}  # fmt: skip
# "4 ranks" and "step 2" tell how many and which, and no factor.
_USED = re.compile(
    r"\b(?:ranks?|steps?|layers?|stages?|gpus?|nodes?|micro-batch|level|zero) \d+\b|"
    rf"{NUMBER}(?=[ -](?:\w+ )?(?:ranks?|gpus?|stages?|nodes?|steps?|layers?|micro-batch(?:es)?|"
    r"tokens?|experts?|heads?|machines?|process(?:es)?|documents?|samples?|sequences?|buckets?)\b)"
)
_BYTES = r"\b(?:bytes?|bits?|[kmgt]i?b(?:/s|it)?)\b"
_ONE_MORE = re.compile(
    r"\b(?:another|others?|extra|more|later|before|apart|beyond|besides|next|except|from [01]|"
    r"itself|least|left|gaps?|between)\b"
)
_ALL = re.compile(
    r"\b(?:all(?! ?-| ?reduce| ?gather| ?to)|together|total|totals|whole|sum|sums|every|each|"
    r"groups?|combined|add(?:s|ed)? up|per|global|model|mean)\b"
)
_COUNTS = {
    "count", "messages", "collectives", "calls", "steps", "micro-batches", "blocks", "tokens",
    "rows", "pages", "layers", "buckets", "tensors", "elements", "bytes",
}  # fmt: skip


def fudged(question: Question, demo: Demo) -> Iterator[Rule]:
    """Yield (place, message) of arithmetic that nobody is told, where no claim does without."""
    proof = question.proof
    assert proof is not None
    if isinstance(question, Order):
        yield from _turned(question, demo)
    told = _told(question, demo)
    found: dict[str, list[Rule]] = {}
    plain = set[str]()
    for index, claim in enumerate(proof.claims):
        for part in parts_of(claim.tree):
            keys = names_of(part) & key_names(question).keys()
            if not keys or not names_of(part) & demo.watch.keys():
                continue
            said = list(_arithmetic(question, part, keys, demo, told))
            for key in keys:
                found.setdefault(key, []).extend((f"proof.claims.{index}", each) for each in said)
            if not said:
                plain |= keys
    yield from dict.fromkeys(
        rule for key, rules in found.items() if key not in plain for rule in rules
    )


def _told(question: Question, demo: Demo) -> frozenset[float]:
    """The numbers that the words tell; what counts ranks or rows is called by its name instead."""
    proof = question.proof
    assert proof is not None
    words = _USED.sub(" ", words_told(question))
    told = {*numbers_told(words)}
    told |= {n for pattern, n in _MEANT.items() if re.search(rf"(?<![a-z])(?:{pattern})", words)}
    if re.search(_BYTES, f"{words} {getattr(question, 'unit', '').lower()}"):
        told.add(8.0)
    times = [p.default for n, p in demo.parameters.items() if n in ("forward", "backward")]
    if len(times) == 2 and not {"forward", "backward"} & proof.args.keys():
        told.add(float(sum(each for each in times if is_number(each))))
    return frozenset(abs(each) for each in told if each)


def _is_told(number: float, told: frozenset[float]) -> bool:
    """Tell whether it is a told number, a product or quotient of two, or one in another unit."""
    sizes = [1.0, *told]
    pairs = combinations_with_replacement(sizes, 2)
    return any(_is_unit(number / by) for a, b in pairs for by in (a * b, a / b, b / a, 1 / (a * b)))


def _is_unit(number: float) -> bool:
    """Tell whether it is a power of ten, of 1024, or one of each."""
    number = abs(number)
    return any(
        math.isclose(number * 1024.0**-k, 10.0 ** round(math.log10(number * 1024.0**-k)))
        for k in range(-4, 5)
    )


def _constant(node: ast.expr) -> float | None:
    if names_of(node) or any(isinstance(each, ast.Call) for each in ast.walk(node)):
        return None
    value = value_of(node, {})
    return float(value) if is_number(value) else None


def _arithmetic(
    question: Question,
    part: ast.expr,
    keys: frozenset[str],
    demo: Demo,
    told: frozenset[float],
) -> Iterator[str]:
    """Say what stands between the key and the measurements in one part of a claim."""
    metrics = demo.watch.keys()
    for left, right in sides(part):
        if not (names_of(left) | names_of(right)) & keys:
            continue
        chain = [*factors(left, 1), *factors(right, -1)]
        by = math.prod(
            n**sign for each, sign in chain if (n := _constant(each)) and not names_of(each)
        )
        units = {demo.watch[name].unit for each, _ in chain for name in names_of(each) & metrics}
        if not _is_told(by, told | {8.0} if units >= {"bytes", "elements"} else told):
            yield f"the words nowhere tell the factor {max(abs(by), 1 / abs(by)):g}"
        elif by != 1 and (unit := _same_unit(question, chain, demo, by)):
            yield f"{unit} are asked and {unit} were measured, with a factor {by:g} between"
        yield from _ranks(question, chain, demo, keys)
        for node in (*ast.walk(left), *ast.walk(right)):
            if not isinstance(node, ast.BinOp) or not names_of(node) & (keys | metrics):
                continue
            if isinstance(node.op, ast.Pow) and names_of(node.left) & (keys | metrics):
                power = _constant(node.right)
                if power is None or power not in told:
                    yield f"the words nowhere tell the power in `{ast.unparse(node)}`"
            elif isinstance(node.op, ast.Add | ast.Sub):
                yield from _offsets(question, node, keys, demo, told)


def _offsets(
    question: Question, node: ast.BinOp, keys: frozenset[str], demo: Demo, told: frozenset[float]
) -> Iterator[str]:
    metrics = demo.watch.keys()
    chain = [each for each, _ in terms(node, 1)]
    seen = [names for each in chain if (names := frozenset(names_of(each) & metrics))]
    if len(seen) != len({*seen}):
        yield f"`{ast.unparse(node)}` adds a measurement to a part of itself"
    measured = {demo.watch[name].unit for names in seen for name in names}
    for each in chain:
        number = _constant(each)
        if number is None:
            if isinstance(each, ast.Name) and each.id in _called(question, "ranks") and seen:
                yield f"`{ast.unparse(node)}` adds the number of ranks to what was measured"
        elif abs(number) != 1:
            if number and not _is_told(number, told):
                yield f"the words nowhere tell the {number:g} in `{ast.unparse(node)}`"
        elif measured & _COUNTS and len(chain) == 2 and not _ONE_MORE.search(words_told(question)):
            yield f"the words nowhere tell of one more or less: `{ast.unparse(node)}`"


def _called(question: Question, what: str) -> frozenset[str]:
    """The names by which a claim may call the number of ranks."""
    proof = question.proof
    assert proof is not None
    bound = {proof.ranks.source} if isinstance(proof.ranks, Formula) else set[str]()
    return frozenset({what, *bound})


def _ranks(
    question: Question, chain: list[tuple[ast.expr, int]], demo: Demo, keys: frozenset[str]
) -> Iterator[str]:
    """The number of ranks as a factor of what one rank counted, where one rank's is asked."""
    if not isinstance(question, Numeric | Trace):
        return
    ranks = _called(question, "ranks")
    power = sum(sign for each, sign in chain if isinstance(each, ast.Name) and each.id in ranks)
    measured = [each for each, _ in chain if names_of(each) & demo.watch.keys()]
    others = [
        each for each, _ in chain
        if each not in measured and not (isinstance(each, ast.Name) and each.id in keys)
        and _constant(each) is None
    ]  # fmt: skip
    if power and len(measured) == 1 and len(others) == 1 and not _ALL.search(words_told(question)):
        yield "the words nowhere tell of all ranks, and their number is a factor"


def _same_unit(question: Question, chain: list[tuple[ast.expr, int]], demo: Demo, by: float) -> str:
    """Return what is asked and was measured alike, where a bare number stands between the two."""
    if not isinstance(question, Numeric | Trace):
        return ""
    measured = {name for each, _ in chain for name in names_of(each) & demo.watch.keys()}
    named = {name for each, _ in chain for name in names_of(each)} - measured - {"answer"}
    words = question.prompt.en.lower()
    if len(measured) != 1 or named or by in {*numbers_told(words)}:
        return ""
    unit = demo.watch[measured.pop()].unit
    asked = re.search(rf"how many (?:\w+ )?{re.escape(unit)}\b", words)
    return unit if unit in _COUNTS and asked else ""


def _turned(question: Order, demo: Demo) -> Iterator[Rule]:
    """Steps that have no measurement of their own, and comparisons turned round."""
    proof = question.proof
    assert proof is not None
    steps = {step.id for step in question.steps}
    own: dict[str, str] = {}
    for index, claim in enumerate(proof.claims):
        for part in parts_of(claim.tree):
            match part:
                case ast.Compare(
                    ast.Compare(_, [one], [_]) as left,
                    [ast.Eq()],
                    [ast.Compare(_, [two], [_]) as right],
                ):
                    sided = (left, right) if names_of(left) & steps else (right, left)
                    if type(one) is not type(two) and all(
                        names_of(each) & demo.watch.keys()
                        for each in (sided[1].left, *sided[1].comparators)
                    ):
                        message = f"`{ast.unparse(part)}` turns the comparison round"
                        yield f"proof.claims.{index}", message
                case ast.Compare(left, [ast.Eq()], [right]) if not judges(left) and not judges(
                    right
                ):
                    for step in (names_of(left) | names_of(right)) & steps:
                        said = ", ".join(sorted(names_of(part) - steps))
                        if own.setdefault(said, step) != step and "[" not in ast.unparse(part):
                            message = f"`{step}` and `{own[said]}` go by the same measurement"
                            yield f"proof.claims.{index}", message
                case _:
                    pass
