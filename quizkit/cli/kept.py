"""Pictures without a run: what the record that ships has of a question's proof."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quizkit.bank.library import Library
    from quizkit.lab.report import Report


def kept_run(shelves: "Library", name: str) -> "Report | None":
    """The run of a question's proof, where one is kept that fits its demo as it is now."""
    from quizkit.lab.catalogue import catalogue
    from quizkit.proof.kept import shipped
    from quizkit.proof.setting import rows, setting

    question = shelves.question(name)
    if question is None or question.proof is None or question.proof.demo not in catalogue():
        return None
    return shipped(catalogue()).get(setting(question, rows(question)[0]))
