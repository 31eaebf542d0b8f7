"""The pictures of a run as one SVG file that needs nothing from outside: no font, no address."""

from collections.abc import Callable, Sequence
from html import escape

from quizkit.lab.picture import Picture
from quizkit.lab.report import Event, Report
from quizkit.ui.pictures import measured
from quizkit.ui.pictures.chart import Chart, Row, charts, colour, kind
from quizkit.ui.pictures.timeline import headline
from quizkit.words import Lang, say

_FONTS = "system-ui,'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif"
_COLOURS = ("#2f6fb3", "#3b8a3e", "#a8741a", "#7b4fa3", "#2a8f8f", "#b3423a")
_THIN = 3  # a bar narrower than this is drawn without a border, and nobody can point at it
_LEFT, _WIDE, _HIGH, _TOP, _END = 70, 880, 28, 34, 20


def svg(report: Report, lang: Lang, told: Callable[[str], str] = str) -> str:
    """Draw every schedule and picture of a run, one under the other; `told` puts texts in words."""
    title = say("lab.svg_title", lang, demo=report.demo, ranks=report.ranks)
    caption = say("lab.svg_caption", lang, backend=report.backend, device=report.device)
    kept = [measured.in_words(each, told) for each in report.pictures]
    return picture(charts(report.timeline, report.ranks), title, caption, lang, kept)


def picture(
    drawn: Sequence[Chart], title: str, caption: str, lang: Lang, more: Sequence[Picture] = ()
) -> str:
    """Draw charts and other pictures, a title above and what they are drawn from below."""
    blocks: list[str] = []
    y = 48
    for chart in drawn:
        blocks.append(_block(chart, y, lang))
        y += _TOP + len(chart.rows) * _HIGH + 2 * _END
    for each in more:
        block, high = measured.shapes(each, _LEFT, y, lang)
        blocks.append(block)
        y += high + _END
    width, height = _LEFT + _WIDE + _END, y + _END
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
        parts += _bars(row, chart, place)
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


def _bars(row: Row, chart: Chart, y: int) -> list[str]:
    """Bars that can be pointed at; thin ones as one shape for each kind of operation."""
    scale = _WIDE / chart.span
    parts: list[str] = []
    thin: dict[str, list[str]] = {}
    for event in row.events:
        width = (event.end - event.start) * scale
        if width >= _THIN:
            parts.append(_bar(event, chart, y))
            continue
        where = f"M{_LEFT + event.start * scale:.3f} {y + 2}h{width:.3f}v{_HIGH - 4}h-{width:.3f}z"
        thin.setdefault(kind(event.name), []).append(where)
    for what, shapes in thin.items():
        fill = _COLOURS[colour(what, chart.kinds, len(_COLOURS))]
        tip = escape(f"rank {row.rank} {what}: {len(shapes)}")
        parts.append(f'<path d="{"".join(shapes)}" fill="{fill}"><title>{tip}</title></path>')
    return parts


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
