"""Draw where the learner stands at a terminal: bars and small tables, or plain lines."""

from collections.abc import Iterable, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from quizkit.tutor.tally import Tally
from quizkit.ui.screens.parts import below, colon, rule, section
from quizkit.ui.screens.sections import Bar, Bars, Item, Part, Section, Table, share
from quizkit.words import Lang, say

_WIDEST = 40
_FILL = "#"  # one column wide in every font, and a screen reader is not shown bars at all


def stats_screen(page: Sequence[Section], lang: Lang, plain: bool) -> RenderableType:
    """Draw the sections one under the other."""
    first, *others = page
    head = [Text(first.title, "bold", overflow="fold"), *([] if plain else [rule()])]
    parts: list[RenderableType] = [*head, *_shown(first.parts, lang, plain)]
    for each in others:
        parts += section(each.title, *_shown(each.parts, lang, plain))
    return Group(*parts)


def _shown(parts: Iterable[Part], lang: Lang, plain: bool) -> Iterable[RenderableType]:
    for part in parts:
        match part:
            case str():
                yield Text(part, overflow="fold")
            case Item():
                yield Text(f"- {part.text}", overflow="fold")
                yield from (below(Text(step, overflow="fold")) for step in part.steps)
            case Bars():
                yield Text("\n".join(_said(part, lang)), overflow="fold") if plain else _Bars(part)
            case Table():
                if plain:
                    yield Text("\n".join(_sentences(part, lang)), overflow="fold")
                else:
                    yield _grid(part, lang)


class _Bars:
    """A bar picture as wide as the console has room for."""

    def __init__(self, bars: Bars) -> None:
        self.rows = bars.rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Text]:
        """One line for each row: label, number, bar."""
        high = max(bar.value for bar in self.rows)
        digits = len(str(high))
        before = [Text(f"{bar.label}  {bar.value:{digits}}  ") for bar in self.rows]
        after = [Text(f"  {bar.note}" if bar.note else "", "dim") for bar in self.rows]
        # One scale for all of them, and a note where the longest bar ends is still on its line.
        taken = max(a.cell_len for a in before) + max(a.cell_len for a in after)
        room = min(_WIDEST, options.max_width - taken)
        for bar, name, note in zip(self.rows, before, after, strict=True):
            yield name.append(_FILL * _length(bar, high, room), "cyan").append_text(note)


def _length(bar: Bar, high: int, room: int) -> int:
    """In columns. What is there at all can be seen."""
    return max(1, room * bar.value // high) if bar.value else 0


def _said(bars: Bars, lang: Lang) -> Iterable[str]:
    for bar in bars.rows:
        yield f"{bar.label}{colon(lang)}{bar.value}" + (f"  {bar.note}" if bar.note else "")


def _grid(table: Table, lang: Lang) -> RenderableType:
    """Three lines for each row: how many answers, how many of them right, what is remembered."""
    right, remembered = (f"  {say(f'stats.{each}', lang)}" for each in ("right", "remembered"))
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    for _ in table.columns:
        grid.add_column(justify="right", overflow="fold")
    grid.add_row(
        Text(say("stats.answered", lang), "dim"), *(Text(each, "dim") for each in table.columns)
    )
    for name, cells in table.rows:
        label = Text.assemble((name, "bold"), (f"\n{right}\n{remembered}", "dim"))
        grid.add_row(label, *("\n".join(_numbers(cell)) for cell in cells))
    return grid


def _numbers(cell: Tally | None) -> Sequence[str]:
    if cell is None or not (cell.met or cell.answered):
        return (".", "", "")
    return (
        str(cell.answered),
        share(cell.right, cell.answered),
        share(cell.remembered, cell.met),
    )


def _sentences(table: Table, lang: Lang) -> Iterable[str]:
    comma, mark = ("，" if lang == "zh" else ", "), colon(lang)
    for name, cells in table.rows:
        for column, cell in zip(table.columns, cells, strict=True):
            answered, right, remembered = _numbers(cell)
            if right:
                numbers = say(
                    "stats.cell", lang, answered=answered, right=right, remembered=remembered
                )
                yield f"{name}{comma}{column}{mark}{numbers}"
