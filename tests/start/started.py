"""`quizkit` as a process, for the hundreds of tests that would each import all of it again.

What depends on how an interpreter starts (its encoding, what is loaded when) is tested with
processes of its own.
"""

import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from select import select
from typing import Self

SERVER = Path(__file__).with_name("server.py")


torch = False
"""Whether commands and their benches need not import it; a fixture says so for real runs."""


@cache
def _server(*more: str) -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, str(SERVER), str(theirs.fileno()), *more]
    # Not with the environment of the test that happens to be the first.
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "ROOM": " " * 200}
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=env)
    theirs.close()
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


class Process:
    """A command in a fork, in the streams that it was given; what they are else is the caller's."""

    def __init__(
        self, words: Sequence[object], env: Mapping[str, str], streams: list[int], folder: Path
    ) -> None:
        asked = {"words": [*map(str, words)], "env": {**env}, "folder": str(folder)}
        read, write = os.pipe()
        server = _server(*["torch"][:torch])
        socket.send_fds(server, [json.dumps(asked).encode()], [*streams, write])
        os.close(write)
        self._told = os.fdopen(read)
        self.pid = int(self._told.readline())
        self._code: int | None = None

    def wait(self) -> int:
        """Its exit status, as `subprocess` counts: below 0 for the signal that ended it."""
        if self._code is None:
            with self._told:
                self._code = int(self._told.read())
        return self._code

    def signal(self, number: int) -> None:
        """Send it one, unless it has ended: its number may be another's then."""
        if self._code is None and not select([self._told], [], [], 0)[0]:
            os.kill(self.pid, number)


class Told(Process):
    """`python` with nothing to read; what it writes can be read while it runs."""

    def __init__(self, *words: object, env: Mapping[str, str]) -> None:
        read, write = os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        super().__init__(words, env, [nothing, write, write], Path.cwd())
        os.close(nothing)
        os.close(write)
        self.said = os.fdopen(read, encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.said.close()
        self.wait()


class Talk(Process):
    """`python` between two pipes; what it says on its third stream is read at the end."""

    def __init__(self, *words: object, env: Mapping[str, str]) -> None:
        stdin, write = os.pipe()
        read, stdout = os.pipe()
        self._stderr = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        streams = [stdin, stdout, self._stderr.fileno()]
        super().__init__(words, env, streams, Path.cwd())
        os.close(stdin)
        os.close(stdout)
        self._to, self._from = os.fdopen(write, "w", encoding="utf-8"), os.fdopen(read)

    def read(self) -> str:
        """The next line."""
        return self._from.readline()

    def say(self, line: str) -> None:
        """Write one."""
        self._to.write(f"{line}\n")
        self._to.flush()

    def end(self) -> tuple[int, str, str]:
        """Close its input and wait: the exit status, the rest of what it said, its errors."""
        with self._to, self._from, self._stderr as errors:
            self._to.close()
            rest, code = self._from.read(), self.wait()
            errors.seek(0)
            return code, rest, errors.read()


def python(
    words: Sequence[object], env: Mapping[str, str], given: str = "", folder: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """What `python` does with these words, and with files for its three streams."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as stdin,
        tempfile.TemporaryFile("w+", encoding="utf-8") as stdout,
        tempfile.TemporaryFile("w+", encoding="utf-8") as stderr,
    ):
        stdin.write(given)
        for each in (stdin, stdout, stderr):
            each.seek(0)
        streams = [each.fileno() for each in (stdin, stdout, stderr)]
        code = Process(words, env, streams, folder or Path.cwd()).wait()
        for each in (stdout, stderr):
            each.seek(0)
        return subprocess.CompletedProcess([*map(str, words)], code, stdout.read(), stderr.read())


def quizkit(
    *words: object, env: Mapping[str, str], given: str = "", cwd: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """What `python -m quizkit` does with these words."""
    return python(["-m", "quizkit", *words], env, given, cwd)
