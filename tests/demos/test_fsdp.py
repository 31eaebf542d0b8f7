"""Units gathered and freed: against one process, the closed forms, and both of torch's FSDPs."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed
from .ranks import on_ranks
from .test_in_other_hands import network

DEMO = find("fsdp")

pytestmark = pytest.mark.demo

ODD = {"width": 7, "layers": 5, "unit": 2, "microbatches": 3, "rows": 1}
ONE = {"width": 1, "layers": 1, "microbatches": 1}


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        *((ranks, {}) for ranks in (1, 2, 3, 4, 5)),
        *((ranks, ODD) for ranks in (1, 2, 3, 4, 5)),
        *((ranks, ONE) for ranks in (1, 3)),
        (6, {"nodes": 3}),
        (4, {"unit": 9}),
    ],
)
def test_every_strategy_is_one_process(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    assert max(report["metrics"]["gradient_error"]) < 1e-12
    assert report["metrics"]["update_sent_full"] == [0] * ranks


@pytest.mark.parametrize(
    ("ranks", "k", "unit"), [(2, 1, 1), (3, 2, 2), (4, 3, 1), (4, 1, 4), (8, 2, 2)]
)
def test_what_is_kept_and_sent(run: Run, ranks: int, k: int, unit: int) -> None:
    measured = run(ranks, layers=4, unit=unit, microbatches=k, width=48)["metrics"]
    whole, units = measured["whole_bytes"], 4 // unit
    assert whole == 4 * (48 * 48 + 48) * 8
    share = whole // ranks
    assert measured["unit_bytes"] == whole // units
    assert measured["weights_idle_full"] == measured["weights_idle_grad_op"] == [share] * ranks
    assert measured["weights_between_full"] == [share] * ranks
    assert measured["weights_between_grad_op"] == [share + whole] * ranks
    assert measured["weights_peak_full"] == [share + whole // units] * ranks
    assert measured["weights_peak_grad_op"] == [share + whole] * ranks
    # fp64 weights, gradients, and two numbers of the optimizer's
    assert measured["kept_full"] == [4 * share] * ranks
    assert measured["kept_none"] == [4 * whole] * ranks
    assert measured["gathers_full"] == [2 * units * k] * ranks
    assert measured["gathers_grad_op"] == measured["scatters_full"] == [units * k] * ranks
    once = share * (ranks - 1)
    assert measured["sent_full"] == [3 * k * once] * ranks
    assert measured["sent_grad_op"] == [2 * k * once] * ranks
    assert measured["sent_none"] == [2 * once] * ranks


@pytest.mark.parametrize(("ranks", "nodes", "k"), [(4, 2, 1), (4, 2, 3), (6, 3, 2), (8, 4, 1)])
def test_hybrid_shares_in_a_node_and_sums_across_once(
    run: Run, ranks: int, nodes: int, k: int
) -> None:
    measured = run(ranks, nodes=nodes, microbatches=k, width=24)["metrics"]
    whole, node = measured["whole_bytes"], ranks // nodes
    assert measured["weights_idle_hybrid"] == [whole // node] * ranks
    across = 2 * (nodes - 1) * whole // node // nodes
    assert measured["across_hybrid"] == [across] * ranks
    inside = 3 * k * (node - 1) * whole // node
    assert measured["sent_hybrid"] == [inside + across] * ranks
    # A ring of all ranks leaves a node at one of its ranks, with all that this one sends.
    exits = [3 * k * (ranks - 1) * whole // ranks * (r % node == node - 1) for r in range(ranks)]
    assert measured["across_full"] == exits


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_turns_its_check_red(run: Run, name: str) -> None:
    assert DEMO.breaks[name].expect in failed(run(4, name))


def test_what_a_break_leaves_right(run: Run) -> None:
    peaks = [f"{name}: a share and what is gathered" for name in ("full", "hybrid")]
    assert failed(run(4, "one-root-unit")) == peaks
    rooted = run(4, "one-root-unit")["metrics"]
    assert rooted["weights_idle_full"] == run(4)["metrics"]["weights_idle_full"]
    assert rooted["sent_full"] == run(4)["metrics"]["sent_full"]
    assert {name.split(":")[0] for name in failed(run(4, "replicas-not-summed"))} == {"hybrid"}
    # Nothing is wrong but memory: it is gathered as often as before.
    assert not [name for name in failed(run(4, "never-freed")) if "process" in name]
    assert run(4, "never-freed")["metrics"]["sent_full"] == run(4)["metrics"]["sent_full"]


@pytest.mark.parametrize(
    "args", [{"layers": 0}, {"unit": 0}, {"microbatches": 0}, {"width": 0}, {"nodes": 3}]
)
def test_sizes_that_mean_nothing_are_refused(run: Run, args: dict[str, Any]) -> None:
    assert run(4, **args)["outcome"] == "refused"


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]


# Any module, beside torch's: a tied table, a frozen layer and bias, a norm, odd sizes.


def batches(count: int) -> Any:
    """Tokens of every rank and micro-batch."""
    import torch

    return torch.randint(13, (count, 2, 3, 4), generator=torch.Generator().manual_seed(1))


def passes(model: Any, mine: Any) -> None:
    """Forward and backward of each micro-batch, the loss a mean over them."""
    from torch.nn.functional import cross_entropy

    for tokens in mine:
        loss = cross_entropy(model(tokens).flatten(0, -2), tokens.flatten())
        (loss / len(mine)).backward()


def ours(how: str) -> dict[str, Any]:
    """Gradients by name, of the demo's own."""
    from _bench import rank, ranks, ring_gather

    from fsdp import Plan, Sharded

    everybody, me, node = [*range(ranks())], [rank()], ranks() // 2
    first = rank() - rank() % node
    plan = {
        "full": Plan(everybody, me, keep=False),
        "grad_op": Plan(everybody, me, keep=True),
        "none": Plan(me, everybody, keep=False),
        "hybrid": Plan(everybody[first : first + node], everybody[rank() % node :: node], False),
    }[how]
    model = network(0)
    sharded = Sharded(model, [*model.children()], plan)
    passes(sharded, batches(ranks())[rank()])
    sharded.finish()
    share = {whole: shard for unit in sharded.units for whole, shard in unit.pairs}
    return {
        name: ring_gather(share[whole].grad, group=plan.group)[: whole.numel()].view(whole.shape)
        for name, whole in model.named_parameters()
        if whole.requires_grad
    }


def fully_shard_gradients(how: str) -> dict[str, Any]:
    """Gradients by name, of FSDP2."""
    from _bench import rank, ranks

    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    shape = (2, ranks() // 2) if how == "hybrid" else (ranks(),)
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=("replica", "shard")[-len(shape) :])
    model = network(0)
    for module in (model.first, model.norm, model.frozen, model):
        fully_shard(module, mesh=mesh, reshard_after_forward=how != "grad_op")
    passes(model, batches(ranks())[rank()])
    named: Any = [(n, w) for n, w in model.named_parameters() if w.requires_grad]
    return {name: weight.grad.full_tensor() for name, weight in named}


def compared(theirs: Any, how: str) -> list[float]:
    """The largest difference of each gradient: ours from one process, and from theirs."""
    from _bench import max_error, ranks

    alone = network(0)
    passes(alone, batches(ranks()).transpose(0, 1).flatten(1, 2))
    truth = {name: w.grad for name, w in alone.named_parameters() if w.requires_grad}
    found, other = ours(how), theirs(how)
    assert found.keys() == other.keys() == truth.keys()
    return [max(max_error(found[name], known[name]) for name in truth) for known in (truth, other)]


@pytest.mark.parametrize("how", ["full", "grad_op", "hybrid"])
def test_gradients_are_those_of_fully_shard(how: str) -> None:
    for found in on_ranks(4, compared, fully_shard_gradients, how):
        assert max(found) < 1e-12


def freed(keep: bool) -> list[list[int]]:
    """Bytes in whole weights: after a forward without gradients, a forward, a backward."""
    from _bench import rank, ranks

    import torch
    from fsdp import Plan, Sharded

    model = network(0)
    sharded = Sharded(model, [*model.children()], Plan([*range(ranks())], [rank()], keep))
    tokens = batches(ranks())[rank(), 0]
    seen = []

    def look() -> None:
        wholes = [whole for unit in sharded.units for whole, _ in unit.pairs]
        seen.append(sum(whole.untyped_storage().nbytes() for whole in wholes))

    with torch.no_grad():
        sharded(tokens)
    look()
    loss = sharded(tokens).square().mean()
    look()
    loss.backward()
    look()
    return seen


@pytest.mark.parametrize("keep", [False, True])
def test_what_is_whole_when(keep: bool) -> None:
    whole = 8 * sum(w.numel() for w in network(0).parameters())
    for evaluated, forward, backward in on_ranks(2, freed, keep):
        assert (evaluated, backward) == (0, 0)
        assert forward == (whole if keep else 0)


def twice(dtypes: bool) -> float:
    """A unit that runs twice in a forward; in the other one, weights of two dtypes."""
    from _bench import max_error, rank, ranks, ring_gather

    import torch
    from fsdp import Plan, Sharded

    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.LayerNorm(5).double()
            self.layer = torch.nn.Linear(5, 5).double()
            self.head = torch.nn.Linear(5, 3).to(torch.float32 if dtypes else torch.float64)

        def forward(self, x: Any) -> Any:
            hidden = self.layer(self.layer(self.norm(x)).tanh())
            return self.head(hidden.to(self.head.weight.dtype)).double()

    torch.manual_seed(0)
    alone, x = Twice(), torch.randn(ranks(), 3, 5, dtype=torch.float64)
    alone(x).square().mean().backward()
    weights: Any = [*alone.parameters()]
    truth = [weight.grad.clone() for weight in weights]
    alone.zero_grad()
    sharded = Sharded(alone, [alone.layer], Plan([*range(ranks())], [rank()], False))
    sharded(x[rank()]).square().mean().backward()
    share = {whole: shard for unit in sharded.units for whole, shard in unit.pairs}
    found = [ring_gather(share[w].grad)[: w.numel()].view(w.shape) for w in alone.parameters()]
    assert [each.dtype for each in found] == [each.dtype for each in truth]
    return max(max_error(*pair) for pair in zip(found, truth, strict=True))


@pytest.mark.parametrize("dtypes", [False, True])
def test_a_unit_may_run_twice_and_hold_two_dtypes(dtypes: bool) -> None:
    assert max(on_ranks(3, twice, dtypes)) < (1e-6 if dtypes else 1e-12)


def plain(seed: int) -> Any:
    """A model of odd sizes that FSDP1 takes on CPU: one dtype, nothing tied, nothing frozen."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 7), nn.Linear(7, 3)).double()


def beside_fsdp1(how: str) -> float:
    """The largest difference of a gradient from FSDP1's, as rows of all weights."""
    from _bench import max_error, rank, ranks, ring_gather

    import torch
    import torch.distributed as dist
    from fsdp import Plan, Sharded
    from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy

    everybody, me = [*range(ranks())], [rank()]
    plan, strategy = {
        "full": (Plan(everybody, me, False), ShardingStrategy.FULL_SHARD),
        "grad_op": (Plan(everybody, me, True), ShardingStrategy.SHARD_GRAD_OP),
        "none": (Plan(me, everybody, False), ShardingStrategy.NO_SHARD),
    }[how]
    batches = torch.randn(ranks(), 3, 5, dtype=torch.float64)

    def loss(model: Any) -> Any:
        return model(batches[rank()]).square().mean()

    model = plain(0)
    sharded = Sharded(model, [*model], plan)
    loss(sharded).backward()
    sharded.finish()
    share = {whole: shard for unit in sharded.units for whole, shard in unit.pairs}
    ours = [
        ring_gather(share[whole].grad, group=plan.group)[: whole.numel()]
        for whole in model.parameters()
    ]
    theirs = FullyShardedDataParallel(
        plain(0), sharding_strategy=strategy, device_id=torch.device("cpu")
    )
    loss(theirs).backward()
    (row,) = theirs.parameters()  # one unit, one flat row
    flat: Any = row.grad
    if how != "none":
        parts = [torch.empty_like(flat) for _ in everybody]
        dist.all_gather(parts, flat)
        flat = torch.cat(parts)
    mine = torch.cat(ours)
    return max_error(mine, flat.flatten()[: len(mine)])


@pytest.mark.parametrize("how", ["full", "grad_op", "none"])
def test_gradients_are_those_of_fsdp1(how: str) -> None:
    assert max(on_ranks(2, beside_fsdp1, how)) < 1e-12
