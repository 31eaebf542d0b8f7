"""Find what readers would stumble over: the two languages must say the same, and naturally."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

from quizkit.bank.model import Numeric, Term, Text
from quizkit.bank.places import places
from quizkit.bank.rules import Rule
from quizkit.bank.template import TODO

_HAN = re.compile(r"[\u4e00-\u9fff]")
_CODE = re.compile(r"`([^`\n]+)`")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_TRANSLATIONESE = {
    r"通过[^，。；\n]{2,20}来": "通过…来… reads translated",
    r"进行(?:了)?[^，。；\n]{0,6}(?:操作|处理|计算|通信)": "进行…操作: use the verb",
    r"(?:[^，。；：、\n的]{1,8}的){4}": "four 的 in a row",
    r"[^，。；\n]*被[^，。；\n]*被": "被 twice in a clause",
}


def texts_of(noun: object, place: str = "") -> Iterator[tuple[str, Text]]:
    """Yield (place, text) of every text in a question."""
    if isinstance(noun, Text):
        yield place, noun
    elif isinstance(noun, Mapping):
        for name, value in cast("Mapping[str, Any]", noun).items():
            yield from texts_of(value, f"{place}.{name}")
    elif isinstance(noun, tuple):
        for index, value in enumerate(cast("tuple[Any, ...]", noun)):
            yield from texts_of(value, f"{place}.{index}")
    elif is_dataclass(noun) and not isinstance(noun, type):
        for item in fields(noun):
            if not item.metadata.get("given"):
                name = f"{place}.{item.name}" if place else item.name
                yield from texts_of(getattr(noun, item.name), name)


def language_problems(question: object, terms: Mapping[str, Term]) -> Iterator[Rule]:
    """Yield (place, message) of where the languages differ, or one of them stumbles."""
    params = set(question.params) | {"answer"} if isinstance(question, Numeric) else set[str]()
    for place, text in texts_of(question):
        if TODO in text.zh or TODO in text.en:
            yield place, f"{TODO} is left in it"
            continue
        if text.zh == text.en:
            if _HAN.search(text.en) or (place == "prompt" and not params):
                yield place, "the same in both languages"
            continue
        yield from ((place, message) for message in _pair(text, params))
        for pattern, message in _TRANSLATIONESE.items():
            found = re.search(pattern, text.zh)
            if found:
                yield place, f"zh: {message}: {found[0]}"
        yield from ((place, message) for message in _avoided(text, terms))


def _pair(text: Text, params: set[str]) -> Iterator[str]:
    if _HAN.search(text.en):
        yield "the English holds Chinese"
    if not _HAN.search(text.zh):
        yield "the Chinese holds no Chinese"
    sides = (text.zh, text.en)
    found = {
        "`code` differs": [set(_CODE.findall(side)) for side in sides],
        "{placeholders} differ": [params & places(side) for side in sides],
        "numbers differ": [set(_NUMBER.findall(_CODE.sub("", side))) for side in sides],
    }
    for what, (zh, en) in found.items():
        if zh != en:
            yield f"{what}: {', '.join(sorted(zh ^ en))}"


def _avoided(text: Text, terms: Mapping[str, Term]) -> Iterator[str]:
    for term in terms.values():
        for form in term.avoid.zh:
            if form in text.zh:
                yield f"zh: write {term.zh}, not {form}"
        for form in term.avoid.en:
            if re.search(rf"\b{re.escape(form)}\b", text.en, re.IGNORECASE):
                yield f"en: write {term.en}, not {form}"
