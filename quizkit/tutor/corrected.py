"""Correct an answer that is already written down: each time with a further row."""

from dataclasses import replace

from quizkit.answer import Card
from quizkit.bank.model import Cloze, Essay, Numeric, Question, Trace
from quizkit.tutor.desk import Command
from quizkit.tutor.memory import LEECH
from quizkit.tutor.record import Recorder
from quizkit.tutor.sitting import Sitting
from quizkit.tutor.verdict import Note
from quizkit.words import Lang

_SPELT = (Numeric, Cloze, Trace, Essay)
"""What is answered in the learner's own words or figures, which may have been misread."""


def disputable(question: Question, given: object) -> bool:
    """Tell whether "I was right" makes sense: something was typed, so it may have been misread."""
    return isinstance(question, _SPELT) and given is not None


def corrected(recorder: Recorder, sitting: Sitting, command: Command) -> bool:
    """Carry out a command about the verdict; True where it changes what is remembered."""
    assert sitting.row
    assert sitting.verdict
    match command.name:
        case "why":
            sitting.why = not sitting.why
        case "say":
            sitting.say = not sitting.say
        case "full":
            sitting.full = not sitting.full
        case "grade" if command.value in (1, 2, 3, 4):
            sitting.row = recorder.grade(sitting.row, int(str(command.value)))
            return True
        case "right" if sitting.row.right:
            sitting.message = ("study.right_already", {})
        case "right" if not disputable(sitting.question, sitting.given):
            sitting.message = ("study.right_exact", {})
        case "right":
            sitting.row = recorder.right(sitting.row)
            # The notes said what was missing.
            verdict = replace(sitting.verdict, right=True, score=1.0, notes=())
            sitting.verdict = replace(verdict, myth=None, trap=None)
            sitting.message = ("study.you_were_right", {})
            return True
        case _:
            pass
    return False


def stuck(sitting: Sitting, card: Card | None) -> Note | None:
    """Return a note where the same question was forgotten again and again, else None."""
    if card is None or card.lapses < LEECH or sitting.verdict is None or sitting.verdict.right:
        return None
    return "study.leech", {"lapses": card.lapses, "topic": sitting.question.topic}


def flagged(recorder: Recorder, sitting: Sitting, command: Command, lang: Lang) -> None:
    """Say that something is wrong with the question, or take that back."""
    if sitting.flag:
        recorder.undo(sitting.flag)
        sitting.flag, sitting.message = None, ("study.unflagged", {})
        return
    text = command.value if isinstance(command.value, str) else ""
    sitting.flag = recorder.flag(sitting.asked, lang, text, sitting.given)
    sitting.message = ("study.flagged", {})
