"""Drawn numbers go where the author put them, and never into a formula's own braces."""

import pytest

from quizkit.bank.places import places, put


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{p} stages, {m} micro-batches", "4 stages, 8 micro-batches"),
        ("$({p}-1)/({m}+{p}-1)$", "$(4-1)/(8+4-1)$"),
        (r"$\frac{p}{m}$ is {p}/{m}", r"$\frac{p}{m}$ is 4/8"),
        (r"$\sqrt{p}$, $2^{p}$, $x_{m}$", r"$\sqrt{p}$, $2^{p}$, $x_{m}$"),
        (r"$\frac{ {p} }{2}$", r"$\frac{ 4 }{2}$"),
        ("{unknown} and {p}", "{unknown} and 4"),
    ],
)
def test_a_number_goes_where_it_was_meant(text: str, filled: str):
    assert put(text, {"p": "4", "m": "8"}.get) == filled


def test_names():
    assert places(r"{p} of $\frac{m}{p}$ and {k}") == {"p", "k"}
