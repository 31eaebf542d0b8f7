r"""One paragraph of question prose: `code`, **strong**, *stress*, links, formulas between dollars.

Underscores mean nothing here: they belong to names. A dollar opens a formula only where a price
would not stand, and a backslash takes the meaning off the sign that follows.
"""

import os
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from rich.text import Text

from quizkit.ui.text.latex import unicode

CODE = "magenta"
_WIDE = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_HARD_BREAK = re.compile(r"(?: {2,}|\\)\n[ \t]*")
_CHINESE_BREAK = re.compile(rf"(?<=[{_WIDE}])[ \t]*\n[ \t]*(?=[{_WIDE}])")
_SOFT_BREAK = re.compile(r"[ \t]*\n[ \t]*")
_HARD = "\x00"
_SPANS = re.compile(
    r"(?P<fence>`+)(?P<code>.+?)(?<!`)(?P=fence)(?!`)"
    r"|\$\$(?P<display>.+?)\$\$"
    r"|(?<![\\$A-Za-z0-9])\$(?!\s)(?P<maths>(?:\\.|[^$\\])+?)(?<!\s)\$(?![A-Za-z0-9])"
    r"|\*\*(?=\S)(?P<strong>.+?)(?<=\S)\*\*"
    r"|(?<![A-Za-z0-9*\\])\*(?=[^\s*])(?P<stress>[^*]+?)(?<=[^\s*])\*(?![A-Za-z0-9*])"
    r"|\[(?P<link>[^\]]+)\]\((?P<url>[^)\s]+)\)"
    r"|\\(?P<escaped>[\\`*_{}\[\]()#+\-.!$|<>~])",
    re.DOTALL,
)


class Span(NamedTuple):
    """A stretch of a paragraph and what it is; `strong`, `stress` and `link` may hold others."""

    kind: Literal["text", "code", "maths", "display", "strong", "stress", "link"]
    text: str
    url: str = ""


def inline(source: str, plain: bool = False, style: str = "") -> Text:
    """Return the paragraph as text; `plain` keeps the backticks that colour replaces."""
    text = Text(style=style, overflow="fold")
    _append(text, one_line(source), "", plain)
    return text


def one_line(source: str) -> str:
    """Join the paragraph's lines; those breaks stay that were meant."""
    source = _HARD_BREAK.sub(_HARD, source.strip())
    return _SOFT_BREAK.sub(" ", _CHINESE_BREAK.sub("", source)).replace(_HARD, "\n")


def spans(source: str) -> Iterator[Span]:
    """Yield the stretches of a paragraph that is in one line."""
    start = 0
    for span in _SPANS.finditer(source):
        if span.start() > start:
            yield Span("text", source[start : span.start()])
        start = span.end()
        if span["code"] is not None:
            yield Span("code", span["code"].strip() or span["code"])
        elif span["display"] is not None:
            yield Span("display", span["display"])
        elif span["maths"] is not None:
            yield Span("maths", span["maths"])
        elif span["strong"] is not None:
            yield Span("strong", span["strong"])
        elif span["stress"] is not None:
            yield Span("stress", span["stress"])
        elif span["url"] is not None:
            yield Span("link", span["link"], span["url"])
        else:
            yield Span("text", span["escaped"])
    if start < len(source):
        yield Span("text", source[start:])


def maths(source: str) -> Text:
    """Write a formula on a line of its own."""
    return Text(unicode(source), overflow="fold")


def cells(row: str) -> list[str]:
    """Split a table's row into cells: bars inside code and formulas are not borders."""
    row = row.strip().removeprefix("|")
    row = row[:-1] if row.endswith("|") and not row.endswith("\\|") else row
    found, start = [""], 0
    for span in [*_SPANS.finditer(row), None]:
        plain = row[start : span.start() if span else len(row)]
        first, *others = plain.split("|")
        found[-1] += first
        found += others
        if span:
            found[-1] += span[0]
            start = span.end()
    return [cell.strip() for cell in found]


def _append(text: Text, source: str, style: str, plain: bool) -> None:
    for kind, said, url in spans(source):
        match kind:
            case "text":
                text.append(said, style)
            case "code":
                # Colour alone tells a name from a word: without it "all" would be all of them.
                bare = plain or bool(os.environ.get("NO_COLOR"))
                text.append(f"`{said}`" if bare else said, f"{style} {CODE}".strip())
            case "maths" | "display":
                text.append(unicode(said), style)
            case "strong":
                _append(text, said, f"{style} bold".strip(), plain)
            case "stress":
                _append(text, said, f"{style} italic".strip(), plain)
            case "link":
                _append(text, said, style, plain)
                text.append(f" ({url})", style)
