"""The scorecard, and the lists of interviews: what can be taken and what has been."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from quizkit.bank import model
from quizkit.bank.script import BEST, Script
from quizkit.mock.marks import Mark
from quizkit.mock.printed import CONVENTIONS, convention
from quizkit.mock.scorecard import VETO_CAP, Scorecard
from quizkit.mock.sitting import InterviewState
from quizkit.mock.timer import lasted
from quizkit.tutor.verdict import as_list, as_mapping
from quizkit.ui.screens.parts import RIGHT, WRONG, rule, section
from quizkit.ui.text.inline import inline
from quizkit.ui.text.markup import prose
from quizkit.words import Lang, say


def scorecard_screen(
    card: Scorecard, lang: Lang, myths: Mapping[str, model.Text], plain: bool
) -> RenderableType:
    """Draw the whole scorecard, evidence and conventions included."""
    word = say("card.passed" if card.passed else "card.failed", lang)
    title = f"{say('card.card', lang)}  {card.script.title[lang]}"
    parts: list[RenderableType] = [Text(title, "bold", overflow="fold")]
    if not plain:
        parts.append(rule())
    parts.append(Text(word, RIGHT if card.passed else WRONG))
    parts.append(Text(_overall(card, lang), overflow="fold"))
    if card.capped:
        said = "; ".join(text[lang] for mark in card.marks for text in mark.said)
        capped = say("card.capped_here", lang, cap=f"{VETO_CAP:g}", said=said)
        parts.append(Text(capped, WRONG, overflow="fold"))
    parts += section(say("card.dimensions", lang), _dimensions(card, lang))
    parts += section(say("card.answers", lang))
    for mark in card.marks:
        parts += _answer(mark, lang, plain)
    parts += section(say("card.time", lang), _time(card, lang))
    if card.myths:
        named = [myths[slug][lang] if slug in myths else slug for slug in card.myths]
        parts += section(say("card.myths", lang), _list(named, plain))
    if card.review:
        shown = [f"quizkit show {name}" for name in card.review]
        parts += section(say("card.review", lang), _list(shown, plain))
    rules = [convention(name, lang) for name in CONVENTIONS]
    parts += section(say("card.rules_title", lang), _list(rules, plain))
    return Group(*parts)


def list_screen(scripts: Iterable[Script], lang: Lang) -> RenderableType:
    """List the interviews that can be taken."""
    parts: list[RenderableType] = [Text(say("mock.list_title", lang), "bold")]
    for script in scripts:
        questions = len(script.stations)
        probes = sum(1 for _ in script.placed()) - questions
        facts = say(
            "mock.list_facts", lang, minutes=script.minutes, questions=questions, probes=probes
        )
        heading = Text.assemble((script.slug, "bold"), f"  {script.title[lang]}", overflow="fold")
        start = say("mock.list_start", lang, script=script.slug)
        below = [Text(facts, overflow="fold"), Text(start, "dim", overflow="fold")]
        parts += [Text(""), heading, *(Padding(each, (0, 0, 0, 2)) for each in below)]
    return Group(*parts)


def history_screen(sittings: Sequence[InterviewState], lang: Lang) -> RenderableType:
    """List the interviews that were taken, the last one first."""
    if not sittings:
        return Text(say("mock.history_none", lang))
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(4):
        grid.add_column(overflow="fold")
    for sitting in sittings:
        card: Mapping[str, Any] = sitting.card or {}
        word = say("mock.history_open", lang)
        if card:
            word = say("card.passed" if card["verdict"] == "pass" else "card.failed", lang)
        score = f"{card['overall']:.2f} / {card['best']:g}" if card else ""
        # The learner lives by the clock on the wall.
        date = sitting.at.astimezone().strftime("%Y-%m-%d %H:%M")
        grid.add_row(date, sitting.script, word, score)
    return grid


def _overall(card: Scorecard, lang: Lang) -> str:
    marks: list[str] = []
    for name, mark in card.script.pass_mark.items():
        if name == "overall":
            marks.append(say("card.mark_overall", lang, mark=f"{mark:g}"))
        else:
            dimension = say(f"card.{name}", lang)
            shown = say("card.mark_dimension", lang, dimension=dimension, mark=f"{mark:g}")
            marks.append(shown)
    joined = ("，" if lang == "zh" else ", ").join(marks)
    return say("card.overall", lang, score=f"{card.overall:.2f}", best=f"{BEST:g}", marks=joined)


def _dimensions(card: Scorecard, lang: Lang) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(overflow="fold")
    for _ in range(2):
        grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    names = ("dimension", "weight", "score", "evidence")
    grid.add_row(*(Text(say(f"card.column_{name}", lang), "dim") for name in names))
    for each in card.rated:
        evidence = " + ".join(
            f"{mark.station.id} {mark.score:.0%} × {share:g}" for mark, share in each.evidence
        )
        low = each.needed is not None and each.score < each.needed
        style = WRONG if low else ""
        name = say(f"card.{each.dimension}", lang)
        grid.add_row(name, f"{each.weight:g}", Text(f"{each.score:.2f}", style), evidence)
    return grid


def _answer(mark: Mark, lang: Lang, plain: bool) -> list[RenderableType]:
    name = mark.question.id if mark.station.ask else mark.station.id
    heading = Text.assemble((name, "bold"), overflow="fold")
    facts: list[str] = [say("card.is_probe", lang)] if mark.probe else []
    if not mark.reached:
        return [Text(""), heading.append("  " + "  ".join([*facts, say("card.unreached", lang)]))]
    heading.append(f"  {mark.score:.0%}", RIGHT if mark.verdict and mark.verdict.right else WRONG)
    key = "card.time_over" if mark.seconds > mark.target else "card.time_of"
    facts.append(say(key, lang, seconds=lasted(mark.seconds), target=lasted(mark.target)))
    if mark.late:
        facts.append(say("card.is_late", lang))
    judge = "no_answer" if mark.judge == "nobody" else f"by_{mark.judge}"
    facts.append(say(f"card.{judge}", lang))
    rows: list[tuple[str, str]] = []
    if mark.judge == "key" and mark.verdict:
        rows.append(("given", given_words(mark, lang)))
        rows.append(("expected", mark.verdict.expected[lang]))
    for key, texts in (("hit", mark.hit), ("missed", mark.missed), ("said", mark.said)):
        rows += [(key, mark.asked.fill(text, lang)) for text in texts]
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    styles = {"hit": "green", "missed": "yellow", "said": "red"}
    for key, text in rows:
        grid.add_row(Text(say(f"card.{key}", lang), styles.get(key, "dim")), inline(text, plain))
    heading.append("  " + "  ".join(facts), "not bold dim")
    return [Text(""), heading, Padding(grid, (0, 0, 0, 2))]


def given_words(mark: Mark, lang: Lang) -> str:
    """Return the answer as the learner would recognise it."""
    question, given = mark.question, mark.given
    match question:
        case model.Choice():
            picked = [question.options[int(str(each))].text for each in as_list(given)]
            return "; ".join(mark.asked.fill(text, lang) for text in picked)
        case model.Order():
            by_id = {step.id: step.text for step in question.steps}
            return " → ".join(mark.asked.fill(by_id[str(each)], lang) for each in as_list(given))
        case model.Cloze():
            return " · ".join(str(value) for value in as_mapping(given).values())
        case _:
            return str(given)


def _time(card: Scorecard, lang: Lang) -> RenderableType:
    spent = card.spent
    used, total = lasted(spent.used), lasted(spent.total)
    rows = [say("card.time_used", lang, used=used, total=total)]
    paused, budget = lasted(spent.paused), lasted(spent.budget)
    rows.append(say("card.time_paused", lang, paused=paused, budget=budget))
    if spent.charged:
        rows.append(say("card.time_charged", lang, charged=lasted(spent.charged)))
    return Text("\n".join(rows), overflow="fold")


def _list(rows: Iterable[str], plain: bool) -> RenderableType:
    return prose("\n".join(f"- {row}" for row in rows), plain)
