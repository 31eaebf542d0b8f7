"""One moment of a timeline being played: bars up to now, and what is under way between ranks."""

import re
from collections.abc import Callable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from quizkit.lab.report import Hop
from quizkit.ui.pictures.chart import Chart, colour, kind
from quizkit.ui.pictures.drawn import Line
from quizkit.ui.pictures.playhead import come, doing, flying, moments, sent
from quizkit.ui.pictures.timeline import draw, headline, letters
from quizkit.ui.screens.parts import colon
from quizkit.ui.screens.report_screen import COLOURS, bar_style
from quizkit.words import Lang, say

_SHORTEST, _LONGEST = 14, 40  # columns of the way from a rank to another
_GAP = 3


def frame(
    chart: Chart,
    at: float,
    since: float,
    width: int,
    height: int,
    lang: Lang,
    in_words: Callable[[str], str] = str,
) -> list[RenderableType]:
    """Draw the screen at a time, with all that was under way `since` the one before.

    Of a picture higher than the screen it is the part with the playhead. `in_words` puts what the
    run says of its names in the learner's language.
    """
    title = Text(headline(chart, lang), "bold")
    said = legend(chart, lang, in_words)
    below = [Text(said, "dim")] if said else []
    now = [
        line for rank in range(chart.ranks) for line in _now(chart, rank, at, since, width, lang)
    ]
    high = sum(-(-text.cell_len // width) for text in (title, *below))
    room = height - high - len(now) - 5  # the time, a blank, two lines of footer, the cursor
    part, drawn = _bars(chart, at, width, room, lang)
    time = say("lab.watch_time", lang, at=f"{at:.4g}", span=f"{chart.span:.4g}")
    return [title, *drawn, Text(time + part, "bold"), *below, *now]


def legend(chart: Chart, lang: Lang, in_words: Callable[[str], str] = str) -> str:
    """Say what the letters are that operations and messages are called by."""
    names = [event.name for row in chart.rows for event in row.events]
    names += [hop.name for hop in chart.hops]
    told = [said] if (said := letters([chart], lang)) else []
    for letter, text in chart.letters.items():
        # One of them in full says more than a rule for all.
        if named := max((name for name in names if kind(name) == letter), default=""):
            words = in_words(text).replace("{}", re.sub(r"\D", "", named))
            told.append(say("lab.watch_letter", lang, name=named, words=words))
    return say("lab.watch_letters", lang).join(told)


def told(
    charts: Sequence[Chart], lang: Lang, in_words: Callable[[str], str] = str
) -> Iterator[str]:
    """Tell schedules in lines, for a pipe: at each moment what every rank does, sends and gets."""
    for chart in charts:
        yield headline(chart, lang)
        if said := legend(chart, lang, in_words):
            yield said
        for at in moments(chart)[:-1]:
            ranks = (_said(chart, rank, at, lang) for rank in range(chart.ranks))
            yield f"{at:.6g}{colon(lang)}{('；' if lang == 'zh' else '; ').join(ranks)}"
        yield ""


def _bars(chart: Chart, at: float, width: int, room: int, lang: Lang) -> tuple[str, list[Text]]:
    """Return which part is shown, where it is not all, and its lines with the playhead above."""
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
    where = say("lab.watch_block", lang, block=here + 1, blocks=len(blocks))
    return "" if whole or len(blocks) == 1 else where, lines


def _played(line: Line, chart: Chart, done: int) -> Text:
    """A rank's bars in colour as far as time has come, dim beyond."""
    text = Text(line[0].text, no_wrap=True)
    for span in line[1:]:
        text.append(span.text[:done], bar_style(span.of, chart))
        text.append(span.text[done:], "dim")
        done = max(0, done - len(span.text))
    return text


def _now(chart: Chart, rank: int, at: float, since: float, width: int, lang: Lang) -> list[Text]:
    """Draw what a rank is at, and beside it the ways to other ranks, with what is on them."""
    text = Text(f"rank {rank}  ", no_wrap=True, overflow="ellipsis")
    here = doing(chart, rank, at)
    for number, event in enumerate(here):
        text.append("  " if number else "").append(event.name, bar_style(event.name, chart))
    if not here:
        text.append(say("lab.watch_idle", lang), "dim")
    if not chart.hops:
        return [text]
    text.pad_right(max(_GAP, _busiest(chart, lang) - text.cell_len))
    room = width - text.cell_len
    most = max(len(_ways(chart, each)) for each in range(chart.ranks))
    beside = max(1, min(most, (room + _GAP) // (_SHORTEST + _GAP)))
    wide = min((room + _GAP) // beside - _GAP, _LONGEST)
    under_way = flying(chart, rank, at, since)
    lines, before = [text], text.cell_len
    for number, to in enumerate(_ways(chart, rank)):
        if number and number % beside == 0:
            lines.append(Text(" " * before, no_wrap=True, overflow="ellipsis"))
        elif number:
            lines[-1].append(" " * _GAP)
        lines[-1].append_text(_way(chart, to, [h for h in under_way if h.to == to], at, wide))
    return lines


def _busiest(chart: Chart, lang: Lang) -> int:
    """Columns of what stands before the ways, whatever a rank is at."""
    lanes = max(sum(row.rank == rank for row in chart.rows) for rank in range(chart.ranks))
    names = [event.name for row in chart.rows for event in row.events]
    longest = max(map(cell_len, names)) * lanes + 2 * (lanes - 1)
    digits = len(str(chart.ranks - 1))
    return len("rank   ") + digits + max(longest, cell_len(say("lab.watch_idle", lang))) + _GAP


def _ways(chart: Chart, rank: int) -> list[int]:
    """The ranks that this one sends to in all of the schedule, the next one first."""
    found = {hop.to for hop in chart.hops if hop.rank == rank}
    return sorted(found, key=lambda to: (to - rank) % chart.ranks)


def _way(chart: Chart, to: int, hops: Sequence[Hop], at: float, wide: int) -> Text:
    """One way, and the messages as far along it as time has come."""
    end = f"> {to}"
    free = wide - len(end)
    signs = [("-", "dim")] * free
    for hop in hops:
        label = f"[{hop.name}]"
        gone = min(1.0, (at - hop.start) / (hop.end - hop.start)) if hop.end > hop.start else 1.0
        start = round(gone * max(0, free - len(label)))
        signs[start : start + len(label)] = [(sign, _hop_style(hop, chart)) for sign in label]
    way = Text.assemble(*signs[:free])
    return way.append(end, "bold" if hops else "dim")


def _hop_style(hop: Hop, chart: Chart) -> str:
    """The colours of a message: those of the operation of its name, or else of its number."""
    kinds = chart.kinds if kind(hop.name) in chart.kinds else (kind(hop.name),)
    return f"black on {COLOURS[colour(hop.name, kinds, len(COLOURS))]}"


def _said(chart: Chart, rank: int, at: float, lang: Lang) -> str:
    """Say what a rank is doing, what it has just got and what it sends."""
    words = " + ".join(e.name for e in doing(chart, rank, at)) or say("lab.watch_idle", lang)
    for hop in come(chart, rank, at):
        words += say("lab.watch_gets", lang, name=hop.name, rank=hop.rank)
    for hop in sent(chart, rank, at):
        words += say("lab.watch_sends", lang, name=hop.name, rank=hop.to)
    return f"rank {rank} {words}"
