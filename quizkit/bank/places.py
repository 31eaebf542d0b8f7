r"""Places for drawn numbers in a text: `{p}`. A formula's braces are none: `\frac{p}{m}`."""

import re
from collections.abc import Callable

# The argument of a command, and a brace right after another or after ^ and _, is the formula's.
_PLACE = re.compile(r"\\[A-Za-z]+\{[^{}]+\}|(?<![}^_])\{([^{}]+)\}")


def put(text: str, shown: Callable[[str], str | None]) -> str:
    """Fill a text's places with what `shown` has for each name; others stay."""

    def at(found: re.Match[str]) -> str:
        value = shown(found[1]) if found[1] else None
        return found[0] if value is None else value

    return _PLACE.sub(at, text)


def places(text: str) -> set[str]:
    """Return the names or formulas that stand in a text's places."""
    return {name for name in _PLACE.findall(text) if name}
