"""Pictures without a run: what the record that ships has of a question's proof."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from quizkit.bank.library import Library
    from quizkit.bank.model import Question
    from quizkit.lab.report import Report, Setting
    from quizkit.proof.prove import Prover
    from quizkit.proof.view import ProofView


def recorded_only(beside: bool = False) -> "Prover":
    """Return a prover that runs nothing: it has what ships of the runs, or LabError.

    `beside` has the other recorded settings too.
    """
    from quizkit.errors import LabError
    from quizkit.lab.catalogue import catalogue
    from quizkit.proof.kept import shipped
    from quizkit.proof.prove import Prover

    demos = catalogue()
    record = shipped(demos)

    def run(wanted: "Setting") -> "Report":
        if found := record.get(wanted):
            return found
        raise LabError("torch_missing")

    return Prover(demos, run, known=record.get if beside else lambda _: None)


def kept_views(beside: bool = False) -> "Callable[[Question], ProofView | None]":
    """Return a function from a question to its proof as recorded, or to None if none is kept."""
    from quizkit.bank.draw import FIRST
    from quizkit.errors import QuizkitError
    from quizkit.tutor.asked import ask

    prover = recorded_only(beside)

    def view(question: "Question") -> "ProofView | None":
        if question.proof is None:
            return None
        try:
            return prover.view(question, ask(question, FIRST).values)
        except QuizkitError:
            return None

    return view


def kept_run(shelves: "Library", name: str) -> "Report | None":
    """Return the run of a question's proof, where one is kept that fits its demo as it is now."""
    from quizkit.lab.catalogue import catalogue
    from quizkit.proof.kept import shipped
    from quizkit.proof.setting import rows, setting

    question = shelves.question(name)
    if question is None or question.proof is None or question.proof.demo not in catalogue():
        return None
    return shipped(catalogue()).get(setting(question, rows(question)[0]))
