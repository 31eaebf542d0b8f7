"""Sentences about layouts: how many fell and by what, why one of them is not the best."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor, log10

from quizkit.calc.plan.layout import SHORT
from quizkit.calc.plan.ranking import SLOW, Ranking
from quizkit.calc.plan.reasons import Broken, Full, Pinned, Slower, written
from quizkit.words import Lang, listed, say


@dataclass(frozen=True, slots=True)
class Found:
    """A ranking, and what was found out beside it."""

    ranking: Ranking
    lack: Full | None
    enough: int
    reason: Broken | Full | Slower | None
    pinned: Pinned


def nothing(answer: Found, lang: Lang) -> Iterator[str]:
    """Say that nothing fits, how much is lacking, and how many GPUs would do."""
    if answer.lack is None:
        yield say("layout.nothing_grid", lang)
        return
    yield say("layout.nothing", lang)
    yield gap(lang) + least(answer.ranking, answer.lack, lang)
    key = "layout.enough" if answer.enough else "layout.not_enough"
    yield gap(lang) + say(key, lang, gpus=f"{answer.enough:,}")


def least(ranking: Ranking, lack: Full, lang: Lang) -> str:
    """Say what the layout that lacks least would need."""
    return say(
        "layout.full_least",
        lang,
        layout=written(lack.layout, ranking.job.model.experts > 0),
        need=gb(sum(lack.memory.values())),
        usable=gb(lack.usable),
        over=gb(lack.over),
        **{part: gb(each) for part, each in lack.memory.items()},
    )


def gap(lang: Lang) -> str:
    """Return what stands between two sentences."""
    return "" if lang == "zh" else " "


def joined(sentences: Iterator[str], lang: Lang) -> str:
    """Put sentences in a row."""
    return gap(lang).join(sentences)


def looked(ranking: Ranking, lang: Lang) -> Iterator[str]:
    """Say how many layouts and grids were looked at, and by what they fell."""
    parts = {part: f"{ranking.fell[part]:,}" for part in ("states", "activations", "logits")}
    counts = {"layouts": f"{ranking.looked_at:,}", "fit": f"{len(ranking.placed):,}"}
    yield say("layout.looked", lang, **counts, **parts)
    fit = len(ranking.best)
    grids = {
        "grids_fit": fit,
        "grids_full": ranking.grids - ranking.fell_grids.total() - ranking.slow - fit,
        **{f"rule_{rule}": count for rule, count in ranking.fell_grids.most_common()},
        "grids_slow": ranking.slow,
    }
    said = [
        say(f"layout.{key}", lang, count=f"{count:,}", times=SLOW)
        for key, count in grids.items()
        if count
    ]
    joined = "，".join(said) if lang == "zh" else listed(said, lang)
    yield say("layout.grids", lang, grids=f"{ranking.grids:,}", parts=joined)


def small(answer: Found, lang: Lang) -> Iterator[str]:
    """Say what the columns are, and what time and memory are worked out with."""
    job = answer.ranking.job
    # The line that was just typed is no hint.
    end = "layout.legend_stop" if "zero" in answer.pinned else "layout.legend_one"
    experts = say(f"layout.legend_{'experts' if job.model.experts else 'dense'}", lang)
    yield say("layout.legend", lang, experts=experts) + say(end, lang)
    yield say(
        "layout.small_time",
        lang,
        efficiency=f"{100 * job.assumed.efficiency:.0f}%",
        link=f"{100 * job.assumed.link_share:.0f}%",
        peak=f"{job.chip.flops / 1e12:,g}",
        inside=f"{job.chip.inside / 1e9:g}",
        across=f"{job.chip.across / 1e9:g}",
        node=job.chip.node,
    )
    yield say("layout.small_memory", lang, usable=f"{job.usable_bytes / 1e9:g}")


def reasons(answer: Found, lang: Lang) -> Iterator[str]:
    """Say why the asked layout is not the best."""
    ranking, reason = answer.ranking, answer.reason
    assert reason is not None
    experts = ranking.job.model.experts > 0
    match reason:
        case Broken():
            yield say("layout.why_divides", lang, reason=_rule(ranking, reason, lang))
        case Full():
            part = "logits" if reason.part == "logits" else say(f"layout.part_{reason.part}", lang)
            yield say("layout.why_full", lang, part=part)
            yield least(ranking, reason, lang)
        case Slower():
            yield from _slower(ranking, reason, lang)
    if reason.mend and ranking.placed:
        mended = reason.mend.placed
        kept = {n: value for n, value in answer.pinned.items() if n != reason.mend.name}
        first = mended.layout == ranking.best[0].layout
        if first and not kept:
            return  # row 1 says so
        key = "why_mend_first" if first else "why_mend" if kept else "why_mend_any"
        yield say(
            f"layout.{key}",
            lang,
            kept=" ".join(f"{SHORT.get(n, n)}={value}" for n, value in kept.items()),
            step=in_seconds(ranking, mended.seconds),
            layout=written(mended.layout, experts),
        )


def _slower(ranking: Ranking, reason: Slower, lang: Lang) -> Iterator[str]:
    layout = written(reason.placed.layout, ranking.job.model.experts > 0)
    best, places = ranking.best[0], decimals(ranking)
    if reason.placed.layout == best.layout:
        yield say("layout.why_best", lang, layout=layout)
        return
    place = say(
        "layout.why_place" if reason.rank else "layout.why_beyond",
        lang,
        rank=reason.rank,
        of=f"{reason.of:,}",
    )
    step = in_seconds(ranking, reason.placed.seconds)
    facts = {"layout": layout, "step": step, "ratio": f"{reason.ratio:.3g}", "place": place}
    yield say("layout.why_slower", lang, **facts)
    total = round(reason.placed.seconds, places) - round(best.seconds, places)
    rounded = {part: round(more, places) for part, more in reason.more.items()}
    largest = sorted(rounded, key=lambda part: -abs(rounded[part]))[:3]
    named = {say(f"layout.part_{n}", lang): rounded[n] for n in largest if rounded[n]}
    rest = round(total - sum(named.values()), places)
    if rest:
        named[say("layout.why_other", lang)] = rest
    parts = [f"{name} {each:+,.{places}f}" for name, each in named.items()]
    if parts:
        more = listed(parts, lang)
        yield say("layout.why_more", lang, more=in_seconds(ranking, total), parts=more)


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


def gb(number: float) -> str:
    """Write bytes in GB."""
    return f"{number / 1e9:.1f}"


def decimals(ranking: Ranking) -> int:
    """Decimals of every time on the screen: four digits of the fastest step."""
    return min(9, max(0, 3 - floor(log10(ranking.best[0].seconds))))


def in_seconds(ranking: Ranking, seconds: float) -> str:
    """Write a time with those decimals."""
    return f"{seconds:,.{decimals(ranking)}f}"
