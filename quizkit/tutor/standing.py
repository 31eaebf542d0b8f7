"""Work out where the learner stands: all that follows from answers, cards and the bank."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from quizkit.answer import Answer, Card, counted, flagged
from quizkit.bank.entry import Entry
from quizkit.tutor.activity import Activity, activity
from quizkit.tutor.beliefs import Belief, beliefs
from quizkit.tutor.calibration import Calibration, calibration
from quizkit.tutor.forecast import Forecast, forecast
from quizkit.tutor.memory import LEECH
from quizkit.tutor.retention import Retention, retention
from quizkit.tutor.tally import Tally, tallies


@dataclass(frozen=True, slots=True)
class Leech:
    """A question that will not stay, and the demo it hangs on."""

    question: str
    topic: str
    demo: str
    lapses: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The whole picture. Interview answers are in `mock`, and in the days; in nothing else."""

    now: datetime
    study: Tally
    mock: tuple[int, int]
    """Answered and right."""
    gone: int
    """Answers to questions that are not in the bank now."""
    flags: int
    topics: Mapping[str, Tally]
    levels: Mapping[tuple[str, int], Tally]
    kinds: Mapping[tuple[str, str], Tally]
    forecast: Forecast
    every: Retention
    recent: Retention
    beliefs: Sequence[Belief]
    calibration: Calibration
    leeches: Sequence[Leech]
    activity: Activity

    @property
    def empty(self) -> bool:
        """Tell whether nothing was answered yet."""
        return not (self.study.answered or self.mock[0] or self.gone)


def standing(
    entries: Iterable[Entry],
    cards: Mapping[str, Card],
    answers: Iterable[Answer],
    now: datetime,
    *,
    topics: Collection[str] | None = None,
    zone: tzinfo | None = None,
) -> Standing:
    """Work out how things stand now, in these topics or in all. Takes the whole bank and diary:
    a myth shown in one topic can be laid to rest in another.
    """
    bank, rows = list(entries), list(answers)
    names = _names(bank)
    every_one = judged(bank, rows)
    here = [row for row in every_one if _within(row.question, topics)]
    chosen = [each for each in bank if topics is None or each.topic in topics]
    ids = {each.id for each in chosen}
    known = [row for row in here if row.question in ids]
    study = [row for row in known if row.mode == "study"]
    mock = [row for row in known if row.mode == "mock"]
    every, recent = retention(known, now, zone)
    # Just after an answer everything is remembered, also what was wrong: a night on says more.
    tomorrow = now + timedelta(days=1)
    return Standing(
        now=now,
        study=tallies(chosen, cards, study, tomorrow, lambda each: None).get(None, Tally()),
        mock=(len(mock), sum(bool(row.right) for row in mock)),
        # An interview has questions of its own, which were never in the bank.
        gone=sum(row.question not in ids and row.mode == "study" for row in here),
        flags=sum(_within(row.question, topics) for row in _renamed(flagged(rows), names)),
        topics=tallies(chosen, cards, study, tomorrow, lambda each: each.topic),
        levels=tallies(chosen, cards, study, tomorrow, lambda each: (each.topic, each.level)),
        kinds=tallies(chosen, cards, study, tomorrow, lambda each: (each.topic, each.kind)),
        forecast=forecast([cards[each] for each in ids if each in cards], now, zone),
        every=every,
        recent=recent,
        beliefs=[b for b in beliefs(bank, every_one) if any(_within(n, topics) for n in b.shown)],
        calibration=calibration(study),
        leeches=leeches(chosen, cards),
        activity=activity(here, now, zone),
    )


def leeches(entries: Iterable[Entry], cards: Mapping[str, Card]) -> list[Leech]:
    """List what lapsed too often, the most often first."""
    found = [
        Leech(each.id, each.topic, each.demo, cards[each.id].lapses)
        for each in entries
        if each.id in cards and cards[each.id].lapses >= LEECH
    ]
    return sorted(found, key=lambda each: (-each.lapses, each.question))


def judged(entries: Iterable[Entry], answers: Iterable[Answer]) -> list[Answer]:
    """List the answers that count, under the names that their questions have today."""
    return _renamed(counted(answers), _names(entries))


def _names(entries: Iterable[Entry]) -> dict[str, str]:
    return {old: each.id for each in entries for old in each.was.split()}


def _within(question: str, topics: Collection[str] | None) -> bool:
    return topics is None or question.split("/")[0] in topics


def _renamed(answers: Iterable[Answer], names: Mapping[str, str]) -> list[Answer]:
    """The answers under the names that their questions have today."""
    return [
        replace(row, question=names[row.question]) if row.question in names else row
        for row in answers
    ]
