"""What somebody probably meant by a name that does not exist."""

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """The nearest known name, else all of them."""
    from difflib import get_close_matches

    words = list(known)
    close = get_close_matches(name, words, n=1, cutoff=0.5)
    return close[0] if close else ", ".join(sorted(words)) or "-"
