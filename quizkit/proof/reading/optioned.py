"""Options whose words and claims part: amounts, what is called equal, more, fewer, or denied."""

import ast
import re
from collections.abc import Iterator

from quizkit.bank.functions import is_number
from quizkit.bank.model import Choice
from quizkit.lab.catalogue import Demo
from quizkit.proof.conjuncts import parts_of
from quizkit.proof.reading.phrase import amounts, apart, has, known, main_clause, says, stems
from quizkit.proof.worlds import judges, names_of, sides

Rule = tuple[str, str]

_SAME = re.compile(
    r"\b(?:the same(?! (?:code|seed|batch|node|machine|data))|equal|unchanged|neither|alike|"
    r"as (?:many|much|large|long|fast|often|far)|identical|no (?:change|difference))\b"
)
_UNEQUAL = re.compile(r"\b(?:more|grows?|rises?|increases?|fewer|less|falls?|shrinks?|halves?)\b")
_NOT = re.compile(r"\b(?:not?|nothing|never|cannot|twice|half|times|third|longer)\b|n't\b")


def worded_options(question: Choice, demo: Demo) -> Iterator[Rule]:
    """Yield (place, message) of an option that says another thing than its claim."""
    yield from _options(question, demo)
    yield from _denied(question, demo)
    yield from _turned_round(question, demo)
    yield from _languages(question)


def _options(question: Choice, demo: Demo) -> Iterator[Rule]:
    """Amounts and equalities that an option says, and its claim does not."""
    told = {*amounts(" ".join(text.en for text in question.asks))}
    world = known(question, demo)
    for index, option in enumerate(question.options):
        if option.claim is None or "outcome" in option.claim.names:
            continue
        place, claim = f"options.{index}.claim", option.claim.tree
        text = main_clause(option.text.en)
        said = [each for each in amounts(text) if each not in told]
        equal = [_is_equal(part) for part in parts_of(claim)]
        for amount in said if option.correct else ():
            if not has(amount, claim, world):
                yield place, f"the option says {amount:g}, and its claim does not: `{option.claim}`"
        if said or _NOT.search(text):
            continue
        if option.correct and _SAME.search(text) and not any(equal):
            yield (
                place,
                f"the option says that it is alike, and nothing is equal in `{option.claim}`",
            )
        elif (
            option.correct
            and _UNEQUAL.search(text)
            and not _SAME.search(text)
            and all(equal)
            and not any(isinstance(each, ast.BinOp) for each in ast.walk(claim))
            and not any(judges(side) for pair in sides(claim) for side in pair)
        ):
            yield place, f"the option says more or less, and `{option.claim}` that it is equal"
        elif _SAME.search(text) and all(equal) and len(equal) == 1 and _factors(claim):
            by = next(iter(_factors(claim)))
            if (
                by % 1
                and by not in told
                and all(names_of(s) & demo.watch.keys() for s in next(iter(sides(claim))))
            ):
                yield place, f"the option says that it is alike, and its claim {by:g} times"


def _is_equal(part: ast.expr) -> bool:
    """Tell whether a part says that two things are equal, or apart by nothing."""
    match part:
        case ast.Compare(_, [ast.Eq() | ast.NotEq()], [_]):
            return True
        case ast.Compare(_, [ast.Lt() | ast.Gt()], [ast.Constant(float() | int() as by)]):
            return abs(by) <= 0.02
        case ast.Compare(_, [ast.LtE() | ast.GtE()], _):
            return True
        case ast.Call(ast.Name("isclose" | "all_equal" | "all" | "any")) | ast.Name():
            return True
        case ast.UnaryOp(ast.Not(), inner):
            return _is_equal(inner)
        case ast.BoolOp(_, parts):
            return any(_is_equal(each) for each in parts)
        case _:
            return False


def _factors(claim: ast.expr) -> list[float]:
    """The numbers by which something is multiplied in a claim, or divided."""
    return [
        float(side.value)
        for node in ast.walk(claim)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)
        for side in (node.left, node.right)
        if isinstance(side, ast.Constant) and is_number(side.value)
    ]


def _turned_round(question: Choice, demo: Demo) -> Iterator[Rule]:
    """`A keeps more`, where the claim says that it is B which does."""
    for index, option in enumerate(question.options):
        text = main_clause(option.text.en)
        more, less = _MORE.search(text), _LESS.search(text)
        if option.claim is None or bool(more) is bool(less) or _NOT.search(text):
            continue
        for part in parts_of(option.claim.tree):
            match part:
                case ast.Compare(left, [ast.Lt() | ast.Gt() as op], [right]):
                    pair = [next(iter(names_of(s)), "") for s in (left, right)]
                    parts = apart(*pair) if {*pair} <= demo.watch.keys() else None
                    if parts is None or any(each.isdigit() for each in parts):
                        continue
                    # Of "less than the whole", it is not the whole that is less.
                    named = [says(text.split(" than ")[0], each) for each in parts]
                    first_is_more = isinstance(op, ast.Gt)
                    if named[0] != named[1] and (named[0] is bool(more)) is not first_is_more:
                        message = f"the option says it the other way round than `{option.claim}`"
                        yield f"options.{index}.claim", message
                case _:
                    pass


_MORE = re.compile(r"\b(?:more|larger|longer|higher|bigger)\b")
_LESS = re.compile(r"\b(?:fewer|less|smaller|shorter|lower)\b")


def _languages(question: Choice) -> Iterator[Rule]:
    """An option that is alike in one language, and half or twice in the other."""
    for index, option in enumerate(question.options):
        zh, en = option.text.zh, main_clause(option.text.en)
        alike, halved = re.search("不变|一样|相同", zh), re.search("减半|一半|翻倍|加倍", zh)
        same, said = _SAME.search(en), [*amounts(en)]
        if (halved and not alike and same and not said) or (
            alike and not halved and "倍" not in zh and said and not same
        ):
            yield f"options.{index}.text", "zh and en say different amounts"


def _denied(question: Choice, demo: Demo) -> Iterator[Rule]:
    """`A, not B`, where the claim says that it is B which differs."""
    for index, option in enumerate(question.options):
        found = re.search(r"^(.+?),? (?:not|rather than|instead of) (.+)$", option.text.en.lower())
        if found is None or option.claim is None or not option.correct:
            continue
        said, denied = stems(found[1]), stems(found[2])
        equal = dict[bool, frozenset[str]]({True: frozenset(), False: frozenset()})
        for part in parts_of(option.claim.tree):
            names = names_of(part)
            if len(names) > 1 and names <= demo.watch.keys():
                equal[_is_equal(part)] |= stems(" ".join(names).replace("_", " "))
        if said & equal[True] and denied & equal[False] and not said & equal[False]:
            yield f"options.{index}.claim", f"the option denies what `{option.claim}` says"
