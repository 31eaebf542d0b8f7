"""A keyboard whose keys are pressed by a script."""

from collections.abc import Callable, Iterable, Iterator

from quizkit.ui.terminal.keys import Keyboard


class Pressed(Keyboard):
    """Keys pressed one after the other without waiting; then the keyboard is gone.

    `late` is time that passes. `waited` says of each key whether it was waited for without end.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._pressed: Iterator[str] = iter(keys)
        self.waited: list[bool] = []

    def __enter__(self) -> "Pressed":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, status: Callable[[], str] | None = None, deadline: float | None = None) -> str:
        self.waited.append(deadline is None)
        return next(self._pressed, "eof")

    def flush(self) -> None:
        pass
