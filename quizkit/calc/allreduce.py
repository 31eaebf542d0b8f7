"""What a collective costs: bytes each rank sends, steps, and time in the alpha-beta model.

`bytes` is what nccl-tests calls the size: for all-reduce each rank's buffer, for all-gather the
gathered whole, for reduce-scatter each rank's whole input, for all-to-all each rank's whole send
buffer. All of them are cut into one chunk a rank; a chunk is a whole number of elements.
"""

from collections.abc import Mapping
from math import ceil, log2

from quizkit.calc.figure import Value, figure
from quizkit.calc.sheet import CalcError, Calculator, Input, Quiz, SumTrap

THAKUR = "Thakur, Rabenseifner & Gropp, IJHPCA 2005"
RING = "Patarasuk & Yuan, JPDC 2009"
NCCL_TESTS = "nccl-tests, doc/PERFORMANCE.md"
PHASES = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1}
"""An all-reduce is a reduce-scatter and an all-gather; the others are one such half."""


@figure("bytes", RING + ": equal chunks, the last one padded")
def chunk_bytes(bytes: int, ranks: int, element_bytes: int) -> Value:
    """One rank's part of the payload, in whole elements."""
    return ceil(bytes / (ranks * element_bytes)) * element_bytes


@figure("count", THAKUR + ", section 4")
def steps(ranks: int, algorithm: str, operation: str, node: int) -> Value:
    """Messages one after another: what the latency is paid for."""
    return (
        PHASES[operation] * (ranks - 1)
        if algorithm == "ring"
        else PHASES[operation] * ceil(log2(ranks))
        if algorithm in ("tree", "halving-doubling")
        else PHASES[operation] * (node - 1 + ranks // node - 1)
    )


@figure("bytes", RING + ": 2 (n-1)/n, the least possible; " + THAKUR + ", section 4")
def sent_bytes_per_rank(
    chunk_bytes: int,
    bytes: int,
    ranks: int,
    algorithm: str,
    operation: str,
) -> Value:
    """Handed to the wire by the busiest rank; only in a tree do ranks differ."""
    return (
        ceil(log2(ranks)) * bytes
        if algorithm == "tree"
        else PHASES[operation] * (ranks - 1) * chunk_bytes
    )


@figure("bytes", "two-level: reduce-scatter inside, all-reduce across, all-gather inside")
def inter_bytes_per_rank(
    chunk_bytes: int, ranks: int, node: int, algorithm: str, operation: str
) -> Value:
    """The part of it that leaves the node, where the algorithm knows nodes."""
    return (
        PHASES[operation] * (ranks // node - 1) * chunk_bytes if algorithm == "hierarchical" else 0
    )


@figure("bytes", THAKUR + ", section 4: n beta of each algorithm")
def serial_bytes(
    sent_bytes_per_rank: int,
    bytes: int,
    steps: int,
    algorithm: str,
) -> Value:
    """Bytes one after another: in a tree each step waits for a whole payload."""
    return steps * bytes if algorithm == "tree" else sent_bytes_per_rank


@figure("s", THAKUR + ": alpha + n beta for each message")
def seconds(
    steps: int,
    alpha: float,
    serial_bytes: int,
    inter_bytes_per_rank: int,
    bandwidth: float,
    inter_bandwidth: float,
) -> Value:
    """Time: latency of every step and bytes over bandwidth, each direction of a link by itself."""
    return (
        steps * alpha
        + (serial_bytes - inter_bytes_per_rank) / bandwidth
        + inter_bytes_per_rank / (inter_bandwidth if inter_bandwidth > 0 else bandwidth)
    )


@figure("B/s", NCCL_TESTS + ": S / t")
def algbw(bytes: int, seconds: float) -> Value:
    """Payload over time; 0 where nothing had to move."""
    return bytes / seconds if seconds else 0


@figure("B/s", NCCL_TESTS + ": algbw 2(n-1)/n for all-reduce, (n-1)/n for the others")
def busbw(algbw: float, operation: str, ranks: int) -> Value:
    """What a ring's links would carry: to be held against the hardware's bandwidth."""
    return algbw * PHASES[operation] * (ranks - 1) / ranks


def known(values: Mapping[str, Value | None]) -> None:
    """Refuse an algorithm that has no such operation."""
    algorithm, operation = str(values["algorithm"]), str(values["operation"])
    if operation == "all-to-all" and algorithm != "ring":
        raise CalcError("calc_all_to_all", algorithm=algorithm)
    if operation != "all-reduce" and algorithm == "tree":
        raise CalcError("calc_tree", operation=operation)


def divides(values: Mapping[str, Value | None]) -> None:
    """Refuse numbers of ranks that an algorithm does not work with."""
    ranks, node = int(str(values["ranks"])), int(str(values["node"]))
    if values["algorithm"] == "halving-doubling" and ranks & (ranks - 1):
        below = 1 << (ranks.bit_length() - 1)
        raise CalcError("calc_power_of_two", ranks=ranks, below=below, above=2 * below)
    if values["algorithm"] == "hierarchical" and ranks % node:
        raise CalcError("calc_node", ranks=ranks, node=node)


SHEET = Calculator(
    "allreduce",
    inputs=[
        Input("bytes", "size", required=True),
        Input("ranks", required=True),
        Input("operation", "choice", "all-reduce", choices=tuple(PHASES)),
        Input(
            "algorithm",
            "choice",
            "ring",
            choices=("ring", "tree", "halving-doubling", "hierarchical"),
        ),
        Input("node", default=8),
        Input("element_bytes", default=1),
        Input("alpha", "time", 0.0, least=0),
        Input("bandwidth", "rate", None),
        Input("inter_bandwidth", "rate", 0.0, least=0),
    ],
    figures=[
        chunk_bytes,
        steps,
        sent_bytes_per_rank,
        inter_bytes_per_rank,
        serial_bytes,
        seconds,
        algbw,
        busbw,
    ],
    rules=[known, divides],
    quiz=Quiz(
        "sent_bytes_per_rank",
        "MB",
        draws={"bytes": (240_000_000, 480_000_000, 960_000_000), "ranks": (3, 4, 6, 8, 16)},
        traps=(
            SumTrap("bytes * (ranks - 1) / ranks", "allreduce_one_half"),
            SumTrap("2 * bytes * (ranks - 1)", "allreduce_whole_payload"),
            SumTrap("2 * bytes / ranks", "allreduce_one_step"),
        ),
        scale=1e6,
    ),
)
