"""Tell all there is to say of a command: how it is typed, and each of its options in words."""

from collections.abc import Iterator
from typing import Any

from quizkit.ui.screens.help_page import Help, HelpRow
from quizkit.words import Lang, say
from quizkit.words.options import CHINESE


def manual(ctx: Any, lang: Lang) -> Help:
    """Return all that the help of the command says."""
    command = ctx.command
    every = [each for each in command.get_params(ctx) if not each.hidden]
    rows: dict[str, list[HelpRow]] = {"arguments": [], "options": [], "commands": []}
    for each in every:
        kind = "options" if each.param_type_name == "option" else "arguments"
        rows[kind].append(HelpRow(typed(each), about(each, lang)))
    for name, below in getattr(command, "commands", {}).items():
        rows["commands"].append(HelpRow(name, below.help.split("\n\n")[0]))
    return Help(
        usage=say("usage.usage", lang, line=typed_so(ctx, lang)),
        about=command.help,
        parts=[(say(f"usage.{name}", lang), found) for name, found in rows.items() if found],
    )


def path(ctx: Any) -> str:
    """Return the command as it is typed, whatever started it: `quizkit bank lint`."""
    above = [] if ctx.parent is None else [path(ctx.parent), ctx.info_name]
    return " ".join(above) or "quizkit"


def typed_so(ctx: Any, lang: Lang) -> str:
    """Return a line to type: the command, what it needs and may take, and where options go."""
    params = ctx.command.get_params(ctx)
    told = [each for each in params if each.required or each.param_type_name == "argument"]
    words = [typed(each) if each.required else f"[{typed(each)}]" for each in told]
    if hasattr(ctx.command, "commands"):
        words.append(say("usage.a_command", lang))
    return " ".join([path(ctx), *words, f"[{say('usage.any_options', lang)}]"])


def purpose(param: Any, lang: Lang) -> str:
    """Say what an option is for, in a sentence."""
    english: str = param.help
    return CHINESE.get(english, english) if lang == "zh" else english


def about(param: Any, lang: Lang) -> str:
    """Say what an option is for, and what its value may be."""
    words = purpose(param, lang)
    facts = ("，" if lang == "zh" else ", ").join(_facts(param, lang))
    if not facts:
        return words
    return f"{words.removesuffix('.')} ({facts})." if lang == "en" else f"{words}（{facts}）"


def wanted(param: Any, lang: Lang) -> str:
    """Say what may be typed as its value."""
    kind = param.type.name
    if not kind.startswith(("int", "float")):
        return _value(param)
    noun = say("usage.whole" if kind.startswith("int") else "usage.number", lang)
    bounds = _bounds(param.type, lang)
    return say("usage.bounded", lang, bounds=bounds, noun=noun) if bounds else noun


def typed(param: Any) -> str:
    """Return an option or an argument as it is typed."""
    if param.param_type_name == "argument":
        return f"{param.human_readable_name}..." if param.nargs == -1 else param.human_readable_name
    words = ", ".join(sorted(param.opts, key=lambda word: word.startswith("--")))
    if param.is_flag:
        return "/".join([words, *param.secondary_opts])
    return f"{words} {_value(param)}"


def _value(param: Any) -> str:
    """A word that stands for the value."""
    return param.metavar or "|".join(getattr(param.type, "choices", ())) or param.name.upper()


def _facts(param: Any, lang: Lang) -> Iterator[str]:
    if param.required and param.param_type_name == "option":
        yield say("usage.required", lang)
    if bounds := _bounds(param.type, lang):
        yield bounds
    if getattr(param, "multiple", False):
        yield say("usage.repeatable", lang)
    if param.default not in (None, False) and not callable(param.default):
        value = param.opts[0] if param.default is True else param.default
        yield say("usage.default", lang, value=value)


def _bounds(kind: Any, lang: Lang) -> str:
    """The bounds that a type sets; nothing where it sets none."""
    least, most = getattr(kind, "min", None), getattr(kind, "max", None)
    if least is None:
        return ""
    if most is None:
        return say("usage.least", lang, least=least)
    return say("usage.between", lang, least=least, most=most)
