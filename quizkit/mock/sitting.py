"""One interview as the diary has it: enough to go on where a killed one stopped.

What happens in an interview is rows that are only added: its start, each question put, now and then
what is being typed, each answer, leaving and coming back, the clock's end, the scorecard. Each says
how much of the clock and of the pause budget was used by then, so the last one says it all.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, cast, get_args

from quizkit.answer import Answer, SessionEvent
from quizkit.bank.script import Look
from quizkit.diary import Diary
from quizkit.mock.desk import Stop
from quizkit.mock.heard import Heard
from quizkit.words import Lang

Judge = Literal["key", "learner", "keywords", "nobody"]
"""The judge of an answer: the key, the learner by the rubric, keywords alone, or no answer."""

_WORD = "mock:"
_LONGEST = 1e9  # seconds; JSON knows Infinity too
_START = ("script", "lang", "total", "budget", "scale")


@dataclass(frozen=True, slots=True)
class Kept:
    """The facts that an answer's row keeps beside the answer itself."""

    station: str
    heard: Heard
    late: bool
    judge: Judge
    typed: str
    target: float
    used: float
    paused: float

    def note(self) -> str:
        """Write it as it stands in the row."""
        named = {name: getattr(self, name) for name in self.__slots__}
        return _WORD + json.dumps(named, ensure_ascii=False)

    @classmethod
    def of(cls, answer: Answer) -> "Kept":
        """Read back what an answer's row keeps."""
        return cls(**json.loads(answer.note.removeprefix(_WORD)))

    @classmethod
    def if_any(cls, answer: Answer) -> "Kept | None":
        """Read it back from a row that may come from anywhere; None where it says no such thing."""
        try:
            kept = cls.of(answer)
        except (ValueError, TypeError):
            return None
        return kept if kept._is_sound() else None

    def _is_sound(self) -> bool:
        # What JSON brought need not be of the types that are written here.
        heard, judge = cast("object", self.heard), cast("object", self.judge)
        texts: list[object] = [self.station, self.typed]
        numbers: list[object] = [self.target, self.used, self.paused]
        return (
            isinstance(heard, dict)
            and {"right", "wrong", "score"} <= heard.keys()
            and all(isinstance(each, str) for each in texts)
            and judge in get_args(Judge)
            and all(isinstance(each, int | float) and 0 <= each <= _LONGEST for each in numbers)
        )


@dataclass(slots=True)
class InterviewState:
    """The state of one interview; `last` is when it was last known to be going on.

    By station: `hints` taken, `sure` of the answer. `looks` were seen, `questions` asked; `told`
    are the numbers of the facts that were told.
    """

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
    hints: dict[str, int] = field(default_factory=dict[str, int])
    looks: list[str] = field(default_factory=list[str])
    told: list[int] = field(default_factory=list[int])
    questions: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    sure: dict[str, bool] = field(default_factory=dict[str, bool])

    def saw(self, look: Look) -> bool:
        """Tell whether a record was looked at; one that costs nothing lies there."""
        return not look.seconds or look.id in self.looks

    def heard(self) -> dict[str, Heard]:
        """Return the evidence of each answer, by station."""
        return {name: Kept.of(answer).heard for name, answer in self.answers.items()}


def start_note(sitting: InterviewState) -> dict[str, Any]:
    """Return the note of an interview's first row."""
    return {name: getattr(sitting, name) for name in _START}


def load(diary: Diary, session: str) -> InterviewState:
    """Load the interview of a session that was started. Rows that say nothing are passed by."""
    start, *_ = diary.events(session=session, name="start")
    sitting = _begun(start)
    for event in diary.events(session=session):
        _happened(sitting, event)
    for row in diary.answers():
        kept = Kept.if_any(row) if row.session == session else None
        if kept:
            # A judged essay comes after the open one, and takes its place.
            there = sitting.answers.get(kept.station)
            if there is None or there.undoes != row.uuid:
                sitting.answers[kept.station] = row
            _take(sitting, row.at, {"used": kept.used, "paused": kept.paused})
    return sitting


def sittings(diary: Diary) -> list[InterviewState]:
    """List the interviews as they began, with the scorecard of each that ended; the last first."""
    cards = {event.session: event.note["card"] for event in diary.events(name="done")}
    every = [_begun(event) for event in diary.events(name="start")]
    for sitting in every:
        sitting.card = cards.get(sitting.session)
    return every[::-1]


def _begun(start: SessionEvent) -> InterviewState:
    note = {name: start.note[name] for name in _START}
    return InterviewState(session=start.session, at=start.at, last=start.at, **note)


def _happened(sitting: InterviewState, event: SessionEvent) -> None:
    note = event.note
    match event.name:
        case "shown":
            sitting.station, sitting.draft, sitting.spent = note["station"], "", 0.0
        case "alive" | "left":
            sitting.draft = str(note.get("draft", sitting.draft))
            sitting.spent = note["spent"]
        case "back":
            sitting.charged += note["charged"]
        case "hint":
            station = str(note["station"])
            sitting.hints[station] = sitting.hints.get(station, 0) + 1
        case "look":
            sitting.looks.append(str(note["look"]))
        case "told":
            sitting.questions.append(str(note["text"]))
            sitting.told += [n for n in note["facts"] if type(n) is int and n not in sitting.told]
        case "note":
            sitting.notes.append(str(note["text"]))
        case "sure":
            sitting.sure[str(note["station"])] = note["sure"] is True
        case "spoken":
            sitting.lang = note["lang"]
        case "stopped":
            sitting.stop = note["why"]
        case "done":
            sitting.card = note["card"]
        case _:
            return
    _take(sitting, event.at, note)


def _take(sitting: InterviewState, at: datetime, note: Mapping[str, Any]) -> None:
    """Believe the row that is furthest on: neither the clock nor the pauses ever go back."""
    if "used" in note and note["used"] + note["paused"] >= sitting.used + sitting.paused:
        sitting.used, sitting.paused, sitting.last = note["used"], note["paused"], at
