"""Gather what a question tells the learner into one English text: its conditions' words."""

from quizkit.bank.model import Choice, Cloze, Essay, Order, Question


def words_told(question: Question) -> str:
    """Return prompt, conditions, and what is chosen from, filled or claimed, in small letters."""
    texts = [*question.asks]
    match question:
        case Choice():
            texts += [option.text for option in question.options]
        case Order():
            texts += [step.text for step in question.steps]
        case Cloze():
            texts.append(question.text)
        case Essay():
            texts += [point.says for point in question.rubric]
        case _:
            pass
    return " ".join(" ".join(text.en for text in texts).lower().split())
