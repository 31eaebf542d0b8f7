"""Find today's questions in the seven days of practice that follow a mock interview.

Nothing is kept but the scorecard in the diary: what was practised since is in the answers.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, cast

from quizkit.answer import Answer, SessionEvent, counted
from quizkit.bank.entry import Entry
from quizkit.bank.model import Text
from quizkit.tutor.lineup import Lineup

DAYS = 7


@dataclass(frozen=True, slots=True)
class Practice:
    """Practice that stands on today: `questions` are those not answered since their day began.

    `title` is the interview's, which ended on `held`; today is its day number `day`.
    """

    title: Text
    held: date
    day: int
    questions: tuple[str, ...]


def practice_today(
    done: Sequence[SessionEvent],
    answers: Callable[[Collection[str]], Iterable[Answer]],
    now: datetime,
    zone: tzinfo | None = None,
) -> Practice | None:
    """Return today's practice after the last interview; None where there is none today.

    `done` are the events that ended interviews, `answers` returns those to some questions. Days are
    those of the zone's calendar (None: the clock on the wall). The first asking of a question
    counts from the interview on, the second from its own day.
    """
    ended = max(done, key=lambda event: event.at, default=None)
    if ended is None:
        return None
    held = ended.at.astimezone(zone).date()
    day = (now.astimezone(zone).date() - held).days + 1
    if not 1 <= day <= DAYS:
        return None
    card = ended.note.get("card")
    planned = _planned(card)
    last: dict[str, datetime] = {}
    for row in counted(answers({name for _, name, _ in planned})):
        if row.mode == "study":
            last[row.question] = max(row.at, last.get(row.question, row.at))
    wanted: dict[str, None] = {}
    for on, name, again in planned:
        since = ended.at
        if again:
            began = datetime.combine(held + timedelta(days=on - 1), time(), zone)
            since = max(since, began.astimezone(now.tzinfo))
        if on <= day and (name not in last or last[name] < since):
            wanted[name] = None
    title = _title(card)
    return Practice(title, held, day, tuple(wanted)) if wanted else None


def with_practice(lineup: Lineup, found: Practice, known: Iterable[Entry]) -> Lineup:
    """Return the lineup with the practice before all else, as far as its questions are known."""
    from dataclasses import replace

    there = named(found, known)
    why = ("study.now_mock", {"date": f"{found.held:%m-%d}"})
    return replace(
        lineup,
        plan=[*there, *(name for name in lineup.plan if name not in there)],
        later=[[each for each in part if each.id not in there] for part in lineup.later],
        waiting={name for name in lineup.waiting if name not in there},
        ahead=lineup.ahead and not there,
        first=there,
        why=why,
    )


def named(found: Practice, known: Iterable[Entry]) -> tuple[str, ...]:
    """Return the practice's questions by the names they have now; those that are gone are not."""
    names: dict[str, str] = {}
    for each in known:
        names |= {each.id: each.id, **dict.fromkeys(each.was.split(), each.id)}
    return tuple(dict.fromkeys(names[name] for name in found.questions if name in names))


def _planned(card: object) -> list[tuple[int, str, bool]]:
    """Return (day, question, again) of each asking. A card may come from anywhere, or be older."""
    planned: list[tuple[int, str, bool]] = []
    for day in _listed(card, "practice"):
        for task in _listed(day, "questions"):
            match day, task:
                case {"day": int(on)}, {"question": str(name)}:
                    planned.append((on, name, task.get("again") is True))
                case _:
                    pass
    return planned


def _listed(data: object, name: str) -> list[Mapping[str, Any]]:
    found = cast("Mapping[str, object]", data).get(name) if isinstance(data, Mapping) else None
    every = cast("Sequence[object]", found) if isinstance(found, list) else ()
    return [cast("Mapping[str, Any]", each) for each in every if isinstance(each, Mapping)]


def _title(card: object) -> Text:
    match card:
        case {"title": {"zh": str(zh), "en": str(en)}}:
            return Text(zh, en)
        case _:
            return Text("", "")
