"""A text that is longer than its window scrolls by rows: by itself the editor scrolls by lines.

A paragraph is one line and takes several rows, so with whole lines alone the window below a long
one would be empty: as if what was typed were gone.
"""

from prompt_toolkit.layout import ConditionalContainer, Layout, UIContent, Window

_Place = tuple[int, int]
"""A line, and a row within it."""


class RowWindow(Window):
    """Shows as many rows as there is room for, the cursor's among them."""

    def _scroll_when_linewrapping(self, ui_content: UIContent, width: int, height: int) -> None:
        self.horizontal_scroll = 0

        def tall(line: int, stop: int | None = None) -> int:
            prefix = self.get_line_prefix
            return ui_content.get_height_for_line(line, width, prefix, slice_stop=stop)

        def above(place: _Place, rows: int) -> _Place:
            line, row = place
            while rows > row and line > 0:
                rows -= row + 1
                line -= 1
                row = tall(line) - 1
            return line, max(0, row - rows)

        at = ui_content.cursor_position
        here = at.y, tall(at.y, at.x + 1) - 1
        end = ui_content.line_count - 1
        last = end, tall(end) - 1
        top = self.vertical_scroll, self.vertical_scroll_2
        top = min(max(top, above(here, height - 1)), here, above(last, height - 1))
        self.vertical_scroll, self.vertical_scroll_2 = top


def by_rows(layout: Layout) -> None:
    """Let the window of the text scroll by rows."""
    window = layout.current_window
    for part in layout.walk():
        if isinstance(part, ConditionalContainer) and part.content is window:
            part.content = RowWindow(
                window.content,
                height=window.height,
                get_line_prefix=window.get_line_prefix,
                wrap_lines=window.wrap_lines,
            )
            layout.focus(part.content)
            return
