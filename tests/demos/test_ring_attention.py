"""Ring attention against full attention, its laws, and what each planted bug does to it."""

import itertools
import json
import subprocess
import sys
from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed
from .ranks import on_ranks

DEMO = find("ring-attention")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("layout", ["contiguous", "zigzag"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
def test_it_is_exact_and_keeps_its_laws(run: Run, ranks: int, layout: str, causal: bool) -> None:
    seq, heads, dim = 144, 3, 10
    report = run(ranks, seq=seq, heads=heads, dim=dim, layout=layout, causal=causal)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert max(measured[name] for name in ("out_error", "grad_error", "sdpa_error")) < 1e-12

    tokens = seq // ranks
    block = 2 * tokens * heads * dim * 8
    assert measured["kv_block_bytes"] == block
    assert measured["sent_forward"] == [(ranks - 1) * block] * ranks
    assert measured["messages_forward"] == [ranks - 1] * ranks
    # K and V once more, and dK and dV over as many hops and the one home.
    hops = ranks - 1 + ranks if ranks > 1 else 0
    assert measured["sent_backward"] == [hops * block] * ranks
    assert measured["kv_blocks_held"] == [min(ranks, 2)] * ranks

    assert sum(measured["work"]) == (seq * (seq + 1) // 2 if causal else seq * seq)
    if causal and layout == "contiguous":
        steps = [rank * tokens**2 + tokens * (tokens + 1) // 2 for rank in range(ranks)]
        assert measured["work"] == steps
        lopsided = ((2 * ranks - 1) * tokens + 1) / (ranks * tokens + 1)
        assert measured["imbalance"] == pytest.approx(lopsided, rel=1e-12)
    else:
        assert measured["imbalance"] == 1.0


def test_the_defaults_run_at_every_usual_number_of_ranks(run: Run) -> None:
    assert [run(ranks)["verdict"] for ranks in (1, 2, 3, 4, 8)] == ["pass"] * 5


@pytest.mark.parametrize("args", [{"seq": 8, "heads": 1, "dim": 2}, {"heads": 5, "dim": 6}])
def test_the_smallest_and_odd_sizes(run: Run, args: dict[str, int]) -> None:
    assert run(4, **args)["verdict"] == "pass"


def test_what_a_break_leaves_right(run: Run) -> None:
    # The loss is right and only training goes wrong.
    assert "output equals full attention" not in failed(run(4, "stale-kv"))
    # Only time is lost.
    assert failed(run(4, "wait-first")) == ["blocks travel while attention is computed"]


def test_only_a_causal_mask_notices_the_wrong_direction(run: Run) -> None:
    assert run(4, "wrong-direction", causal=False)["verdict"] == "pass"
    assert failed(run(4, "wrong-direction", layout="contiguous"))


def test_contiguous_positions_are_right_for_the_contiguous_layout(run: Run) -> None:
    assert run(4, "contiguous-positions", layout="contiguous")["verdict"] == "pass"
    assert failed(run(4, "contiguous-positions", causal=False))


@pytest.mark.parametrize("transfer", [0.0, 0.5, 1.0, 2.5])
def test_a_transfer_hides_behind_attention_that_takes_longer(run: Run, transfer: float) -> None:
    ranks = 4
    hidden = run(ranks, causal=False, transfer=transfer)
    assert hidden["verdict"] == "pass"
    assert hidden["metrics"]["time_forward"] == (ranks - 1) * max(1.0, transfer) + 1.0
    waited = run(ranks, "wait-first", causal=False, transfer=transfer)["metrics"]
    assert waited["time_forward"] == ranks * 1.0 + (ranks - 1) * transfer


def test_the_timeline_shows_whose_block_each_rank_attends_to(run: Run) -> None:
    def blocks(report: dict[str, Any], rank: int) -> list[str]:
        return [e["name"] for e in report["timeline"]["events"] if e["rank"] == rank]

    zigzag, contiguous = run(4), run(4, layout="contiguous")
    assert blocks(zigzag, 1) == ["A1", "A0", "A3", "A2"]
    # Contiguous: the blocks of the ranks ahead are hidden as a whole.
    assert blocks(contiguous, 1) == ["A1", "A0"]
    assert [len(blocks(contiguous, rank)) for rank in range(4)] == [1, 2, 3, 4]
    # So half the pairs are masked, yet all wait for the last rank.
    assert contiguous["metrics"]["time_forward"] > 1.7 * zigzag["metrics"]["time_forward"]


@pytest.mark.parametrize(
    ("ranks", "args", "nearest"),
    [
        (3, {"seq": 100}, "96 or 102"),
        (3, {"seq": 100, "layout": "contiguous"}, "99 or 102"),
        (4, {"seq": 3}, "8 or 16"),
        (2, {"dim": 7}, "6 or 8"),
        (2, {"heads": 0}, "1 or 2"),
    ],
)
def test_what_cannot_be_divided_is_refused(
    run: Run, ranks: int, args: dict[str, Any], nearest: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert report["error"]["message"].endswith(nearest)


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]


def test_the_same_numbers_without_the_tool(run: Run) -> None:
    done = subprocess.run(
        [sys.executable, DEMO.path, "--ranks", "2", "--no-causal", "--json", "--device", "cpu"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert json.loads(done.stdout)["metrics"] == run(2, causal=False)["metrics"]


def test_rotation_is_a_product_of_complex_numbers() -> None:
    import ring_attention
    import torch

    x = torch.randn(2, 7, 6, dtype=torch.float64)
    places = torch.tensor([0, 1, 5, 9, 100, 4095, 3])
    speeds = torch.tensor([1.0, 10_000.0 ** (-1 / 3), 10_000.0 ** (-2 / 3)], dtype=torch.float64)
    turn = torch.exp(1j * places[:, None] * speeds)
    pairs = torch.view_as_complex(x.unflatten(-1, (3, 2)))
    expected = torch.view_as_real(pairs * turn).flatten(-2)
    ours = ring_attention.rotate(x, places)
    torch.testing.assert_close(ours, expected, rtol=0, atol=1e-11)
    torch.testing.assert_close(ring_attention.rotate(ours, -places), x, rtol=0, atol=1e-14)


@pytest.mark.parametrize("shift", [0.0, 1000.0, -1000.0])
def test_a_merge_is_the_softmax_over_all_keys(shift: float) -> None:
    import ring_attention
    import torch

    q, k, v = torch.randn(3, 2, 8, 4, dtype=torch.float64)
    k[:, :, 0] += shift  # normalisers whose exp() would overflow, or vanish
    seen = torch.ones(8, 8, dtype=torch.bool)
    early = ring_attention.attend(q, k[:, :3], v[:, :3], seen[:, :3])
    late = ring_attention.attend(q, k[:, 3:], v[:, 3:], seen[:, 3:])
    whole = ring_attention.attend(q, k, v, seen)
    for merged in (ring_attention.merge(*early, *late), ring_attention.merge(*late, *early)):
        torch.testing.assert_close(merged, whole, rtol=1e-12, atol=1e-12)


def one_ring(layout: str, kind: str, causal: bool) -> dict[str, float]:
    """Errors of a ring's output and gradients against fp64, over those of torch's own attention."""
    from _bench import everyone, rank, ranks

    import torch
    from ring_attention import backward, forward, plan, positions
    from torch.nn.functional import scaled_dot_product_attention

    seq, dtype = 48 * ranks(), getattr(torch, kind)
    torch.manual_seed(0)
    inputs = torch.randn(4, 3, seq, 16).to(dtype)

    def attention(wide):
        q, k, v = (x.to(wide).requires_grad_() for x in inputs[:3])
        out = scaled_dot_product_attention(q, k, v, is_causal=causal)
        gradients = torch.autograd.grad((out * inputs[3].to(wide)).sum(), (q, k, v))
        return [x.detach().double() for x in (out, *gradients)]

    truth, theirs = attention(torch.float64), attention(dtype)
    here, visits = positions(rank(), seq, layout), plan(seq, layout, causal)
    q, k, v, dout = inputs[:, :, here]
    out, lse, _, _ = forward(q, k, v, visits)
    ours = [out, *backward(dout, q, k, v, out, lse, visits)]
    assert all(x.dtype == dtype for x in ours)
    ratios = {}
    for name, mine, other, true in zip(("out", "dq", "dk", "dv"), ours, theirs, truth, strict=True):
        off = (mine - true[:, here]).abs().max().item()
        usual = (other - true).abs().max().item() + 1e-15
        ratios[name] = everyone(off).max().item() / usual
    return ratios


def rings(kind: str) -> dict[str, dict[str, float]]:
    both = itertools.product(("contiguous", "zigzag"), (True, False))
    return {f"{layout}, causal {causal}": one_ring(layout, kind, causal) for layout, causal in both}


@pytest.mark.parametrize("kind", ["float64", "float32", "bfloat16"])
def test_no_dtype_is_rounded_more_than_in_torchs_attention(kind: str) -> None:
    for found in on_ranks(4, rings, kind):
        for how, ratios in found.items():
            assert max(ratios.values()) < (4 if kind == "float64" else 2), (how, ratios)
