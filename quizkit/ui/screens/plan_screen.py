"""The plan to an interview: what practice will have changed by then, and what each day holds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from quizkit.tutor.after_mock import Practice
from quizkit.tutor.plan_memory import Fsrs
from quizkit.tutor.plan_outlook import LITTLE, Aim, Outlook, Prospect
from quizkit.ui.screens.parts import bracketed, section
from quizkit.words import Lang, listed, say

_SHOWN = 14
"""Days with a line of their own; the others share one."""
_HANDFUL = 20
"""So many due questions are offered beside the plan at a time."""
_LATE = 30.0
"""Days: the curves are compared where a plan needs them."""


@dataclass(frozen=True, slots=True)
class Told:
    """Facts to tell with a plan: what it keeps to, whether `study` follows it, and what comes first
    today because of an interview.
    """

    aim: Aim
    weighed: str | None
    topics: Sequence[str]
    saved: bool
    practice: Practice | None = None


def plan_screen(found: Outlook, told: Told, lang: Lang) -> RenderableType:
    """Draw the whole plan; plain and colourless, so that a screen reader has the same."""
    days = (told.aim.interview - found.days[0][0]).days
    minutes = f"{told.aim.minutes:g}"
    title = say("plan.title", lang, date=told.aim.interview, days=days, minutes=minutes)
    kept = [say("plan.weighed", lang, aim=told.weighed)] if told.weighed else []
    kept += [say("plan.only", lang, topics=", ".join(told.topics))] if told.topics else []
    if kept:
        title += bracketed(kept, lang)
    return Group(
        Text(title, "bold", overflow="fold"),
        *section(say("plan.recall", lang), _topics(found, lang)),
        *section(say("plan.calendar", lang), *_calendar(found, lang)),
        Text(""),
        *(Text(line, overflow="fold") for line in _notes(found, told, lang)),
    )


def _topics(found: Outlook, lang: Lang) -> Table:
    rows = [(topic, each) for topic, each in found.topics.items()]
    if len(rows) > 1:
        rows.append((say("plan.whole", lang), found.whole))
    table = _table(lang, "topic", "questions", "met", "without", "practised")
    for name, each in rows:
        table.add_row(name, *_cells(each))
    return table


def _cells(of: Prospect) -> Iterable[str]:
    return str(of.questions), str(of.met), f"{of.without:.0%}", f"{of.practised:.0%}"


def _calendar(found: Outlook, lang: Lang) -> Iterable[RenderableType]:
    dues = any(found.due)  # a beginner has nothing due, and no use for a column of zeros
    table = _table(lang, "date", *(["due"] if dues else []), "reviews", "new", "minutes")
    shown = found.days if len(found.days) <= _SHOWN + 1 else found.days[:_SHOWN]
    for number, (date, day) in enumerate(shown):
        name = f"{date:%m-%d}"
        name = name if number else say("plan.today", lang, date=name)
        minutes = f"{day.seconds / 60:.0f}"
        due = [str(found.due[number])] if dues else []
        table.add_row(name, *due, str(len(day.reviews)), str(len(day.new)), minutes)
    yield table
    others = [day for _, day in found.days[len(shown) :]]
    if others:
        yield Text(
            say(
                "plan.later_days",
                lang,
                days=len(others),
                reviews=_average([len(day.reviews) for day in others]),
                new=_average([len(day.new) for day in others]),
                minutes=_average([day.seconds / 60 for day in others]),
            ),
            overflow="fold",
        )


def _average(of: Sequence[float]) -> str:
    return f"{sum(of) / len(of):.0f}"


def _notes(found: Outlook, told: Told, lang: Lang) -> Iterable[str]:
    today, due = found.days[0][1], found.due[0]
    if told.practice:
        yield practice_note(told.practice, lang)
    reviews = sum(name in found.late for name in today.reviews)
    if (won := _won(found.whole)) and told.aim.minutes:
        questions = found.whole.questions
        yield say("plan.gain", lang, questions=questions, count=won, **_shares(found.whole))
    if any(found.due) and told.aim.minutes:
        yield say("plan.dues", lang)
    if due > reviews and told.aim.minutes:
        yield say("plan.left_due", lang, due=due, reviews=reviews, some=min(due, _HANDFUL))
    if not told.aim.minutes:
        yield say("plan.no_minutes", lang)
    elif found.slip >= LITTLE:
        count = f"{found.slip * found.whole.questions:.1f}"
        yield say("plan.slip", lang, points=f"{100 * found.slip:.1f}", count=count)
    elif found.too_long < found.whole.questions:
        yield from _light(found, lang)
    if found.spent:
        yield say("plan.spent", lang, spent=f"{found.spent / 60:.1f}")
    if found.too_long and told.aim.minutes:
        minutes = f"{told.aim.minutes:g}"
        yield say("plan.too_long", lang, count=found.too_long, minutes=minutes)
    if found.unmet:
        essays, count = found.unmet.get("essay", 0), sum(found.unmet.values())
        yield say("plan.unmet", lang, count=count, essays=essays)
    ours, usual = (model.recall(1.0, _LATE) for model in (found.model, Fsrs()))
    if ours != usual:
        key = "plan.faster" if ours < usual else "plan.slower"
        yield say(key, lang, reviews=found.reviews)
    yield say("plan.basis", lang)
    yield say("plan.start" if told.saved else "plan.save_first", lang)


def practice_note(found: Practice, lang: Lang) -> str:
    """Say what an interview of late left to practise today, by name."""
    told = {"date": f"{found.held:%m-%d}", "day": found.day, "count": len(found.questions)}
    return say("plan.practice", lang, names=listed(found.questions, lang), **told)


def _light(found: Outlook, lang: Lang) -> Iterable[str]:
    """Say why today counts for little, and what does count."""
    today = found.days[0][1]
    if not (today.reviews or today.new):
        yield say("plan.used_up" if found.spent else "plan.idle", lang)
    elif len(found.days) > 1:
        yield say("plan.slip_little", lang, days=len(found.days) - 1)
    if found.best and (won := _won(found.best[1])):
        topic, of = found.best
        yield say("plan.best", lang, topic=topic, count=won, **_shares(of))
    if found.more:
        minutes, gain = found.more
        yield say("plan.more", lang, minutes=f"{minutes:g}", points=f"{100 * gain:.1f}")
    elif not found.too_long:
        yield say("plan.enough", lang)


def _won(of: Prospect) -> int:
    """So many questions more come right; what is less than one is nothing to be told."""
    return round(of.questions * (of.practised - of.without))


def _shares(of: Prospect) -> dict[str, str]:
    return {"without": f"{of.without:.0%}", "practised": f"{of.practised:.0%}"}


def _table(lang: Lang, first: str, *others: str) -> Table:
    made = Table(box=None, pad_edge=False, show_edge=False, header_style="bold", padding=(0, 1))
    made.add_column(say(f"plan.{first}", lang), no_wrap=True)
    for column in others:
        made.add_column(say(f"plan.{column}", lang), justify="right")
    return made
