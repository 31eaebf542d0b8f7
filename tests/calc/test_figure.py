"""A formula is shown as it is computed: the same text, the branch taken, the numbers put in."""

import pytest

from quizkit.calc.figure import figure, shown
from quizkit.calc.sheets import NAMES, called, find, names, sheet

BYTES = {"bf16": 2, "fp32": 4}
HALF = 2


@figure("bytes", "a paper, equation 1")
def size(count: int, dtype: str, cut: bool, parts: int) -> float:
    """Bytes of something."""
    return BYTES[dtype] * (count / parts if cut else count) / HALF


WHOLE = {"count": 10**8, "dtype": "bf16", "cut": False, "parts": 4}


def test_the_formula_is_the_source():
    assert size.formula == "BYTES[dtype] * (count / parts if cut else count) / HALF"


def test_of_a_choice_only_the_branch_taken_is_shown():
    assert size.taken(WHOLE) == "BYTES[dtype] * count / HALF"
    assert size.taken(WHOLE | {"cut": True}) == "BYTES[dtype] * (count / parts) / HALF"


def test_numbers_are_put_in_and_tables_are_looked_up():
    assert size.filled(WHOLE) == "2 * 1e+08 / 2"
    assert size.filled(WHOLE | {"cut": True, "dtype": "fp32"}) == "4 * (1e+08 / 4) / 2"


def test_what_is_shown_is_what_is_computed():
    assert size(WHOLE) == eval(size.filled(WHOLE)) == 10**8


def test_without_what_it_needs_there_is_no_figure():
    assert size(WHOLE | {"dtype": None}) is None


def test_long_numbers_are_shortened_and_short_ones_are_not():
    assert [shown(7_500_000_000), shown(4096), shown(0.125)] == ["7.5e+09", "4096", "0.125"]


@pytest.mark.parametrize("name", names())
def test_every_figure_is_called_by_one_name(name: str):
    found = find(name)
    assert found is not None
    assert called(found.sheet, found.figure) == name
    assert names().count(name) == 1


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_shows_its_formula_and_says_where_it_stands(name: str):
    for each in sheet(name).figures:
        assert each.formula
        assert each.source.strip()
        inputs = {each.name for each in sheet(name).inputs}
        before = {other.name for other in sheet(name).figures}
        assert set(each.arguments) <= inputs | before, each.name
