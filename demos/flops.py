"""FLOPs of training: 6 for each token and each weight that multiplies, and attention on top.

The trick
    A product of m x k and k x n is 2mkn operations; its backward pass is two products as large, one
    for each factor's gradient. So a weight costs 2 + 4 = 6 for each token, and training about 6ND.
    About: the embedding is looked up, not multiplied; scores and weighted values multiply no weight
    but grow with the length. A mask hides half of the scores; a plain product computes them all.

    Recomputing runs a block once more: all layers (full), and 3 become 4 (but not the logits'); the
    core of attention (selective) is little. No gradient changes. MFU leaves it out, HFU counts it.
    Every product is counted twice: by 2mkn, and by torch's FlopCounterMode. Ranks share the batch.

Watch
    params (shared, elements)             of all weights
    params_multiplied (shared, elements)  of the weights in matrices: without norms and the
                                          embedding
    tokens (tokens)                       this rank's share of the batch
    flops_forward (FLOPs, forward)        of this rank, matrix products only
    flops_step (FLOPs, step)              of this rank: forward, backward and recomputing
    flops_recomputed (FLOPs, step)        of this rank that run a forward once more
    flops_update (FLOPs, step)            of this rank's AdamW in matrix products
    flops_projections (FLOPs, step)       of this rank in the Q, K, V and output projections
    flops_attention (FLOPs, step)         of this rank in scores and weighted values, masked ones
                                          included
    flops_mlp (FLOPs, step)               of this rank in the MLP's two matrices, three if gated
    flops_logits (FLOPs, step)            of this rank in the last matrix, hidden to vocabulary
    flops_per_token (FLOPs, step)         flops_step over tokens
    flops_total (shared, FLOPs, step)     of all ranks together
    six_nd_ratio (ratio)                  flops_step / (6 * params * tokens)
    grad_error (shared, difference)       largest one of any gradient from plain torch, all ways to
                                          recompute

Run
    quizkit demo flops --gpus 2
    python demos/flops.py --ranks 2 --recompute full --kv-heads 4
    torchrun --nproc-per-node 2 demos/flops.py
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Literal

from _bench import Break, Metrics, check, compared, computed, counted, refuse, run, shared
from _bench import all_reduce, device, max_error, rank, ranks

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, gelu, rms_norm, scaled_dot_product_attention, silu

TOPIC = "flops"
REGIME = ("recompute",)


class Product(torch.autograd.Function):
    """a @ b: forward one product, backward two."""

    @staticmethod
    def forward(ctx, tally, label: str, a: Tensor, b: Tensor) -> Tensor:
        """Both factors are kept, since each is multiplied with on the way back."""
        ctx.multiply = partial(tally.multiply, label)
        ctx.save_for_backward(a, b)
        return ctx.multiply(a, b)

    @staticmethod
    def backward(ctx, slope: Tensor):
        """Two products, each as large as the first: one for each factor's gradient."""
        a, b = ctx.saved_tensors
        toward_a = ctx.multiply(slope, b.mT) if ctx.needs_input_grad[2] else None
        if b.dim() == 2:  # one weight for all tokens: the product adds their gradients up
            a, slope = a.flatten(0, -2), slope.flatten(0, -2)
        return None, None, toward_a, ctx.multiply(a.mT, slope)


class Tally:
    """Operations in matrix products, by what they are for: our count of them, and torch's."""

    def __init__(self, official):
        self.total = official.get_total_flops  # all that torch has counted so far
        self.ours, self.torchs = Counter(), Counter()
        self.forward = self.again = 0

    def multiply(self, label: str, a: Tensor, b: Tensor) -> Tensor:
        """One product, counted twice."""
        before = self.total()
        out = a @ b
        self.torchs[label] += self.total() - before
        self.ours[label] += 2 * out.numel() * a.shape[-1]
        return out

    def product(self, label: str, a: Tensor, b: Tensor) -> Tensor:
        """One product whose backward pass is counted too."""
        return Product.apply(self, label, a, b)

    def recomputed(self, block: Callable, *inputs: Tensor) -> Tensor:
        """Run a block, keep nothing of it but its inputs, and run it again on the way back."""
        return Recomputed.apply(self, block, *inputs)


class Recomputed(torch.autograd.Function):
    """Any block, of which only the inputs are kept."""

    @staticmethod
    def forward(ctx, tally: Tally, block: Callable, *inputs: Tensor) -> Tensor:
        """Autograd is off in here: of what the block makes nothing is saved."""
        ctx.tally, ctx.block = tally, block
        ctx.save_for_backward(*inputs)
        return block(*inputs)

    @staticmethod
    def backward(ctx, slope: Tensor):
        """Run the block again, and count that forward apart."""
        inputs = [x.detach().requires_grad_() for x in ctx.saved_tensors]
        before = ctx.tally.total()
        with torch.enable_grad():
            out = ctx.block(*inputs)
            ctx.tally.again += ctx.tally.total() - before
            (out * slope).sum().backward()
        return None, None, *(x.grad for x in inputs)


def attend(product: Callable, causal: bool, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention as in the textbook: the mask comes after the whole matrix of scores."""
    scores = product("attention", q, k.mT) / q.shape[-1] ** 0.5
    if causal:
        ahead = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(ahead, -torch.inf)
    return product("attention", scores.softmax(-1), v)


def decoder_layer(w: dict, heads: int, product: Callable, core: Callable, x: Tensor) -> Tensor:
    """Norm, attention, norm, MLP; where keys have fewer heads, groups of queries share one."""
    normed = rms_norm(x, x.shape[-1:], w["norm_1"])
    q, k, v = (
        product("projections", normed, w[name])
        .unflatten(-1, (-1, x.shape[-1] // heads))
        .transpose(1, 2)
        for name in "qkv"
    )
    k, v = (each.repeat_interleave(heads // each.shape[1], dim=1) for each in (k, v))
    mixed = core(q, k, v).transpose(1, 2).flatten(2)
    x = x + product("projections", mixed, w["out"])
    normed = rms_norm(x, x.shape[-1:], w["norm_2"])
    inner = product("mlp", normed, w["up"])
    inner = silu(product("mlp", normed, w["gate"])) * inner if "gate" in w else gelu(inner)
    return x + product("mlp", inner, w["down"])


def loss_of(tokens: Tensor, weights: dict, heads: int, product, core, wrap) -> Tensor:
    """Summed cross-entropy of a decoder that guesses each next token; `wrap` runs a layer."""
    ends = ("embedding", "norm", "logits")
    x = weights["embedding"][tokens[:, :-1]]  # a look-up, no product
    for number in range(len(weights["q"])):
        w = {name: each[number] for name, each in weights.items() if name not in ends}
        x = wrap(partial(decoder_layer, w, heads, product, core), x)
    logits = product("logits", rms_norm(x, x.shape[-1:], weights["norm"]), weights["logits"])
    return cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")


def main(
    layers: int = 2,  # decoder layers
    hidden: int = 32,  # hidden size
    heads: int = 4,  # query heads; must divide --hidden
    kv_heads: int = 2,  # heads of K and of V; must divide --heads
    seq: int = 16,  # tokens of a sequence
    vocab: int = 50,  # tokens in the vocabulary
    ffn: int = 88,  # inner width of the MLP
    batch: int = 8,  # sequences in the batch, dealt out to the ranks
    gated: bool = True,  # whether the MLP has a gate (SwiGLU), a third matrix; else GELU
    causal: bool = True,  # whether attention masks the tokens ahead; FLOPs are the same
    recompute: Literal["none", "selective", "full"] = "none",  # what the reported step runs again
    seed: int = 0,  # seed of the random numbers
) -> Metrics:
    """One step with each way to recompute: what it costs, and whether the gradients are right."""
    from torch import _dynamo  # noqa: F401  # torch's counter wants it: once, before the fork
    from torch.utils.flop_counter import FlopCounterMode

    if min(layers, hidden, heads, kv_heads, seq, vocab, ffn) < 1 or batch < ranks():
        refuse(f"sizes must be 1 or more, batch {ranks()} or more: a sequence for each rank")
    for name, few, many in (("heads", heads, hidden), ("kv-heads", kv_heads, heads)):
        if many % few:
            fits = [n for n in range(1, many + 1) if many % n == 0]
            refuse(f"{name} must divide {many}, and {few} does not: take one of {fits}")
    torch.manual_seed(seed)
    kv, stack = hidden // heads * kv_heads, (layers, hidden)
    sizes = {"embedding": (vocab, hidden), "norm_1": stack, "q": (*stack, hidden)}
    sizes |= {"k": (*stack, kv), "v": (*stack, kv), "out": (*stack, hidden), "norm_2": stack}
    sizes |= {"up": (*stack, ffn), "down": (layers, ffn, hidden)}
    sizes |= {"gate": (*stack, ffn)} if gated else {}
    sizes |= {"norm": (hidden,), "logits": (hidden, vocab)}
    drawn = {name: torch.randn(size, dtype=torch.float64) for name, size in sizes.items()}
    weights = {k: (w / hidden**0.5).to(device()).requires_grad_() for k, w in drawn.items()}
    tokens = torch.randint(vocab, (batch, seq + 1)).to(device())
    mine, everywhere = tokens[rank() :: ranks()], batch * seq

    def plain_product(label, a, b):
        return a @ b

    def once(block, x):
        return block(x)

    core = partial(scaled_dot_product_attention, is_causal=causal)
    (loss_of(tokens, weights, heads, plain_product, core, once) / everywhere).backward()
    plain = gradients(weights)

    found, errors = {}, []
    for way in ("none", "selective", "full"):
        with FlopCounterMode(display=False) as official:
            tally = found[way] = Tally(official)
            core = partial(attend, tally.product, causal)
            core = partial(tally.recomputed, core) if way == "selective" else core
            around = tally.recomputed if way == "full" else once
            loss = loss_of(mine, weights, heads, tally.product, core, around)
            tally.forward = tally.total()
            (loss / everywhere).backward()  # so the ranks' gradients add up to the whole batch's
        errors.append(max_error(all_reduce(gradients(weights)), plain))
    with FlopCounterMode(display=False) as official:
        torch.optim.AdamW(weights.values()).step()  # number by number
        update = official.get_total_flops()

    none, chosen = found["none"], found[recompute]
    places = mine[:, 1:].numel()
    idle = ("embedding", "norm_1", "norm_2", "norm")  # looked up, or multiplied number by number
    params = sum(w.numel() for w in weights.values())
    multiplied = sum(w.numel() for name, w in weights.items() if name not in idle)
    step = chosen.total()
    by_weights = none.total() - none.torchs["attention"]
    both = [abs(each.ours[k] - each.torchs[k]) for each in found.values() for k in each.torchs]
    back = [each.total() - each.again - 3 * each.forward for each in found.values()]
    missed = [each.total() - sum(each.torchs.values()) for each in found.values()]

    check("each product is 2mkn, as torch counts it", max(both), "==", 0)
    check("no product is missed", max(missed), "==", 0)
    check("backward is two forward passes", max(map(abs, back)), "==", 0)
    check("a weight that multiplies costs 6 a token", by_weights, "==", 6 * multiplied * places)
    trunk = none.forward - none.torchs["logits"] // 3
    scores = none.torchs["attention"] // 3
    check("full recompute runs the layers again", found["full"].again, "==", trunk)
    check("selective runs attention again", found["selective"].again, "==", scores)
    check("gradients equal plain torch", max(errors), "<", 1e-12)

    return {
        "params": shared(counted(params)),
        "params_multiplied": shared(counted(multiplied)),
        "tokens": counted(places),
        "flops_forward": counted(chosen.forward),
        "flops_step": counted(step),
        "flops_recomputed": counted(chosen.again),
        "flops_update": counted(update),
        "flops_projections": counted(chosen.torchs["projections"]),
        "flops_attention": counted(chosen.torchs["attention"]),
        "flops_mlp": counted(chosen.torchs["mlp"]),
        "flops_logits": counted(chosen.torchs["logits"]),
        "flops_per_token": counted(step / places),
        "flops_total": shared(counted(int(all_reduce(torch.tensor(step, device=device()))))),
        "six_nd_ratio": computed(step / (6 * params * places)),
        "grad_error": shared(compared(max(errors))),
    }


def gradients(weights: dict[str, Tensor]) -> Tensor:
    """All gradients in one row; on the weights they start again at 0."""
    row = torch.cat([w.grad.flatten() for w in weights.values()])
    for w in weights.values():
        w.grad.zero_()
    return row


BREAKS = {
    "stray-detach": Break(
        old="Product.apply(self, label, a, b)",
        new='Product.apply(self, label, a.detach() if label == "mlp" else a, b)',
        expect="backward is two forward passes",
        ranks=1,
        source="a detach that was left behind: the step gets cheaper, and the loss still falls",
    ),
    "late-binding": Break(
        old="partial(decoder_layer, w, heads, product, core)",
        new="lambda x: decoder_layer(w, heads, product, core, x)",
        expect="gradients equal plain torch",
        ranks=1,
        source="a lambda in a loop: by the time it runs again, w is the last layer's",
    ),
    "causal-half": Break(
        old="2 * out.numel() * a.shape[-1]",
        new='(1 if label == "attention" else 2) * out.numel() * a.shape[-1]',
        expect="each product is 2mkn, as torch counts it",
        ranks=1,
        source="github.com/NVIDIA/Megatron-LM/issues/831: half is for kernels that skip the half",
    ),
    "logits-left-out": Break(
        old='product("logits", rms_norm(x, x.shape[-1:], weights["norm"]), weights["logits"])',
        new='rms_norm(x, x.shape[-1:], weights["norm"]) @ weights["logits"]',
        expect="no product is missed",
        ranks=1,
        source="github.com/huggingface/trl/pull/6731: the last matrix counted as nothing if tied",
    ),
    "look-up-multiplies": Break(
        old='("embedding", "norm_1", "norm_2", "norm")',
        new='("norm_1", "norm_2", "norm")',
        expect="a weight that multiplies costs 6 a token",
        ranks=1,
        source="github.com/tenstorrent/tt-metal/pull/50114: the embedding counted as a product",
    ),
}


if __name__ == "__main__":
    run(__file__)
