"""Conditions of a run that no word of the question names: what the key says holds without them too.

A key may hang on a mask, a layout or on there being a single rank only where the learner is told.
So the proof is run again with another value of each condition that the words leave out.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from quizkit.bank.formula import Formula
from quizkit.bank.functions import Number, Scalar, is_number
from quizkit.bank.model import Bug, Numeric, Proof, Question, Text
from quizkit.lab.catalogue import Demo, Parameter
from quizkit.proof.reading.plainly import asked, tells, told_of
from quizkit.proof.reading.told import numbers_told, words_told
from quizkit.proof.said import both
from quizkit.proof.setting import rows, setting

_NOT = r"\b(?:no|not|non|nothing|without|never|un)\b[ -]?(?:\w+ ){0,2}"
# Of a size: where laws that differ agree; any other only scales the run.
_DEGENERATE = (1, 2)
_TRIED = 2  # values of one condition: beside it, and where laws that agree there part
_LARGEST = 64  # told of a size that is run
_ODD = (3, 6, 5)  # numbers of ranks; the first that the demo does not refuse decides


@dataclass(frozen=True, slots=True)
class Unsaid:
    """A condition that no word names, and the same proof with other values of it, to be tried.

    The first `tried` that the demo does not refuse decide.
    """

    name: str
    value: Scalar
    others: tuple[Question, ...]
    tried: int = 1

    @property
    def what(self) -> Text:
        """Say what to do about a key that hangs on it."""
        shown = str(self.value).lower() if isinstance(self.value, bool) else self.value
        return both("prove.unsaid", name=self.name, value=shown)


def unsaid(question: Question, demos: Mapping[str, Demo]) -> Iterator[Unsaid]:
    """Yield every condition of a proof's first run that the words leave out.

    Code that is shown with its bug is left aside: it is read as it stands.
    """
    proof = question.proof
    demo = demos.get(proof.demo) if proof else None
    if proof is None or demo is None or isinstance(question, Bug):
        return
    words = words_told(question)
    first = replace(proof, at=proof.at[:1])
    yield from _ranks(question, first, words)
    for name, given in proof.args.items():
        parameter = demo.parameters.get(name)
        if parameter is None or (name in proof.said and tells(question, parameter)):
            continue
        if isinstance(given, Formula):
            yield from _bound(question, first, given, words)
        elif given == parameter.default and name not in demo.regime and not _is_price(parameter):
            continue
        elif not _says(words, parameter, given):
            yield _other(question, first, parameter, given)
        elif is_number(given) and (told := _told_otherwise(question, parameter, given)):
            tried = [replace(first, args={**first.args, name: each}) for each in told]
            yield Unsaid(name, given, _each(question, tried))
    for name, parameter in demo.parameters.items():
        default = parameter.default
        if name in {*proof.args, *proof.said, "seed"} or parameter.kind not in ("int", "float"):
            continue
        if not default or not is_number(default) or default not in numbers_told(words):
            yield _other(question, first, parameter, default)


def _ranks(question: Question, first: Proof, words: str) -> Iterator[Unsaid]:
    """One or two ranks, or a power of two in every row: what holds there may hold nowhere else."""
    proof = question.proof
    if proof is None or re.search(r"powers? of (two|2)", words):
        return
    run = {setting(question, row).ranks for row in rows(question)}
    if _ranks_told(proof.said.get("ranks", "").lower(), run):
        return
    # "One" and "two" are in many texts: of ranks only a quotation is believed.
    if not run & {*_DEGENERATE} and run <= {*numbers_told(words)}:
        return
    if all(each & (each - 1) == 0 for each in run):
        tried = [replace(first, ranks=each) for each in _ODD]
        if isinstance(proof.ranks, Formula):
            name = proof.ranks.source
            if not first.at or name not in first.at[0]:
                return
            tried = [replace(first, at=({**first.at[0], name: each},)) for each in _ODD]
        yield Unsaid("ranks", " or ".join(map(str, sorted(run))), _each(question, tried))


_WHO = re.compile(
    r"\b(?:ranks?|gpus?|cards?|process\w*|stages?|nodes?|machines?|devices?|replicas?|workers?|"
    r"shards?|members?|copies|[tpdce]p)\b"
)


def _ranks_told(said: str, run: Collection[int]) -> bool:
    """Tell whether a quotation tells of the ranks; a number of something else does not."""
    numbers = {*numbers_told(said)}
    return bool(said) and (_WHO.search(said) is not None or not numbers or bool(numbers & {*run}))


def _is_price(parameter: Parameter) -> bool:
    """Tell whether it is a time, a price or a spread, or something left out by default."""
    return parameter.kind == "float" or (parameter.kind == "int" and parameter.default == 0)


def _other(question: Question, first: Proof, parameter: Parameter, value: Scalar) -> Unsaid:
    near = _near(parameter, value)
    tried = [replace(first, args={**first.args, parameter.name: each}) for each in near]
    return Unsaid(parameter.name, value, _each(question, tried), _TRIED)


def _told_otherwise(question: Question, parameter: Parameter, value: Number) -> list[int]:
    """The numbers that the words say before an option's name, and the run has not."""
    if parameter.kind != "int":
        return []
    told = told_of(asked(question), parameter.name)
    return [] if value in told else sorted(each for each in told if 1 < each <= _LARGEST)


def _bound(question: Question, first: Proof, given: Formula, words: str) -> Iterator[Unsaid]:
    """An argument that every row binds to one and the same degenerate size."""
    name = given.source
    if isinstance(question, Numeric) or question.proof is None or not first.at:
        return
    value = first.at[0].get(name)
    if value not in _DEGENERATE or value in numbers_told(words):
        return
    if all(row.get(name) == value for row in question.proof.at):
        tried = [replace(first, at=({**first.at[0], name: each},)) for each in _beyond(value)]
        yield Unsaid(name, value, _each(question, tried))


def _each(question: Question, proofs: Sequence[Proof]) -> tuple[Question, ...]:
    return tuple(replace(question, proof=proof) for proof in proofs)


def _says(words: str, parameter: Parameter, value: Scalar) -> bool:
    if isinstance(value, bool):
        name = parameter.name.replace("_", "[ _-]?")
        denied = re.search(rf"{_NOT}{name}|{name} ?= ?false", words)
        return denied is not None if not value else re.search(name, words) is not None
    if is_number(value):
        only_scales = value not in _DEGENERATE and not _is_price(parameter)
        return only_scales or value in numbers_told(words)
    if value == "none":
        return re.search(rf"{_NOT}{parameter.name}", words) is not None
    return re.sub(r"[ _-]", "", str(value)) in re.sub(r"[ _-]", "", words)


def _near(parameter: Parameter, value: Scalar) -> Sequence[Scalar]:
    if isinstance(value, bool):
        return [not value]
    if is_number(value):
        usual = parameter.default
        return [*([usual] if usual != value else []), *_beyond(value)]
    return [each for each in parameter.choices if each != value]


def _beyond(value: Number) -> Sequence[Number]:
    if not value:
        return [0.5, 1] if isinstance(value, float) else [1, 2]
    return [value + 1, 2 * value]
