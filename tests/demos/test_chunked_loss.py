"""A loss in chunks: torch's gradients, a chunk's logits at once, and what goes wrong."""

from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"chunk": 37, "prompt": 0},
        {"chunk": 1000},
        {"chunk": 10, "prompt": 255},
        {"tokens": 5, "vocab": 17, "width": 3, "chunk": 2, "prompt": 4},
        {"dtype": "fp32", "tokens": 100, "vocab": 333},
    ],
)
def test_losses_and_gradients_are_those_of_whole_logits(run: Run, args: dict[str, Any]) -> None:
    report = run(1, **args)
    assert report["verdict"] == "pass", report


@pytest.mark.parametrize(("dtype", "kept"), [("bf16", 4), ("fp32", 4)])
def test_twelve_bytes_a_logit_and_four_that_stay(run: Run, dtype: str, kept: int) -> None:
    measured = run(1, dtype=dtype)["metrics"]
    assert measured["peak_whole"] == pytest.approx(12 * measured["all_logits"], rel=1e-4)
    assert measured["kept_whole"] == pytest.approx(kept * measured["all_logits"], rel=1e-4)
    assert measured["kept_recomputed"] < 100


def test_peaks_follow_the_chunk(run: Run) -> None:
    tokens, vocab, width = 512, 2000, 8
    for chunk in (32, 64, 128):
        measured = run(1, tokens=tokens, vocab=vocab, width=width, chunk=chunk)["metrics"]
        # Logits of a chunk in 16 bits and 32, and the gradients that are being added up.
        small = 2 * tokens * width + 6 * vocab * width + 2 * 16 * tokens
        assert 6 * chunk * vocab <= measured["peak_chunked"] <= 6 * chunk * vocab + small
        assert 12 * chunk * vocab <= measured["peak_recomputed"] <= 12 * chunk * vocab + small


def test_making_logits_again_costs_a_third(run: Run) -> None:
    measured = run(1)["metrics"]
    assert measured["head_flops_whole"] == 3 * 2 * 256 * 1000 * 16
    assert measured["head_flops_chunked"] == measured["head_flops_whole"]
    assert 3 * measured["head_flops_recomputed"] == 4 * measured["head_flops_whole"]


def test_a_mean_of_means_is_right_where_chunks_are_alike(run: Run) -> None:
    assert failed(run(1, "mean-of-means", prompt=0)) == []
    assert run(1, prompt=0)["metrics"]["means_loss"] == pytest.approx(
        run(1, prompt=0)["metrics"]["mean_loss"]
    )
    uneven = run(1)["metrics"]
    assert abs(uneven["means_loss"] - uneven["mean_loss"]) > 0.01
    assert uneven["chunk_counting"] == 24


def test_what_a_break_leaves_right(run: Run) -> None:
    assert "loss as from whole logits" not in failed(run(1, "ignored-tokens-teach"))
    assert failed(run(1, "ignored-tokens-teach", prompt=0)) == []
    assert "tied grad as from whole logits" not in failed(run(1, "factor-forgotten"))
    measured = run(1, "no-checkpoint")["metrics"]
    assert measured["kept_recomputed"] == pytest.approx(4 * measured["all_logits"], rel=1e-3)


@pytest.mark.parametrize(
    ("args", "says"),
    [({"vocab": 15}, "vocab at 16"), ({"chunk": 0}, "start at 1"), ({"prompt": 256}, "0 to 255")],
)
def test_what_makes_no_sense_is_refused(run: Run, args: dict[str, Any], says: str) -> None:
    report = run(1, **args)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
