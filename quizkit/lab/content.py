"""Digest what a run's numbers depend on: the demo's file, its imports, the bench; and torch."""

import re
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from quizkit import paths

_IMPORTED = re.compile(rb"^\s*(?:from|import)\s+(\w+)", re.MULTILINE)
_VERSION = re.compile(r"^__version__\s*=\s*['\"]([^'\"]+)", re.MULTILINE)


def content(demo: Path) -> str:
    """Return a digest of the demo's file, the neighbours it imports, and the bench."""
    files = {path.name: path.read_bytes() for path in _read(demo, set())}
    # The bench lies among the demos that ship, whosever demo it is.
    bench = next(f for f in (demo.parent / "_bench", paths.DEMOS / "_bench") if f.is_dir())
    files |= {f"_bench/{path.name}": path.read_bytes() for path in bench.glob("*.py")}
    digest = sha256()
    for name, text in sorted(files.items()):
        digest.update(f"{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()[:32]


def _read(file: Path, met: set[Path]) -> set[Path]:
    """The file and every neighbour it imports, theirs too."""
    met.add(file)
    for name in {*_IMPORTED.findall(file.read_bytes())}:
        neighbour = file.with_name(f"{name.decode()}.py")
        if neighbour not in met and neighbour.is_file():
            _read(neighbour, met)
    return met


@cache
def torch_version() -> str | None:
    """Return the version of torch that a run here would import, without importing it."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    try:
        said = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return None
    found = _VERSION.search(said)
    return found[1].split("+")[0] if found else None  # as a report says it
