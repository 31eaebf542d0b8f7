"""How many ranks fit into this machine's memory."""

import re
from pathlib import Path

MOST_RANKS = 64
EACH = {"fork": 64 << 20, "spawn": 320 << 20}  # bytes; a forked rank shares torch with its parent

# Files of a control group's limit and its use, in version 2 and in version 1.
LIMITS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def available(root: Path = Path("/")) -> int | None:
    """Bytes that can be had without swapping, if the machine says; a container's limit counts."""
    meminfo, groups = root / "proc/meminfo", root / "sys/fs/cgroup"
    if not meminfo.exists():
        return None
    found = re.search(r"^MemAvailable:\s*(\d+) kB", meminfo.read_text(), re.MULTILINE)
    free = int(found[1]) * 1024 if found else None
    for most, used in LIMITS:  # without a limit v2 says "max", v1 a number beyond any memory
        limit = (groups / most).read_text().strip() if (groups / most).exists() else ""
        if free is not None and limit.isdigit():
            free = min(free, max(0, int(limit) - int((groups / used).read_text())))
    return free


def refusal(ranks: int, how: str, free: int | None = None) -> str | None:
    """Why this many ranks are not started, or None."""
    if ranks < 1:
        return f"{ranks} ranks cannot run: take 1 or more"
    free = available() if free is None else free
    fit = MOST_RANKS if free is None else min(MOST_RANKS, free // EACH[how])
    if ranks <= fit:
        return None
    if free is None or fit == MOST_RANKS:
        return f"{ranks} ranks are too many for one machine: take at most {MOST_RANKS}"
    return (
        f"{ranks} ranks need about {ranks * EACH[how] >> 20} MiB and {free >> 20} MiB are free:"
        f" {fit} would fit"
    )
