"""What a proof leaves unproved, as far as that can be seen without running it."""

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import islice

from quizkit.bank.draw import draws
from quizkit.bank.formula import FormulaError, parse
from quizkit.bank.functions import Number, is_number
from quizkit.bank.model import Choice, Cloze, Numeric, Order, Proof, Question, Trace
from quizkit.proof.judge import key_names, statements
from quizkit.proof.setting import rows
from quizkit.proof.worlds import names_of, value_of

Rule = tuple[str, str]

WIDEST = 0.01  # relative tolerance of a claim that decides a key: what a learner is forgiven
_DRAWS = 500  # looked at for the cases of an answer
_LEADING = re.compile(r"[-+(]*[0-9][0-9.,]*(?:\s*(?:\*\*|[-+*/^×])\s*[(]*[0-9][0-9.,]*[)]*)*")
_WORDS = {
    word: number
    for words in (
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ],
        ["零", *"一二三四五六七八九十"],
    )
    for number, word in enumerate(words)
} | {"两": 2, "none": 0, "once": 1, "twice": 2}


def thin_proof(question: Question) -> Iterator[Rule]:
    """(place, message) of what a proof leaves unproved."""
    proof = question.proof
    if proof is None:
        if not question.sources:
            yield "", "needs a `proof` or `sources`"
        return
    if isinstance(question, Numeric):
        yield from _thin_number(question, proof)
    if isinstance(question, Choice):
        for index, option in enumerate(question.options):
            if option.correct and option.claim is None:
                yield f"options.{index}", "a correct option carries `claim:` when there is a proof"
    if isinstance(question, Cloze):
        yield from _shown(question, proof)
    yield from _wide(question, proof)
    named = {name for _, _, claim, _ in statements(question) for name in claim.names}
    if isinstance(question, Order) and not named & set(key_names(question)):
        yield "proof.claims", "no claim names a step, or `order`"
    if isinstance(question, Cloze):
        for name in question.gaps:
            if name not in named:
                yield f"gaps.{name}", f"no claim names `{name}`"
    if isinstance(question, Trace) and not any("answer" in c.names for c in proof.claims):
        yield "proof.claims", "no claim names `answer`"
    if not proof.claims and not any(True for _ in statements(question)) and proof.broken is None:
        yield "proof.claims", "nothing is claimed"


def _thin_number(question: Numeric, proof: Proof) -> Iterator[Rule]:
    if not any("answer" in claim.names for claim in proof.claims):
        yield "proof.claims", "no claim names `answer`"
    different = len({tuple(sorted(row.items())) for row in proof.at})
    if question.params and different < 3:
        yield "proof.at", f"{different} different rows; a number is proved at three or more"
    for name in sorted(question.answer.names & set(question.params)):
        run = {row[name] for row in proof.at if name in row}
        if len(run) == 1 and run != {*question.params[name]}:
            yield "proof.at", f"`{name}` is in `answer`, and is {run.pop():g} in every row"
    numbers = [value for row in proof.at for value in row.values()]
    if question.params and not any(v != int(v) or int(v) & (int(v) - 1) for v in numbers):
        yield "proof.at", "every number is a power of two; wrong laws often agree there"
    yield from _branches(question, proof)


def _branches(question: Numeric, proof: Proof) -> Iterator[Rule]:
    """A case of `answer` that a draw meets, and that no row of `at` is in."""
    shown = {each for row in proof.at for each in _taken(question.answer.tree, row)}
    for drawn in islice(draws(question), _DRAWS if proof.at else 0):
        for each in _taken(question.answer.tree, drawn):
            if each not in shown:
                what, case = each
                said = ", ".join(f"{name}={value:g}" for name, value in drawn.items())
                yield "proof.at", f"`{what}` is {case} at {said}, and in no row"
                return


def _taken(answer: ast.expr, numbers: Mapping[str, Number]) -> Iterator[tuple[str, str]]:
    """What decides on a case in `answer`, and which case that is."""
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


def _shown(question: Cloze, proof: Proof) -> Iterator[Rule]:
    """A gap whose `value` is proved, and whose text says another number."""
    for name, gap in question.gaps.items():
        if gap.value is None:
            continue
        given = {"ranks": proof.ranks, **proof.args}
        known = {each: value for each, value in given.items() if is_number(value)}
        for row in rows(question):
            try:
                value = gap.value.number({**known, **row})
            except FormulaError:
                yield f"gaps.{name}.value", "may use arguments and rows of `at`, and no metric"
                break
            texts = {gap.answer.zh, gap.answer.en, *gap.also}
            wrong = [t for t in texts if (n := _number(t)) is not None and not _same(n, value)]
            if wrong:
                yield f"gaps.{name}", f"shows `{min(wrong)}`, and {value:g} is what is proved"
                break


def _number(text: str) -> Number | None:
    """The number that a gap's text begins with, or is the word for; a unit may follow."""
    word = text.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    leading = _LEADING.match(word)
    if leading is None:
        return None
    plain = leading[0].replace(",", "").replace("^", "**").replace("×", "*")
    try:
        return parse(plain).number({})
    except FormulaError:
        return None


def _same(shown: Number, value: Number) -> bool:
    return abs(shown - value) <= WIDEST / 2 * abs(value)


def _wide(question: Question, proof: Proof) -> Iterator[Rule]:
    """A tolerance within which more than one answer is right."""
    keys = set(key_names(question))
    for index, claim in enumerate(proof.claims):
        for node in ast.walk(claim.tree):
            if not isinstance(node, ast.Call) or not names_of(node) & keys:
                continue
            for keyword in node.keywords:
                match keyword:
                    case ast.keyword("rel" | "abs", ast.Constant(int() | float() as by)):
                        if keyword.arg == "rel" and by > WIDEST:
                            message = f"rel={by:g} on the key; {WIDEST:g} at most"
                            yield f"proof.claims.{index}", message
                    case ast.keyword("rel" | "abs"):
                        message = f"`{keyword.arg}` on the key is a number written out"
                        yield f"proof.claims.{index}", message
                    case _:
                        pass
