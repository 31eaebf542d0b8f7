"""Question prose as HTML: blocks by markdown-it, which rich brings along, spans by our own rules.

Its own spans would take names such as `a_b` apart and leave stress open before Chinese words.

A bank may come from anybody, and pages and cards are opened where scripts run: nothing in it comes
out as markup, a link leads to the web or nowhere, and what MathJax or Anki would act on is shown.
"""

import re
from collections.abc import Callable
from html import escape

from markdown_it import MarkdownIt

from quizkit.ui.text.inline import one_line, spans
from quizkit.ui.text.latex import unicode

Formula = Callable[[str, bool], str]
"""A formula's HTML; the truth says whether it stands on a line of its own."""

_WEB = re.compile(r"https?://", re.IGNORECASE)
_COMMAND = re.compile(r"\\([A-Za-z]+|.)", re.DOTALL)
# Of MathJax's commands those that make links or attributes, load more of it, or give a new name.
_ACTS = {
    "href", "url", "class", "cssId", "style", "data", "mmlToken", "bbox", "unicode", "texttip",
    "mathtip", "toggle", "includegraphics", "require", "csname", "let", "def", "gdef", "edef",
    "xdef", "futurelet", "newcommand", "renewcommand", "providecommand", "newenvironment",
    "renewenvironment", "DeclareMathOperator",
}  # fmt: skip
_BLOCKS = MarkdownIt("zero", {"html": False}).enable(
    ["fence", "list", "blockquote", "table", "heading", "hr"]
)


def html(source: str, formula: Formula) -> str:
    """Return a text as HTML. Everything in it is escaped."""
    made: list[str] = []
    for token in _BLOCKS.parse(source):
        if token.type == "inline":
            made.append(line(token.content, formula))
        elif token.type == "fence":
            made.append(f"<pre><code>{_escaped(token.content)}</code></pre>\n")
        else:
            made.append(str(_BLOCKS.renderer.render([token], _BLOCKS.options, {})))
    return "".join(made)


def line(source: str, formula: Formula) -> str:
    """Write the inside of one paragraph."""
    return _line(one_line(source), formula).replace("\n", "<br>\n")


def mathjax(source: str, display: bool) -> str:
    r"""Wrap a formula as Anki typesets it: \( and \), or \[ and \]."""
    formula = _escaped(_COMMAND.sub(_shown, source.strip()))
    return rf"\[{formula}\]" if display else rf"\({formula}\)"


def typed(source: str, display: bool) -> str:
    """Return a formula in one line of letters, for a page that runs nothing."""
    formula = escape(unicode(source), quote=False)
    return f"<p>{formula}</p>" if display else f"<span>{formula}</span>"


def _escaped(text: str) -> str:
    """As it stands; of `[sound:`, `[latex]` and their like Anki makes something elsewhere."""
    return escape(text, quote=False).replace("[", "&#91;")


def _shown(command: re.Match[str]) -> str:
    return rf"\text{{{command[1]}}}" if command[1] in _ACTS else command[0]


def _line(source: str, formula: Formula) -> str:
    made: list[str] = []
    for kind, text, url in spans(source):
        match kind:
            case "text":
                # A word joiner, which nobody sees: `\(` in prose does not begin a formula.
                made.append(_escaped(text).replace("\\", "\\&#8288;"))
            case "code":
                made.append(f"<code>{_escaped(text)}</code>")
            case "maths" | "display":
                made.append(formula(text, kind == "display"))
            case "strong":
                made.append(f"<b>{_line(text, formula)}</b>")
            case "stress":
                made.append(f"<i>{_line(text, formula)}</i>")
            case "link" if not _WEB.match(url):
                made.append(_line(text, formula))
            case "link":
                made.append(f'<a href="{escape(url)}">{_line(text, formula)}</a>')
    return "".join(made)
