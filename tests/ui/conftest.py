"""A session to sit down at, on a terminal."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from terminal import Terminal

DRIVER = Path(__file__).parent / "driver.py"


@pytest.fixture
def sit(terminal: Callable[..., Terminal], tmp_path: Path) -> Callable[..., Terminal]:
    """Sit down at the driver's session; `written()` is what it decided."""

    def start(*names: str, columns: int = 80, rows: int = 40, **more: str) -> Terminal:
        return terminal([DRIVER, tmp_path / "log", *names], columns, rows, **more)

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
