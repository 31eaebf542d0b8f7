"""What `prove` was asked for and cannot be read is told, whatever else was asked for."""

import os
import subprocess
from pathlib import Path

import pytest
import started

from quizkit.cli.prove import _say_result  # pyright: ignore[reportPrivateUsage]
from quizkit.proof.parts import Parts
from quizkit.proof.prove import Mutation, Result
from quizkit.words import Lang


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


def test_a_key_that_survives_a_change_is_not_called_proved(capfd: pytest.CaptureFixture[str]):
    proved = Result("pp/bubble-share", "proved")
    for survived, said in ((), "proved   pp/bubble-share"), (("answer + 1",), "WEAK     pp/"):
        _say_result(proved, Mutation("pp/bubble-share", 3, survived), False, "en")
        told = capfd.readouterr().err
        assert told.startswith(said)
        assert ("survives a changed key: answer + 1" in told) is bool(survived)


@pytest.mark.parametrize(
    ("lang", "part", "whole"),
    [
        ("en", "proved 1 of 4 points, 2 in part", "proved 1 of 4 points  "),
        ("zh", "已证明（4 个要点中的 1 个，另 2 个只证了一部分）", "已证明（4 个要点中的 1 个）"),
    ],
)
def test_what_is_proved_in_part_is_counted_apart(
    capfd: pytest.CaptureFixture[str], lang: Lang, part: str, whole: str
):
    for count, told in ((2, part), (0, whole)):
        result = Result("pp/why", "proved", parts=Parts("points", 1, 4, count))
        _say_result(result, None, False, lang)
        assert capfd.readouterr().err.startswith(told)
