"""Calculators before they are given numbers: the list of them, and the options of one."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from quizkit.calc.figure import shown
from quizkit.calc.sheet import Calculator, Input, option
from quizkit.ui.screens.parts import colon
from quizkit.words import Lang, say
from quizkit.words.input import WORDS as INPUTS

EXAMPLES: Mapping[str, str] = {
    "memory": "quizkit calc memory --params 7.5B --dp 64 --zero 3",
    "activations": "quizkit calc activations --hidden 12288 --heads 96 --seq 2048 --tp 8 --sp",
    "pipeline": "quizkit calc pipeline --stages 4 --microbatches 8 --schedule 1f1b",
    "traffic": "quizkit calc traffic --model llama-3-8b --dp 16 --zero 3 --gpu h100",
    "moe": "quizkit calc moe --model deepseek-v3 --tokens 4096 --ep 64 --capacity-factor 1.25",
    "allreduce": "quizkit calc allreduce --bytes 1GB --ranks 8 --bandwidth 50GB/s",
    "flops": "quizkit calc flops --layers 96 --hidden 12288 --seq 2048 --vocab 51200",
    "mfu": "quizkit calc mfu --model llama-3-8b --tokens-per-second 6e5 --gpus 64 --gpu h100",
    "days": "quizkit calc days --model gpt-3-175b --tokens 300B --gpus 1024 --achieved 140e12",
    "kv": "quizkit calc kv --model llama-3-70b --seq 8192 --batch 16 --gpu h200",
    "plan": "quizkit calc plan --model llama-3-70b --gpus 64xH100 --seq 8192 --batch 1024",
}
ASKED: Mapping[str, Sequence[str]] = {
    "layout": ("plan",),
    "fits": ("memory", "activations", "kv"),
    "long": ("days", "flops"),
    "network": ("traffic", "moe", "allreduce"),
    "fast": ("mfu", "pipeline"),
}
"""What people come to ask, and the calculators that answer."""
_START = "quizkit calc memory --model llama-3-70b --dp 64 --zero 3 --fit h100"
_COMMON = ("explain", "quiz", "json", "lang", "plain")


def table(lang: Lang, plain: bool) -> RenderableType:
    """Draw every calculator under the question it answers, and a line that can be pasted."""
    lines: list[RenderableType] = []
    for question, names in ASKED.items():
        lines.append(Text(say(f"calc.ask_{question}", lang), "bold"))
        for name in names:
            what = say(f"calc.what_{name}", lang)
            row = f"  {name}{colon(lang)}{what}" if plain else f"  {name:<13}{what}"
            lines.append(Text(row, overflow="fold"))
    hint = Text(say("calc.list_hint", lang), "" if plain else "dim", overflow="fold")
    return Group(*lines, Text(""), Text(_START, overflow="fold"), hint)


def page(sheet: Calculator, lang: Lang, plain: bool) -> RenderableType:
    """Draw a calculator's page: what it answers and takes, with every default."""
    asks = [name for name in _COMMON if sheet.quiz or name != "quiz"]
    common = [(f"--{name}", say(f"calc.option_{name}", lang)) for name in asks]
    named = {
        "model": any(each.of_model for each in sheet.inputs),
        "gpu": any(each.of_chip for each in sheet.inputs),
    }
    common[:0] = [
        (f"--{name} {name.upper()}", say(f"calc.option_{name}", lang))
        for name, takes in named.items()
        if takes
    ]
    if sheet.name == "pipeline":
        common.insert(0, ("--svg F", say("calc.option_svg", lang)))
    return Group(
        Text.assemble((sheet.name, "bold"), "  ", say(f"calc.what_{sheet.name}", lang)),
        Text(say("calc.example", lang, line=EXAMPLES[sheet.name]), overflow="fold"),
        Text("\n" + say("calc.options", lang), "bold"),
        _rows([(_written(each), _about(sheet, each, lang)) for each in sheet.inputs], plain),
        Text("\n" + say("calc.common", lang), "bold"),
        _rows(common, plain),
    )


def input_words(sheet: Calculator, each: Input, lang: Lang) -> str:
    """Say what an input is; some mean something of their own in one sheet."""
    own = f"{sheet.name}_{each.name}"
    # kv has an input kv_heads: those are not the words of its heads.
    taken = own in {other.name for other in sheet.inputs}
    return say(f"input.{own if own in INPUTS and not taken else each.name}", lang)


def default_words(each: Input, lang: Lang) -> str:
    """Say an input's default; nothing where leaving it out leaves figures out."""
    if isinstance(each.default, bool):
        return say("calc.on" if each.default else "calc.off", lang)
    if each.default is None or each.default in ([], ""):
        return ""
    return each.default if isinstance(each.default, str) else shown(each.default)


def _written(each: Input) -> str:
    """Return an option as it is typed."""
    if each.kind == "flag":
        return option(each.name).replace("--", "--[no-]", 1)
    value = "|".join(map(str, each.choices)) or each.kind.upper()
    return f"{option(each.name)} {value}{'|GPU' if each.of_chip else ''}"


def _about(sheet: Calculator, each: Input, lang: Lang) -> str:
    facts = [say("calc.required", lang)] if each.required else []
    if default := default_words(each, lang):
        facts.append(say("calc.default", lang, value=default))
    words = input_words(sheet, each, lang)
    if not facts:
        return words
    return f"{words}（{facts[0]}）" if lang == "zh" else f"{words} ({facts[0]})"


def _rows(rows: Sequence[tuple[str, str]], plain: bool) -> RenderableType:
    """A name and what it is: a line each where columns are not wanted."""
    if plain:
        return Text("\n".join(f"  {name}: {said}" for name, said in rows))
    parts: list[RenderableType] = []
    for name, said in rows:
        parts.append(Text(f"  {name}", "bold", overflow="fold"))
        parts.append(Padding(Text(said, overflow="fold"), (0, 0, 0, 4), expand=False))
    return Group(*parts)
