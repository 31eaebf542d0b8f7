"""What somebody probably meant by a name that does not exist."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

_MOST = 30
"""Names that are all given where none is near."""
_MANY = 1000
"""So many names are not compared one by one: a whole bank may ask for each of its names."""
_SHORTLIST = 50


def nearest(name: str, known: Iterable[str]) -> str:
    """The nearest known name; else all of them, or of very many those least unlike."""
    return _nearest(name, tuple(known))


@lru_cache(maxsize=4096)
def _nearest(name: str, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    words = _shortlist(name, known) if len(known) > _MANY else known
    close = get_close_matches(name, words, n=1, cutoff=0.5)
    if close:
        return close[0]
    if len(known) > _MOST:
        return ", ".join(get_close_matches(name, words, n=3, cutoff=0.0))
    return ", ".join(sorted(words)) or "-"


def _shortlist(name: str, known: tuple[str, ...]) -> Sequence[str]:
    """Those that share a piece of three letters with it, what shares the rarest piece first."""
    holders = _holders(known)
    found: dict[str, None] = {}
    for piece in sorted(_pieces(name) & holders.keys(), key=lambda each: len(holders[each])):
        found |= dict.fromkeys(holders[piece][:_SHORTLIST])
        if len(found) >= _SHORTLIST:
            break
    return [*found] or known[:_SHORTLIST]


@lru_cache(maxsize=4)
def _holders(known: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    holders: dict[str, list[str]] = {}
    for name in known:
        for piece in _pieces(name):
            holders.setdefault(piece, []).append(name)
    return holders


def _pieces(name: str) -> set[str]:
    return {name[start : start + 3] for start in range(max(1, len(name) - 2))}
