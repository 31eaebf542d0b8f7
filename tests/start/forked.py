"""Programs that need torch, in forks of the process of tests, which imports it once for all.

A fork is a child like any other, and its own parent knows no difference. What an import of torch
itself does (how it is ended, what it lacks, what it costs) is tested with interpreters of its own.
"""

import atexit
import ctypes
import faulthandler
import gc
import json
import logging
import os
import signal
import subprocess
import sys
import types
import warnings
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from server import become

MARKS = ("PROBE", "QUIZKIT_TEST_FAMILY")
"""Names of the environment by which tests know the processes that they have started."""


def Popen(command: Sequence[object], **more: Any) -> "subprocess.Popen[Any]":  # noqa: N802
    """As `subprocess.Popen`; that itself for other programs, and where there is a GPU.

    torchrun in a fork does not come to its end.
    """
    python, *words = map(str, command)
    plain = python != sys.executable or words[0] == "-S" or words[1:2] == ["torch.distributed.run"]
    if plain or Path("/dev/nvidiactl").exists():
        return subprocess.Popen([python, *words], **more)
    places = _ready()
    env = {**(os.environ if (given := more.get("env")) is None else given)}
    return subprocess.Popen([python, *words], preexec_fn=partial(_live, words, env, places), **more)


def benches() -> None:
    """From now on each `Bench` of this process starts as such a fork."""
    from quizkit.lab import bench

    _ready()
    made = types.SimpleNamespace(Popen=Popen, PIPE=subprocess.PIPE)
    setattr(bench, "subprocess", made)  # noqa: B010


@cache
def _ready() -> list[str]:
    """Imports torch, as a bench does; gives where an interpreter that starts looks for modules."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = {**os.environ}
        os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a second thread would make forks unsafe
        import torch.distributed  # noqa: F401

        os.environ.clear()
        os.environ.update(before)
    ask = [sys.executable, "-P", "-c", "import json, sys; print(json.dumps(sys.path))"]
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.run(ask, env=bare, capture_output=True, check=True).stdout
    return json.loads(said)


def _live(words: list[str], env: Mapping[str, str], places: list[str]) -> None:
    """In the fork, whose streams, folder and session are those of the program."""
    try:
        os.environ.clear()
        _mark({name: env[name] for name in MARKS if name in env})
        gc.freeze()  # collections need not touch, and so copy, what the tests have made
        gc.enable()
        atexit._clear()
        faulthandler.disable()  # its file is closed now
        for number in signal.valid_signals() - {signal.SIGINT, signal.SIGKILL, signal.SIGSTOP}:
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        os.closerange(3, 4096)  # the last that tells whoever started this that it has begun
        logging.getLogger().handlers.clear()
        warnings.resetwarnings()
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        for name in [name for name in sys.modules if name.split(".")[0] in ("_bench", "quizkit")]:
            del sys.modules[name]
        told = env.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:] = ["", *filter(None, told), *places]
        sys.argv[:] = [""]
        become(words[1:] if words[0] == "-P" else words, {**env}, str(Path.cwd()))
    except KeyboardInterrupt:
        os._exit(130)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        sys.stderr.flush()
        os._exit(1)


def _mark(marks: Mapping[str, str]) -> None:
    """Have /proc show these where it shows what the process of tests was started with."""
    stat = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    start, end = int(stat[47]), int(stat[48])
    text = b"".join(f"{name}={value}\0".encode() for name, value in marks.items())
    assert len(text) <= end - start
    ctypes.memmove(start, text, len(text))
