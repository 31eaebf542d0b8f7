"""Cut out the code that a question shows: what its proof will run, with the bug it plants."""

from quizkit.bank.model import Bug, Question, Trace
from quizkit.lab.catalogue import find
from quizkit.lab.excerpt import Excerpt, excerpt


def code_of(question: Question) -> Excerpt | None:
    """Return the function that a `trace` or a `bug` shows; of other kinds None."""
    if not isinstance(question, Trace | Bug):
        return None
    assert question.proof is not None
    return excerpt(find(question.proof.demo), question.function, question.proof.broken)
