"""Decide where a line may break: rich breaks only at spaces, and Chinese has none.

Installed once, for every text rich wraps: between two Chinese characters a line may break, but no
closing punctuation opens a line and no opening bracket ends one. A command to type stays on one
line as long as a line can hold it. English comes out as before.
"""

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from rich.cells import cell_len

_WIDE = re.compile(
    r"[\u2e80-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]"
)
_GAP = re.compile(r"\[\d+ $")  # "[2 ____]" is a gap only as long as it is in one piece
_BEGINS = re.compile(r"(?<![\w/.-])(?:quizkit(?= [a-z-])|[\w/.-]*python[\d.]* -m pip install(?= ))")
_WORD = re.compile(r" ([!-~]+)")
_NAMED = 2
"""Words of a command beside its options: `learn pp`. One more than there are does no harm."""
_LONGER = ("bank", "config")  # `config level 3`
_OPENING = frozenset("（《「『【〈〔［｛“‘([{￥")
_CLOSING = frozenset("，。、；：？！）》」』】〉〕］｝”’…％～·,.;:?!)]}%")


def breaks(text: str, width: int, fold: bool = True) -> list[int]:
    """List the offsets at which to cut one line of text so that no piece is wider than `width`.

    Without `fold` a word that is wider stays whole, for the caller to crop.
    """
    if cell_len(text) <= width:  # as most lines do
        return []
    cuts: list[int] = []
    start = 0
    whole = _whole(text, width)
    while start < len(text):
        cut = _cut(text, start, width, fold, whole)
        if cut >= len(text):
            break
        cuts.append(cut)
        start = cut
    return cuts


def commands(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each command to type begins and ends in a sentence."""
    for found in _BEGINS.finditer(text):
        end, before, words = found.end(), "", 0
        most = _NAMED
        while word := _WORD.match(text, end):
            if words >= most and not (word[1].startswith("-") or before.startswith("-")):
                break
            most += words == 0 and word[1] in _LONGER
            before, end, words = word[1], word.end(), words + 1
            if before[-1] in _CLOSING:
                break
        yield found.start(), end


def wrapped(text: str, width: int) -> str:
    """Break the text's lines, for a terminal that would cut words at its edge.

    A word that is wider than the line, as a path may be, stays whole.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        cuts = [0, *breaks(line, width, fold=False), len(line)]
        lines += [line[a:b].rstrip() for a, b in pairwise(cuts)]
    return "\n".join(lines)


def narrowed(rows: str, width: int) -> str:
    """Set commands beside what they do, or above it where a line cannot hold both."""
    if max(map(cell_len, rows.split("\n"))) <= width:
        return rows
    return re.sub(" {2,}", "\n    ", rows)


def install() -> None:
    """Make rich use `breaks`. The name replaced is rich's own, so a test pins the result."""
    import rich.text

    rich.text.divide_line = breaks  # pyright: ignore[reportPrivateImportUsage]


def _whole(text: str, width: int) -> Collection[int]:
    """Return the places where no line breaks: inside a command, or as much of it as fits a line."""
    found: set[int] = set()
    for begin, end in commands(text):
        while end > begin and cell_len(text[begin:end]) > width:
            end = text.rfind(" ", begin, end)
        found.update(range(begin + 1, end))
    return found


def _cut(text: str, start: int, width: int, fold: bool, whole: Collection[int]) -> int:
    """Return where the line that begins at `start` ends."""
    used = 0
    best = 0
    for at, character in enumerate(text[start:], start):
        if at > start and at not in whole and _may_break(text, at):
            best = at
        used += cell_len(character)
        # Spaces may hang over the edge: what prints the line drops them.
        if used > width and not character.isspace():
            if best:
                return best
            if fold:
                return _fold(text, start, at)
            return next(_opportunities(text, at), len(text))
    return len(text)


def _fold(text: str, start: int, at: int) -> int:
    """Cut inside a word, but not where that leaves punctuation on the wrong side."""
    for place in range(at, start, -1):
        if not _clings(text, place):
            return place
    return max(at, start + 1)


def _opportunities(text: str, start: int) -> Iterator[int]:
    return (at for at in range(start + 1, len(text)) if _may_break(text, at))


def _may_break(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if after.isspace() or _clings(text, at):
        return False
    return before.isspace() or bool(_WIDE.match(before) or _WIDE.match(after))


def _clings(text: str, at: int) -> bool:
    """Tell whether the characters around this place belong on one line."""
    if text[at - 1] == " " and text[at] != " " and _GAP.search(text, max(0, at - 5), at):
        return True
    return text[at - 1] in _OPENING or text[at] in _CLOSING
