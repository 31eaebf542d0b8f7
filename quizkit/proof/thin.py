"""Find what a proof leaves unproved, as far as that can be seen without running it."""

import ast
import re
from collections.abc import Iterator, Mapping

from quizkit.bank.formula import Formula, FormulaError, parse
from quizkit.bank.functions import Number, is_number
from quizkit.bank.model import Bug, Choice, Cloze, Numeric, Order, Proof, Question, Trace
from quizkit.bank.spelt import SPELT
from quizkit.lab.catalogue import Demo
from quizkit.proof.judge import key_names, statements
from quizkit.proof.reading.words import words
from quizkit.proof.setting import rows
from quizkit.proof.units import mixed_units
from quizkit.proof.untried import untried
from quizkit.proof.worlds import names_of

Rule = tuple[str, str]

WIDEST = 0.01  # relative tolerance of a claim that decides a key: what a learner is forgiven
_LEADING = re.compile(r"[-+(]*[0-9][0-9.,]*(?:\s*(?:\*\*|[-+*/^×])\s*[(]*[0-9][0-9.,]*[)]*)*")
_WORDS = {
    **SPELT,
    **{word: number for number, word in enumerate(["零", *"一二三四五六七八九十"])},
    "两": 2,
    "once": 1,
    "single": 1,
    "twice": 2,
    "double": 2,
    "翻倍": 2,
    "half": 0.5,
    "一半": 0.5,
    "半": 0.5,
    "减半": 0.5,
    "dozen": 12,
    "一打": 12,
    "hundred": 100,
    "百": 100,
    "一百": 100,
}
_NOTHING = {"no", "none", "nothing", "没有"}
_FIRST = re.compile(
    "|".join(
        rf"(?<![a-z]){word}(?![a-z])" if word.isascii() else word
        for word in sorted(_WORDS, key=len, reverse=True)
    )
)


def thin_proof(question: Question, demos: Mapping[str, Demo] | None = None) -> Iterator[Rule]:
    """Yield (place, message) of what a proof leaves unproved; with the demos, of its words too."""
    demos = demos or {}
    proof = question.proof
    if proof is None:
        if not question.sources:
            yield "", "needs a `proof` or `sources`"
        return
    yield from mixed_units(question)
    if isinstance(question, Numeric):
        if not any("answer" in claim.names for claim in proof.claims):
            yield "proof.claims", "no claim names `answer`"
        yield from untried(question, proof, demos.get(proof.demo))
    if isinstance(question, Choice):
        for index, option in enumerate(question.options):
            if option.correct and option.claim is None:
                yield f"options.{index}", "a correct option carries `claim:` when there is a proof"
    if isinstance(question, Cloze):
        yield from _shown(question, proof)
    yield from _wide(question, proof)
    yield from _held_down(proof)
    demo = demos.get(proof.demo)
    if demo is not None:
        yield from words(question, demo)
    # Code is shown with its bug; whoever is only told of it has to be told.
    if proof.broken and not isinstance(question, Bug | Trace) and "break" not in proof.said:
        yield "proof.break", "quote the words that tell of the bug: `said: {break: ...}`"
    named = {name for _, _, claim, _ in statements(question) for name in claim.names}
    if isinstance(question, Order) and question.after is not None:
        bound = {*question.after, *(each for before in question.after.values() for each in before)}
        for step in question.steps:
            if step.id not in bound:
                yield (
                    "after",
                    f"`{step.id}` may stand anywhere: bind it to a step, or drop it",
                )
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
            if _number(gap.answer.en) is None and _number(gap.answer.zh) is None:
                break  # a word, for which a number stands in claims
            numbers = {text: _number(text) for text in texts}
            wrong = [t for t, n in numbers.items() if n is not None and not _same(n, value)]
            unread = [text for text, n in numbers.items() if n is None]
            if unread and len(unread) < len(texts):
                yield f"gaps.{name}", f"`{min(unread)}` is no number, and {value:g} is proved"
            if wrong:
                yield f"gaps.{name}", f"shows `{min(wrong)}`, and {value:g} is what is proved"
                break


def _number(text: str) -> Number | None:
    """The number that a gap's text begins with, or is the word for; a unit may follow."""
    word = text.strip().lower()
    if word in _NOTHING:
        return 0
    leading = _LEADING.match(word)
    if leading is None:
        first = _FIRST.search(word)
        return _WORDS[first[0]] if first else None
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


def _held_down(proof: Proof) -> Iterator[Rule]:
    """Ranks held down, which make a wrong key fit the run."""
    if isinstance(proof.ranks, Formula):
        for node in ast.walk(proof.ranks.tree):
            if isinstance(node, ast.Call):
                yield "proof.ranks", f"`{ast.unparse(node)}`: a row runs on the ranks that it says"
