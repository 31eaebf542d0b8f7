"""A cache in blocks against the whole sequence, what it wastes and shares, what each bug does."""

from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"block": 1, "prompt": 3, "common": 2, "steps": 2, "longest": 50},
        {"block": 5, "prompt": 20, "common": 13, "samples": 5, "steps": 7, "longest": 99},
        {"block": 4, "prompt": 8, "common": 8, "samples": 2, "layers": 3, "longest": 1},
        {"block": 60, "samples": 4, "longest": 61},  # the contiguous cache: one block a sequence
    ],
)
@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_it_is_exact_and_keeps_its_laws(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    size = {"block": 16, "prompt": 45, "common": 16, "samples": 3, "steps": 4, "layers": 2}
    size |= {"longest": 2048} | args
    block, prompt, samples = size["block"], size["prompt"], size["samples"]

    full = prompt // block
    each = -(-(prompt + size["steps"]) // block)
    assert measured["blocks_samples"] == full + samples * (each - full)
    # Whoever writes last writes in place. With nothing unfinished there is nothing to copy.
    assert measured["blocks_copied"] == (samples - 1 if prompt % block else 0)
    assert measured["hit_tokens"] == min(size["common"], prompt - 1) // block * block

    lengths = range(1, size["longest"] + 1)
    slots = sum(-(-length // block) * block for length in lengths)
    assert measured["utilisation_paged"] == sum(lengths) / slots
    assert measured["utilisation_reserved"] == sum(lengths) / len(lengths) ** 2
    assert measured["empty_most"] == max(-length % block for length in lengths)


def test_many_layers_lose_no_digits(run: Run) -> None:
    assert run(2, layers=12)["verdict"] == "pass"


def test_sixteen_tokens_a_block_leave_less_than_a_hundredth_empty(run: Run) -> None:
    measured = run(1)["metrics"]
    assert measured["utilisation_paged"] == 2049 / 2064  # 99.3 %
    assert measured["utilisation_reserved"] == 2049 / 4096  # 50.0 %


def test_what_a_break_leaves_right(run: Run) -> None:
    home, whole = "all blocks come home", "a request alone equals the whole sequence"
    # A bug of sharing spares whoever shares nothing.
    for name in ("written-without-a-copy", "freed-while-shared", "key-without-parent"):
        assert whole not in failed(run(1, name))
    assert home not in failed(run(1, "written-without-a-copy"))
    # Without an unfinished block there is nothing to copy.
    assert run(1, "written-without-a-copy", prompt=32)["verdict"] == "pass"
    # From 33 tokens on no sequence gets to the end of its third block.
    assert run(1, "full-block-seen-as-empty", prompt=33)["verdict"] == "pass"
    # A first layer's keys and values know their own token and place only.
    assert run(1, "key-without-parent", layers=1)["verdict"] == "pass"
    wrong = run(1, "key-without-parent")["metrics"]
    assert (wrong["hit_tokens"], run(1)["metrics"]["hit_tokens"]) == (32, 16)
    assert wrong["hit_error"] > 0.01


def test_blocks_freed_too_early_are_written_by_whoever_comes_next(run: Run) -> None:
    # Nothing to copy here, so all was well until a sample ended.
    report = run(1, "freed-while-shared", prompt=32)
    assert report["metrics"]["fork_error"] > 0.01
    assert "one block for each beginning" not in failed(report)
    assert report["metrics"]["hit_tokens"] == 0  # what it could have found is gone


@pytest.mark.parametrize(
    ("ranks", "args", "says"),
    [
        (5, {}, "24 heads fit 1, 2, 3, 4, 6, 8, 12 and 24 ranks"),
        (1, {"samples": 1}, "samples at 2"),
        (1, {"block": 0}, "start at 1"),
        (1, {"common": 46}, "take common 0 to 45"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(
    run: Run, ranks: int, args: dict[str, Any], says: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
