"""`quizkit plan`: what to practise until the interview, and what `study` asks because of it."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quizkit.cli.common import choose_topics, language, library, own_banks, tell, todays_practice
from quizkit.cli.options import AllOfThem, Banks, Json, Spoken, Topics, Unboxed

if TYPE_CHECKING:
    from quizkit.answer import Card
    from quizkit.bank.entry import Entry
    from quizkit.bank.script import Script
    from quizkit.tutor.lineup import Lineup
    from quizkit.tutor.plan_outlook import Aim, Outlook, Prospect
    from quizkit.tutor.plan_weights import Weigh
    from quizkit.words import Lang

_YEAR = 366


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(plan)


def plan(
    interview: Annotated[
        str | None, typer.Option(metavar="DATE", help="The day of it, as in 2027-03-01.")
    ] = None,
    minutes: Annotated[
        int | None,
        typer.Option(min=0, max=1440, metavar="M", help="Minutes of answering a day."),
    ] = None,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="junior|senior|staff|SCRIPT",
            help="What to weigh by: the level of the job, or a mock's script.",
        ),
    ] = None,
    topic: Topics = None,
    all_: AllOfThem = False,
    save: Annotated[
        bool, typer.Option("--save", help="Keep it: from then on `quizkit study` follows the plan.")
    ] = False,
    bank: Banks = None,
    json: Json = False,
    lang: Spoken = None,
    plain: Unboxed = False,
) -> None:
    """Choose what to practise each day, so that most is remembered on the interview's day."""
    from datetime import UTC, datetime

    from quizkit.diary import Diary
    from quizkit.errors import UsageError
    from quizkit.paths import QUESTIONS, diary_file
    from quizkit.settings import settings
    from quizkit.tutor.lineup import core
    from quizkit.tutor.memory import Memory
    from quizkit.tutor.plan_outlook import Aim, outlook

    spoken = language(lang)
    settled = settings()
    now, said = datetime.now(UTC), interview or settled["interview"].value
    if said is None:
        raise UsageError("plan_no_date")
    day = _day(str(said), now.astimezone().date())
    amount = minutes if minutes is not None else settled["minutes"].number
    # What was settled for another interview says nothing of this one.
    kept = settled["interview_for"].value if interview is None else None
    aimed = for_ or (str(kept) if kept else None)
    topics = topic or (settled["interview_topics"].words if interview is None else ())
    wanted = choose_topics(QUESTIONS, bank or [], topics)
    with library(bank or []) as shelves, Diary(diary_file()) as diary:
        entries = shelves.entries(wanted)
        practice = todays_practice(entries)
        level = settled["level"].number
        weigh = _weigh(aimed, entries, bank or [])
        aim = Aim(interview=day, minutes=amount, weigh=weigh, level=level, lang=spoken)
        entries = [each for each in entries if aim.weigh(each) > 0]
        if not entries:
            raise UsageError("nothing_chosen")
        cards = Memory(diary, entries).cards
        planned = entries if all_ else core(entries, cards)
        found = outlook(planned, cards, diary.answers(), aim, now, placed=diary.placements())
    if save:
        _save(day, amount, aimed, topics, spoken)
    if json:
        first = practice.questions if practice else ()
        _print(found, aim, aimed, len(entries) - len(planned), first)
        return
    from quizkit.ui.screens.plan_screen import Told, plan_screen
    from quizkit.ui.terminal.console import console, is_plain

    followed = save or not any((interview, minutes is not None, for_, topic))
    shown = plan_screen(found, Told(aim, aimed, topics, followed, practice), spoken)
    console(plain=is_plain(plain)).print(shown)


def todays_lineup(entries: "Sequence[Entry]", cards: "Mapping[str, Card]", aim: "Aim") -> "Lineup":
    """Line up what is left of today's plan, worked out from what `plan` works it out from."""
    from datetime import UTC, datetime

    from quizkit.diary import Diary
    from quizkit.paths import diary_file
    from quizkit.tutor.plan_outlook import planned_today

    entries = [each for each in entries if aim.weigh(each) > 0]
    with Diary(diary_file()) as diary:
        answers, placed = diary.answers(), diary.placements()
        return planned_today(entries, cards, answers, aim, datetime.now(UTC), placed=placed)


def settled_aim(entries: "Sequence[Entry]", banks: "Sequence[Path]", lang: "Lang") -> "Aim | None":
    """Return the interview that is settled, if it lies ahead and goes by any of these questions."""
    from datetime import datetime

    from quizkit.settings import settings
    from quizkit.tutor.plan_outlook import Aim
    from quizkit.tutor.plan_weights import within

    settled = settings()
    day, minutes = settled["interview"].value, settled["minutes"].number
    if day is None or date.fromisoformat(str(day)) <= datetime.now().astimezone().date():
        return None
    aimed = settled["interview_for"].value
    topics = settled["interview_topics"].words
    weigh = within(topics, _weigh(str(aimed) if aimed else None, entries, banks))
    if not any(weigh(each) > 0 for each in entries):
        return None
    level = settled["level"].number
    when = date.fromisoformat(str(day))
    return Aim(interview=when, minutes=minutes, weigh=weigh, level=level, lang=lang)


def _day(text: str, today: date) -> date:
    """The day of the interview, where it can be planned for."""
    from quizkit.errors import UsageError

    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise UsageError("plan_date", given=text) from None
    if day == today:
        raise UsageError("plan_today")
    if day < today:
        raise UsageError("plan_past", date=day)
    if (day - today).days > _YEAR:
        raise UsageError("plan_far", date=day)
    return day


def _weigh(aimed: str | None, entries: "Sequence[Entry]", banks: "Sequence[Path]") -> "Weigh":
    from quizkit.tutor.plan_weights import ROLES, alike, by_role, by_script

    if aimed is None:
        return alike
    for role in ROLES:
        if aimed == role:
            return by_role(role)
    return by_script(_script(aimed, banks), entries)


def _script(name: str, banks: "Sequence[Path]") -> "Script":
    """The script of that name, the user's own before the shipped one."""
    from quizkit.bank.mocks import mock_slugs, read_mock
    from quizkit.bank.model import Problem
    from quizkit.errors import BankError, UsageError
    from quizkit.near import nearest
    from quizkit.paths import QUESTIONS
    from quizkit.tutor.plan_weights import ROLES

    known = {
        slug: folder for folder in (QUESTIONS, *own_banks(banks)) for slug in mock_slugs(folder)
    }
    if name not in known:
        raise UsageError("plan_for", name=name, hint=nearest(name, [*ROLES, *known]))
    problems: list[Problem] = []
    script = read_mock(known[name], name, problems)
    if script is None:
        raise BankError("question_broken", problems="\n".join(map(str, problems)))
    return script


def _save(day: date, minutes: int, aimed: str | None, topics: Sequence[str], lang: "Lang") -> None:
    from quizkit.settings import settle
    from quizkit.words import say

    settle("interview", day.isoformat())
    settle("interview_for", aimed)
    settle("interview_topics", ", ".join(topics) or None)
    file = settle("minutes", str(minutes))
    tell(say("plan.saved", lang, file=file), err=True)


def _print(
    found: "Outlook", aim: "Aim", aimed: str | None, left_out: int, first: Sequence[str]
) -> None:
    import json

    said = {
        "schema": "quizkit/plan/1",
        "interview": aim.interview.isoformat(),
        "minutes": aim.minutes,
        "for": aimed,
        "all": _prospect(found.whole),
        "left_out": left_out,
        "topics": [{"topic": topic, **_prospect(each)} for topic, each in found.topics.items()],
        "days": [
            {
                "date": day.isoformat(),
                "minutes": round(each.seconds / 60, 2),
                "due": due,
                "reviews": each.reviews,
                "new": each.new,
            }
            for (day, each), due in zip(found.days, found.due, strict=True)
        ],
        "first_today": first,
        "slip_today": found.slip,
        "best_topic": found.best[0] if found.best else None,
        "more": dict(zip(("minutes", "gain"), found.more, strict=True)) if found.more else None,
        "spent_today": round(found.spent / 60, 2),
        "too_long": found.too_long,
        "unmet": dict(found.unmet),
        "curve": {"reviews": found.reviews, "times": found.model.times, "decay": found.model.decay},
    }
    typer.echo(json.dumps(said, ensure_ascii=False))


def _prospect(of: "Prospect") -> dict[str, Any]:
    return {
        "questions": of.questions,
        "met": of.met,
        "recall_without": of.without,
        "recall_with": of.practised,
    }
