"""The end of a session: what was done, what to look at again, when to come back."""

from rich.console import Group, RenderableType
from rich.text import Text

from quizkit.tutor.desk import Summary
from quizkit.ui.explain_screen import named
from quizkit.ui.parts import below, section
from quizkit.words import say


def summary_screen(summary: Summary) -> RenderableType:
    """A few lines, none of them a reproach."""
    lang = summary.lang
    facts: list[str] = []
    if summary.answered or not summary.spared:  # nothing was asked if the day's share was done
        facts.append(say("ui.end_answered", lang, answered=summary.answered, right=summary.right))
    if summary.skipped:
        facts.append(say("ui.end_skipped", lang, skipped=summary.skipped))
    if summary.answered:
        facts.append(say("ui.end_time", lang, minutes=max(1, round(summary.seconds / 60))))
    comma = "，" if lang == "zh" else ", "
    parts: list[RenderableType] = []
    if facts:
        parts += [Text(""), Text(comma.join(facts), "bold", overflow="fold")]
    if summary.wrong:
        wrong = [Text(f"  {each}", overflow="fold") for each in summary.wrong]
        parts += section(say("ui.end_wrong", lang), *wrong)
    if summary.myths:
        ranked = sorted(summary.myths.items(), key=lambda each: (-each[1], each[0]))
        met = [
            below(Text.assemble(named(myth, summary.names, lang), f" × {n}"), 2)
            for myth, n in ranked
        ]
        parts += section(say("ui.end_myths", lang), *met)
    coming: list[str] = []
    if summary.spared:
        coming.append(say("ui.end_spared", lang, count=summary.spared))
    elif summary.due_now:
        coming.append(say("ui.end_due", lang, count=summary.due_now))
    elif summary.next_due:
        date = summary.next_due.astimezone().date().isoformat()
        coming.append(say("ui.end_next", lang, date=date))
    ending = [say("ui.end", lang), *coming]
    full_stop = "。" if lang == "zh" else ". "
    return Group(*parts, Text(""), Text(full_stop.join(ending), overflow="fold"))
