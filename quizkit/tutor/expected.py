"""The right answer of an asking, as it is shown."""

from quizkit.bank.draw import show_number
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order, Text, Trace
from quizkit.tutor.asked import Asked
from quizkit.words import say


def expected(asked: Asked) -> Text:
    """Return what should have been given, in both languages."""
    match asked.question:
        case Choice(options=options):
            right = [option.text for option in options if option.correct]
            return Text("；".join(t.zh for t in right), "; ".join(t.en for t in right))
        case Numeric(unit=unit):
            number = show_number(asked.answer())
            if unit == "x":  # the one unit that is another word in Chinese
                return Text(f"{number} 倍", f"{number} x")
            return _same(f"{number} {unit}".strip())
        case Order(steps=steps):
            texts = [step.text for step in steps]
            return Text(" → ".join(t.zh for t in texts), " → ".join(t.en for t in texts))
        case Cloze(gaps=gaps):
            answers = [gap.answer for gap in gaps.values()]
            return Text(" · ".join(t.zh for t in answers), " · ".join(t.en for t in answers))
        case Trace(answer=answer):
            if isinstance(answer, tuple):
                return _same("[" + ", ".join(map(show_number, answer)) + "]")
            return _same(show_number(answer))
        case Bug():
            return _lines(asked)
        case Essay(rubric=rubric):
            says = [point.says for point in rubric]
            return Text("\n".join(t.zh for t in says), "\n".join(t.en for t in says))
        case _:
            raise AssertionError(asked.question.kind)


def _same(text: str) -> Text:
    return Text(text, text)


def _lines(asked: Asked) -> Text:
    code = asked.code
    if code is None:
        raise TypeError(f"{asked.question.id} is a bug and was asked without its code")
    shown = [(n, code.lines[n - 1].strip()) for n in sorted(code.changed)]
    return Text(
        "\n".join(say("study.line", "zh", line=n, code=text) for n, text in shown),
        "\n".join(say("study.line", "en", line=n, code=text) for n, text in shown),
    )
