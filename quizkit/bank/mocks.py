"""Interview scripts: what they are, how they are read, and what may be wrong with them.

A script is a graph: stations in order, each with probes that follow it up. A probe is a station
with a condition, so it may have probes of its own. `if` is a formula over what the answer showed:
`right`, `wrong`, `score` (0 to 1), and for an essay `point1`, `point2`, ... and `veto1`, ...: is
there evidence in the answer of that point of the rubric?
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from quizkit.bank.build import Builder, unknown
from quizkit.bank.formula import Formula, FormulaError, unknown_names
from quizkit.bank.functions import Value
from quizkit.bank.language import language_problems
from quizkit.bank.model import Essay, Problem, Question, RubricPoint, Term, Text, Veto
from quizkit.bank.nodes import compose
from quizkit.bank.reader import Bank, files_of, shelves
from quizkit.bank.retired import no_question
from quizkit.bank.rules import Rule

Dimension = Literal["correctness", "numbers", "trade-offs", "rigour", "communication"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
BEST = 4.0
"""The top of the scale of a dimension, as interviewers' forms have it; 0 is the bottom."""

_FOLDER = "mocks"
# What an interview can hand in by one line or one text; code to read needs a room of its own.
_ASKABLE = ("choice", "numeric", "order", "cloze", "essay")


@dataclass(frozen=True, slots=True)
class InlineEssay:
    """An open question that belongs to one script alone."""

    prompt: Text
    rubric: tuple[RubricPoint, ...]
    explain: Text
    vetoes: tuple[Veto, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Station:
    """One question of an interview, how long it should take, and which dimensions it speaks to."""

    id: str
    ask: str | None = None
    essay: InlineEssay | None = None
    seconds: int
    speaks: Mapping[str, float]
    lead: Text | None = None
    probes: tuple["Probe", ...] = ()


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
    stations: tuple[Station, ...]

    @property
    def file(self) -> str:
        """Its path in the bank."""
        return f"{_FOLDER}/{self.slug}.yaml"

    def line(self, place: str) -> int:
        """Return the line of a place such as `stations.1.probes.0`, or of what encloses it."""
        while place and place not in self.lines:
            place = place.rpartition(".")[0]
        return self.lines.get(place, 1)

    def topics(self) -> frozenset[str]:
        """Return the shelves its questions stand on."""
        return frozenset(
            station.ask.split("/", 1)[0] for _, station in self.placed() if station.ask
        )

    def placed(self) -> Iterator[tuple[str, Station]]:
        """Yield every station and probe with its place in the file, in the order they are met."""

        def below(stations: tuple[Station, ...], place: str) -> Iterator[tuple[str, Station]]:
            for index, station in enumerate(stations):
                here = f"{place}.{index}"
                yield here, station
                yield from below(station.probes, f"{here}.probes")

        yield from below(self.stations, "stations")

    def question(self, station: Station, questions: Mapping[str, Question]) -> Question:
        """Return what the station asks: a question of the bank, or its own."""
        if station.essay is None:
            return questions[str(station.ask)]
        essay = station.essay
        return Essay(
            id=f"{_FOLDER}/{self.slug}/{station.id}",
            file=self.file,
            digest=self.digest,
            lines=self.lines,
            kind="essay",
            level=self.level,
            prompt=essay.prompt,
            rubric=essay.rubric,
            vetoes=essay.vetoes,
            explain=essay.explain,
            sources=essay.sources,
        )


def mock_slugs(folder: Path) -> list[str]:
    """Return the scripts of a bank, sorted."""
    return [path.stem for path in _files(folder, [])]


def read_mock(folder: Path, slug: str, problems: list[Problem]) -> Script | None:
    """Read a script of the bank in `folder`; what is wrong with it is added to `problems`."""
    name = f"{_FOLDER}/{slug}.yaml"
    before = len(problems)

    def report(line: int, message: str) -> None:
        problems.append(Problem(name, line, message))

    root = compose(folder / name, report)
    if root is None:
        return None
    builder = Builder(report)
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()[:12]
    script: Script | None = builder.build(
        root, Script, slug=slug, digest=digest, lines=builder.lines
    )
    if script is None:
        return None
    for place, message in _broken_rules(script):
        report(script.line(place), message)
    return script if len(problems) == before else None


def unasked(script: Script, bank: Bank) -> Iterator[Rule]:
    """Yield each place of the script that asks what this bank does not have, or listens for what
    the question cannot show.
    """
    for place, station in script.placed():
        if station.ask is not None and station.ask not in bank.questions:
            yield f"{place}.ask", no_question(station.ask, bank.questions, bank.retired)
            continue
        question = script.question(station, bank.questions)
        if question.kind not in _ASKABLE:
            yield f"{place}.ask", f"a mock asks {', '.join(_ASKABLE)}; this is a {question.kind}"
        known = ["right", "wrong", "score", *_points(question)]
        deaf = {name for name, point in _points(question).items() if not point.keywords}
        for index, probe in enumerate(station.probes):
            here = f"{place}.probes.{index}.if"
            strangers = unknown_names(probe.when, known)
            for name in strangers:
                yield here, unknown("name", name, known)
            if not strangers:
                yield from ((here, message) for message in _undecided(probe.when, known))
            for name in sorted(deaf & probe.when.names):
                yield here, f"`{name}` has no keywords, so nothing said can show it"


def _undecided(when: Formula, known: list[str]) -> Iterator[str]:
    """Yield why a condition is undecided of an answer that showed nothing, or everything."""
    for shown in (False, True):
        values: dict[str, Value] = dict.fromkeys(known, shown)
        values |= {"wrong": not shown, "score": float(shown)}
        try:
            when.truth(values)
        except FormulaError as error:
            yield str(error)
            return


def _points(question: Question) -> dict[str, RubricPoint | Veto]:
    """Map the names that conditions use to what an answer to the question may show."""
    if not isinstance(question, Essay):
        return {}
    points = {f"point{n}": point for n, point in enumerate(question.rubric, start=1)}
    return points | {f"veto{n}": veto for n, veto in enumerate(question.vetoes, start=1)}


def mock_problems(folder: Path, bank: Bank, terms: Mapping[str, Term]) -> list[Problem]:
    """List everything wrong with a folder's scripts, held against its bank and term table."""
    problems: list[Problem] = []
    for path in _files(folder, problems):
        script = read_mock(folder, path.stem, problems)
        if script is not None:
            for place, message in (*unasked(script, bank), *_myths(script, bank)):
                problems.append(Problem(script.file, script.line(place), message))
            for place, message in language_problems(script, terms):
                problems.append(Problem(script.file, script.line(place), message, "warning"))
    return problems


def _files(folder: Path, problems: list[Problem]) -> list[Path]:
    there = any(path.name == _FOLDER for path in shelves(folder))
    return files_of(folder, _FOLDER, problems) if there else []


def _myths(script: Script, bank: Bank) -> Iterator[Rule]:
    for place, station in script.placed():
        for index, veto in enumerate(station.essay.vetoes if station.essay else ()):
            if veto.myth and veto.myth not in bank.myths:
                message = unknown("myth", veto.myth, bank.myths)
                yield f"{place}.essay.vetoes.{index}.myth", message


def _broken_rules(script: Script) -> Iterator[Rule]:
    if not 1 <= script.level <= 5:
        yield "level", f"level {script.level}: levels are 1 to 5"
    if script.minutes < 1:
        yield "minutes", "an interview takes a minute at least"
    if script.pause_minutes < 0:
        yield "pause_minutes", "a pause is not negative"
    if not script.stations:
        yield "stations", "an interview needs a question"
    wanted = sum(station.seconds for station in script.stations)
    if wanted > script.minutes * 60:
        yield "minutes", f"the stations want {wanted} s, the clock has {script.minutes * 60} s"
    yield from _stations(script)
    yield from _weights(script)


def _stations(script: Script) -> Iterator[Rule]:
    seen: set[str] = set()
    for place, station in script.placed():
        if station.id in seen:
            yield f"{place}.id", f"station `{station.id}` is there twice"
        seen.add(station.id)
        if (station.ask is None) == (station.essay is None):
            yield place, "a station has either `ask:` (a question's id) or `essay:`"
        if station.essay is not None and not station.essay.rubric:
            yield f"{place}.essay.rubric", "an essay needs at least one rubric point"
        if station.seconds < 1:
            yield f"{place}.seconds", "a question needs some time"
        for name, share in station.speaks.items():
            if name not in DIMENSIONS:
                yield f"{place}.speaks.{name}", unknown("dimension", name, DIMENSIONS)
            elif share <= 0:
                yield f"{place}.speaks.{name}", "a share is more than 0"
        if not station.speaks:
            yield f"{place}.speaks", "says for which dimensions the answer is evidence"


def _weights(script: Script) -> Iterator[Rule]:
    always = {name for station in script.stations for name in station.speaks}
    for name, weight in script.weights.items():
        if name not in DIMENSIONS:
            yield f"weights.{name}", unknown("dimension", name, DIMENSIONS)
        elif weight <= 0:
            yield f"weights.{name}", "a weight is more than 0"
        elif name not in always:
            # Were it in probes alone, two candidates would be weighed differently.
            yield f"weights.{name}", f"no station speaks to {name}, whatever is answered"
    for place, station in script.placed():
        for name in station.speaks:
            if name in DIMENSIONS and name not in script.weights:
                yield f"{place}.speaks.{name}", f"`{name}` has no weight"
    if "overall" not in script.pass_mark:
        yield "pass", "needs `overall`, from 0 to 4"
    for name, mark in script.pass_mark.items():
        if name != "overall" and name not in script.weights:
            yield f"pass.{name}", unknown("dimension", name, ["overall", *script.weights])
        elif not 0 <= mark <= BEST:
            yield f"pass.{name}", f"a mark is from 0 to {BEST:g}"
