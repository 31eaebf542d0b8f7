"""The common 70, part by part: what a whole answer to each holds, and which questions state it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from quizkit.bank.build import unknown
from quizkit.bank.entry import covers_of
from quizkit.bank.listed import Listed
from quizkit.bank.model import CommonQuestion, Essay, Problem, Question
from quizkit.bank.reader import read_file
from quizkit.bank.rules import Rule

COMMON = "_common70.yaml"


@dataclass(frozen=True, slots=True)
class Covered:
    """One of the common questions, and the ids of what answers it: by part, and in all."""

    asked: CommonQuestion
    parts: Mapping[str, tuple[str, ...]]
    questions: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Tell whether nothing of it is left open."""
        return not self.open

    @property
    def open(self) -> tuple[str, ...]:
        """Return the parts that no question states."""
        return tuple(part for part, ids in self.parts.items() if not ids)


def common_questions(folder: Path, problems: list[Problem]) -> Mapping[str, CommonQuestion]:
    """Return the common questions, into whose parts `covers` points: `basics-13.order`."""
    return read_file(folder, COMMON, problems, Mapping[str, CommonQuestion]) or {}


def coverage(
    common: Mapping[str, CommonQuestion], questions: Iterable[Listed]
) -> dict[str, Covered]:
    """Return what these questions answer of each common one."""
    stating: dict[str, list[str]] = {}
    for question in questions:
        for name in dict.fromkeys([*question.covers, *(_whole(each) for each in question.covers)]):
            stating.setdefault(name, []).append(question.id)
    return {
        name: Covered(
            asked,
            {part: tuple(stating.get(f"{name}.{part}", ())) for part in asked.parts},
            tuple(stating.get(name, ())),
        )
        for name, asked in common.items()
    }


def _whole(part: str) -> str:
    return part.partition(".")[0]


def cover_problems(question: Question, common: Mapping[str, CommonQuestion]) -> Iterator[Rule]:
    """Yield what `covers` names that is not there, or that the question does not state."""
    for place, name in covers_of(question):
        whole, dot, part = name.partition(".")
        if whole not in common:
            yield place, unknown("common question", whole, common)
            continue
        parts = common[whole].parts
        if not dot:
            every = ", ".join(f"{whole}.{slug}" for slug in parts)
            yield place, f"`{name}` has parts; name those that the question states, of {every}"
        elif part not in parts:
            yield place, unknown(f"part of `{whole}`", part, parts)
        elif isinstance(question, Essay) and place.startswith("covers"):
            yield place, f"`{name}`: an essay states a part in a rubric point; give `covers` there"
