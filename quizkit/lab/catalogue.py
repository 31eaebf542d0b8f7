"""What demos there are. A demo is read, never imported, so that a list of them needs no torch."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from quizkit import paths
from quizkit.errors import UsageError
from quizkit.lab.demo import Break, Demo, Kind, Parameter, Watch
from quizkit.lab.source import read
from quizkit.near import nearest

__all__ = ["Break", "Demo", "Kind", "Parameter", "Watch", "catalogue", "find", "names"]


def names(folder: Path | None = None) -> list[str]:
    """The names of the demos in a folder, without reading any."""
    folder = folder or paths.DEMOS
    files = (path for path in folder.glob("*.py") if not path.name.startswith("_"))
    return sorted(path.stem.replace("_", "-") for path in files if path.is_file())


def find(name: str, folder: Path | None = None) -> Demo:
    """One demo by name. Only its own file is read, so a neighbour being edited does no harm."""
    folder = folder or paths.DEMOS
    known = names(folder)
    if name not in known:
        raise UsageError("demo_unknown", name=name, hint=nearest(name, known))
    return read(_file(name, folder))


def _file(name: str, folder: Path) -> Path:
    return folder / f"{name.replace('-', '_')}.py"


def catalogue(folder: Path | None = None) -> Mapping[str, Demo]:
    """Every demo, by name."""
    return _catalogue(folder or paths.DEMOS)


@cache
def _catalogue(folder: Path) -> Mapping[str, Demo]:
    return MappingProxyType({name: read(_file(name, folder)) for name in names(folder)})
