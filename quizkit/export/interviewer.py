"""Write an interview's script as a sheet for a friend who plays the interviewer."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import count

from quizkit.bank.draw import FIRST, number_of_draws
from quizkit.bank.model import Bug, Choice, Essay, Numeric, Order, Question, Text
from quizkit.bank.script import Probe, Script, Station, WrittenTask
from quizkit.lab.excerpt import Excerpt
from quizkit.mock.judge import key
from quizkit.mock.timer import lasted
from quizkit.tutor.asked import Asked, ask
from quizkit.tutor.stem import stem
from quizkit.ui.screens.parts import colon
from quizkit.words import Lang, listed, say

Shows = Callable[[Question], Excerpt | None]
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?|[<>=!]=|[<>()]|\S")
_NUMBERED = re.compile(r"(point|veto|option|trap|check|reason|look)(\d+)")
_SIGNS = {">=": "≥", "<=": "≤", "==": "=", "!=": "≠"}


def interviewer_sheet(
    script: Script, questions: Mapping[str, Question], lang: Lang, shows: Shows
) -> str:
    """Return it as Markdown, numbers drawn once."""
    return "\n\n".join(_blocks(script, questions, lang, shows)) + "\n"


def _blocks(
    script: Script, questions: Mapping[str, Question], lang: Lang, shows: Shows
) -> Iterator[str]:
    yield f"# {script.title[lang]}"
    minutes, pause = script.minutes, script.pause_minutes
    yield say("sheet.mock_how", lang, minutes=minutes, pause=pause)
    yield f"> {script.opening[lang].strip()}"
    yield from _marks(script, lang)
    if script.facts:
        yield f"## {say('sheet.mock_facts', lang)}"
        yield say("sheet.mock_facts_how", lang)
        yield "\n".join(
            f"- **{each.asks[lang]}**{colon(lang)}{each.answer[lang].strip()}"
            for each in script.facts
        )
    for number, station in zip(count(1), script.stations, strict=False):
        yield from _step(script, station, None, str(number), questions, lang, shows)


def _marks(script: Script, lang: Lang) -> Iterator[str]:
    whole = sum(script.weights.values())
    rows: list[str] = []
    for name, weight in script.weights.items():
        facts = [say("card.weight", lang, share=f"{weight / whole:.0%}")]
        if name in script.pass_mark:
            facts.append(say("card.mark_overall", lang, mark=f"{script.pass_mark[name]:g}"))
        rows.append(f"- {say(f'card.{name}', lang)}{colon(lang)}{listed(facts, lang)}")
    overall = say("card.mark_overall", lang, mark=f"{script.pass_mark['overall']:g}")
    yield f"## {say('card.dimensions', lang)}"
    yield "\n".join([*rows, f"- {say('card.overall_name', lang)}{colon(lang)}{overall}"])


def _step(
    script: Script,
    step: Station,
    above: Station | None,
    number: str,
    questions: Mapping[str, Question],
    lang: Lang,
    shows: Shows,
) -> Iterator[str]:
    question = script.question(step, questions)
    asked = ask(question, FIRST, shows(question))
    deep = min(6, 2 + number.count("."))
    facts = [say("mock.target", lang, target=lasted(step.seconds))]
    speaks = (f"{say(f'card.{name}', lang)} {share:g}" for name, share in step.speaks.items())
    facts.append(listed(speaks, lang))
    yield f"{'#' * deep} {number} {_named(step, lang)}"
    yield f"*{' · '.join(facts)}*"
    if step.when is not None:
        # A probe goes by the answer above it, a station by the clock alone.
        heard = script.question(above, questions) if above else question
        looks = tuple(each.name for each in script.looks(above)) if above else ()
        told = condition(step.when.source, heard, looks, lang)
        yield f"**{say('sheet.mock_if', lang)}**{colon(lang)}{told}"
    if step.lead:
        yield f"> {step.lead[lang].strip()}"
    yield stem(asked, lang).markdown()
    yield from _given(asked, lang)
    yield from _key(asked, lang)
    for name, texts in (("hints", question.hints), ("looks", [each.name for each in step.looks])):
        if texts:
            rows = (f"{n}. {asked.fill(each, lang).strip()}" for n, each in enumerate(texts, 1))
            yield f"**{say(f'sheet.mock_{name}', lang)}**"
            yield "\n".join(rows)
    yield from _records(step, questions, lang)
    model = question.say or question.explain
    yield f"**{say('card.model', lang)}**"
    yield asked.fill(model, lang).strip()
    for at, probe in enumerate(step.probes, start=1):
        yield from _step(script, probe, step, f"{number}.{at}", questions, lang, shows)


def _named(step: Station, lang: Lang) -> str:
    return say("sheet.mock_probe" if isinstance(step, Probe) else "sheet.mock_station", lang)


def _given(asked: Asked, lang: Lang) -> Iterator[str]:
    match asked.question:
        case Choice() as question:
            shown = (question.options[at].text for at in asked.order)
            yield "\n".join(f"{n}. {asked.fill(each, lang)}" for n, each in enumerate(shown, 1))
        case Order() as question:
            steps = (question.steps[at].text for at in asked.order)
            yield "\n".join(f"{n}. {asked.fill(each, lang)}" for n, each in enumerate(steps, 1))
        case Numeric() as question if number_of_draws(question) > 1:
            yield f"*{say('export.drawn', lang)}*"
        case WrittenTask() as question:
            fields = question.write.fields.items()
            yield "\n".join(f"- `{name}` {text[lang]}" for name, text in fields)
        case _:
            if asked.code:
                lines = [f"{n:>3}  {each}" for n, each in enumerate(asked.code.lines, start=1)]
                yield "\n".join(["```text", *lines, "```"])


def _key(asked: Asked, lang: Lang) -> Iterator[str]:
    """Yield what is right, and what wrong answers show."""
    question = asked.question
    if isinstance(question, Essay):
        yield f"**{say('bank.rubric', lang)}**"
        yield "\n".join(
            f"- {say('mock.points', lang, points=each.points)}{colon(lang)}{each.says[lang]}"
            for each in question.rubric
        )
        if question.vetoes:
            yield f"**{say('bank.vetoes', lang)}**"
            yield "\n".join(
                f"- {each.says[lang].rstrip('。.')}{colon(lang)}{each.why[lang]}"
                for each in question.vetoes
            )
        return
    wanted = asked.fill(key(asked), lang)
    if isinstance(question, Choice):
        right = (n for n, at in enumerate(asked.order, 1) if question.options[at].correct)
        wanted = f"{', '.join(map(str, right))}{colon(lang)}{wanted}"
    yield f"**{say('card.expected', lang)}**{colon(lang)}{wanted}"
    if isinstance(question, Numeric) and question.traps:
        yield f"**{say('bank.traps', lang)}**"
        yield "\n".join(f"- {asked.fill(each.forgot, lang)}" for each in question.traps)
    if isinstance(question, WrittenTask):
        yield "\n".join(
            f"- {say('mock.points', lang, points=each.points)}{colon(lang)}{each.says[lang]}"
            for each in question.write.checks
        )
    if isinstance(question, Bug):
        yield "\n".join(f"- {each.says[lang]}" for each in question.reasons)


def _records(step: Station, questions: Mapping[str, Question], lang: Lang) -> Iterator[str]:
    for look in step.looks:
        exhibit = look.exhibit(questions)
        if exhibit:
            yield f"{look.name[lang]}{colon(lang)}"
            yield f"```text\n{exhibit.text}\n```"


def condition(source: str, question: Question, looks: tuple[Text, ...], lang: Lang) -> str:
    """Say in words the condition on an answer to a question."""
    words = (_word(token, question, looks, lang) for token in _TOKEN.findall(source))
    text = re.sub(r"(?<=\()\s+|\s+(?=\))", "", " ".join(words))
    # Chinese sets no blanks around its own signs.
    return re.sub(r"(?<=[，：”])\s+|\s+(?=[，：“])", "", text) if lang == "zh" else text


def _word(token: str, question: Question, looks: tuple[Text, ...], lang: Lang) -> str:
    if token in _PLAIN:
        return say(f"sheet.if_{token}", lang)
    found = _NUMBERED.fullmatch(token)
    if found is None:
        return _SIGNS.get(token, token)
    kind, at = found[1], int(found[2]) - 1
    texts = _texts(kind, question, looks)
    said = texts[at][lang].rstrip("。.") if at < len(texts) else token
    return say(f"sheet.if_{kind}", lang, said=said)


_PLAIN = (
    "right", "wrong", "score", "left", "hints", "silent", "low", "high", "line", "and", "or", "not"
)  # fmt: skip


def _texts(kind: str, question: Question, looks: tuple[Text, ...]) -> list[Text]:
    match kind, question:
        case "point", Essay():
            return [each.says for each in question.rubric]
        case "veto", Essay():
            return [each.says for each in question.vetoes]
        case "option", Choice():
            return [each.text for each in question.options]
        case "trap", Numeric():
            return [each.forgot for each in question.traps]
        case "check", WrittenTask():
            return [each.says for each in question.write.checks]
        case "reason", Bug():
            return [each.says for each in question.reasons]
        case "look", _:
            return [*looks]
        case _:
            return []
