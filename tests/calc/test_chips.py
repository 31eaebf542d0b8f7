"""Accelerators by name: dense peaks, memory as sold, links one way."""

import pytest

from quizkit.calc.chips import CHIPS, chip, names
from quizkit.errors import UsageError


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("h100", "H100"),
        ("H100 SXM", "H100"),
        ("nvidia-h100-80gb", "H100"),
        ("a100", "A100-80"),
        ("A100-40GB", "A100-40"),
        ("mi300x", "MI300X"),
        ("h100-pcie", "H100-PCIe"),
    ],
)
def test_a_name_is_found_however_it_is_spelt(written: str, name: str):
    assert chip(written).name == name


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(UsageError, match="H100"):
        chip("h10")


def test_peaks_are_dense_and_links_are_one_way():
    """The datasheets' sums: half of what they print with sparsity, half of both directions."""
    assert chip("h100").flops == pytest.approx(1979e12 / 2, rel=1e-3)
    assert chip("h800").flops == chip("h200").flops == chip("h100").flops
    assert chip("b200").flops == 4500e12 / 2
    assert chip("a100").flops == 312e12
    assert chip("h100").inside == 900e9 / 2
    assert chip("h800").inside == 400e9 / 2
    assert chip("mi300x").inside == 7 * 128e9 / 2
    assert chip("h100").across == 400e9 / 8


@pytest.mark.parametrize("each", CHIPS, ids=lambda each: each.name)
def test_every_chip_is_of_this_world_and_says_where_from(each: object):
    found = chip(str(getattr(each, "name", "")))
    assert 1e14 < found.flops < 3e15
    assert found.memory % 10**9 == 0
    assert found.across < found.inside < found.hbm
    # A ridge between 30 and 500 FLOPs a byte; H20 is the odd one, with little to compute with.
    assert 30 < found.flops / found.hbm < 500
    assert found.node in (8, 72)
    assert found.source


def test_names_are_not_said_twice():
    assert len(set(names())) == len(CHIPS)
