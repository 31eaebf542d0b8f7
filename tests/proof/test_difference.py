"""A fresh run beside its record: what must be the same, and what may differ."""

from dataclasses import replace
from typing import Any

import pytest

from quizkit.lab.record import Made
from quizkit.lab.report import Check
from quizkit.proof.difference import differences, rounds_as_here
from tests.proof.conftest import Brings


def what(brings: Brings, was: Any, now: Any, how: str = "counted", **more: Any) -> list[str]:
    varies = more.pop("varies", ())
    one, other = (brings(how=how, metrics={"x": each}, **more) for each in (was, now))
    return [each.what for each in differences(one, other, varies)]


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (4, 4),
        (0.1, 0.1 + 1e-12),
        ([1, 2], [1, 2]),
        ("NaN", "NaN"),
        ("Infinity", "Infinity"),
        (True, True),
    ],
)
def test_the_same_is_no_difference(brings: Brings, was: Any, now: Any):
    assert what(brings, was, now) == []


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (4, 5),
        (10**12, 10**12 + 1),
        (0.1, 0.1 + 1e-9),
        ([1, 2], [1, 3]),
        ([1, 2], [1]),
        ([1], 1),
        ("NaN", 0.0),
        (0.0, 1e-15),
        (True, False),
    ],
)
def test_a_metric_that_differs_is_named(brings: Brings, was: Any, now: Any):
    assert what(brings, was, now) == ["x"]


def test_rounding_may_be_of_another_size(brings: Brings):
    assert what(brings, 4e-16, 9e-16, "compared") == []
    assert what(brings, 0.0, [4e-16][0], "compared") == []
    assert what(brings, 4e-16, 3e-3, "compared") == ["x"]
    assert what(brings, 1e-7, 3e-7, "compared") == ["x"]
    assert what(brings, 1e-7, 3e-7, "compared", floors={"x": 1e-6}) == []
    assert what(brings, 1e-7, 3e-6, "compared", floors={"x": 1e-6}) == ["x"]
    assert what(brings, 1e-16, 2e-16, "compared", floors={"x": 0.0}) == ["x"]


def test_what_varies_by_itself_is_not_compared(brings: Brings):
    assert what(brings, 0.3, 0.7, "clocked", varies=("x",)) == []


def test_metrics_checks_and_endings_that_come_or_go_are_named(brings: Brings):
    one = brings(metrics={"x": 1})
    assert [d.what for d in differences(one, brings(metrics={"y": 1}))] == [
        "how x was had",
        "how y was had",
    ]
    held = replace(one, checks=(Check("sums agree", 0.0, "<", 1e-12, True),))
    failed = replace(one, checks=(Check("sums agree", 1.0, "<", 1e-12, False),), verdict="fail")
    assert [d.what for d in differences(held, failed)] == ["verdict", "check `sums agree`"]
    later = replace(one, checks=(Check("sums agree", 3e-16, "<", 1e-12, True),))
    assert [*differences(held, later)] == []


def test_on_another_processor_a_run_comes_to_the_same_and_its_numbers_near(brings: Brings):
    was = brings(metrics={"x": 0.25, "e": 1e-16, "n": [3, 5]})
    for metrics, failed, expected in (
        ({"x": 0.26, "e": 0.0, "n": (3, 6)}, None, []),
        ({"x": 0.51, "e": 0.0, "n": (3, 5)}, None, ["x"]),
        ({"x": -0.25, "e": 1e-6, "n": (3, 5, 7)}, None, ["x", "e", "n"]),
        ({"x": 0.26, "e": 0.0}, None, ["how n was had"]),
        (was.metrics, "verdict", ["verdict"]),
        (was.metrics, "check", ["check `same`"]),
    ):
        one = replace(was, checks=(Check("same", 0.0, "<", 1e-12, True),))
        now = replace(one, metrics=metrics, how={name: was.how[name] for name in metrics})
        if failed == "verdict":
            now = replace(now, verdict="fail")
        elif failed:
            now = replace(now, checks=(Check("same", 1.0, "<", 1e-12, False),))
        assert [each.what for each in differences(one, now, exact=False)] == expected
        assert metrics is was.metrics or [*differences(one, now)]


def test_numbers_are_held_where_the_record_names_this_processor(monkeypatch: pytest.MonkeyPatch):
    made = Made("c", "2.13.0", "fork", "gloo", "cpu", "GenuineIntel avx512f")
    for here, same in (("GenuineIntel avx512f", True), ("AuthenticAMD avx2", False), ("", False)):
        monkeypatch.setattr("quizkit.proof.difference.processor", lambda here=here: here)
        assert rounds_as_here(made) is same
        assert not rounds_as_here(replace(made, processor=""))
    assert not rounds_as_here(None)
