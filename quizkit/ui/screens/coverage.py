"""The common 70: how much of each the bank answers, and one of them part by part."""

from collections.abc import Iterable, Iterator, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text as Line

from quizkit.bank.common import Covered
from quizkit.bank.listed import Listed
from quizkit.ui.text.inline import inline
from quizkit.words import Lang, say


def every_common(found: Mapping[str, Covered], lang: Lang) -> RenderableType:
    """Draw a row each: how many parts have a question; beneath it the parts that have none."""
    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(no_wrap=True)
    made.add_column(no_wrap=True, justify="right")
    made.add_column(overflow="fold")
    for name, each in found.items():
        stated = sum(map(bool, each.parts.values()))
        made.add_row(
            Line(name, "bold"), f"{stated}/{len(each.parts)}", _words(each.asked.ask[lang])
        )
        for part in each.open:
            lack = _words(each.asked.parts[part][lang])
            made.add_row("", "", lack.append(f" {say('bank.not_covered', lang)}"))
    parts = [ids for each in found.values() for ids in each.parts.values()]
    counts = {
        "covered": sum(each.whole for each in found.values()),
        "stated": sum(map(bool, parts)),
        "parts": len(parts),
    }
    first = next(iter(found), "")
    return Group(
        made,
        Line(),
        Line(say("bank.covered", lang, **counts)),
        Line(say("bank.covered_one", lang, command=f"quizkit list --covers {first}"), "dim"),
    )


def one_common(
    name: str, covered: Covered, questions: Iterable[Listed], lang: Lang
) -> RenderableType:
    """Draw what a whole answer to one of them holds: each part, its questions and their runs."""
    return Group(*_one(name, covered, {each.id: each for each in questions}, lang))


def _one(
    name: str, covered: Covered, questions: Mapping[str, Listed], lang: Lang
) -> Iterator[RenderableType]:
    yield Line.assemble((name, "bold"), "  ", _words(covered.asked.ask[lang]))
    yield Line(say("bank.whole_answer", lang), "dim")
    told = set[str]()  # a question that states several parts is asked once
    for part, ids in covered.parts.items():
        yield Line()
        yield Line.assemble((f".{part}", "bold"), "  ", _words(covered.asked.parts[part][lang]))
        for each in sorted((questions[each] for each in ids), key=lambda it: not it.core):
            run = f"quizkit demo {each.proof}" if each.proof else say("bank.no_run", lang)
            yield Padding(Line.assemble(each.id, (f"  {run}", "dim")), (0, 0, 0, 2))
            if each.id not in told:
                yield Padding(inline(each.title[lang].strip(), plain=True), (0, 0, 0, 4))
                told.add(each.id)
        if not ids:
            yield Padding(Line(say("bank.not_covered", lang)), (0, 0, 0, 2))


def _words(text: str) -> Line:
    """A text whole, as one paragraph."""
    return inline(" ".join(text.split()), plain=True)
