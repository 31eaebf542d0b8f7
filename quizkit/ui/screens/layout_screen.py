"""Layouts on the screen: the fastest, what fell, and why one of them is not the best."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from quizkit.calc.plan.layout import SHORT, Layout
from quizkit.calc.plan.ranking import BEST, SLOW, Fitting, Ranking
from quizkit.calc.plan.reasons import Broken, Full, Pinned, Slower, written
from quizkit.calc.plan.sheet import SHEET
from quizkit.calc.sheet import Worked
from quizkit.ui.screens.amount import human
from quizkit.ui.screens.sum_screen import explained
from quizkit.words import Lang, listed, say

_AXES = ("tp", "cp", "ep", "pp", "dp")
_LEAST = 0.0005
"""Shares below are not worth a word."""


@dataclass(frozen=True, slots=True)
class Found:
    """A ranking, and what was found out beside it."""

    ranking: Ranking
    lack: Full | None
    enough: int
    reason: Broken | Full | Slower | None
    pinned: Pinned


def show(console: Console, answer: Found, explain: bool, lang: Lang, plain: bool) -> None:
    """Print the whole screen."""
    for part in _parts(answer, explain, lang, plain, console.width):
        console.print(part)


def _parts(
    answer: Found, explain: bool, lang: Lang, plain: bool, width: int
) -> Iterator[RenderableType]:
    ranking, dim = answer.ranking, "" if plain else "dim"
    yield Text.assemble(("plan", "bold"), "  ", _title(ranking, lang), overflow="fold")
    if ranking.placed:
        best = ranking.best[: 1 if answer.reason else BEST]
        title = say("layout.fastest" if len(best) == 1 else "layout.best", lang, count=len(best))
        yield Text("\n" + title, "bold", overflow="fold")
        yield from _table(ranking, best, lang, dim, plain or width < 76)
    else:
        yield Text("\n" + "".join(_nothing(answer, lang)), "bold", overflow="fold")
    if answer.reason:
        names = " ".join(f"{SHORT.get(n, n)}={value}" for n, value in answer.pinned.items())
        yield Text("\n" + say("layout.why", lang, layout=names), "bold", overflow="fold")
        yield Padding(Text(_joined(_why(answer, lang), lang), overflow="fold"), (0, 0, 0, 2))
    yield Text("\n" + _joined(_looked(ranking, lang), lang), dim, overflow="fold")
    yield Text(_joined(_small(ranking, lang), lang), dim, overflow="fold")
    if explain and ranking.placed:
        yield from _terms(ranking, lang, plain)


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
    ranking: Ranking, best: Sequence[Fitting], lang: Lang, dim: str, stacked: bool
) -> Iterator[Text]:
    """A line of degrees and rates for each, and one of memory and messages."""
    rows = [_row(ranking, at, each, lang) for at, each in enumerate(best, 1)]
    if stacked:
        yield Text(f"   {say('layout.second', lang)}", dim, overflow="fold")
        for placed, row in zip(best, rows, strict=True):
            layout = written(placed.layout, ranking.job.model.experts > 0)
            rates = listed(
                (row["step"], f"{row['rate']} {say('layout.rate', lang)}", row["mfu"]), lang
            )
            yield Text(f"{row['#']}  {layout}", overflow="fold")
            yield Text(f"   {rates}", "bold", overflow="fold")
            yield Text(f"   {row['memory']}", dim, overflow="fold")
        return
    names = [name for name in rows[0] if name != "memory"]
    heads = {"recompute", "step", "rate", "bubble"}
    titles = {n: say(f"layout.{n}", lang) if n in heads else SHORT.get(n, n) for n in names}
    titles |= {"#": "", "mfu": "MFU"}
    cells = {n: [titles[n], *(row[n] for row in rows)] for n in names}
    wide = {n: max(Text(cell).cell_len for cell in cells[n]) for n in names}
    for at in range(len(rows) + 1):
        line = "  ".join(_cell(cells[n][at], wide[n], n == "recompute") for n in names)
        yield Text(line, "bold" if at else dim, overflow="fold")
        second = rows[at - 1]["memory"] if at else say("layout.second", lang)
        yield Text(f"   {second}", dim, overflow="fold")


def _cell(text: str, wide: int, left: bool) -> str:
    room = " " * (wide - Text(text).cell_len)
    return text + room if left else room + text


def _row(ranking: Ranking, at: int, placed: Fitting, lang: Lang) -> dict[str, str]:
    values, layout = ranking.values(placed.layout), placed.layout
    degrees = {name: str(getattr(layout, name)) for name in Layout._fields if name != "ep"}
    if ranking.job.model.experts:
        names = ("tp", "cp", "pp", "virtual", "ep", "dp", "zero", "batch")
        degrees = {name: str(getattr(layout, name)) for name in names}
    bubble = values["bubble_seconds"] / placed.seconds
    return {
        "#": str(at),
        **degrees,
        "recompute": say(f"layout.{layout.recompute}", lang),
        "step": human(placed.seconds, "s", lang),
        "rate": f"{values['tokens_per_second']:,.0f}",
        "mfu": _share(values["mfu"]),
        "bubble": _share(bubble),
        "memory": _memory(ranking, placed, values, lang),
    }


def _memory(ranking: Ranking, placed: Fitting, values: Mapping[str, Any], lang: Lang) -> str:
    shares = {axis: values[f"{axis}_seconds"] / placed.seconds for axis in _AXES}
    axes = [f"{axis} {_share(each)}" for axis, each in shares.items() if each >= _LEAST]
    memory = say(
        "layout.memory",
        lang,
        total=_gb(placed.memory),
        capacity=_gb(ranking.job.chip.memory),
        states=_gb(values["states_bytes"]),
        activations=_gb(values["activations_bytes"]),
        logits=_gb(values["held_logits_bytes"]),
    )
    shown = (
        say("layout.shown", lang, axes=" ".join(axes)) if axes else say("layout.shown_none", lang)
    )
    return f"{memory}{'；' if lang == 'zh' else '; '}{shown}"


def _gb(number: float) -> str:
    return f"{number / 1e9:.1f}".removesuffix(".0")


def _share(part: float) -> str:
    return f"{100 * part:.1f}%"


def _nothing(answer: Found, lang: Lang) -> Iterator[str]:
    if answer.lack is None:
        yield say("layout.nothing_grid", lang)
        return
    yield say("layout.nothing", lang)
    yield _gap(lang) + _least(answer.ranking, answer.lack, lang)
    key = "layout.enough" if answer.enough else "layout.not_enough"
    yield _gap(lang) + say(key, lang, gpus=f"{answer.enough:,}")


def _least(ranking: Ranking, lack: Full, lang: Lang) -> str:
    return say(
        "layout.full_least",
        lang,
        layout=written(lack.layout, ranking.job.model.experts > 0),
        need=_gb(sum(lack.memory.values())),
        usable=_gb(lack.usable),
        over=_gb(lack.over),
        **{part: _gb(each) for part, each in lack.memory.items()},
    )


def _gap(lang: Lang) -> str:
    return "" if lang == "zh" else " "


def _joined(sentences: Iterator[str], lang: Lang) -> str:
    return _gap(lang).join(sentences)


def _looked(ranking: Ranking, lang: Lang) -> Iterator[str]:
    parts = {part: f"{ranking.fell[part]:,}" for part in ("states", "activations", "logits")}
    counts = {"layouts": f"{ranking.looked_at:,}", "fit": f"{len(ranking.placed):,}"}
    yield say("layout.looked", lang, **counts, **parts)
    fell = [
        say("layout.rule", lang, rule=say(f"layout.rule_{rule}", lang), count=count)
        for rule, count in ranking.fell_grids.most_common()
    ]
    key = "layout.grids" if fell else "layout.grids_all"
    yield say(key, lang, grids=f"{ranking.grids:,}", fell=listed(fell, lang))
    if ranking.slow:
        yield say("layout.slow", lang, count=f"{ranking.slow:,}", times=SLOW)


def _small(ranking: Ranking, lang: Lang) -> Iterator[str]:
    assumed = ranking.job.assumed
    shares = {"efficiency": assumed.efficiency, "link": assumed.link_share}
    yield say("layout.small_time", lang, **{n: f"{100 * each:.0f}%" for n, each in shares.items()})
    yield say("layout.small_memory", lang, usable=f"{100 * assumed.usable:.0f}%")


def _why(answer: Found, lang: Lang) -> Iterator[str]:
    ranking, reason = answer.ranking, answer.reason
    assert reason is not None
    experts = ranking.job.model.experts > 0
    match reason:
        case Broken():
            yield say("layout.why_divides", lang, reason=_rule(ranking, reason, lang))
        case Full():
            part = "logits" if reason.part == "logits" else say(f"layout.part_{reason.part}", lang)
            yield say("layout.why_full", lang, part=part)
            yield _least(ranking, reason, lang)
        case Slower():
            yield from _slower(ranking, reason, lang)
    if reason.mend:
        name, mended = reason.mend.name, reason.mend.placed
        short = SHORT.get(name, name)
        yield say(
            "layout.why_mend",
            lang,
            old=f"{short}={answer.pinned[name]}",
            new=f"{short}={getattr(mended.layout, name)}",
            step=human(mended.seconds, "s", lang),
            layout=written(mended.layout, experts),
        )


def _slower(ranking: Ranking, reason: Slower, lang: Lang) -> Iterator[str]:
    layout = written(reason.placed.layout, ranking.job.model.experts > 0)
    if reason.placed.layout == ranking.best[0].layout:
        yield say("layout.why_best", lang, layout=layout)
        return
    place = say(
        "layout.why_place" if reason.rank else "layout.why_beyond",
        lang,
        rank=reason.rank,
        of=f"{reason.of:,}",
    )
    step = human(reason.placed.seconds, "s", lang)
    facts = {"layout": layout, "step": step, "ratio": f"{reason.ratio:.3g}", "place": place}
    yield say("layout.why_slower", lang, **facts)
    (part, more), *others = reason.more.items()
    theirs = ranking.values(ranking.best[0].layout)[f"{part}_seconds"]
    yield say(
        "layout.why_more",
        lang,
        more=human(reason.placed.seconds - ranking.best[0].seconds, "s", lang),
        part=say(f"layout.part_{part}", lang),
        ours=human(theirs + more, "s", lang),
        theirs=human(theirs, "s", lang),
    )
    least = _LEAST * reason.placed.seconds
    named = [
        f"{say(f'layout.part_{n}', lang)} +{human(s, 's', lang)}" for n, s in others if s > least
    ]
    if named:
        yield say("layout.why_next", lang, parts=listed(named[:3], lang))


def _rule(ranking: Ranking, reason: Broken, lang: Lang) -> str:
    job = ranking.job
    model, grid = job.model, reason.grid
    return say(
        f"layout.not_{reason.rule}",
        lang,
        **(grid._asdict() if grid else {}),
        gpus=job.gpus,
        node=job.chip.node,
        heads=model.heads,
        ffn=model.ffn or model.expert_ffn,
        kv_heads=model.kv_heads,
        layers=model.layers,
        seq=job.seq,
        batch=job.batch,
    )


def _terms(ranking: Ranking, lang: Lang, plain: bool) -> Iterator[RenderableType]:
    values = ranking.values(ranking.best[0].layout)
    named = {each.name: values[each.name] for each in SHEET.figures}
    inputs = {name: value for name, value in values.items() if name not in named}
    worked = Worked(SHEET, inputs, frozenset(), named, {})
    yield Text("\n" + say("layout.terms", lang), "bold")
    for figure in SHEET.figures:
        yield from explained(worked, figure, lang, plain)
