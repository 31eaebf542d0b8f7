"""Runs demos through one warm bench: a child that has torch imported and starts ranks on request.

The child hears one JSON line a request on its standard input and answers on its standard output;
when its input ends, for whatever reason, it stops what it runs and goes. So nothing here has to
survive: a quizkit that is killed leaves nobody behind.
"""

import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Self

from quizkit import paths
from quizkit.errors import LabError, UsageError
from quizkit.lab.report import Report, Setting

Device = Literal["auto", "cuda", "cpu"]

_PATIENCE = 180.0  # seconds beyond a run's own deadline: torch may have to be read from far away
_SOON = 10.0  # seconds to wait for the end of a run that was cancelled, or of the bench itself
_WORDS = 2000  # characters of the bench's last words that go into a message


class Cancelled(KeyboardInterrupt):
    """Ctrl-C came during a run: the run is over, the bench lives on."""

    def __init__(self, report: Report | None) -> None:
        super().__init__()
        self.report = report


def has_torch() -> bool:
    """Tell whether demos can run here, without the second that importing torch takes."""
    return find_spec("torch") is not None


class Bench:
    """One warm bench for one quizkit process; it starts when first needed, and again if it died."""

    def __init__(self, demos: Path | None = None) -> None:
        self._demos = demos or paths.DEMOS
        self._child: _Child | None = None
        self._over = False
        self._starting = threading.Lock()  # whoever runs and whoever closes may both get here
        self._numbers = itertools.count(1)
        self._current: str | None = None
        # A hint to look again (True: Ctrl-C). Its put() is safe in a signal handler.
        self._bell: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Begin warming up and return at once. Without torch there is nothing to warm up."""
        self._warm()

    def run(self, setting: Setting, deadline: float = 60.0, device: Device = "auto") -> Report:
        """Run one setting and wait for its report. Ctrl-C ends the run and raises `Cancelled`."""
        if not has_torch():
            raise LabError("torch_missing", python=sys.executable)
        number = str(next(self._numbers))
        request = {
            "id": number,
            "demo": setting.demo,
            "ranks": setting.ranks,
            "args": dict(setting.args),
            "break": setting.broken,
            "device": device,
            "deadline": deadline,
        }
        self._current = number
        try:
            with interrupts_ring(self._bell):
                child = self._warm()
                assert child is not None
                child.send(request)
                reply = self._reply(child, number, deadline + _PATIENCE)
        finally:
            self._current = None
        _complain(reply.get("error"))
        return Report.from_json(reply["report"])

    def cancel(self) -> None:
        """End the run under way, from another thread; its report says `killed`."""
        if self._child and self._current:
            self._child.send({"cancel": self._current})

    def close(self) -> None:
        """End the bench and whatever it runs; afterwards no process is left, and none starts."""
        with self._starting:
            self._over = True
        if child := self._child:
            child.stop()
            self._child = None

    def _warm(self) -> "_Child | None":
        with self._starting:
            if self._over:
                raise Cancelled(None)
            if self._child and self._child.has_died():
                self._child.stop()
                self._child = None
            if self._child is None and has_torch():
                self._child = _Child(self._demos, self._bell)
            return self._child

    def _reply(self, child: "_Child", number: str, patience: float) -> dict[str, Any]:
        """Wait for the answer to a request, turning Ctrl-C into its cancellation."""
        limit = time.monotonic() + patience
        cancelled = False
        while number not in child.replies:
            if child.gone:
                how, said = child.stop()
                self._child = None
                if cancelled:
                    raise Cancelled(None)
                _complain(child.trouble)
                if how == "SIGKILL":
                    raise LabError("bench_killed")
                raise LabError("bench_died", how=how, said=said or "-")
            try:
                interrupt = self._bell.get(timeout=max(0.0, limit - time.monotonic()))
            except queue.Empty:
                child.stop(0.0)
                self._child = None
                if cancelled:
                    raise Cancelled(None) from None
                raise LabError("bench_silent", seconds=round(patience)) from None
            if not interrupt:
                continue
            if cancelled or not child.ready:
                # A second Ctrl-C, or a bench that cannot hear yet: a new one can be had any time.
                child.stop(0.0)
                self._child = None
                raise Cancelled(None)
            cancelled, limit = True, time.monotonic() + _SOON
            child.send({"cancel": number})
        reply = child.replies.pop(number)
        if cancelled:
            report = reply.get("report")
            raise Cancelled(Report.from_json(report) if report else None)
        return reply


def _complain(problem: Mapping[str, str] | None) -> None:
    if problem:
        kind = UsageError if problem["kind"] == "usage" else LabError
        raise kind(f"bench_{problem['kind']}", message=problem["message"])


@contextmanager
def interrupts_ring(bell: "queue.SimpleQueue[bool]") -> Generator[None]:
    """While waiting, let Ctrl-C ring the bell instead of tearing through whatever goes on."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        yield
        return
    while not bell.empty():
        bell.get()  # a Ctrl-C that came too late for the run before is not meant for this one
    before = signal.signal(signal.SIGINT, lambda number, frame: bell.put(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Child:
    """The bench's process, and a thread that notes what it says."""

    def __init__(self, demos: Path, bell: "queue.SimpleQueue[bool]") -> None:
        self.ready = False
        self.gone = False
        self.replies: dict[str, dict[str, Any]] = {}
        # What it said that answers no request: why it cannot serve, or something that is no reply.
        self.trouble: dict[str, str] = {}
        self._bell = bell
        self._stopping = threading.Lock()  # whoever runs and whoever closes may both get here
        self._end: tuple[str, str] | None = None
        # A file without a name: what ranks print must not spoil the screen, but may explain a death
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115
        # The bench itself lies among the demos that ship, whosever demos are to be run.
        folders = dict.fromkeys([str(demos), str(paths.DEMOS), os.environ.get("PYTHONPATH")])
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "_bench"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._noise,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))},
            # The terminal's Ctrl-C is for quizkit, which decides what it means.
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def send(self, message: dict[str, Any]) -> None:
        """Hand over one request; whoever waits for the answer sees whether anybody is there."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError, ValueError):  # it is gone, or has just been closed
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def has_died(self) -> bool:
        """Tell whether the process has ended, even if the listener has not heard of it yet."""
        # Looking must not collect the process: until then its number is nobody else's.
        look = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return self.gone or os.waitid(os.P_PID, self._process.pid, look) is not None

    def stop(self, patience: float = _SOON) -> tuple[str, str]:
        """End the process and all it started; gives how it ended and its last words."""
        with self._stopping:
            self._end = self._end or self._stopped(patience)
            return self._end

    def _stopped(self, patience: float) -> tuple[str, str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        # Until it is ready it runs nothing, and would hear of its end only once torch is imported.
        self._listener.join(patience if self.ready else 0.0)
        # Not waited for yet, so the number of the group is still its own, even if it is gone.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        status = self._process.wait()
        self._listener.join()
        self._process.stdout.close()
        with self._noise as noise:
            noise.seek(0)
            said = noise.read().decode(errors="replace").strip()[-_WORDS:]
        how = signal.Signals(-status).name if status < 0 else f"exit code {status}"
        return how, said

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                reply = json.loads(line)
            except ValueError:
                self.trouble = {"kind": "internal", "message": f"no reply: {line[:200]!r}"}
                break
            if "ready" in reply:
                self.ready = True
            elif "id" in reply:
                self.replies[reply["id"]] = reply
            else:
                self.trouble = reply["error"]
            self._bell.put(False)
        self.gone = True
        self._bell.put(False)
