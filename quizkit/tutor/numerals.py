"""Chinese numerals as they are typed: 四十八 · 两千 · 一万二 · 3.2万 · 零点五 · 三分之二."""

import re

_DIGITS = {digit: str(n) for n, digit in enumerate("零一二三四五六七八九")} | {"〇": "0", "两": "2"}
_TENS = {"十": 10, "百": 100, "千": 1000}
_SECTIONS = {"万": 10**4, "亿": 10**8}
LETTERS = frozenset(_DIGITS) | frozenset(_TENS) | frozenset(_SECTIONS) | {"点"}
"""The signs a numeral is written with."""

_ANY = "".join(sorted(LETTERS))
# At the beginning, or where a sum goes on; 千兆 is giga of something.
_RUN = re.compile(rf"(?P<before>^|[-+*/(=≈]\s*)(?P<run>[\d.]*[{_ANY}][\d.{_ANY}]*)(?!(?<=千)兆)")
_FRACTION = re.compile(rf"^(?P<of>[\d.{_ANY}]+)分之(?P<part>[\d.{_ANY}]+)")
_PIECE = re.compile(rf"\d+(?:\.\d+)?|[{_ANY}]")


def in_digits(text: str) -> str:
    """Write a text's numerals in digits; what is no numeral stays."""
    if not LETTERS & {*text}:
        return text
    if found := _FRACTION.match(text):
        whole, part = _whole(found["of"]), numeral(found["part"])
        if whole and part is not None:
            text = f"({_written(part)}/{_written(whole)})" + text[found.end() :]
    return _RUN.sub(_replaced, text)


def numeral(text: str) -> float | None:
    """Return the number a numeral is, or None if it is none: 百万 alone counts nothing."""
    text = "".join(_DIGITS.get(letter, letter) for letter in text).replace("点", ".")
    if re.fullmatch(r"\d+(?:\.\d+)?", text):
        return float(text)
    pieces = _PIECE.findall(text)
    if "".join(pieces) != text or pieces[0] in "百千万亿":
        return None
    total = section = 0.0
    number: float | None = None
    unit, zero = 1, False
    for piece in pieces:
        if piece in _TENS:
            if section and _TENS[piece] >= unit:
                return None
            section += (number or 1) * _TENS[piece]  # 十 alone is ten
            number, unit = None, _TENS[piece]
        elif piece in _SECTIONS:
            unit = _SECTIONS[piece]
            section += number or 0
            total = (total + section) * unit if unit > total else total + section * unit
            section, number = 0.0, None
        elif number is not None:
            return None
        else:
            number, zero = float(piece), piece.startswith("0")
    last = number or 0
    # 三万二 leaves the unit of its last digit out; 三万零二 does not.
    short = unit >= 100 and last < 10 and not zero
    return total + section + last * (unit / 10 if short else 1)


def _whole(text: str) -> float | None:
    return {"千": 1e3, "万": 1e4}.get(text) or numeral(text)


def _replaced(found: re.Match[str]) -> str:
    value = numeral(found["run"])
    return found[0] if value is None else found["before"] + _written(value)


def _written(value: float) -> str:
    return repr(int(value)) if value.is_integer() else repr(value)
