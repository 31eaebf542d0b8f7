"""A terminal to sit at: a real pseudo-terminal, and what its screen shows."""

import json
import os
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pyte
import pytest

DRIVER = Path(__file__).parent / "driver.py"
ROOT = DRIVER.parents[2]
PATIENCE = 8


class Terminal:
    """A child on a pseudo-terminal; everything it writes is drawn, and kept as bytes too."""

    def __init__(self, command: list[str], columns: int, rows: int, env: dict[str, str]) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=1000)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.mode = 0
        self.child: Any = pexpect.spawn(
            command[0], command[1:], dimensions=(rows, columns), env=env, cwd=str(ROOT), timeout=5
        )
        self.child.delaybeforesend = None
        self.screen.write_process_input = lambda data: self.child.send(data.encode())

    def press(self, *keys: str) -> None:
        for key in keys:
            self.child.send(key.encode())

    def resize(self, columns: int, rows: int) -> None:
        self.child.setwinsize(rows, columns)
        self.screen.resize(rows, columns)

    @property
    def text(self) -> str:
        """What can be seen now."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def until(self, shown: str, gone: str = "") -> str:
        """Draw what comes until the screen shows it (and no longer shows the other)."""
        return self.wait(lambda text: shown in text and not (gone and gone in text), shown)

    def wait(self, done: Callable[[str], bool], wanted: str = "") -> str:
        """Draw what comes until it is as it should be."""
        limit = time.monotonic() + PATIENCE
        while not done(self.text):
            try:
                data = self.child.read_nonblocking(65536, timeout=0.2)
            except pexpect.TIMEOUT:
                data = b""
            except pexpect.EOF:
                if done(self.text):
                    break
                raise AssertionError(f"ended before {wanted!r}:\n{self.text}") from None
            self.raw += data
            self.stream.feed(data)
            if time.monotonic() > limit:
                raise AssertionError(f"no {wanted!r} in:\n{self.text}")
        return self.text

    def close(self) -> int | None:
        """Wait for the end; the exit status."""
        while True:
            try:
                data = self.child.read_nonblocking(65536, timeout=PATIENCE)
            except pexpect.EOF:
                break
            self.raw += data
            self.stream.feed(data)
        self.mode = termios.tcgetattr(self.child.child_fd)[3]
        self.child.wait()
        self.child.close()
        return self.child.exitstatus

    @property
    def echoes(self) -> bool:
        """Whether the terminal is (or was left) as a shell would have it."""
        if not self.child.closed:
            self.mode = termios.tcgetattr(self.child.child_fd)[3]
        return bool(self.mode & termios.ECHO and self.mode & termios.ICANON)


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    """Start a command on a terminal of a given size."""
    opened: list[Terminal] = []

    def start(command: list[str], columns: int = 80, rows: int = 40, **more: str) -> Terminal:
        keep = {name: os.environ[name] for name in ("PATH", "QUIZKIT_CACHE")}
        keep["PYTHONPATH"] = str(ROOT)
        env = {**keep, "TERM": "xterm-256color", "LANG": "C.UTF-8", **more}
        opened.append(Terminal(command, columns, rows, env))
        return opened[-1]

    yield start
    for each in opened:
        each.child.close(force=True)


@pytest.fixture
def sit(terminal: Callable[..., Terminal], tmp_path: Path) -> Callable[..., Terminal]:
    """Sit down at the driver's session; `written()` is what it decided."""

    def start(*names: str, columns: int = 80, rows: int = 40, **more: str) -> Terminal:
        command = [sys.executable, str(DRIVER), str(tmp_path / "log"), *names]
        return terminal(command, columns, rows, **more)

    return start


@pytest.fixture
def written(tmp_path: Path) -> Callable[[], list[dict[str, Any]]]:
    """What the session wrote down so far."""

    def read() -> list[dict[str, Any]]:
        log = tmp_path / "log"
        if not log.exists():
            return []
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]

    return read


@pytest.fixture(autouse=True)
def coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests without colours sees the same tests."""
    monkeypatch.delenv("NO_COLOR", raising=False)
