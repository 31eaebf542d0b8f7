"""A step of ZeRO-1 and 2: reduce-scatter gradients, update your own part, all-gather the weights.

The trick
    Lay the weights in a row and cut it in N. Adam treats each number by itself, so a rank needs the
    mean gradient of its part only, and keeps fp32 weights and state for that part alone. The two
    halves of an all-reduce go before and after the update: 2(N-1)/N of the weights, as DDP sends.

    Stage 1 adds up K micro-batches in whole gradients and scatters once. Stage 2 scatters a bucket
    as soon as backward has filled it, adds to its part and drops the rest: K + 1 for 2.

    Clipping wants the norm of the whole gradient, of which nobody has more than a part: the squares
    of the parts are summed over the ranks, one number. After the all-gather every rank has the same
    weights, even if each clipped by a norm of its own: comparing replicas does not find that.

    Left out: overlap with backward, other norms, optimizers that look at whole matrices.

Watch
    backward_bytes_1 (bytes, step)    sent by this rank for gradients during backward, ZeRO-1
    backward_bytes_2 (bytes, step)    sent by this rank for gradients during backward, ZeRO-2
    update_bytes_1 (bytes, step)      sent by this rank after backward, the norm not counted, ZeRO-1
    update_bytes_2 (bytes, step)      sent by this rank after backward, the norm not counted, ZeRO-2
    ddp_bytes (bytes, step)           sent by this rank if one all-reduce a step sums the gradients
    clip_bytes (shared, bytes, step)  sent by all ranks together for the norm
    gradient_peak_1 (bytes, backward)  most gradients alive at once on this rank, ZeRO-1
    gradient_peak_2 (bytes, backward)  most gradients alive at once on this rank, ZeRO-2
    row_bytes (shared, bytes)         of all weights that learn, padding included
    padding (shared, elements)        zeros that fill up the rows of the buckets
    state_bytes (bytes)               of the optimizer's state on this rank, its fp32 or fp64 part
                                      of the weights apart
    shard_norm (norm)                 of this rank's part of the mean gradient before clipping, last
                                      step
    norm (norm)                       that this rank clips by, last step
    norm_one (shared, norm)           of the whole gradient on one process, last step
    kept_norm (shared, norm)          of the whole gradient after clipping, last step
    turn_scatter (shared, index)      turn of the last reduce-scatter, ZeRO-2; 0 is the step's first
    turn_clip (shared, index)         turn of the norm's sum and the scaling, ZeRO-2
    turn_update (shared, index)       turn of the update of the parts, ZeRO-2
    turn_gather (shared, index)       turn of the all-gather of new weights, ZeRO-2
    drift (difference)                this rank's weights after the last step, from rank 0's
    stage_1_error (difference)        weights after the last step, from torch's Adam on one process
    stage_2_error (difference)        weights after the last step, from torch's Adam on one process,
                                      ZeRO-2
    redundancy_error (difference)     largest one of weights from torch's
                                      ZeroRedundancyOptimizer

Run
    quizkit demo zero-steps --gpus 4
    python demos/zero_steps.py --ranks 3 --microbatches 4 --bucket 40
    torchrun --nproc-per-node 4 demos/zero_steps.py
"""

from collections import namedtuple
from copy import deepcopy
from itertools import pairwise
from math import inf
from typing import Any

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import broadcast, device, everyone, max_error, rank, ranks, ring_gather
from _bench import ring_scatter_sum, ring_sum, wire

import torch
from torch.nn.functional import mse_loss, pad
from torch.nn.utils import clip_grad_norm_, parameters_to_vector

TOPIC = "zero"


class Bucket:
    """Some weights of one dtype as a flat row, of which this rank updates one N-th."""

    def __init__(self, weights):
        self.weights = weights
        part = flat(weights).chunk(ranks())[rank()]
        wide = torch.promote_types(part.dtype, torch.float32)
        self.shard = torch.nn.Parameter(part.to(wide, copy=True))

    def scatter(self):
        """Add this rank's part of the mean gradient to what it has of it, and drop the rest."""
        found = [torch.zeros_like(w) if w.grad is None else w.grad for w in self.weights]
        part = ring_scatter_sum(flat(found).to(self.shard.dtype)) / ranks()
        self.shard.grad = part if self.shard.grad is None else self.shard.grad + part
        for weight in self.weights:
            weight.grad = None

    def ready(self, _weight):
        """Stage 2 calls this as each gradient is complete: the last one sends the bucket off."""
        if all(weight.grad is not None for weight in self.weights):
            self.scatter()

    def gather(self):
        """Take every rank's part of the new weights, in the dtype the model computes in."""
        row = ring_gather(self.shard.detach().to(self.weights[0].dtype))
        sizes = [weight.numel() for weight in self.weights]
        for weight, new in zip(self.weights, row[: sum(sizes)].split(sizes), strict=True):
            weight.copy_(new.view_as(weight))


class ZeroOptimizer(torch.optim.Optimizer):
    """ZeRO-1 or 2 round an optimizer that treats each number by itself, such as torch's AdamW.

    Call backward() on the mean loss of each micro-batch over K, then step(). Ranks must go backward
    through the same weights; a weight of a bucket that got no gradient counts as having zeros.
    """

    def __init__(self, params, kind, stage=1, limit=inf, bucket=25_000_000, **options):
        self.kind = kind
        self.options = options
        self.stage = stage
        self.limit = limit  # of the norm
        self.most = bucket  # numbers in a bucket, unless one weight has more
        self.buckets = []
        self.local = None
        super().__init__(params, options)  # comes to add_param_group

    def add_param_group(self, param_group):
        """Fill buckets, and give this rank's parts of them to an ordinary optimizer."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for weight in group["params"]:
            broadcast(weight.data, 0)  # frozen ones too
        buckets = [Bucket(weights) for weights in packed(group["params"], self.most)]
        mine = {**group, "params": [bucket.shard for bucket in buckets]}
        if self.local is None:
            self.local = self.kind([mine], **self.options)
        else:
            self.local.add_param_group(mine)
        for name, value in self.local.param_groups[-1].items():
            group.setdefault(name, value)  # what the kind takes if it is told nothing
        self.buckets += buckets
        if self.stage == 2:
            for bucket in buckets:
                for weight in bucket.weights:
                    weight.register_post_accumulate_grad_hook(bucket.ready)

    @torch.no_grad()
    def step(self, closure=None):
        """Scatter what backward has left, clip, update this rank's parts, gather the weights."""
        with torch.enable_grad():
            loss = closure() if closure else None
        for bucket in self.buckets:
            if self.stage == 1 or any(weight.grad is not None for weight in bucket.weights):
                bucket.scatter()
        self.clip()
        for group, local in zip(self.param_groups, self.local.param_groups, strict=True):
            local.update({**group, "params": local["params"]})  # a schedule may have changed it
        self.local.step()
        self.gather()
        self.local.zero_grad()
        return loss

    def gather(self):
        """Give all ranks the new weights."""
        for bucket in self.buckets:
            bucket.gather()

    def clip(self):
        """One factor for all parts, from the norm of them all together."""
        parts = [bucket.shard.grad for bucket in self.buckets if bucket.shard.grad is not None]
        squares = torch.stack([part.square().sum() for part in parts]).sum()
        self.norm = ring_sum(squares).sqrt()
        factor = (self.limit / (self.norm + 1e-6)).clamp(max=1)
        for part in parts:
            part *= factor

    def zero_grad(self, set_to_none=True):
        """Forget gradients, those already scattered too."""
        super().zero_grad(set_to_none)
        self.local.zero_grad()


def flat(tensors):
    """Tensors in a row, with zeros at its end until N divides it."""
    row = torch.cat([tensor.detach().flatten() for tensor in tensors])
    return pad(row, (0, -len(row) % ranks()))


def packed(weights, most):
    """Weights that learn, last layer first as backward comes, in buckets of `most` numbers."""
    buckets = []
    for weight in reversed([weight for weight in weights if weight.requires_grad]):
        open_one = buckets[-1] if buckets else []
        fits = sum(each.numel() for each in open_one) + weight.numel() <= most
        if open_one and fits and open_one[0].dtype == weight.dtype:
            open_one.append(weight)
        else:
            buckets.append([weight])
    return buckets


def network(width):
    """Weights of unequal and odd sizes, and a layer that does not learn."""
    like = {"dtype": torch.float64, "device": device()}
    sizes = [width, width + 2, width, width, width, 3]
    layers = [torch.nn.Linear(*pair, **like) for pair in pairwise(sizes)]
    layers[1].requires_grad_(False)
    return torch.nn.Sequential(
        *layers[:2], torch.nn.Tanh(), *layers[2:4], torch.nn.Tanh(), layers[4]
    )


def backward(model, inputs, targets):
    """Add up the gradient of the mean over all micro-batches."""
    for x, target in zip(inputs, targets, strict=True):
        (mse_loss(model(x), target) / len(inputs)).backward()


def main(
    steps: int = 8,  # training steps
    width: int = 7,  # of the model, about
    microbatches: int = 3,  # micro-batches of each rank to a step, K
    bucket: int = 60,  # numbers in a bucket at most, unless one weight has more
    limit: float = 0.1,  # gradient norm above which it is clipped
    lr: float = 0.01,  # learning rate of Adam
) -> Metrics:
    """Train at both stages and on one process; count what is sent when, and look at the norms."""
    if min(steps, width, microbatches, bucket) < 1:
        refuse("steps, width, microbatches and bucket start at 1")
    if not 0.001 <= limit <= 1000:
        refuse("limit lies between 0.001 and 1000")
    like = {"dtype": torch.float64, "device": device()}
    model = network(width)
    x = torch.randn(steps, ranks(), microbatches, 4, width, **like)
    targets = torch.randn(steps, ranks(), microbatches, 4, 3, **like)
    truth, true_norms = one_process(model, x.flatten(1, 2), targets.flatten(1, 2), limit, lr)
    x, targets = x[:, rank()], targets[:, rank()]

    found: dict[str, Any] = {}
    for stage in (1, 2):
        ours = deepcopy(model)
        zero, held = watch(ours, stage, limit, bucket, lr)
        with wire() as in_backward:
            backward(ours, x[0], targets[0])
        with wire() as in_step:
            zero.step()
        turns = {name: turn for turn, name in enumerate(zero.life)}
        for step in range(1, steps):
            backward(ours, x[step], targets[step])
            zero.step()
        weights = parameters_to_vector(ours.parameters()).detach()
        error = max_error(weights, truth)
        check(f"stage {stage} trains as one process does", error, "<", 1e-12)
        found |= {
            f"backward_bytes_{stage}": counted(in_backward.sent_bytes),
            f"update_bytes_{stage}": counted(in_step.sent_bytes - zero.seen[0].sent),
            f"gradient_peak_{stage}": counted(max(held)),
            f"stage_{stage}_error": compared(error),
        }
    last = zero.seen[-1]
    check("all clip by the norm of one process", abs(last.norm - true_norms[-1]), "<", 1e-12)
    official, ddp_bytes = replicated(model, x, targets, limit, bucket, lr)
    redundancy_error = max_error(weights, official)
    check("and as torch's ZeroRedundancyOptimizer", redundancy_error, "<", 1e-12)
    row = sum(each.shard.numel() for each in zero.buckets) * ranks()
    learns = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
    by_rank = everyone([each.norm for each in zero.seen])
    lines = {f"rank {r}": norms.tolist() for r, norms in enumerate(by_rank)}
    picture(
        "curve", "norm to clip by", series=lines | {"one process": true_norms}, x="steps", y="norm"
    )
    return found | {
        "ddp_bytes": counted(ddp_bytes),
        "clip_bytes": shared(counted(everyone(last.sent).sum())),
        "row_bytes": shared(counted(row * 8)),
        "padding": shared(counted(row - learns)),
        "state_bytes": counted(state_bytes(zero.local)),
        "shard_norm": compared(last.own),
        "norm": compared(last.norm),
        "norm_one": shared(compared(true_norms[-1])),
        "kept_norm": shared(compared(everyone(last.kept).norm())),
        **{f"turn_{name}": shared(counted(turn)) for name, turn in turns.items()},
        "drift": compared(max_error(weights, broadcast(weights.clone(), 0))),
        "redundancy_error": compared(redundancy_error),
    }


Seen = namedtuple("Seen", "sent own norm kept")


class Watched(ZeroOptimizer):
    """Notes what is done in which order, what clipping sent, and this rank's norm round it."""

    life: list[str]

    def clip(self):
        """Clip, and look before and after."""
        own = own_norm(self.buckets)
        with wire() as sent:
            super().clip()
        self.life.append("clip")
        note = Seen(sent.sent_bytes, own, self.norm.item(), own_norm(self.buckets))
        self.seen = [*getattr(self, "seen", []), note]

    def gather(self):
        """Gather, and note it."""
        super().gather()
        self.life.append("gather")


def own_norm(buckets):
    """Of this rank's parts of the gradient."""
    return torch.cat([bucket.shard.grad for bucket in buckets]).norm().item()


def watch(model, stage, limit, bucket, lr):
    """An optimizer for the model, and a list of the bytes of gradients seen during backward."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    holders, held = [*weights], []

    def look(_):
        held.append(sum(each.grad.nbytes for each in holders if each.grad is not None))

    for weight in weights:  # before the optimizer's own hooks, which drop what is there
        weight.register_post_accumulate_grad_hook(look)
    zero = Watched(model.parameters(), torch.optim.Adam, stage, limit, bucket, lr=lr)
    holders += [each.shard for each in zero.buckets]
    zero.life = []
    zero.local.register_step_post_hook(lambda *_: zero.life.append("update"))
    for each in zero.buckets:
        each.scatter = lambda act=each.scatter: zero.life.append(act() or "scatter")
    return zero, held


def state_bytes(optimizer):
    """Bytes of all tensors an optimizer keeps."""
    kept = [tensor for state in optimizer.state.values() for tensor in state.values()]
    return sum(tensor.nbytes for tensor in kept if isinstance(tensor, torch.Tensor))


def one_process(model, inputs, targets, limit, lr):
    """The truth: torch's Adam and clipping on all micro-batches; weights and norms."""
    model, norms = deepcopy(model), []
    adam = torch.optim.Adam(model.parameters(), lr=lr)
    for x, target in zip(inputs, targets, strict=True):
        adam.zero_grad()
        backward(model, x, target)
        norms.append(clip_grad_norm_(model.parameters(), limit).item())
        adam.step()
    return parameters_to_vector(model.parameters()).detach(), norms


def replicated(model, inputs, targets, limit, bucket, lr):
    """One all-reduce a step, then torch's own ZeRO-1; weights, and bytes of a step's all-reduce."""
    import torch._dynamo  # optimizers want it; named here, it is imported once for all ranks
    from torch.distributed.optim import ZeroRedundancyOptimizer

    place = "cpu" if torch.distributed.get_backend() == "gloo" else device()  # gloo: host only
    model = deepcopy(model).to(place)
    learns = [weight for weight in model.parameters() if weight.requires_grad]
    official = ZeroRedundancyOptimizer(learns, optimizer_class=torch.optim.Adam, lr=lr)
    sent_bytes = []
    for x, target in zip(inputs.to(place), targets.to(place), strict=True):
        model.zero_grad()
        backward(model, x, target)
        with wire() as sent:
            for weights in packed(learns, bucket):
                sizes = [weight.numel() for weight in weights]
                mean = ring_sum(flat([weight.grad for weight in weights]).to(device())) / ranks()
                for weight, part in zip(weights, mean[: sum(sizes)].split(sizes), strict=True):
                    weight.grad.copy_(part.view_as(weight))
        sent_bytes.append(sent.sent_bytes)
        clip_grad_norm_(learns, limit)
        official.step()
    return parameters_to_vector(model.parameters()).detach().to(device()), sent_bytes[0]


BREAKS = {
    "own-norm": Break(
        old="self.norm = ring_sum(squares).sqrt()",
        new="self.norm = squares.sqrt()",
        expect="stage 1 trains as one process does",
        ranks=2,
        source="github.com/pytorch/xla/pull/4796: ZeRO-1 clipped by the norm of a shard",
    ),
    "no-average": Break(
        old="ring_scatter_sum(flat(found).to(self.shard.dtype)) / ranks()",
        new="ring_scatter_sum(flat(found).to(self.shard.dtype))",
        expect="all clip by the norm of one process",
        ranks=2,
        source="a reduce-scatter sums: the limit bites N times as early, and Adam hides the rest",
    ),
    "last-micro-batch-only": Break(
        old="part if self.shard.grad is None else self.shard.grad + part",
        new="part",
        expect="stage 2 trains as one process does",
        ranks=1,
        source="github.com/allenai/open-instruct/pull/1498: ZeRO-2 kept the last micro-batch only",
    ),
    "gathers-before-the-update": Break(
        old="        self.local.step()\n        self.gather()\n",
        new="        self.gather()\n        self.local.step()\n",
        expect="stage 1 trains as one process does",
        ranks=1,
        source="as if the update took whole weights: what is gathered is a step old",
    ),
}

if __name__ == "__main__":
    run(__file__)
