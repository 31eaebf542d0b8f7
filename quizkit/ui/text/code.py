"""Python source on the screen: keywords, words and comments told apart, in three quiet styles."""

import io
import keyword
import tokenize
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_STYLES = {tokenize.STRING: "green", tokenize.COMMENT: "dim italic"}
_DEEPER = 4  # columns


def highlighted(source: str) -> Text:
    """Return the source with styles; what does not read as Python stays as it is."""
    text = Text(source, overflow="fold")
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            style = _STYLES.get(token.type, "")
            if token.type == tokenize.NAME and keyword.iskeyword(token.string):
                style = "bold"
            if style:
                begin = starts[token.start[0] - 1] + token.start[1]
                text.stylize(style, begin, starts[token.end[0] - 1] + token.end[1])
    except (tokenize.TokenError, IndentationError, IndexError):
        # Half a program is often all a question needs to show.
        return text
    return text


class _Line:
    """A line of code; what does not fit goes on deeper, so that it reads as no line of its own."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Measure the text by itself."""
        return Measurement.get(console, options, self._text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Give the line, or as many as it takes."""
        width, plain = options.max_width, self._text.plain
        inside = len(plain) - len(plain.lstrip())
        if self._text.cell_len <= width or width <= inside + 2 * _DEEPER:
            yield self._text
            return
        rows = self._text[inside:].wrap(console, width - inside - _DEEPER, overflow="fold")
        for number, row in enumerate(rows):
            row.rstrip()
            yield Text(" " * (inside + (_DEEPER if number else 0))).append_text(row)


def listing(
    lines: Sequence[str],
    marks: Mapping[int, tuple[str, str]] | None = None,
    plain: bool = False,
) -> RenderableType:
    """Draw lines with their numbers, counted from 1; `marks` is number -> (sign, style)."""
    marks = marks or {}
    if plain:
        # One line of code is one line of text, however wide: a reader or a log knows no columns.
        width = len(str(len(lines)))
        return Text(
            "\n".join(
                f"{number:>{width}} {marks.get(number, (' ', ''))[0]} {line}"
                for number, line in enumerate(lines, start=1)
            ),
            overflow="fold",
        )
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    code = highlighted("\n".join(lines)).split("\n", allow_blank=True)
    for number, line in enumerate(code[: len(lines)], start=1):
        sign, style = marks.get(number, (" ", ""))
        grid.add_row(Text(str(number), style or "dim"), Text(sign, style), _Line(line))
    return grid
