"""Judge an answer of an interview: as the tutor does, and what only interviews ask besides.

What is given, beyond the kinds of `tutor.grade`:

    written  {field: number} or [line, ...]
    bug      with "text", the reason in the candidate's words, beside "line" and "reasons"
"""

from collections.abc import Sequence

from quizkit.bank.model import Bug, Essay, Question, RubricPoint, Text
from quizkit.bank.script import WrittenTask
from quizkit.mock.written import grade_written, shown
from quizkit.tutor.asked import Asked
from quizkit.tutor.expected import expected
from quizkit.tutor.grade import grade
from quizkit.tutor.verdict import Verdict


def judge(asked: Asked, given: object) -> Verdict:
    """Return the verdict. Raises UnreadableError where what was given is no answer at all."""
    if given is None:
        return Verdict(False, 0.0, key(asked))
    if isinstance(asked.question, WrittenTask):
        return grade_written(asked.question.write, given)
    return grade(asked, given)


def key(asked: Asked) -> Text:
    """Return what should have been answered."""
    if isinstance(asked.question, WrittenTask):
        return shown(asked.question.write.example)
    return expected(asked)


def rubric(question: Question) -> Sequence[RubricPoint]:
    """Return the points that a free text is held against; of other kinds none."""
    match question:
        case Essay():
            return question.rubric
        case Bug():
            return question.reasons
        case _:
            return ()
