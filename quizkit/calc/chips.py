"""Accelerators by name: peak, memory and links as their makers sell them.

Peaks are dense: datasheets of NVIDIA since Ampere print the doubled number with sparsity. Memory is
as sold, a GB being 10^9 bytes; a driver shows another number (an H100 81,559 MiB, 85.5e9 bytes),
and takes some of it for itself. Links count one direction, half of what a datasheet adds up.
"""

from dataclasses import dataclass

from quizkit.errors import UsageError
from quizkit.near import nearest


@dataclass(frozen=True, slots=True)
class Chip:
    """One GPU, and the node it is usually sold in."""

    name: str
    flops: float
    """Dense bf16 FLOP/s; of a GPU without bf16 (V100) fp16."""
    memory: int
    """Bytes as sold."""
    hbm: float
    """Bytes/s between the GPU and its memory."""
    inside: float
    """Bytes/s of a GPU to all others of its node together, one direction."""
    across: float
    """Bytes/s of a GPU's share of the node's network cards, one direction."""
    node: int
    """GPUs that the links inside join."""
    source: str


_A100 = (
    "NVIDIA A100 datasheet (312 TFLOPS dense, NVLink 600 GB/s both ways); DGX A100: 8 x 200 Gb/s"
)
_HOPPER = "1,979 TFLOPS with sparsity: 989 dense"
_NVLINK4 = "NVLink 900 GB/s both ways"
_DGX = "400 Gb/s a GPU"

CHIPS = (
    Chip("V100", 125e12, 32 * 10**9, 900e9, 150e9, 6.25e9, 8,
         "NVIDIA V100 datasheet (SXM2 32 GB: fp16 125 TFLOPS, no bf16; NVLink 300 GB/s both ways);"
         " DGX-1: 4 x 100 Gb/s for 8 GPUs"),
    Chip("A100-40", 312e12, 40 * 10**9, 1555e9, 300e9, 25e9, 8, _A100),
    Chip("A100-80", 312e12, 80 * 10**9, 2039e9, 300e9, 25e9, 8, _A100),
    Chip("A800", 312e12, 80 * 10**9, 2039e9, 200e9, 25e9, 8,
         "NVIDIA A800 datasheet (A100 with NVLink 400 GB/s both ways); 200 Gb/s a GPU"),
    Chip("H100", 989e12, 80 * 10**9, 3350e9, 450e9, 50e9, 8,
         f"NVIDIA H100 datasheet, SXM ({_HOPPER}; {_NVLINK4}); DGX H100: {_DGX}"),
    Chip("H100-PCIe", 756e12, 80 * 10**9, 2000e9, 64e9, 50e9, 8,
         "NVIDIA H100 datasheet, PCIe (1,513 TFLOPS with sparsity; PCIe 128 GB/s both ways, no"
         f" NVLink bridge); {_DGX}"),
    Chip("H200", 989e12, 141 * 10**9, 4800e9, 450e9, 50e9, 8,
         f"NVIDIA H200 datasheet, SXM ({_HOPPER}; {_NVLINK4}); DGX H200: {_DGX}"),
    Chip("H800", 989e12, 80 * 10**9, 3350e9, 200e9, 50e9, 8,
         f"H100 SXM with NVLink 400 GB/s both ways; {_DGX}: DeepSeek-V3 (2024), section 3.1"),
    Chip("H20", 148e12, 96 * 10**9, 4000e9, 450e9, 50e9, 8,
         f"NVIDIA H20 product brief (148 TFLOPS dense; {_NVLINK4}); {_DGX}"),
    Chip("B200", 2250e12, 180 * 10**9, 8000e9, 900e9, 50e9, 8,
         "NVIDIA Blackwell datasheet, HGX B200 (4.5 PFLOPS with sparsity, half of it dense; NVLink"
         f" 1.8 TB/s both ways); DGX B200: 1,440 GB for 8, {_DGX}"),
    Chip("GB200", 2500e12, 186 * 10**9, 8000e9, 900e9, 50e9, 72,
         "NVIDIA GB200 NVL72 datasheet (360 PFLOPS with sparsity for 72, half of it dense; 13.4 TB;"
         f" NVLink 1.8 TB/s both ways); {_DGX}"),
    Chip("MI300X", 1307.4e12, 192 * 10**9, 5300e9, 448e9, 50e9, 8,
         "AMD Instinct MI300X data sheet (1,307.4 TFLOPS dense; 7 Infinity Fabric links of 128 GB/s"
         f" both ways, 64 GB/s to one peer); {_DGX}"),
)  # fmt: skip

_ALSO = {
    "a100": "A100-80", "a10040gb": "A100-40", "a10080gb": "A100-80", "h100sxm": "H100",
    "h100sxm5": "H100", "h10080gb": "H100", "h100pcie": "H100-PCIe", "h200sxm": "H200",
    "v10032gb": "V100", "v10032": "V100", "gb200nvl72": "GB200", "mi300": "MI300X",
}  # fmt: skip


def chip(name: str) -> Chip:
    """The accelerator of that name. Raises UsageError with the nearest."""
    found = _BY_NAME.get(_plain(name))
    if found is None:
        raise UsageError("chip_unknown", name=name, hint=nearest(name.upper(), names()))
    return found


def names() -> list[str]:
    """The names that `chip` knows, as they are written."""
    return [each.name for each in CHIPS]


def _plain(name: str) -> str:
    kept = "".join(letter for letter in name.casefold() if letter.isalnum())
    return kept.removeprefix("nvidia").removeprefix("amd")


_BY_NAME = {_plain(each.name): each for each in CHIPS} | {
    short: each for short, name in _ALSO.items() for each in CHIPS if each.name == name
}
