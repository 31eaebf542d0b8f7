"""The questions still to come in a session: some in order, the rest mixed as they come near."""

from collections.abc import Mapping

from quizkit.bank.entry import Entry
from quizkit.tutor.lineup import HANDFUL, Lineup
from quizkit.tutor.mixing import mixed


class Coming:
    """A lineup as it is used up: `plan` is in order, the rest is put in order by the handful."""

    def __init__(self, entries: Mapping[str, Entry], lineup: Lineup) -> None:
        self._all = entries
        self._known = lineup.cards
        self._later = [[*part] for part in lineup.later]
        self._last: str | None = None
        self.plan = [*lineup.plan]
        self.mix()

    def __len__(self) -> int:
        """Count the questions still to come."""
        return len(self.plan) + sum(map(len, self._later))

    def names(self) -> list[str]:
        """List all questions still to come."""
        return [*self.plan, *(each.id for part in self._later for each in part)]

    def take(self) -> str:
        """Remove the next question and return it."""
        self._last = self.plan.pop(0)
        return self._last

    def mix(self) -> bool:
        """Put one more handful in order; tell whether there was one."""
        handful: list[Entry] = []
        while self._later and not handful:
            part = self._later[0]
            handful, self._later[0] = part[:HANDFUL], part[HANDFUL:]
            self._later = self._later if self._later[0] else self._later[1:]
        before = self.plan[-1] if self.plan else self._last
        rising = any(each.id not in self._known for each in handful)
        last = self._all[before] if before else None
        self.plan += [each.id for each in mixed(handful, last, rising=rising)]
        return bool(handful)

    def append(self, name: str) -> None:
        """Put a question after everything else."""
        if self._later:
            self._later.append([self._all[name]])
        else:
            self.plan.append(name)

    def insert(self, place: int, name: str) -> None:
        """Put a question at a place near the front."""
        while len(self.plan) < place and self.mix():
            pass
        self.plan.insert(place, name)

    def drop(self, name: str) -> None:
        """Take a question out: it is not to come."""
        self.plan = [each for each in self.plan if each != name]
        self._later = [kept for part in self._later if (kept := [e for e in part if e.id != name])]

    def swap(self, one: str, other: str) -> None:
        """Put each where the other was; one that was nowhere is then nowhere to be found."""
        names = {one: other, other: one}
        self.plan = [names.get(each, each) for each in self.plan]
        self._later = [[self._all[names.get(e.id, e.id)] for e in part] for part in self._later]
