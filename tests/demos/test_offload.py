"""Offloaded training: bits, bytes and ticks by hand, and torch's own CPU offload beside it."""

from typing import Any

import pytest

from .conftest import Run, failed
from .ranks import on_ranks

pytestmark = pytest.mark.demo

ODD = {"width": 7, "layers": 3, "microbatches": 3}


@pytest.mark.parametrize("args", [{}, ODD, {"width": 1, "layers": 1}, {"dtype": "fp32"}])
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_every_plan_trains_the_same_to_the_bit(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["weights_same"] == measured["states_same"] == [True] * ranks


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 4])
def test_bytes_a_step(run: Run, ranks: int, k: int) -> None:
    measured = run(ranks, microbatches=k)["metrics"]
    each = measured["parameters"] // ranks
    assert measured["down_states"] == measured["down_all"] == [2 * k * each] * ranks
    assert measured["up_states"] == [2 * each] * ranks
    assert measured["up_all"] == [2 * 2 * k * each] * ranks
    assert measured["up_visit"] == measured["down_visit"] == [12 * each] * ranks
    # 16 bytes a parameter, and two buffers to land in.
    assert measured["host_all"] == [16 * each + 2 * 2 * each // 4] * ranks


def test_the_gpu_holds_less_from_plan_to_plan(run: Run) -> None:
    few, many = (run(1, layers=layers)["metrics"] for layers in (4, 8))
    peaks = [few[f"device_{name}"][0] for name in ("none", "visit", "states", "all")]
    assert peaks == sorted(peaks, reverse=True)
    assert few["device_all"] == many["device_all"]  # two layers, however many there are
    assert many["device_states"][0] > few["device_states"][0]


def test_ticks_by_hand(run: Run) -> None:
    # Links of no cost, and an Adam of none: nothing is exposed.
    free = run(1, link=0.0, adam_time=0.0)["metrics"]
    assert free["time_all"] == free["time_states"] == free["waits_all"] == free["time_none"] == [12]
    # The first layer has to come, then passes hide the link; after the last backward its gradient
    # goes down and Adam follows.
    default = run(1)["metrics"]
    assert default["time_all"] == [1 + 12 + 1 + 1]
    assert default["time_states"] == [12 + 1 + 1 + 1]
    # 8 layers up and 4 gradients down with nobody computing, and 4 times Adam on the host.
    assert default["waits_all"][0] > 1 + 12 + 7 + 4
    # A link slower than compute sets the pace: 8 layers up.
    assert run(1, link=4.0, adam_time=0.0)["metrics"]["time_all"][0] >= 8 * 4


def test_a_budget_decides_which_plan_fits(run: Run) -> None:
    needs = run(2)["metrics"]
    for plan in ("none", "states"):
        need = needs[f"device_{plan}"][0]
        assert run(2, budget=need)["metrics"][f"fits_{plan}"] is True
        assert run(2, budget=need - 1)["metrics"][f"fits_{plan}"] is False
    least = needs["device_all"][0]
    assert run(2, budget=least)["verdict"] == "pass"
    short = run(2, budget=least - 1)
    assert short["outcome"] == "refused"
    assert f"take budget {least}" in short["error"]["message"]


@pytest.mark.parametrize("name", ["step-before-arrival", "buffer-in-flight"])
def test_what_a_race_leaves_right(run: Run, name: str) -> None:
    for ranks in (1, 3):
        wrong = {"weights equal training without offload", "states equal training without offload"}
        assert set(failed(run(ranks, name))) == wrong
    # No buffer is used again where there is one layer only.
    assert run(1, "buffer-in-flight", layers=1)["verdict"] == "pass"


def test_what_is_never_dropped_bursts_the_budget(run: Run) -> None:
    report = run(1, "never-dropped")
    told = [event["name"] for event in report["timeline"]["events"]]
    assert told == ["F0", "tried 1152 bytes", "in use 5760 bytes", "budget 5760 bytes"]


@pytest.mark.parametrize("args", [{"layers": 0}, {"width": -1}, {"microbatches": 0}, {"steps": 0}])
def test_sizes_that_mean_nothing_are_refused(run: Run, args: dict[str, Any]) -> None:
    assert run(2, **args)["outcome"] == "refused"


def by_torch(layers: int, width: int, steps: int) -> float:
    """Largest difference between torch's CPU offload and ours, in fp32, from the same start."""
    import _bench

    import torch
    from offload import Plan, Training, own
    from torch import nn
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard

    torch.manual_seed(0)
    n, me = _bench.ranks(), _bench.rank()
    drawn = torch.randn(layers, width, width) / width**0.5
    batches = torch.randn(n, 1, 2, 4, width)
    lines = [nn.Linear(width, width, bias=False) for _ in range(layers)]
    for line, weight in zip(lines, drawn, strict=True):
        line.weight.data.copy_(weight.T)
    model = nn.Sequential(*(part for line in lines for part in (line, nn.Tanh())))
    mesh, policy = init_device_mesh("cpu", (n,)), CPUOffloadPolicy(pin_memory=False)
    for line in lines:
        fully_shard(line, mesh=mesh, offload_policy=policy)
    fully_shard(model, mesh=mesh, offload_policy=policy)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False)
    plan = Plan(weights_down=True, states_down=True, step_below=True)
    costs = {"F": 0.0, "B": 0.0, "A": 0.0, "link": 0.0}
    ours = Training(plan, drawn.flatten(1), width, torch.float32, 2**40, costs)
    for _ in range(steps):
        adam.zero_grad()
        x, target = batches[me, 0]
        ((model(x) - target) ** 2 / 2).sum(-1).mean().backward()
        adam.step()
        ours.step(batches[me])
    whole = [_bench.ring_gather(part).view(width, width).T for part in own(ours, "weights")]
    weights: list[Any] = [line.weight for line in lines]
    theirs = [weight.full_tensor() for weight in weights]
    assert all(line.weight.device.type == "cpu" for line in lines)
    assert not torch.equal(theirs[0], drawn[0].T)
    return max((a - b).abs().max().item() for a, b in zip(whole, theirs, strict=True))


def test_it_agrees_with_torchs_cpu_offload() -> None:
    assert max(on_ranks(2, by_torch, 3, 6, 5)) < 1e-6
