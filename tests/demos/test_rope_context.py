"""RoPE on a sequence that is cut: places, pairings, wavelengths, and what bf16 makes of ids."""

from math import ceil, pi
from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("rope-context")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("layout", ["contiguous", "zigzag", "striped"])
@pytest.mark.parametrize(
    ("ranks", "pairing"), [(1, "halves"), (2, "neighbours"), (3, "halves"), (3, "neighbours")]
)
def test_ids_are_all_that_is_needed(run: Run, ranks: int, layout: str, pairing: str) -> None:
    sizes = {"seq": 36, "heads": 3, "dim": 6, "context": 9}
    report = run(ranks, layout=layout, pairing=pairing, **sizes)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["rope_messages"] == [0] * ranks
    assert measured["attention_messages"] == [4] * ranks  # K, V and their gradients
    assert max(measured["out_error"], measured["grad_error"], *measured["shift_error"]) < 1e-12

    # Rows by rank are right where shards are contiguous, and counting from 0 on rank 0 there.
    by_rank = ranks == 1 or layout == "contiguous"
    assert all((error < 1e-12) == by_rank for error in measured["slice_error"])
    fits = [by_rank and rank == 0 for rank in range(ranks)]
    assert [error < 1e-12 for error in measured["from_zero_error"]] == fits
    for name in ("keys_shift_error", "mixed_error", "keys_rearranged_error"):
        assert min(measured[name]) > 0.01, name
    assert max(measured["rearranged_error"]) < 1e-12


@pytest.mark.parametrize(("dim", "base"), [(2, 10.0), (12, 100.0), (16, 10_000.0), (64, 500_000.0)])
def test_the_longest_wave_is_walked(run: Run, dim: int, base: float) -> None:
    wave = run(1, seq=2, heads=1, dim=dim, base=base)["metrics"]["longest_wave"]
    assert wave == ceil(2 * pi * base ** ((dim - 2) / dim))


@pytest.mark.parametrize(
    ("context", "distinct", "lost"),
    [(1, 1, -1), (257, 257, -1), (258, 257, 257), (512, 385, 257), (4096, 769, 257)],
)
def test_bf16_tells_256_ids_apart_and_then_fewer(
    run: Run, context: int, distinct: int, lost: int
) -> None:
    measured = run(1, context=context, seq=2, heads=1, dim=16)["metrics"]
    assert measured["distinct_bf16"] == distinct
    assert measured["first_lost_bf16"] == lost
    # Ids up to 256 are held; their angles are not.
    assert measured["cast_error"] < 0.0021
    assert (measured["ids_bf16_error"] > 0.5) == (context > 257)
    assert (measured["all_bf16_error"] > 0.05) == (context > 1)


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_turns_its_check_red(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    assert planted.expect in failed(run(planted.ranks + 1, name, context=9))


def test_what_a_break_leaves_right(run: Run) -> None:
    assert failed(run(2, "tables-gathered", context=9)) == ["RoPE sends nothing"]
    assert run(3, "contiguous-slice", layout="contiguous", context=9)["verdict"] == "pass"
    # Up to 256 the ids themselves survive: a short test does not see it.
    short = run(2, "bf16-positions", seq=64, context=9)
    assert "output equals one process" not in failed(short)


@pytest.mark.parametrize(
    ("ranks", "args", "said"),
    [
        (3, {"seq": 100}, "96 or 102"),
        (3, {"seq": 100, "layout": "striped"}, "99 or 102"),
        (2, {"dim": 7}, "6 or 8"),
        (2, {"heads": 0}, "1 or 2"),
        (2, {"base": 0.5}, "between 1 and"),
        (2, {"context": 0}, "between 1 and"),
    ],
)
def test_what_does_not_fit_is_refused(
    run: Run, ranks: int, args: dict[str, Any], said: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert said in report["error"]["message"]


@pytest.mark.parametrize("pairing", ["neighbours", "halves"])
def test_the_rotation_is_torchs(pairing: str) -> None:
    from types import SimpleNamespace

    import rope_context
    import torch

    operators = pytest.importorskip("torch.onnx.ops", reason="torch has it since 2.8")
    how = SimpleNamespace(dim=10, base=1000.0)
    x = torch.randn(1, 3, 6, 10, dtype=torch.float64)
    ids = torch.tensor([4, 0, 17, 3000, 2, 17])
    cos, sin = (table[None] for table in rope_context.tables(ids, how))
    interleaved = pairing == "neighbours"
    theirs = operators.rotary_embedding(x, cos, sin, interleaved=interleaved)
    ours = rope_context.rope(x, ids, how, pairing)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-13)
