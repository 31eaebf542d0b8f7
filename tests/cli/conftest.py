"""The command on a small bank and in a home of its own."""

import os
import subprocess
from pathlib import Path

import started

QUESTION = """
kind: choice
level: {level}
prompt: {{zh: 第{name}题, en: question {name}}}
options:
  - {{text: {{zh: 对, en: right}}, correct: true}}
  - text: {{zh: 错, en: wrong}}
    why: {{zh: 不对, en: not so}}
explain: {{zh: 如题, en: as stated}}
sources: ["https://example.org"]
"""


class Tool:
    """Topics `alpha` and `beta`, three questions each, of levels 1 to 3."""

    def __init__(self, folder: Path, **more: str) -> None:
        self.home = folder / "home"
        self.bank = folder / "bank"
        for topic in ("alpha", "beta"):
            shelf = self.bank / topic
            shelf.mkdir(parents=True)
            title = "title: {zh: 专题, en: A topic}\nintro: {zh: 专题, en: A topic}\n"
            (shelf / "_topic.yaml").write_text(title, encoding="utf-8")
            for i in range(3):
                text = QUESTION.format(level=i + 1, name=i)
                (shelf / f"q{i}.yaml").write_text(text, encoding="utf-8")
        own = {"QUIZKIT_HOME": str(self.home), "PYTHONPATH": str(Path.cwd()), "LC_ALL": "C"}
        self.environment = {**os.environ, **own, **more}

    def run(self, *words: object, given: str = "") -> "subprocess.CompletedProcess[str]":
        return started.quizkit(*words, env=self.environment, given=given)
