"""A checkpoint read in other layouts: bytes against arithmetic, and what each bug leaves intact."""

from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

SIZES = [  # ranks, tp, ranks of the new layout, its tp, layers, heads, hidden, ffn, vocab
    (1, 1, 2, 2, 1, 4, 5, 6, 9),
    (2, 2, 6, 1, 1, 4, 7, 4, 17),
    (3, 1, 4, 2, 2, 8, 5, 8, 3),
    (4, 2, 8, 4, 1, 8, 9, 12, 50),
    (4, 4, 3, 1, 1, 8, 3, 8, 33),
    (6, 3, 4, 2, 1, 12, 5, 6, 40),
    (8, 2, 1, 1, 1, 8, 6, 10, 70),
]
FIELDS = ("tp", "to_ranks", "to_tp", "layers", "heads", "hidden", "ffn", "vocab")


def tensors(layers: int, heads: int, hidden: int, ffn: int, vocab: int) -> list[tuple[str, int]]:
    """Elements of each tensor, and how it is cut."""
    block = [("norm", hidden), ("norm", hidden), ("cut", 8 * heads * hidden)]
    block += [("cut", 4 * heads * hidden), ("cut", 2 * ffn * hidden), ("cut", hidden * ffn)]
    return [("table", vocab * hidden)] * 2 + [("norm", hidden)] + block * layers


@pytest.mark.parametrize("given", SIZES)
def test_bytes_are_those_of_what_a_rank_holds(run: Run, given: tuple[int, ...]) -> None:
    ranks, sizes = given[0], dict(zip(FIELDS, given[1:], strict=True))
    report = run(ranks, **sizes)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    whole = tensors(*[sizes[field] for field in FIELDS[3:]])
    stored = 14 * sum(elements for _, elements in whole)
    assert measured["stored_bytes"] == sum(measured["wrote_bytes"]) == stored
    assert measured["one_read_bytes"] == stored
    dp = sizes["to_ranks"] // sizes["to_tp"]
    copies = {"norm": sizes["to_tp"]}
    states = sum(12 * copies.get(how, 1) * elements for how, elements in whole)
    weights = sum(2 * copies.get(how, 1) * dp * elements for how, elements in whole)
    assert measured["new_total_bytes"] == states + weights
    assert measured["restored_apart"] == measured["torch_apart"] == 0


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_no_rank_reads_all_but_one_that_is_alone(run: Run, ranks: int) -> None:
    measured = run(ranks)["metrics"]
    tp, dp = 4, ranks // 2
    cut = measured["stored_bytes"] * (2 / tp + 12 / (tp * dp)) / 14
    # Norms are on every TP rank, and the vocabulary does not divide: the fullest rank has more.
    assert cut < measured["new_read_bytes"] < 1.3 * cut
    assert measured["weights_read_bytes"] < measured["new_read_bytes"]
    assert measured["new_files"] <= ranks


def test_a_fused_weight_passes_until_the_degree_changes(run: Run) -> None:
    report = run(4, "fused-as-one-block")
    assert failed(report) == ["every layout restores what was saved"]
    assert report["metrics"]["resumed_apart"] == 0
    kept = run(4, "fused-as-one-block", to_ranks=2, to_tp=2)["metrics"]
    # Without TP nothing is fused apart: it is the whole that comes out in another order.
    assert 0 < kept["restored_apart"] < report["metrics"]["restored_apart"]


def test_a_wrong_axis_shows_at_once(run: Run) -> None:
    assert "the layout that wrote reads it back" in failed(run(2, "wrong-axis"))


def test_who_reads_one_file_gets_a_part(run: Run) -> None:
    measured = run(4, "own-file-only")["metrics"]
    assert measured["new_files"] == 1
    assert measured["one_read_bytes"] < measured["stored_bytes"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"tp": 3}, "take 1"),
        ({"to_ranks": 6, "to_tp": 4}, "take 1"),
        ({"heads": 6, "tp": 2}, "take 1"),
        ({"layers": 0}, "start at 1"),
    ],
)
def test_what_cannot_be_cut_is_refused(run: Run, wrong: dict[str, Any], says: str) -> None:
    report = run(4, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
