"""Data parallelism: start equal, feed every replica the same gradient, and they stay equal.

The trick
    Rank 0's weights go to all when replicas are made, and never again (`Replica`): from one start,
    by equal gradients and updates, they stay one. A ring sums gradients; all divide by N
    (`average_gradients`). That is the big batch's gradient only if all tokens weigh the same: a
    rank divides its SUM of losses by the tokens of all ranks, times N, as the mean divides by N
    (`share_of_loss`). A mean of means favours ranks with few tokens.

    Alike: weights, mean gradient, optimizer state. Each its own: samples, activations, losses.
    Buffers (batch norm's running mean) are not summed: rank 0's replace all at every forward.

Watch
    drawn_gap (difference)            of this rank's weights, as it drew them, from rank 0's
    held_tokens (tokens)              on this rank; its other slots are padding, without a target
    mean_weight (ratio)               what a token here weighs in a mean of means, over what it
                                      should
    mean_error (shared, difference)   relative, of the gradient of a mean of means from the right
                                      one
    sum_scale (shared, ratio)         length of the averaged gradient of sums of losses, over the
                                      right one
    grad_scale (shared, ratio)        length of the first gradient applied, over that of torch's DDP
    grad_error (shared, difference)   largest one from one process with all tokens, at any step
    drift (difference)                of weights and momentum from rank 0's, after the last step
    pushed_weight_gap (difference)    rank r added r to a weight: from rank 0's in torch DDP's
                                      forward
    pushed_buffer_gap (difference)    rank r added r to a buffer: from rank 0's in torch DDP's
                                      forward
    pushed_momentum_gap (difference)  rank r holds r as momentum: from rank 0's after a forward and
                                      backward in torch's DDP
    buffer_gap (difference)           of the buffer from rank 0's, after the last step
    sent_bytes_ring (bytes)           handed to the ring by this rank in one step; buffers not
                                      counted
    gradient_bytes (bytes)            of all gradients on this rank
    model_bytes (shared, bytes)       of the weights of the model, whole, on one process
    held_weight_bytes (bytes)         of weights on this rank
    held_momentum_bytes (bytes)       of momentum, the optimizer's state, on this rank

Run
    quizkit demo ddp --gpus 4
    python demos/ddp.py --ranks 4 --tokens 3 --extra 9
    torchrun --nproc-per-node 4 demos/ddp.py
"""

from copy import deepcopy
from functools import partial

from _bench import Break, Layer, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_gather, broadcast, device, everyone, max_error, picture, rank, ranks
from _bench import ring_sum, wire

import torch
from torch.nn.functional import cross_entropy

TOPIC = "dp"
RATE, MOMENTUM = 0.1, 0.9
PAD = -100  # the label that cross_entropy leaves out


class Replica(torch.nn.Module):
    """One rank's copy of any model: what DDP does besides the gradients."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        for tensor in (*model.parameters(), *model.buffers()):  # never sent again
            broadcast(tensor, 0)

    def forward(self, *inputs):
        """Buffers are made rank 0's; weights are trusted to be equal already."""
        for buffer in self.model.buffers():
            broadcast(buffer, 0)
        return self.model(*inputs)


def share_of_loss(logits, labels):
    """My part of the mean over the tokens of all ranks, times N, for the mean that is to come."""
    valid = labels != PAD
    count = everyone(int(valid.sum())).sum().item()
    total = cross_entropy(logits[valid], labels[valid], reduction="sum")
    return total * ranks() / count


def trained(model):
    """The weights that learn. One that is used twice is listed once, a frozen one not at all."""
    return [weight for weight in model.parameters() if weight.requires_grad]


def average_gradients(model):
    """Every rank ends up with the mean of all ranks' gradients, bit for bit the same."""
    if missing := sum(weight.grad is None for weight in trained(model)):
        raise RuntimeError(f"{missing} weights had no gradient in this backward")
    mean = ring_sum(gradient_of(model)) / ranks()
    parts = mean.split([weight.numel() for weight in trained(model)])
    for weight, part in zip(trained(model), parts, strict=True):
        weight.grad.copy_(part.view_as(weight))


def row(tensors):
    """All in one row."""
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


def gradient_of(model):
    """The gradient of all weights that learn, in one row."""
    return row(weight.grad for weight in trained(model))


class Model(torch.nn.Module):
    """Layers, a head, and a buffer that follows the inputs, as batch norm's running mean does."""

    seen: torch.Tensor

    def __init__(self, width, classes):
        super().__init__()
        like = {"dtype": torch.float64, "device": device()}
        self.body = torch.nn.Sequential(Layer(width, width, **like), Layer(width, width, **like))
        self.head = torch.nn.Linear(width, classes, **like)
        self.register_buffer("seen", torch.randn(width, dtype=torch.float64).to(device()))

    def forward(self, inputs):
        """Logits. The buffer as it came in is kept, to look at."""
        self.entered = self.seen.clone()
        self.seen.lerp_(inputs.mean(0), 0.1)
        return self.head(self.body(inputs))


def update(model, momentum):
    """SGD with momentum: no messages, what is equal stays equal."""
    with torch.no_grad():
        for weight, speed in zip(model.parameters(), momentum, strict=True):
            speed.mul_(MOMENTUM).add_(weight.grad)
            weight.sub_(RATE * speed)


def train(model, momentum, inputs, labels, steps):
    """My steps; the first outputs, and the gradients by which all ranks updated."""
    replica = Replica(model)
    outputs = []
    gradients = []
    for _ in range(steps):
        model.zero_grad()
        outputs.append(replica(inputs))
        share_of_loss(outputs[-1], labels).backward()
        average_gradients(model)
        gradients.append(gradient_of(model))
        update(model, momentum)
    return outputs[0], gradients


def main(
    tokens: int = 6,  # tokens with a target on each rank
    extra: int = 6,  # how many more of them rank 0 has; the others' slots are padding
    steps: int = 4,  # training steps
    width: int = 24,  # hidden size of the model
    classes: int = 24,  # classes that the head tells apart
) -> Metrics:
    """Train replicas on tokens of their own, rank 0 having `extra` more, against one process."""
    from torch import _dynamo  # noqa: F401  # DDP wants it: imported once, before the fork
    from torch.nn.parallel import DistributedDataParallel

    if min(tokens, width) < 1 or extra < 0 or classes < 2 or not 1 <= steps <= 20:
        refuse("tokens and width start at 1, extra at 0, classes at 2; steps lie in 1 to 20")
    n = ranks()
    slots = tokens + extra
    inputs = torch.randn(n, slots, width, dtype=torch.float64).to(device())
    labels = torch.randint(classes, (n, slots)).to(device())
    labels[1:, tokens:] = PAD
    mine = inputs[rank()], labels[rank()]
    everything = inputs.flatten(0, 1), labels.flatten()
    origin = Model(width, classes)  # rank 0's: so far all ranks have drawn with one seed
    torch.manual_seed(1000 + rank())
    drawn = Model(width, classes) if rank() else deepcopy(origin)

    model = deepcopy(drawn)
    momentum = [torch.zeros_like(weight) for weight in model.parameters()]
    outputs, gradients = train(model, momentum, *mine, steps)
    expected, true_gradients, true_ends = alone(deepcopy(origin), *everything, steps)
    ends = row([*model.parameters(), *momentum])
    right = true_gradients[0]
    grad_error = max(map(max_error, gradients, true_gradients))
    seen = torch.lerp(inputs[0].mean(0), origin.seen, 0.9 ** (steps - 1))
    check("outputs equal one process", max_error(outputs, expected.chunk(n)[rank()]), "<", 1e-12)
    check("gradients equal one process", grad_error, "<", 1e-12)
    check("weights and momentum equal one process", max_error(ends, true_ends), "<", 1e-12)
    check("replicas stay alike", from_rank_0(ends), "==", 0.0)
    check("buffers follow rank 0's samples", max_error(model.entered, seen), "<", 1e-12)

    place = "cpu" if torch.distributed.get_backend() == "gloo" else device()  # gloo: host only
    there = deepcopy(drawn).to(place), [each.to(place) for each in mine]
    theirs = []
    for loss in (share_of_loss, cross_entropy, partial(cross_entropy, reduction="sum")):
        theirs.append(averaged(DistributedDataParallel, *there, loss).to(device()))
        error = relative(averaged(Replica, drawn, mine, loss), theirs[-1])
        check("gradients equal torch's DDP", error, "<", 1e-12)
    kept = pushed(DistributedDataParallel, there[0], there[1][0])
    same = pushed(Replica, drawn, mine[0]) == kept
    check("sends no less and no more than torch's DDP", same, "==", True)

    def pull(loss):
        """How hard this rank's tokens pull at their logits."""
        logits = outputs.detach().requires_grad_()
        return torch.autograd.grad(loss(logits, mine[1]), logits)[0].norm()

    grad_scale = (gradients[0].norm() / theirs[0].norm()).item()
    with wire() as sent:
        average_gradients(model)
    parts = {"weights": row(model.parameters()), "gradients": gradient_of(model)}
    parts |= {"momentum": row(momentum)}
    kept_here = {f"rank {rank()}": [part.nbytes for part in parts.values()]}
    picture("staircase", "model states of each rank", parts=[*parts], steps=kept_here, unit="bytes")
    return {
        "drawn_gap": compared(from_rank_0(row(drawn.parameters()))),
        "held_tokens": counted(int((mine[1] != PAD).sum())),
        "mean_weight": compared((pull(cross_entropy) / pull(share_of_loss)).item()),
        "mean_error": shared(compared(relative(theirs[1], right))),
        "sum_scale": shared(compared((theirs[2].norm() / right.norm()).item())),
        "grad_scale": shared(compared(everyone(grad_scale).max())),
        "grad_error": shared(compared(everyone(grad_error).max().item())),
        "drift": compared(from_rank_0(ends)),
        "pushed_weight_gap": compared(kept[1]),
        "pushed_buffer_gap": compared(kept[2]),
        "pushed_momentum_gap": compared(kept[3]),
        "buffer_gap": compared(from_rank_0(model.seen)),
        "sent_bytes_ring": counted(sent.sent_bytes),
        "gradient_bytes": counted(gradient_of(model).nbytes),
        "model_bytes": shared(counted(row(origin.parameters()).nbytes)),
        "held_weight_bytes": counted(row(model.parameters()).nbytes),
        "held_momentum_bytes": counted(row(momentum).nbytes),
    }


# Below: what the runs are held against.


def alone(model, inputs, labels, steps):
    """The truth: the tokens of all ranks on one process, one mean over them, torch's SGD."""
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
    outputs = []
    gradients = []
    for _ in range(steps):
        optimizer.zero_grad()
        outputs.append(model(inputs))
        cross_entropy(outputs[-1], labels).backward()
        gradients.append(gradient_of(model))
        optimizer.step()
    momentum = [optimizer.state[weight]["momentum_buffer"] for weight in model.parameters()]
    return outputs[0], gradients, row([*model.parameters(), *momentum])


def averaged(wrap, model, batch, loss):
    """The gradient that a wrapper, ours or torch's, makes of this loss."""
    replica = wrap(deepcopy(model))  # kept by its name: once it is gone, nobody averages
    loss(replica(batch[0]), batch[1]).backward()
    if wrap is Replica:
        average_gradients(replica)
    return gradient_of(replica)


def pushed(wrap, model, inputs):
    """How far apart a wrapper leaves what it wraps, and what is pushed aside later.

    That is a weight, a buffer, and the momentum of an optimizer.
    """
    model = deepcopy(model)
    replica = wrap(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
    wrapped = from_rank_0(row([*model.parameters(), *model.buffers()]))
    with torch.no_grad():
        model.head.weight += rank()
        model.seen += rank()
        optimizer.state[model.head.weight]["momentum_buffer"] = model.head.weight * 0 + rank()
    replica(inputs).sum().backward()
    momentum = optimizer.state[model.head.weight]["momentum_buffer"]
    return wrapped, *map(from_rank_0, (model.head.weight, model.entered, momentum))


def relative(ours, truth):
    """How long the difference is, in lengths of the truth."""
    return ((ours - truth).norm() / truth.norm()).item()


def from_rank_0(tensor):
    """How far this rank's is from rank 0's."""
    here = tensor.to(device())  # torch's DDP may hold it in host memory
    return max_error(here, all_gather(here)[0])


BREAKS = {
    "no-broadcast": Break(
        old="broadcast(tensor, 0)",
        new="pass",
        expect="replicas stay alike",
        ranks=2,
        source="loops by hand that average gradients and leave the start to each rank's seed",
    ),
    "mean-of-means": Break(
        old="count = everyone(int(valid.sum())).sum().item()",
        new="count = int(valid.sum()) * ranks()",
        expect="gradients equal one process",
        ranks=2,
        source="cross_entropy's default mean under DDP; ranks rarely have equally many tokens",
    ),
    "sum-not-divided": Break(
        old="ring_sum(gradient_of(model)) / ranks()",
        new="ring_sum(gradient_of(model))",
        expect="gradients equal one process",
        ranks=2,
        source="dist.all_reduce sums by default: N times the gradient, and replicas stay alike",
    ),
    "matrices-only": Break(
        old="        weight.grad.copy_(part.view_as(weight))",
        new="        if weight.dim() > 1:\n            weight.grad.copy_(part.view_as(weight))",
        expect="replicas stay alike",
        ranks=2,
        source="a list of parameters to reduce that misses some: their copies part at once",
    ),
    "buffers-left": Break(
        old="broadcast(buffer, 0)",
        new="pass",
        expect="buffers follow rank 0's samples",
        ranks=2,
        source="DDP with forward_sync_buffers=False: each rank evaluates by statistics of its own",
    ),
}

if __name__ == "__main__":
    run(__file__)
