"""Name the arithmetic of this machine: another processor adds in another order, and so rounds."""

from functools import cache
from pathlib import Path

_TOLD = Path("/proc/cpuinfo")
_WIDEST = ("avx512f", "avx2", "asimd")


@cache
def processor() -> str:
    """Return maker, family, model and widest vectors (`AuthenticAMD 25 17 avx2`); else nothing."""
    try:
        told = _TOLD.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    lines = (line.partition(":") for line in told.splitlines())
    said = {name.strip(): value.strip() for name, _, value in lines}
    has = said.get("flags", said.get("Features", "")).split()
    names = ("vendor_id", "CPU implementer", "cpu family", "CPU part", "model")
    known = [said[name] for name in names if name in said]
    return " ".join([*known, *[each for each in _WIDEST if each in has][:1]]) if known else ""
