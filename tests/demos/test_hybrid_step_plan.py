"""The plan's steps against steps that were run: eight ranks in every grid of tp, pp and dp."""

from dataclasses import dataclass
from itertools import combinations

import pytest

from quizkit.calc.chips import Chip
from quizkit.calc.models import Model
from quizkit.calc.plan.evaluation import Evaluation
from quizkit.calc.plan.job import Assumed, Job
from quizkit.calc.plan.layout import Layout
from quizkit.calc.plan.terms import FIGURES
from quizkit.lab.report import Setting

from .conftest import Lab

pytestmark = pytest.mark.demo

LAYERS, HIDDEN, HEADS, SEQ, VOCAB, BATCH, NODE = 8, 32, 8, 16, 64, 16, 4
MODEL = Model(
    "small", LAYERS, HIDDEN, HEADS, HEADS, HIDDEN // HEADS, 4 * HIDDEN, False, VOCAB, True,
    0, 0, 0, 0, 0, "demos/hybrid_step.py", layernorm=True,
)  # fmt: skip
CASES = [
    (tp, pp, count, zero)
    for tp in (1, 2, 4, 8)
    for pp in (1, 2, 4, 8)
    if tp * pp <= 8
    for dp in [8 // (tp * pp)]
    for count in ((2, 8) if pp > 1 else (4,))
    if BATCH % (dp * count) == 0
    for zero in ((0, 1) if (tp, pp, count) == (1, 4, 8) else (1,) if dp > 1 else (0,))
]


@dataclass(frozen=True)
class Machine:
    """Operations and bytes in a tick, inside a node and across, and ticks of latency."""

    speed: float
    inside: float
    across: float
    latency: float


# One where links decide, one where products and the bubble do.
SLOW_LINKS, FAST_LINKS = Machine(10_000, 200, 50, 2), Machine(1_000, 2000, 500, 0.5)


def predicted(on: Machine, tp: int, pp: int, count: int, zero: int) -> float:
    dp = 8 // (tp * pp)
    layout = Layout(tp, 1, pp, 1, 1, dp, zero, BATCH // (dp * count), "none")
    chip = Chip("rank", on.speed, 10**12, float("inf"), on.inside, on.across, NODE, "a clock")
    # What the demo has: fp64 throughout, products alone cost time, nothing hides or is masked away.
    assumed = Assumed(
        efficiency=1, link_share=1, usable=1, call=0, hop_inside=on.latency,
        hop_across=on.latency, dtype_bytes=8, grad_bytes=8, causal=False, overlap=False,
        rails=False,
    )  # fmt: skip
    job = Job(MODEL, chip, 8, SEQ, BATCH, assumed)
    return Evaluation(FIGURES, job.inputs(), ["step_seconds"]).of(layout)["step_seconds"]


def measured(lab: Lab, on: Machine, tp: int, pp: int, count: int, zero: int) -> float:
    args = {
        "tp": tp, "pp": pp, "microbatches": count, "zero": zero, "layers": LAYERS,
        "hidden": HIDDEN, "heads": HEADS, "seq": SEQ, "vocab": VOCAB, "batch": BATCH, "steps": 1,
        "per_node": NODE, "speed": on.speed, "inside": on.inside, "across": on.across,
        "latency": on.latency,
    }  # fmt: skip
    report = lab.run(Setting("hybrid-step", 8, tuple(args.items())))
    assert report.verdict == "pass", report.error
    value = report.metrics["step_time"]
    return float(value[0] if isinstance(value, tuple) else value)


def kendall(pairs: list[tuple[float, float]]) -> float:
    """Pairs in the same order less those in the other, over all: ties count for neither."""
    signs = [(a - c) * (b - d) for (a, b), (c, d) in combinations(pairs, 2)]
    return sum((each > 0) - (each < 0) for each in signs) / len(signs)


@pytest.mark.parametrize("on", [SLOW_LINKS, FAST_LINKS])
def test_layouts_are_ranked_as_their_runs_are(lab: Lab, on: Machine):
    rows = [(predicted(on, *case), measured(lab, on, *case), case) for case in CASES]
    tau = kendall([(ours, theirs) for ours, theirs, _ in rows])
    told = "\n".join(
        f"tp {tp} pp {pp} m {count} zero {zero}: predicted {ours:.0f}, ran {theirs:.0f},"
        f" {ours / theirs:.2f}"
        for ours, theirs, (tp, pp, count, zero) in sorted(rows, key=lambda row: row[1])
    )
    assert len(rows) >= 12
    told = f"tau {tau:.3f} over {len(rows)}\n{told}"
    assert tau >= 0.8, told
    # The plan gathers a layer's input again for its weights' gradient, as Megatron-LM does, and the
    # demo keeps it: tp is dearer in the plan. Tied tables and the norm's sums it leaves out.
    assert all(0.9 < ours / theirs < 1.2 for ours, theirs, _ in rows), told
