"""What somebody probably meant by a name that does not exist."""

from collections.abc import Iterable

_MOST = 30
"""Names that are all given where none is near."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The nearest known name; else all of them, or of very many those least unlike."""
    from difflib import get_close_matches

    words = list(known)
    close = get_close_matches(name, words, n=1, cutoff=0.5)
    if close:
        return close[0]
    if len(words) > _MOST:
        return ", ".join(get_close_matches(name, words, n=3, cutoff=0.0))
    return ", ".join(sorted(words)) or "-"
