"""The house stands as it is drawn: who may import whom, and where the walls are."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from quizkit.paths import DEMOS

PACKAGE = DEMOS.parent / "quizkit"

# Each room may import itself and what stands to its left.
ORDER = [
    {"interrupt", "near", "words"},
    {"errors"},
    {"paths", "answer", "safe_file"},
    {"settings"},
    {"calc"},
    {"bank", "lab", "diary"},
    {"proof"},
    {"tutor"},
    {"mock"},
    {"ui"},
    {"export"},
    {"cli"},
    {"__main__"},
]
# A third-party name belongs to one room.
OWNERS = {
    "typer": {"cli"},
    "rich": {"ui"},
    "prompt_toolkit": {"ui"},
    "yaml": {"bank"},
    "fsrs": {"tutor"},
    "platformdirs": {"paths"},
    "sqlite3": {"bank", "diary", "export"},
    "markdown_it": {"export"},
}


@cache
def imports(path: Path) -> tuple[str, ...]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return tuple(names)


def room(path: Path) -> str:
    """The room of a module; a demo's is `demos`."""
    if path.is_relative_to(DEMOS):
        return "demos"
    inside = path.relative_to(PACKAGE)
    return inside.parts[0].removesuffix(".py")


def modules() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


def test_every_module_is_in_a_known_room():
    assert {room(path) for path in modules()} == set().union(*ORDER)


def test_imports_flow_one_way_and_torch_stays_outside():
    place = {name: level for level, names in enumerate(ORDER) for name in names}
    wrong: list[str] = []
    for path in modules():
        mine = room(path)
        for name in imports(path):
            package, _, rest = name.partition(".")
            if package == "quizkit" and rest:
                # `from quizkit.x import y` names a room; anything else is a typo
                theirs = rest.partition(".")[0]
                allowed = theirs == mine or place.get(theirs, len(ORDER)) < place[mine]
            else:
                allowed = mine in OWNERS.get(package, {mine}) and package != "torch"
            if not allowed:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert wrong == []


def test_demos_know_nothing_of_the_tool():
    knowing = {
        path.relative_to(DEMOS).as_posix()
        for path in DEMOS.rglob("*.py")
        if "quizkit" in {name.partition(".")[0] for name in imports(path)}
    }
    assert knowing == set()


def test_only_the_bank_reads_questions():
    readers = {
        room(path)
        for path in modules()
        if "QUESTIONS" in path.read_text(encoding="utf-8") and room(path) not in ("paths", "cli")
    }
    assert readers == set()


HEAVY = {"torch", "numpy", "pydantic", "prompt_toolkit", "fsrs", "yaml", "sqlite3"}


@pytest.mark.parametrize("line", ["import quizkit.cli.app", "import quizkit.__main__"])
def test_the_front_door_opens_without_anything_heavy(line: str):
    code = f"{line}; import sys; print(*sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# A limit hints at a second idea in the file. Never squeeze a line to meet it: what no question,
# check or picture uses goes, and what is an idea of its own becomes a file of its own.
FILE, STORY = 400, 160


def story(path: Path) -> int:
    """Lines a reader passes before `main`: all but the module's docstring."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    main = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "main")
    first = main.decorator_list[0].lineno if main.decorator_list else main.lineno
    opening = tree.body[0]
    said = opening.end_lineno if ast.get_docstring(tree) is not None else 0
    assert said is not None
    return len(text.splitlines()[said : first - 1])


def test_no_file_has_grown_a_second_idea():
    # words/ are tables, a sentence an entry: they grow with what is said, and hold no code.
    long = {
        str(path.relative_to(PACKAGE.parent)): len(path.read_text(encoding="utf-8").splitlines())
        for path in [*modules(), *DEMOS.rglob("*.py")]
        if room(path) != "words"
    }
    assert {name: lines for name, lines in long.items() if lines > FILE} == {}


def test_a_demo_s_story_is_short():
    now = {path.stem: story(path) for path in DEMOS.glob("*.py")}
    assert {name: lines for name, lines in now.items() if lines > STORY} == {}


def test_a_demo_imports_the_bench_before_torch():
    # Without torch the bench says so in a sentence; `import torch` would be a traceback.
    for path in DEMOS.glob("*.py"):
        bench, torch = (
            [i for i, name in enumerate(imports(path)) if name.split(".")[0] == package]
            for package in ("_bench", "torch")
        )
        assert max(bench) < min(torch, default=len(imports(path))), path.name


NETWORK = {
    "socket",
    "ssl",
    "http",
    "urllib",
    "requests",
    "ftplib",
    "smtplib",
    "webbrowser",
    "xmlrpc",
}


def test_nothing_leaves_the_machine():
    asking = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in [*modules(), *DEMOS.rglob("*.py")]
        if NETWORK & {name.split(".")[0] for name in imports(path)}
    }
    assert asking == set()  # ranks meet through torch's own store, on this machine


def test_no_two_public_classes_share_a_name():
    where: dict[str, list[str]] = {}
    for path in modules():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name[0] != "_":
                where.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}


# A docstring begins with what a function does, or with what a class or module is.
ASKING = re.compile(r"(What|Where|Which|How|Who|Whose|Whether|When|Why)\b")
SPOKEN = {"bank", "lab", "proof", "tutor", "mock", "ui", "export", "cli"}


def docstrings(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    """The public docstrings of a module, by name."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield name, ast.get_docstring(node) or ""
    for each in ast.iter_child_nodes(node):
        named = isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if named and not each.name.startswith("_"):
            yield from docstrings(each, f"{name}:{each.name}")


def test_no_public_docstring_begins_like_a_question():
    asking = [
        name
        for path in modules()
        if room(path) in SPOKEN
        for name, text in docstrings(
            ast.parse(path.read_text(encoding="utf-8")), path.relative_to(PACKAGE).as_posix()
        )
        if ASKING.match(text)
    ]
    assert asking == []
