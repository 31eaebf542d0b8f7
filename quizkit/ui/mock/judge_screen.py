"""Draw a free text and the rubric it is held against, once no clock runs any more."""

from rich.console import Group, RenderableType
from rich.text import Text

from quizkit.bank.evidence import evidence
from quizkit.bank.model import Essay
from quizkit.mock.desk import RubricSheet
from quizkit.mock.judge import rubric
from quizkit.tutor.stem import stem
from quizkit.ui.mock.question_parts import answered_by
from quizkit.ui.screens.parts import bracketed, numbered, rule, section
from quizkit.ui.text.inline import inline
from quizkit.ui.text.markup import prose
from quizkit.words import say


def judge_screen(sheet: RubricSheet, plain: bool) -> RenderableType:
    """Draw an essay and its rubric, points first, then what must not be said, with numbers."""
    lang, question, fill = sheet.lang, sheet.asked.question, sheet.asked.fill
    wanted = rubric(question)
    points = [inline(fill(point.says, lang), plain) for point in wanted]
    for row, point in zip(points, wanted, strict=True):
        row.append(bracketed([say("mock.points", lang, points=point.points)], lang), "dim")
        if evidence(sheet.text, point.keywords):
            row.append(" *", "bold")
    false = question.vetoes if isinstance(question, Essay) else ()
    vetoes = [inline(fill(veto.says, lang), plain) for veto in false]
    for row, veto in zip(vetoes, false, strict=True):
        if evidence(sheet.text, veto.keywords):
            row.append(" *", "bold")
    title = say("mock.judge", lang, number=sheet.number, total=sheet.total)
    parts: list[RenderableType] = [Text(title, "bold", overflow="fold")]
    if not plain:
        parts.append(rule())
    parts.append(prose(stem(sheet.asked, lang).markdown(), plain))
    parts += answered_by(sheet.asked, lang, plain)
    parts += section(say("mock.your_words", lang), Text(sheet.text, "italic", overflow="fold"))
    parts += section(say("mock.judge_points", lang), numbered(points))
    if vetoes:
        asked = say("mock.judge_vetoes", lang)
        parts += section(asked, numbered(vetoes, first=len(points)))
    return Group(*parts)
