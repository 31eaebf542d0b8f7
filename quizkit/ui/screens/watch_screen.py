"""One moment of a timeline being played: bars up to now, and what each rank is doing."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from quizkit.ui.pictures.chart import Chart
from quizkit.ui.pictures.drawn import Line
from quizkit.ui.pictures.timeline import draw, headline, letters
from quizkit.ui.pictures.way import doing, moments, way
from quizkit.ui.screens.report_screen import bar_style
from quizkit.words import Lang, say

_BLOCKS_OF = ("ring-attention", "cp-layouts")  # here A3 is attention over the block of rank 3


def frame(
    chart: Chart, demo: str, at: float, width: int, height: int, lang: Lang
) -> list[RenderableType]:
    """The screen at a time; of a picture higher than the screen, the part with the playhead."""
    now = [_now(chart, rank, at) for rank in range(chart.ranks)]
    title = Text(headline(chart, lang), "bold")
    said = letters([chart], lang)
    below = [Text(said, "dim")] if said else []
    if any(way(chart, event) for row in chart.rows for event in row.events):
        which = "kv" if demo in _BLOCKS_OF and chart.kinds == ("A",) else "way"
        below.append(Text(say(f"lab.watch_{which}", lang), "dim"))
    high = sum(-(-text.cell_len // width) for text in (title, *below))
    room = height - high - len(now) - 5  # the time, a blank, two lines of footer, the cursor
    part, drawn = _bars(chart, at, width, room, lang)
    time = say("lab.watch_time", lang, at=f"{at:.4g}", span=f"{chart.span:.4g}")
    return [title, *drawn, Text(time + part, "bold"), *below, *(_line(*each, lang) for each in now)]


def told(charts: Sequence[Chart], lang: Lang) -> Iterator[str]:
    """The same in lines, for a pipe: at each moment what every rank is doing."""
    for chart in charts:
        yield headline(chart, lang)
        for at in moments(chart)[:-1]:
            ranks = (_said(chart, rank, at, lang) for rank in range(chart.ranks))
            yield f"{at:.6g}: {'; '.join(ranks)}"
        yield ""


def _bars(chart: Chart, at: float, width: int, room: int, lang: Lang) -> tuple[str, list[Text]]:
    """Which part is shown, in words where it is not all, and its lines with the playhead above."""
    picture = draw(chart, width, lang)
    if not picture.columns:
        return "", [Text("".join(span.text for span in line)) for line in picture.lines]
    high = len(chart.rows) + 1
    blocks = [picture.lines[n : n + high] for n in range(0, len(picture.lines), high)]
    reached = min(round(at * picture.columns / chart.span), picture.columns - 1)
    over = at >= chart.span
    here = reached // picture.wide
    whole = len(blocks) * (high + 1) <= room
    lines: list[Text] = []
    for number, block in enumerate(blocks):
        if not whole and number != here:
            continue
        before = len(block[0][0].text)
        column = reached - number * picture.wide
        mark = " " * (before + column) + "v" if number == here else ""
        lines.append(Text(mark, "bold"))
        done = picture.wide if over or number < here else column + 1 if number == here else 0
        lines += [_played(line, chart, done) for line in block]
    told = say("lab.watch_block", lang, block=here + 1, blocks=len(blocks))
    return "" if whole or len(blocks) == 1 else told, lines


def _played(line: Line, chart: Chart, done: int) -> Text:
    """A rank's bars in colour as far as time has come, dim beyond."""
    text = Text(line[0].text, no_wrap=True)
    for span in line[1:]:
        text.append(span.text[:done], bar_style(span.of, chart))
        text.append(span.text[done:], "dim")
        done = max(0, done - len(span.text))
    return text


_Now = tuple[int, list[tuple[str, str, Sequence[int]]]]


def _now(chart: Chart, rank: int, at: float) -> _Now:
    """A rank, and of each thing it is at: name, colours and way."""
    here = doing(chart, rank, at)
    return rank, [(e.name, bar_style(e.name, chart), way(chart, e)) for e in here]


def _line(rank: int, found: list[tuple[str, str, Sequence[int]]], lang: Lang) -> Text:
    text = Text(f"rank {rank}  ", no_wrap=True, overflow="ellipsis")
    if not found:
        return text.append(say("lab.watch_idle", lang), "dim")
    for name, style, ranks in found:
        text.append(name, style).append("   ")
        past = True
        for number, each in enumerate(ranks):
            text.append(" > " if number else "", "dim")
            if each == rank:
                past = False
                text.append(f"[{each}]", "bold")
            else:
                text.append(f"{each}", "" if past else "dim")
        text.append("   " if ranks else "")
    return text


def _said(chart: Chart, rank: int, at: float, lang: Lang) -> str:
    """What a rank is doing, where it was before and where it goes next."""
    words: list[str] = []
    for event in doing(chart, rank, at):
        ranks = way(chart, event)
        place = ranks.index(rank) if rank in ranks else 0
        came = say("lab.watch_from", lang, rank=ranks[place - 1]) if place else ""
        goes = ranks[place + 1 :]
        on = say("lab.watch_to", lang, rank=goes[0]) if goes else ""
        words.append(f"{event.name}{came}{on}")
    return f"rank {rank} {' + '.join(words) or say('lab.watch_idle', lang)}"
