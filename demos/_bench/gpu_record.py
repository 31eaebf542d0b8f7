"""Runs every demo on this machine's GPU and keeps a record of how each ended.

    python demos/_bench/gpu_record.py --out record.json

Needs torch and this folder, nothing else: no network, no installed package of ours. Each demo
runs as `cuda, shared, staged` on 1, 2 and 4 ranks, and as `nccl × N` for as many ranks as there
are GPUs. Every run is made by ranks of its own and has a deadline; several go side by side, and
what fails there is tried once more with nothing beside it. Run it again with the same file and
it goes on where it stopped. `--device cpu` rehearses all of this without a GPU.
"""

import argparse
import json
import os
import platform
import queue
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__).resolve().parent
if __name__ == "__main__":
    sys.path[0] = str(HERE.parent)  # beside this file, `stack` or `memory` could be taken for ours

from _bench import stop  # noqa: E402
from _bench.early import INSTALL  # noqa: E402
from _bench.gpu_rows import SCHEMA, Record, Run, bad, row, said, word  # noqa: E402

RANKS = (1, 2, 4)
MORE_RANKS = (1, 2, 4, 8)  # of nccl, as far as there are GPUs
ENOUGH = 3  # runs of a state that failed while none came through: the others go first
WORDS = 500  # bytes of what a bench printed last
MARGIN = 20.0  # seconds a bench may take beyond the time its run has

MACHINE = """
import json, sys, torch
gpus = []
if sys.argv[1] != "cpu":
    for number in range(torch.cuda.device_count()):
        found = torch.cuda.get_device_properties(number)
        gpus.append({"name": found.name, "memory_bytes": found.total_memory,
                     "capability": f"{found.major}.{found.minor}"})
nccl = ".".join(map(str, torch.cuda.nccl.version())) if gpus else None
print(json.dumps({"gpus": gpus, "torch": torch.__version__, "cuda": torch.version.cuda,
                  "nccl": nccl}))
"""


def machine(device: str) -> dict[str, Any]:
    """What the runs are made on, found by a child: CUDA is never initialised here."""
    try:
        asked = subprocess.run(
            [sys.executable, "-P", "-W", "ignore", "-c", MACHINE, device],
            capture_output=True,
            text=True,
            timeout=300,
        )
    except subprocess.TimeoutExpired:
        raise SystemExit(said("torch could not be asked about this machine in 300 s", 3)) from None
    if asked.returncode:
        last = (asked.stderr.strip().splitlines() or ["no word"])[-1]
        raise SystemExit(said(f"torch cannot be used here ({last}): {INSTALL}", 3))
    found = json.loads(asked.stdout.splitlines()[-1])
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {**found, "driver": driver(), "python": platform.python_version(), "cores": cores}


def driver() -> str | None:
    """The NVIDIA driver's version, if the machine tells."""
    with suppress(OSError):
        text = Path("/proc/driver/nvidia/version").read_text()
        if found := re.search(r"Module.*?\s(\d+\.\d[\d.]*)\s", text):
            return found[1]
    with suppress(OSError, subprocess.SubprocessError):
        command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        told = subprocess.run(command, capture_output=True, text=True, timeout=30)
        return told.stdout.strip().splitlines()[0] if told.stdout.strip() else None
    return None


def wanted(device: str, gpus: int, demos: Sequence[str], ranks: Sequence[int]) -> list[Run]:
    """All runs there are to make, a demo's own beside each other."""
    if device == "cpu":
        states = [("cpu", n) for n in ranks]
    else:
        states = [("nccl", n) for n in MORE_RANKS if n <= gpus]
        states += [("shared", n) for n in ranks]
    return [Run(demo, *state) for demo in demos for state in states]


class GoneError(Exception):
    """A bench that said nothing more."""


class Lane:
    """One warm bench: a child that has torch imported and forks the ranks of one run after another.

    Whatever a run does to it, the next one finds a bench.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._child: subprocess.Popen[bytes] | None = None
        self._text = b""

    def run(self, run: Run, deadline: float, until: float) -> dict[str, Any]:
        """The bench's reply; `until` is when nobody waits for it any more."""
        child = self._child = self._child or self._started()
        device = "cuda" if run.device == "nccl" else run.device
        request = {"id": run.key, "demo": run.demo, "ranks": run.ranks, "device": device}
        try:
            assert child.stdin
            child.stdin.write(json.dumps(request | {"deadline": deadline}).encode() + b"\n")
            child.stdin.flush()
            while True:
                reply = json.loads(self._line(child, until))
                if reply.get("id") == run.key:
                    return reply
                if "error" in reply:  # no torch, say: it is of no run
                    raise GoneError(reply["error"]["message"])
        except (OSError, ValueError) as error:
            self.close()
            raise GoneError(f"the bench is gone ({error or type(error).__name__})") from None
        except GoneError:
            self.close()
            raise

    def _started(self) -> "subprocess.Popen[bytes]":
        self._text = b""
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115  # what ranks print may tell why
        paths = [str(self._folder), str(HERE.parent)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "_bench"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._noise,
            env=environment,
            start_new_session=True,  # Ctrl-C is for whoever drives it
        )

    def _line(self, child: "subprocess.Popen[bytes]", until: float) -> bytes:
        assert child.stdout
        while b"\n" not in self._text:
            ready, _, _ = select.select([child.stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise GoneError("the bench gave no answer in time")
            piece = os.read(child.stdout.fileno(), 1 << 16)
            if not piece:
                code = child.wait()
                how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
                self._noise.seek(max(0, self._noise.seek(0, os.SEEK_END) - WORDS))
                said = self._noise.read().decode(errors="replace").strip()
                raise GoneError(f"the bench is gone ({how})\n{said}".strip())
            self._text += piece
        line, _, self._text = self._text.partition(b"\n")
        return line

    def close(self) -> None:
        """End the bench; its ranks go with it."""
        child, self._child = self._child, None
        if child:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            self._noise.close()


class Rounds:
    """Makes the runs: side by side first, and once more alone what did not come out."""

    def __init__(
        self, record: Record, todo: Sequence[Run], folder: Path, until: float, each: float
    ):
        self._record, self._todo, self._folder = record, todo, folder
        self._until, self._deadline = until, each
        self._lanes: list[Lane] = []
        self._stop = threading.Event()
        # How runs ended by state: one that never works must not take the others' time.
        self._came, self._failed = Counter[str](), Counter[str]()

    def go(self, lanes: int) -> None:
        """All of it, or as much as there is time for."""
        try:
            new = [run for run in self._todo if run.key not in self._record.rows]
            self._beside(new, min(lanes, len(new)))
            again = [
                run
                for run in self._todo
                if (kept := self._record.rows.get(run.key)) and bad(kept) and "alone" not in kept
            ]
            self._beside(again, min(1, len(again)), alone=True)
        finally:
            self._stop.set()
            for lane in self._lanes:
                lane.close()

    def _beside(self, runs: Sequence[Run], lanes: int, alone: bool = False) -> None:
        waiting: queue.SimpleQueue[Run] = queue.SimpleQueue()
        for run in runs:
            waiting.put(run)
        threads = [
            threading.Thread(target=self._drive, args=(waiting, alone), daemon=True)
            for _ in range(lanes)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)  # a join without end would not hear Ctrl-C

    def _drive(self, waiting: "queue.SimpleQueue[Run]", alone: bool) -> None:
        lane, put_off = Lane(self._folder), set[Run]()
        self._lanes.append(lane)
        while not self._stop.is_set():
            try:
                run = waiting.get_nowait()
            except queue.Empty:
                break
            in_vain = self._failed[run.device] >= ENOUGH and not self._came[run.device]
            if in_vain and run not in put_off:
                put_off.add(run)
                waiting.put(run)
                continue
            room = self._until - time.monotonic()
            if room <= 1:
                break
            self._made(lane, run, min(self._deadline, room), alone)
        lane.close()

    def _made(self, lane: Lane, run: Run, deadline: float, alone: bool) -> None:
        begun = time.monotonic()
        latest = min(begun + stop.START_LIMIT + deadline, self._until) + MARGIN
        try:
            kept = row(run, lane.run(run, deadline, latest))
        except GoneError as gone:
            if self._stop.is_set():
                return
            kept = row(run, {"error": {"message": str(gone)}}) | {"outcome": "bench gone"}
        if bad(kept) and (deadline < self._deadline or time.monotonic() > self._until):
            return  # it was given less than its time: that says nothing of it
        self._came[run.device] += kept["outcome"] == "finished"
        self._failed[run.device] += kept["outcome"] not in ("finished", "refused")
        if alone:
            before = self._record.rows[run.key]
            keep = ("verdict", "outcome", "failed", "error", "seconds")
            kept |= {"alone": True, "beside_others": {name: before[name] for name in keep}}
        self._record.add(kept, self._todo)
        self._tell(run, alone)

    def _tell(self, run: Run, alone: bool) -> None:
        """A line for each demo, when the last of its runs is in."""
        if alone:
            print(f"again, alone: {run.demo} {run.short}: {word(self._record.rows[run.key])}")
        else:
            with self._record.lock:
                mine = [each for each in self._todo if each.demo == run.demo]
                kept = [self._record.rows.get(each.key) for each in mine]
            if all(kept):
                told = [f"{m.short} {word(k)}" for m, k in zip(mine, kept, strict=True) if k]
                print(f"{run.demo}: " + " · ".join(told))
        sys.stdout.flush()


def names(folder: Path) -> list[str]:
    """The demos in a folder."""
    files = (path for path in folder.glob("*.py") if not path.name.startswith("_"))
    return sorted(path.stem.replace("_", "-") for path in files)


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="gpu_record.py", description=(__doc__ or "").splitlines()[0], allow_abbrev=False
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the record")
    parser.add_argument("--minutes", type=float, default=9.0, help="for all of it; default 9")
    parser.add_argument("--only", nargs="+", metavar="DEMO", help="these demos, made anew")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS, metavar="N")
    parser.add_argument("--deadline", type=float, default=60.0, metavar="S", help="of each run")
    parser.add_argument("--lanes", type=int, metavar="N", help="runs side by side; cores / 2")
    parser.add_argument("--demos", type=Path, default=HERE.parent, help="another folder of demos")
    chosen = parser.parse_args()
    known = names(chosen.demos)
    if odd := sorted({each.replace("_", "-") for each in chosen.only or ()} - set(known)):
        parser.error(f"no demo {', '.join(odd)} in {chosen.demos}")
    chosen.demo_names = sorted({e.replace("_", "-") for e in chosen.only}) if chosen.only else known
    numbers = (chosen.minutes, chosen.deadline, *chosen.ranks, chosen.lanes or 1)
    if not all(0 < each <= stop.LONGEST for each in numbers):
        parser.error("minutes, deadline, ranks and lanes are above 0")
    return chosen


def lines(record: Record, todo: Sequence[Run], seconds: float) -> Iterator[str]:
    """The end: how many came out how, and what to do next."""
    kept = [record.rows[run.key] for run in todo if run.key in record.rows]
    green, refused = (
        sum(each["verdict"] == "pass" for each in kept),
        sum(each["outcome"] == "refused" for each in kept),
    )
    wrong = [each for each in kept if bad(each)]
    what = "rehearsal on the CPU: " if record.head["rehearsal"] else ""
    yield (
        f"{what}{green} pass, {refused} refused, {len(wrong)} not, {len(todo) - len(kept)} left"
        f" of {len(todo)} runs, {seconds:.0f} s: {record.path}"
    )
    for each in wrong:
        yield f"  {each['demo']} on {each['ranks']}, {each['state']}: {word(each)}"
    if len(kept) < len(todo):
        yield "not all had time: the same command again goes on from here"


def interrupted(number: int, frame: object) -> NoReturn:
    """Ctrl-C and kill alike: what is in the record stays."""
    del frame
    raise SystemExit(128 + number)


def main() -> int:
    """Make the runs; 0 if all that ran came out, 1 if not all did, 124 if time was up before."""
    chosen = options()
    begun = time.monotonic()
    signal.signal(signal.SIGINT, interrupted)
    signal.signal(signal.SIGTERM, interrupted)
    found = machine(chosen.device)
    if chosen.device == "cuda" and not found["gpus"]:
        return said("no CUDA GPU found: --device cpu rehearses without one", 3)
    head = {
        "schema": SCHEMA,
        "rehearsal": chosen.device == "cpu",
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "machine": found,
    }
    record = Record(chosen.out, head)
    record.resume()
    todo = wanted(chosen.device, len(found["gpus"]), chosen.demo_names, chosen.ranks)
    if chosen.only:
        for run in todo:
            record.rows.pop(run.key, None)
    lanes = chosen.lanes or max(1, found["cores"] // 2)
    gpu = ", ".join(sorted({each["name"] for each in found["gpus"]})) or "CPU, a rehearsal"
    print(f"{len(todo)} runs on {gpu}, torch {found['torch']}, {lanes} side by side", flush=True)
    rounds = Rounds(
        record, todo, chosen.demos.resolve(), begun + 60 * chosen.minutes, chosen.deadline
    )
    try:
        rounds.go(lanes)
    finally:
        with record.lock:
            record.save(todo)
    print(*lines(record, todo, time.monotonic() - begun), sep="\n", flush=True)
    kept = [record.rows.get(run.key) for run in todo]
    if any(each and bad(each) for each in kept):
        return 1
    return 0 if all(kept) else 124


if __name__ == "__main__":
    sys.exit(main())
