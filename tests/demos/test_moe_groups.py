"""Two meshes on the same ranks: against one process, the closed forms, and torch's DDP."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed
from .ranks import on_ranks

DEMO = find("moe-groups")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (1, {"per_rank": 3, "k": 3}),
        (2, {"extra": 4, "width": 5}),
        (3, {"extra": 2}),
        (3, {"ep": 1, "tp": 3}),
        (4, {"ep": 4, "tokens": 1, "k": 1}),
        (4, {"tp": 4, "extra": 1}),
        (6, {"ep": 3, "tp": 2, "width": 7}),
        (8, {"ep": 4, "tp": 2, "extra": 3, "per_rank": 1}),
        (8, {"ep": 8, "tp": 4, "k": 5}),
    ],
)
def test_any_two_meshes_are_one_process(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert max(measured["gradient_error"]) < 1e-12
    assert max(measured["weight_gap"]) < 1e-12


@pytest.mark.parametrize(
    ("n", "ep", "tp"), [(4, 2, 1), (4, 4, 2), (6, 2, 3), (6, 3, 2), (8, 2, 2), (8, 4, 2)]
)
def test_who_holds_what_and_sends_what(run: Run, n: int, ep: int, tp: int) -> None:
    measured = run(n, ep=ep, tp=tp, width=12)["metrics"]
    edp, dp = n // ep, n // tp
    assert measured["expert_copies"] == [edp] * n
    assert measured["expert_next"] == [(r + ep) % n for r in range(n)]
    assert measured["distinct_experts"] == 2 * ep
    experts, dense = 2 * 2 * 12 * 5 * 8, 2 * 12 * 24 * 8 // tp
    assert measured["expert_bytes"] == [experts] * n
    assert measured["dense_bytes"] == [dense] * n
    assert measured["expert_sent"] == [2 * (edp - 1) * experts // edp] * n
    assert measured["dense_sent"] == [2 * (dp - 1) * dense // dp] * n
    # Two fp64 numbers each of all experts' weights, over all ranks.
    assert measured["expert_states"] == [2 * experts * ep // n] * n


@pytest.mark.parametrize(("n", "ep"), [(2, 2), (3, 3), (4, 1), (6, 3), (8, 4)])
def test_what_other_divisors_and_groups_would_make_of_it(run: Run, n: int, ep: int) -> None:
    measured = run(n, ep=ep)["metrics"]
    assert measured["scale_by_copies"] == pytest.approx(ep, rel=1e-12)
    # Every place gets the other ep - 1 places' experts on top of its own.
    assert measured["averaged_error"] == pytest.approx((ep - 1) ** 0.5, abs=0.3)
    assert measured["adam_gap"] < 1e-9
    assert (measured["clipped_gap"] > 1e-6) == (ep > 1)


@pytest.mark.parametrize(("n", "ep"), [(2, 2), (4, 2), (8, 4)])
def test_norms_of_their_own_part_the_copies(run: Run, n: int, ep: int) -> None:
    measured = run(n, ep=ep)["metrics"]
    own = measured["norm_own"]
    assert own == own[:ep] * (n // ep)
    assert max(own) < measured["norm_used"][0]
    assert measured["dense_drift"] == measured["expert_drift"] == [0] * n
    assert [drift > 0 for drift in measured["own_drift"]] == [r % ep > 0 for r in range(n)]


def test_skipped_experts_part_without_a_word(run: Run) -> None:
    report = run(4, "skipped")
    assert "copies of experts stay alike" in failed(report)
    assert "dense: gradients equal one process" not in failed(report)
    measured = report["metrics"]
    assert measured["expert_sent"] == [0] * 4
    assert [drift > 0 for drift in measured["expert_drift"]] == [False, False, True, True]
    # Where no expert has a copy there is nothing to skip.
    assert run(4, "skipped", ep=4)["verdict"] == "pass"


def test_what_a_break_leaves_right(run: Run) -> None:
    # The factor is N / EDP: without expert parallelism there is none.
    assert run(4, "divided-by-copies", ep=1)["verdict"] == "pass"
    assert run(4, "over-all-ranks", ep=1)["verdict"] == "pass"
    wrong = failed(run(4, "over-all-ranks"))
    assert not [name for name in wrong if name.startswith(("dense", "router", "outputs"))]
    started = run(4, "starts-from-rank-0")["metrics"]
    assert started["distinct_experts"] == 2
    assert started["expert_copies"] == [4] * 4
    norms = run(4, "norm-of-its-own")["metrics"]["norm_used"]
    assert norms == norms[:2] * 2
    assert norms[0] != norms[1]


@pytest.mark.parametrize(
    "args",
    [{"ep": 3}, {"tp": 3}, {"ep": -1}, {"k": 5}, {"tp": 4, "ffn": 6}, {"extra": -1}, {"tokens": 0}],
)
def test_sizes_that_mean_nothing_are_refused(run: Run, args: dict[str, Any]) -> None:
    assert run(4, **args)["outcome"] == "refused"


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]


# What torch's DDP makes of the same model: over all ranks, and with a group of its own for experts.


def under_ddp(apiece: bool) -> list[float]:
    """Distinct experts at the start, and how far each gradient is from ours, by part."""
    from _bench import all_gather, rank, ranks

    import torch
    from moe_groups import layer, line, parts_of, reduced
    from torch.distributed.device_mesh import init_device_mesh
    from torch.nn.parallel import DistributedDataParallel

    class Experts(torch.nn.Module):
        """Weights that stand in a module of their own."""

        def __init__(self, *weights: Any) -> None:
            super().__init__()
            self.weights = torch.nn.ParameterList(weights)

        def forward(self) -> Any:
            return [weight * 1.0 for weight in self.weights]

    n, ep = ranks(), 2
    torch.manual_seed(rank() % ep)
    sparse = [torch.randn(2, *shape, dtype=torch.float64) for shape in ((6, 5), (5, 6))]
    torch.manual_seed(9)
    shapes = (6, 8), (8, 6), (6, 2 * ep)
    dense = [torch.randn(shape, dtype=torch.float64) / 3 for shape in shapes]
    torch.manual_seed(10 + rank())
    tokens = torch.randn(7, 6, dtype=torch.float64)

    mine: Any = [weight.clone().requires_grad_() for weight in [*dense, *sparse]]
    layer(mine, tokens, line(1, 1), line(1, ep), 2).square().mean().backward()
    ours = [reduced(part) for part in parts_of(mine, 1, ep)]

    mesh = init_device_mesh("cpu", (n // ep, ep), mesh_dim_names=("edp", "ep"))
    group = mesh.get_group("edp") if apiece else None
    outer = DistributedDataParallel(Experts(*dense))
    inner = DistributedDataParallel(Experts(*sparse), process_group=group)
    first = next(iter(inner.parameters())).detach()
    distinct = len(torch.cat(all_gather(first)).unique(dim=0))
    weights = [*outer(), *inner()]
    layer(weights, tokens, line(1, 1), line(1, ep), 2).square().mean().backward()
    theirs = [
        torch.cat([weight.grad.flatten() for weight in module.parameters()])  # pyright: ignore
        for module in (outer, inner)
    ]
    wanted = [torch.cat(ours[:2]), ours[2]]
    ratio = [float(t.norm() / w.norm()) for t, w in zip(theirs, wanted, strict=True)]
    off = [float((t / r - w).abs().max()) for t, r, w in zip(theirs, ratio, wanted, strict=True)]
    return [distinct, *ratio, *off]


def test_ddp_over_the_copies_is_ep_times_as_long() -> None:
    for distinct, dense, experts, *off in on_ranks(4, under_ddp, True):
        assert distinct == 4
        assert dense == pytest.approx(1, abs=1e-12)
        assert experts == pytest.approx(2, abs=1e-12)
        assert max(off) < 1e-12


def test_ddp_round_everything_makes_all_ranks_the_same_experts() -> None:
    for distinct, *_, off in on_ranks(4, under_ddp, False):
        assert distinct == 2
        assert off > 1e-3
