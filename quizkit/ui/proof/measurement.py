"""One measurement in words: the value with its unit, what it would have to be, and what it is."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from quizkit.bank.draw import show_value
from quizkit.bank.functions import Number, Value, is_number
from quizkit.lab.catalogue import Demo
from quizkit.lab.demo import Watch
from quizkit.lab.report import Metric
from quizkit.proof.facts import Fact
from quizkit.ui.screens.demo_words import DemoWords
from quizkit.ui.screens.parts import bracketed, colon
from quizkit.ui.screens.report_screen import number
from quizkit.words import Lang, say
from quizkit.words.glance import WORDS

_FEW = 6  # values of a list that are read one by one
_ROUNDING = 1e-9  # a difference below this is none
_STRICT = 1e-3  # what is asked to differ by less is asked to agree
_SHORTEST = 12  # characters of what stands before a colon, if it is all that is kept
_NEAR = 0.01  # what is asked to be more than this share above the value is asked to be more
_COUNTED = {
    *("bytes", "bits", "elements", "messages", "collectives", "tensors", "calls", "steps"),
    *("micro-batches", "blocks", "tokens", "rows", "pages", "layers", "buckets", "ranks"),
    *("ticks", "FLOPs", "MACs", "share"),
}
_BY_FORMULA = _COUNTED - {"ticks", "share"} | {"count"}
"""Units whose words have behind a colon what the count comes to; other words go on there."""
_NOUNS = ("variance", "utilisation")  # of a metric's name, where its words go on from it
_REMARK = re.compile(r" \((?=[^()]*[A-Za-z]{3})[^()]*\)|（[^（）]*）")
_RELATIVE = re.compile(r"\bgaps?\b|over (its|the) length\b")
_GOES_ON = re.compile(
    r"(of|that|whose|by|and|in|to|from|on|under|for|among|not|sent|kept|held|made|loaded|stored"
    r"|copied|handed|gathered|computed|named|idle)\b"
)
_COUNTS = re.compile("字节|几|多少|数$")
_AS_A_NUMBER = re.compile(
    r"^1 (if|表示)\s*|, else (0|-1)$|, (0|-1) if none$"
    r"|[，、]?(就是 1|为 1，否则为 0|为 1|没有就是 (0|-1))$"
)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A metric's unit, in which a value of it is written."""

    name: str
    shared: bool = False

    def write(self, value: Value | Metric, lang: Lang) -> str:
        """The value as people say it: 8,704 B, 27.3%, rank 2, none."""
        if isinstance(value, list | tuple):
            return self._list(value, lang)
        if isinstance(value, str):
            return value
        if isinstance(value, bool) or (self.name == "yes/no" and value in (0, 1)):
            return say("glance.yes" if value else "glance.no", lang)
        if self.name in ("index", "rank") and value == -1:
            return say("glance.none", lang)
        if self.name in ("difference", "relative"):
            return self._apart(value, lang)
        if self.name == "share":
            return say("glance.unit_share", lang, value=f"{100 * value:.3g}")
        if self.name == "seconds" and 0 < abs(value) < 1:
            key = "ms" if abs(value) >= 1e-3 else "us"
            shown = f"{value * (1e3 if key == 'ms' else 1e6):.3g}"
            return say(f"glance.unit_{key}", lang, value=shown)
        shown = number(value) if float(value).is_integer() else f"{value:,.4g}"
        key = f"unit_{self.name}"
        if key not in WORDS:
            return shown
        shown = say(f"glance.{key}", lang, value=shown)
        # "1 ranks" is not English.
        return re.sub(r"(?<=ch)es$|s$", "", shown) if value == 1 and lang == "en" else shown

    def _apart(self, value: Number, lang: Lang) -> str:
        """A difference: by how much, or that there is none but rounding."""
        if not value:
            return say("glance.same", lang)
        if abs(value) < _ROUNDING:
            return say("glance.rounding", lang, value=f"{value:.1e}".replace("e-0", "e-"))
        shown = f"{100 * value:.3g}%" if self.name == "relative" else short_number(value)
        return say("glance.difference", lang, value=shown)

    def _list(self, values: Sequence[Number | bool], lang: Lang) -> str:
        """One value a rank, or, where the metric is shared, one a place."""
        numbers = [each for each in values if is_number(each)]
        if not values or len(numbers) < len(values):
            return show_value([*values])
        apart = self.name in ("difference", "relative")
        if apart and max(map(abs, numbers)) < _ROUNDING:
            return self.write(max(numbers, key=abs), lang)
        if len({*numbers}) == 1:
            each = self.write(numbers[0], lang)
            return say("glance.each" if self.shared else "glance.each_rank", lang, value=each)
        if self.name == "yes/no":
            which = ", ".join(str(rank) for rank, each in enumerate(numbers) if each)
            return say("glance.yes_on", lang, ranks=which)
        if apart:
            ends = _range(short_number(min(numbers)), short_number(max(numbers)), lang)
            return say("glance.difference", lang, value=ends)
        if len(values) > _FEW:
            return _range(self.write(min(numbers), lang), self.write(max(numbers), lang), lang)
        shown = ", ".join(self._plain(each, lang) for each in numbers)
        if f"unit_{self.name}" in WORDS and self.name not in ("share", "rank"):
            shown = say(f"glance.unit_{self.name}", lang, value=shown)
        return shown if self.shared else say("glance.by_rank", lang, value=shown)

    def _plain(self, value: Number, lang: Lang) -> str:
        """One value of several, whose unit stands behind the last."""
        if self.name in ("share", "rank", "index"):
            return self.write(value, lang)
        return number(value).replace(",", "") if float(value).is_integer() else f"{value:.4g}"


def all_told(
    facts: Sequence[Fact], holds: bool, demo: Demo, words: DemoWords, lang: Lang
) -> tuple[str, ...]:
    """Tell each fact in a line; what is held against the one before it stands in that one's."""
    lines: list[str] = []
    for before, fact in zip([None, *facts], facts, strict=False):
        line = told(fact, holds, demo, words, lang)
        if before and fact.than:
            one = lines.pop()
            if before.metric == fact.metric:  # what it is stands once
                one = _valued(before, _unit(demo.watch.get(before.metric)), lang)
            line = say("glance.compared", lang, one=one, other=line)
        lines.append(line)
    return tuple(lines)


def told(fact: Fact, holds: bool, demo: Demo, words: DemoWords, lang: Lang) -> str:
    """Tell a fact, its value first, as the rest may be cut: `8,704 B sent by each rank`; or what
    it would be if so, and was: `would be 2,176 B, was 8,704 B: sent by each rank`.
    """
    watch = demo.watch.get(fact.metric)
    unit = _unit(watch)
    if fact.of == "sum" and unit.name == "yes/no":  # that is how many ranks say yes
        unit, fact = _Unit("ranks"), replace(fact, of="")
    what = " + ".join(
        described(name, demo, words, lang) for name in (fact.metric, fact.also) if name
    )
    goes_on = lang == "en" and _GOES_ON.match(what) is not None
    fails = not holds and fact.relation != ""
    noun = next((word for word in _NOUNS if word in fact.metric), watch.unit if watch else "")
    if goes_on and fails and noun in _COUNTED - {"share"}:
        unit = _Unit("count", unit.shared)  # the noun stands with the words
    value = _valued(fact, unit, lang)
    if fact.value == -1 and unit.name in ("index", "rank"):
        return f"{value}{colon(lang)}{what}"
    if fact.than:
        value = say(f"glance.than_{fact.than}", lang, value=value)
    if fails:
        value = _would_be(value, fact, unit, lang)
    elif goes_on and noun in _COUNTED:
        return f"{value} {what}"
    if goes_on and noun not in ("", "difference", "ratio", "yes/no"):
        what = f"{noun} {what}"
    return f"{value}{colon(lang)}{what.removeprefix('of ')}"


def _unit(watch: Watch | None) -> _Unit:
    if watch is None:
        return _Unit("")
    # A gap over the length it is measured by is a share of it, and says so by its words alone.
    relative = watch.unit == "ratio" and _RELATIVE.search(watch.text)
    return _Unit("relative" if relative else watch.unit, watch.shared)


def _valued(fact: Fact, unit: _Unit, lang: Lang) -> str:
    """Write the value, and which of several it is; of differences the largest needs no word."""
    value = unit.write(fact.value, lang)
    apart = unit.name in ("difference", "relative")
    none = fact.value == -1 and unit.name in ("index", "rank")
    if none or not fact.of or (fact.of == "max" and apart):
        return value
    if fact.of == "rank":
        key = "place" if unit.shared else "rank"
        return value + bracketed([say(f"glance.of_{key}", lang, rank=fact.rank)], lang)
    among = "" if unit.shared else "_rank"
    return value + bracketed([say(f"glance.of_{fact.of}{among}", lang)], lang)


def _would_be(value: str, fact: Fact, unit: _Unit, lang: Lang) -> str:
    """Say what would have been measured if what is said were so, beside what was."""
    wanted = fact.wanted
    if unit.name in ("difference", "relative") and is_number(wanted):
        agree = fact.relation in ("below", "at_most") and wanted <= _STRICT
        agree = agree or (fact.relation == "equal" and not wanted)
        differ = fact.relation in ("above", "at_least")
        if agree or (differ and is_number(fact.value) and abs(fact.value) < _ROUNDING):
            return say(f"glance.would_{'agree' if agree else 'differ'}", lang, value=value)
        shown = short_number(wanted)
        value = short_number(fact.value) if is_number(fact.value) else value
    elif fact.relation in ("below", "above") and _near(fact.value, wanted):
        return say(
            f"glance.would_{'less' if fact.relation == 'below' else 'more'}", lang, value=value
        )
    else:
        shown = unit.write(wanted, lang) if wanted is not None else ""
    return say(f"glance.would_{fact.relation}", lang, value=value, wanted=shown)


def _near(value: Value, wanted: Value | None) -> bool:
    """Tell whether a bound is the value itself but for what keeps two numbers apart."""
    if not (is_number(value) and is_number(wanted)) or not wanted:
        return False
    return abs(value - wanted) <= _NEAR * abs(wanted)


def _range(low: str, high: str, lang: Lang) -> str:
    return say("glance.range", lang, low=low, high=high)


def short_number(value: Number) -> str:
    """Write two digits: enough to tell a difference from rounding."""
    return "0" if not value else f"{value:.2g}" if abs(value) < 100 else f"{value:,.0f}"


def in_unit(value: Value | Metric, watch: Watch | None, lang: Lang) -> str:
    """Write a value as people say it: 8,704 B, 27.3%, agrees to rounding."""
    return _unit(watch).write(value, lang)


def described(metric: str, demo: Demo, words: DemoWords, lang: Lang) -> str:
    """Return a metric's meaning, without remarks: the unit stands with the value already."""
    watch = demo.watch.get(metric)
    text = watch.text if watch and lang == "en" else words.watch.get(metric, "")
    text = re.split("[;；]", _REMARK.sub("", text))[0]
    if watch and watch.unit in _BY_FORMULA:
        before, _, after = text.partition(": " if lang == "en" else "：")
        whole = _GOES_ON.match(after) or len(before) < _SHORTEST
        if not whole if lang == "en" else _COUNTS.search(before):
            text = before
    text = _AS_A_NUMBER.sub("", text).strip()
    if metric.startswith("sent") and text.startswith("by "):
        text = f"sent {text}"
    # The pass stands before English words; Chinese ones have it among them.
    missing = watch and lang == "en" and watch.part and watch.part not in text
    return f"{text}, {watch.part}" if watch and missing else text
