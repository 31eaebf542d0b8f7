"""Pipeline schedules: how long a step takes, who idles, what is alive; played, and by formula."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, cast

from quizkit.calc.figure import Value, figure
from quizkit.calc.schedule import SCHEDULES, Event, Name, Number, chunks_of
from quizkit.calc.schedule.playing import Played, planned, played
from quizkit.calc.schedule.theory import (
    CONTROLLED,
    DEEPSEEK,
    NARAYANAN,
    QI,
    closed_bubble,
    closed_bubble_over_ideal,
    closed_bubble_share,
    closed_form,
    closed_makespan,
    closed_peak_live,
)
from quizkit.calc.sheet import CalcError, Calculator, Input, Quiz, SumTrap

PLAYED = "played operation by operation"


def events(inputs: Mapping[str, Value | None]) -> list[Event]:
    """Every operation as (rank, name, start, end), for a picture of it."""
    return _run(inputs).events


def _run(inputs: Mapping[str, Value | None]) -> Played:
    """The sheet's inputs are what `played` takes, name by name."""
    return played(**cast("dict[str, Any]", inputs))


@figure(
    "chunks",
    f"{NARAYANAN} (interleaved); {QI}, section 6 (zb-v); {CONTROLLED} (v-half, v-min);"
    f" {DEEPSEEK} (dualpipe)",
)
def chunks(schedule: Name, virtual: int) -> int:
    """Parts of the model on each device."""
    return chunks_of(schedule, virtual)


@figure("time", PLAYED)
def busy(
    stages: int,
    microbatches: int,
    schedule: str,
    virtual: int,
    order: str,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
    latency: Number,
    stage_times: list[Number],
) -> list[Number]:
    """How long each rank works."""
    return played(
        stages,
        microbatches,
        schedule,
        virtual,
        order,
        forward,
        backward_input,
        backward_weight,
        latency,
        stage_times,
    ).busy


@figure("time", PLAYED)
def first_start(
    stages: int,
    microbatches: int,
    schedule: str,
    virtual: int,
    order: str,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
    latency: Number,
    stage_times: list[Number],
) -> list[Number]:
    """When each rank starts its first operation."""
    return played(
        stages,
        microbatches,
        schedule,
        virtual,
        order,
        forward,
        backward_input,
        backward_weight,
        latency,
        stage_times,
    ).first_start


@figure("time", PLAYED)
def last_end(
    stages: int,
    microbatches: int,
    schedule: str,
    virtual: int,
    order: str,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
    latency: Number,
    stage_times: list[Number],
) -> list[Number]:
    """When each rank has ended its last operation."""
    return played(
        stages,
        microbatches,
        schedule,
        virtual,
        order,
        forward,
        backward_input,
        backward_weight,
        latency,
        stage_times,
    ).last_end


@figure("time", "the last operation to end")
def makespan(last_end: list[Number]) -> Number:
    """How long the step takes."""
    return max(last_end)


@figure("time", "the same work, shared by devices that never wait")
def ideal(busy: list[Number], stages: int) -> float:
    """How long the step would take without a bubble: m(F + B) on equal stages."""
    return sum(busy) / stages


@figure("of the ideal", f"{NARAYANAN}: the time lost, over the ideal time")
def bubble_over_ideal(makespan: Number, ideal: float) -> float:
    """The bubble as overhead: 1F1B's (p - 1)/m."""
    return (makespan - ideal) / ideal


@figure("of the step", "the other convention: the time lost, over the whole step")
def bubble_share(ideal: float, makespan: Number) -> float:
    """The bubble as a share of the step: 1F1B's (p - 1)/(m + p - 1)."""
    return (makespan - ideal) / makespan


@figure("micro-batches of a chunk", f"{PLAYED}: alive from F until its B, or W, has ended")
def peak_live(
    stages: int, microbatches: int, schedule: str, virtual: int, order: str
) -> list[Number]:
    """Most micro-batches whose activations a rank holds at once, each of one chunk."""
    return planned(stages, microbatches, schedule, virtual, order).peak_live


@figure("micro-batches of a stage", "peak_live in the activations of 1/p of the layers")
def peak_live_whole(peak_live: list[Number], chunks: int, schedule: str) -> list[Number]:
    """The same in units that schedules can be compared in: a chunk may be a part of 1/p."""
    return [live if schedule == "dualpipe" or chunks == 1 else live / chunks for live in peak_live]


@figure("messages", f"{PLAYED}: an activation or a gradient to another device")
def messages(stages: int, microbatches: int, schedule: str, virtual: int, order: str) -> int:
    """Messages in a step, all devices together; a turn inside a device sends none."""
    return planned(stages, microbatches, schedule, virtual, order).messages


@figure("time", f"{QI}: a step may start on a device when its own last one has ended")
def idle_per_device(
    last_end: list[Number], first_start: list[Number], busy: list[Number]
) -> list[Number]:
    """What each rank waits between its first operation and its last."""
    return [
        end - start - work for end, start, work in zip(last_end, first_start, busy, strict=True)
    ]


@figure("time", "every device waits for the last one (a synchronous optimizer step)")
def idle_global(makespan: Number, busy: list[Number]) -> list[Number]:
    """What each rank waits within the whole step."""
    return [makespan - work for work in busy]


def _times_fit(inputs: Mapping[str, Value | None]) -> None:
    times, stages = cast("list[Number]", inputs["stage_times"]), inputs["stages"]
    if times and not (len(times) == stages and all(isfinite(each) for each in times)):
        raise CalcError("calc_stage_times", stages=stages, given=times)
    if not any(inputs[name] for name in ("forward", "backward_input", "backward_weight")):
        raise CalcError("calc_no_work")


def _plays(inputs: Mapping[str, Value | None]) -> None:
    ends = _run(inputs).last_end
    if not all(isfinite(end) for end in ends):
        raise CalcError("calc_endless")


SHEET = Calculator(
    "pipeline",
    inputs=[
        Input("stages", required=True),
        Input("microbatches", required=True),
        Input("schedule", "choice", "1f1b", SCHEDULES),
        # Nought stands for what the schedule has by itself: two in a V, both ways, and interleaved.
        Input("virtual", default=0, least=0),
        Input("forward", "time", 1, least=0),
        Input("backward_input", "time", 1, least=0),
        Input("backward_weight", "time", 1, least=0),
        Input("latency", "time", 0, least=0),
        Input("stage_times", "numbers", []),
        Input("order", "file", ""),
    ],
    figures=[
        chunks,
        busy,
        first_start,
        last_end,
        makespan,
        ideal,
        bubble_over_ideal,
        bubble_share,
        peak_live,
        peak_live_whole,
        messages,
        idle_per_device,
        idle_global,
        closed_form,
        closed_bubble,
        closed_makespan,
        closed_bubble_over_ideal,
        closed_bubble_share,
        closed_peak_live,
    ],
    rules=[_times_fit, _plays],
    quiz=Quiz(
        "bubble_share",
        "%",
        draws={"stages": (4, 8, 16), "microbatches": (16, 24, 32, 64)},
        traps=(
            SumTrap("(stages - 1) / microbatches", "pipeline_over_ideal"),
            SumTrap("stages / (microbatches + stages - 1)", "pipeline_all_stages"),
            SumTrap("(stages - 1) / (microbatches + stages)", "pipeline_slots"),
        ),
        scale=0.01,
    ),
)
