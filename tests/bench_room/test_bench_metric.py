"""What a run reports: metrics over ranks, checks judged, strict JSON."""

import math
from typing import cast

from _bench import metric, report

import pytest


def counts(*values: object, **more: object) -> list:
    return [{"sent": {"value": each, "how": "counted", "shared": False} | more} for each in values]


def test_a_metric_is_a_list_over_ranks_unless_shared():
    assert metric.merged(counts(3, 4, 5)) == {"sent": [3, 4, 5]}
    assert metric.merged(counts(3, 3, 3, shared=True)) == {"sent": 3}
    assert metric.merged(counts(8, shared=False)) == {"sent": [8]}


def test_ranks_that_disagree_on_a_shared_value_are_an_error():
    with pytest.raises(metric.DisagreementError, match=r"sent is shared.*\[3, 3, 4\]") as caught:
        metric.merged(counts(3, 3, 4, shared=True))
    assert caught.value.rank == 2


def test_ranks_may_agree_on_nan():
    both = metric.merged(counts(math.nan, math.nan, shared=True))
    assert math.isnan(both["sent"])


def test_ranks_that_report_different_metrics_are_an_error():
    with pytest.raises(metric.DisagreementError, match=r"rank 1 and rank 0 .*: more"):
        metric.merged([{}, {"more": counts(1)[0]["sent"]}])


def test_what_main_returns_must_say_how_it_was_had():
    with pytest.raises(TypeError, match=r"'sent' needs counted\(\)"):
        metric.packed({"sent": 3})
    with pytest.raises(TypeError, match="not NoneType"):
        metric.packed(None)
    with pytest.raises(TypeError, match=r"must be one number, not \[1, 2\]"):
        metric.packed({"sent": metric.counted([1, 2])})
    packed = metric.packed({"sent": metric.shared(metric.clocked(2.5))})
    assert packed == {"sent": {"value": 2.5, "how": "clocked", "shared": True}}


def test_a_demo_with_its_own_launch_lists_values_itself():
    assert metric.packed({"a": metric.counted([1, 2])}, 2)["a"]["value"] == [1, 2]
    with pytest.raises(TypeError, match="one value for each of 3 ranks"):
        metric.packed({"a": metric.counted([1, 2])}, 3)


def test_a_difference_carries_what_is_rounding():
    packed = metric.packed({"error": metric.compared(2e-7, floor=1e-6)})
    assert packed == {
        "error": {"value": 2e-7, "how": "compared", "shared": False, "floor": 1e-6},
    }


def test_equal_bit_by_bit_is_yes_or_no_and_no_difference():
    packed = metric.packed({"same": metric.shared(metric.identical(True))})
    assert packed == {"same": {"value": True, "how": "identical", "shared": True}}
    with pytest.raises(TypeError, match="'same': identical\\(\\) takes True or False, not 0"):
        metric.packed({"same": metric.identical(cast("bool", 0))})
    with pytest.raises(TypeError, match="takes True or False"):
        metric.packed({"same": metric.identical(cast("bool", [True, 1.0]))}, 2)


@pytest.mark.parametrize(
    ("measured", "relation", "expected", "holds"),
    [
        (1, "<", 2, True),
        (2, "<", 2, False),
        (2, "<=", 2, True),
        (2, "==", 2, True),
        (2, ">=", 3, False),
        (3, ">", 2, True),
        (3, "!=", 3, False),
        (math.nan, "<", 2, False),
        (math.nan, "!=", 2, False),
        (1, "<", math.nan, False),
    ],
)
def test_checks(measured: float, relation: str, expected: float, holds: bool):
    assert metric.checked("c", measured, relation, expected)["holds"] is holds


def test_an_unknown_relation_is_an_error():
    with pytest.raises(ValueError, match="'~' is none of"):
        metric.checked("c", 1, "~", 1)


def test_the_worst_rank_speaks_for_a_check():
    def kept(relation: str, expected: float, *measured: float) -> float:
        (one,) = metric.worst([metric.checked("c", m, relation, expected) for m in measured])
        return one["measured"]

    assert kept("<", 1, 0.1, 0.9, 0.5) == 0.9
    assert kept("<", 1, 0.9, 7, 5) == 7
    assert kept(">", 1, 5, 2, 9) == 2
    assert kept("==", 3, 3, 4, 1) == 1
    assert kept("!=", 3, 9, 3, 4) == 3
    assert math.isnan(kept("<", 1, 0.5, 9, math.nan, 8))
    one, other = metric.checked("c", 3, "==", 3), metric.checked("c", 3, "<", 3)
    assert metric.worst([one, other]) == [other]


def test_checks_stay_in_the_order_of_first_mention():
    names = [each["name"] for each in metric.worst([metric.checked(n, 1, "<", 2) for n in "abab"])]
    assert names == ["a", "b"]


def test_json_is_strict():
    strict = report.strict({"a": [math.nan, math.inf, -math.inf, 1.5], "b": (1, None)})
    assert strict == {"a": ["nan", "inf", "-inf", 1.5], "b": [1, None]}
