"""The end of a session: what was done, what to look at again, when to come back."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from quizkit.tutor.asked import Asked
from quizkit.tutor.desk import Summary
from quizkit.tutor.stem import stem
from quizkit.tutor.tally import Tally
from quizkit.ui.screens.explain_screen import named
from quizkit.ui.screens.parts import below, colon, pairs, section, short
from quizkit.ui.text.inline import inline
from quizkit.words import Lang, say

_BAR = 20  # columns
_ENOUGH = 5  # questions; of fewer, a share says nothing about a topic


def summary_screen(summary: Summary) -> RenderableType:
    """Say in a few lines, none a reproach, what has ended, how it went, then what comes."""
    lang = summary.lang
    parts: list[RenderableType] = [Text(""), Text(_ended(summary), "bold", overflow="fold")]
    if summary.mistaken:
        parts += section(say("ui.end_mistaken", lang), Again(summary.mistaken, lang))
    sure = {each.question.id for each in summary.mistaken}
    if others := [each for each in summary.wrong if each.question.id not in sure]:
        parts += section(say("ui.end_wrong", lang), Again(others, lang))
    if summary.myths:
        ranked = sorted(summary.myths.items(), key=lambda each: (-each[1], each[0]))
        met = [
            below(Text.assemble(named(myth, summary.names, lang), f" × {n}"), 2)
            for myth, n in ranked
        ]
        parts += section(say("ui.end_myths", lang), *met)
    rows = [
        (topic, _strength(tally, lang))
        for topic, tally in sorted(summary.strength.items())
        if tally.questions >= _ENOUGH
    ]
    if rows:
        parts += section(say("ui.end_strength", lang), pairs(rows))
    ending = [say("ui.end_kept", lang)]
    if summary.spared:
        ending.append(say("ui.end_spared", lang, count=summary.spared))
    elif summary.due_now:
        ending.append(say("ui.end_due", lang, count=summary.due_now))
    elif summary.next_due:
        date = summary.next_due.astimezone().date().isoformat()
        ending.append(say("ui.end_next", lang, date=date))
    full_stop = "。" if lang == "zh" else ". "
    return Group(*parts, Text(""), Text(full_stop.join(ending), overflow="fold"))


def _strength(tally: Tally, lang: Lang) -> Text:
    """Draw how much of a topic is remembered by tomorrow, as a bar and in words."""
    share = tally.remembered / tally.questions
    full = max(1, round(_BAR * share)) if tally.remembered else 0
    told = {"percent": round(100 * share), "met": tally.met, "questions": tally.questions}
    return Text.assemble(("#" * full, "cyan"), ("." * (_BAR - full), "dim")).append(
        "  " + say("ui.end_strength_of", lang, **told), "not dim"
    )


def _ended(summary: Summary) -> str:
    """Say that the day or what was asked for is done, or the learner left; and how it went."""
    lang = summary.lang
    if summary.stopped:
        ended = say("ui.end_stopped", lang)
    else:
        ended = say("ui.end_day" if summary.spared else "ui.end_all", lang)
    facts: list[str] = []
    # That nothing was answered is no news where the day's share was done before.
    if summary.answered or not (summary.spared or summary.skipped):
        facts.append(say("ui.end_answered", lang, answered=summary.answered, right=summary.right))
    if summary.skipped:
        facts.append(say("ui.end_skipped", lang, skipped=summary.skipped))
    if summary.answered:
        facts.append(say("ui.end_time", lang, minutes=max(1, round(summary.seconds / 60))))
    comma = "，" if lang == "zh" else ", "
    return colon(lang).join([ended, comma.join(facts)] if facts else [ended])


class Again:
    """Questions by their first words, as an id alone says little; the id beside it can be typed.

    A line each: how much fits on it only the console knows.
    """

    def __init__(self, wrong: Sequence[Asked], lang: Lang) -> None:
        self._ids = [asked.question.id for asked in wrong]
        prompts = [stem(asked, lang).prompt for asked in wrong]
        self._words = [inline(prompt.strip().split("\n\n")[0]) for prompt in prompts]

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Lines no wider than the console, each with as many words as its id leaves room for."""
        for name, words in zip(self._ids, self._words, strict=True):
            line = short(words, options.max_width - 4 - cell_len(name))
            yield Text.assemble("  ", line, "  ", (name, "dim"), overflow="fold")
