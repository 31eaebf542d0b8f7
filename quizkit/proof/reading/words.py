"""All that can be told of a question's words beside its claims, without running anything."""

from collections.abc import Iterator

from quizkit.bank.model import Question
from quizkit.lab.catalogue import Demo
from quizkit.proof.reading.beyond import beyond
from quizkit.proof.reading.fudged import fudged
from quizkit.proof.reading.margin import margins
from quizkit.proof.reading.neighbours import neighbours
from quizkit.proof.reading.plainly import plainly
from quizkit.proof.reading.tongues import tongues
from quizkit.proof.reading.variants import variants
from quizkit.proof.reading.worded import worded

_RULES = (fudged, worded, margins, plainly, beyond, neighbours, variants)


def words(question: Question, demo: Demo) -> Iterator[tuple[str, str]]:
    """Yield (place, message) of words that the claims beside them do not bear out."""
    for rule in _RULES:
        yield from rule(question, demo)
    yield from tongues(question)
