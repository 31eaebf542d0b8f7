"""Layouts on the screen: the fastest, what fell, and why one of them is not the best."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from quizkit.calc.plan.layout import SHORT
from quizkit.calc.plan.ranking import BEST, Fitting, Ranking
from quizkit.calc.plan.reasons import Slower, written
from quizkit.calc.plan.sheet import SHEET
from quizkit.calc.plan.terms import PARTS
from quizkit.calc.sheet import Worked
from quizkit.ui.screens.amount import human
from quizkit.ui.screens.layout_words import (
    Found,
    decimals,
    gb,
    in_seconds,
    joined,
    looked,
    nothing,
    reasons,
    small,
)
from quizkit.ui.screens.sum_screen import explained
from quizkit.ui.text.linebreak import wrapped
from quizkit.words import Lang, listed, say

_AXES = ("tp", "cp", "ep", "pp", "dp")
_LEAST = 0.005
"""Smaller shares of a step are told together."""
_CLOSE = 1.07
"""What was really trained with takes this much longer than the model's best, in the median."""
_NARROW = 76
_HARD = "\ue000"
_GLUE = re.compile(
    r"(?<=[\d%]) (?=(?:s|GB|GB/s|TFLOP/s|GPUs?)(?![\w/])|[\u4e00-\u9fff])"
    r"|(?<=[慢步]) (?=\d)|(?<=--why) |(?<=dp) (?=x cp)|(?<=x) (?=[cd]p)|(?<=[ct]p) (?=x [cd]p)"
)


def show(console: Console, answer: Found, explain: bool, lang: Lang, plain: bool) -> None:
    """Print the whole screen."""
    for part in _parts(answer, explain, lang, plain, console.width):
        console.print(part)


def _parts(
    answer: Found, explain: bool, lang: Lang, plain: bool, width: int
) -> Iterator[RenderableType]:
    ranking, dim = answer.ranking, "" if plain else "dim"
    asked = _asked(answer)
    title = _set(f"plan  {_title(ranking, lang)}", width, lang)
    yield Text.assemble(("plan", "bold"), title.removeprefix("plan"))
    if answer.reason or not ranking.placed or width > 80:  # else all of it would not fit 24 lines
        yield Text("")
    if ranking.placed:
        best = ranking.best[: 1 if answer.reason else BEST]
        yield Text(_set(_heading(best, asked, lang), width, lang), "bold")
        rows = [(str(at), each) for at, each in enumerate(best, 1)]
        rows += [(_place(answer), asked)] if asked else []
        yield from _table(ranking, rows, lang, dim, plain or width < _NARROW, width)
        yield Text(_set(_sum(ranking, lang), width, lang), dim)
    else:
        yield Text(_set("".join(nothing(answer, lang)), width, lang), "bold")
    if answer.reason:
        names = " ".join(f"{SHORT.get(n, n)}={value}" for n, value in answer.pinned.items())
        yield Text("\n" + say("layout.why", lang, layout=names), "bold", overflow="fold")
        why = Text(_set(joined(reasons(answer, lang), lang), width - 2, lang))
        yield Padding(why, (0, 0, 0, 2))
    if answer.reason or not ranking.placed or width > 80:
        yield Text("")
    yield Text(_set(joined(looked(ranking, lang), lang), width, lang), dim)
    yield Text(_set(joined(small(answer, lang), lang), width, lang), dim)
    if explain and ranking.placed:
        yield from _terms(ranking, lang, plain)


def _set(text: str, width: int, lang: Lang) -> str:
    """Break lines: no number loses its unit; Chinese breaks at punctuation and blanks alone."""
    text = _GLUE.sub(_HARD, text)
    after = r"(?<=[，。；：、 ])|(?=（)" if lang == "zh" else r"(?<= )"
    lines = [""]
    for piece in re.split(after, text):
        if cell_len((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    whole = "\n".join(line.rstrip() for line in lines if line)
    return wrapped(whole, width).replace(_HARD, " ")


def _below(text: str, width: int, lang: Lang, style: str) -> RenderableType:
    return Padding(Text(_set(text, width - 3, lang), style), (0, 0, 0, 3))


def _asked(answer: Found) -> Fitting | None:
    """The layout that was asked about, if it fits and is not the best itself."""
    reason = answer.reason
    if not isinstance(reason, Slower):
        return None
    return reason.placed if reason.placed.layout != answer.ranking.best[0].layout else None


def _place(answer: Found) -> str:
    """Its number, if it is the fastest of its grid."""
    reason = answer.reason
    if isinstance(reason, Slower) and reason.rank:
        first = answer.ranking.best[reason.rank - 1]
        return str(reason.rank) if first.layout == reason.placed.layout else "-"
    return "-"


def _heading(best: Sequence[Fitting], asked: Fitting | None, lang: Lang) -> str:
    if len(best) == 1:
        return say("layout.fastest_and" if asked else "layout.fastest", lang)
    title = say("layout.best", lang, count=len(best))
    ratio = best[-1].seconds / best[0].seconds
    if ratio < _CLOSE:
        title += say("layout.close", lang, spread=_share(ratio - 1))
    return title


def _title(ranking: Ranking, lang: Lang) -> str:
    job = ranking.job
    return say(
        "layout.title",
        lang,
        model=job.model.name,
        params=human(job.model.params, "params", "en"),
        gpus=f"{job.gpus:,}",
        chip=job.chip.name,
        seq=f"{job.seq:,}",
        batch=f"{job.batch:,}",
    )


def _table(
    ranking: Ranking,
    placed: Sequence[tuple[str, Fitting]],
    lang: Lang,
    dim: str,
    stacked: bool,
    width: int,
) -> Iterator[RenderableType]:
    """A line of degrees and rates for each, and one of memory and messages."""
    rows = [_row(ranking, name, each, lang) for name, each in placed]
    second = say("layout.second", lang, capacity=f"{ranking.job.chip.memory / 1e9:g}")
    names = [name for name in rows[0] if name != "memory"]
    heads = {"recompute", "step", "rate", "bubble"}
    titles = {n: say(f"layout.{n}", lang) if n in heads else SHORT.get(n, n) for n in names}
    titles |= {"#": "", "mfu": "MFU", "microbatches": "m"}
    cells = {n: [titles[n], *(row[n] for row in rows)] for n in names}
    wide = {n: max(cell_len(cell) for cell in cells[n]) for n in names}
    first = max(3, wide["#"] + 1)
    used = first + sum(wide[n] for n in names[1:])
    gap = next((g for g in (2, 1) if used + g * (len(names) - 2) <= width), 0)
    if not gap or stacked:
        yield _below(second, width, lang, dim)
        for (_, each), row in zip(placed, rows, strict=True):
            layout = written(each.layout, ranking.job.model.experts > 0)
            rate = f"{row['rate']} {say('layout.rate', lang)}"
            rates = (f"m={row['microbatches']}", f"{row['step']} s", rate, f"MFU {row['mfu']}")
            bubble = f"{titles['bubble']} {row['bubble']}"
            yield Text(_set(f"{row['#']:<3}{layout}", width, lang))
            yield _below(listed((*rates, bubble), lang), width, lang, "bold")
            yield _below(row["memory"], width, lang, dim)
        return
    for at in range(len(rows) + 1):
        said = [_cell(cells[n][at], wide[n], n == "recompute") for n in names[1:]]
        line = f"{cells['#'][at]:<{first}}" + (" " * gap).join(said)
        yield Text(line.rstrip(), "bold" if at else dim, overflow="fold")
        yield _below(rows[at - 1]["memory"] if at else second, width, lang, dim)


def _cell(text: str, wide: int, left: bool) -> str:
    room = " " * (wide - Text(text).cell_len)
    return text + room if left else room + text


def _row(ranking: Ranking, number: str, placed: Fitting, lang: Lang) -> dict[str, str]:
    values, layout = ranking.values(placed.layout), placed.layout
    experts = ["ep"] if ranking.job.model.experts else []
    names = ("tp", "cp", "pp", "virtual", *experts, "dp", "zero", "batch")
    return {
        "#": number,
        **{name: str(getattr(layout, name)) for name in names},
        "microbatches": str(values["microbatches"]),
        "recompute": say(f"layout.{layout.recompute}", lang),
        "step": in_seconds(ranking, placed.seconds),
        "rate": f"{values['tokens_per_second']:,.0f}",
        "mfu": _share(values["mfu"]),
        "bubble": _share(values["bubble_seconds"] / placed.seconds),
        "memory": _memory(ranking, placed, values, lang),
    }


def _memory(ranking: Ranking, placed: Fitting, values: Mapping[str, Any], lang: Lang) -> str:
    axes = [axis for axis in _AXES if axis != "ep" or ranking.job.model.experts]
    shares = {axis: round(1000 * values[f"{axis}_seconds"] / placed.seconds) for axis in axes}
    memory = say(
        "layout.memory",
        lang,
        total=gb(placed.memory),
        states=gb(values["states_bytes"]),
        activations=gb(values["activations_bytes"]),
        logits=gb(values["held_logits_bytes"]),
    )
    each = " ".join(f"{axis} {share / 10:.1f}" for axis, share in shares.items())
    shown = say("layout.shown", lang, axes=each, sum=f"{sum(shares.values()) / 10:.1f}")
    return f"{memory}{'；' if lang == 'zh' else '; '}{shown}"


def _share(part: float) -> str:
    return f"{100 * part:.1f}%"


def _sum(ranking: Ranking, lang: Lang) -> str:
    """The best step as a sum that is right as it is written, and its MFU."""
    best, places = ranking.best[0], decimals(ranking)
    values = ranking.values(best.layout)
    parts = {part: values[f"{part}_seconds"] for part in PARTS}
    shown = {n: s for n, s in parts.items() if s >= _LEAST * best.seconds}
    rest = round(best.seconds, places) - sum(round(each, places) for each in shown.values())
    own = {"compute", "recompute", "bubble", "update"}
    named = [
        f"{say(f'layout.sum_{n}', lang) if n in own else n} {in_seconds(ranking, each)}"
        for n, each in shown.items()
    ]
    if round(rest, places):
        named.append(f"{say('layout.sum_others', lang)} {in_seconds(ranking, rest)}")
    step = in_seconds(ranking, best.seconds)
    text = say("layout.sum", lang, step=step, parts=" + ".join(named))
    efficiency, pp = ranking.job.assumed.efficiency, best.layout.pp
    useful = efficiency * (parts["compute"] + parts["logits"] / pp) / best.seconds
    if abs(useful - values["mfu"]) > _LEAST / 10:  # products that wait for memory, uneven stages
        return text + say("layout.sum_stop", lang)
    return text + say(
        "layout.sum_mfu",
        lang,
        mfu=_share(values["mfu"]),
        efficiency=f"{100 * efficiency:.0f}%",
        compute=in_seconds(ranking, parts["compute"]),
        logits=in_seconds(ranking, parts["logits"]),
        pp=pp,
        step=step,
    )


def _terms(ranking: Ranking, lang: Lang, plain: bool) -> Iterator[RenderableType]:
    values = ranking.values(ranking.best[0].layout)
    named = {each.name: values[each.name] for each in SHEET.figures}
    inputs = {name: value for name, value in values.items() if name not in named}
    worked = Worked(SHEET, inputs, frozenset(), named, {})
    yield Text("\n" + say("layout.terms", lang), "bold")
    for figure in SHEET.figures:
        yield from explained(worked, figure, lang, plain)
