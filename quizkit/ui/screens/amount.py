"""Amounts as people say them: bytes as GB and GiB, seconds as hours, FLOP with a prefix."""

from typing import cast

from quizkit.words import Lang, say

_PREFIXES = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
_LONG = ((86400, "days"), (3600, "hours"), (60, "minutes"))
_SHORT = ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_SHARES = ("share", "of the ideal", "of the step")
_NAMED = ("bytes", "days", "s", "FLOP")


def exact(value: object, unit: str, lang: Lang) -> str:
    """Write the whole number, its digits in groups of three, and its unit."""
    if isinstance(value, list):
        # Groups of three would read as more numbers where commas already part them.
        items = cast("list[object]", value)
        return f"[{', '.join(_digits(each).replace(',', '') for each in items)}]"
    return f"{_digits(value)}{_named(unit, lang)}"


def human(value: object, unit: str, lang: Lang) -> str:
    """Write the number at a size people think in; what `exact` says where that is the same."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value:
        return exact(value, unit, lang)
    match unit:
        case "bytes" | "bytes/s" | "B/s" if abs(value) >= 1000:
            rate = "/s" if unit != "bytes" else ""
            binary = f"{_scaled(value, 1024, 'i')}B{rate}"
            return f"{_scaled(value, 1000, '')}B{rate} = {binary}"
        case "s":
            return _time(value, lang)
        case "days":
            years = f" = {value / 365:.3g} x 365" if value >= 365 else ""
            return f"{value:.4g} {say('calc.unit_days', lang)}{years}"
        case "FLOP" | "FLOP/s" if abs(value) >= 1000:
            return f"{_scaled(value, 1000, '')}{unit}"
        case _ if unit in _SHARES:
            return f"{100 * value:.4g} %"
        case "params" | "count" if abs(value) >= 1e6:
            # As models are called, 7B and 1.8T.
            return _scaled(value, 1000, "").replace(" ", "").replace("G", "B")
        case _:
            return exact(value, unit, lang)


def _digits(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.10g}"


def _named(unit: str, lang: Lang) -> str:
    # What is counted is said by the label; a unit is said beside its number.
    if unit not in _NAMED and "/" not in unit:
        return ""
    return f" {say(f'calc.unit_{unit}', lang) if unit in ('bytes', 'days') else unit}"


def _scaled(value: float, base: int, sign: str) -> str:
    power = 0
    # To four digits, 999.96 would be written 1000 of the prefix below.
    while abs(value) >= base * 0.99995 and power < len(_PREFIXES) - 1:
        value /= base
        power += 1
    prefix = _PREFIXES[power].upper() if sign else _PREFIXES[power]
    return f"{value:.4g} {prefix}{sign if power else ''}"


def _time(seconds: float, lang: Lang) -> str:
    for size, name in _LONG:
        if abs(seconds) >= 2 * size:
            return f"{seconds / size:.4g} {say(f'calc.unit_{name}', lang)}"
    for size, name in _SHORT:
        if abs(seconds) >= size:
            return f"{seconds / size:.4g} {name}"
    return f"{seconds:.4g} s"
