"""Write where the learner stands as one HTML file: nothing is fetched, nothing runs in it."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from quizkit.tutor.tally import Tally
from quizkit.ui.screens.sections import Bars, Item, Part, Section, Table, share
from quizkit.ui.text.html_page import html_page
from quizkit.words import Lang, say

# The reader's own choice of light or dark; every number is there as text, bars only repeat it.
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2126; --dim: #59636e; --paper: #fff; --line: #d5dae0;
  --bar: #2f6fb3; --soft: #eef3f8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e7ec; --dim: #9aa5b1; --paper: #14181d;
  --line: #343c46; --bar: #6aa7e8; --soft: #1f2832; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 56rem; color: var(--ink);
  background: var(--paper); font: 16px/1.55 system-ui, "Noto Sans CJK SC", "PingFang SC",
  "Microsoft YaHei", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p { margin: .3rem 0; } li { margin: .5rem 0; } li p { color: var(--dim); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { padding: .25rem .6rem; text-align: right; vertical-align: top; font-weight: normal; }
th { color: var(--dim); white-space: nowrap; } tbody th { text-align: left; color: var(--ink); }
.cells tr { border-top: 1px solid var(--line); }
.cells td, .cells tbody th { line-height: 1.35; }
.cells small { display: block; color: var(--dim); }
.cells i { display: block; height: .3rem; min-width: 3rem; margin-top: .2rem;
  background: var(--soft); }
.bars { width: 100%; } .bars th, .bars td { padding: .1rem .6rem .1rem 0; width: 1%; }
.bars td.bar { width: auto; } .bars td.note { color: var(--dim); white-space: nowrap; }
b.fill { display: block; height: 100%; background: var(--bar); }
.bars b.fill { height: .9rem; border-radius: 2px; }
"""


def stats_html(page: Sequence[Section], lang: Lang) -> str:
    """Write the whole HTML file."""
    first, *others = page
    body = [f"<h1>{escape(first.title)}</h1>", *_parts(first.parts, lang)]
    for each in others:
        body += [f"<h2>{escape(each.title)}</h2>", *_parts(each.parts, lang)]
    return html_page(first.title, _STYLE, body, lang)


def _parts(parts: Iterable[Part], lang: Lang) -> Iterable[str]:
    for sort, group in groupby(parts, type):
        shown = "\n".join(_part(each, lang) for each in group)
        yield f"<ul>{shown}</ul>" if sort is Item else shown


def _part(part: Part, lang: Lang) -> str:
    match part:
        case str():
            return f"<p>{escape(part)}</p>"
        case Item():
            steps = "".join(f"<p>{escape(step)}</p>" for step in part.steps)
            return f"<li>{escape(part.text)}{steps}</li>"
        case Bars():
            return _bars(part)
        case Table():
            return _table(part, lang)


def _bars(bars: Bars) -> str:
    high = max(bar.value for bar in bars.rows) or 1
    rows = "".join(
        f"<tr><th>{escape(bar.label)}</th><td>{bar.value}</td>"
        f'<td class="bar">{_fill(bar.value, high)}</td>'
        f'<td class="note">{escape(bar.note)}</td></tr>'
        for bar in bars.rows
    )
    return f'<table class="bars"><tbody>{rows}</tbody></table>'


def _table(table: Table, lang: Lang) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in table.columns)
    lines = "".join(
        f"<small>{escape(say(f'stats.{each}', lang))}</small>" for each in ("right", "remembered")
    )
    rows = "".join(
        f"<tr><th>{escape(name)}{lines}</th>{''.join(map(_cell, cells))}</tr>"
        for name, cells in table.rows
    )
    answered = escape(say("stats.answered", lang))
    return (
        f'<div class="wide"><table class="cells"><thead><tr><th>{answered}</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(cell: Tally | None) -> str:
    if cell is None or not (cell.met or cell.answered):
        return "<td></td>"
    right, remembered = share(cell.right, cell.answered), share(cell.remembered, cell.met)
    return (
        f"<td>{cell.answered}<small>{right}</small><small>{remembered}</small>"
        f"<i>{_fill(cell.remembered, cell.met)}</i></td>"
    )


def _fill(part: float, whole: float) -> str:
    return f'<b class="fill" style="width: {100 * part / whole:.1f}%"></b>' if part else ""
