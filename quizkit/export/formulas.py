"""The ten formulas of the sheet, in the letters that its conventions explain."""

from collections.abc import Mapping

FORMULAS: Mapping[str, Mapping[str, str]] = {
    "bubble": {
        "share": r"\frac{p-1}{m+p-1}",
        "over": r"\frac{p-1}{m}",
        "chunks": r"\frac{p-1}{v \times m}",
    },
    "zero_bubble": {"plain": r"(p-1)(F+B+W)", "zb": r"(p-1)(F+B-W)"},
    "live": {"gpipe": r"m", "live": r"\min(p-i, m)"},
    "ring": {
        "sent": r"\frac{2(N-1)}{N} \times S",
        "time": r"2(N-1) \times \alpha + \frac{2(N-1)}{N} \times \frac{S}{w}",
    },
    "states": {
        "whole": r"16 \times \Psi",
        "one": r"(4 + \frac{12}{N}) \times \Psi",
        "two": r"(2 + \frac{14}{N}) \times \Psi",
        "three": r"\frac{16}{N} \times \Psi",
    },
    "traffic": {
        "two": r"\frac{2(N-1)}{N} \times \Psi",
        "three": r"\frac{3(N-1)}{N} \times \Psi",
        "again": r"\frac{3K(N-1)}{N} \times \Psi",
    },
    "tensor": {"layer": r"4 \times \frac{2(t-1)}{t} \times b \times s \times h"},
    "activations": {
        "whole": r"s \times b \times h \times (34 + \frac{5 a s}{h})",
        "lean": r"34 \times s \times b \times h",
        "cut": r"\frac{34}{t} \times s \times b \times h",
    },
    "flops": {
        "token": r"6\Psi + 12 L s h",
        "mfu": r"\frac{r \times (6\Psi + 12 L s h)}{n \times P}",
        "days": r"\frac{6\Psi D}{n \times P \times u \times 86400}",
    },
    "cache": {"token": r"2 \times L \times g \times d \times 2", "floor": r"\frac{Q + C}{w}"},
}
"""LaTeX by the name of the formula and of its place in the sentence that says it."""
