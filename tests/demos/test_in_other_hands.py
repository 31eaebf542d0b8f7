"""What demos define, used as a stranger would: taken out, and held against plain torch.

Each adapter below is all the glue there is, three lines at most. What is asked of them is what an
assignment asks: any module, any leading dimensions, odd sizes, more than one dtype, several steps.
"""

import ast
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .ranks import on_ranks

pytestmark = pytest.mark.demo


# The adapters.


def flash_attention() -> Any:
    from online_softmax import TiledAttention

    return TiledAttention


def ddp_after_backward(module: Any) -> tuple[Any, Callable[[], None]]:
    from ddp import Replica, average_gradients

    return Replica(module), lambda: average_gradients(module)


def ddp_by_hooks(module: Any) -> tuple[Any, Callable[[], None]]:
    from ddp_hooks import HandMade

    return HandMade(module), lambda: None


def ddp_in_buckets(module: Any, cap: int) -> tuple[Any, Callable[[], None]]:
    from ddp_buckets import Reducer

    replica = Reducer(module, caps=(cap,))
    return replica, replica.finish


def zero_optimizer(params: Any, kind: Any, stage: int, **options: Any) -> Any:
    from zero_steps import ZeroOptimizer

    return ZeroOptimizer(params, kind, stage, **options)


def chunked_loss() -> Any:
    from chunked_loss import ChunkedLoss

    return ChunkedLoss


def test_an_adapter_is_three_lines_at_most() -> None:
    tree = ast.parse(Path(__file__).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    adapters = list(
        itertools.takewhile(lambda f: f.name != "test_an_adapter_is_three_lines_at_most", functions)
    )
    assert len(adapters) == 6
    for adapter in adapters:
        lines = [node for node in ast.walk(adapter) if isinstance(node, ast.stmt)][1:]
        assert len(lines) <= 3, adapter.name


# Attention.

SHAPES = [(), (3,), (2, 4)]
LENGTHS = [(128, 128), (37, 37), (1, 129), (65, 200), (1, 1)]
CLOSE = {"float64": 1e-13, "float32": 2e-6}


def textbook(q: Any, k: Any, v: Any, causal: bool) -> Any:
    import torch

    seen = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)
    seen = seen.tril(k.shape[-2] - q.shape[-2]) if causal else seen
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return scores.masked_fill(~seen, -torch.inf).softmax(-1) @ v


def attention(
    dtype: str, lead: tuple[int, ...], lengths: tuple[int, int], causal: bool
) -> dict[str, tuple[Any, Any, Any]]:
    """Output and gradients: those of the tiles, of fp64, and of torch in the same dtype."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    torch.manual_seed(sum(lengths))
    kind, (queries, keys) = getattr(torch, dtype), lengths
    drawn = [torch.randn(*lead, n, 16).to(kind) for n in (queries, keys, keys, queries)]
    later = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)

    def official(q: Any, k: Any, v: Any) -> Any:
        return scaled_dot_product_attention(q, k, v, attn_mask=later if causal else None)

    def ran(function: Any, wide: Any) -> list[Any]:
        q, k, v = (x.to(wide).requires_grad_() for x in drawn[:3])
        out = function(q, k, v)
        assert out.dtype == wide
        assert out.shape == q.shape
        gradients = torch.autograd.grad(out, (q, k, v), drawn[3].to(wide))
        assert all(g.dtype == wide for g in gradients)
        return [x.detach().double() for x in (out, *gradients)]

    ours = ran(lambda q, k, v: flash_attention().apply(q, k, v, causal), kind)
    truth = ran(lambda q, k, v: textbook(q, k, v, causal), torch.float64)
    names = ("out", "dq", "dk", "dv")
    return dict(zip(names, zip(ours, truth, ran(official, kind), strict=True), strict=True))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lead", SHAPES)
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("dtype", CLOSE)
def test_attention_forward_and_backward(
    dtype: str, lengths: tuple[int, int], lead: tuple[int, ...], causal: bool
) -> None:
    for name, (ours, truth, _) in attention(dtype, lead, lengths, causal).items():
        assert (ours - truth).abs().max() <= CLOSE[dtype] * (1 + truth.abs().max()), name


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_attention_in_bf16_is_as_exact_as_torchs(lengths: tuple[int, int], causal: bool) -> None:
    for name, (ours, truth, theirs) in attention("bfloat16", (2, 4), lengths, causal).items():
        usual = (theirs - truth).abs().max() + 2**-9 * truth.abs().max()
        assert (ours - truth).abs().max() <= 1.25 * usual, name


def test_attention_keeps_one_number_for_each_row() -> None:
    import torch

    q, k, v = (torch.randn(2, 70, 16, requires_grad=True) for _ in range(3))
    out = flash_attention().apply(q, k, v, True)
    kept = out.grad_fn.saved_tensors
    scores = (q @ k.mT / 4).masked_fill(torch.ones(70, 70).triu(1) > 0, -torch.inf)
    (lse,) = [tensor for tensor in kept if tensor.shape == (2, 70)]
    torch.testing.assert_close(lse, scores.logsumexp(-1).detach(), rtol=1e-5, atol=1e-5)
    assert max(tensor.numel() for tensor in kept) == q.numel()


def test_attention_passes_torchs_own_check_of_gradients() -> None:
    import torch

    def apply(q: Any, k: Any, v: Any) -> Any:
        return flash_attention().apply(q, k, v, True)

    def drawn(tokens: int) -> Any:
        return torch.randn(2, tokens, 3, dtype=torch.float64, requires_grad=True)

    assert torch.autograd.gradcheck(apply, (drawn(5), drawn(7), drawn(7)))


# A loss in chunks.


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_a_loss_in_chunks_takes_leading_dimensions_and_dtypes(dtype: str) -> None:
    import torch
    from torch.nn.functional import cross_entropy

    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    x, head = torch.randn(2, 3, 5, 7), torch.randn(11, 7)
    targets = torch.randint(11, (2, 3, 5))
    targets[0, 1] = -100
    truth_x, truth_head = (t.to(kind).double().requires_grad_() for t in (x, head))
    truth = cross_entropy((truth_x @ truth_head.T).flatten(0, -2), targets.flatten())
    (truth * 3).backward()
    ours_x, ours_head = (t.to(kind).requires_grad_() for t in (x, head))
    loss = chunked_loss().apply(ours_x, ours_head, targets, 4)
    assert loss.dtype == (torch.float32 if kind == torch.bfloat16 else kind)
    (loss * 3).backward()
    close = {"float64": 1e-13, "float32": 1e-6, "bfloat16": 0.02}[dtype]
    assert abs(loss.item() - truth.item()) < close
    for ours, exact in ((ours_x, truth_x), (ours_head, truth_head)):
        assert ours.grad is not None
        assert exact.grad is not None
        assert ours.grad.dtype == kind
        assert ours.grad.shape == exact.shape
        assert (ours.grad.double() - exact.grad).abs().max() < close
    with pytest.raises(RuntimeError):
        loss.backward()


# Data parallelism.


def network(seed: int, dtype: Any = None) -> Any:
    """Layers of odd sizes: a tied one, a frozen one, a frozen bias, a norm."""
    import torch
    from torch import nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(13, 7)
            self.first = nn.Linear(7, 11)
            self.norm = nn.LayerNorm(11)
            self.frozen = nn.Linear(11, 7).requires_grad_(False)
            self.last = nn.Linear(7, 13, bias=False)
            self.last.weight = self.embedding.weight
            self.norm.bias.requires_grad_(False)

        def forward(self, tokens: Any) -> Any:
            hidden = self.norm(self.first(self.embedding(tokens)).relu())
            return self.last(self.frozen(hidden).tanh())

    torch.manual_seed(seed)
    return Network().to(dtype or torch.float64)


def optimizers() -> dict[str, tuple[Any, dict[str, Any]]]:
    from torch.optim import SGD, AdamW

    return {
        "SGD": (SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
        "AdamW": (AdamW, {"lr": 0.05, "weight_decay": 0.1}),
    }


def trained(
    module: Any, optimizer: Any, batches: Any, ready: Callable[[], None], to_none: bool = True
) -> Any:
    """All weights, frozen ones too, after a step for each batch."""
    import torch
    from torch.nn.functional import cross_entropy

    for tokens in batches:
        optimizer.zero_grad(set_to_none=to_none)
        cross_entropy(module(tokens).flatten(0, -2), tokens.flatten()).backward()
        ready()
        optimizer.step()
    return torch.cat([weight.detach().flatten() for weight in module.parameters()])


def learning(module: Any) -> list[Any]:
    return [weight for weight in module.parameters() if weight.requires_grad]


WRAPPERS: dict[str, Callable[[Any], tuple[Any, Callable[[], None]]]] = {
    "after backward": ddp_after_backward,
    "by hooks": ddp_by_hooks,
    "one weight a bucket": lambda module: ddp_in_buckets(module, 1),
    "buckets of 200 bytes": lambda module: ddp_in_buckets(module, 200),
    "buckets of 1000 bytes": lambda module: ddp_in_buckets(module, 1000),
    "one bucket": lambda module: ddp_in_buckets(module, 2**30),
}


def replicas(dtype: str) -> dict[str, list[float]]:
    """How far each way of data parallelism ends from one process, and from rank 0."""
    from _bench import all_gather, rank, ranks

    import torch

    kind = getattr(torch, dtype)
    batches = torch.randint(13, (5, ranks(), 3, 4), generator=torch.Generator().manual_seed(1))
    found: dict[str, list[float]] = {}
    for (which, (optimizer, options)), to_none in itertools.product(
        optimizers().items(), (True, False)
    ):
        alone = network(seed=0, dtype=kind)
        plain = optimizer(learning(alone), **options)
        truth = trained(alone, plain, batches.flatten(1, 2), lambda: None, to_none)
        for name, wrap in WRAPPERS.items():
            module = network(seed=rank(), dtype=kind)  # only rank 0 begins as one process does
            replica, ready = wrap(module)
            updates = optimizer(learning(module), **options)
            ours = trained(replica, updates, batches[:, rank()], ready, to_none)
            apart = (ours - all_gather(ours)[0]).abs().max().item()
            off = (ours - truth).abs().max().item()
            found[f"{name}, {which}, to none: {to_none}"] = [off, apart]
    return found


@pytest.mark.parametrize(("ranks", "dtype"), [(2, "float64"), (3, "float64"), (2, "float32")])
def test_replicas_of_any_module_end_as_one_process_does(ranks: int, dtype: str) -> None:
    for found in on_ranks(ranks, replicas, dtype):
        assert len(found) == 4 * len(WRAPPERS)
        assert {name for name, (_, apart) in found.items() if apart != 0} == set()
        close = 1e-12 if dtype == "float64" else 1e-5
        assert {name: off for name, (off, _) in found.items() if not off < close} == {}


def mixed_dtypes() -> list[Any]:
    """Buckets where some weights are fp64 and some fp32: the buckets, and how far gradients are."""
    from _bench import all_gather, rank

    import torch

    torch.manual_seed(rank())
    module = torch.nn.ModuleList([torch.nn.Linear(3, 3).to(kind) for kind in (torch.float64, None)])
    replica, ready = ddp_in_buckets(module, 2**20)
    (module[1](module[0](torch.randn(5, 3).double()).float())).square().sum().backward()
    local = [weight.grad.clone() for weight in replica.weights]
    ready()
    off = [
        (weight.grad - torch.stack(all_gather(gradient)).mean(0)).abs().max().item()
        for weight, gradient in zip(replica.weights, local, strict=True)
    ]
    return [len(replica.buckets), max(off)]


def test_a_bucket_is_of_one_dtype() -> None:
    for buckets, off in on_ranks(2, mixed_dtypes):
        assert (buckets, off < 1e-6) == (2, True)


def unused_weight(wrapper: str) -> str:
    import torch

    module = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)])
    _, ready = WRAPPERS[wrapper](module)
    module[0](torch.ones(1, 3)).sum().backward()
    try:
        ready()
    except RuntimeError as error:
        return str(error)
    return "nothing was said"


@pytest.mark.parametrize("wrapper", ["after backward", "one weight a bucket"])
def test_a_weight_that_had_no_gradient_is_said(wrapper: str) -> None:
    assert on_ranks(2, unused_weight, wrapper) == ["2 weights had no gradient in this backward"] * 2


# The optimizer's state, sharded.


def shards(dtype: str) -> dict[str, list[Any]]:
    """At each stage and in small buckets: how far from one process, and how much state there is."""
    from _bench import everyone, rank, ranks

    import torch

    kind = getattr(torch, dtype)
    batches = torch.randint(13, (5, ranks(), 3, 4), generator=torch.Generator().manual_seed(2))
    found: dict[str, list[Any]] = {}
    for which, (optimizer, options) in optimizers().items():
        alone = network(seed=0, dtype=kind)
        plain = optimizer(learning(alone), **options)
        truth = trained(alone, plain, batches.flatten(1, 2), lambda: None)
        for stage, bucket in ((1, 10**6), (2, 10**6), (2, 30)):
            module = network(seed=rank(), dtype=kind)  # only rank 0 begins as one process does
            updates = zero_optimizer(
                module.parameters(), optimizer, stage, bucket=bucket, **options
            )
            ours = trained(module, updates, batches[:, rank()], lambda: None)
            off = (ours - truth).abs().max().item()
            held = everyone(float(numbers(updates.local))).sum().item()
            found[f"stage {stage}, {bucket}, {which}"] = [off, held, float(numbers(plain))]
    return found


def numbers(optimizer: Any) -> int:
    values = [value for kept in optimizer.state.values() for value in kept.values()]
    return sum(value.numel() for value in values if value.dim())  # counts of steps apart


@pytest.mark.parametrize(("ranks", "dtype"), [(2, "float64"), (3, "float64"), (2, "float32")])
def test_a_sharded_optimizer_ends_as_a_whole_one_does(ranks: int, dtype: str) -> None:
    for found in on_ranks(ranks, shards, dtype):
        for name, (off, kept, whole) in found.items():
            assert off < (1e-12 if dtype == "float64" else 1e-5), name
            assert whole <= kept < 1.2 * whole, name  # each number once, and some padding


def groups() -> list[float]:
    """Two groups with options of their own, one added later, under a schedule."""
    from _bench import rank

    import torch

    def run(module: Any, make: Any) -> Any:
        optimizer = make([{"params": module.embedding.parameters(), "lr": 0.3}])
        optimizer.add_param_group({"params": module.first.parameters(), "weight_decay": 0.5})
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        for _ in range(4):
            optimizer.zero_grad()
            module(torch.arange(13)).square().sum().backward()
            optimizer.step()
            schedule.step()
        return torch.cat([weight.detach().flatten() for weight in module.parameters()])

    def sharded(params: Any, **options: Any) -> Any:
        return zero_optimizer(params, torch.optim.AdamW, stage=1, **options)

    off = run(network(0), sharded) - run(network(0), torch.optim.AdamW)
    return [rank(), off.abs().max().item()]


def test_groups_keep_options_of_their_own_and_a_schedule_reaches_them() -> None:
    assert all(off < 1e-12 for _, off in on_ranks(3, groups))


def short_weights(stage: int) -> list[float]:
    """bf16 weights under Adam, with fp32 ones cut over the ranks: from fp32 ones kept whole."""
    from _bench import all_reduce, rank, ranks

    import torch

    torch.manual_seed(5)
    ours = [torch.randn(*size).bfloat16().requires_grad_() for size in ((5, 7), (3,), (1,))]
    masters = [weight.detach().float().requires_grad_() for weight in ours]
    updates = zero_optimizer(ours, torch.optim.AdamW, stage, lr=1e-3)
    truth = torch.optim.AdamW(masters, lr=1e-3)
    for step in range(20):
        torch.manual_seed(100 * step + rank())
        slopes = [torch.randn(weight.shape).bfloat16() for weight in ours]
        sum((w * slope).sum() for w, slope in zip(ours, slopes, strict=True)).backward()  # pyright: ignore
        for master, slope in zip(masters, slopes, strict=True):
            master.grad = all_reduce(slope.float()) / ranks()
        updates.step()
        truth.step()
    pairs = list(zip(ours, masters, strict=True))
    off = max((w.float() - m.bfloat16().float()).abs().max().item() for w, m in pairs)
    held = torch.cat([shard.detach() for bucket in updates.buckets for shard in [bucket.shard]])
    moved = max((m - m.bfloat16().float()).abs().max().item() for m in masters)
    return [off, moved, float(held.dtype == torch.float32)]


@pytest.mark.parametrize("stage", [1, 2])
def test_short_weights_have_fp32_ones_behind_them(stage: int) -> None:
    for off, moved, wide in on_ranks(3, short_weights, stage):
        assert off <= 2**-7  # where a sum was rounded otherwise, one place of bf16 at most
        assert moved > 0
        assert wide == 1


def a_transposed_sum(rows: int) -> list[float]:
    """What `ring_all_reduce` makes of a tensor that does not lie in memory as it is read."""
    from _bench import rank, ranks

    import torch
    from all_reduce import ring_all_reduce

    plain = torch.arange(rows * 4, dtype=torch.float64).reshape(rows, 4).t()
    mine = (plain.t() * (rank() + 1)).t()
    ring_all_reduce(mine)
    off = mine - plain * (ranks() * (ranks() + 1) / 2)
    return [rank(), off.abs().max().item()]


@pytest.mark.parametrize("rows", [3, 5])
def test_a_ring_sums_in_place_however_the_tensor_lies(rows: int) -> None:
    assert on_ranks(3, a_transposed_sum, rows) == [[0, 0.0], [1, 0.0], [2, 0.0]]
