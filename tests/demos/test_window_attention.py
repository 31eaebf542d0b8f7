"""A sliding window across ranks and while decoding: its laws, and what each bug does to it."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("window-attention")
FP64 = 8

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"seq": 24, "layers": 1, "window": 2, "width": 2},
        {"seq": 72, "layers": 4, "window": 10, "width": 6},
    ],
)
@pytest.mark.parametrize("ranks", [1, 3, 8])
def test_it_is_exact_and_keeps_its_laws(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    sizes = {"seq": 48, "layers": 3, "window": 6, "width": 8} | args
    seq, layers, window, width = sizes.values()
    tokens, edge = seq // ranks, window - 1
    token_bytes = 2 * width * FP64

    assert measured["pairs_full"] == seq * (seq + 1) // 2
    assert measured["pairs_window"] == window * seq - window * edge // 2
    first = window * tokens - window * edge // 2
    assert measured["work"] == [first] + [window * tokens] * (ranks - 1)
    assert measured["kv_tokens"] == [tokens] + [tokens + edge] * (ranks - 1)

    halo = [layers * edge * token_bytes] * (ranks - 1)
    assert measured["sent_halo"] == [*halo, 0]
    assert measured["sent_home"] == [0, *halo]
    assert measured["sent_ring"] == [layers * (ranks - 1) * tokens * token_bytes] * ranks

    assert measured["reach"] == min(seq, layers * edge + 1)
    assert measured["cache_window"] == layers * window * token_bytes
    assert measured["cache_full"] == layers * seq * token_bytes
    assert max(measured[name] for name in ("decode_error", "out_error", "grad_error")) < 1e-12


def test_many_layers_lose_neither_digits_nor_reach(run: Run) -> None:
    report = run(2, layers=20, window=2)
    assert report["verdict"] == "pass", report["checks"]
    assert report["metrics"]["reach"] == 21


def test_a_window_as_long_as_the_sequence_is_full_attention(run: Run) -> None:
    measured = run(1, seq=20, window=20)["metrics"]
    assert measured["pairs_window"] == measured["pairs_full"]
    assert measured["cache_window"] == measured["cache_full"]
    assert measured["reach"] == 20


def test_a_longer_sequence_costs_the_halo_nothing(run: Run) -> None:
    short, long = (run(2, seq=seq, layers=2)["metrics"] for seq in (16, 64))
    for name in ("sent_halo", "cache_window", "reach"):
        assert short[name] == long[name]
    assert long["sent_ring"][0] == 4 * short["sent_ring"][0]


def test_what_a_break_leaves_right(run: Run) -> None:
    # A cache of W slots holds no more than W tokens, whatever the mask would let through: decoding
    # is right, and no longer what was trained.
    wrong = failed(run(1, "one-too-many"))
    assert "small cache: out as one process" not in wrong
    assert "whole cache: out as one process" in wrong
    assert run(1, "one-too-many")["metrics"]["reach"] == 3 * 6 + 1
    # The loss is right and only training goes wrong.
    assert failed(run(2, "gradient-stays")) == ["halo: grad as one process"]
    # A whole cache never has to give up a slot, and its length is the position.
    for name in ("keeps-the-oldest", "position-from-length"):
        assert failed(run(1, name)) == ["small cache: out as one process"]


@pytest.mark.parametrize(
    ("ranks", "args", "nearest"),
    [
        (4, {"seq": 50}, "52 or 56"),
        (4, {"seq": 16}, "20 or 24"),
        (2, {"width": 5}, "2, 4, 6, ..."),
        (2, {"window": 1}, "2, 4, 6, ..."),
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


@pytest.mark.parametrize(("kind", "close"), [("bfloat16", 2**-6), ("float32", 1e-5)])
def test_a_late_place_is_as_exact_as_an_early_one(kind: str, close: float) -> None:
    import torch
    from window_attention import rotate

    x = torch.randn(2, 6, 8, generator=torch.Generator().manual_seed(0)).to(getattr(torch, kind))
    places = torch.tensor([0, 1, 300, 301, 4095, 70_000])
    ours = rotate(x, places)
    assert ours.dtype == x.dtype
    assert (ours - rotate(x.double(), places)).abs().max() < close
