"""One interview as the diary has it: enough to go on where a killed one stopped.

What happens in an interview is rows that are only added: its start, each question put, now and then
what is being typed, each answer, leaving and coming back, the clock's end, the scorecard. Each says
how much of the clock and of the pause budget was used by then, so the last one says it all.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from quizkit.answer import Answer, Event
from quizkit.diary import Diary
from quizkit.mock.desk import Stop
from quizkit.mock.heard import Heard
from quizkit.mock.scorecard import Judge
from quizkit.words import Lang

_WORD = "mock:"


@dataclass(frozen=True, slots=True)
class Kept:
    """What an answer's row says beside the answer itself."""

    station: str
    heard: Heard
    late: bool
    judge: Judge
    typed: str
    target: float
    used: float
    paused: float

    def note(self) -> str:
        """As it stands in the row."""
        named = {name: getattr(self, name) for name in self.__slots__}
        return _WORD + json.dumps(named, ensure_ascii=False)

    @classmethod
    def of(cls, answer: Answer) -> "Kept":
        """Read it back."""
        return cls(**json.loads(answer.note.removeprefix(_WORD)))


@dataclass(slots=True)
class Sitting:
    """The state of one interview; `last` is when it was last known to be going on."""

    session: str
    script: str
    lang: Lang
    at: datetime
    last: datetime
    total: float
    budget: float
    scale: float
    used: float = 0.0
    paused: float = 0.0
    charged: float = 0.0
    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    station: str = ""
    draft: str = ""
    spent: float = 0.0
    stop: Stop | None = None
    card: Mapping[str, Any] | None = None

    def heard(self) -> dict[str, Heard]:
        """What each answer showed, by station."""
        return {name: Kept.of(answer).heard for name, answer in self.answers.items()}


def start_note(sitting: Sitting) -> dict[str, Any]:
    """What the first row of an interview says."""
    return {name: getattr(sitting, name) for name in ("script", "lang", "total", "budget", "scale")}


def load(diary: Diary, session: str) -> Sitting:
    """The interview of a session."""
    first, *events = diary.events(session=session)
    sitting = _begun(first)
    for event in events:
        _happened(sitting, event)
    for row in diary.answers():
        if row.session == session:
            # A judged essay comes after the open one, and takes its place.
            kept = Kept.of(row)
            there = sitting.answers.get(kept.station)
            if there is None or there.undoes != row.uuid:
                sitting.answers[kept.station] = row
            _take(sitting, row.at, {"used": kept.used, "paused": kept.paused})
    return sitting


def sittings(diary: Diary) -> list[Sitting]:
    """Every interview as it began, and its scorecard if it came to its end; the last one first."""
    cards = {event.session: event.note["card"] for event in diary.events(name="done")}
    every = [_begun(event) for event in diary.events(name="start")]
    for sitting in every:
        sitting.card = cards.get(sitting.session)
    return every[::-1]


def _begun(start: Event) -> Sitting:
    return Sitting(session=start.session, at=start.at, last=start.at, **start.note)


def _happened(sitting: Sitting, event: Event) -> None:
    note = event.note
    match event.name:
        case "shown":
            sitting.station, sitting.draft, sitting.spent = note["station"], "", 0.0
        case "alive" | "left":
            sitting.draft = note.get("draft", sitting.draft)
            sitting.spent = note["spent"]
        case "back":
            sitting.charged += note["charged"]
        case "stopped":
            sitting.stop = note["why"]
        case "done":
            sitting.card = note["card"]
        case _:
            raise AssertionError(event.name)
    _take(sitting, event.at, note)


def _take(sitting: Sitting, at: datetime, note: Mapping[str, Any]) -> None:
    """Believe the row that is furthest on: neither the clock nor the pauses ever go back."""
    if "used" in note and note["used"] + note["paused"] >= sitting.used + sitting.paused:
        sitting.used, sitting.paused, sitting.last = note["used"], note["paused"], at
