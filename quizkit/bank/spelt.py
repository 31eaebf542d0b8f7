"""Numbers that an English text spells out or writes in digits."""

import re
from collections.abc import Iterator, Mapping

_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SPELT: Mapping[str, int] = {
    **{word: n for n, word in enumerate(_NUMBERS)},
    **{ten: 10 * n for n, ten in enumerate(_TENS, start=2)},
    **{
        f"{ten}{dash}{_NUMBERS[one]}": 10 * n + one
        for n, ten in enumerate(_TENS, start=2)
        for one in range(1, 10)
        for dash in "- "
    },
}
_LONGEST_FIRST = "|".join(sorted(SPELT, key=len, reverse=True))
SPELT_OUT = re.compile(rf"(?<![a-z])(?:{_LONGEST_FIRST})(?![a-z])", re.IGNORECASE)
_DIGITS = re.compile(r"\d[\d,]*(?:\.\d+)?")


def numbers_in(text: str) -> Iterator[float]:
    """Yield every number in an English text."""
    for word in SPELT_OUT.findall(text):
        yield SPELT[word.lower()]
    for digits in _DIGITS.findall(text):
        yield float(digits.replace(",", ""))
