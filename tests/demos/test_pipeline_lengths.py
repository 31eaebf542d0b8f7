"""What pads cost a pipeline, what a long micro-batch costs it, and what each planted bug does."""

import re
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run, failed

SOURCE = (Path(__file__).parents[2] / "demos" / "pipeline_lengths.py").read_text("utf-8")
LAYOUTS = ("padded", "ragged", "bucketed", "packed")


def lengths_of(samples: int = 16, short: int = 6, spread: int = 5, long: int = 16) -> list[int]:
    lengths = [short - i % spread for i in range(samples)]
    lengths[samples // 2] = long
    return lengths


def widths(layout: str, lengths: list[int], rows: int, bucket: int) -> list[int]:
    """A width for each micro-batch, from the definition of the layout."""
    if layout == "bucketed":
        bounds = [ceil(n / bucket) * bucket for n in lengths]
        return [b for b in sorted(set(bounds)) for _ in range(ceil(bounds.count(b) / rows))]
    groups = [lengths[at : at + rows] for at in range(0, len(lengths), rows)]
    return [max(lengths if layout == "padded" else group) for group in groups]


@pytest.mark.demo
@pytest.mark.parametrize(
    ("p", "sizes", "rows"),
    [
        (1, {}, 2),
        (2, {"samples": 5}, 2),
        (3, {"samples": 7, "short": 9, "spread": 9, "long": 13}, 1),
        (4, {}, 2),
        (4, {"samples": 3, "short": 5, "spread": 1, "long": 3}, 3),
    ],
)
def test_each_layout_gives_what_the_samples_give_alone(
    run: Run, p: int, sizes: dict[str, int], rows: int
) -> None:
    report = run(p, **sizes, rows=rows, pair=0, order="gpipe")
    assert report["verdict"] == "pass", failed(report)
    measured = report["metrics"]
    lengths = lengths_of(**sizes)
    assert measured["real_tokens"] == sum(lengths)
    assert measured["tokens_padded"] == ceil(len(lengths) / rows) * rows * max(lengths)
    assert measured["tokens_packed"] % 16 == 0
    for layout in ("padded", "ragged", "bucketed"):
        each = widths(layout, lengths, rows, 8)
        # Only a layout with a single shape does without headers.
        down = len(each) * (1 if layout == "padded" else 2)
        sent = [down * (s < p - 1) + len(each) * (s > 0) for s in range(p)]
        assert measured[f"messages_{layout}"] == sent
        if rows == 1:
            assert measured[f"tokens_{layout}"] == sum(each)
            assert measured[f"shapes_{layout}"] == len(set(each))
            # The longest micro-batch passes every stage, and nothing overtakes it.
            assert measured[f"makespan_{layout}"] == 3 * (sum(each) + (p - 1) * max(each))
    assert measured["shapes_padded"] == measured["shapes_packed"] == 1


@pytest.mark.demo
def test_packing_fills_its_rows(run: Run) -> None:
    measured = run(4)["metrics"]
    shares = {name: measured["real_tokens"] / measured[f"tokens_{name}"] for name in LAYOUTS}
    assert shares == {
        "padded": 79 / 256,
        "ragged": 79 / 106,
        "bucketed": 79 / 136,
        "packed": 79 / 80,
    }
    times = [measured[f"makespan_{name}"] for name in LAYOUTS]
    assert times == sorted(times, reverse=True)


@pytest.mark.demo
@pytest.mark.parametrize(("order", "time"), [("gpipe", 276), ("1f1b", 264)])
def test_one_long_micro_batch_stalls_all(run: Run, order: str, time: float) -> None:
    one = {"samples": 8, "short": 4, "spread": 1, "rows": 1, "pair": 0, "order": order}
    uneven = run(4, **one, long=16)["metrics"]
    even = run(4, **one, long=4)["metrics"]
    assert even["makespan_ragged"] == 4 * 33
    assert uneven["makespan_ragged"] == time


@pytest.mark.demo
def test_a_pair_has_its_price(run: Run) -> None:
    # 5 rows of 16, of which a packed one sees its own documents only.
    free, dear = run(1, pair=0)["metrics"], run(1, pair=1)["metrics"]
    lengths = lengths_of()
    seen = sum(n * (n + 1) // 2 for n in lengths) + 1  # and the one pad sees itself
    assert dear["makespan_packed"] - free["makespan_packed"] == 3 * seen
    assert dear["makespan_padded"] - free["makespan_padded"] == 3 * 16 * 16 * 17 // 2


BREAKS = {
    "sees-neighbours": ("packed: out as sample by sample", {"packed"}),
    "positions-run-on": ("packed: out as sample by sample", {"packed"}),
    "pads-in-the-loss": ("padded: grad as sample by sample", set(LAYOUTS)),
    "mean-of-means": ("ragged: grad as sample by sample", set(LAYOUTS)),
    "cut-into-pieces": ("packed: out as sample by sample", set(LAYOUTS)),
}


@pytest.mark.demo
@pytest.mark.parametrize("name", BREAKS)
def test_a_break_shows_as_declared(run: Run, name: str) -> None:
    expect, layouts = BREAKS[name]
    declared = re.search(rf'"{name}": Break\(.*?expect="(.*?)",\s*ranks=(\d+)', SOURCE, re.DOTALL)
    assert declared is not None
    assert declared.groups() == (expect, "1")
    for ranks in (1, 3):
        red = failed(run(ranks, name))
        assert expect in red
        assert {check.split(":")[0] for check in red} == layouts


@pytest.mark.demo
def test_means_of_equal_parts_are_the_mean(run: Run) -> None:
    even = {"samples": 8, "short": 4, "spread": 1, "long": 4, "budget": 16}
    assert failed(run(2, "mean-of-means", **even)) == []
    assert failed(run(2, "pads-in-the-loss", **even, bucket=4)) == []


@pytest.mark.demo
def test_pieces_that_are_whole_samples_do_no_harm(run: Run) -> None:
    assert failed(run(2, "cut-into-pieces", long=8)) == []


@pytest.mark.demo
@pytest.mark.parametrize(
    ("args", "hint"),
    [({"long": 20}, "20"), ({"short": 3}, "short at spread"), ({"backward": 0}, "2")],
)
def test_what_cannot_run_is_refused_with_what_can(
    run: Run, args: dict[str, Any], hint: str
) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert hint in report["error"]["message"]
