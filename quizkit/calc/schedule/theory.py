"""What theory says of a schedule without playing it, and where its conditions end.

All formulas are for equal stages and messages that take no time. B and W are the gradients of the
input and of the weights, BW is both: a whole backward. p stages, m micro-batches and v chunks:

- gpipe, 1f1b, interleaved: (p - 1)(F + BW)/v beyond the ideal, for any costs.
- zb-h1: (p - 1)(F + B - W), if W fits in the gaps it is put into (W <= F and W <= B) and m >= p.
- zb-h2: no device waits longer than (p - 1)(F + B - 2W) between its first operation and its last,
  if W <= F, W <= B and m >= 2p - 1; but the last device starts (p - 1)F late.
- zb-v: no device waits between its first operation and its last if F = B = W and m >= 2p - 1; the
  step as a whole is still (p - 1)F/2 longer, because the last device starts that much later. (The
  time is right from 3p/2 micro-batches on, but the pattern is not full and the peak is lower.)
- v-half: half of 1F1B's bubble, less F/2 where p is odd, and floor((p + 2)/2) micro-batches of a
  device's whole share, if F = B = W and m > p.
- v-min: (4p - 5)F/2, or (4p - 3)F/2 where 3 divides p, that is two thirds of 1F1B's bubble where p
  is large, and at most floor((p + 4)/3) micro-batches, if F = B = W and m >= p. The paper reorders
  warm-up and cool-down of these two further; we do not.
- dualpipe: (p/2 - 1)(F&BW + BW - 3W), and dualpipe-v twice as many gaps of half the length, where
  F&BW is F + BW. They hold if F = B >= W; DeepSeek's own F = B = W is a case of it.

Peaks depend on the order alone; they are given where the times are.
"""

from quizkit.calc.figure import figure
from quizkit.calc.schedule.simulator import Number

NARAYANAN = "Narayanan et al., SC 2021, section 2.2"
QI = "Qi et al., Zero Bubble Pipeline Parallelism, arXiv:2401.10241"
ZB_H1 = f"{QI}, section 2"
ZB_V = f"{QI}, section 6"
ZB_H2 = f"{QI}, table 1"
CONTROLLED = "Qi et al., Pipeline Parallelism with Controllable Memory, arXiv:2405.15362"
DEEPSEEK = "DeepSeek-V3, arXiv:2412.19437, table 2"
DUALPIPE_V = f"{DEEPSEEK}, on half of the devices: github.com/deepseek-ai/DualPipe"
THEORY = f"{NARAYANAN}; {QI}; {CONTROLLED}; {DEEPSEEK}"


@figure("source", "where its conditions hold; nothing is said where they do not")
def closed_form(
    schedule: str,
    stages: int,
    microbatches: int,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
    latency: Number,
    stage_times: list[Number],
    order: str,
) -> str | None:
    """Where the formula for these inputs stands."""
    return (
        None
        if latency or order or set(stage_times) - {1}
        else NARAYANAN
        if schedule in ("gpipe", "1f1b", "interleaved")
        else ZB_H1
        if schedule == "zb-h1"
        and microbatches >= stages
        and backward_weight <= min(forward, backward_input)
        else ZB_H2
        if schedule == "zb-h2"
        and microbatches >= 2 * stages - 1
        and backward_weight <= min(forward, backward_input)
        else CONTROLLED
        if schedule in ("v-half", "v-min")
        and microbatches >= stages + (schedule == "v-half")
        and forward == backward_input == backward_weight
        else ZB_V
        if schedule == "zb-v"
        and microbatches >= 2 * stages - 1
        and forward == backward_input == backward_weight
        else (DUALPIPE_V if schedule == "dualpipe-v" else DEEPSEEK)
        if schedule in ("dualpipe", "dualpipe-v") and forward == backward_input >= backward_weight
        else None
    )


@figure("time", THEORY)
def closed_bubble(
    closed_form: str,
    schedule: str,
    stages: int,
    chunks: int,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
) -> float:
    """What the step takes beyond the ideal, by formula; an overlapped pair costs its sum."""
    return (
        (stages - 1) * (forward + backward_input - backward_weight)
        if schedule == "zb-h1"
        else (stages - 1) * max(forward, forward + backward_input - 2 * backward_weight)
        if schedule == "zb-h2"
        else (stages - 1) * forward / 2
        if schedule == "zb-v"
        else max(0, 3 * (stages - 1) - stages % 2) * forward / 2
        if schedule == "v-half"
        else max(0, 4 * stages - (3 if stages % 3 == 0 else 5)) * forward / 2
        if schedule == "v-min"
        else (stages / 2 - 1)
        * (forward + 2 * (backward_input + backward_weight) - 3 * backward_weight)
        if schedule == "dualpipe"
        else (stages - 1)
        * (forward + 2 * (backward_input + backward_weight) - 3 * backward_weight)
        / 2
        if schedule == "dualpipe-v"
        else (stages - 1) * (forward + backward_input + backward_weight) / chunks
    )


@figure("time", THEORY)
def closed_makespan(
    closed_bubble: float,
    microbatches: int,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
) -> float:
    """How long the step takes, by formula."""
    return microbatches * (forward + backward_input + backward_weight) + closed_bubble


@figure("of the ideal", THEORY)
def closed_bubble_over_ideal(
    closed_bubble: float,
    microbatches: int,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
) -> float:
    """The bubble as overhead, by formula."""
    return closed_bubble / (microbatches * (forward + backward_input + backward_weight))


@figure("of the step", THEORY)
def closed_bubble_share(closed_bubble: float, closed_makespan: float) -> float:
    """The bubble as a share of the step, by formula."""
    return closed_bubble / closed_makespan


@figure("micro-batches of a chunk", f"{THEORY}; Megatron-LM's warm-up (interleaved)")
def closed_peak_live(
    closed_form: str, schedule: str, stages: int, microbatches: int, chunks: int
) -> list[Number]:
    """Most micro-batches alive at once on each rank r, by formula."""
    return (
        [microbatches] * int(stages)
        if schedule == "gpipe"
        else [min(stages - r, microbatches) for r in range(int(stages))]
        if schedule == "1f1b"
        else [
            min((chunks - 1) * stages + 2 * (stages - 1 - r) + 1, chunks * microbatches)
            for r in range(int(stages))
        ]
        if schedule == "interleaved"
        else [stages + 1] * int(stages)
        if schedule == "dualpipe"
        else [2 * stages + 1] * int(stages)
        if schedule == "dualpipe-v"
        else [2 * stages - 1] * int(stages)
        if schedule == "zb-h2"
        else [2 * ((stages + 2) // 2)] * int(stages)
        if schedule == "v-half"
        else [
            # Where p is 3k + 2, some ranks run a weight backward in time and need less.
            2 * ((stages + 4) // 3)
            - ((1 if r == 0 else 2) if stages % 3 == 2 and r % 3 == 0 else 0)
            for r in range(int(stages))
        ]
        if schedule == "v-min"
        else [chunks * stages] * int(stages)
    )
