"""Probe demos, run the way a user and the tool run demos: as programs and through the bench."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import forked
import pytest

DEMOS = Path(__file__).parents[2] / "demos"

FAULTS = '''
"""Things that go wrong on rank 1."""

import ctypes
import os
import signal
import time

from _bench import Break, Metrics, all_reduce, barrier, check, counted
from _bench import rank, ranks, recv, refuse, run, send
import torch


def wrong_turn():
    raise ValueError("chunk 7 is missing")


def main(kind: str = "none") -> Metrics:
    if kind == "refuse":
        refuse(f"{ranks()} ranks cannot share 5 chunks: take 1 or 5")
    if rank() == 1:
        if kind in ("raise", "raise while another works"):
            wrong_turn()
        if kind == "exit":
            os._exit(7)
        if kind == "segv":
            ctypes.string_at(0)
        if kind in ("kill", "kill while another works"):
            os.kill(os.getpid(), signal.SIGKILL)
        if kind == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        if kind == "sleep":
            time.sleep(600)
        if kind == "early":
            return {}
        if kind == "large":
            send(torch.ones(1000), 0)
    elif kind.endswith("while another works"):
        time.sleep(600)
    elif rank() == 0 and kind == "large":
        recv(torch.ones(10), 1)
    if kind == "ring":
        send(torch.ones(4), (rank() + 1) % ranks())
    barrier()
    check("sum of ones", all_reduce(torch.ones(1)), "==", ranks())
    return {"number": counted(rank())}


BREAKS = {
    "another": Break(old='"chunk 7 is missing"', new='"chunk 8"', expect="crashes: ValueError"),
}

if __name__ == "__main__":
    run(__file__)
'''


def left_behind(marker: str, patience: float = 5.0) -> dict[int, str]:
    """Processes that carry the marker, once those that are going have gone."""
    until = time.monotonic() + patience
    while True:
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or folder.name == str(os.getpid()):
                continue
            try:
                if marker.encode() in (folder / "environ").read_bytes():
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(folder.name)] = line.decode()
            except OSError:
                continue
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.02)


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Programs:
    """A folder of probe demos, and how to run them as programs."""

    def __init__(self, folder: Path):
        self.folder = folder
        # `subprocess.Popen`, where more is tested than what comes after torch has been imported.
        self.popen: Callable[..., subprocess.Popen[Any]] = forked.Popen
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        self.marker = f"probe-{uuid.uuid4().hex}"
        self.environment = os.environ | {
            "PYTHONPATH": f"{folder}{os.pathsep}{DEMOS}",
            "TMPDIR": str(self.scratch),
            "PROBE": self.marker,
        }
        for name in ("QUIZKIT_START", "PYTHONUNBUFFERED"):
            self.environment.pop(name, None)

    def write(self, name: str, text: str) -> Path:
        """Put a probe demo into the folder."""
        path = self.folder / f"{name}.py"
        path.write_text(text.lstrip(), encoding="utf-8")
        return path

    def start(self, *command: object, **extra: str) -> "subprocess.Popen[str]":
        """Start a program with pipes."""
        return self.popen(
            [str(each) for each in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment | extra,
            cwd=self.folder,
            start_new_session=True,
        )

    def run(self, *command: object, **extra: str) -> "subprocess.CompletedProcess[str]":
        """Run a program to its end."""
        with self.start(*command, **extra) as process:
            out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def demo(self, path: Path, *options: object, **extra: str):
        """Run a demo as a program and give its exit code, its report and what it said."""
        done = self.run(sys.executable, path, "--json", *options, **extra)
        return done.returncode, json.loads(done.stdout), done.stderr

    def nothing_left(self) -> bool:
        """No process, no file; torch and torchrun keep folders of their own."""
        left = left_behind(self.marker)
        for pid in left:
            os.kill(pid, signal.SIGKILL)  # so that a test that fails does not leave them either
        assert left == {}
        assert [f for f in self.scratch.iterdir() if not f.name.startswith("torch")] == []
        return True


class Warm:
    """A served bench, driven over its pipes."""

    def __init__(self, programs: Programs, **extra: str):
        self.programs = programs
        self.process = programs.popen(
            [sys.executable, "-P", "-m", "_bench"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=programs.environment | extra,
            cwd="/",
        )
        self.count = 0
        self._text = b""

    def send(self, request: dict) -> None:
        """One line to it."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self, patience: float = 60.0) -> dict:
        """One line from it."""
        assert self.process.stdout
        while b"\n" not in self._text:
            ready, _, _ = select.select([self.process.stdout], [], [], patience)
            assert ready, "the bench did not answer"
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            assert piece, "the bench is gone"
            self._text += piece
        line, _, self._text = self._text.partition(b"\n")
        return json.loads(line)

    def said(self, words: bytes, patience: float = 30.0) -> bytes:
        """Wait until its standard error holds these words."""
        assert self.process.stderr
        text, until = b"", time.monotonic() + patience
        while words not in text:
            assert select.select([self.process.stderr], [], [], until - time.monotonic())[0], text
            text += os.read(self.process.stderr.fileno(), 1 << 16)
        return text

    def run(self, demo: str, ranks: int = 3, **more: object) -> dict:
        """One run's report."""
        self.count += 1
        self.send({"id": str(self.count), "demo": demo, "ranks": ranks, **more})
        reply = self.receive()
        assert reply["id"] == str(self.count)
        return reply.get("report", reply)

    def descriptors(self) -> list[str]:
        """What it has open."""
        folder = Path(f"/proc/{self.process.pid}/fd")
        return sorted(str(each.readlink()).split(":")[0] for each in folder.iterdir())

    def close(self) -> int:
        """End its input, wait for it."""
        self.process.communicate(timeout=30)
        return self.process.returncode


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    """A folder for this test's probe demos; nothing may be left of their runs."""
    made = Programs(tmp_path)
    yield made
    made.nothing_left()


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """One warm bench for the tests of a file, with the faulty probe in its folder."""
    programs = Programs(tmp_path_factory.mktemp("warm"))
    programs.write("faults", FAULTS)
    bench = Warm(programs)
    assert "ready" in bench.receive()
    yield bench
    assert bench.close() == 0
    programs.nothing_left()
