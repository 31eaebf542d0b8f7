"""A timeline as one SVG file that needs nothing from outside: no font to fetch, no address."""

from html import escape

from quizkit.lab.report import Event, Report
from quizkit.ui.chart import Chart, charts, colour
from quizkit.ui.timeline import headline
from quizkit.words import Lang, say

_FONTS = "system-ui,'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif"
_COLOURS = ("#2f6fb3", "#3b8a3e", "#a8741a", "#7b4fa3", "#2a8f8f", "#b3423a")
_LEFT, _WIDE, _HIGH, _TOP, _END = 70, 880, 28, 34, 20


def svg(report: Report, lang: Lang) -> str:
    """Every schedule of a run, one under the other; only what the run measured."""
    drawn = charts(report.timeline, report.ranks)
    blocks: list[str] = []
    y = 48
    for chart in drawn:
        blocks.append(_block(chart, y, lang))
        y += _TOP + len(chart.rows) * _HIGH + 2 * _END
    width, height = _LEFT + _WIDE + _END, y + _END
    title = say("lab.svg_title", lang, demo=report.demo, ranks=report.ranks)
    caption = say("lab.svg_caption", lang, backend=report.backend, device=report.device)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" font-family="{_FONTS}" font-size="12" role="img"'
        f' aria-label="{escape(title)}"><title>{escape(title)}</title>'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="{_END}" y="28" font-size="16" font-weight="bold">{escape(title)}</text>'
        f"{''.join(blocks)}"
        f'<text x="{_END}" y="{height - 14}" fill="#555">{escape(caption)}</text></svg>\n'
    )


def _block(chart: Chart, y: int, lang: Lang) -> str:
    parts = [
        f'<text x="{_LEFT}" y="{y + 18}" font-weight="bold">{escape(headline(chart, lang))}</text>'
    ]
    top = y + _TOP
    for index, row in enumerate(chart.rows):
        place = top + index * _HIGH
        parts.append(
            f'<text x="{_LEFT - 8}" y="{place + 18}" text-anchor="end">rank {row.rank}</text>'
            f'<rect x="{_LEFT}" y="{place + 2}" width="{_WIDE}" height="{_HIGH - 4}" fill="#eee"/>'
        )
        parts += [_bar(event, chart, place) for event in row.events]
    axis = top + len(chart.rows) * _HIGH + 14
    for share, anchor in (
        (0.0, "start"),
        (0.25, "middle"),
        (0.5, "middle"),
        (0.75, "middle"),
        (1.0, "end"),
    ):
        parts.append(
            f'<text x="{_LEFT + share * _WIDE:g}" y="{axis}" text-anchor="{anchor}" fill="#555">'
            f"{share * chart.span:.6g}</text>"
        )
    return "".join(parts)


def _bar(event: Event, chart: Chart, y: int) -> str:
    scale = _WIDE / chart.span
    x, width = _LEFT + event.start * scale, (event.end - event.start) * scale
    fill = _COLOURS[colour(event.name, chart.kinds, len(_COLOURS))]
    tip = escape(f"rank {event.rank} {event.name}: {event.start:.6g} - {event.end:.6g}")
    # A label wider than its bar would cover the neighbours; the tooltip still has it.
    label = (
        f'<text x="{x + width / 2:.2f}" y="{y + 18}" text-anchor="middle" fill="#fff">'
        f"{escape(event.name)}</text>"
        if width >= 8 * len(event.name) + 2
        else ""
    )
    return (
        f"<g><title>{tip}</title>"
        f'<rect x="{x:.2f}" y="{y + 2}" width="{width:.2f}" height="{_HIGH - 4}" fill="{fill}"'
        f' stroke="#fff"/>{label}</g>'
    )
