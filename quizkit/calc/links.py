"""Which axes of parallelism stay inside a node, and how long their bytes take on its links."""

from quizkit.calc.figure import Value, figure

ORDER = "the axes lie tp, cp, dp, pp, so that tp changes fastest from rank to rank"


def inside(node: int, ep: int, **axes: int) -> str:
    """Which axes stay within a node when they are laid out in this order; ep lies side by side."""
    reach, names = 1, list[str]()
    for name, size in axes.items():
        reach *= size
        if size > 1 and reach <= node:
            names.append(name)
    return " ".join(names + ["ep"] * (1 < ep <= node)) or "-"


@figure("axes", ORDER)
def axes_inside_node(node: int, tp: int, cp: int, dp: int, pp: int, ep: int) -> Value:
    """Axes whose messages stay within a node; the others use the slower links."""
    return inside(node, ep, tp=tp, cp=cp, dp=dp, pp=pp)


@figure("s", ORDER)
def tp_seconds(tp_bytes: float, tp: int, node: int, intra: float, inter: float) -> Value:
    """Time on the wire for tp."""
    return tp_bytes / (intra if tp <= node else inter)


@figure("s", ORDER)
def cp_seconds(cp_bytes: float, tp: int, cp: int, node: int, intra: float, inter: float) -> Value:
    """Time on the wire for cp; a ring is as slow as its slowest link."""
    return cp_bytes / (intra if tp * cp <= node else inter)


@figure("s", ORDER)
def dp_seconds(
    dp_bytes: float,
    zero_bytes: float,
    tp: int,
    cp: int,
    dp: int,
    node: int,
    intra: float,
    inter: float,
) -> Value:
    """Time on the wire for data parallelism, ZeRO or not."""
    return (dp_bytes + zero_bytes) / (intra if tp * cp * dp <= node else inter)


@figure("s", ORDER)
def pp_seconds(
    pp_bytes: float, tp: int, cp: int, dp: int, pp: int, node: int, intra: float, inter: float
) -> Value:
    """Time on the wire for pp."""
    return pp_bytes / (intra if tp * cp * dp * pp <= node else inter)


@figure("s", "each rank sends as much to each other one; both kinds of links at once")
def ep_seconds(ep_bytes: float, ep: int, node: int, intra: float, inter: float) -> Value:
    """Time on the wire for ep: of what stays in the node, or of what leaves it."""
    return (
        max(ep_bytes * (node - 1) / intra, ep_bytes * (ep - node) / inter) / (ep - 1)
        if ep > node
        else ep_bytes / intra
    )


@figure("s", "nothing overlaps and latency is left out: time on the wire, not time exposed")
def seconds(
    tp_seconds: float, cp_seconds: float, dp_seconds: float, pp_seconds: float, ep_seconds: float
) -> Value:
    """All axes one after another."""
    return tp_seconds + cp_seconds + dp_seconds + pp_seconds + ep_seconds
