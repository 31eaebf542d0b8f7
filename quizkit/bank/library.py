"""The shipped bank and the user's own, as one: where both have a question, the user's counts."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from quizkit.bank.entry import Entry
from quizkit.bank.index import Index
from quizkit.bank.listed import Listed
from quizkit.bank.model import Problem, Question, Retired, Text, Topic


class Library:
    """The indexes of several folders. Raises BankError where one of them cannot be read."""

    def __init__(
        self, folders: Sequence[Path], cache: Path | None, *, thorough: bool = True
    ) -> None:
        self._indexes = [Index(folder, cache, thorough=thorough) for folder in folders]

    def __enter__(self) -> "Library":
        return self

    def __exit__(self, *_: object) -> None:
        for index in self._indexes:
            index.close()

    def entries(self, topics: Collection[str] | None = None) -> list[Entry]:
        """Return the lines of these topics' questions, or of all."""
        if len(self._indexes) == 1:
            return self._indexes[0].entries(topics)
        found = (each for index in self._indexes for each in index.entries(topics))
        return [*{each.id: each for each in found}.values()]

    def question(self, name: str) -> Question | None:
        """Return the question as its file is now, or None where there is none to be asked."""
        found = (index.question(name) for index in reversed(self._indexes))
        return next((question for question in found if question), None)

    def topics(self) -> dict[str, Topic]:
        """Return titles, introductions and reading orders."""
        return {slug: each for index in self._indexes for slug, each in index.topics().items()}

    def myths(self) -> dict[str, Text]:
        """Return the misconceptions of all topics."""
        return {slug: each for index in self._indexes for slug, each in index.myths().items()}

    def retired(self) -> dict[str, Retired]:
        """Return ids that are gone from one bank; another may still have such a question."""
        return {name: each for index in self._indexes for name, each in index.retired().items()}

    def problems(self, topics: Collection[str] | None = None) -> list[Problem]:
        """List what is wrong with the files of these topics, or of all."""
        return [problem for index in self._indexes for problem in index.problems(topics)]

    def listed(self, names: Iterable[str]) -> list[Listed]:
        """Return what lists say of these questions, in this order."""
        wanted = [*names]
        found = {row.id: row for index in self._indexes for row in index.listed(wanted)}
        return [found[name] for name in wanted if name in found]

    def search(self, wanted: str) -> list[str]:
        """List ids of what holds every word: first where id, tags or prompt do, then the rest."""
        best: dict[str, int] = {}
        for index in self._indexes:
            if best:  # a question of the same name takes the place of one found before
                best = {name: n for name, n in best.items() if not index.knows(name)}
            best |= {name: missing for missing, name in index.search(wanted)}
        return sorted(best, key=lambda name: (best[name], name))
