"""The name that was meant, found also where a bank of thousands asks for each of its names."""

import difflib
from collections.abc import Sequence
from typing import Any

import pytest

from quizkit.near import nearest

WORDS = [f"pp/{first}-{second}-{n}" for first in ("ring", "tree", "bubble") for second in
         ("bytes", "steps", "memory", "order") for n in range(100, 350)]  # fmt: skip


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """With how many names each wrong one was compared."""
    seen: list[int] = []
    real = difflib.get_close_matches

    def counted(word: str, possibilities: Sequence[str], **more: Any) -> list[str]:
        seen.append(len(possibilities))
        return real(word, possibilities, **more)

    monkeypatch.setattr(difflib, "get_close_matches", counted)
    return seen


def test_a_slip_is_found_among_thousands_without_comparing_it_with_each(compared: list[int]):
    for word in WORDS[::7]:
        assert nearest(word.replace("-", "_", 1), WORDS) == word
    assert sum(compared) <= 70 * len(WORDS[::7])


def test_the_same_slip_again_costs_nothing(compared: list[int]):
    assert {nearest("pp/ring-byte-100", WORDS[:900]) for _ in range(900)} == {"pp/ring-bytes-100"}
    assert compared == [900]


def test_what_is_like_nothing_has_some_names_all_the_same():
    assert nearest("!", WORDS).count(", ") == 2
    assert nearest("!", ["b", "a"]) == "a, b"
    assert nearest("!", []) == "-"
