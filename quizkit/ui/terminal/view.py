"""The part of a page that a screen shows: all of it, or as many lines as there is room for."""

from collections.abc import Sequence

from rich.console import RenderableType

from quizkit.ui.screens.parts import anchors, more
from quizkit.ui.terminal.screen import Line, Screen
from quizkit.words import Lang

_LOW = 20  # lines of a screen: with fewer, none is left blank below the page
_LEAST = 1  # lines of a page, however much stands below it


class View:
    """A page on a screen, from its line `top` on. What stands below it is always seen."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.top = 0
        self.is_long = False
        self._page: object = None
        self._lang: Lang | None = None
        # The anchor under which the first line shown stands.
        self._within = ""
        self._room = self._count = 0
        # Lines below all that is shown: what a hand that types has to itself.
        self.free = 0

    def open(self, page: object) -> None:
        """Turn to a page; another than before begins at its top."""
        if page != self._page:
            self._page, self.top = page, 0

    def paint(
        self,
        body: Sequence[RenderableType],
        foot: Sequence[RenderableType],
        lang: Lang,
        *,
        prompt: str = "",
        typing: int = 0,
        show: str = "",
        keep: str = "",
        head: Sequence[RenderableType] = (),
    ) -> None:
        """Show the page, above it `head` and below it `foot`, with the cursor after `prompt`.

        `typing` is how many lines are left free for the hand, up to a third of the screen. `show`
        is the anchor to begin at, `keep` the anchor that has to be in sight, each if there is one
        of that name.
        """
        above, lines, below = (self.screen.lines(*each) for each in (head, body, foot))
        if self.screen.height < _LOW:
            below = [line for line in below if any(part.text.strip() for part in line)]
        room = (
            self.screen.height
            - len(above)
            - len(below)
            - max(1, min(typing, self.screen.height // 3))
        )
        self._count = len(lines)
        self.is_long = self._count > room
        if not self.is_long:
            self.top = 0
            self._put([*above, *lines, *below], prompt)
            return
        # A line says how much there is above and below.
        self._room = max(_LEAST, room - 1)
        marked = [anchors(line) for line in lines]
        if lang != self._lang and not show:  # in another language it takes other lines
            show = self._within
        self._lang = lang
        if at := _first(marked, show):
            self.top = at
        if at := _first(marked, keep):
            self.top = min(max(self.top, at + 1 - self._room), at)
        self._clamp()
        self._within = next((n for names in marked[self.top :: -1] for n in names), "")
        shown = lines[self.top : self.top + self._room]
        said = more(self.top, self._count - self.top - self._room, lang)
        self._put([*above, *shown, *self.screen.lines(said), *below], prompt)

    def _put(self, lines: Sequence[Line], prompt: str) -> None:
        self.free = self.screen.height - len(lines)
        self.screen.put(lines, prompt)

    def scroll(self, command: str) -> bool:
        """Move as one of the keymap's scrolling commands says; tell whether it is one."""
        page = max(1, self._room - 1)
        places = {
            "scroll_up": self.top - 1,
            "scroll_down": self.top + 1,
            "page_up": self.top - page,
            "page_down": self.top + page,
            "scroll_top": 0,
            "scroll_end": self._count,
        }
        if command not in places:
            return False
        if self.is_long:
            self.top = places[command]
            self._clamp()
        return True

    def _clamp(self) -> None:
        self.top = max(0, min(self.top, self._count - self._room))


def _first(marked: Sequence[set[str]], name: str) -> int:
    """The line with that anchor; 0 where there is none, as for the first one."""
    return next((at for at, names in enumerate(marked) if name and name in names), 0)
