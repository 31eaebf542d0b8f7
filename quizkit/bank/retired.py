"""Ids that are gone: why, and which question to take instead.

A learner's answers to a retired question stay in the diary, and it is never asked again. A question
that only changed its name is not retired: the new one lists the old name under `was`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from quizkit.bank.build import Builder, unknown
from quizkit.bank.model import Problem, Question, Retired
from quizkit.bank.nodes import Report, compose
from quizkit.bank.rules import ID

FILE = "_retired.yaml"


def read_retired(folder: Path, problems: list[Problem]) -> Mapping[str, Retired]:
    """Read the retired ids of the bank in `folder`; what is wrong is added to `problems`."""
    return _read(folder, lambda line, message: problems.append(Problem(FILE, line, message)))[0]


def retired_problems(folder: Path, questions: Mapping[str, Question]) -> Iterator[Problem]:
    """Yield what is wrong with retired ids, held against the questions that are asked."""
    retired, lines = _read(folder, lambda _line, _message: None)
    names = [*retired]
    for place, (name, gone) in enumerate(retired.items()):
        if not ID.fullmatch(name):
            yield Problem(FILE, lines[name], f"`{name}` is no id; an id is topic/slug")
        if name in questions:
            yield Problem(FILE, lines[name], f"`{name}` is still a question; delete one of the two")
        if place and names[place - 1] > name:
            yield Problem(FILE, lines[name], f"`{name}` comes before `{names[place - 1]}`: sort")
        if gone.reason.zh == gone.reason.en:
            message = f"the reason of `{name}` is in one language; give `zh:` and `en:`"
            yield Problem(FILE, lines[f"{name}.reason"], message)
        if gone.see not in questions:
            message = no_question(gone.see, questions, retired)
            yield Problem(FILE, lines[f"{name}.see"], message)


def no_question(
    name: str, questions: Mapping[str, Question], retired: Mapping[str, Retired]
) -> str:
    """Return what to tell an author who names a question that is not there."""
    if gone := retired.get(name):
        return f"`{name}` is retired ({gone.reason.en.rstrip('.')}); name `{gone.see}` instead"
    return unknown("question", name, questions)


def _read(folder: Path, report: Report) -> tuple[Mapping[str, Retired], Mapping[str, int]]:
    """The ids, and the lines of all that is said of them."""
    builder = Builder(report)
    root = compose(folder / FILE, report) if (folder / FILE).exists() else None
    found = builder.build(root, Mapping[str, Retired]) if root else None
    return found or {}, builder.lines
