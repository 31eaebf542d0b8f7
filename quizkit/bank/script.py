"""The nouns of an interview script: a tree of steps, and what each of them asks.

Stations are the main line. A probe is a step below a step: after an answer the first probe whose
`if` holds is put, then that probe's own, and so on, then the next station. A script therefore has
no loop, and no step is put twice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from quizkit.bank.formula import Formula
from quizkit.bank.functions import Number
from quizkit.bank.model import (
    Essay,
    Exhibit,
    Numeric,
    Question,
    RubricPoint,
    Shown,
    Text,
    Trap,
    Veto,
)

Dimension = Literal["correctness", "numbers", "trade-offs", "rigour", "communication"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
BEST = 4.0
"""The top of the scale of a dimension, as interviewers' forms have it; 0 is the bottom."""

FOLDER = "mocks"
Layout = Mapping[str, int]
Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InlineEssay:
    """An open question that belongs to one script alone."""

    prompt: Text
    rubric: tuple[RubricPoint, ...]
    explain: Text
    vetoes: tuple[Veto, ...] = ()
    say: Text | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number to estimate; `within` is how far off it may be, as a share of the answer."""

    prompt: Text
    answer: Formula
    within: float
    explain: Text
    unit: str = ""
    params: Mapping[str, tuple[Number, ...]] = field(default_factory=dict[str, tuple[Number, ...]])
    where: Formula | None = None
    traps: tuple[Trap, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenCheck:
    """Something that must be true of what was written, and what that is worth."""

    points: int
    says: Text
    when: Formula = field(metadata={"key": "if"})


@dataclass(frozen=True, slots=True)
class ScheduleSize:
    """The pipeline that a schedule is written for."""

    stages: int
    microbatches: int


@dataclass(frozen=True, slots=True)
class Write:
    """A layout (numbers by name) or a schedule (one line a stage) to write down.

    `example` passes every check; each check fails on one of `wrong` at least.
    """

    prompt: Text
    checks: tuple[WrittenCheck, ...]
    example: Layout | Lines
    wrong: tuple[Layout | Lines, ...]
    explain: Text
    fields: Mapping[str, Text] = field(default_factory=dict[str, Text])
    given: Mapping[str, Number] = field(default_factory=dict[str, Number])
    schedule: ScheduleSize | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class WrittenTask(Question):
    """A `write` step as a question; only interviews ask it."""

    write: Write


@dataclass(frozen=True, slots=True)
class Look:
    """Recorded evidence that is shown on request, and the seconds that looking takes.

    `of` is the question of the bank whose evidence it is, `show` the part of it. What takes no time
    lies on the table from the start. `keywords` are how one asks for it in words.
    """

    id: str
    of: str
    show: Shown
    seconds: int
    name: Text
    keywords: tuple[str, ...] = ()

    def exhibit(self, questions: Mapping[str, Question]) -> Exhibit | None:
        """Return what was recorded; None where the bank has no such thing."""
        question = questions.get(self.of)
        there = question.exhibits if question else ()
        return next((each for each in there if each.kind == self.show), None)


@dataclass(frozen=True, slots=True)
class ToldFact:
    """Something the interviewer tells who asks for it.

    `about` names the stations that it belongs to, where it would mislead at others.
    """

    asks: Text
    keywords: tuple[str, ...]
    answer: Text
    about: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Station:
    """One step: what is asked, how long it should take, and which dimensions it speaks to.

    It asks one of: a question of the bank, an essay, an estimate, something to write. `clarifies`:
    the answer is questions to the interviewer, whose facts are told at once. `practice` are
    questions of the bank for who did badly here.
    """

    id: str
    ask: str | None = None
    essay: InlineEssay | None = None
    estimate: Estimate | None = None
    write: Write | None = None
    seconds: int
    speaks: Mapping[str, float]
    lead: Text | None = None
    hints: tuple[Text, ...] = ()
    looks: tuple[Look, ...] = ()
    practice: tuple[str, ...] = ()
    clarifies: bool = False
    when: Formula | None = field(default=None, metadata={"key": "if"})
    probes: tuple["Probe", ...] = ()

    @property
    def own(self) -> InlineEssay | Estimate | Write | None:
        """Return what it asks that no shelf has, if it does."""
        return self.essay or self.estimate or self.write


@dataclass(frozen=True, kw_only=True)
class Probe(Station):
    """A question the interviewer asks after an answer of which something is true."""

    when: Formula = field(metadata={"key": "if"})


@dataclass(frozen=True, kw_only=True)
class Script:
    """An interview: what is said and asked, in how much time, and what passes."""

    slug: str = field(metadata={"given": True})
    digest: str = field(metadata={"given": True})
    lines: Mapping[str, int] = field(metadata={"given": True}, repr=False, compare=False)
    title: Text
    level: int
    opening: Text
    minutes: int
    pause_minutes: int
    weights: Mapping[str, float]
    pass_mark: Mapping[str, float] = field(metadata={"key": "pass"})
    facts: tuple[ToldFact, ...] = ()
    stations: tuple[Station, ...]

    @property
    def file(self) -> str:
        """Its path in the bank."""
        return f"{FOLDER}/{self.slug}.yaml"

    def line(self, place: str) -> int:
        """Return the line of a place such as `stations.1.probes.0`, or of what encloses it."""
        while place and place not in self.lines:
            place = place.rpartition(".")[0]
        return self.lines.get(place, 1)

    def named(self) -> frozenset[str]:
        """Return every question of the bank that it asks, shows the evidence of, or recommends."""
        names: set[str] = set()
        for _, step in self.placed():
            names |= {step.ask} if step.ask else set[str]()
            names |= {*step.practice, *(look.of for look in step.looks)}
        return frozenset(names)

    def topics(self) -> frozenset[str]:
        """Return the shelves those questions stand on."""
        return frozenset(name.split("/", 1)[0] for name in self.named())

    def placed(self) -> Iterator[tuple[str, Station]]:
        """Yield every station and probe with its place in the file, in the order they are met."""

        def below(stations: tuple[Station, ...], place: str) -> Iterator[tuple[str, Station]]:
            for index, station in enumerate(stations):
                here = f"{place}.{index}"
                yield here, station
                yield from below(station.probes, f"{here}.probes")

        yield from below(self.stations, "stations")

    def main(self, step: Station) -> Station:
        """Return the station of the main line that a step belongs to."""

        def within(station: Station) -> bool:
            return station.id == step.id or any(map(within, station.probes))

        return next(filter(within, self.stations))

    def facts_at(self, station: Station) -> dict[int, ToldFact]:
        """Return the facts that can be asked for at a station or below it, by their numbers."""
        every = enumerate(self.facts)
        return {n: fact for n, fact in every if not fact.about or station.id in fact.about}

    def looks(self, step: Station) -> tuple[Look, ...]:
        """Return what can be looked at while a step is open: its own looks and those above it."""

        def towards(
            stations: tuple[Station, ...], above: tuple[Look, ...]
        ) -> tuple[Look, ...] | None:
            for each in stations:
                here = (*above, *each.looks)
                if each.id == step.id:
                    return here
                found = towards(each.probes, here)
                if found is not None:
                    return found
            return None

        return towards(self.stations, ()) or ()

    def question(self, station: Station, questions: Mapping[str, Question]) -> Question:
        """Return what the station asks: a question of the bank, or its own."""
        own = station.own
        if own is None:
            return questions[str(station.ask)]
        common: dict[str, Any] = {
            "id": f"{FOLDER}/{self.slug}/{station.id}",
            "file": self.file,
            "digest": self.digest,
            "lines": self.lines,
            "level": self.level,
            "prompt": own.prompt,
            "hints": station.hints,
            "explain": own.explain,
            "sources": own.sources,
        }
        match own:
            case InlineEssay():
                return Essay(
                    kind="essay", **common, rubric=own.rubric, vetoes=own.vetoes, say=own.say
                )
            case Estimate():
                return Numeric(
                    kind="numeric",
                    **common,
                    answer=own.answer,
                    params=own.params,
                    where=own.where,
                    unit=own.unit,
                    within=own.within,
                    traps=own.traps,
                )
            case Write():
                return WrittenTask(kind="written", **common, write=own)
