"""The warm bench: torch imported once, one run after another, over two pipes."""

import json
import os
import re
import select
import signal
import threading
import traceback
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from . import backend, early, interrupt, load, report, start, stop

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
FIELDS = {
    "id": (str, None),
    "demo": (str, None),
    "ranks": (int, 4),
    "args": (dict, {}),
    "break": (str | None, None),
    "device": (str, "auto"),
    "deadline": (int | float, 60.0),
}
NEEDED = ("id", "demo")


def main() -> NoReturn:
    """Serve until standard input closes."""
    replies = os.dup(1)
    os.dup2(2, 1)  # whatever is printed from here on is not part of the protocol
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever drives us
    signal.signal(signal.SIGTERM, interrupt.interrupted)
    interrupt.adopt_strays()
    early.quiet_import()
    bench = Bench(replies)
    try:
        with gone_with(os.getppid()):
            version = early.torch_version()
        bench.reply({"ready": {"torch": version}})
        bench.serve()
    except early.MissingError as error:
        bench.reply({"error": {"kind": "environment", "message": str(error)}})
        os._exit(3)
    except BrokenPipeError:  # nobody is there to hear
        interrupt.end_all()
    os._exit(0)


@contextmanager
def gone_with(driver: int) -> Iterator[None]:
    """End at once if our driver dies: importing torch takes seconds, and hears of nothing.

    The thread that watches is gone afterwards, because ranks are forked from a single one.
    """
    stay, stop_watching = os.pipe()

    def watch() -> None:
        looking = select.poll()
        looking.register(stay, select.POLLIN)
        while not looking.poll(100):  # milliseconds
            if os.getppid() != driver:
                os._exit(1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        os.close(stop_watching)
        watcher.join()
        os.close(stay)


def folders() -> list[Path]:
    """Where demos are looked for: what was put on the path for us."""
    named = [Path(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    return [*named, Path(__file__).parent.parent]


def find(name: str) -> Path:
    """The file of a demo, by its name in the catalogue."""
    if not NAME.fullmatch(name):
        raise load.DemoError(f"{name!r} is not the name of a demo")
    file = name.replace("-", "_") + ".py"
    for folder in folders():
        if (folder / file).is_file():
            return (folder / file).resolve()
    raise load.DemoError(f"there is no demo {name!r}")


def setting(request: dict[str, Any]) -> start.Setting:
    """A request, looked at field by field."""
    if odd := sorted(request.keys() - FIELDS.keys()):
        raise load.DemoError(f"a request has no field {', '.join(odd)}")
    if absent := [name for name in NEEDED if name not in request]:
        raise load.DemoError(f"the request lacks {', '.join(absent)}")
    values = {name: request.get(name, default) for name, (_, default) in FIELDS.items()}
    for name, (kind, _) in FIELDS.items():
        if not isinstance(values[name], kind) or isinstance(values[name], bool):
            raise load.DemoError(f"{name} cannot be {values[name]!r}")
    if not 0 < values["deadline"] <= stop.LONGEST:
        raise load.DemoError(f"the deadline is more than 0 and at most {stop.LONGEST:g} seconds")
    if values["device"] not in backend.DEVICES:
        raise load.DemoError(f"there is no device {values['device']!r}")
    return start.Setting(
        path=find(values["demo"]),
        ranks=values["ranks"],
        args=values["args"],
        broken=values["break"],
        device=values["device"],
        deadline=float(values["deadline"]),
    )


class Bench:
    """Requests in, replies out, one run at a time."""

    def __init__(self, replies: int):
        self._replies = replies
        self._text = b""
        self._waiting: deque[dict[str, Any]] = deque()
        self._cancelled: set[str] = set()
        self._closed = False
        self._running: str | None = None

    def reply(self, message: dict[str, Any]) -> None:
        """One line, whole."""
        view = memoryview(json.dumps(message, allow_nan=False).encode() + b"\n")
        while view:
            view = view[os.write(self._replies, view) :]

    def serve(self) -> None:
        """Answer requests in order until the pipe closes."""
        while not self._closed:
            if self._waiting:
                self.answer(self._waiting.popleft())
            else:
                self.listen()

    def listen(self) -> bool:
        """Take what has been asked; True if the run under way is to stop."""
        piece = os.read(0, 1 << 16)
        if not piece:
            self._closed = True
            return True
        *lines, self._text = (self._text + piece).split(b"\n")
        for line in filter(None, lines):
            self.take(line)
        return self._running in self._cancelled

    def take(self, line: bytes) -> None:
        """One request: noted, or, if it calls another off, acted on."""
        try:
            request = json.loads(line)
        except ValueError:
            request = None
        if not isinstance(request, dict):
            self.reply({"error": {"kind": "usage", "message": "a request is one JSON object"}})
        elif "cancel" in request:
            called = str(request["cancel"])
            if called == self._running or called in [each.get("id") for each in self._waiting]:
                self._cancelled.add(called)
        else:
            self._waiting.append(request)

    def answer(self, request: dict[str, Any]) -> None:
        """One request."""
        name = request.get("id")
        try:
            if "warm" in request:
                load.import_all(dict.fromkeys(request["warm"], ()))
                return
            self._running = name
            reply = {"id": name, "report": self.ran(request)}
        except load.DemoError as error:
            reply = {"id": name, "error": {"kind": "usage", "message": str(error)}}
        except early.MissingError as error:
            reply = {"id": name, "error": {"kind": "environment", "message": str(error)}}
        except Exception:
            reply = {"id": name, "error": {"kind": "internal", "message": traceback.format_exc()}}
        self._running = None
        self._cancelled.discard(str(name))
        if not self._closed:
            self.reply(reply)

    def ran(self, request: dict[str, Any]) -> report.Report:
        """The report of a run."""
        plan = start.Plan(setting(request), start.method())
        if request["id"] in self._cancelled:
            return report.killed(plan.blank())
        return start.run(plan, {0: self.listen}, (self._replies,))
