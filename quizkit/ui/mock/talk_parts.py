"""The talk with the interviewer on the page: what can be had, and what was given so far."""

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.script import BEST
from quizkit.mock.desk import Talk
from quizkit.mock.marks import HINT_COSTS
from quizkit.mock.timer import face
from quizkit.tutor.stem import fenced
from quizkit.ui.screens.parts import Anchored, below, colon, pairs, section
from quizkit.ui.text.markup import prose
from quizkit.words import Lang, say


def on_request(talk: Talk, lang: Lang, lines: bool) -> list[RenderableType]:
    """List what the interviewer gives who asks, each with its price, by what is typed for it."""
    begins = ":" if lines else ""
    rows: list[tuple[str, str]] = []
    if talk.more_hints:
        price = {"price": f"{HINT_COSTS * BEST:g}", "best": f"{BEST:g}"}
        rows.append(("h", say("mock.had_hints", lang, count=talk.more_hints, **price)))
    for number, seen in enumerate(talk.looks, start=1):
        told = {"name": seen.look.name[lang], "takes": face(seen.seconds)}
        key = "mock.had_look" if seen.exhibit is None else "mock.had_seen"
        rows.append((f"{number}", say(key, lang, **told)))
    rows.append(("n …", say("mock.had_note", lang)))
    rows.append(("…", say("mock.had_facts" if talk.asks else "mock.had_question", lang)))
    title = say("mock.had_lines" if lines else "mock.had", lang)
    shown = [(begins + key, Text(what, overflow="fold")) for key, what in rows]
    return section(title, pairs(shown))


def given(talk: Talk, lang: Lang, plain: bool, since: Talk | None = None) -> list[RenderableType]:
    """Draw what was given: hints, records, facts, notes; with `since` only what came after it."""
    since = since or Talk()
    parts: list[RenderableType] = []
    total = len(talk.hints) + talk.more_hints
    for number, hint in enumerate(talk.hints[len(since.hints) :], start=1 + len(since.hints)):
        title = say("mock.hint", lang, number=number, total=total)
        parts.append(Anchored(f"hint {number}", *section(title, prose(hint, plain))))
    before = opened(since)
    for number, seen in enumerate(talk.looks, start=1):
        if seen.exhibit is not None and seen.look.id not in before:
            title = say("mock.look", lang, number=number, name=seen.look.name[lang])
            shown = prose(fenced(seen.exhibit), plain)
            parts.append(Anchored(f"look {seen.look.id}", *section(title, shown)))
    # Facts of one question alone come and go with it; those that stay are told once.
    said = [
        Anchored(f"told {number}", prose(f"{asks}{colon(lang)}{answer}", plain))
        for number, (asks, answer) in enumerate(talk.told, start=1)
        if (asks, answer) not in since.told
    ]
    if said:
        parts += section(say("mock.told", lang), *said)
    noted = [
        Anchored(f"note {number}", below(Text(each, overflow="fold"), by=2))
        for number, each in enumerate(talk.notes, start=1)
        if number > len(since.notes)
    ]
    if noted:
        parts += section(say("mock.notes", lang), *noted)
    return parts


def opened(talk: Talk) -> frozenset[str]:
    """Return the ids of the records that were looked at."""
    return frozenset(seen.look.id for seen in talk.looks if seen.exhibit is not None)


def news(before: Talk, now: Talk) -> str:
    """Return the anchor of what has come since; nothing where nothing has."""
    if len(now.hints) > len(before.hints):
        return f"hint {len(now.hints)}"
    if fresh := opened(now) - opened(before):
        return f"look {min(fresh)}"
    if told := [n for n, each in enumerate(now.told, start=1) if each not in before.told]:
        return f"told {told[0]}"
    return f"note {len(now.notes)}" if len(now.notes) > len(before.notes) else ""
