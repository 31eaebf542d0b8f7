"""Where tensors live and what carries the messages."""

import os
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from .early import MissingError

DEVICES = ("auto", "cuda", "shared", "cpu")
"""What can be asked for; `shared` is `cuda` staged through the host, even with GPUs to spare."""


@dataclass(frozen=True)
class Backend:
    """The choice a run makes once, with its reason."""

    backend: str
    device: str
    staged: bool
    reason: str

    def data(self) -> dict[str, Any]:
        """For the report."""
        return asdict(self)


def state(backend: str, device: str, staged: bool, ranks: int) -> str:
    """The state in words, as the screen shows it."""
    if staged:
        return "cuda, shared, staged"
    return f"nccl × {ranks}" if backend == "nccl" else f"gloo on {device}"


def decide(wanted: str, ranks: int, gpus: int) -> Backend:
    """Choose for `ranks` ranks on a machine with `gpus` GPUs."""
    found = "no CUDA GPU found" if gpus == 0 else f"{gpus} CUDA GPU{'s' if gpus > 1 else ''} found"
    if wanted == "cpu":
        return Backend("gloo", "cpu", False, "--device cpu was asked for")
    if gpus >= ranks and wanted != "shared":
        return Backend("nccl", "cuda", False, f"{found}, one for each of {ranks} ranks")
    if wanted in ("cuda", "shared"):
        if gpus == 0:
            raise MissingError("no CUDA GPU found: use --device cpu, or auto")
        whom = f"{ranks} ranks" if ranks > 1 else "1 rank"
        return Backend(
            "gloo", "cuda", True, f"{found} for {whom}: shared, messages go through the host"
        )
    if gpus == 0:
        return Backend("gloo", "cpu", False, found)
    return Backend(
        "gloo", "cpu", False, f"{found} for {ranks} ranks; --device cuda would share them"
    )


@cache
def gpus_here() -> int:
    """How many GPUs this machine has, found without initialising CUDA (ranks are forked later).

    A child counts: where NVML is missing, counting would start the driver, and processes forked
    after that could not use it.
    """
    import torch

    if not torch.backends.cuda.is_built():
        return 0
    if not hasattr(os, "fork"):
        return torch.cuda.device_count()
    ours, theirs = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            os.write(theirs, str(torch.cuda.device_count()).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as told:
        number = told.read()
    os.waitpid(pid, 0)
    return int(number or 0)
