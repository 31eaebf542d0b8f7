"""Read what was recorded of an incident: a file beside its question, sealed with a digest.

`quizkit bank evidence --write` makes it out of a run. Nobody types it: lint compares the digest.
"""

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from quizkit.bank.model import Evidence, Exhibit

ENDING = ".evidence.txt"
_HEAD = "Recorded by quizkit bank evidence --write; an edit by hand is an error.\n"
_SEAL = re.compile(r"digest ([0-9a-f]{16})\n")
_PART = re.compile(r"^\[(\w+)\]\n", re.MULTILINE)


def place_of(folder: Path, question: str) -> Path:
    """Return the file that a question's evidence lies in."""
    return folder / f"{question}{ENDING}"


def sealed(evidence: Evidence, exhibits: Sequence[Exhibit]) -> str:
    """Return the file's text."""
    body = _command(evidence) + "".join(f"\n[{each.kind}]\n{each.text}\n" for each in exhibits)
    return f"{_HEAD}digest {_digest(body)}\n{body}"


def exhibits_in(path: Path) -> tuple[Exhibit, ...]:
    """Return what is recorded there; nothing if there is no such file or it cannot be read."""
    body = _body(path)
    _, *parts = _PART.split(body) if body else [""]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return tuple(Exhibit(kind, text.strip("\n")) for kind, text in pairs)


def broken_seal(path: Path, evidence: Evidence) -> str:
    """Say what is wrong with the file, or nothing."""
    if not path.is_file():
        return "nothing is recorded yet"
    body = _body(path)
    if not body or f"digest {_digest(body)}\n" not in path.read_text(encoding="utf-8"):
        return f"`{path.name}` was edited by hand"
    kinds = tuple(each.kind for each in exhibits_in(path))
    if not body.startswith(_command(evidence)) or kinds != evidence.show:
        return f"`{path.name}` was recorded of another run"
    return ""


def _body(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
    found = _SEAL.search(text)
    return text[found.end() :] if found else ""


def _digest(body: str) -> str:
    return sha256(body.encode()).hexdigest()[:16]


def _command(evidence: Evidence) -> str:
    words = [evidence.demo, f"--ranks {evidence.ranks}"]
    words += [f"--{name} {value}" for name, value in sorted(evidence.args.items())]
    words += [f"--break {evidence.broken}"] if evidence.broken else []
    return f"quizkit demo {' '.join(words)}\n"
