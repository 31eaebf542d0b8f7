"""Text typed by hand, with everything a typing hand expects, and nothing typed ever lost.

The editor is prompt_toolkit, loaded when the first text has to be typed: it is the one that edits
Chinese right. A chord that is a command ends the typing with the text in hand, to be given back as
`draft`. The clock stands in the prompt itself, as a toolbar is hidden by some terminals.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from quizkit.tutor.desk import Interrupted

if TYPE_CHECKING:
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent

Prompt = Callable[[], str | list[tuple[str, str]]]
"""Says what stands before the text: plain, or as pieces, each with the editor's name of a style."""

_REFRESH = 0.25
_REDRAW = "redraw"
_INTERRUPT = "interrupt"


@dataclass(frozen=True, slots=True)
class Typed:
    """A text as it was typed, and how it ended: handed in, by a command, or by the clock."""

    text: str
    command: str | None = None
    late: bool = False
    cursor: int = 0


def type_text(
    prompt: Prompt,
    *,
    draft: str = "",
    multiline: bool = False,
    commands: Mapping[str, str],
    deadline: float | None = None,
    redraw: Callable[[], None] | None = None,
    cursor: int | None = None,
    rows: Callable[[], int] | None = None,
) -> Typed:
    """Let the learner type, from `draft` on. `prompt` is asked again while a `deadline` runs.

    `commands` is chord (`c-t`) to name; Ctrl-D on an empty line is the command `quit`. Several
    lines end with Alt-Enter (or Esc Enter), or with Enter on an empty last line. `deadline` is a
    moment of `time.monotonic`; what was typed by then is handed in. `redraw` paints what stands
    above the prompt, after Ctrl-L, a resize, or a pause by Ctrl-Z. `rows` are the lines there are
    to write on: a longer text scrolls within them, and what is above stays. Raises Interrupted.
    """
    from quizkit.ui.terminal.keys import Keyboard

    typed = Typed(draft, cursor=len(draft) if cursor is None else cursor)
    size = os.get_terminal_size()
    # The editor takes a moment to load, in which what is typed must not land on the screen.
    with Keyboard(), _Interrupts() as interrupts:
        while True:
            drawn_for = size if redraw else None
            typed = _type(prompt, typed, multiline, commands, deadline, drawn_for, interrupts, rows)
            if typed.command == _INTERRUPT or interrupts.came:
                raise Interrupted(typed.text)
            if typed.command == "suspend":
                os.kill(0, signal.SIGTSTP)
            elif typed.command != _REDRAW:
                return typed
            size = os.get_terminal_size()
            if redraw:
                redraw()


class _Interrupts:
    """An interrupt from outside the editor, which has Ctrl-C as a key once it has the terminal.

    It is kept until the editor stands: raised while the editor loads or sets itself up, it would be
    lost now and then, or come out as a traceback of somebody else's.
    """

    def __init__(self) -> None:
        self.came = False
        self._told: Callable[[], object] | None = None

    def __enter__(self) -> "_Interrupts":
        self._before = signal.signal(signal.SIGINT, self._come)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def tell(self, told: Callable[[], object] | None) -> None:
        """From now on call `told` when one comes, and at once if one has come."""
        self._told = told
        if self.came and told:
            told()

    def _come(self, *_: object) -> None:
        self.came = True
        if self._told:
            self._told()


def _type(
    prompt: Prompt,
    typed: Typed,
    multiline: bool,
    commands: Mapping[str, str],
    deadline: float | None,
    drawn_for: os.terminal_size | None,
    interrupts: _Interrupts,
    rows: Callable[[], int] | None,
) -> Typed:
    """Type until something ends it, if only that the screen was drawn for another size."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.application import get_app
    from prompt_toolkit.formatted_text import FormattedText
    from prompt_toolkit.output.vt100 import Vt100_Output

    from quizkit.ui.terminal.rows import by_rows
    from quizkit.ui.terminal.wordwrap import WordWrap

    def shown() -> FormattedText:
        said = prompt()
        return FormattedText([("", said)] if isinstance(said, str) else said)

    wrap = WordWrap(lambda: cell_len("".join(text for _, text, *_ in shown()).split("\n")[-1]))
    session: PromptSession[Typed | str] = PromptSession(
        multiline=multiline,
        key_bindings=_bindings(multiline, commands),
        input_processors=[wrap] if multiline else [],
        refresh_interval=_REFRESH if deadline is not None else 0,
        # Asking where the cursor is has no use here, and a late answer would look like a key.
        output=Vt100_Output(
            sys.stdout, lambda: _size(rows), os.environ.get("TERM"), enable_cpr=False
        ),
    )
    if multiline:
        by_rows(session.layout)

    async def watch() -> None:
        app = get_app()
        while True:
            left = _REFRESH if deadline is None else min(_REFRESH, deadline - time.monotonic())
            await asyncio.sleep(max(0.0, left))
            if app.future is None or app.future.done():
                return
            buffer = app.current_buffer
            if deadline is not None and time.monotonic() >= deadline:
                app.exit(result=Typed(buffer.text, None, True))
            elif drawn_for and os.get_terminal_size() != drawn_for:
                app.exit(result=Typed(buffer.text, _REDRAW, False, buffer.cursor_position))

    def begin() -> None:
        app = get_app()
        app.current_buffer.cursor_position = typed.cursor
        if drawn_for or deadline is not None:
            app.create_background_task(watch())
        loop = asyncio.get_running_loop()

        def leave() -> None:
            if not app.is_done:
                app.exit(result=Typed(app.current_buffer.text, _INTERRUPT))

        interrupts.tell(lambda: loop.is_closed() or loop.call_soon_threadsafe(leave))

    try:
        result = session.prompt(shown, default=typed.text, pre_run=begin, handle_sigint=False)
    except EOFError:
        return Typed("", "quit")
    finally:
        interrupts.tell(None)
    return result if isinstance(result, Typed) else Typed(result)


def _bindings(multiline: bool, commands: Mapping[str, str]) -> "KeyBindings":
    from prompt_toolkit.key_binding import KeyBindings

    bindings = KeyBindings()

    def bind(chord: str, command: str) -> None:
        def leave(event: "KeyPressEvent") -> None:
            buffer = event.current_buffer
            event.app.exit(result=Typed(buffer.text, command, False, buffer.cursor_position))

        # At once: Ctrl-X and Ctrl-] begin longer chords of the editor's own.
        bindings.add(*chord.split(), eager=chord.startswith("c-"))(leave)

    for chord, command in commands.items():
        bind(chord, command)
    bind("c-l", _REDRAW)
    bind("c-z", "suspend")
    bind("c-c", _INTERRUPT)

    def enter(event: "KeyPressEvent") -> None:
        buffer = event.current_buffer
        document = buffer.document
        if document.is_cursor_at_the_end and not document.current_line.strip():
            event.app.exit(result=Typed(buffer.text.rstrip()))
        else:
            buffer.newline(copy_margin=False)

    def hand_in(event: "KeyPressEvent") -> None:
        event.app.exit(result=Typed(event.current_buffer.text.rstrip()))

    if multiline:
        bindings.add("enter")(enter)
        bindings.add("escape", "enter")(hand_in)
    return bindings


def _size(rows: Callable[[], int] | None) -> "Size":
    from prompt_toolkit.data_structures import Size

    columns, lines = os.get_terminal_size()
    lines = lines or 24
    return Size(rows=max(1, min(lines, rows())) if rows else lines, columns=columns or 80)


def typed_ahead() -> str:
    """Take from the editor what it has read beyond the end of a text, and return it."""
    if "prompt_toolkit" not in sys.modules:
        return ""
    from prompt_toolkit.application import get_app_session
    from prompt_toolkit.input.typeahead import get_typeahead

    return "".join(press.data for press in get_typeahead(get_app_session().input))
