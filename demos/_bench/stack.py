"""Where a rank stood: faulthandler's dumps, read and shown like a traceback."""

import linecache
import re
import sys
from pathlib import Path
from typing import NamedTuple

BENCH = str(Path(__file__).parent)
FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$')
WAITS = re.compile(
    r"[/\\]torch[/\\]distributed[/\\]|[/\\]torch[/\\]autograd[/\\]graph\.py$"
    r"|[/\\]_bench[/\\](messages|clock)\.py$"
)


class Frame(NamedTuple):
    """One call."""

    file: str
    line: int
    function: str

    @property
    def code(self) -> str:
        """The line of source, as it ran."""
        return linecache.getline(self.file, self.line).strip()


def frames(dump: str) -> list[Frame]:
    """The main thread's calls in a dump, outermost first, from main() on.

    A dump after a fatal signal holds every thread; the bench's own watcher is not of interest,
    and the thread that died may be one without Python frames.
    """
    best: list[Frame] = []
    for thread in re.split(r"\n\s*\n", dump):
        found = [
            Frame(match["file"], int(match["line"]), match["function"])
            for line in thread.splitlines()
            if (match := FRAME.match(line))
        ]
        if any(frame.file == f"{BENCH}/body.py" and frame.function == "watch" for frame in found):
            continue
        if len(found) > len(best):
            best = found
    return from_main(best[::-1])


def of_thread(thread: int) -> list[Frame]:
    """The same for a thread of this process."""
    frame = sys._current_frames().get(thread)
    calls: list[Frame] = []
    while frame:
        calls.append(Frame(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return from_main(calls[::-1])


def from_main(calls: list[Frame]) -> list[Frame]:
    """Calls, outermost first, without those of the bench that led to main()."""
    last = max((n for n, call in enumerate(calls) if call.file == f"{BENCH}/body.py"), default=-1)
    return calls[last + 1 :] or calls


def shown(calls: list[Frame]) -> str:
    """The calls, as Python prints them in a traceback."""
    lines: list[str] = []
    for frame in calls:
        lines.append(f'  File "{frame.file}", line {frame.line}, in {frame.function}')
        if frame.code:
            lines.append(f"    {frame.code}")
    return "\n".join(lines)


def waits(calls: list[Frame]) -> bool:
    """Whether a rank that stands here waits for other ranks, as far as its last call tells."""
    if not calls:
        return False
    return bool(WAITS.search(calls[-1].file)) or ".wait(" in calls[-1].code
