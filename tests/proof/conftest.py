"""Questions and runs for the prover: YAML through the reader, reports as a bench brings them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quizkit.bank.model import Problem, Question
from quizkit.bank.reader import read
from quizkit.lab.catalogue import Demo, catalogue
from quizkit.lab.report import Report

Read = Callable[[str], Question]
Brings = Callable[..., Report]


@pytest.fixture
def question(tmp_path: Path) -> Read:
    def made(text: str) -> Question:
        path = tmp_path / "pp" / "q.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            "level: 2\nprompt: Of messages and gradients sent, and time. p?\nexplain: e\n" + text,
            encoding="utf-8",
        )
        problems: list[Problem] = []
        found = read(tmp_path, path, problems)
        assert found is not None, problems
        return found

    return made


@pytest.fixture
def pipeline() -> Demo:
    return catalogue()["pipeline"]


@pytest.fixture
def brings() -> Brings:
    def made(ranks: int = 4, how: str = "clocked", **more: Any) -> Report:
        metrics = more.pop("metrics", {"bubble_1f1b": 3 / 11, "peak_live_1f1b": [4, 3, 2, 1]})
        data: dict[str, Any] = {
            "schema": "quizkit/report/1",
            "demo": "pipeline",
            "ranks": ranks,
            "args": {"microbatches": 8},
            "broken": None,
            "start": "fork",
            "backend": "gloo",
            "device": "cpu",
            "staged": False,
            "reason": "",
            "torch": "2.13.0",
            "seconds": 0.1,
            "outcome": "finished",
            "error": None,
            "checks": [],
            "metrics": metrics,
            "how": dict.fromkeys(metrics, how),
            "floors": {},
            "timeline": {"clock": "virtual", "events": []},
            "verdict": "pass",
        }
        return Report.from_json(data | more)

    return made
