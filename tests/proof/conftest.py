"""Questions and runs for the prover: YAML through the reader, reports as a bench brings them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quizkit.bank.model import Problem, Question, Text
from quizkit.bank.reader import read
from quizkit.lab.catalogue import Demo, catalogue
from quizkit.lab.report import Report
from quizkit.proof.thin import thin_proof

Read = Callable[[str], Question]
Brings = Callable[..., Report]
Rules = Callable[[str], str]
Asked = Callable[[str, str], str]


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


def _found(asked: Question) -> str:
    return "\n".join(f"{place}: {message}" for place, message in thin_proof(asked, catalogue()))


@pytest.fixture
def said(question: Read) -> Rules:
    """What is found in a question without running it, its prompt the one of all."""

    def rules(text: str) -> str:
        return _found(question(text))

    return rules


@pytest.fixture
def asked(question: Read) -> Asked:
    """The same, where a prompt of its own is asked."""

    def rules(prompt: str, text: str) -> str:
        return _found(replace(question(text), prompt=Text("甲", prompt)))

    return rules
