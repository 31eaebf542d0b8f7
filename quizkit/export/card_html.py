"""Write a scorecard as one HTML page: nothing is fetched, nothing runs, two pages on paper."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from quizkit.export.web import html, line, typed
from quizkit.mock.kept_card import KeptCard
from quizkit.ui.mock.card_page import card_page
from quizkit.ui.mock.card_parts import Bullet, CardPart, Meter, Remark, Reply, ReplyRow
from quizkit.ui.text.html_page import html_page
from quizkit.words import Lang

# The reader's own choice of light or dark; every number is there as text, bars only repeat it.
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2126; --dim: #59636e; --paper: #fff; --line: #d5dae0;
  --soft: #eef1f5; --bar: #2f6fb3; --good: #1f7a3a; --bad: #b3261e; --weak: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e7ec; --dim: #9aa5b1; --paper: #14181d;
  --line: #343c46; --soft: #232b34; --bar: #6aa7e8; --good: #6fce8a; --bad: #ff8a80;
  --weak: #e6b455; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 60rem; color: var(--ink);
  background: var(--paper); font: 16px/1.55 system-ui, "Noto Sans CJK SC", "PingFang SC",
  "Microsoft YaHei", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.1rem 0 .2rem; }
p { margin: .3rem 0; } ul { margin: .3rem 0; padding-left: 1.3rem; } li { margin: .25rem 0; }
li ul { list-style: none; padding-left: .2rem; color: var(--dim); font-size: .92em; }
.verdict { font-size: 1.25rem; } .strong, .good, .bad { font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); } .weak { color: var(--weak); }
.dim { color: var(--dim); }
.meter { display: grid; grid-template-columns: minmax(6rem, 17rem) minmax(6rem, 1fr)
  minmax(9rem, 15rem); gap: 0 .8rem; align-items: center; margin: .25rem 0; }
.meter svg { display: block; width: 100%; height: .8rem; }
.meter .told { font-variant-numeric: tabular-nums; }
.rest { fill: var(--soft); } .fill { fill: var(--bar); } .mark { fill: var(--ink); }
.fill.bad { fill: var(--bad); } .fill.good { fill: var(--good); } .fill.weak { fill: var(--weak); }
.part > .meter { margin-top: 1rem; }
.facts { color: var(--dim); font-size: .9em; margin: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem .8rem; margin: .2rem 0; }
dt { color: var(--dim); white-space: nowrap; } dd { margin: 0; min-width: 0; }
dd p { margin: 0 0 .2rem; } dd.own { white-space: pre-wrap; }
dt.good { color: var(--good); } dt.bad { color: var(--bad); } dt.weak { color: var(--weak); }
pre { overflow-x: auto; background: var(--soft); padding: .4rem .6rem; margin: .2rem 0; }
code { background: var(--soft); padding: 0 .2em; border-radius: 3px; }
@media (max-width: 40rem) { .meter { grid-template-columns: 1fr 1fr; }
  .meter .name { grid-column: 1 / -1; } dl { grid-template-columns: 1fr; }
  dd { margin-left: .8rem; } }
@page { size: A4; margin: 9mm; }
@media print {
  :root { --ink: #000; --dim: #444; --paper: #fff; --line: #bbb; --soft: #e8e8e8; --bar: #2f6fb3;
    --good: #1f7a3a; --bad: #b3261e; --weak: #8a5a00; }
  body { max-width: none; padding: 0; font-size: 6.5pt; line-height: 1.25; columns: 2;
    column-gap: 6mm; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  header { column-span: all; }
  h1 { font-size: 11pt; } h2 { font-size: 8pt; margin: 2mm 0 .8mm; break-after: avoid; }
  h3 { font-size: 6.8pt; margin: 1.2mm 0 0; break-after: avoid; }
  p, ul, dl, li { margin-top: .2mm; margin-bottom: .2mm; } .part > .meter { margin-top: .8mm; }
  ul { padding-left: 3mm; } li ul { padding-left: 0; }
  .meter { grid-template-columns: 30mm 1fr 31mm; gap: 0 1.5mm; margin: .2mm 0;
    break-inside: avoid; }
  .meter .name { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
  dd p { margin: 0; } li ul li { margin: 0; }
  .meter svg { height: 1.8mm; } dl { gap: 0 1.5mm; } pre { padding: .5mm 1mm; }
  /* Two pages of paper have the verdict, the points and the keys; the screen has all of it. */
  dd.own, dd.model { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2;
    overflow: hidden; }
}
"""


def card_html(card: KeptCard, lang: Lang) -> str:
    """Write the whole page."""
    first, *others = card_page(card, lang)
    body = [f"<header>\n<h1>{escape(first.title)}</h1>", *_parts(first.parts), "</header>"]
    for each in others:
        body += [f'<section class="part">\n<h2>{escape(each.title)}</h2>', *_parts(each.parts)]
        body.append("</section>")
    return html_page(first.title, _STYLE, body, lang)


def _parts(parts: Sequence[CardPart]) -> Iterator[str]:
    for sort, group in groupby(parts, type):
        shown = "\n".join(map(_part, group))
        yield f"<ul>\n{shown}\n</ul>" if sort is Bullet else shown


def _part(part: CardPart) -> str:
    match part:
        case Remark():
            return f'<p class="{part.tone}">{line(part.text, typed)}</p>'
        case Bullet():
            under = "".join(f"<li>{line(each, typed)}</li>" for each in part.under)
            told = f'<span class="{part.tone}">{line(part.text, typed)}</span>'
            return f"<li>{told}{f'<ul>{under}</ul>' if under else ''}</li>"
        case Meter():
            return _meter(part)
        case Reply():
            return _reply(part)


def _meter(meter: Meter) -> str:
    """Draw a bar of a hundred parts, its mark a line across."""
    top = meter.top or 1
    filled = 100 * min(1.0, meter.value / top)
    mark = ""
    if meter.mark is not None:
        place = min(99.2, 100 * meter.mark / top)
        mark = f'<rect class="mark" x="{place:.1f}" width=".8" height="10"/>'
    return (
        f'<div class="meter"><span class="name">{escape(meter.label)}</span>'
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="rest" y="1" width="100" height="8"/>'
        f'<rect class="fill {meter.tone}" y="1" width="{filled:.1f}" height="8"/>{mark}</svg>'
        f'<span class="told {meter.tone}">{escape(meter.told)}</span></div>'
    )


def _reply(reply: Reply) -> str:
    score = f' <span class="{reply.tone}">{escape(reply.score)}</span>' if reply.score else ""
    facts = escape(" · ".join(reply.facts))
    rows = "\n".join(map(_row, reply.rows))
    return (
        f'<article><h3>{line(reply.heading, typed)}{score}</h3>\n<p class="facts">{facts}</p>\n'
        f"<dl>\n{rows}\n</dl></article>"
    )


def _row(row: ReplyRow) -> str:
    own = escape(row.text) if row.own else html(row.text, typed)
    sort = "own" if row.own else "model" if row.tone == "dim" else ""
    return f'<dt class="{row.tone}">{escape(row.label)}</dt><dd class="{sort}">{own}</dd>'
