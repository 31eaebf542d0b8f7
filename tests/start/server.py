"""Starts `quizkit` in forks of one process that has imported it, and has run nothing of it.

A request brings the words, the environment and the folder; the three streams of the command; and a
pipe, into which its exit status goes.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

PATIENCE = 120
"""Seconds, after which a command is ended by the signal of an alarm."""


def serve(requests: socket.socket) -> dict[str, Any] | None:
    """Returns in each fork, with what to run there; and with None when nobody is left to ask."""
    running: dict[int, tuple[int, int]] = {}  # a process's descriptor -> its number, its pipe
    waiting = select.poll()
    waiting.register(requests, select.POLLIN)
    while True:
        for ready, _ in waiting.poll():
            if ready in running:
                pid, told = running.pop(ready)
                waiting.unregister(ready)
                _, status = os.waitpid(pid, 0)
                os.write(told, str(os.waitstatus_to_exitcode(status)).encode())
                os.close(ready)
                os.close(told)
                continue
            text, given, _, _ = socket.recv_fds(requests, 1 << 20, 4)
            if not text:
                return None
            *streams, told = given
            pid = os.fork()
            if pid == 0:
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                requests.detach()
                os.closerange(3, 256)
                return json.loads(text)
            for stream in streams:
                os.close(stream)
            process = os.pidfd_open(pid)
            running[process] = pid, told
            waiting.register(process, select.POLLIN)


def become(words: list[str], env: dict[str, str], folder: str) -> None:
    """Go on as `python -m quizkit`."""
    signal.alarm(PATIENCE)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()  # an interpreter of its own reads TZ when it starts
    os.chdir(folder)
    sys.path[0] = folder
    sys.argv[1:] = words
    try:
        runpy.run_module("quizkit", run_name="__main__", alter_sys=True)
    except SystemExit as leaving:
        if not isinstance(leaving.code, int):
            raise
        # Everything that was imported need not be taken apart, at half of a short command's cost.
        threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(leaving.code)


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[2])
    package = importlib.import_module("quizkit")
    for module in pkgutil.walk_packages(package.__path__, "quizkit."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
    gc.freeze()  # a fork's collections need not touch, and so copy, all of this
    if asked := serve(socket.socket(fileno=int(sys.argv[1]))):
        become(**asked)
