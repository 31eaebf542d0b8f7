"""One measurement in words: the value with its unit, what it would have to be, and what it is."""

from quizkit.bank.draw import show_value
from quizkit.bank.functions import Value, is_number
from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Metric
from quizkit.proof.facts import Fact
from quizkit.ui.screens.demo_words import DemoWords
from quizkit.ui.screens.parts import colon
from quizkit.ui.screens.report_screen import number
from quizkit.words import Lang, say
from quizkit.words.glance import WORDS

_FEW = 6  # values of a list that are read one by one
_ROUNDING = 1e-9  # a difference below this is none
_STOPS = ("; ", "；", ": ", "（", " (")
_SHORTEST = 12  # characters that a description keeps, whatever stop comes first


def told(fact: Fact, holds: bool, demo: Demo, words: DemoWords, lang: Lang) -> str:
    """The value first, as what follows may be cut: `8,704 B, not 2,176 B: sent by each rank`."""
    watch = demo.watch.get(fact.metric)
    unit = watch.unit if watch else ""
    of = "place" if fact.of == "rank" and watch and watch.shared else fact.of
    value = in_unit(fact.value, unit, lang)
    value = say(f"glance.of_{of}", lang, value=value, rank=fact.rank)
    if not holds and fact.relation:
        # "not 0", "not above 1e-12": what a difference is held against is a number.
        alone = "" if unit == "difference" else unit
        wanted = in_unit(fact.wanted, alone, lang) if fact.wanted is not None else ""
        value = say(f"glance.{fact.relation}", lang, value=value, wanted=wanted)
    what = [described(name, demo, words, lang) for name in (fact.metric, fact.also) if name]
    return f"{value}{colon(lang)}{' + '.join(what)}"


def in_unit(value: Value | Metric, unit: str, lang: Lang) -> str:
    """A value as people say it: 8,704 B, 27.3%, no difference."""
    if isinstance(value, list | tuple):
        values = [*value]
        if values and all(each == values[0] for each in values):
            return say("glance.each", lang, value=in_unit(values[0], unit, lang))
        numbers = [each for each in values if is_number(each)]
        rounded = unit == "difference" and numbers and max(map(abs, numbers)) < _ROUNDING
        if rounded:
            return in_unit(max(numbers, key=abs), unit, lang)
        if len(numbers) < len(values):
            return show_value(values)
        if len(values) <= _FEW and unit != "difference":
            return ", ".join(number(each).replace(",", "") for each in numbers)
        far = unit == "difference"
        ends = (min(numbers), max(numbers))
        low, high = (_short(n) if far else in_unit(n, unit, lang) for n in ends)
        ranged = say("glance.range", lang, low=low, high=high)
        return say("glance.difference", lang, value=ranged) if far else ranged
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or (unit == "yes/no" and value in (0, 1)):
        return say("glance.yes" if value else "glance.no", lang)
    if unit == "difference":
        key = "same" if abs(value) < _ROUNDING else "difference"
        return say(f"glance.{key}", lang, value=_short(value))
    if unit == "share":
        return say("glance.unit_share", lang, value=f"{100 * value:.3g}")
    shown = number(value)
    return say(f"glance.unit_{unit}", lang, value=shown) if f"unit_{unit}" in WORDS else shown


def _short(value: float) -> str:
    return "0" if not value else f"{value:.2g}"


def described(metric: str, demo: Demo, words: DemoWords, lang: Lang) -> str:
    """What a metric is, up to the first stop: the unit stands with the value already."""
    watch = demo.watch.get(metric)
    text = watch.text if watch and lang == "en" else words.watch.get(metric, "")
    cuts = (text.find(stop, _SHORTEST) for stop in _STOPS)
    text = text[: min((at for at in cuts if at > 0), default=len(text))].strip()
    # The pass stands before English words; Chinese ones have it among them.
    missing = watch and lang == "en" and watch.part and watch.part not in text
    return f"{text}, {watch.part}" if watch and missing else text
