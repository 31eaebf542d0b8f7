"""Write a scorecard as Markdown: the answers, and nothing else of who gave them."""

import re
from collections.abc import Iterator, Sequence

from quizkit.mock.kept_card import KeptCard
from quizkit.ui.mock.card_page import card_page
from quizkit.ui.mock.card_parts import Bullet, CardPart, Meter, Remark, Reply, ReplyRow
from quizkit.ui.screens.parts import colon
from quizkit.words import Lang

_BAR = 20
_SIGNS = re.compile(r"[\\`*_{}\[\]<>#$|~]")
_LOUD = ("bad", "good", "strong")


def card_markdown(card: KeptCard, lang: Lang) -> str:
    """Return the whole card as one text."""
    first, *others = card_page(card, lang)
    blocks = [f"# {first.title}", *_blocks(first.parts, lang)]
    for each in others:
        blocks += [f"## {each.title}", *_blocks(each.parts, lang)]
    return "\n\n".join(blocks) + "\n"


def _blocks(parts: Sequence[CardPart], lang: Lang) -> Iterator[str]:
    """Yield blocks that a blank line parts; bullets and bars that stand together are one list."""
    listed: list[str] = []
    for part in parts:
        if isinstance(part, Bullet):
            listed += [f"- {part.text}", *(f"  - {each}" for each in part.under)]
            continue
        if listed:
            yield "\n".join(listed)
            listed = []
        match part:
            case Remark():
                yield f"**{part.text}**" if part.tone in _LOUD else part.text
            case Meter():
                yield f"**{part.label}**  `{_bar(part)}`  {part.told}"
            case Reply():
                yield from _reply(part, lang)
    if listed:
        yield "\n".join(listed)


def _bar(meter: Meter) -> str:
    filled = round(_BAR * min(1.0, meter.value / meter.top)) if meter.top else 0
    signs = [*("#" * filled), *("." * (_BAR - filled))]
    if meter.mark is not None and meter.top:
        signs[min(_BAR - 1, round(_BAR * meter.mark / meter.top))] = "|"
    return "".join(signs)


def _reply(reply: Reply, lang: Lang) -> Iterator[str]:
    facts = ("，" if lang == "zh" else ", ").join(reply.facts)
    score = f" · {reply.score}" if reply.score else ""
    yield f"### {reply.heading}{score}"
    yield f"*{facts}*"
    for row in reply.rows:
        yield _row(row, lang)


def _row(row: ReplyRow, lang: Lang) -> str:
    text = _SIGNS.sub(r"\\\g<0>", row.text) if row.own else row.text
    lines = text.strip("\n").split("\n")
    if len(lines) == 1:
        return f"**{row.label}**{colon(lang)}{lines[0]}"
    # Blank lines stay: in a quote they part paragraphs.
    ends = "  " if row.own else ""
    quoted = "\n".join(
        f"> {line}{ends}".rstrip() if not line else f"> {line}{ends}" for line in lines
    )
    return f"**{row.label}**\n\n{quoted}"
