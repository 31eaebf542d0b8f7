"""Context parallelism divides what every layer keeps by c and no weight; only attention talks.

The trick
    Norms, projections, MLP, logits and loss take one token at a time, so each of c ranks runs them
    on its s/c tokens and sends nothing. Attention alone looks from one token to another, and
    fetches the others' keys and values; if it keeps its own shard only and gathers again in the
    backward, all that autograd keeps is divided by c, the logits too. Weights are whole on every
    rank, with their gradients and optimizer states (ZeRO or TP divides those), and each rank's
    gradient comes from its own tokens: they are summed over the ranks of the sequence, as over data
    parallel ones.

Watch
    weight_bytes (bytes)                        weights that a rank holds, whole; no gradients, no
        optimizer states
    kept_norms (bytes, forward)                 kept by a rank's norms for the backward; their
        outputs count at their users
    kept_projections (bytes, forward)           kept by a rank's products before and after attention
    kept_attention (bytes, forward)             kept by a rank's attention itself
    kept_mlp (bytes, forward)                   kept by a rank's MLPs
    kept_logits (bytes, forward)                kept by a rank's last norm, logits and loss
    alone_norms (shared, bytes, forward)        kept_norms on one rank with the whole sequence
    alone_projections (shared, bytes, forward)  kept_projections on one rank with the whole sequence
    alone_attention (shared, bytes, forward)    kept_attention on one rank with the whole sequence
    alone_mlp (shared, bytes, forward)          kept_mlp on one rank with the whole sequence
    alone_logits (shared, bytes, forward)       kept_logits on one rank with the whole sequence
    sent_attention (bytes, forward)             sent by a rank inside attention
    sent_elsewhere (bytes, forward)             sent by a rank outside attention
    sent_backward (bytes, backward)             sent by a rank, the sum of weights' gradients apart
    loss_error (shared, difference)             of the ranks' losses, added up, from one process,
        per token
    input_grad_error (shared, difference)       of the embedded tokens' gradient from one process
    own_weight_error (shared, difference)       of a rank's own weight gradients from one process,
        largest
    weight_grad_error (shared, difference)      of the summed weight gradients from one process

Run
    quizkit demo cp-activations --gpus 4
    python demos/cp_activations.py --ranks 4 --seq 192 --layers 1
    torchrun --nproc-per-node 4 demos/cp_activations.py
"""

from contextlib import contextmanager
from types import SimpleNamespace

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_reduce, device, everyone, exchange, max_error, rank, ranks, saved_activations
from _bench import wire

import torch
from torch.nn import Embedding, LayerNorm, Linear
from torch.nn.functional import gelu, scaled_dot_product_attention

TOPIC = "cp"
PARTS = ("norms", "projections", "attention", "mlp", "logits")


class Attention(torch.autograd.Function):
    """My queries on everyone's keys. Only what is mine stays until the backward."""

    @staticmethod
    def forward(ctx, q, kv, seen, group):
        """Gather, attend, let go."""
        ctx.seen, ctx.group = seen, group
        whole = gather(kv, group)
        ctx.save_for_backward(q, kv)  # and not `whole`: that would not shrink with c
        return scaled_dot_product_attention(q, *whole, attn_mask=seen)

    @staticmethod
    def backward(ctx, gradient):
        """Gather and attend once more, and send everyone's share of dK and dV home."""
        q, kv = ctx.saved_tensors
        with torch.enable_grad():
            q, whole = q.detach().requires_grad_(), gather(kv, ctx.group).requires_grad_()
            out = scaled_dot_product_attention(q, *whole, attn_mask=ctx.seen)
        dq, dwhole = torch.autograd.grad(out, (q, whole), gradient)
        return dq, reduce_scatter(dwhole, ctx.group), None, None


def gather(mine, group):
    """Everyone's block, in order of rank."""
    blocks = {rank() % group: mine}
    for step in range(1, group):
        ahead, behind = (rank() + step) % group, (rank() - step) % group
        blocks[behind] = exchange(mine, ahead, torch.empty_like(mine), behind).wait()
    return torch.cat([blocks[owner] for owner in range(group)], -2)


def reduce_scatter(whole, group):
    """What all ranks found for my tokens, added up."""
    shares = whole.chunk(group, -2)
    total = shares[rank() % group].clone()
    for step in range(1, group):
        owner, other = (rank() + step) % group, (rank() - step) % group
        total += exchange(shares[owner], owner, torch.empty_like(total), other).wait()
    return total


def places(owner, group, seq):
    """Zigzag: an early piece and a late one."""
    pieces = torch.arange(seq, device=device()).chunk(2 * group)
    return torch.cat([pieces[owner], pieces[-1 - owner]])


class Block(torch.nn.Module):
    """A transformer layer, a norm in front of either half."""

    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = LayerNorm(hidden), LayerNorm(hidden)
        self.qkv, self.out = Linear(hidden, 3 * hidden), Linear(hidden, hidden)
        self.up, self.down = Linear(hidden, 4 * hidden), Linear(4 * hidden, hidden)

    def forward(self, x, attend, meter):
        """Run on any tokens: what of others is needed is attention's own business."""
        with meter("norms"):
            normed = self.norm_1(x)
        with meter("projections"):
            q, *kv = self.qkv(normed).unflatten(-1, (3, self.heads, -1)).permute(1, 2, 0, 3)
            kv = torch.stack(kv)
        with meter("attention"):
            mixed = attend(q, kv)
        with meter("projections"):
            x = x + self.out(mixed.transpose(0, 1).flatten(1))
        with meter("norms"):
            normed = self.norm_2(x)
        with meter("mlp"):
            return x + self.down(gelu(self.up(normed)))


class Model(torch.nn.Module):
    """Embedding, layers, logits, and the loss of the tokens given, summed."""

    def __init__(self, vocabulary, hidden, heads, layers):
        super().__init__()
        self.embed = Embedding(vocabulary, hidden)
        self.blocks = torch.nn.ModuleList(Block(hidden, heads) for _ in range(layers))
        self.norm, self.head = LayerNorm(hidden), Linear(hidden, vocabulary, bias=False)

    def forward(self, tokens, labels, attend, meter):
        """The loss, and the embedded tokens, whose gradient has been through all layers."""
        x = first = self.embed(tokens)
        for block in self.blocks:
            x = block(x, attend, meter)
        with meter("logits"):
            scores = self.head(self.norm(x))
            right = scores.gather(-1, labels[:, None])
            return (scores.logsumexp(-1, keepdim=True) - right).sum(), first


def step(model, tokens, labels, attend):
    """Forward and backward; what each part kept and sent."""
    seen = SimpleNamespace(kept=dict.fromkeys(PARTS, 0), sent=dict.fromkeys(PARTS, 0))
    model.zero_grad()
    with saved_activations(model.parameters()) as saved, wire() as sent:

        @contextmanager
        def meter(part):
            kept_before, sent_before = saved.live_bytes, sent.sent_bytes
            yield
            seen.kept[part] += saved.live_bytes - kept_before
            seen.sent[part] += sent.sent_bytes - sent_before

        loss, first = model(tokens, labels, attend, meter)
    first.retain_grad()
    with wire() as sent_back:
        loss.backward()
    seen.sent_back, seen.loss, seen.input_grad = sent_back.sent_bytes, loss.detach(), first.grad
    seen.grads = torch.cat([weight.grad.flatten() for weight in model.parameters()])
    return seen


def main(
    seq: int = 96,  # tokens in the whole sequence
    hidden: int = 16,  # numbers in a token's vector
    heads: int = 2,  # attention heads; hidden is dealt to them
    layers: int = 2,  # transformer layers
    vocabulary: int = 50,  # different tokens there are
) -> Metrics:
    """One step on a shard and one on the whole sequence; what either keeps, part by part."""
    for name, size, unit in (("seq", seq, 2 * ranks()), ("hidden", hidden, max(1, heads))):
        if size < 1 or size % unit:
            near = max(unit, size // unit * unit)
            refuse(f"{name} must be a multiple of {unit}, not {size}: {near} or {near + unit}")
    if min(heads, layers, vocabulary) < 1:
        refuse("heads, layers and vocabulary start at 1")
    # Every rank draws the same model and the same sequence, and keeps its own tokens.
    model = Model(vocabulary, hidden, heads, layers).double().to(device())
    tokens = torch.randint(vocabulary, (seq + 1,)).to(device())
    tokens, labels = tokens[:-1], tokens[1:]

    here, everywhere = places(rank(), ranks(), seq), torch.arange(seq, device=device())
    keys = torch.cat([places(owner, ranks(), seq) for owner in range(ranks())])
    seen, causal = here[:, None] >= keys, everywhere[:, None] >= everywhere

    def torch_attention(q, kv):
        return scaled_dot_product_attention(q, *kv, is_causal=True)

    truth = step(model, tokens, labels, torch_attention)
    alone = step(model, tokens, labels, lambda q, kv: Attention.apply(q, kv, causal, 1))
    ours = step(
        model, tokens[here], labels[here], lambda q, kv: Attention.apply(q, kv, seen, ranks())
    )
    own_error = everyone(max_error(ours.grads, truth.grads)).max().item()
    summed = all_reduce(ours.grads)
    loss = all_reduce(ours.loss.clone())

    errors = [
        max_error(loss, truth.loss) / seq,
        max_error(ours.input_grad, truth.input_grad[here]),
        max_error(summed, truth.grads),
    ]
    errors = [everyone(error).max().item() for error in errors]
    check("loss as on one process", errors[0], "<", 1e-12)
    check("gradient of the tokens as on one process", errors[1], "<", 1e-12)
    check("gradients of the weights as on one process", errors[2], "<", 1e-12)
    for part in PARTS:
        check(f"{part}: a rank keeps 1/c", ours.kept[part] * ranks(), "==", alone.kept[part])
    elsewhere = sum(ours.sent.values()) - ours.sent["attention"]
    check("outside attention nothing is sent", elsewhere, "==", 0)
    return {
        "weight_bytes": counted(sum(weight.nbytes for weight in model.parameters())),
        **{f"kept_{part}": counted(ours.kept[part]) for part in PARTS},
        **{f"alone_{part}": shared(counted(alone.kept[part])) for part in PARTS},
        "sent_attention": counted(ours.sent["attention"]),
        "sent_elsewhere": counted(elsewhere),
        "sent_backward": counted(ours.sent_back),
        "loss_error": shared(compared(errors[0])),
        "input_grad_error": shared(compared(errors[1])),
        "own_weight_error": shared(compared(own_error)),
        "weight_grad_error": shared(compared(errors[2])),
    }


BREAKS = {
    "keeps-what-it-gathered": Break(
        old="""
        ctx.save_for_backward(q, kv)  # and not `whole`: that would not shrink with c
        return scaled_dot_product_attention(q, *whole, attn_mask=seen)

    @staticmethod
    def backward(ctx, gradient):
        \"\"\"Gather and attend once more, and send everyone's share of dK and dV home.\"\"\"
        q, kv = ctx.saved_tensors
        with torch.enable_grad():
            q, whole = q.detach().requires_grad_(), gather(kv, ctx.group).requires_grad_()
""",
        new="""
        ctx.save_for_backward(q, whole)
        return scaled_dot_product_attention(q, *whole, attn_mask=seen)

    @staticmethod
    def backward(ctx, gradient):
        q, whole = ctx.saved_tensors
        with torch.enable_grad():
            q, whole = q.detach().requires_grad_(), whole.detach().requires_grad_()
""",
        expect="attention: a rank keeps 1/c",
        ranks=2,
        source="an autograd.Function that saves what it computed with, and not what it was given",
    ),
    "weights-of-data-parallel-only": Break(
        old="summed = all_reduce(ours.grads)",
        new="summed = ours.grads",
        expect="gradients of the weights as on one process",
        ranks=2,
        source="gradients reduced over data parallel ranks alone: CP ranks' weights drift apart",
    ),
}

if __name__ == "__main__":
    run(__file__)
