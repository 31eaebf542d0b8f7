"""Ask a child process what this machine offers to demos: torch never comes in here."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

from quizkit.lab.bench import has_torch

_QUESTION = """
import json, torch, torch.distributed as dist
print(json.dumps({
    "torch": torch.__version__,
    "gloo": dist.is_available() and dist.is_gloo_available(),
    "nccl": dist.is_available() and dist.is_nccl_available(),
    "gpus": torch.cuda.device_count(),
}))
"""
OLDEST_TORCH = (2, 11)


@dataclass(frozen=True, slots=True)
class Environment:
    """This machine's offer: `torch` is its version or None; `problem` says why demos cannot run."""

    torch: str | None
    gloo: bool
    nccl: bool
    gpus: int
    start: str
    problem: str = ""


def environment() -> Environment:
    """Look once; takes as long as importing torch."""
    chosen = os.environ.get("QUIZKIT_START")
    start = chosen or ("fork" if sys.platform == "linux" else "spawn")
    if not has_torch():
        return Environment(None, False, False, 0, start, "torch_missing")
    command = [sys.executable, "-c", _QUESTION]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return Environment(None, False, False, 0, start, "torch_broken")
    found = json.loads(done.stdout)
    version = tuple(int(part) for part in found["torch"].split("+")[0].split(".")[:2])
    problem = "torch_old" if version < OLDEST_TORCH else "" if found["gloo"] else "no_gloo"
    return Environment(found["torch"], found["gloo"], found["nccl"], found["gpus"], start, problem)
