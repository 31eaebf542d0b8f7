"""Starts `quizkit` in forks of one process that has imported it, and has run nothing of it.

A request brings what stands behind `python`, the environment and the folder; the three streams of
the command; and a pipe, into which go its number at once and its exit status at the end. With a
second argument it has imported torch too, and so have the benches of the commands.
"""

import atexit
import fcntl
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
import termios
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
            os.write(told, f"{pid}\n".encode())
            process = os.pidfd_open(pid)
            running[process] = pid, told
            waiting.register(process, select.POLLIN)


def become(words: list[str], env: dict[str, str], folder: str) -> None:
    """Go on as `python` with these words: `-m` and a module, `-c` and a text, or a file.

    A terminal becomes the one that this process is controlled by.
    """
    os.environ.clear()
    os.environ.update(env)
    time.tzset()  # an interpreter of its own reads TZ when it starts
    os.chdir(folder)
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        errors = "backslashreplace" if number == 2 else "surrogateescape"
        buffering = 1 if number == 2 else -1  # -1: by lines on a terminal alone
        stream = os.fdopen(number, mode, buffering, "utf-8", errors, closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    code = 0
    try:
        match words:
            case ["-m", module, *rest]:
                sys.path[0], sys.argv[1:] = folder, rest
                runpy.run_module(module, run_name="__main__", alter_sys=True)
            case ["-c", text, *rest]:
                sys.path[0], sys.argv = folder, ["-c", *rest]
                exec(text, {"__name__": "__main__"})
            case [file, *rest]:
                sys.path[0], sys.argv = str(Path(file).parent), [file, *rest]
                runpy.run_path(file, run_name="__main__")
            case []:
                raise ValueError("what is to run?")
    except SystemExit as leaving:
        if not isinstance(leaving.code, int):
            raise
        code = leaving.code
    # Everything that was imported need not be taken apart, at half of a short command's cost.
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    here, sys.path[0] = sys.path[0], str(Path(__file__).parents[2])
    package = importlib.import_module("quizkit")
    for module in pkgutil.walk_packages(package.__path__, "quizkit."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
    # Their texts taken apart, once for all forks; one that is edited is taken apart anew.
    shelf = importlib.import_module("quizkit.lab.catalogue")
    dict(shelf.catalogue())
    shelf._catalogue.cache_clear()
    if sys.argv[2:]:
        sys.path.insert(0, here)
        importlib.import_module("forked").benches()
        importlib.import_module("torch.distributed.pipelining")  # most of those demos ask for it
        del sys.path[0]
    gc.freeze()  # a fork's collections need not touch, and so copy, all of this
    if asked := serve(socket.socket(fileno=int(sys.argv[1]))):
        signal.alarm(PATIENCE)
        become(**asked)
