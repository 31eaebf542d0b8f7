"""Our orders and our clock against the orders of torch.distributed.pipelining."""

import random
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from quizkit.calc.schedule import Costs, Op, Order, order, peak_live, place, simulate
from quizkit.calc.schedule.placement import Name, StagePlacement
from quizkit.calc.sheet import CalcError

pytestmark = pytest.mark.demo

SIZES = [(p, m) for p in (1, 2, 3, 4, 6, 8) for m in (1, 2, 3, 4, 5, 6, 8, 12, 15, 16, 17, 24)]

KINDS = {"FORWARD": "F", "FULL_BACKWARD": "B", "BACKWARD_INPUT": "B-", "BACKWARD_WEIGHT": "W"}
ALIKE: tuple[tuple[str, Name], ...] = (("GPipe", "gpipe"), ("1F1B", "1f1b"))


def torchs(name: str) -> Any:
    """A schedule of torch's, before it has looked for its process group."""
    schedules = import_module("torch.distributed.pipelining.schedules")
    return object.__new__(getattr(schedules, f"Schedule{name}"))


def theirs(name: str, stages: int, microbatches: int, chunks: int = 1) -> Order:
    """What torch's own generator prescribes, without a process group or a model around it."""
    schedule = torchs(name)
    rounds = max(1, microbatches // stages)
    vars(schedule).update(
        pp_group_size=stages,
        n_local_stages=chunks,
        num_stages=stages * chunks,
        _num_stages=stages * chunks,
        _n_microbatches=microbatches,
        _stages=[None] * chunks,
        number_of_rounds=rounds,
        microbatches_per_round=microbatches // rounds,
    )
    if chunks == 1 and name in ("GPipe", "1F1B"):
        found = schedule._get_pipeline_order()
    else:
        found = {r: schedule._calculate_single_rank_operations(r) for r in range(stages)}
    return [[op for action in found[rank] for op in ops(action)] for rank in range(stages)]


def ops(action: Any) -> list[Op]:
    if action is None:
        return []
    if action.sub_actions:
        forward, backward = (ops(part)[0] for part in action.sub_actions)
        return [("F+", forward[1], forward[2]), backward]
    kind = KINDS.get(action.computation_type.name)  # what has none only sums gradients up
    return [(kind, action.stage_index, action.microbatch_index)] if kind else []


def run_by_torch(name: str, stages: int, microbatches: int) -> Order:
    """What torch's loop really does with a stage, which here only writes down what it is asked."""

    def of_rank(rank: int) -> list[Op]:
        ran: list[Op] = []
        schedule = torchs(name)
        nothing = lambda *_, **__: []  # noqa: E731
        stage = SimpleNamespace(
            stage_index=rank,
            forward_one_chunk=lambda i, *_, **__: ran.append(("F", rank, i)),
            backward_one_chunk=lambda i, **__: ran.append(("B", rank, i)),
            get_fwd_recv_ops=nothing,
            get_fwd_send_ops=nothing,
            get_bwd_recv_ops=nothing,
            get_bwd_send_ops=nothing,
            perform_reduce_grad=nothing,
        )
        parts = [None] * microbatches
        vars(schedule).update(
            _stage=stage,
            _num_stages=stages,
            _n_microbatches=microbatches,
            _check_inputs=lambda *_: (parts, parts),
            _initialize_stage=nothing,
            _maybe_compute_loss=nothing,
            _maybe_get_loss=nothing,
            _update_losses=nothing,
            scale_grads=True,
        )
        schedule._step_microbatches()
        return ran

    return [of_rank(rank) for rank in range(stages)]


def test_gpipe_and_1f1b_as_torch_runs_them() -> None:
    for stages, microbatches in SIZES:
        for name, ours in ALIKE:
            ran = run_by_torch(name, stages, microbatches)
            assert ran == order(ours, stages, microbatches), (name, stages, microbatches)
            assert ours == "1f1b" or ran == theirs(name, stages, microbatches)


@pytest.mark.parametrize(
    ("name", "schedule", "chunks"),
    [
        ("Interleaved1F1B", "interleaved", 1),
        ("Interleaved1F1B", "interleaved", 2),
        ("Interleaved1F1B", "interleaved", 3),
        ("Interleaved1F1B", "interleaved", 4),
        ("InterleavedZeroBubble", "zb-h1", 1),
        ("ZBVZeroBubble", "zb-v", 2),
        ("DualPipeV", "dualpipe-v", 2),
    ],
)
def test_orders_are_torchs(name: str, schedule: Name, chunks: int) -> None:
    compared = 0
    for stages, microbatches in SIZES:
        if schedule == "zb-h1" and microbatches % max(1, microbatches // stages):
            continue  # torch wants equal rounds, also where one chunk has none
        if schedule == "zb-v" and microbatches < 3 * stages // 2:
            continue  # ours is another one, and no longer: the next test
        try:
            ours = order(schedule, stages, microbatches, chunks)
        except CalcError:
            continue
        assert theirs(name, stages, microbatches, chunks) == ours, (stages, microbatches)
        compared += 1
    assert compared >= 12


def test_zb_v_of_few_microbatches_is_shorter_than_torchs_and_keeps_no_more() -> None:
    for stages in range(2, 9):
        for microbatches in range(1, 25):
            placement = place("zb-v", stages, microbatches)
            orders = (
                order("zb-v", stages, microbatches),
                theirs("ZBVZeroBubble", stages, microbatches, 2),
            )
            ours, torchs = (simulate(each, placement, Costs()).makespan for each in orders)
            assert (ours < torchs) == (microbatches < 3 * stages // 2)
            assert ours <= torchs
            assert max(peak_live(orders[0])) <= 2 * stages


def test_the_order_torch_draws_for_1f1b_is_refused() -> None:
    for stages, microbatches in ((2, 4), (4, 8), (8, 16)):
        drawn = theirs("1F1B", stages, microbatches)
        last = drawn[-1]
        # It leaves F0 out on the last rank, and ends with one more micro-batch than there are.
        assert last[0] == ("F", stages - 1, 1)
        assert ("F", stages - 1, microbatches) in last
        with pytest.raises(CalcError) as caught:
            simulate(drawn, place("1f1b", stages, microbatches), Costs())
        assert caught.value.key == "calc_order_early"
        assert "B0 needs F0" in str(caught.value)


@pytest.mark.parametrize("chunks", [2, 3, 4])
def test_schedules_that_only_torch_has_are_played(chunks: int) -> None:
    for stages, microbatches in SIZES:
        placement = place("interleaved", stages, microbatches, chunks)
        cost = Costs(1, 1, 1)
        ideal = microbatches * chunks * 3

        # Breadth first: as short as interleaved 1F1B, and as hungry as GPipe.
        looped = theirs("LoopedBFS", stages, microbatches, chunks)
        run = simulate(looped, placement, cost)
        if microbatches >= stages:
            assert run.makespan == ideal + 3 * (stages - 1)
        assert peak_live(looped) == [chunks * microbatches] * stages

        if microbatches % max(1, microbatches // stages):
            continue
        zero = theirs("InterleavedZeroBubble", stages, microbatches, chunks)
        run = simulate(zero, placement, cost)
        if microbatches % stages == 0:
            assert run.makespan == ideal + stages - 1
            # As measured on torch's own orders: never more than a full warm-up and one.
            assert max(peak_live(zero)) == chunks * stages
        # torch's interleaved 1F1B also knows sizes that Megatron's, and ours, refuses.
        simulate(theirs("Interleaved1F1B", stages, microbatches, chunks), placement, cost)


@pytest.mark.parametrize(
    ("name", "schedule", "chunks"),
    [
        ("GPipe", "gpipe", 1),
        ("LoopedBFS", "interleaved", 2),
        ("Interleaved1F1B", "interleaved", 2),
        ("InterleavedZeroBubble", "zb-h1", 1),
        ("InterleavedZeroBubble", "interleaved", 2),
        ("ZBVZeroBubble", "zb-v", 2),
        ("DualPipeV", "dualpipe-v", 2),
    ],
)
def test_one_broken_dependency_is_enough(name: str, schedule: Name, chunks: int) -> None:
    draw = random.Random(0)
    for stages, microbatches in ((2, 4), (4, 8), (4, 12)):
        placement = place(schedule, stages, microbatches, chunks)
        good = theirs(name, stages, microbatches, chunks)
        simulate(good, placement, Costs())
        for rank in range(stages):
            for _ in range(10):
                for broken in breakages(good[rank], draw):
                    bad = [*good[:rank], broken, *good[rank + 1 :]]
                    assert not plays(bad, placement), (stages, rank, broken)


def breakages(line: list[Op], draw: random.Random) -> list[list[Op]]:
    """A rank's line with an operation left out, run twice, or run before what it needs."""
    at = draw.randrange(len(line))
    late = draw.choice([i for i, op in enumerate(line) if op[0] in "BIW"])
    needed = max(i for i in range(late) if line[i][1:] == line[late][1:])
    swapped = list(line)
    swapped[needed], swapped[late] = line[late], line[needed]
    return [line[:at] + line[at + 1 :], [*line[: at + 1], *line[at:]], swapped]


def plays(orders: Order, placement: StagePlacement) -> bool:
    try:
        simulate(orders, placement, Costs())
    except CalcError:
        return False
    return True
