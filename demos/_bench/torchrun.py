"""Under an existing launcher (torchrun, srun): become one of its ranks, report on rank 0."""

import json
import os
import re
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, NoReturn

from . import backend, body, early, load, report, stack
from .blame import Ending
from .start import Plan, Setting
from .stop import Watched

Show = Callable[[report.Report], None]

MEETING = 10.0  # seconds all ranks of a launcher have to appear, or the deadline if it is longer


class AbsentError(Exception):
    """The ranks of the launcher did not meet; the message says which, or why."""


def joining() -> bool:
    """Whether a launcher has started us as one of its ranks."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def numbers() -> tuple[int, int, int]:
    """This rank, how many there are, and the port they meet at; what cannot be is an error."""
    told = {name: os.environ.get(name, "") for name in ("RANK", "WORLD_SIZE", "MASTER_PORT")}
    if lacking := [name for name in ("MASTER_ADDR", "MASTER_PORT") if not os.environ.get(name)]:
        raise load.DemoError(
            f"RANK and WORLD_SIZE are set, as a launcher does, but not {' and '.join(lacking)}:"
            " start with torchrun, or unset RANK to start ranks from here"
        )
    # Of thousands of digits Python makes no number, and of more than nine the store none.
    if all(value.isdecimal() and len(value) < 10 for value in told.values()):
        rank, world, port = (int(value) for value in told.values())
        if rank < world and 0 < port < 1 << 16:
            return rank, world, port
    said = ", ".join(f"{name}={value:.20}" for name, value in told.items())
    raise load.DemoError(
        f"{said}: RANK must be a number below WORLD_SIZE, MASTER_PORT one below 65536;"
        " start with torchrun, which sets them"
    )


def world_size(asked: int | None) -> int:
    """How many ranks there are; what was asked on the command line cannot change it."""
    _, world, _ = numbers()
    if asked not in (None, world):
        raise load.DemoError(
            f"--ranks {asked} disagrees with the launcher, which started {world}: leave it out"
        )
    return world


def run(setting: Setting, show: Show) -> int:
    """Run as one rank of several; gives the exit code. Rank 0 shows the report."""
    if load.Script(setting.path).own_launch:
        raise load.DemoError(
            f"{setting.path.name} starts its ranks itself: run it with python, not a launcher"
        )
    early.torch_version()
    notes = met(max(MEETING, setting.deadline))
    plan = Plan(setting, "torchrun", agreed(notes, setting))
    member = Member(notes, plan, show)
    message = member.live()
    if notes.rank == 0:
        member.conclude()
    if message["kind"] == "raised":
        return 1
    notes.wait_for("over", body.GRACE)
    return 2 if message["kind"] == "refused" else 0


def met(patience: float) -> "Notes":
    """Meet the other ranks, within so many seconds."""
    from torch.distributed import DistError

    where = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    try:
        return Notes(patience)
    except DistError as error:
        text = str(error)
        if "EADDRINUSE" in text or "address already in use" in text:
            raise load.DemoError(
                f"{where} (MASTER_ADDR, MASTER_PORT) is taken by another program: name another port"
            ) from None
        missing = re.search(r"(\d+)/(\d+) clients joined", text)
        how = f"{missing[1]} of {missing[2]} ranks came" if missing else f"no rank 0 at {where}"
        raise AbsentError(f"the ranks did not meet within {patience:g} s: {how}") from None


class Notes:
    """What the ranks of a launcher leave for each other in the store they met at."""

    def __init__(self, patience: float) -> None:
        from torch.distributed import PrefixStore, TCPStore
        from torch.distributed.rendezvous import rendezvous

        self.rank, self.world, port = numbers()
        self.patience = timedelta(seconds=patience)
        # A launcher that restarts its ranks keeps its store: each attempt needs names of its own.
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        met = next(iter(rendezvous("env://", timeout=self.patience)))[0]
        self.group = PrefixStore(f"quizkit/{attempt}/group", met)
        # A connection of its own: the group's may be taken by a rank that waits.
        own = TCPStore(os.environ["MASTER_ADDR"], port, is_master=False, timeout=self.patience)
        self._store = PrefixStore(f"quizkit/{attempt}/notes", own)

    def leave(self, what: str, note: object) -> None:
        """Leave something for the others."""
        self._store.set(f"{what}/{self.rank}", json.dumps(note))

    def left(self, what: str, rank: int) -> Any:
        """What a rank has left, or None."""
        name = f"{what}/{rank}"
        return json.loads(self._store.get(name)) if self._store.check([name]) else None

    def wait_for(self, what: str, seconds: float) -> bool:
        """Wait for rank 0 to leave something; a store that is gone by then counts as no."""
        until = time.monotonic() + seconds
        try:
            while self.left(what, 0) is None:
                if time.monotonic() > until:
                    return False
                time.sleep(0.01)
        except RuntimeError:
            return False
        return True


def agreed(notes: Notes, setting: Setting) -> backend.Backend:
    """One choice for all machines: the one with the fewest GPUs for its ranks decides."""
    local = int(os.environ.get("LOCAL_WORLD_SIZE", notes.world))
    notes.leave("gpus", [0 if setting.device == "cpu" else backend.gpus_here(), local])
    patience = notes.patience.total_seconds()
    until = time.monotonic() + patience
    every: list[list[int]] = []
    while len(every) < notes.world:
        if (found := notes.left("gpus", len(every))) is not None:
            every.append(found)
        elif time.monotonic() > until:
            raise AbsentError(f"rank {len(every)} of the launcher never arrived in {patience:g} s")
        else:
            time.sleep(0.005)
    gpus, local = min(every, key=lambda each: each[0] / each[1])
    choice = backend.decide(setting.device, local, gpus)
    if choice.backend == "nccl":
        return replace(choice, reason="every machine has a CUDA GPU for each of its ranks")
    return choice


class Member:
    """This rank's run, watched from a thread: the launcher knows no deadline.

    When a rank fails the launcher sends the others SIGTERM. That too is for the thread, since
    main may be anywhere, and the report must not depend on where.
    """

    def __init__(self, notes: Notes, plan: Plan, show: Show):
        self._notes, self._plan, self._show = notes, plan, show
        self._begun = time.monotonic()
        self._limit = self._begun + plan.setting.deadline
        self._concluding = threading.Lock()
        self._main = threading.get_ident()
        self._ended = threading.Event()
        self._taken_away = False
        self._wake, wakes = os.pipe()
        os.set_blocking(wakes, False)
        signal.set_wakeup_fd(wakes)
        signal.signal(signal.SIGTERM, lambda number, frame: None)

    def live(self) -> dict[str, Any]:
        """Run main and leave word of how it ended."""
        local = int(os.environ.get("LOCAL_RANK", self._notes.rank))
        threading.Thread(target=self._watch, daemon=True).start()
        message = body.lived(
            self._plan.task,
            self._notes.rank,
            lambda: self._notes.group,
            self._plan.code,
            local,
            lambda: None,
        )
        self._notes.leave("end", message)
        self._ended.set()
        return message

    def _watch(self) -> None:
        """At the deadline, or at SIGTERM, say where main stands and end this rank."""
        woken, _, _ = select.select([self._wake], [], [], self._limit - time.monotonic())
        if self._ended.is_set():
            return
        self._taken_away = bool(woken)
        self._notes.leave("stack", stack.of_thread(self._main))
        if self._notes.rank == 0:
            self.conclude()
        self._notes.wait_for("over", 2 * body.GRACE)
        os._exit(143 if woken else 124)

    def conclude(self) -> NoReturn:
        """On rank 0: gather how the ranks ended, show the report, end this rank."""
        self._concluding.acquire()  # and never given back: whoever comes second waits for the end
        endings = self._gathered()
        failed = any(ending.kind not in ("alive", "returned") for ending in endings)
        late = self._plan.setting.deadline if time.monotonic() >= self._limit else None
        watched = Watched(endings, late, cancelled=self._taken_away and not failed)
        result = report.built(self._plan.blank(time.monotonic() - self._begun), watched)
        self._show(result)
        self._notes.leave("over", True)
        sys.stdout.flush()
        os._exit(report.exit_code(result))

    def _gathered(self) -> list[Ending]:
        """Wait for the ranks' words: to the deadline, or for a moment once one has failed."""
        limit, failed = self._limit, False
        while True:
            endings = [self._ending(rank) for rank in range(self._notes.world)]
            kinds = {ending.kind for ending in endings}
            if "alive" not in kinds:
                return endings
            if not failed and (self._taken_away or kinds - {"alive", "returned"}):
                failed, limit = True, min(limit, time.monotonic()) + body.GRACE
            if time.monotonic() > limit:
                break
            time.sleep(0.01)
        if failed:  # whoever is silent now has died: the others were told to speak
            for ending in endings:
                if ending.kind == "alive" and not ending.calls:
                    ending.kind, ending.status, ending.at = "died", None, time.time()
            return endings
        patience = time.monotonic() + body.GRACE  # they are leaving word at this moment
        while time.monotonic() < patience:
            endings = [self._ending(rank) for rank in range(self._notes.world)]
            if all(ending.kind != "alive" or ending.calls for ending in endings):
                break
            time.sleep(0.01)
        return endings

    def _ending(self, rank: int) -> Ending:
        ending = Ending(rank)
        if (message := self._notes.left("end", rank)) is not None:
            ending.kind, ending.at, ending.message = message["kind"], message["at"], message
        elif (calls := self._notes.left("stack", rank)) is not None:
            ending.calls = [stack.Frame(*call) for call in calls]
        return ending
