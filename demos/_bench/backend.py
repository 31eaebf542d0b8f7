"""Where tensors live and what carries the messages."""

from dataclasses import asdict, dataclass
from typing import Any

from .early import MissingError


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
    if gpus >= ranks:
        return Backend("nccl", "cuda", False, f"{found}, one for each of {ranks} ranks")
    if wanted == "cuda":
        if gpus == 0:
            raise MissingError("no CUDA GPU found: use --device cpu, or auto")
        return Backend(
            "gloo", "cuda", True, f"{found} for {ranks} ranks: shared, messages go through the host"
        )
    if gpus == 0:
        return Backend("gloo", "cpu", False, found)
    return Backend(
        "gloo", "cpu", False, f"{found} for {ranks} ranks; --device cuda would share them"
    )


def gpus_here() -> int:
    """How many GPUs this machine has, found without initialising CUDA (ranks are forked later)."""
    import torch

    return torch.cuda.device_count()
