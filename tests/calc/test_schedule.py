"""Orders on the clock: what each schedule takes, keeps alive and sends, by hand-worked numbers."""

import pytest

from quizkit.calc.schedule import Costs, order, peak_live, place, simulate
from quizkit.calc.schedule.placement import Name

# p = 4, m = 8, F = I = W = 1 for a whole device: makespan and peaks, in units of one chunk.
KNOWN: dict[tuple[Name, int], tuple[int, list[int]]] = {
    ("gpipe", 1): (33, [8, 8, 8, 8]),
    ("1f1b", 1): (33, [4, 3, 2, 1]),
    ("interleaved", 2): (57, [11, 9, 7, 5]),
    ("interleaved", 4): (105, [19, 17, 15, 13]),
    ("zb-h1", 1): (27, [4, 4, 4, 4]),
    ("zb-h2", 1): (27, [7, 7, 7, 7]),
    ("zb-v", 2): (51, [8, 8, 8, 8]),
    ("v-half", 2): (57, [6, 6, 6, 6]),
    ("v-min", 2): (59, [4, 4, 4, 4]),
    ("dualpipe", 2): (26, [5, 5, 5, 5]),
    ("dualpipe-v", 2): (54, [9, 9, 9, 9]),
}


@pytest.mark.parametrize(("schedule", "virtual"), KNOWN)
def test_four_stages_eight_microbatches(schedule: Name, virtual: int) -> None:
    orders = order(schedule, 4, 8, virtual)
    run = simulate(orders, place(schedule, 4, 8, virtual), Costs())
    assert (run.makespan, peak_live(orders)) == KNOWN[schedule, virtual]
