"""The night before: ten formulas, three pictures and the conventions, on two printed pages."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from quizkit.bank.model import Term
from quizkit.export.formulas import FORMULAS
from quizkit.export.web import html, typed
from quizkit.lab.report import Report
from quizkit.ui.pictures import timeline
from quizkit.ui.pictures.chart import Chart, charts
from quizkit.ui.pictures.svg import picture
from quizkit.words import Lang, say

PICTURES = {
    "1f1b": ("pp/what-a-bubble-is", ("1f1b",)),
    "zb": ("pp/zb-h1-idle", ("zb_h1",)),
    "ring": ("cp/zigzag-pieces", ("contiguous", "zigzag")),
}
"""Each picture: the question whose recorded run is drawn, and which timelines of it."""

CONVENTIONS = (
    "bubble", "zero-bubble", "stage", "global-batch", "model-states", "zero", "all-reduce",
    "bus-bandwidth", "per-direction-bandwidth", "gib", "mfu", "hfu", "activation-recomputation",
)  # fmt: skip
"""The terms of the glossary whose notes say what is counted, and over what."""

_COLUMNS = 76
_STYLE = """
@page { size: A4; margin: 11mm; }
body { font: 9.5pt/1.4 sans-serif; max-width: 188mm; margin: 0 auto; }
h1 { font-size: 14pt; margin: 0 0 1mm; }
.page { break-before: page; }
h2 { font-size: 11pt; margin: 3mm 0 1.5mm; border-bottom: .3pt solid; break-after: avoid; }
ol, ul { margin: 0; padding-left: 6mm; } li { margin-bottom: 1.2mm; break-inside: avoid; }
p { margin: 0; } span { font-weight: 600; } .letters { font-size: 8.5pt; margin-top: 2mm; }
.two { columns: 2; column-gap: 6mm; font-size: 8.5pt; line-height: 1.3; }
figure { margin: 0 0 2mm; break-inside: avoid; } figure svg { width: 100%; height: auto; }
"""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Timelines of one recorded run, and in words what they show."""

    title: str
    source: str
    charts: Sequence[Chart]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The contents of the two pages; formulas and conventions are one Markdown text each."""

    formulas: Sequence[str]
    letters: str
    pictures: Sequence[Drawing]
    conventions: Sequence[str]
    lang: Lang


def sheet(terms: Mapping[str, Term], kept: Callable[[str], Report | None], lang: Lang) -> Sheet:
    """Return the sheet. `kept` has a question's recorded run; what is not recorded is left out."""
    formulas = [
        say(f"sheet.formula_{name}", lang, **{place: f"${each}$" for place, each in parts.items()})
        for name, parts in FORMULAS.items()
    ]
    pictures = [_picture(name, kept(question), wanted, lang)
                for name, (question, wanted) in PICTURES.items()]  # fmt: skip
    notes = [f"**{_names(term, lang)}** {term.note[lang].strip()}"
             for name in CONVENTIONS if (term := terms.get(name))]  # fmt: skip
    drawn = [each for each in pictures if each]
    return Sheet(formulas, say("sheet.letters", lang), drawn, notes, lang)


def text(found: Sheet) -> str:
    """Return the sheet as Markdown, its pictures in letters."""
    lang = found.lang
    blocks = [f"# quizkit · {say('sheet.title', lang)}", f"## {say('sheet.formulas', lang)}"]
    blocks.append("\n".join(f"{n}. {each}" for n, each in enumerate(found.formulas, 1)))
    blocks.append(found.letters)
    if found.pictures:
        blocks.append(f"## {say('sheet.pictures', lang)}")
    for each in found.pictures:
        blocks += [f"**{each.title}**", *(_letters(chart, lang) for chart in each.charts)]
        blocks.append(each.source)
    blocks.append(f"## {say('sheet.conventions', lang)}")
    blocks.append("\n".join(f"- {each}" for each in found.conventions))
    return "\n\n".join(blocks) + "\n"


def printed(found: Sheet) -> str:
    """Return the sheet as one page of HTML that needs nothing else."""
    lang = found.lang
    title = f"quizkit · {say('sheet.title', lang)}"
    drawn = (picture(each.charts, each.title, each.source, lang) for each in found.pictures)
    body = [
        f"<h1>{title}</h1>",
        f"<h2>{say('sheet.formulas', lang)}</h2>",
        _listed("ol", found.formulas),
        f'<p class="letters">{escape(found.letters)}</p>',
        f"<h2>{say('sheet.conventions', lang)}</h2>",
        f'<div class="two">{_listed("ul", found.conventions)}</div>',
        f'<h2 class="page">{say("sheet.pictures", lang)}</h2>' if found.pictures else "",
        *(f"<figure>{each.strip()}</figure>" for each in drawn),
    ]
    spoken = "zh-Hans" if lang == "zh" else "en"
    head = f'<meta charset="utf-8">\n<title>{title}</title>\n<style>{_STYLE}</style>'
    lines = ["<!doctype html>", f'<html lang="{spoken}">', f"<head>\n{head}\n</head>", "<body>"]
    return "\n".join([*lines, *body, "</body>", "</html>", ""])


def _picture(name: str, report: Report | None, wanted: Sequence[str], lang: Lang) -> Drawing | None:
    if report is None:
        return None
    drawn = [each for each in charts(report.timeline, report.ranks) if each.schedule in wanted]
    source = say("sheet.recorded", lang, demo=report.demo, ranks=report.ranks)
    return Drawing(say(f"sheet.picture_{name}", lang), source, drawn)


def _letters(chart: Chart, lang: Lang) -> str:
    drawn = timeline.draw(chart, _COLUMNS, lang)
    lines = ("".join(span.text for span in line) for line in drawn.lines)
    return "\n".join(["```text", timeline.headline(chart, lang), *lines, "```"])


def _listed(kind: str, items: Iterable[str]) -> str:
    listed = "".join(f"<li>{html(item, typed).strip()}</li>\n" for item in items)
    return f"<{kind}>\n{listed}</{kind}>"


def _names(term: Term, lang: Lang) -> str:
    first, second = (term.zh, term.en) if lang == "zh" else (term.en, term.zh)
    return first if first == second else f"{first} · {second}"
