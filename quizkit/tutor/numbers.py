"""Reading numbers as people type them: 1,048,576 · 1e9 · 3/11 · 2^30 · 3×10⁸ · 7 万 · ２７.３％.

A right answer is never rejected for its spelling.
"""

import re
import unicodedata

from quizkit.bank.formula import FormulaError, parse

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
_ABOUT = re.compile(r"^(?:[=≈~]|大约|大概|约|about\b|approx\.?|around\b)\s*", re.IGNORECASE)
_TOKEN = re.compile(rf"\s*({_LITERAL}|\*\*|[-+*/()])")
# "1,234,567" and "1 000 000", but not "0,273", which is a decimal comma.
_GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:(?:,\d{3})+|(?: \d{3})+)(?![\d,])")
_COMMAS = re.compile(r"\d+(?:,\d+)+")


def tidy(text: str) -> str:
    """The text in one width and one spelling of each sign; superscripts become powers."""
    # Before NFKC, which would turn 10⁹ into 109.
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+", lambda found: f"**({found[0].translate(_SUPERSCRIPTS)})", text)
    text = unicodedata.normalize("NFKC", text).translate(_SIGNS)
    return " ".join(text.split()).strip().rstrip("。")


def split_number(text: str) -> tuple[float, str] | None:
    """The number a tidied text begins with and what follows it, or None if there is no number."""
    if len(text) > LONGEST:
        return None
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
    """The number the text is, with nothing after it; None if it is anything else."""
    found = split_number(tidy(text))
    return found[0] if found and not found[1] else None


def number_list(text: str, length: int) -> list[float] | None:
    """A list as typed: 4 3 2 1, [4,3,2,1], 4，3，2，1; None where something is not a number."""
    inner = tidy(text).strip("[](){}<> ")
    # By spaces first, where that gives the right count: only then can commas group digits.
    parts = inner.split()
    if len(parts) != length or any(part.endswith((",", ";")) for part in parts):
        parts = [part for part in re.split(r"[,;\s]+", inner) if part]
    numbers = [plain_number(part) for part in parts]
    return [n for n in numbers if n is not None] if None not in numbers else None


def magnitude(word: str) -> int | None:
    """What 万, billion or the M of 7M multiplies by, or None."""
    return _MAGNITUDES.get(word, _MAGNITUDES.get(word.lower() if len(word) > 1 else word))


def _canonical(text: str) -> str:
    """The text with each number written as Python writes it."""
    text = _ABOUT.sub("", text)
    if text.startswith("百分之"):
        text = text.removeprefix("百分之") + "%"
    text = re.sub(r"(?<=\d)[_'](?=\d)", "", text)
    text = _GROUPED.sub(lambda found: found[0].replace(",", "").replace(" ", ""), text)
    text = _COMMAS.sub(_without_commas, text)
    text = re.sub(r"(?<![\d.])0+(?=\d)", "", text)
    # Inside a sum a magnitude belongs to its number; at the end `7B` may as well be bytes, and
    # 千兆 is giga of something.
    text = re.sub(rf"({_LITERAL})\s*({_WORDS})(?!(?<=千)兆)", _multiplied, text)
    text = re.sub(rf"({_LITERAL})\s*([kKMBGT])(?=\s*(?:[-+*/]+\s*[\d(]|\)))", _multiplied, text)
    text = re.sub(r"(?<=[\d)])\s*[x×·⋅]\s*(?=[\d(])", "*", text).replace("^", "**")
    return re.sub(r"(?<=[\d)])\s*\(\s*(?=[\d.(-])", "*(", text)


def _without_commas(found: re.Match[str]) -> str:
    one = found[0].count(",") == 1
    return found[0].replace(",", "." if one else "")


def _multiplied(found: re.Match[str]) -> str:
    return f"({found[1]}*{magnitude(found[2])})"
