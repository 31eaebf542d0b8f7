"""The facts that a list says of a question."""

from dataclasses import dataclass

from quizkit.bank.draw import with_numbers
from quizkit.bank.entry import parts_of
from quizkit.bank.model import Choice, Question, Text


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of a list. `title` is the prompt's first line, with the numbers of one draw."""

    id: str
    topic: str
    level: int
    kind: str
    several: bool
    tags: tuple[str, ...]
    covers: tuple[str, ...]
    proof: str | None
    core: bool
    prompt: Text
    title: Text


def listed(question: Question) -> Listed:
    """Return the line of a question that was read."""
    prompt = question.prompt
    return Listed(
        question.id,
        question.topic,
        question.level,
        question.kind,
        isinstance(question, Choice) and question.several,
        question.tags,
        parts_of(question),
        question.proof.demo if question.proof else None,
        question.core,
        prompt,
        Text(_first(question, prompt.zh), _first(question, prompt.en)),
    )


def _first(question: Question, prompt: str) -> str:
    return with_numbers(question, prompt).strip().split("\n")[0]
