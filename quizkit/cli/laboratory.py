"""The parts of the laboratory that a study session needs, loaded when first needed."""

from collections.abc import Sequence
from threading import Timer
from typing import TYPE_CHECKING

from quizkit.bank.entry import Entry
from quizkit.bank.model import Bug, Question, Trace

if TYPE_CHECKING:
    from quizkit.lab.bench import Bench
    from quizkit.lab.excerpt import Excerpt
    from quizkit.proof.prove import Prover
    from quizkit.proof.view import ProofView
    from quizkit.tutor.asked import Asked

_SOON = 0.4
"""Seconds after which the first question is on the screen and the bench may start to warm up."""


class Laboratory:
    """One warm bench and one prover for the session. Nothing is left when it is closed."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._useful = any(each.demo for each in entries)
        self._timer = Timer(_SOON, self._warm)
        self._timer.daemon = True
        self._bench: Bench | None = None
        self._court: Prover | None = None

    def __enter__(self) -> "Laboratory":
        return self

    def __exit__(self, *_: object) -> None:
        self._settle()
        if self._bench:
            self._bench.close()

    def warm_soon(self) -> None:
        """Start the bench in the background, but not in the way of the first question."""
        if self._useful:
            self._timer.start()

    def show(self, question: Question) -> "Excerpt | None":
        """Return the code that a `trace` or a `bug` shows."""
        if not isinstance(question, Trace | Bug):
            return None  # the others need not load the laboratory
        from quizkit.proof.code import code_of

        return code_of(question)

    def prove(self, asked: "Asked", given: object) -> "ProofView":
        """Run the proof with the learner's own numbers, or those that decide about the answer."""
        self._settle()
        if self._court is None:
            from quizkit.lab.catalogue import catalogue
            from quizkit.proof.kept import falling_back, shipped
            from quizkit.proof.prove import Prover, on_bench

            self._warm()
            assert self._bench is not None
            demos = catalogue()
            record = shipped(demos)
            run = falling_back(on_bench(self._bench, demos), record)
            self._court = Prover(demos, run, known=record.get)
        return self._court.view(asked.question, asked.values, given)

    def _warm(self) -> None:
        from quizkit.lab.bench import Bench

        if self._bench is None:
            self._bench = Bench()
        self._bench.start()

    def _settle(self) -> None:
        """From here on nobody else starts the bench."""
        self._timer.cancel()
        if self._timer.is_alive():
            self._timer.join()
