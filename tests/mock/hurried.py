"""A clock that a test puts forward: what a minute does is seen at once, however long it takes."""

from pathlib import Path

HURRIED = """\
import os, time
real = time.monotonic
time.monotonic = lambda: real() + os.path.getsize({file!r})
{run}
"""


class Hurried:
    """Seconds that a command has had beside those that went by: a byte of a file for each."""

    def __init__(self, folder: Path, run: str) -> None:
        self._file = folder / "seconds"
        self._file.touch()
        self.run = HURRIED.format(file=str(self._file), run=run)

    def forward(self, seconds: int) -> None:
        """So much later it is now, for the command."""
        with self._file.open("ab") as file:
            file.write(b"." * seconds)
