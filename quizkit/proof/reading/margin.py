"""Find words that say more than their claim: which rank, how far apart, what is counted in what.

A claim of one rank's number bears out no word about another; that one number is below another
bears out no "far below"; and bits, bytes and elements are never alike.
"""

import ast
import re
from collections.abc import Iterator

from quizkit.bank.entry import statements_of, words_of
from quizkit.bank.formula import Formula
from quizkit.bank.functions import is_number
from quizkit.bank.model import Numeric, Option, Question, Text
from quizkit.lab.catalogue import Demo
from quizkit.proof.neutral import factors
from quizkit.proof.reading.phrase import amounts, main_clause
from quizkit.proof.worlds import names_of, sides, value_of

Rule = tuple[str, str]


def margins(question: Question, demo: Demo) -> Iterator[Rule]:
    """Yield (place, message) of words that say more than their claim."""
    for place, part in statements_of(question):
        if part.claim is None:
            continue
        text = words_of(part)
        yield from _ranks(f"{place}.claim", text, part.claim, demo)
        if not isinstance(part, Option) or part.correct:
            yield from _far(f"{place}.claim", text, part.claim)
    yield from _sizes(question, demo)


_WHO = r"(?:stage|rank|gpu|node|process)"
_WHICH = re.compile(rf"\b(?:(first|last) {_WHO}|(?:rank|stage) (\d+))\b")


def _ranks(place: str, text: Text, claim: Formula, demo: Demo) -> Iterator[Rule]:
    """A rank that the text names, and only others in its claim."""
    picked = {
        (ast.unparse(node.slice), value_of(node.slice, {}))
        for node in ast.walk(claim.tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in demo.watch
        and not demo.watch[node.value.id].shared
    }
    if len(picked) != 1 or re.search(r"\bothers?\b", text.en.lower()):
        return
    way, at = picked.pop()
    last = at == -1 or way.endswith(" - 1")
    if not (last or isinstance(at, int)):
        return
    typed = {*_typed(claim.tree)} - {0}
    said = list[str]()
    for found in _WHICH.finditer(main_clause(text.en)):
        said.append(found[0])
        which = int(found[2]) if found[2] else -1 if found[1] == "last" else 0
        # `[3]` may be the last of four, and stage 1 the first where they are counted from 1.
        same = {-1}
        if isinstance(at, int) and not last:
            same = {at, -1 if at else 0, at + ("stage" in found[0])}
        if which in same | typed:
            return
    if said:
        yield place, f"the words tell of the {' and the '.join(said)}, and the claim of [{way}]"


_COMPARED = (
    r"(?:more|less|fewer|larger|smaller|bigger|longer|shorter|higher|lower|slower|faster|worse)"
)
_FAR = re.compile(
    rf"\b(?:far|much|vastly|hugely|many times|orders? of magnitude) {_COMPARED}\b|"
    r"\borders? of magnitude\b|\b(?:nearly|almost) (?:all|nothing|none|no|free|the whole)\b|"
    r"\bnegligibl\w+|\ba (?:tiny|small|large|huge) (?:share|fraction|part)\b|"
    r"\b(?:dwarf|dominat)\w*|\bmost of (?:the|its|their)\b|\b(?:hardly|barely)\b|\bby far\b|"
    r"\b(?:drastically|massively|overwhelmingly|many times)\b"
)


def _far(place: str, text: Text, claim: Formula) -> Iterator[Rule]:
    """Far less is said, and just less claimed."""
    words = main_clause(text.en)
    far = _FAR.search(words)
    if far and not [*amounts(words)] and "outcome" not in claim.names and not _margin(claim.tree):
        yield place, f"`{far[0]}` is said, and how far is not in `{claim}`"


def _margin(claim: ast.expr) -> bool:
    """Tell whether a claim has a number in it by which things are apart."""
    apart = {*_typed(claim)} - {0, 1}
    return bool(apart) or any(isinstance(node, ast.Eq) for node in ast.walk(claim))


def _typed(claim: ast.AST) -> Iterator[float]:
    """Yield the numbers that stand in a claim, those of a place in a list aside."""
    if isinstance(claim, ast.Constant) and is_number(claim.value):
        yield claim.value
    for node in ast.iter_child_nodes(claim):
        if not (isinstance(claim, ast.Subscript) and node is claim.slice):
            yield from _typed(node)


_COUNTED = {
    "bits": re.compile(r"\b(?:how many|number of|of how many|in) (?:\w+ )?bits\b"),
    "bytes": re.compile(r"\b(?:how many|number of|in) (?:\w+ )?bytes\b"),
    "elements": re.compile(r"\b(?:how many|number of) (?:\w+ )?(?:elements|numbers|values)\b"),
}


def _sizes(question: Question, demo: Demo) -> Iterator[Rule]:
    """Bits are asked and bytes were measured as they are, or another such pair."""
    proof = question.proof
    if not isinstance(question, Numeric) or proof is None:
        return
    asked = question.prompt.en.lower()
    said = {name for name, pattern in _COUNTED.items() if pattern.search(asked)}
    if question.unit.lower() in _COUNTED:
        said = {question.unit.lower()}
    for index, claim in enumerate(proof.claims):
        for left, right in sides(claim.tree):
            chain = [each for each, _ in (*factors(left, 1), *factors(right, -1))]
            measured = {name for each in chain for name in names_of(each) & demo.watch.keys()}
            others = [each for each in chain if not names_of(each) & {*measured, "answer"}]
            units = {demo.watch[name].unit for name in measured}
            if "answer" not in claim.names or len(units) != 1 or len(said) != 1 or others:
                continue
            if (unit := units.pop()) in _COUNTED and unit not in said:
                message = f"{said.pop()} are asked, and {unit} were measured"
                yield f"proof.claims.{index}", message
                return
