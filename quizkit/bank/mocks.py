"""Interview scripts: how they are read, and what may be wrong with them.

`if` is a formula over what the answer showed. Always: `right`, `wrong`, `score` (0 to 1), `left`
(minutes on the clock), `hints` (taken here), `silent`. Of an essay `point1`, `veto1`, ...; of a
choice `option1`, ...; of a number `low`, `high`, `trap1`, ...; of something written `check1`, ...;
of a bug `line`, `reason1`, ...; and `look1`, ... of what could be looked at, from the outermost
step inward.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from quizkit.bank.build import Builder, unknown
from quizkit.bank.formula import Formula, FormulaError, unknown_names
from quizkit.bank.functions import Value
from quizkit.bank.language import language_problems
from quizkit.bank.model import Bug, Choice, Essay, Numeric, Problem, Question, Term
from quizkit.bank.nodes import compose
from quizkit.bank.reader import Bank, files_of, shelves
from quizkit.bank.retired import no_question
from quizkit.bank.rules import MOST_HINTS, Rule
from quizkit.bank.script import (
    BEST,
    DIMENSIONS,
    FOLDER,
    Script,
    Station,
    Write,
    WrittenTask,
)

ALWAYS = ("right", "wrong", "score", "left", "hints", "silent")
"""What every answer shows."""


def mock_slugs(folder: Path) -> list[str]:
    """Return the scripts of a bank, sorted."""
    return [path.stem for path in _files(folder, [])]


def read_mock(folder: Path, slug: str, problems: list[Problem]) -> Script | None:
    """Read a script of the bank in `folder`; what is wrong with it is added to `problems`."""
    name = f"{FOLDER}/{slug}.yaml"
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
        for index, name in enumerate(station.practice):
            if name not in bank.questions:
                here = f"{place}.practice.{index}"
                yield here, no_question(name, bank.questions, bank.retired)
        for index, look in enumerate(station.looks):
            here = f"{place}.looks.{index}"
            if look.of not in bank.questions:
                yield f"{here}.of", no_question(look.of, bank.questions, bank.retired)
            elif look.exhibit(bank.questions) is None:
                yield f"{here}.show", f"no {look.show} was recorded for `{look.of}`"
        question = script.question(station, bank.questions)
        known = shown_names(question, len(script.looks(station)))
        deaf = _deaf(question)
        for index, probe in enumerate(station.probes):
            here = f"{place}.probes.{index}.if"
            strangers = unknown_names(probe.when, known)
            for name in strangers:
                yield here, unknown("name", name, known)
            if not strangers:
                yield from ((here, message) for message in _undecided(probe.when, known))
            for name in sorted(deaf & probe.when.names):
                yield here, f"`{name}` has no keywords, so nothing said can show it"


def shown_names(question: Question, looks: int = 0) -> list[str]:
    """Return the names that a condition may use after an answer to the question."""
    numbered: list[tuple[str, int]] = [("look", looks)]
    names = [*ALWAYS]
    match question:
        case Essay():
            numbered += [("point", len(question.rubric)), ("veto", len(question.vetoes))]
        case Choice():
            numbered.append(("option", len(question.options)))
        case Numeric():
            names += ["low", "high"]
            numbered.append(("trap", len(question.traps)))
        case WrittenTask():
            numbered.append(("check", len(question.write.checks)))
        case Bug():
            names.append("line")
            numbered.append(("reason", len(question.reasons)))
        case _:
            pass
    return [*names, *(f"{name}{n}" for name, count in numbered for n in range(1, count + 1))]


def _deaf(question: Question) -> set[str]:
    """Return the names of points that no word can show."""
    if isinstance(question, Bug):
        return {f"reason{n}" for n, p in enumerate(question.reasons, 1) if not p.keywords}
    if not isinstance(question, Essay):
        return set()
    deaf = {f"point{n}" for n, p in enumerate(question.rubric, 1) if not p.keywords}
    return deaf | {f"veto{n}" for n, v in enumerate(question.vetoes, 1) if not v.keywords}


def _undecided(when: Formula, known: list[str]) -> Iterator[str]:
    """Yield why a condition is undecided of an answer that showed nothing, or everything."""
    for shown in (False, True):
        values: dict[str, Value] = dict.fromkeys(known, shown)
        values |= {"wrong": not shown, "score": float(shown), "left": 10.0, "hints": int(shown)}
        try:
            when.truth(values)
        except FormulaError as error:
            yield str(error)
            return


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


def scripts(folder: Path, bank: Bank) -> Iterator[Script]:
    """Yield the scripts of a folder that can be held with its bank."""
    for path in _files(folder, []):
        script = read_mock(folder, path.stem, [])
        if script is not None and not any(unasked(script, bank)):
            yield script


def _files(folder: Path, problems: list[Problem]) -> list[Path]:
    there = any(path.name == FOLDER for path in shelves(folder))
    return files_of(folder, FOLDER, problems) if there else []


def _myths(script: Script, bank: Bank) -> Iterator[Rule]:
    for place, station in script.placed():
        vetoes = station.essay.vetoes if station.essay else ()
        named = [(f"vetoes.{n}", veto.myth) for n, veto in enumerate(vetoes)]
        traps = station.estimate.traps if station.estimate else ()
        named += [(f"traps.{n}", trap.myth) for n, trap in enumerate(traps)]
        for where, myth in named:
            if myth and myth not in bank.myths:
                own = "essay" if station.essay else "estimate"
                yield f"{place}.{own}.{where}.myth", unknown("myth", myth, bank.myths)


def _broken_rules(script: Script) -> Iterator[Rule]:
    if not 1 <= script.level <= 5:
        yield "level", f"level {script.level}: levels are 1 to 5"
    if script.minutes < 1:
        yield "minutes", "an interview takes a minute at least"
    if script.pause_minutes < 0:
        yield "pause_minutes", "a pause is not negative"
    if not script.stations:
        yield "stations", "an interview needs a question"
    wanted = sum(longest(station) for station in script.stations)
    if wanted > script.minutes * 60:
        yield "minutes", f"the longest way takes {wanted} s, the clock has {script.minutes * 60} s"
    stations = [station.id for station in script.stations]
    for index, fact in enumerate(script.facts):
        if not fact.keywords:
            yield f"facts.{index}", "has no keywords, so no question can bring it out"
        for name in fact.about:
            if name not in stations:
                yield f"facts.{index}.about", unknown("station", name, stations)
    yield from _stations(script)
    yield from _weights(script)


def longest(station: Station) -> int:
    """Return the seconds of the longest way through a step and its probes, looks included."""
    looks = sum(look.seconds for look in station.looks)
    return station.seconds + looks + max(map(longest, station.probes), default=0)


def _stations(script: Script) -> Iterator[Rule]:
    seen: set[str] = set()
    looks: set[str] = set()
    for place, station in script.placed():
        if station.id in seen:
            yield f"{place}.id", f"station `{station.id}` is there twice"
        seen.add(station.id)
        asked = (station.ask, station.essay, station.estimate, station.write)
        if sum(each is not None for each in asked) != 1:
            yield (
                place,
                "a station has either `ask:` (a question's id), or one of `essay:`, `estimate:`, "
                "`write:`",
            )
        if station.essay is not None and not station.essay.rubric:
            yield f"{place}.essay.rubric", "an essay needs at least one rubric point"
        if station.estimate is not None and not 0 < station.estimate.within <= 1:
            yield f"{place}.estimate.within", "how far off it may be: more than 0, at most 1"
        if station.write is not None:
            yield from ((f"{place}.write{at}", told) for at, told in _write(station.write))
        if station.seconds < 1:
            yield f"{place}.seconds", "a question needs some time"
        if len(station.hints) > MOST_HINTS:
            yield f"{place}.hints", f"{len(station.hints)} hints; {MOST_HINTS} at most"
        if station.hints and station.ask:
            yield f"{place}.hints", "a question of the bank brings its own hints"
        for index, look in enumerate(station.looks):
            if look.id in looks:
                yield f"{place}.looks.{index}.id", f"look `{look.id}` is there twice"
            looks.add(look.id)
            if look.seconds < 0:
                yield f"{place}.looks.{index}.seconds", "looking does not give time back"
        for name, share in station.speaks.items():
            if name not in DIMENSIONS:
                yield f"{place}.speaks.{name}", unknown("dimension", name, DIMENSIONS)
            elif share <= 0:
                yield f"{place}.speaks.{name}", "a share is more than 0"
        if not station.speaks:
            yield f"{place}.speaks", "says for which dimensions the answer is evidence"
    for index, station in enumerate(script.stations):
        if station.when is not None and (strangers := unknown_names(station.when, ["left"])):
            yield f"stations.{index}.if", f"a station knows `left` alone, not `{strangers[0]}`"


def _write(write: Write) -> Iterator[Rule]:
    if bool(write.fields) == (write.schedule is not None):
        yield "", "either `fields:` or `schedule:`"
        return
    if not write.checks:
        yield ".checks", "nothing is checked"
    known = ["runs", "bubble", "peak", "makespan"] if write.schedule else [*write.fields]
    known += [*write.given]
    for index, check in enumerate(write.checks):
        if check.points < 1:
            yield f".checks.{index}.points", "a check is worth a point at least"
        for name in unknown_names(check.when, known):
            yield f".checks.{index}.if", unknown("name", name, known)
    for name in {*write.fields} & {*write.given}:
        yield f".given.{name}", "is a field already"
    wrong = ((f"wrong.{n}", each) for n, each in enumerate(write.wrong))
    for at, each in (("example", write.example), *wrong):
        if isinstance(each, Mapping) == (write.schedule is not None):
            wanted = "a line for each stage" if write.schedule else "a number for each field"
            yield f".{at}", f"needs {wanted}"
        elif isinstance(each, Mapping) and {*each} != {*write.fields}:
            yield f".{at}", f"needs a number for each of {', '.join(write.fields)}"


def _weights(script: Script) -> Iterator[Rule]:
    always = {name for s in script.stations if s.when is None for name in s.speaks}
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
