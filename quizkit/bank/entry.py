"""The facts that choosing a question takes, without the question itself."""

from collections.abc import Iterator
from typing import NamedTuple

from quizkit.bank.model import Bug, Choice, Essay, Numeric, Option, Question, RubricPoint, Text
from quizkit.bank.reading_time import asking_time, telling_time


class Entry(NamedTuple):
    """A question's line in the index. Where there are several of a thing, blanks stand between.

    `asks_` and `tells_` are seconds to read what is asked, and what is told after the answer; 0
    where nobody knows.
    """

    id: str
    topic: str
    level: int
    kind: str
    demo: str
    myths: str
    follows: str
    was: str
    tags: str = ""
    asks_zh: int = 0
    asks_en: int = 0
    tells_zh: int = 0
    tells_en: int = 0
    core: int = 0


def entry(question: Question) -> Entry:
    """Return the line of a question that was read."""
    return Entry(
        question.id,
        question.topic,
        question.level,
        question.kind,
        question.proof.demo if question.proof else "",
        " ".join(sorted({myth for _, myth in myths_of(question)})),
        " ".join(followup.ask for followup in question.followups),
        " ".join(question.was),
        " ".join(question.tags),
        *asking_time(question),
        *telling_time(question),
        int(question.core),
    )


def myths_of(question: Question) -> Iterator[tuple[str, str]]:
    """Yield (place, slug) of every misconception that the question can catch."""
    match question:
        case Choice():
            found = [
                (f"options.{i}.myth", option.myth) for i, option in enumerate(question.options)
            ]
        case Numeric():
            found = [(f"traps.{i}.myth", trap.myth) for i, trap in enumerate(question.traps)]
        case Essay():
            found = [(f"vetoes.{i}.myth", veto.myth) for i, veto in enumerate(question.vetoes)]
        case _:
            found = []
    yield from ((place, myth) for place, myth in found if myth)


def points_of(question: Question) -> Iterator[tuple[str, RubricPoint]]:
    """Yield (place, point) of everything a rubric or a bug's reasons give points for."""
    match question:
        case Essay(rubric=points):
            place = "rubric"
        case Bug(reasons=points):
            place = "reasons"
        case _:
            return
    for index, point in enumerate(points):
        yield f"{place}.{index}", point


def statements_of(question: Question) -> Iterator[tuple[str, Option | RubricPoint]]:
    """Yield (place, part) of everything that a claim may decide: options, then points."""
    if isinstance(question, Choice):
        for index, option in enumerate(question.options):
            yield f"options.{index}", option
    yield from points_of(question)


def words_of(part: Option | RubricPoint) -> Text:
    """Return what an option, a point or a reason says."""
    return part.text if isinstance(part, Option) else part.says


def covers_of(question: Question) -> Iterator[tuple[str, str]]:
    """Yield (place, name) of every part that the question states, its points' own included."""
    yield from ((f"covers.{index}", name) for index, name in enumerate(question.covers))
    for place, point in points_of(question):
        for at, name in enumerate(point.covers):
            yield f"{place}.covers.{at}", name


def parts_of(question: Question) -> tuple[str, ...]:
    """Return the parts of common questions that the question states, each once."""
    return tuple(dict.fromkeys(name for _, name in covers_of(question)))
