"""Read a folder of YAML files as a bank of questions: one bad file never takes down the rest."""

import hashlib
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from quizkit.bank.build import Builder, unknown
from quizkit.bank.exhibits import exhibits_in, place_of
from quizkit.bank.model import KINDS, Problem, Question, Retired, Text, Topic
from quizkit.bank.nodes import compose
from quizkit.bank.retired import read_retired
from quizkit.bank.rules import broken_rules
from quizkit.errors import BankError

ODD_NAME = "the name is not UTF-8; rename it"


@dataclass(frozen=True)
class Bank:
    """Questions and retired ids, topics and myths by slug, and what could not be read."""

    questions: Mapping[str, Question] = field(default_factory=dict[str, Question])
    topics: Mapping[str, Topic] = field(default_factory=dict[str, Topic])
    myths: Mapping[str, Text] = field(default_factory=dict[str, Text])
    problems: tuple[Problem, ...] = ()
    retired: Mapping[str, Retired] = field(default_factory=dict[str, Retired])

    @classmethod
    def load(cls, folder: Path, topics: Collection[str] | None = None) -> "Bank":
        """Read a bank, or of it only some topics. What is wrong with its files is in the bank.

        Raises BankError where the folder itself cannot be read.
        """
        questions: dict[str, Question] = {}
        topics_read: dict[str, Topic] = {}
        myths: dict[str, Text] = {}
        problems: list[Problem] = [
            Problem(printable(path.name), 1, ODD_NAME)
            for path in shelves(folder)
            if path.name != printable(path.name)
        ]
        for slug in topic_slugs(folder):
            # Myths are few, and a question may name one of another topic.
            myths |= read_myths(folder, slug, problems)
            if topics is not None and slug not in topics:
                continue
            topic = read_topic(folder, slug, problems)
            if topic:
                topics_read[slug] = topic
            for path in files_of(folder, slug, problems):
                question = read(folder, path, problems)
                if question:
                    questions[question.id] = with_usual(question, topic)
        retired = read_retired(folder, problems)
        return cls(questions, topics_read, myths, tuple(problems), retired)

    def joined(self, other: "Bank") -> "Bank":
        """Join this bank and another; where both have an id, the other's question counts."""
        return Bank(
            {**self.questions, **other.questions},
            {**self.topics, **other.topics},
            {**self.myths, **other.myths},
            self.problems + other.problems,
            {**self.retired, **other.retired},
        )


def topic_slugs(folder: Path) -> list[str]:
    """Return the topics of a bank: its folders that hold a `_topic.yaml` or questions, sorted."""
    found = (path for path in shelves(folder) if path.name != "mocks")
    return [path.name for path in found if path.name == printable(path.name) and _holds_yaml(path)]


def is_ours(name: str) -> bool:
    """Tell if a file of that name is to be read; an editor's locks, a Mac's shadows are not."""
    return name.endswith(".yaml") and not name.startswith(".")


def printable(name: str) -> str:
    r"""Return the name of a file; bytes of it that are not UTF-8 come out as `\xff`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _holds_yaml(shelf: Path) -> bool:
    # The first file decides; a glob would list the whole folder.
    try:
        with os.scandir(shelf) as files:
            return any(is_ours(file.name) for file in files)
    except OSError:
        return True  # whoever looks into it will say what is wrong with it


def files_of(folder: Path, slug: str, problems: list[Problem]) -> list[Path]:
    """List a shelf's questions, or its scripts, sorted; what cannot be read is in `problems`."""
    try:
        names = sorted(name for name in os.listdir(folder / slug) if is_ours(name))  # noqa: PTH208
    except OSError as error:
        problems.append(Problem(slug, 1, f"cannot be read: {error.strerror}"))
        return []
    odd = [f"{slug}/{printable(name)}" for name in names if name != printable(name)]
    problems += [Problem(name, 1, ODD_NAME) for name in odd]
    plain = (name for name in names if name == printable(name) and not name.startswith("_"))
    return [folder / slug / name for name in plain]


def shelves(folder: Path) -> list[Path]:
    """List the folders of a bank, sorted. Raises BankError: an unreadable bank is not empty."""
    try:
        found = (path for path in folder.iterdir() if not path.name.startswith("."))
        return sorted(path for path in found if path.is_dir())
    except OSError as error:
        reason = error.strerror or str(error)
        raise BankError("bank_folder", folder=folder, reason=reason) from error


def read(folder: Path, path: Path, problems: list[Problem]) -> Question | None:
    """Read a question of the bank in `folder`; what is wrong with it is added to `problems`."""
    name = path.relative_to(folder).as_posix()
    before = len(problems)

    def report(line: int, message: str) -> None:
        problems.append(Problem(name, line, message))

    root = compose(path, report)
    if root is None:
        return None
    kind = next((value for key, value in root.value if key.value == "kind"), None)
    if not isinstance(kind, yaml.ScalarNode) or kind.value not in KINDS:
        line = (kind or root).start_mark.line + 1
        given = str(kind.value) if isinstance(kind, yaml.ScalarNode) else ""
        report(line, unknown("kind", given, KINDS) if given else "key `kind` is missing")
        return None
    builder = Builder(report)
    question: Question | None = builder.build(
        root,
        KINDS[kind.value],
        id=name.removesuffix(".yaml"),
        file=name,
        lines=builder.lines,
        digest=hashlib.sha256(path.read_bytes()).hexdigest()[:12],
    )
    if question is not None:
        for place, message in broken_rules(question):
            report(question.line(place), message)
        if question.evidence:
            question = replace(question, exhibits=exhibits_in(place_of(folder, question.id)))
    return question if len(problems) == before else None


def with_usual(question: Question, topic: Topic | None) -> Question:
    """Return the question with the words of the conditions that it names, as its topic has them."""
    if topic is None:
        return question
    named = {name: text for name, text in topic.assume.items() if name in question.assume}
    return replace(question, usual=named) if named else question


def read_topic(folder: Path, slug: str, problems: list[Problem]) -> Topic | None:
    """Return a shelf's own file; without one the shelf is named after its folder."""
    if not (folder / slug / "_topic.yaml").is_file():
        problem = Problem(f"{slug}/_topic.yaml", 1, "a topic needs a `_topic.yaml`", "warning")
        problems.append(problem)
        return Topic(slug, Text(slug, slug), Text(slug, slug))
    return read_file(folder, f"{slug}/_topic.yaml", problems, Topic, slug=slug)


def read_myths(folder: Path, slug: str, problems: list[Problem]) -> Mapping[str, Text]:
    """Return the misconceptions that a shelf names, by slug."""
    return read_file(folder, f"{slug}/_myths.yaml", problems, Mapping[str, Text]) or {}


def read_file(folder: Path, name: str, problems: list[Problem], noun: Any, **given: object) -> Any:
    """Read a file of the bank; None where it is not there or cannot be read."""
    if not (folder / name).is_file():
        return None

    def report(line: int, message: str) -> None:
        problems.append(Problem(name, line, message))

    root = compose(folder / name, report)
    return Builder(report).build(root, noun, **given) if root else None
