"""What has to happen before torch is imported, or it is too late."""

import gc
import os
import signal
import sys
import warnings
from importlib.util import find_spec

from .interrupt import interrupted

OLDEST_TORCH = (2, 11)
INSTALL = "pip install 'torch>=2.11' numpy"


class MissingError(Exception):
    """This machine lacks what the run needs; the message says how to get it."""


def quiet_import() -> None:
    """Make the import of torch cheap and silent, and leave one thread behind it.

    A second thread (OpenBLAS keeps a pool) would make forking unsafe; the collector finds
    nothing to free while thousands of modules are made; numpy is welcome but not needed.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    gc.disable()
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")


def prepare() -> None:
    """Called when the package is imported: a demo run as a program imports torch right after."""
    frame = sys._getframe(2)
    while frame and frame.f_globals.get("__name__", "").startswith("importlib"):
        frame = frame.f_back
    if frame and frame.f_globals.get("__name__") == "__main__" and "__file__" in frame.f_globals:
        signal.signal(signal.SIGINT, interrupted)
        quiet_import()
        if find_spec("torch") is None:
            print(f"this demo needs torch: {INSTALL}", file=sys.stderr)
            raise SystemExit(3)


def torch_version() -> str:
    """Import torch if that has not happened yet; refuse one that is missing or too old."""
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingError(f"the demos need torch: {INSTALL}") from None
    finally:
        gc.enable()
    version = torch.__version__.split("+")[0]
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_TORCH:
        raise MissingError(f"the demos need torch 2.11 or newer, this is {version}: {INSTALL}")
    return version
