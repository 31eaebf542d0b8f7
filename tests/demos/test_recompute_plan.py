"""Plans against every plan there is, what runs hold against what plans say, and the bugs."""

from itertools import product
from random import Random
from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("recompute-plan")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (1, {}),
        (3, {}),
        (1, {"pairs": 1, "budget": 1.0}),
        (2, {"pairs": 2, "seq": 7, "width": 5}),
        (1, {"pairs": 3, "seq": 33, "width": 6, "budget": 0.42}),
        (1, {"pairs": 4, "seq": 16, "width": 24, "budget": 0.8}),
    ],
)
def test_the_plan_fits_and_none_is_cheaper(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    found = report["metrics"]
    assert found["peak_plan"] <= found["budget_bytes"] <= found["peak_none"]
    assert found["again_plan"] == found["again_tried"] <= found["again_largest"]
    assert found["again_full"] == found["again_sqrt"] == 1
    if args.get("budget") == 1.0:
        assert found["again_plan"] == 0


def test_square_roots_are_for_equal_layers(run: Run) -> None:
    # A piece comes back whole: of unlike layers, three together may be more than the widest alone.
    found = run(1)["metrics"]
    assert found["peak_sqrt"] > found["peak_full"]
    assert found["again_largest"] > found["again_plan"] > 0


def test_no_room_for_one_layer_is_refused_with_what_would_do(run: Run) -> None:
    report = run(1, budget=0.1)
    assert report["outcome"] == "refused"
    least = float(report["error"]["message"].split("budget of ")[1].split()[0])
    assert run(1, budget=least)["verdict"] == "pass"
    assert run(1, budget=least - 0.002)["outcome"] == "refused"
    assert run(1, pairs=5)["outcome"] == "refused"


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_turns_its_check_red(run: Run, name: str) -> None:
    for pairs in (2, 4):
        assert DEMO.breaks[name].expect in failed(run(1, name, pairs=pairs))


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(1)["metrics"]]


def test_the_frontier_finds_what_trying_all_finds() -> None:
    from recompute_plan import Layers, again, all_plans, best_plan, peak

    dice = Random(0)
    for count, _ in product(range(1, 8), range(12)):
        inputs = [dice.randint(1, 5) for _ in range(count)]
        kept = [own + dice.randint(0, 20) for own in inputs]
        layers = Layers(kept, inputs, [dice.randint(0, 9) for _ in range(count)])
        budget = dice.randint(1, sum(kept))
        fits = [again(layers, p) for p in all_plans(count) if peak(layers, p) <= budget]
        best = best_plan(layers, budget)
        assert (best is None) == (not fits)
        if best is not None:
            assert again(layers, best) == min(fits)
            assert peak(layers, best) <= budget


def test_equal_layers_in_pieces_hold_the_fewest_bytes_at_the_square_root() -> None:
    from recompute_plan import Layers, best_plan, peak, pieces

    layers = Layers([1] * 16, [1] * 16, [1] * 16)
    peaks = {length: peak(layers, pieces(layers, length)) for length in range(1, 17)}
    # L/k pieces' inputs, the last of which is in the piece that runs again: L/k + k - 1.
    assert peaks[4] == min(peaks.values()) == 7
    # Unequal pieces do better, for later ones find less room: 6 + 5 + 4 + 1 in 6; in 5 no more
    # than 5 + 4 + 3 + 2 + 1 layers.
    assert best_plan(layers, 6) is not None
    assert best_plan(layers, 5) is None
