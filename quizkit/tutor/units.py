"""Units as people type them, and turning one into another. GB and GiB are never the same thing.

Only what can be converted counts as a unit: bytes, time, operations, watts. What is counted
(tokens, 张, micro-batches) has a name, and 8 is 8: `familiar` says whether it is one at all.
"""

import re
from dataclasses import dataclass
from itertools import product

from quizkit.tutor.numbers import magnitude

_SI = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}
_LONG = {
    "kilo": "k", "mega": "m", "giga": "g", "tera": "t", "peta": "p", "exa": "e",
    "kibi": "ki", "mebi": "mi", "gibi": "gi", "tebi": "ti", "pebi": "pi",
    "千兆": "g", "兆": "m", "吉": "g", "太": "t", "拍": "p",
}  # fmt: skip
_TIMES = {
    "s": 1, "sec": 1, "second": 1, "秒": 1, "秒钟": 1, "ms": 1e-3, "millisecond": 1e-3,
    "毫秒": 1e-3, "us": 1e-6, "microsecond": 1e-6, "微秒": 1e-6, "ns": 1e-9, "nanosecond": 1e-9,
    "纳秒": 1e-9, "min": 60, "minute": 60, "m": 60, "分钟": 60, "分": 60, "h": 3600, "hr": 3600,
    "hour": 3600, "小时": 3600, "d": 86400, "day": 86400, "天": 86400, "week": 604800, "周": 604800,
    "year": 31536000, "年": 31536000,
}  # fmt: skip
_RANKS = {"gpu", "卡", "张卡", "card", "h100", "h200", "a100", "h800", "a800"}
_SYMBOL = re.compile(
    r"(ki|mi|gi|ti|pi|ei|[kmgtpe])?"
    r"(b|byte|字节|bit|比特|bps|flop|flops|wh|w|j|hz)",
)
_PER_SECOND = re.compile(r"(?:每秒|/秒|\s+per\s+second)$")
_COUNTERS = "个次步层块条份张卡倍轮组种段行列位台片批对趟级遍"
_COUNTED = frozenset({
    "token", "step", "layer", "rank", "stage", "param", "parameter", "batch", "microbatch",
    "sample", "sequence", "element", "message", "chunk", "block", "node", "head", "slot", "bucket",
    "shard", "replica", "call", "iteration", "copy", "copies", "time", "op",
    "operation", "参数", "元素",
})  # fmt: skip
_PIECE = re.compile(r"[^\W_a-z]+|[a-z][\w-]*")
# What is counted has a name; `p` or `2` after a number is the rest of a sum that was not read.
_NAME = re.compile(r"(?![a-zA-Z](?:-|$))[^\W\d_]\w*(?:-[^\W\d_]\w*)*")

Dimensions = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its size in base units, of which dimensions, and how it was written.

    `words` are what is counted, `bits` and `binary` how doubtful spellings (Gb, 16G) are read.
    """

    scale: float = 1.0
    dimensions: Dimensions = ()
    words: frozenset[str] = frozenset()
    bits: bool = False
    binary: bool = False


@dataclass(frozen=True, slots=True)
class _Factor:
    scale: float
    dimensions: tuple[tuple[str, int], ...] = ()
    word: str = ""
    bits: bool = False
    binary: bool = False


def read_unit(text: str, asked: Unit | None) -> list[Unit]:
    """List what the text may mean where `asked` was asked for, the likeliest first."""
    text = text.strip().strip("()[] ").removesuffix("左右").strip()
    text = _PER_SECOND.sub("/s", text)
    above, *below = re.split(r"\s*/\s*|\s+per\s+", text)
    factors = [[(factor, 1) for factor in _readings(word, asked)] for word in _words(above)]
    for part in below:
        factors += [[(factor, -1) for factor in _readings(word, asked)] for word in _words(part)]
    return [_joined(combination) for combination in product(*factors)][:64]


def familiar(word: str, said: str) -> bool:
    """Tell whether it names something that is counted: here, as `said` has it, or in general."""
    said = said.casefold()
    named = {_stem(each) for each in (*_PIECE.findall(said), *_COUNTED, *_RANKS)}
    for piece in _PIECE.findall(word.casefold()):
        bare = piece if len(piece) > 1 and piece in said else piece.lstrip(_COUNTERS)
        if bare and _stem(bare) not in named and (bare.isascii() or bare not in said):
            return False
    return True


def _words(text: str) -> list[str]:
    words = [word for word in re.split(r"[\s·*⋅]+", text) if word]
    parts: list[str] = []
    for word in words:
        head, dash, tail = word.rpartition("-")
        # GPU-hours is a product; micro-batches is a word.
        if dash and _single(tail) in _TIMES:
            parts += [head, tail]
        elif word in ("卡时", "卡天"):
            parts += ["卡", {"时": "小时", "天": "天"}[word[1]]]
        else:
            parts.append(word)
    return parts


def _single(word: str) -> str:
    word = word.casefold().replace("-", "").replace("_", "")
    return word[:-1] if len(word) > 2 and word.endswith("s") and word != "bps" else word


def _stem(word: str) -> str:
    return _single(word).removesuffix("e")


def _readings(word: str, asked: Unit | None) -> list[_Factor]:
    """Everything one word may be, the likeliest first; nothing if it is no unit at all."""
    found: list[_Factor] = []
    if word in ("%", "percent", "pct"):
        return [_Factor(0.01)]
    if word.casefold() in ("x", "×", "倍", "times", "fold"):
        return [_Factor(1)]
    lower, single = word.casefold(), _single(word)
    for long, short in _LONG.items():
        if lower.startswith(long):
            lower, single = short + lower.removeprefix(long), _single(short + lower[len(long) :])
    prefixed = _SYMBOL.fullmatch(lower) or _SYMBOL.fullmatch(single)
    if prefixed:
        found += _symbol(prefixed[1] or "", prefixed[2], word, asked)
    time = _TIMES.get(_single(word))
    if time and word not in ("M", "D", "H"):
        found.append(_Factor(time, (("second", 1),)))
    many = magnitude(word)
    if asked and asked.dimensions and lower in ("k", "m", "g", "t", "ki", "mi", "gi", "ti"):
        # "80G" where GB or GiB is asked: the prefix alone, of whichever family was asked.
        binary = len(lower) == 2 or asked.binary
        size = 1024.0 if binary else 1000.0
        bare = size ** _SI[lower[0]] * (0.125 if asked.bits else 1)
        found.append(_Factor(bare, asked.dimensions, binary=binary))
    if many:
        found.append(_Factor(many))
    if single in _RANKS:
        found.append(_Factor(1, (("gpu", 1),)))
    if not found and _NAME.fullmatch(word):
        found.append(_Factor(1, word=single))
    return found


def _symbol(prefix: str, symbol: str, word: str, asked: Unit | None) -> list[_Factor]:
    binary = prefix.endswith("i")
    scale = (1024.0 if binary else 1000.0) ** _SI[prefix[:1]]
    byte, second = ("byte", 1), ("second", -1)
    match symbol:
        case "b":
            # A small b means bits to the letter; where bytes are asked it is a careless B.
            bits = word[-1] == "b" and (asked is None or asked.bits)
            return [_Factor(scale / (8 if bits else 1), (byte,), bits=bits, binary=binary)]
        case "byte" | "字节":
            return [_Factor(scale, (byte,), binary=binary)]
        case "bit" | "比特":
            return [_Factor(scale / 8, (byte,), bits=True, binary=binary)]
        case "bps":
            bits = "B" not in word
            return [_Factor(scale / (8 if bits else 1), (byte, second), bits=bits, binary=binary)]
        case "flop" | "flops":
            count, rate = _Factor(scale, (("flop", 1),)), _Factor(scale, (("flop", 1), second))
            return [rate, count] if word.endswith("S") else [count, rate]
        case "wh":
            return [_Factor(scale * 3600, (("joule", 1),))]
        case "w":
            return [_Factor(scale, (("joule", 1), second))]
        case "j":
            return [_Factor(scale, (("joule", 1),))]
        case _:
            return [_Factor(scale, (second,))]


def _joined(combination: tuple[tuple[_Factor, int], ...]) -> Unit:
    scale = 1.0
    powers: dict[str, int] = {}
    for factor, sign in combination:
        scale *= factor.scale**sign
        for name, power in factor.dimensions:
            powers[name] = powers.get(name, 0) + sign * power
    words = {factor.word for factor, _ in combination if factor.word}
    if set(powers) == {"gpu"}:  # GPUs by themselves are counted; GPU-hours are not hours
        del powers["gpu"]
        words.add("gpu")
    return Unit(
        scale,
        tuple(sorted((name, power) for name, power in powers.items() if power)),
        frozenset(words),
        any(factor.bits for factor, _ in combination),
        any(factor.binary for factor, _ in combination),
    )
