"""Amounts as people say them, and whole."""

import pytest

from quizkit.ui.screens.amount import exact, human
from quizkit.words import Lang


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (1_875_000_000, "bytes", "1.875 GB = 1.746 GiB"),
        (80 * 2**30, "bytes", "85.9 GB = 80 GiB"),
        (999, "bytes", "999 bytes"),
        (0, "bytes", "0 bytes"),
        (999_999, "bytes", "1 MB = 976.6 KiB"),
        (5e10, "B/s", "50 GB/s = 46.57 GiB/s"),
        (0.035, "s", "35 ms"),
        (4.2e-6, "s", "4.2 us"),
        (90, "s", "90 s"),
        (7200, "s", "2 hours"),
        (864_000, "s", "10 days"),
        (33.94, "days", "33.94 days"),
        (1.076e12, "FLOP", "1.076 TFLOP"),
        (989e12, "FLOP/s", "989 TFLOP/s"),
        (3 / 11, "share", "27.27 %"),
        (0.375, "of the ideal", "37.5 %"),
        (7_500_000_000, "params", "7.5B"),
        (1.8e12, "params", "1.8T"),
        (12, "bytes/param", "12 bytes/param"),
        ([4, 3, 2.5], "count", "[4, 3, 2.5]"),
        ("dp, tp", "axes", "dp, tp"),
    ],
)
def test_a_size_people_think_in(value: object, unit: str, shown: str) -> None:
    assert human(value, unit, "en") == shown


@pytest.mark.parametrize(
    ("value", "unit", "lang", "shown"),
    [
        (1_875_000_000, "bytes", "en", "1,875,000,000 bytes"),
        (1_875_000_000, "bytes", "zh", "1,875,000,000 字节"),
        (10**30, "FLOP", "en", "1,000,000,000,000,000,000,000,000,000,000 FLOP"),
        (0.2727272727272727, "share", "en", "0.2727272727"),
        ([1000, 2], "count", "en", "[1000, 2]"),
        (25.5, "days", "zh", "25.5 天"),
    ],
)
def test_all_the_digits(value: object, unit: str, lang: Lang, shown: str) -> None:
    assert exact(value, unit, lang) == shown
