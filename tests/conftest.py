"""What several rooms need: to see every process a test has started, and that none is left."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import forked
import pytest
import started
from terminal import Terminal
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from quizkit.bank.reader import Bank
from quizkit.lab import bench
from quizkit.lab.catalogue import names
from quizkit.paths import QUESTIONS

KEPT = ("PATH", "HOME", "TZ", "QUIZKIT_CACHE")
"""What a terminal's command finds of the environment that the tests run in."""
FAMILY = "QUIZKIT_TEST_FAMILY"
LONG = ("/test_hybrid_step_plan.py", "/test_fault.py", "/test_checkpoint.py", "/test_allocator.py")
"""Files that take longer than others with as many tests."""


class ByDemo(LoadFileScheduling):
    """A file's tests go to one process, and those of every demo with the file of that demo.

    So each warm bench has its share of the runs, and none is made by two of them.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        if not file.endswith("/test_every_demo.py"):
            return file
        asked = test.partition("[")[2].removesuffix("]").lstrip("0123456789-")
        known = [name for name in names() if f"{asked}-".startswith(f"{name}-")]
        return file.replace("every_demo", max(known, key=len, default="").replace("-", "_"))

    def _assign_work_unit(self, node: WorkerController) -> None:
        # Tests elsewhere start whole programs: as the last ones, they would be waited for alone.
        # So would those of a file with few tests, as files with many are dealt out first.
        early = [file for file in self.workqueue if "/demos/" not in file or file.endswith(LONG)]
        if early:
            self.workqueue.move_to_end(early[0], last=False)
        super()._assign_work_unit(node)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByDemo | None:
    """`--dist loadfile`, but by demo."""
    return ByDemo(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session", autouse=True)
def one_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The shipped bank is indexed once for all commands that tests start, and not in each home."""
    base = tmp_path_factory.getbasetemp()
    # Several processes of tests have a folder each in one.
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "index"
    before = os.environ.get("QUIZKIT_CACHE")
    os.environ["QUIZKIT_CACHE"] = str(place)
    yield
    if before is None:
        del os.environ["QUIZKIT_CACHE"]
    else:
        os.environ["QUIZKIT_CACHE"] = before


sys.dont_write_bytecode = (
    False  # else each run rewrites the assertions of all tests, in each process
)


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Iterator[None]:
    """Processes that tests start keep what they compile: else each of hundreds compiles it all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


@pytest.fixture(autouse=True)
def torch_is_there(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ranks run, commands and benches are forks of what has imported torch.

    Not in the room of the demos, which import it themselves, and do as they like with it.
    """
    if request.node.get_closest_marker("demo") and request.path.parent.name != "demos":
        monkeypatch.setattr(started, "torch", True)
        monkeypatch.setattr(bench, "subprocess", subprocess)  # what it was, again, at the end
        forked.benches()


@pytest.fixture
def cold(torch_is_there: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """But here a bench imports torch itself."""
    monkeypatch.setattr(bench, "subprocess", subprocess)


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    """Start a command on a terminal of a given size; what is still there at the end is ended."""
    opened: list[Terminal] = []
    keep = {name: os.environ[name] for name in (*KEPT, FAMILY) if name in os.environ}

    def start(
        command: Sequence[str | Path], columns: int = 80, rows: int = 40, **more: str
    ) -> Terminal:
        env = {**keep, "TERM": "xterm-256color", "LANG": "C.UTF-8", **more}
        opened.append(Terminal([*map(str, command)], columns, rows, env))
        return opened[-1]

    yield start
    for each in opened:
        each.gone()


@pytest.fixture(scope="session")
def shipped() -> Bank:
    """The shipped bank, read once for all tests."""
    return Bank.load(QUESTIONS)


class Family:
    """The processes that carry this test's mark in their environment, orphans included."""

    def __init__(self, mark: str) -> None:
        self.mark = mark.encode()

    def members(self) -> dict[int, str]:
        """Process number -> command line; what is ending (a zombie) no longer counts."""
        found: dict[int, str] = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) == os.getpid():
                continue
            try:
                if self.mark in (folder / "environ").read_bytes():
                    words = (folder / "cmdline").read_bytes().split(b"\0")
                    found[int(folder.name)] = b" ".join(words).decode()
            except OSError:
                continue
        return found

    def becomes(self, number: int, patience: float = 60.0) -> dict[int, str]:
        """Wait until there are so many."""
        until = time.monotonic() + patience
        while len(found := self.members()) != number:
            assert time.monotonic() < until, f"not {number} processes but {found}"
            time.sleep(0.01)
        return found

    def bench(self) -> int:
        """The bench's own process, the parent of its ranks."""
        benches = [pid for pid, words in self.members().items() if words.endswith("-m _bench ")]
        parents = {pid: _parent(pid) for pid in benches}
        return next(pid for pid, parent in parents.items() if parent not in benches)


def _parent(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(next(line for line in status.splitlines() if line[:5] == "PPid:").split()[1])


@pytest.fixture
def family(monkeypatch: pytest.MonkeyPatch) -> Iterator[Family]:
    """Marks what the test starts; at the end nothing of it may be left."""
    mark = f"family-{uuid.uuid4().hex}"
    monkeypatch.setenv(FAMILY, mark)
    found = Family(mark)
    yield found
    try:
        found.becomes(0, 10.0)
    finally:
        for pid in found.members():
            os.kill(pid, signal.SIGKILL)
