"""`quizkit` as a process, for the hundreds of tests that would each import all of it again.

What depends on how an interpreter starts (its encoding, a terminal, what is loaded when) is tested
with processes of its own.
"""

import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

SERVER = Path(__file__).with_name("server.py")


@cache
def _server() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, str(SERVER), str(theirs.fileno())]
    # Not with the environment of the test that happens to be the first.
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=env)
    theirs.close()
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def quizkit(
    *words: object, env: Mapping[str, str], given: str = "", cwd: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """What `python -m quizkit` does with these words, and with files for its three streams."""
    asked = {"words": [*map(str, words)], "env": {**env}, "folder": str(cwd or Path.cwd())}
    read, write = os.pipe()
    with (
        os.fdopen(read) as status,
        tempfile.TemporaryFile("w+", encoding="utf-8") as stdin,
        tempfile.TemporaryFile("w+", encoding="utf-8") as stdout,
        tempfile.TemporaryFile("w+", encoding="utf-8") as stderr,
    ):
        stdin.write(given)
        for each in (stdin, stdout, stderr):
            each.seek(0)
        streams = [each.fileno() for each in (stdin, stdout, stderr)]
        socket.send_fds(_server(), [json.dumps(asked).encode()], [*streams, write])
        os.close(write)
        code = int(status.read())
        for each in (stdout, stderr):
            each.seek(0)
        return subprocess.CompletedProcess(asked["words"], code, stdout.read(), stderr.read())
