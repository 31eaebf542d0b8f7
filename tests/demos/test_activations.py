"""The bytes a layer keeps, term by term; what each rank sends; what each bug does to it."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("activations")

pytestmark = pytest.mark.demo

PAIRS: dict[str, Any] = {}  # the defaults: pairs of tokens weigh most
WIDE = {"hidden": 192, "heads": 24, "seq": 24, "batch": 1}
CERTAIN = {"hidden": 48, "heads": 24, "seq": 72, "batch": 3, "dropout": 0.0}


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        *((ranks, PAIRS) for ranks in (1, 2, 3, 4, 6)),
        *((ranks, WIDE) for ranks in (2, 3)),
        *((ranks, CERTAIN) for ranks in (1, 3)),
    ],
)
def test_every_byte_has_its_term(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    size = {"hidden": 96, "heads": 24, "seq": 48, "batch": 2} | args
    sbh = size["seq"] * size["batch"] * size["hidden"]
    pairs = size["heads"] * size["seq"] ** 2 * size["batch"]

    def each(value: float) -> list[float]:
        return [value] * ranks

    assert measured["bytes_none_tp"] == each(10 * sbh + (24 * sbh + 5 * pairs) / ranks)
    assert measured["bytes_none_sp"] == each((34 * sbh + 5 * pairs) / ranks)
    assert measured["bytes_selective_tp"] == each(10 * sbh + 24 * sbh / ranks)
    assert measured["bytes_selective_sp"] == each(34 * sbh / ranks)
    assert measured["bytes_full_tp"] == each(2 * sbh)
    assert measured["bytes_full_sp"] == each(2 * sbh / ranks)
    # Attention: input of the norm 2, of q k v 2, residual mask 1; q k v 6, input of the last 2.
    assert measured["attention_bytes_tp"] == each(5 * sbh + (8 * sbh + 5 * pairs) / ranks)
    assert measured["attention_bytes_sp"] == each((13 * sbh + 5 * pairs) / ranks)
    # Two norms, two numbers each for a token, in bf16.
    statistics = 2 * 2 * 2 * size["seq"] * size["batch"]
    assert measured["norm_bytes_tp"] == each(statistics)
    assert measured["norm_bytes_sp"] == each(statistics / ranks)
    # An output onward and a gradient back: whole on each rank, or its tokens of them.
    assert measured["sent_cut_tp"] == each(4 * sbh * (ranks > 1))
    assert measured["sent_cut_sp"] == each(4 * sbh / ranks * (ranks > 1))

    half = (ranks - 1) * 2 * sbh / ranks  # a ring's reduce-scatter or all-gather
    assert measured["sent_forward_tp"] == measured["sent_forward_sp"] == each(4 * half)
    assert measured["sent_backward_tp"] == each(4 * half)
    assert measured["sent_backward_sp"] == each(6 * half)
    assert measured["resent_full_tp"] == measured["resent_full_sp"] == each(4 * half)

    forward = 24 * sbh * size["hidden"] + 4 * size["seq"] * sbh
    assert measured["flops_none"] == each(3 * forward / ranks)
    assert measured["flops_selective"] == each((3 * forward + 4 * size["seq"] * sbh) / ranks)
    assert measured["flops_full"] == each(4 * forward / ranks)


def test_what_a_break_leaves_right(run: Run) -> None:
    # The forward shows nothing, and the other layout has nothing of it.
    assert {name.split()[0] for name in failed(run(2, "no-conjugate"))} == {"tp"}
    assert {name.split()[0] for name in failed(run(2, "norms-not-reduced"))} == {"sp"}
    for name in DEMO.breaks:
        assert run(2, name)["metrics"]["out_error"] < 1e-12
    # Without dropout there are no dice to throw.
    assert run(1, "other-dice", dropout=0.0)["verdict"] == "pass"
    # Right numbers, no second gathering, and two whole inputs of 2sbh instead of shards.
    good, kept = run(2)["metrics"], run(2, "keeps-the-gathered")["metrics"]
    sbh = 48 * 2 * 96
    assert kept["bytes_none_sp"][0] - good["bytes_none_sp"][0] == 2 * 2 * sbh / 2
    assert kept["sent_backward_sp"] == good["sent_backward_tp"]
    assert kept["grad_error"] < 1e-12


@pytest.mark.parametrize(
    ("ranks", "args", "says"),
    [
        (5, {}, "take heads 25, hidden 100 and seq 50"),
        (2, {"hidden": 100}, "take heads 24, hidden 120 and seq 48"),
        (2, {"heads": 4, "seq": 7}, "take heads 4, hidden 96 and seq 8"),
        (1, {"batch": 0}, "start at 1"),
        (1, {"dropout": 1.0}, "below 1"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(
    run: Run, ranks: int, args: dict[str, Any], says: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]


def test_torchs_own_dropout_on_a_cpu_keeps_a_wide_mask() -> None:
    # The reason why the demo throws its own dice: the law's mask is one byte.
    from _bench import saved_activations

    import torch
    from activations import drop

    x = torch.ones(64, dtype=torch.bfloat16, requires_grad=True)
    kept: list[int] = []
    for dropped in (lambda: torch.dropout(x, 0.5, True), lambda: drop(x, 0.5)):
        with saved_activations([]) as saved:
            held = dropped()
            kept.append(saved.live_bytes)
            del held
    assert kept == [128, 64]


def test_the_core_is_attention() -> None:
    import torch
    from activations import core
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = torch.randn(3, 5, 7, 4, dtype=torch.float64)
    torch.testing.assert_close(
        core(q, k, v, 0.0, 1), scaled_dot_product_attention(q, k, v), rtol=1e-12, atol=1e-12
    )
