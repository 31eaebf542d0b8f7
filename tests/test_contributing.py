"""What CONTRIBUTING.md says of the code is there: each path, each name, each test beside it."""

import ast
import re
from itertools import chain
from pathlib import Path

import pytest

from quizkit import __version__
from quizkit.paths import DEMOS

ROOT = DEMOS.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
DECIDED = re.findall(
    r"^\| (.+) \| `(.+\.py):(\w+)` \| `(.+\.py)(?::(\w+))?` \|$", TEXT, re.MULTILINE
)


def defined(path: Path) -> set[str]:
    """The names that a module defines at its top."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {each.id for each in targets if isinstance(each, ast.Name)}
    return found


def test_eighteen_places_are_named():
    assert len(DECIDED) == 18


@pytest.mark.parametrize(("what", "path", "name", "test", "of"), DECIDED)
def test_what_is_decided_somewhere_is_decided_there(
    what: str, path: str, name: str, test: str, of: str
):
    assert name in defined(ROOT / path), what
    if of:  # played at a terminal: the test meets the place as a person does
        assert of in defined(ROOT / test), of
        return
    module = path.removeprefix("demos/").removesuffix(".py").replace("/", ".")
    room, _, last = module.rpartition(".")
    held = (ROOT / test).read_text(encoding="utf-8")
    ways = (rf"from {module} import .*\b{name}\b", rf"from {room} import .*\b({last}|{name})\b")
    ways += (rf"import {module}\b", rf"from {module} import \((?s:[^)]*)\b{name}\b")
    assert any(re.search(way, held) for way in ways), test


def test_every_path_is_there():
    for path in re.findall(r"`((?:quizkit|demos|tests|questions)/[\w./]*[\w/])`", TEXT):
        assert (ROOT / path).exists(), path


def test_the_tree_matches_the_disk():
    tree = TEXT.split("## The rooms")[1].split("```")[1]
    above: list[str] = []
    for line in tree.strip().splitlines():
        above = [*above[: (len(line) - len(line.lstrip())) // 2], line.split()[0]]
        assert ROOT.joinpath(*above).exists(), above
    package = tree.split("\nquestions/")[0]
    listed = set(re.findall(r"^  ([a-z_]+)(?:/|\.py) ", package, re.MULTILINE))
    rooms = {path.stem for path in (ROOT / "quizkit").iterdir() if path.name[0] not in "_."}
    helpers = {"interrupt", "near", "errors", "answer", "safe_file"}  # too small to be rooms
    assert listed == rooms - helpers
    folders = ((ROOT / "quizkit" / room).iterdir() for room in ("ui", "proof"))
    screens = {
        path.name
        for path in chain.from_iterable(folders)
        if path.is_dir() and path.name[0] not in "_."
    }
    assert {*re.findall(r"^    ([a-z_]+)/ ", package, re.MULTILINE)} == screens


def test_a_release_has_one_version():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{__version__}"' in project
