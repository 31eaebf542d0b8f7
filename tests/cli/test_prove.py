"""What `prove` was asked for and cannot be read is told, whatever else was asked for."""

import os
import subprocess
from pathlib import Path

import started


def test_an_unreadable_file_of_a_topic_is_not_hidden_by_a_question_named_beside_it(tmp_path: Path):
    topic = tmp_path / "zz"
    topic.mkdir()
    (topic / "_topic.yaml").write_text("title: a\nintro: b\n")
    (topic / "bad.yaml").write_text("kind: nope\n")
    good = "kind: essay\nlevel: 1\nprompt: a\nexplain: b\nsources: [s]\n"
    (topic / "good.yaml").write_text(good + "rubric: [{points: 1, says: x}]\n")
    words = ["prove", "zz/good", "--bank", str(tmp_path)]
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path / "home"), "QUIZKIT_LANG": "en"}

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return started.quizkit(*words, *more, env=env)

    assert run().returncode == 0
    done = run("--topic", "zz")
    assert done.returncode == 1
    assert "zz/bad.yaml:1: error: unknown kind" in done.stderr
