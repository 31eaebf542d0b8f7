"""How many ranks fit into this machine's memory."""

MOST_RANKS = 64
EACH = {"fork": 64 << 20, "spawn": 320 << 20}  # bytes; a forked rank shares torch with its parent


def available() -> int | None:
    """Bytes the machine can give without swapping, if it says."""
    try:
        with open("/proc/meminfo") as file:  # noqa: PTH123
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return None
    return None


def refusal(ranks: int, how: str, free: int | None = None) -> str | None:
    """Why this many ranks are not started, or None."""
    if ranks < 1:
        return f"{ranks} ranks cannot run: take 1 or more"
    free = available() if free is None else free
    fit = MOST_RANKS if free is None else min(MOST_RANKS, free // EACH[how])
    if ranks <= fit:
        return None
    if fit == MOST_RANKS:
        return f"{ranks} ranks are too many for one machine: take at most {MOST_RANKS}"
    return (
        f"{ranks} ranks need about {ranks * EACH[how] >> 20} MiB and {free >> 20} MiB are free:"
        f" {fit} would fit"
    )
