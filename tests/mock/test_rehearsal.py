"""A script is played before anybody sits it: what nothing brings about is a mistake."""

from random import Random

import pytest
from candidates import script_of

from quizkit.bank.mocks import mock_slugs, read_mock
from quizkit.bank.reader import Bank
from quizkit.mock.heard import Heard, route
from quizkit.mock.rehearsal import answers, outcomes, put, rehearsed
from quizkit.paths import QUESTIONS

SHIPPED = mock_slugs(QUESTIONS)


@pytest.fixture(params=SHIPPED)
def held(request, shipped):
    return script_of(request.param), shipped


def test_the_shipped_scripts_rehearse_without_a_mistake(held):
    script, bank = held
    assert [*rehearsed(script, bank.questions)] == []


def test_a_script_of_an_hour_has_ten_probes_and_some_go_deeper(held):
    script, bank = held
    if script.minutes < 30:
        pytest.skip("the short one")
    probes = [step for _, step in script.placed() if step not in script.stations]
    assert len(probes) >= 10
    # Who does well goes deeper: a perfect answer brings a probe about at four steps or more.
    deeper = 0
    for _, step in script.placed():
        best = max(
            outcomes(script.question(step, bank.questions), step.probes, script),
            key=lambda heard: (heard["score"], heard["left"], heard["hints"] == 0),
        )
        deeper += put(step.probes, best) is not None
    assert deeper >= 4


def test_twenty_candidates_go_fifteen_ways_and_none_runs_out_of_clock(held):
    """Each knows as much as their seed says, and takes every target in full."""
    script, bank = held
    ways: set[tuple[str, ...]] = set()
    for seed in range(20):
        random, heard, spent = Random(seed), dict[str, Heard](), 0.0
        while True:
            met = [step for step, _ in route(script, heard)]
            step = next((each for each in met if each.id not in heard), None)
            if step is None:
                break
            spent += step.seconds + sum(look.seconds for look in step.looks)
            outcomes = sorted(
                answers(script.question(step, bank.questions)), key=lambda each: each["score"]
            )
            knows = random.random() < 0.2 + seed / 30
            turned = len(outcomes) - 1 if knows else random.randrange(len(outcomes))
            looks = {f"look{n}": random.random() < 0.5 for n in range(1, 9)}
            heard[step.id] = {
                "silent": False,
                **outcomes[turned],
                **looks,
                "left": script.minutes - spent / 60,
                "hints": random.choice((0, 0, 0, 1, 2)),
            }
        ways.add(tuple(step.id for step in met))
        assert spent <= script.minutes * 60
    assert len(ways) >= (15 if script.minutes >= 30 else 7)


ASKED = """
      - {id: smaller, if: veto1, ask: pp/stages, seconds: 60, speaks: {correctness: 1}}
      - id: peak"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("ask: pp/parts", "ask: pp/order", ""),
        ("if: not point1 or score < 0.5", "if: score > 0.9 and not point1", "is never put"),
        ("if: wrong\n", "if: right and wrong\n", "is never put"),
        ("if: veto1", "if: veto1 and left < 5", "nobody asks about it"),
        ("correctness: 2, comm", "correctness: 2, numbers: 9, comm", "more than half"),
    ],
)
def test_each_mistake_is_found(folder, tmp_path, old, new, expected):
    text = (folder / "mocks/small.yaml").read_text(encoding="utf-8")
    text = text.replace("\n      - id: peak", ASKED).replace("correctness: 2, comm", "comm")
    text = text.replace("communication: 1}", "correctness: 2, communication: 1}")
    assert old in text
    (tmp_path / "mocks").mkdir()
    (tmp_path / "mocks/small.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    script = read_mock(tmp_path, "small", [])
    assert script is not None
    told = [message for _, message in rehearsed(script, Bank.load(folder).questions)]
    assert (told == []) is (expected == "")
    assert all(expected in message for message in told)


def test_a_check_that_cannot_fail_is_found(talk, tmp_path):
    text = (talk / "mocks/small.yaml").read_text(encoding="utf-8")
    (tmp_path / "mocks").mkdir()
    for old, new, expected in (
        ("wrong: [{tp: 16, pp: 2}]", "wrong: [{tp: 4, pp: 2}]", "holds of every `wrong` example"),
        ("example: {tp: 8, pp: 2}", "example: {tp: 8, pp: 4}", "fails check 1"),
    ):
        assert old in text
        (tmp_path / "mocks/small.yaml").write_text(text.replace(old, new), encoding="utf-8")
        script = read_mock(tmp_path, "small", [])
        assert script is not None
        told = [message for _, message in rehearsed(script, Bank.load(talk).questions)]
        assert any(expected in message for message in told)
