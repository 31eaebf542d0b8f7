"""The night before: of each topic its laws, its numbers and its conventions, on two pages."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from quizkit.bank.draw import with_letters
from quizkit.bank.model import Numeric, Question, Term, Topic
from quizkit.export.web import html, typed
from quizkit.lab.catalogue import Demo
from quizkit.ui.screens.demo_words import demo_words
from quizkit.words import Lang, say

_LEVELS = (2, 3)
_LINES = 250
"""Of the 2 x 2 columns of two A4 pages; what is over goes, numbers first."""
_CELLS = 56
_CONVENTIONS = 90
_CALL = re.compile(r"[a-z]+_[a-z_]+\(")
_STYLE = """
@page { size: A4; margin: 12mm; }
body { font: 8.5pt/1.3 sans-serif; max-width: 186mm; margin: 0 auto; }
section { columns: 2; column-gap: 6mm; break-before: page; }
section:first-of-type { break-before: auto; }
h1 { font-size: 13pt; margin: 0 0 2mm; column-span: all; }
h2 { font-size: 9.5pt; margin: 2mm 0 1mm; border-bottom: .3pt solid; break-after: avoid; }
ul { margin: 0; padding-left: 3.5mm; } li { margin-bottom: .6mm; break-inside: avoid; }
p { margin: 0; } code { font-size: 92%; } pre { white-space: pre-wrap; margin: .5mm 0; }
"""


@dataclass(frozen=True, slots=True)
class TopicSheet:
    """What is on the pages of one topic, each item one Markdown text."""

    title: str
    laws: Sequence[str]
    numbers: Sequence[str]
    conventions: Sequence[str]
    left: int


def sheet(
    topic: Topic,
    questions: Iterable[Question],
    demos: Iterable[Demo],
    terms: Iterable[Term],
    lang: Lang,
) -> TopicSheet:
    """As much of a topic as two pages hold. Questions and terms come most wanted first."""
    laws = [demo_words(demo, lang).law for demo in demos if demo.topic == topic.slug]
    numbers = [_number(each, lang) for each in questions if each.level in _LEVELS and each.say]
    notes = [f"**{_names(term, lang)}** {term.note[lang].strip()}" for term in terms]
    room = _LINES - sum(map(_height, laws))
    kept = _fitting(notes, min(_CONVENTIONS, room))
    shown = _fitting(numbers, room - sum(map(_height, kept)))
    left = len(numbers) - len(shown) + len(notes) - len(kept)
    return TopicSheet(topic.title[lang], laws, shown, kept, left)


def shared_out(
    terms: Mapping[str, Term], shelves: Mapping[str, Sequence[Question]]
) -> dict[str, list[Term]]:
    """Each term's topic, the one that speaks of it most; a topic's busiest terms come first."""
    texts = {
        topic: [f"{q.prompt.en} {q.explain.en}".casefold() for q in questions]
        for topic, questions in shelves.items()
    }
    found: dict[str, list[tuple[float, Term]]] = {topic: [] for topic in shelves}
    for term in terms.values():
        # A word that one question uses in passing is no convention of its topic.
        said = re.compile(rf"(?<![\w-]){re.escape(term.en.casefold())}")
        shares = {
            topic: sum(bool(said.search(text)) for text in every) / len(every)
            for topic, every in texts.items()
            if sum(bool(said.search(text)) for text in every) > 1
        }
        best = max(shares, key=lambda topic: shares[topic], default=None)
        if best is not None:
            found[best].append((-shares[best], term))
    return {topic: [term for _, term in sorted(each, key=lambda pair: pair[0])]
            for topic, each in found.items()}  # fmt: skip


def text(found: TopicSheet, lang: Lang) -> str:
    """The sheet as Markdown."""
    blocks = [f"# {found.title} · {say('export.sheet', lang)}"]
    for key, items in _parts(found):
        blocks += [f"## {say(key, lang)}", "\n".join(f"- {_hung(item)}" for item in items)]
    if found.left:
        blocks.append(say("export.sheet_more", lang, count=found.left))
    return "\n\n".join(blocks) + "\n"


def printed(sheets: Iterable[TopicSheet], lang: Lang) -> str:
    """All sheets as one page of HTML that needs nothing else."""
    body: list[str] = []
    for found in sheets:
        body.append(f"<section>\n<h1>{escape(found.title)} · {say('export.sheet', lang)}</h1>")
        for key, items in _parts(found):
            listed = "".join(f"<li>{html(item, typed).strip()}</li>\n" for item in items)
            body.append(f"<h2>{say(key, lang)}</h2>\n<ul>\n{listed}</ul>")
        if found.left:
            body.append(f"<p>{say('export.sheet_more', lang, count=found.left)}</p>")
        body.append("</section>")
    spoken = "zh-Hans" if lang == "zh" else "en"
    title = f"quizkit · {say('export.sheet', lang)}"
    head = f'<meta charset="utf-8">\n<title>{title}</title>\n<style>{_STYLE}</style>'
    lines = "\n".join(body)
    return f'<!doctype html>\n<html lang="{spoken}">\n<head>\n{head}\n</head>\n<body>\n{lines}\n</body>\n</html>\n'  # noqa: E501


def _parts(found: TopicSheet) -> Iterator[tuple[str, Sequence[str]]]:
    parts = (("laws", found.laws), ("numbers", found.numbers), ("conventions", found.conventions))
    yield from ((f"export.{key}", items) for key, items in parts if items)


def _number(question: Question, lang: Lang) -> str:
    assert question.say is not None
    formula = ""
    if isinstance(question, Numeric) and not _CALL.search(str(question.answer)):
        formula = f" `{question.answer}`" + (f" {question.unit}" if question.unit else "")
    told = with_letters(question, question.say[lang].strip())
    return f"**{question.id.split('/')[1]}**{formula} {told}"


def _names(term: Term, lang: Lang) -> str:
    first, second = (term.zh, term.en) if lang == "zh" else (term.en, term.zh)
    return first if first == second else f"{first} · {second}"


def _hung(item: str) -> str:
    return item.replace("\n", "\n  ")


def _fitting(items: Iterable[str], room: float) -> list[str]:
    """The first items that fit; one that is too long makes place for the next."""
    kept: list[str] = []
    for item in items:
        if _height(item) <= room:
            kept.append(item)
            room -= _height(item)
    return kept


def _height(item: str) -> float:
    """Its lines in a column, and the gap below."""
    return sum(-(-_width(line) // _CELLS) or 1 for line in item.split("\n")) + 0.3


def _width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WFA" else 1 for sign in line)
