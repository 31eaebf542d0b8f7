"""Reading numbers as people type them: 1,048,576 · 3/11 ≈ 0.27 · 2^30 · 3×10⁸ · 7 万 · ２７.３％.

A right answer is never rejected for its spelling.
"""

import re
import unicodedata
from math import floor, log10, nan

from quizkit.bank.formula import FormulaError, parse
from quizkit.tutor.numerals import in_digits

_EXACT = 1e-9
LONGEST = 300  # characters; nobody types a longer number, and reading one would take seconds
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SIGNS = str.maketrans({"−": "-", "–": "-", "—": "-", "÷": "/", "⁄": "/", "、": ",", "μ": "u"})
_MAGNITUDES = {
    "万亿": 10**12, "千亿": 10**11, "百亿": 10**10, "十亿": 10**9, "亿": 10**8, "千万": 10**7,
    "百万": 10**6, "万": 10**4, "千": 10**3, "百": 10**2, "trillion": 10**12, "billion": 10**9,
    "million": 10**6, "thousand": 10**3, "k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9,
    "G": 10**9, "T": 10**12,
}  # fmt: skip
_WORDS = "|".join(word for word in _MAGNITUDES if len(word) > 1 or not word.isascii())
_LITERAL = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ABOUT = re.compile(
    r"^(?:=|(?P<mark>[≈~∼≃]|(?:大约|大概|约|差不多|接近)[是为]?"
    r"|(?:about|around|roughly|nearly|almost)\b|approx\w*\.?))\s*",
    re.IGNORECASE,
)
_OR_SO = re.compile(r"\s*(?:左右|上下|or so)$")
_EQUALS = re.compile(r"\s*(?:≈|≃|(?<![<>=!])=(?!=))\s*")
_TOKEN = re.compile(rf"\s*({_LITERAL}|\*\*|[-+*/()])")
# "1,234,567" and "1 000 000", but not "0,273", which is a decimal comma.
_GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:(?:,\d{3})+|(?: \d{3})+)(?![\d,])")
_LETTER = re.compile(r"[A-Za-z]")
_COMMAS = re.compile(r"\d+(?:,\d+)+")


def tidy(text: str) -> str:
    """Return the text in one width and spelling of each sign; superscripts become powers."""
    # Before NFKC, which would turn 10⁹ into 109.
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+", lambda found: f"**({found[0].translate(_SUPERSCRIPTS)})", text)
    text = unicodedata.normalize("NFKC", text).translate(_SIGNS)
    return " ".join(text.split()).strip().rstrip("。")


def split_number(text: str) -> tuple[float, str] | None:
    """Split a tidied text into the number it begins with and what follows; None without a number.

    Of `3/11 ≈ 0.27` it is the first, where the last is the same rounded; else there is none. What
    is in letters is passed over: `(p-1)/(m+p-1) = 3/11`.
    """
    if len(text) > LONGEST:
        return None
    *steps, last = _EQUALS.split(_OR_SO.sub("", _ABOUT.sub("", text)))
    steps = [step for step in steps if _split(step) or not _LETTER.search(step)]
    found, before = _split(last), [_split(step) for step in steps]
    if not steps or found is None:
        return found
    value, unit = found
    room = _half_place(last) + _EXACT * abs(value)
    exact = [each[0] * _turned(each[1], unit) for each in before if each]
    same = len(exact) == len(steps) and all(abs(each - value) <= room for each in exact)
    return (exact[0], unit) if same else None


def _turned(unit: str, wanted: str) -> float:
    """Return what a share is multiplied by; what has another unit is another number."""
    if unit in ("", wanted):
        return 100.0 if wanted == "%" and not unit else 1.0
    return 0.01 if (unit, wanted) == ("%", "") else nan


def rounding(text: str) -> float:
    """Return how far off, as a share of it, a number said to be about so much may be.

    Half a unit of its last digit, and never more than two digits would leave open: `~10` is from
    9.5 to 10.5, `~0.1` from 0.095 to 0.105. Nothing where it is not said to be about.
    """
    text = tidy(text)
    about, bare = _ABOUT.match(text), _ABOUT.sub("", text)
    marked = (about and about["mark"]) or _OR_SO.search(text)
    found = _split(_OR_SO.sub("", bare)) if marked else None
    if not found or not found[0]:
        return 0.0
    size = abs(found[0])
    second = 10.0 ** (floor(log10(size)) - 1)
    return min(_half_place(bare), second / 2) / size


def _half_place(text: str) -> float:
    """Half a unit of the last digit of a number that is written out; of a sum, nothing."""
    source = _ungrouped(text) if text[:1].isascii() else _canonical(text)
    found = re.match(rf"({_LITERAL})(?:\s*({_WORDS}))?(?!\s*[-+*/^(\d.])", source)
    if not found:
        return 0.0
    mantissa, _, power = found[1].lower().partition("e")
    places = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(power or 0) - places) * (magnitude(found[2] or "") or 1)


def _split(text: str) -> tuple[float, str] | None:
    source = _canonical(text)
    position, depth, end = 0, 0, 0
    while found := _TOKEN.match(source, position):
        position = found.end()
        depth += {"(": 1, ")": -1}.get(found[1], 0)
        if depth < 0:
            break
        if depth == 0 and (found[1] == ")" or found[1][-1].isdigit() or found[1][-1] == "."):
            end = position
    if end == 0:
        return None
    try:
        value = parse(source[:end].lstrip("+ ")).number({})
        return float(value), source[end:].strip()
    except (FormulaError, OverflowError):
        return None


def plain_number(text: str) -> float | None:
    """Read a text that is a number and nothing else; None if it is anything else."""
    found = split_number(tidy(text))
    return found[0] if found and not found[1] else None


def number_list(text: str, length: int) -> list[float] | None:
    """Read a list as typed: 4 3 2 1, [4,3,2,1], 4，3，2，1; None where something is no number."""
    inner = tidy(text).strip("[](){}<> ")
    # By spaces first, where that gives the right count: only then can commas group digits.
    parts = inner.split()
    if len(parts) != length or any(part.endswith((",", ";")) for part in parts):
        parts = [part for part in re.split(r"[,;\s]+", inner) if part]
    numbers = [plain_number(part) for part in parts]
    return [n for n in numbers if n is not None] if None not in numbers else None


def magnitude(word: str) -> int | None:
    """Return what 万, billion or the M of 7M multiplies by, or None."""
    return _MAGNITUDES.get(word, _MAGNITUDES.get(word.lower() if len(word) > 1 else word))


def _canonical(text: str) -> str:
    """The text with each number written as Python writes it."""
    if text.startswith("百分之"):
        text = text.removeprefix("百分之") + "%"
    text = in_digits(_ungrouped(text))
    text = re.sub(r"(?<![\d.])0+(?=\d)", "", text)
    # Inside a sum a magnitude belongs to its number; at the end `7B` may as well be bytes, and
    # 千兆 is giga of something.
    text = re.sub(rf"({_LITERAL})\s*({_WORDS})(?!(?<=千)兆)", _multiplied, text)
    text = re.sub(rf"({_LITERAL})\s*([kKMBGT])(?=\s*(?:[-+*/]+\s*[\d(]|\)))", _multiplied, text)
    text = re.sub(r"(?<=[\d)])\s*[x×·⋅]\s*(?=[\d(])", "*", text).replace("^", "**")
    return re.sub(r"(?<=[\d)])\s*\(\s*(?=[\d.(-])", "*(", text)


def _ungrouped(text: str) -> str:
    """The text without signs that part thousands; a decimal comma is a point."""
    text = re.sub(r"(?<=\d)[_'](?=\d)", "", text)
    text = _GROUPED.sub(lambda found: found[0].replace(",", "").replace(" ", ""), text)
    return _COMMAS.sub(_without_commas, text)


def _without_commas(found: re.Match[str]) -> str:
    one = found[0].count(",") == 1
    return found[0].replace(",", "." if one else "")


def _multiplied(found: re.Match[str]) -> str:
    return f"({found[1]}*{magnitude(found[2])})"
