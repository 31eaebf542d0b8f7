"""Weigh questions in a plan: by the level of the job, or by an interview's script."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal, get_args

from quizkit.bank.entry import Entry
from quizkit.bank.script import Script

Weigh = Callable[[Entry], float]
Role = Literal["junior", "senior", "staff"]
ROLES: tuple[Role, ...] = get_args(Role)

# How much an interview for the job goes by questions of levels 1 to 5: name it, compute it,
# diagnose it, price it, defend it at scale. A judgement, with the middle of the job at 1.
_LEVELS: Mapping[Role, tuple[float, float, float, float, float]] = {
    "junior": (1.0, 1.0, 0.7, 0.3, 0.1),
    "senior": (0.5, 0.8, 1.0, 0.8, 0.4),
    "staff": (0.3, 0.5, 0.8, 1.0, 1.0),
}


def alike(_: Entry) -> float:
    """Weigh every question as much as any other."""
    return 1.0


def within(topics: Collection[str], weigh: Weigh) -> Weigh:
    """Weigh what the topics hold as before, all else nothing. No topics: all of them."""
    return (lambda entry: weigh(entry) if entry.topic in topics else 0.0) if topics else weigh


def by_role(role: Role) -> Weigh:
    """Weigh a question by its level alone, for this role."""
    return lambda entry: _LEVELS[role][entry.level - 1]


def by_script(script: Script, entries: Iterable[Entry]) -> Weigh:
    """Weigh a topic by its share of the script's time, which its questions share alike.

    What the script does not ask weighs nothing. Questions of the script's own stand on no shelf.
    """
    spent = Counter[str]()
    for _, station in script.placed():
        if station.ask:
            spent[station.ask.split("/")[0]] += station.seconds
    counts = Counter(each.topic for each in entries)
    total = sum(seconds for topic, seconds in spent.items() if counts[topic])
    return lambda entry: spent[entry.topic] / total / counts[entry.topic] if total else 0.0
