"""Orders that people write: what is read, and what is wrong with one that cannot run."""

import random
from pathlib import Path

import pytest

from quizkit.calc.schedule import Costs, Op, Order, order, peak_live, place, simulate
from quizkit.calc.schedule.placement import SCHEDULES, Name, StagePlacement
from quizkit.calc.schedule.reader import parse, read
from quizkit.calc.sheet import CalcError


def refused(orders: Order, placement: StagePlacement) -> str:
    with pytest.raises(CalcError) as caught:
        simulate(orders, placement, Costs())
    return str(caught.value)


def written(path: Path, text: str, placement: StagePlacement) -> Order:
    path.write_text(text, encoding="utf-8")
    return parse(read(str(path)), placement)


def played(path: Path, placement: StagePlacement) -> None:
    lines = read(str(path))
    simulate(parse(lines, placement), placement, Costs(), lines.where)


def text(orders: Order, placement: StagePlacement) -> str:
    lines = (
        " ".join(placement.name(op) + ("+" if op[0] == "F+" else "") for op in ops)
        for ops in orders
    )
    return "\n".join(lines).replace("+ ", "+") + "\n"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_order_survives_being_written_down(schedule: Name, tmp_path: Path) -> None:
    placement, orders = place(schedule, 4, 8), order(schedule, 4, 8)
    assert written(tmp_path / "o", text(orders, placement), placement) == orders


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_schedule_does_every_operation_once_whatever_the_size(schedule: Name) -> None:
    for stages in range(1, 9):
        for microbatches in range(1, 25):
            try:
                orders = order(schedule, stages, microbatches)
            except CalcError:
                continue  # that it is refused where it should be is tested with the sheet
            # The simulator refuses what is not whole, and what waits for itself.
            simulate(orders, place(schedule, stages, microbatches), Costs())
            assert max(peak_live(orders)) >= 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("F0 F1 B0 B1\nF0 B0 F1", "order:2: rank 1: B1 is missing"),
        ("F0 F1 B0\nF0 B0 F1 B1", "order:1: rank 0: B1 is missing"),
        ("F0 F1 B0 B1\nF0 B0 F1 B1 B1", "order:2: rank 1: B1 runs twice"),
        ("# torch\nF0 F1 B0 B1\n\nF0 B0 B1 F1", "order:4: rank 1: B1 needs F1"),
        ("F0 F1 B0 B1\nF0 F1 B0 W0 W1", "order:2: rank 1: W1 needs B1"),
        ("F0 F1 B0 B1\nF0 F1 B0 B0 W0 B1", "order:2: rank 1: B0 runs twice"),
        ("F0 F1 B0 B1\nF0 F1 W0 B0 B1", "order:2: rank 1: W0 needs B0"),
        ("F0 F1 B0 B1\nF0 F1 I0 W0 B1", "order:2: rank 1: cannot read I0"),
        ("F0 F1 B0 B1\nF0 F1 B0 B1 F2", "order:2: rank 1: F2 is not this rank's"),
        ("F0 F1 B0 B1", "order: 1 lines"),
        ("F0 F1 B0 B1\nF0 F1 B0 B1\nF0", "order: 3 lines"),
        ("F0 F1 B0 B1\nF0 X1 B0 B1", "order:2: rank 1: cannot read X1"),
        ("F0 F1 B0 B1\nF0 F1 B0 B-1", "order:2: rank 1: cannot read B-1"),
        ("F0 F1 B0 B1\nF0 F1.1 B0 B1", "order:2: rank 1: F1.1 names a chunk beyond the 1"),
        ("F0 F1 B0 B1\nF0 F1+F1 B0 B1", "order:2: rank 1: + joins"),
        ("F0 F1 B0 B1\nF0 B0 B1 F1+", "order:2: rank 1: B1 needs F1"),
        ("F0 F1 B0 B1\nF0 F1 B0+B1", "order:2: rank 1: cannot read B0+"),
    ],
)
def test_what_is_wrong_and_where(text: str, says: str, tmp_path: Path) -> None:
    path, placement = tmp_path / "order", place("1f1b", 2, 2)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CalcError) as caught:
        played(path, placement)
    assert says in str(caught.value).replace(f"{tmp_path}/", "")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "order").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path, tmp_path / "order", tmp_path / "none"):
        with pytest.raises(CalcError) as caught:
            read(str(path))
        assert caught.value.key == "calc_order_file"


def test_a_deadlock_names_who_waits_for_whom() -> None:
    # Rank 0 wants the gradient of 0 before it sends 1; rank 1 wants 1 before it returns 0.
    orders: Order = [
        [("F", 0, 0), ("B", 0, 0), ("F", 0, 1), ("B", 0, 1)],
        [("F", 1, 0), ("F", 1, 1), ("B", 1, 0), ("B", 1, 1)],
        [("F", 2, 0), ("F", 2, 1), ("B", 2, 0), ("B", 2, 1)],
    ]
    said = refused(orders, place("1f1b", 3, 2)).split("\n")
    assert said[0].startswith("Deadlock")
    # Rank 0 at B0 waits for rank 1, which waits for rank 0; rank 2 waits too but is not to blame.
    assert sorted(line.strip() for line in said[1:]) == [
        "rank 0: B0 <- B0 (rank 1)",
        "rank 1: F1 <- F1 (rank 0)",
    ]


def test_a_cycle_through_three_ranks() -> None:
    # A loop: rank 0 wants what comes out of rank 2 before it has put anything in.
    placement, orders = place("interleaved", 3, 3), order("interleaved", 3, 3)
    last = ("F", 3, 0)
    orders[0].remove(last)
    orders[0].insert(0, last)
    assert sorted(line.strip() for line in refused(orders, placement).split("\n")[1:]) == [
        "rank 0: F0.1 <- F0.0 (rank 2)",
        "rank 1: F0.0 <- F0.0 (rank 0)",
        "rank 2: F0.0 <- F0.0 (rank 1)",
    ]


def test_who_only_waits_for_a_cycle_is_not_named() -> None:
    placement, orders = place("interleaved", 3, 3), order("interleaved", 3, 3)
    for rank, op, at in ((1, ("B", 1, 0), 1), (2, ("F", 2, 1), 0)):
        orders[rank].remove(op)
        orders[rank].insert(at, op)
    # Rank 0 waits for what rank 2 never sends.
    assert sorted(line.strip() for line in refused(orders, placement).split("\n")[1:]) == [
        "rank 1: B0.0 <- B0.0 (rank 2)",
        "rank 2: F1.0 <- F1.0 (rank 1)",
    ]


def test_an_overlapped_pair_waits_for_both_and_ends_together() -> None:
    placement = place("1f1b", 2, 2)
    apart: Order = [
        [("F", 0, 0), ("F", 0, 1), ("B", 0, 0), ("B", 0, 1)],
        [("F", 1, 0), ("F", 1, 1), ("B", 1, 0), ("B", 1, 1)],
    ]
    # F1 and B0 as a pair on rank 1: from 2 (when F1's input and F0 are there) to 2 + 1 + 2.
    paired = [apart[0], [("F", 1, 0), ("F+", 1, 1), ("B", 1, 0), ("B", 1, 1)]]
    run = simulate(paired, placement, Costs())
    assert run.starts[1] == [1, 2, 3, 5]
    assert run.ends[1] == [2, 3, 5, 7]
    assert run.busy == [6, 6]
    assert simulate(apart, placement, Costs()).makespan == run.makespan == 9
    # Nor can a pair whose backward needs what its own forward keeps.
    own: Order = [apart[0], [("F+", 1, 0), ("B", 1, 0), ("F", 1, 1), ("B", 1, 1)]]
    assert "B0 needs F0" in refused(own, placement)
    # A pair whose backward waits for an answer to its own forward can never start.
    never: Order = [[("F", 0, 0), ("F+", 0, 1), ("B", 0, 0), ("B", 0, 1)], apart[1]]
    assert "Deadlock" in refused(never, placement)


def mutants(orders: Order, seed: int) -> list[tuple[str, Order]]:
    """The order with one operation dropped, doubled, or put before what it needs of its rank."""
    draw = random.Random(seed)
    found: list[tuple[str, Order]] = []
    for rank, ops in enumerate(orders):
        at = draw.randrange(len(ops))
        found.append(("dropped", changed(orders, rank, ops[:at] + ops[at + 1 :])))
        found.append(("doubled", changed(orders, rank, [*ops, ops[at]])))
        later = [i for i, op in enumerate(ops) if op[0][0] in "BW"]
        at = draw.choice(later)
        needed = max(i for i in range(at) if ops[i][1:] == ops[at][1:])
        early = [*ops[:needed], ops[at], *ops[needed:at], *ops[at + 1 :]]
        found.append(("early", changed(orders, rank, early)))
    return found


def changed(orders: Order, rank: int, ops: list[Op]) -> Order:
    return [*orders[:rank], ops, *orders[rank + 1 :]]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_no_order_with_something_dropped_doubled_or_early_is_played(schedule: Name) -> None:
    for stages, microbatches in ((2, 4), (4, 8), (6, 12)):
        placement, orders = (
            place(schedule, stages, microbatches),
            order(schedule, stages, microbatches),
        )
        for seed in range(20):
            for what, mutant in mutants(orders, seed):
                assert refused(mutant, placement), (stages, what)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_what_is_played_keeps_every_dependency(schedule: Name) -> None:
    """Swap any two operations: either it is refused, or nothing starts before what it needs."""
    placement, orders = place(schedule, 4, 8), order(schedule, 4, 8)
    draw, accepted = random.Random(1), 0
    for _ in range(300):
        rank = draw.randrange(4)
        ops = list(orders[rank])
        one, two = draw.sample(range(len(ops)), 2)
        ops[one], ops[two] = ops[two], ops[one]
        mutant = changed(orders, rank, ops)
        try:
            simulate(mutant, placement, Costs(latency=1))
        except CalcError:
            assert not possible(mutant, placement)
            continue
        accepted += 1
        assert possible(mutant, placement)
    assert 0 < accepted < 300


def possible(orders: Order, placement: StagePlacement) -> bool:
    """Whether an order can run at all, decided the slow way: repeat until nothing moves."""
    done: set[Op] = set()
    at = [0] * len(orders)
    moved = True
    while moved:
        moved = False
        for rank, ops in enumerate(orders):
            while at[rank] < len(ops):
                together = ops[at[rank] : at[rank] + (2 if ops[at[rank]][0] == "F+" else 1)]
                if together[-1][0] in ("F", "F+", "W") and len(together) == 2:
                    return False
                if not all(need <= done for need in (needs(op, placement) for op in together)):
                    break
                done |= {(kind[0], stage, i) for kind, stage, i in together}
                at[rank] += len(together)
                moved = True
    return all(end == len(ops) for end, ops in zip(at, orders, strict=True))


def needs(op: Op, placement: StagePlacement) -> set[Op]:
    kind, stage, microbatch = op
    if kind in ("F", "F+"):
        return {("F", stage - 1, microbatch)} if placement.follows(stage) else set()
    if kind == "W":
        return {("B", stage, microbatch)}
    forward: Op = ("F", stage, microbatch)
    return {forward, ("B", stage + 1, microbatch)} if placement.leads(stage) else {forward}
