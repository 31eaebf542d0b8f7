"""One function out of a demo: what a question shows, and which lines a planted bug changed."""

from pathlib import Path

import pytest

from quizkit.errors import LabError, UsageError
from quizkit.lab.catalogue import Demo, find
from quizkit.lab.excerpt import excerpt

SOURCE = '''"""Law.

The trick
    It.
Watch
    total   a sum
Run
    quizkit demo sums
"""

TOPIC = "comm"


class Ring:
    @staticmethod
    def pass_on(block):
        """Not shown."""
        return block


def total(values):
    """Neither is this,

    however long.
    """
    result = 0
    for value in values:
        result += value
        log(value)
    return result


def main(size: int = 3):
    return {}


BREAKS = {
    "lost": Break(old="    result = 0\\n", new="", expect="crashes: UnboundLocalError", ranks=1),
    "last": Break(old="result += value", new="result = value", expect="sum", ranks=1),
    "mute": Break(old="        log(value)\\n", new="", expect="sum", ranks=1),
    "two": Break(
        old="for value in values:\\n        result += value",
        new="for value in values[1:]:\\n        # all\\n        result -= value",
        expect="sum",
    ),
    "syntax": Break(old="return result", new="return (", expect="crashes: SyntaxError"),
}
'''


@pytest.fixture
def demo(tmp_path: Path) -> Demo:
    (tmp_path / "sums.py").write_text(SOURCE, encoding="utf-8")
    return find("sums", tmp_path)


def test_a_function_without_its_docstring(demo: Demo) -> None:
    cut = excerpt(demo, "total")
    assert cut.lines == (
        "def total(values):",
        "    result = 0",
        "    for value in values:",
        "        result += value",
        "        log(value)",
        "    return result",
    )
    assert SOURCE.split("\n")[cut.first - 1] == "def total(values):"
    assert cut.changed == frozenset()


def test_a_method_starts_at_its_decorator_and_at_the_margin(demo: Demo) -> None:
    cut = excerpt(demo, "Ring.pass_on")
    assert cut.lines == ("@staticmethod", "def pass_on(block):", "    return block")


@pytest.mark.parametrize(
    ("broken", "changed"),
    [
        ("last", {"        result = value"}),
        ("two", {"    for value in values[1:]:", "        # all", "        result -= value"}),
        # A line that is gone cannot be pointed at: its neighbours stand for it.
        ("lost", {"def total(values):", "    for value in values:"}),
        ("mute", {"        result += value", "    return result"}),
    ],
)
def test_a_planted_bug_marks_the_lines_it_changed(
    demo: Demo, broken: str, changed: set[str]
) -> None:
    cut = excerpt(demo, "total", broken)
    assert {cut.lines[number - 1] for number in cut.changed} == changed


def test_what_cannot_be_cut_is_an_error(demo: Demo) -> None:
    with pytest.raises(UsageError, match="total"):
        excerpt(demo, "totals")
    with pytest.raises(UsageError, match="mute"):
        excerpt(demo, "total", "mut")
    with pytest.raises(UsageError, match="does not touch"):
        excerpt(demo, "main", "last")
    with pytest.raises(LabError, match=r"sums\.py:30: "):
        excerpt(demo, "total", "syntax")
