"""Draw a scorecard at a terminal: bars with their marks, or plain lines."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from quizkit.mock.first_words import cut
from quizkit.mock.kept_card import KeptCard
from quizkit.ui.mock.card_page import card_page
from quizkit.ui.mock.card_parts import Bullet, CardPart, Meter, Remark, Reply, ReplyRow, Tone
from quizkit.ui.screens.parts import RIGHT, WRONG, below, rule, section
from quizkit.ui.text.inline import inline
from quizkit.ui.text.markup import prose
from quizkit.words import Lang

_STYLES: dict[Tone, str] = {
    "": "",
    "strong": "bold",
    "good": RIGHT,
    "bad": WRONG,
    "weak": "yellow",
    "dim": "dim",
}
_BAR, _LEAST = 24, 8
_FILL, _REST, _MARK = "#", ".", "|"  # one column wide in every font


def scorecard_screen(card: KeptCard, lang: Lang, plain: bool) -> RenderableType:
    """Draw the whole scorecard, from what decides to the detail."""
    first, *others = card_page(card, lang)
    head = [Text(first.title, "bold", overflow="fold"), *([] if plain else [rule()])]
    parts: list[RenderableType] = [*head, *_shown(first.parts, plain)]
    for each in others:
        parts += section(each.title, *_shown(each.parts, plain))
    return Group(*parts)


def _shown(parts: Sequence[CardPart], plain: bool) -> Iterator[RenderableType]:
    # Bars of one section have one scale and one column for their names, wherever they stand.
    meters = [each for each in parts if isinstance(each, Meter)]
    for part in parts:
        match part:
            case Remark():
                yield inline(part.text, plain, _STYLES[part.tone])
            case Bullet():
                yield _item(inline(part.text, plain, _STYLES[part.tone]))
                yield from (below(inline(each, plain, "dim")) for each in part.under)
            case Meter():
                yield _said(part) if plain else _Bar(part, meters)
            case Reply():
                yield Text("")
                yield from _reply(part, plain)


def _item(text: Text) -> RenderableType:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("-", text)
    return grid


def _said(meter: Meter) -> RenderableType:
    return Text(f"{meter.label}  {meter.told}", overflow="fold")


class _Bar:
    """A bar as wide as there is room for beside its name and what is told of it."""

    def __init__(self, meter: Meter, beside: Sequence[Meter]) -> None:
        self._meter = meter
        self._names = max(cell_len(each.label) for each in beside)
        self._told = max(cell_len(each.told) for each in beside)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Text]:
        """One line; two where the name is too long for one."""
        meter, width = self._meter, options.max_width
        room = width - self._told - 4
        names = min(self._names, max(12, room - _BAR))
        bar = min(_BAR, room - names)
        if bar < _LEAST:
            yield Text(meter.label, overflow="fold")
            names, bar = 0, min(_BAR, max(_LEAST, width - self._told - 4))
        name = cut(meter.label, names) if names else ""
        line = Text(f"{name}{' ' * (names - cell_len(name))}  ", overflow="fold")
        line.append_text(_picture(meter, bar)).append("  ")
        yield line.append(meter.told, _STYLES[meter.tone])


def _picture(meter: Meter, columns: int) -> Text:
    def place(value: float) -> int:
        return round(columns * min(1.0, value / meter.top)) if meter.top else 0

    filled = place(meter.value)
    filled = max(filled, 1 if meter.value else 0)
    signs = [*(_FILL * filled), *(_REST * (columns - filled))]
    if meter.mark is not None:
        signs[min(columns - 1, place(meter.mark))] = _MARK
    shown = Text()
    for sign, run in groupby(signs):
        style = {"#": "cyan", "|": "bold"}.get(sign, "dim")
        shown.append("".join(run), style)
    return shown


def _reply(reply: Reply, plain: bool) -> Iterator[RenderableType]:
    heading = Text.assemble((reply.heading, "bold"), overflow="fold")
    if reply.score:
        heading.append(f"  {reply.score}", _STYLES[reply.tone])
    yield heading.append("  " + "  ".join(reply.facts), "not bold dim")
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for row in reply.rows:
        style = _STYLES[row.tone] or "dim"
        grid.add_row(Text(row.label, style), _row(row, plain))
    yield Padding(grid, (0, 0, 0, 2))


def _row(row: ReplyRow, plain: bool) -> RenderableType:
    return Text(row.text, overflow="fold") if row.own else prose(row.text, plain)
