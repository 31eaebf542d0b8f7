"""ZB-V of few micro-batches against every order there is, and against what a peer's takes."""

from itertools import product

import pytest

from quizkit.calc.schedule import Costs, order, peak_live, place, simulate

State = tuple[tuple[int, ...], ...]
"""How many F0, F1, B1, B0, W1 and W0 each rank has run."""


def shortest(stages: int, microbatches: int) -> int:
    """Slots of the shortest of all orders, found breadth first; micro-batches keep their turn."""
    start: State = ((0,) * 6,) * stages
    goal: State = ((microbatches,) * 6,) * stages
    seen, front, slots = {start}, {start}, 0
    while goal not in front:
        front = {after for state in front for after in next_states(state, microbatches)} - seen
        seen |= front
        slots += 1
    return slots


def next_states(state: State, microbatches: int) -> set[State]:
    """Every rank runs one of the operations that could start now, or, having none, waits."""
    choices: list[list[tuple[int, ...]]] = []
    for rank, done in enumerate(state):
        before = state[rank - 1] if rank else None
        after = state[rank + 1] if rank + 1 < len(state) else None
        f0, f1, b1, b0, _, _ = done
        # How many of each could have run by now; a live chunk needs one of the 2p places.
        room = f0 + f1 - done[4] - done[5] < 2 * len(state)
        most = (
            (before[0] if before else microbatches) if room else f0,
            (min(after[1], f0) if after else f0) if room else f1,
            min(before[2], f1) if before else f1,
            min(after[3], b1) if after else b1,
            b1,
            b0,
        )
        able = [kind for kind in range(6) if done[kind] < most[kind]]
        run = [(*done[:kind], done[kind] + 1, *done[kind + 1 :]) for kind in able]
        choices.append([*run, done])
    return set(product(*choices))


@pytest.mark.parametrize(("stages", "microbatches"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])
def test_no_order_is_shorter_than_zb_v(stages: int, microbatches: int) -> None:
    orders = order("zb-v", stages, microbatches)
    run = simulate(orders, place("zb-v", stages, microbatches), Costs())
    assert run.makespan == shortest(stages, microbatches)


# What the scheduler of the paper's authors takes (github.com/sail-sg/zero-bubble-pipeline-
# parallelism, zbv.py, F = B = W = 1), where torch's order takes longer.
AUTHORS = {
    2: [9, 13],
    3: [13, 16, 20],
    4: [17, 19, 23, 27, 33],
    5: [21, 23, 26, 30, 34, 40],
    6: [25, 27, 29, 33, 37, 41, 47, 53],
    7: [29, 31, 33, 36, 40, 44, 48, 54, 60],
    8: [33, 35, 37, 39, 43, 47, 51, 55, 61, 67, 73],
}


@pytest.mark.parametrize("stages", AUTHORS)
def test_zb_v_is_no_longer_than_its_authors(stages: int) -> None:
    for microbatches in range(1, 25):
        orders = order("zb-v", stages, microbatches)
        run = simulate(orders, place("zb-v", stages, microbatches), Costs())
        known = AUTHORS[stages]
        bound = 6 * microbatches + stages - 1  # the last rank starts p - 1 late
        assert run.makespan >= bound
        assert run.makespan <= (known[microbatches - 1] if microbatches <= len(known) else bound)
        assert max(peak_live(orders)) <= 2 * stages
