"""List the demos. A demo is read, never imported, so that a list of them needs no torch."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from quizkit import paths
from quizkit.errors import UsageError
from quizkit.lab.demo import Break, Demo, Kind, Parameter, Watch
from quizkit.lab.source import read
from quizkit.near import nearest

__all__ = ["FIRST", "Break", "Demo", "Kind", "Parameter", "Watch"]
__all__ += ["catalogue", "find", "in_topics", "names"]

FIRST = ("pipeline", "ring-attention", "tensor-parallel", "flash", "all-reduce")
"""The demos to begin with: the idea is told in the order of the story, one screen after another."""


def names(folder: Path | None = None) -> list[str]:
    """Return the names of the demos in a folder, without reading any."""
    folder = folder or paths.DEMOS
    files = (path for path in folder.glob("*.py") if not path.name.startswith("_"))
    return sorted(path.stem.replace("_", "-") for path in files if path.is_file())


def find(name: str, folder: Path | None = None) -> Demo:
    """Read one demo by name. Only its own file is read: a neighbour being edited does no harm."""
    folder = folder or paths.DEMOS
    known = names(folder)
    if name not in known:
        raise UsageError("demo_unknown", name=name, hint=nearest(name, known))
    return read(_file(name, folder))


def _file(name: str, folder: Path) -> Path:
    return folder / f"{name.replace('-', '_')}.py"


def catalogue(folder: Path | None = None) -> Mapping[str, Demo]:
    """Return every demo, by name; each is read when it is first asked for."""
    return _catalogue(folder or paths.DEMOS)


@cache
def _catalogue(folder: Path) -> Mapping[str, Demo]:
    return _Shelf(folder)


class _Shelf(Mapping[str, Demo]):
    """Who shows one question need not wait until all demos have been taken apart."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, Demo | None] = dict.fromkeys(names(folder))

    def __getitem__(self, name: str) -> Demo:
        demo = self._read[name]
        if demo is None:
            demo = self._read[name] = read(_file(name, self._folder))
        return demo

    def __contains__(self, name: object) -> bool:
        return name in self._read

    def __iter__(self) -> Iterator[str]:
        return iter(self._read)

    def __len__(self) -> int:
        return len(self._read)


def in_topics(
    demos: Iterable[Demo], wanted: Collection[str] | None = None
) -> dict[str, list[Demo]]:
    """Group the demos of these topics, or of all, by topic; those to begin with come first."""
    found: dict[str, list[Demo]] = {}
    for demo in sorted(demos, key=lambda each: (each.topic, each.name not in FIRST, each.name)):
        if wanted is None or demo.topic in wanted:
            found.setdefault(demo.topic, []).append(demo)
    return found
