"""The parts that a scorecard is told in, whatever draws them: a terminal, Markdown, a page."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

Tone = Literal["", "strong", "good", "bad", "weak", "dim"]
"""The part that colour plays; the words always say it, too."""


class Remark(NamedTuple):
    """A paragraph."""

    text: str
    tone: Tone = ""


class Bullet(NamedTuple):
    """An item of a list, and what stands below it, dimmer."""

    text: str
    tone: Tone = ""
    under: tuple[str, ...] = ()


class Meter(NamedTuple):
    """A bar from 0 to `top` with a mark on it, and the same in words."""

    label: str
    value: float
    top: float
    mark: float | None
    told: str
    tone: Tone = ""


class ReplyRow(NamedTuple):
    """A line about an answer. `own` words are the learner's: nothing in them is markup."""

    label: str
    text: str
    tone: Tone = ""
    own: bool = False


class Reply(NamedTuple):
    """One answer: its name, what it was worth, facts in passing, and line by line what was said."""

    heading: str
    score: str
    tone: Tone
    facts: tuple[str, ...]
    rows: tuple[ReplyRow, ...]


CardPart = Remark | Bullet | Meter | Reply


class CardSection(NamedTuple):
    """A heading and what stands under it; the first section is the card's head."""

    title: str
    parts: Sequence[CardPart]
