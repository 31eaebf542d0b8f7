"""What every demo shares: starting ranks, moving tensors, measuring, reporting.

Importing it costs next to nothing; torch comes in with the first name that needs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from . import early

early.prepare()

from .commandline import run  # noqa: E402
from .here import check, device, join, rank, ranks, refuse  # noqa: E402
from .load import Break  # noqa: E402
from .metric import (  # noqa: E402
    Metric,
    Metrics,
    clocked,
    compared,
    computed,
    counted,
    identical,
    shared,
)
from .pictures import picture  # noqa: E402

if TYPE_CHECKING:
    from .clock import timed, virtual_clock
    from .messages import (
        Flight,
        all_gather,
        all_reduce,
        barrier,
        broadcast,
        everyone,
        exchange,
        irecv,
        isend,
        recv,
        send,
        wire,
    )
    from .rings import ring_gather, ring_scatter_sum, ring_sum, shift
    from .saved import max_error, saved_activations
    from .toy import Layer, one_process, take_gradient

_NEEDS_TORCH = {
    "timed": "clock",
    "virtual_clock": "clock",
    "Flight": "messages",
    "all_gather": "messages",
    "all_reduce": "messages",
    "barrier": "messages",
    "broadcast": "messages",
    "everyone": "messages",
    "exchange": "messages",
    "irecv": "messages",
    "isend": "messages",
    "recv": "messages",
    "send": "messages",
    "wire": "messages",
    "ring_gather": "rings",
    "ring_scatter_sum": "rings",
    "ring_sum": "rings",
    "shift": "rings",
    "max_error": "saved",
    "saved_activations": "saved",
    "Layer": "toy",
    "one_process": "toy",
    "take_gradient": "toy",
}

__all__ = [
    "Break",
    "Flight",
    "Layer",
    "Metric",
    "Metrics",
    "all_gather",
    "all_reduce",
    "barrier",
    "broadcast",
    "check",
    "clocked",
    "compared",
    "computed",
    "counted",
    "device",
    "everyone",
    "exchange",
    "identical",
    "irecv",
    "isend",
    "join",
    "max_error",
    "one_process",
    "picture",
    "rank",
    "ranks",
    "recv",
    "refuse",
    "ring_gather",
    "ring_scatter_sum",
    "ring_sum",
    "run",
    "saved_activations",
    "send",
    "shared",
    "shift",
    "take_gradient",
    "timed",
    "virtual_clock",
    "wire",
]


def __getattr__(name: str) -> object:
    if name not in _NEEDS_TORCH:
        raise AttributeError(f"module '_bench' has no attribute '{name}'")
    value = getattr(import_module(f"{__name__}.{_NEEDS_TORCH[name]}"), name)
    globals()[name] = value
    return value
