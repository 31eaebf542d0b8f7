"""Question prose as HTML: blocks by markdown-it, which rich brings along, spans by our own rules.

Its own spans would take names such as `a_b` apart and leave stress open before Chinese words.
"""

from collections.abc import Callable
from html import escape

from markdown_it import MarkdownIt

from quizkit.ui.inline import one_line, spans
from quizkit.ui.latex import unicode

Formula = Callable[[str, bool], str]
"""A formula's HTML; the truth says whether it stands on a line of its own."""

_BLOCKS = MarkdownIt("zero", {"html": False}).enable(
    ["fence", "list", "blockquote", "table", "heading", "hr"]
)


def html(source: str, formula: Formula) -> str:
    """A text as HTML. Everything in it is escaped."""
    made: list[str] = []
    for token in _BLOCKS.parse(source):
        if token.type == "inline":
            made.append(line(token.content, formula))
        elif token.type == "fence":
            made.append(f"<pre><code>{escape(token.content, quote=False)}</code></pre>\n")
        else:
            made.append(str(_BLOCKS.renderer.render([token], _BLOCKS.options, {})))
    return "".join(made)


def line(source: str, formula: Formula) -> str:
    """One paragraph's inside."""
    return _line(one_line(source), formula).replace("\n", "<br>\n")


def mathjax(source: str, display: bool) -> str:
    r"""What Anki typesets: \( and \), or \[ and \]."""
    formula = escape(source.strip(), quote=False)
    return rf"\[{formula}\]" if display else rf"\({formula}\)"


def typed(source: str, display: bool) -> str:
    """A formula in one line of letters, for a page that runs nothing."""
    formula = escape(unicode(source), quote=False)
    return f"<p>{formula}</p>" if display else f"<span>{formula}</span>"


def _line(source: str, formula: Formula) -> str:
    made: list[str] = []
    for kind, text, url in spans(source):
        match kind:
            case "text":
                made.append(escape(text, quote=False))
            case "code":
                made.append(f"<code>{escape(text, quote=False)}</code>")
            case "maths" | "display":
                made.append(formula(text, kind == "display"))
            case "strong":
                made.append(f"<b>{_line(text, formula)}</b>")
            case "stress":
                made.append(f"<i>{_line(text, formula)}</i>")
            case "link":
                made.append(f'<a href="{escape(url)}">{_line(text, formula)}</a>')
    return "".join(made)
