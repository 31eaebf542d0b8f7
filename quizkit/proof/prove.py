"""Proves questions: runs each distinct setting once, and says apart what is proved, recorded (it
could not run here, and the record that ships bears it out), failed, skipped (it could not run here)
or sourced (nothing to run)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal

from quizkit.bank.formula import FormulaError
from quizkit.bank.model import Question, Text
from quizkit.errors import QuizkitError, UsageError
from quizkit.lab.bench import Bench
from quizkit.lab.catalogue import Demo
from quizkit.lab.demo import HANGING
from quizkit.lab.lanes import Lanes
from quizkit.lab.report import Report, Setting
from quizkit.proof.exhibits import differs, evidence_problems, settings
from quizkit.proof.judge import BoundRun, Judgement, judge, key_names
from quizkit.proof.loose import loose
from quizkit.proof.messages import told
from quizkit.proof.mutate import mutants, without_break
from quizkit.proof.parts import Parts, parts
from quizkit.proof.regime import regimes
from quizkit.proof.said import both, plain
from quizkit.proof.setting import Bindings, nearest, own_draw, rows, setting
from quizkit.proof.static import wrong_names
from quizkit.proof.symptom import FEWEST, names_cause, other_bugs, same_check
from quizkit.proof.thin import thin_proof
from quizkit.proof.undrawn import MOST, undrawn
from quizkit.proof.unsaid import unsaid
from quizkit.proof.view import ProofView, view
from quizkit.proof.worlds import World

Status = Literal["proved", "recorded", "failed", "skipped", "sourced"]
# Errors that say nothing about the question: the environment lacks what the run needs.
NOT_HERE = frozenset({"torch_missing", "bench_environment"})
Runner = Callable[[Setting], Report]


@dataclass(frozen=True, slots=True)
class Result:
    """The end of one question's proof."""

    question: str
    status: Status
    reasons: tuple[Text, ...] = ()
    judgement: Judgement | None = None
    parts: Parts | None = None

    @property
    def origins(self) -> list[str]:
        """Return where the report of each run came from."""
        return [run.report.origin for run in self.judgement.runs] if self.judgement else []


@dataclass(frozen=True, slots=True)
class Mutation:
    """The fate of one question's changed keys, and where else the key does not hold."""

    question: str
    killed: int
    survived: tuple[str, ...]
    elsewhere: tuple[Text, ...] = ()

    @property
    def wrong(self) -> int:
        """Count the findings."""
        return len(self.survived) + len(self.elsewhere)


def on_bench(bench: Bench, demos: Mapping[str, Demo], deadline: float = 60.0) -> Runner:
    """Return a runner on a warm bench. A break that hangs by design is not waited for long."""

    def run(wanted: Setting) -> Report:
        return bench.run(wanted, _limit(wanted, demos, deadline))

    return run


def on_lanes(
    lanes: Lanes, demos: Mapping[str, Demo], wanted: Iterable[Setting], deadline: float = 60.0
) -> Runner:
    """Return a runner that begins what will be wanted, side by side; timed runs are made alone."""
    for each in wanted:
        if not demos[each.demo].timed:
            lanes.begin(each, _limit(each, demos, deadline))

    def run(wanted: Setting) -> Report:
        if demos[wanted.demo].timed:
            lanes.settle()
        return lanes.run(wanted, _limit(wanted, demos, deadline))

    return run


def _limit(wanted: Setting, demos: Mapping[str, Demo], deadline: float) -> float:
    planted = demos[wanted.demo].breaks.get(wanted.broken or "")
    return HANGING if planted and planted.expect == "hangs" else deadline


def distinct(
    questions: Iterable[Question],
    demos: Mapping[str, Demo],
    mutated: bool = False,
    deep: bool = False,
    known: Mapping[str, Sequence[str]] | None = None,
) -> list[Setting]:
    """Return the runs that these proofs ask for, each once, in order; a faulty one asks for none.

    `mutated`: without breaks too; `deep`: in other regimes and conditions too; `known`: the faults
    of each, where they have been looked for.
    """
    found: dict[Setting, None] = {}
    for question in questions:
        if question.proof is None or (
            faults(question, demos) if known is None else known[question.id]
        ):
            continue
        healthy = [without_break(question)] if mutated and question.proof.broken else []
        others = [each.question for each in regimes(question, demos)] if deep else []
        if deep:  # the first that the demo does not refuse decides, and is nearly always the first
            others += [each.others[0] for each in unsaid(question, demos) if each.others]
        for each in (question, *healthy, *others):
            with suppress(FormulaError):  # whoever judges this question will meet it
                found |= dict.fromkeys(filled(setting(each, row), demos) for row in rows(each))
        found |= dict.fromkeys(filled(each, demos) for each in settings(question))
    return list(found)


def faults(question: Question, demos: Mapping[str, Demo]) -> list[str]:
    """List what is wrong with a proof, as far as that can be said without running it."""
    return _unrunnable(question, demos) or [_line(each) for each in thin_proof(question, demos)]


def _unrunnable(question: Question, demos: Mapping[str, Demo]) -> list[str]:
    found = (*wrong_names(question, demos), *evidence_problems(question, demos))
    return [_line(each) for each in found]


def filled(wanted: Setting, demos: Mapping[str, Demo]) -> Setting:
    """Return a setting with the demo's own defaults: two that ask for the same run are equal."""
    return demos[wanted.demo].filled(wanted)


@dataclass
class Prover:
    """Judges questions against runs; each distinct setting is run once.

    `known` brings a report without running anything, if there is one; `seen` all healthy runs of a
    demo that are on record, as what their names mean. `exact` tells whether a demo's numbers
    have to come out as they are on record to the last digit.
    """

    demos: Mapping[str, Demo]
    run: Runner
    reports: dict[Setting, Report | QuizkitError] = field(
        default_factory=dict["Setting", "Report | QuizkitError"]
    )
    faults: Mapping[str, Sequence[str]] = field(default_factory=dict[str, "Sequence[str]"])
    known: Callable[[Setting], Report | None] = lambda _: None
    seen: Callable[[str], Sequence[World]] = lambda _: ()
    exact: Callable[[str], bool] = lambda _: True

    def prove(self, question: Question) -> Result:
        """Run the question's proof at every row and hold the key against it."""
        if question.proof is None:
            status: Status = "sourced" if question.sources else "failed"
            reasons = () if question.sources else (both("prove.no_proof"),)
            return Result(question.id, status, reasons)
        wrong = self.faults.get(question.id)
        if wrong := faults(question, self.demos) if wrong is None else wrong:
            return Result(question.id, "failed", tuple(plain(each) for each in wrong))
        try:
            judgement = self._judge(question, list(self._runs(question)))
            changed = self._changed(question)
        except QuizkitError as error:
            status = "skipped" if error.key in NOT_HERE else "failed"
            return Result(question.id, status, (plain(str(error)),))
        demo = self.demos[question.proof.demo]
        # What is false is said first: a key that does not hold hangs on nothing either.
        found = told(question, judgement, demo)
        reasons = tuple(found) or tuple(loose(question, judgement.runs, demo, self.seen(demo.name)))
        reasons += tuple(plain(each) for each in changed)
        recorded = any(run.report.origin == "recorded" for run in judgement.runs)
        status = "failed" if reasons else "recorded" if recorded else "proved"
        return Result(question.id, status, reasons, judgement, parts(question))

    def mutate(self, question: Question, deep: bool = False) -> Mutation:
        """Judge the recorded runs again with each key changed. The healthy proof must hold.

        `deep` makes runs too, of what no row runs and the key must hold in as well.
        """
        runs = list(self._runs(question))
        killed, survived = 0, list[str]()
        for mutant in mutants(question):
            healthy = mutant.healthy
            against = list(self._runs(without_break(question))) if healthy else runs
            if self._judge(mutant.question, against).holds:
                survived.append(mutant.what)
            else:
                killed += 1
        elsewhere = tuple(self._elsewhere(question)) if deep else ()
        return Mutation(question.id, killed, tuple(survived), elsewhere)

    def _elsewhere(self, question: Question) -> Iterator[Text]:
        """Yield where the key does not hold: other regimes, conditions nobody is told, draws."""
        for regime in regimes(question, self.demos):
            if not self._holds(regime.question):
                yield regime.what
        for condition in unsaid(question, self.demos):
            stands = (self._stands(each) for each in condition.others)
            decide = islice((each for each in stands if each is not None), condition.tried)
            if not all(decide):
                yield condition.what
        yield from self._symptoms(question)
        drawn = ((each, self._stands(each.question)) for each in undrawn(question, self.demos))
        for each, stands in islice((pair for pair in drawn if pair[1] is not None), MOST):
            if not stands:
                yield each.what

    def _holds(self, question: Question) -> bool:
        """Tell whether the proof holds of its runs, all of it; what cannot be run does not."""
        try:
            return self._judge(question, list(self._runs(question))).holds
        except (FormulaError, QuizkitError):
            return False

    def _symptoms(self, question: Question) -> Iterator[Text]:
        """Reasons that are as true of every other bug of the demo that shows itself.

        One that is as true of another with the same check has to name the cause in its words.
        """
        true: dict[str, list[str]] = {}
        tried: list[str] = []
        alike = same_check(question, self.demos)
        for other in other_bugs(question, self.demos):
            try:
                judgement = self._judge(other, list(self._runs(other)))
            except (FormulaError, QuizkitError):
                continue
            if not judgement.reason:
                assert other.proof is not None
                tried.append(str(other.proof.broken))
                for claim in judgement.claims:
                    if claim.role == "point" and claim.holds:
                        true.setdefault(claim.place, []).append(tried[-1])
        for place, others in true.items():
            shared = [each for each in others if each in alike]
            every = len(others) == len(tried) >= FEWEST
            if every or (shared and not names_cause(question, place, self.demos)):
                yield both("prove.symptom", place=place, others=", ".join(others))

    def _stands(self, question: Question) -> bool | None:
        """Tell if what the key says is true of other runs, or None where they say nothing.

        What is claimed beside the key goes by the numbers of the proof's own runs.
        """
        try:
            judgement = self._judge(question, list(self._runs(question)))
        except (FormulaError, QuizkitError):
            return None
        keys = key_names(question).keys()
        said = [
            each
            for each in judgement.claims
            if each.role in ("right", "point") or (each.role == "claim" and keys & each.claim.names)
        ]
        if judgement.reason or any("error" in claim.truths for claim in said):
            return None
        return all("false" not in claim.truths for claim in said)

    def view(self, question: Question, drawn: Bindings, given: object = None) -> ProofView:
        """Show the learner one run: of their own numbers where small enough, else the nearest row.

        A wrong option that this run would let stand is shown the row that refutes it. Raises
        LabError where nothing can be run here, UsageError where the proof is no proof.
        """
        assert question.proof is not None
        if wrong := _unrunnable(question, self.demos):
            raise UsageError("question_broken", problems="\n".join(wrong))
        shown = self._own(question, drawn) or self._view(question, nearest(question, drawn), False)
        for row in rows(question):
            if not shown.lets_stand(given):
                break
            other = self._view(question, row, own=False)
            if other.lets_stand(given) < shown.lets_stand(given):
                shown = other
        return replace(shown, beside=self._beside(question, shown))

    def _beside(self, question: Question, shown: ProofView) -> tuple[ProofView, ...]:
        """The runs of other rows that have been made before, or were recorded, where options or
        points may need one to be decided: a number is compared with one run."""
        if shown.parts is None:
            return ()
        demo, here = self.demos[shown.demo.name], shown.bindings
        found: list[ProofView] = []
        for row in rows(question):
            if row == here:
                continue
            wanted = filled(setting(question, row), self.demos)
            report = self.reports.get(wanted) or self.known(wanted)
            if isinstance(report, Report):
                found.append(view(question, row, False, report, demo))
        return tuple(
            sorted(found, key=lambda each: sum(here.get(n) != v for n, v in each.bindings.items()))
        )

    def _own(self, question: Question, drawn: Bindings) -> ProofView | None:
        """The run of the learner's own numbers, where they are run as they are."""
        if not own_draw(question, drawn):
            return None
        try:
            return self._view(question, drawn, own=True)
        except QuizkitError as error:
            if error.key not in NOT_HERE:
                raise
            return None  # not run here, and not recorded: a row may be

    def _view(self, question: Question, bindings: Bindings, own: bool) -> ProofView:
        assert question.proof is not None
        report = self._report(setting(question, bindings))
        return view(question, bindings, own, report, self.demos[question.proof.demo])

    def _changed(self, question: Question) -> list[str]:
        """List the evidence that a run does not show any more."""
        if question.evidence is None:
            return []
        name = question.evidence.demo
        return differs(question, self.demos[name], self._report, exact=self.exact(name))

    def _judge(self, question: Question, runs: list[BoundRun]) -> Judgement:
        assert question.proof is not None
        return judge(question, runs, self.demos[question.proof.demo])

    def _runs(self, question: Question) -> Iterator[BoundRun]:
        for bindings in rows(question):
            yield BoundRun(bindings, self._report(setting(question, bindings)))

    def _report(self, wanted: Setting) -> Report:
        wanted = filled(wanted, self.demos)
        known = self.reports.get(wanted)
        if known is None:
            try:
                known = self.run(wanted)
            except QuizkitError as error:
                known = error
            self.reports[wanted] = known
        if isinstance(known, QuizkitError):
            raise known
        return known


def _line(wrong: tuple[str, str]) -> str:
    place, message = wrong
    return f"{place}: {message}"
