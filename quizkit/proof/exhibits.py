"""Make what an engineer would see of an incident out of reports: stacks, a log, numbers."""

import re
from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap

from quizkit.bank.build import unknown
from quizkit.bank.draw import show_value
from quizkit.bank.model import Exhibit, Question
from quizkit.errors import UsageError
from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Metric, Report, Setting
from quizkit.proof.difference import near

_WIDEST = 72  # columns, in which the narrowest screen but one shows it unbroken
_FRAME = re.compile(r'^  File "[^"]*?(\w+\.py)", line \d+, in (\S+)\n    (.*)$', re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")
_CHECKSUM = re.compile(r"(?<=:)[0-9a-f]{4}\b")
_CURVES = ("loss", "norm")

Run = Callable[[Setting], Report]


def settings(question: Question) -> list[Setting]:
    """Return the runs that the question's evidence is recorded of, the incident itself first."""
    evidence = question.evidence
    if evidence is None:
        return []
    args = dict(evidence.args)
    every = [args]
    if "curve" in evidence.show:
        every += [args | {"steps": n} for n in range(1, int(args["steps"]))]
    return [
        Setting(evidence.demo, evidence.ranks, tuple(sorted(each.items())), evidence.broken)
        for each in every
    ]


def recorded(question: Question, demo: Demo, run: Run) -> tuple[Exhibit, ...]:
    """Run the incident and write down what it shows. Raises UsageError where that is nothing."""
    assert question.evidence is not None
    reports = [run(each) for each in settings(question)]
    found = [Exhibit(kind, _told(kind, demo, reports)) for kind in question.evidence.show]
    for each in found:
        if not each.text:
            raise UsageError("evidence_nothing", id=question.id, demo=demo.name, kind=each.kind)
    return tuple(found)


def differs(question: Question, demo: Demo, run: Run, *, exact: bool = True) -> list[str]:
    """List the evidence that a run does not show any more. A wall clock is never the same.

    Where numbers need not be `exact`, as on a processor that rounds otherwise, they must be near.
    """
    if question.evidence is None:
        return []
    now = {each.kind: each.text for each in recorded(question, demo, run)}
    loose = {"timings"} if run(settings(question)[0]).timeline.clock != "virtual" else set[str]()
    return [
        f"evidence: the run no longer shows these {each.kind};"
        f" look, then quizkit bank evidence {question.id} --write"
        for each in question.exhibits
        if each.kind not in loose
        and each.text != (other := now.get(each.kind, ""))
        and (exact or not _near(each.text, other))
    ]


def _near(was: str, now: str) -> bool:
    """Whether the words are the same, the numbers near; lines may break elsewhere."""
    was, now = _numbered(was), _numbered(now)
    if _NUMBER.sub("#", was).split() != _NUMBER.sub("#", now).split():
        return False
    pairs = zip(_NUMBER.findall(was), _NUMBER.findall(now), strict=True)
    return all(near(float(one), float(other)) for one, other in pairs)


def _numbered(text: str) -> str:
    """Return the text with `sum0`, `sum1`, ... for its checksums, so that only the equal agree."""
    seen = dict[str, str]()
    return _CHECKSUM.sub(lambda at: seen.setdefault(at[0], f"sum{len(seen)}"), text)


def evidence_problems(question: Question, demos: Mapping[str, Demo]) -> Iterator[tuple[str, str]]:
    """Yield (place, message) of what the evidence asks for and its demo does not have."""
    evidence = question.evidence
    if evidence is None:
        return
    if question.proof is None:
        yield "evidence", "is held against a run where the question is proved: add a `proof`"
    demo = demos.get(evidence.demo)
    if demo is None:
        yield "evidence.demo", unknown("demo", evidence.demo, demos)
        return
    for name in evidence.args:
        if name not in demo.parameters:
            yield f"evidence.args.{name}", unknown("argument", name, demo.parameters)
    if evidence.broken is not None and evidence.broken not in demo.breaks:
        yield "evidence.break", unknown("break", evidence.broken, demo.breaks)
    elif "stacks" in evidence.show:
        expect = demo.breaks[evidence.broken].expect if evidence.broken else ""
        if not expect.startswith(("hangs", "crashes")):
            yield "evidence.show", "stacks are there only of a `break` that hangs or crashes"
    if not evidence.show:
        yield "evidence.show", "shows nothing"
    if "curve" in evidence.show and "steps" not in evidence.args:
        yield "evidence.show", "a curve is drawn over `args: {steps: N}`"
    units = {watch.unit for watch in demo.watch.values()}
    for kind, wanted in (("bytes", {"bytes"}), ("curve", {*_CURVES})):
        if kind in evidence.show and not units & wanted:
            yield "evidence.show", f"{demo.name} measures no {' and no '.join(sorted(wanted))}"


def _told(kind: str, demo: Demo, reports: list[Report]) -> str:
    report = reports[0]
    match kind:
        case "stacks":
            lines = _stacks(report, demo)
        case "log":
            lines = _log(report)
        case "timings":
            lines = _timings(report)
        case "bytes":
            lines = _metrics(report, {n for n, w in demo.watch.items() if w.unit == "bytes"})
        case _:
            lines = _curve([*reports[1:], report], demo)
    return "\n".join(lines)


def _stacks(report: Report, demo: Demo) -> Iterator[str]:
    """Yield where each rank was in the demo's own code: line numbers change with every edit."""
    for rank, stack in enumerate(report.error.stacks if report.error else ()):
        frames = [each for each in _FRAME.findall(stack or "") if each[0] == demo.path.name]
        if frames:
            yield f"rank {rank}"
            yield from (f"  {name}: {code}"[:_WIDEST] for _, name, code in frames)


def _log(report: Report) -> Iterator[str]:
    """Yield what each rank did, in its order; then why the run ended.

    Which rank is named as the first to fail is chance where all of them did the same.
    """
    did: set[tuple[str, ...]] = set()
    for schedule, rank, names, _ in _by_rank(report):
        words = tuple(name for name, _ in names)
        did.add(words)
        yield from _lines(rank, schedule, iter(words))
    if report.error:
        why = report.error.message.strip().split("\n")[0]
        alike = report.ranks > 1 and len(did) == 1
        why = re.sub(r"^rank \d+ ", "each rank ", why) if alike else why
        yield from wrap(why, _WIDEST, subsequent_indent="  ")


def _timings(report: Report) -> Iterator[str]:
    """Yield what each rank spent on what, and how long it idled up to its schedule's end."""
    for schedule, rank, spent, end in _by_rank(report):
        sums: dict[str, float] = {}
        for name, took in spent:
            kind = re.sub(r"[^A-Za-z]+.*", "", name) or name
            sums[kind] = sums.get(kind, 0.0) + took
        sums["idle"] = end - sum(sums.values())
        yield from _lines(rank, schedule, (f"{n} {show_value(s)}" for n, s in sums.items()))


def _by_rank(report: Report) -> Iterator[tuple[str, int, list[tuple[str, float]], float]]:
    """Yield each schedule, named if there are several; of each rank what took how long; the end."""
    events = sorted(report.timeline.events, key=lambda each: (each.start, each.end))
    several = len({each.schedule for each in events}) > 1
    for schedule in dict.fromkeys(each.schedule for each in report.timeline.events):
        end = max(each.end for each in events if each.schedule == schedule)
        for rank in range(report.ranks):
            mine = [e for e in events if (e.schedule, e.rank) == (schedule, rank)]
            told = [(re.sub(r", line \d+", "", e.name), e.end - e.start) for e in mine]
            yield schedule if several else "", rank, told, end


def _lines(rank: int, schedule: str, words: Iterator[str]) -> Iterator[str]:
    head = f"rank {rank}  "
    if schedule and not rank:
        yield f"{schedule}:"
    told = "  ".join(word.replace(" ", "\xa0") for word in words)
    lines = wrap(told, _WIDEST - len(head), break_on_hyphens=False)
    for number, line in enumerate(lines):
        yield f"{'' if number else head:{len(head)}}{line}".replace("\xa0", " ")


def _metrics(report: Report, names: set[str]) -> Iterator[str]:
    for name in report.metrics:
        if name in names:
            yield f"{name}  {_shown(report.metrics[name])}"


def _curve(reports: list[Report], demo: Demo) -> Iterator[str]:
    """Each loss and norm after 1, 2, ... steps."""
    for name, watch in demo.watch.items():
        points = [_shown(report.metrics[name]) for report in reports if name in report.metrics]
        if points and watch.unit in _CURVES:
            yield from wrap(f"{name}  {'  '.join(points)}", _WIDEST, subsequent_indent="  ")


def _shown(value: Metric) -> str:
    if not isinstance(value, tuple):
        return show_value(value)
    alike = len({*value}) == 1
    return show_value(value[0]) if alike else show_value([*value])
