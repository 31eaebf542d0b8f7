r"""One paragraph of question prose: `code`, **strong**, *stress*, links, formulas between dollars.

Underscores mean nothing here: they belong to names. A dollar opens a formula only where a price
would not stand, and a backslash takes the meaning off the sign that follows.
"""

import re

from rich.text import Text

from quizkit.ui.latex import unicode

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


def inline(source: str, plain: bool = False, style: str = "") -> Text:
    """The paragraph as text; `plain` keeps the backticks that colour replaces."""
    source = _HARD_BREAK.sub(_HARD, source.strip())
    source = _SOFT_BREAK.sub(" ", _CHINESE_BREAK.sub("", source))
    text = Text(style=style, overflow="fold")
    _append(text, source.replace(_HARD, "\n"), "", plain)
    return text


def maths(source: str) -> Text:
    """A formula on a line of its own."""
    return Text(unicode(source), overflow="fold")


def cells(row: str) -> list[str]:
    """The cells of a table's row: bars inside code and formulas are not borders."""
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
    start = 0
    for span in _SPANS.finditer(source):
        text.append(source[start : span.start()], style)
        start = span.end()
        kind = span.lastgroup
        if span["code"] is not None:
            code = span["code"].strip() or span["code"]
            text.append(f"`{code}`" if plain else code, f"{style} {CODE}".strip())
        elif span["display"] is not None or span["maths"] is not None:
            text.append(unicode(span["display"] or span["maths"]), style)
        elif span["strong"] is not None:
            _append(text, span["strong"], f"{style} bold".strip(), plain)
        elif span["stress"] is not None:
            _append(text, span["stress"], f"{style} italic".strip(), plain)
        elif kind == "url":
            _append(text, span["link"], style, plain)
            text.append(f" ({span['url']})", style)
        else:
            text.append(span["escaped"], style)
    text.append(source[start:], style)
