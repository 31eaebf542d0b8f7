"""Draw the lists of interviews: what can be taken, and what has been."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from quizkit.bank.script import Script
from quizkit.mock.attempts import Attempt
from quizkit.ui.screens.parts import RIGHT, WRONG, Flow, below
from quizkit.words import Lang, say

_NAMED = 8
"""Letters of a session: enough to tell it from the others, and to type it."""


def list_screen(scripts: Iterable[Script], lang: Lang) -> RenderableType:
    """List the interviews that can be taken."""
    parts: list[RenderableType] = [Text(say("mock.list_title", lang), "bold")]
    for script in scripts:
        questions = len(script.stations)
        probes = sum(1 for _ in script.placed()) - questions
        facts = say(
            "mock.list_facts", lang, minutes=script.minutes, questions=questions, probes=probes
        )
        heading = Text.assemble((script.slug, "bold"), f"  {script.title[lang]}", overflow="fold")
        start = say("mock.list_start", lang, script=script.slug)
        told = [Text(facts, overflow="fold"), Text(start, "dim", overflow="fold")]
        parts += [Text(""), heading, *(Padding(each, (0, 0, 0, 2)) for each in told)]
    return Group(*parts)


def history_screen(found: Sequence[Attempt], lang: Lang) -> RenderableType:
    """List the interviews that were taken, the last one first, and what changed in between."""
    if not found:
        return Text(say("mock.history_none", lang))
    parts: list[RenderableType] = []
    for each in found:
        parts += [*([Text("")] if parts else []), *_attempt(each, lang)]
    if any(each.verdict for each in found):
        parts += [Text(""), Text(say("mock.history_card", lang), "dim", overflow="fold")]
    return Group(*parts)


def _attempt(attempt: Attempt, lang: Lang) -> Iterator[RenderableType]:
    # The learner lives by the clock on the wall.
    date = attempt.at.astimezone().strftime("%Y-%m-%d %H:%M")
    title = attempt.title[lang]
    named = f"{attempt.script}  {title}" if title != attempt.script else attempt.script
    yield Text.assemble(date, "  ", (named, "bold"), overflow="fold")
    if attempt.verdict is None:
        yield below(Text(say("mock.history_open", lang), "yellow"), 2)
        return
    passed = attempt.verdict == "pass"
    word = say("card.passed" if passed else "card.failed", lang)
    overall = f"{attempt.overall:.2f} / {attempt.best:g}"
    change = attempt.change
    if change:
        overall += f" ({_signed(change.overall)})"
    verdict = Text.assemble((word, RIGHT if passed else WRONG), f"  {overall}")
    yield below(verdict.append(f"  {attempt.session[:_NAMED]}", "dim"), 2)
    pieces = list[Text]()
    for name, score in attempt.dimensions.items():
        told = f"{say(f'card.{name}', lang)} {score:.2f}"
        if change and name in change.dimensions:
            told += f" ({_signed(change.dimensions[name])})"
        pieces.append(Text(told))
    if pieces:
        yield Padding(Flow(pieces), (0, 0, 0, 2))


def _signed(change: float) -> str:
    return f"{change:+.2f}" if round(change, 2) else "="
