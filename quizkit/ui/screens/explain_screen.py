"""Draw what a verdict teaches: why, why each option, what to say aloud, what comes next."""

import re
from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.draw import show_number
from quizkit.bank.formula import FormulaError
from quizkit.bank.model import Choice, Essay, Numeric, Option, Question
from quizkit.bank.model import Text as Said
from quizkit.tutor.desk import Moment
from quizkit.ui.screens.parts import below, colon, numbered, section
from quizkit.ui.text.inline import inline
from quizkit.ui.text.markup import prose
from quizkit.words import Lang, say


def explanation(moment: Moment, plain: bool) -> list[RenderableType]:
    """Return the section that explains the answer, and the letters it uses."""
    text = prose(moment.asked.fill(moment.question.explain, moment.lang), plain)
    values = ", ".join(f"{name} = {value}" for name, value in _letters(moment))
    told = [Text(say("ui.letters", moment.lang, values=values), "dim")] if values else []
    return section(say("ui.explain", moment.lang), *told, text)


def _letters(moment: Moment) -> Iterator[tuple[str, str]]:
    """The drawn numbers that the explanation calls by a letter and the prompt did not."""
    asks = "\n".join(text[moment.lang] for text in moment.question.asks)
    explain = moment.question.explain[moment.lang]
    for name, value in moment.asked.values.items():
        # Neither "a GPU" nor "a rank's" nor the e of an exponential is meant.
        article = r"(?!\s+[A-Za-z]{2})" if name == "a" else ""
        used = rf"(?<![A-Za-z_\\'’{{]){re.escape(name)}(?![\w}}^'’]){article}"
        said = rf"(?<!\w){re.escape(name)}\$? = \{{{re.escape(name)}\}}"
        letter = len(name) == 1 and re.search(used, explain, re.ASCII)
        if letter and not re.search(said, asks):
            yield name, show_number(value)


def explains_options(question: Question) -> bool:
    """Tell whether there is anything to say of each option, trap or false statement."""
    match question:
        case Choice():
            return True
        case Numeric():
            return bool(question.traps)
        case Essay():
            return bool(question.vetoes)
        case _:
            return False


def why(moment: Moment, plain: bool) -> list[RenderableType]:
    """Return what speaks for and against every answer that could be given."""
    question, lang = moment.question, moment.lang
    rows: list[RenderableType] = []
    match question:
        case Choice():
            title = "ui.why"
            shown = [(index, question.options[index]) for index in moment.asked.order]
            rows += [_why_option(moment, index, option, plain) for index, option in shown]
        case Numeric() if question.traps:
            title = "ui.why_traps"
            for trap in question.traps:
                try:
                    value = show_number(trap.formula.number(moment.asked.values))
                except FormulaError:  # with these numbers this mistake leads nowhere
                    continue
                source = trap.formula.source
                gives = say("ui.trap_value", lang, formula=source, value=value)
                rows += _mistake(gives if source != value else value, trap.forgot, moment, plain)
        case Essay() if question.vetoes:
            title = "ui.why_traps"
            for veto in question.vetoes:
                says = moment.asked.fill(veto.says, lang)
                rows += _mistake(says, veto.why, moment, plain)
        case _:
            title = "ui.why"
    if not rows:
        return [Text(""), Text(say("ui.why_none", lang), "dim")]
    return section(say(title, lang), *rows)


def spoken(moment: Moment, plain: bool) -> list[RenderableType]:
    """Return what a strong candidate would say aloud."""
    text = moment.question.say
    if text is None:
        return [Text(""), Text(say("ui.say_none", moment.lang), "dim")]
    words = moment.answer_in or moment.lang
    return section(say("ui.say", moment.lang), prose(moment.asked.fill(text, words), plain))


def followup(moment: Moment, plain: bool) -> list[RenderableType]:
    """Say that a question follows from this one and is asked next; and where to read up."""
    parts: list[RenderableType] = []
    if moment.why and moment.question.sources:
        sources = [Text(source, overflow="fold") for source in moment.question.sources]
        parts += section(say("ui.sources", moment.lang), *sources)
    if moment.followup:
        missed = moment.verdict is not None and not moment.verdict.right
        easier = moment.followup.question.level < moment.question.level
        key = "ui.step_down" if missed and easier else "ui.followup"
        style = "" if plain else "cyan"
        parts += [Text(""), Text(say(key, moment.lang), style, overflow="fold")]
    return parts


def named(myth: str, names: Mapping[str, Said], lang: Lang) -> Text:
    """Return a misconception in words; one that its bank does not name keeps its slug."""
    return Text(names[myth][lang] if myth in names else myth, "dim default", overflow="fold")


def _mistake(what: str, reason: Said, moment: Moment, plain: bool) -> list[RenderableType]:
    """Return a mistake that people make, and below it, set in, why it is wrong."""
    against = inline(moment.asked.fill(reason, moment.lang), plain)
    return [inline(what, plain), below(against)]


def _why_option(moment: Moment, index: int, option: Option, plain: bool) -> RenderableType:
    lang = moment.lang
    place = moment.asked.order.index(index)
    word = say("ui.option_right" if option.correct else "ui.option_wrong", lang)
    line = Text(word, "green" if option.correct else "red")
    if option.why:
        line.append(colon(lang), "default")
        line.append_text(inline(moment.asked.fill(option.why, lang), plain, "default"))
    if option.myth:
        # Said as what it is: a bare sentence in brackets would read as one more reason.
        opening, closing = ("（", "）") if lang == "zh" else (" (", ")")
        label = f"{opening}{say('ui.myth', lang)}{colon(lang)}"
        line.append_text(Text.assemble(label, named(option.myth, moment.names, lang), closing))
    return numbered([line], first=place)
