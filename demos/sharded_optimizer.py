"""ZeRO-1 round any optimizer: each rank keeps the state of its share of weights, and updates those.

The trick
    An optimizer treats every weight by itself, so that weights can be dealt out: a rank has an
    ordinary optimizer for its own ones, which never hears of the others and keeps no state for
    them. After the step every owner gives its new weights to all. Gradients have been averaged
    before, as in plain data parallelism; whoever reduces them to their owners only (ZeRO-1 as it is
    used, model_states.py) sends a third less.

    Whole weights are dealt, the next to whoever has least so far: a large embedding is never cut.
    Learning rates are read at each step, since a schedule changes the groups it was given.

Watch
    optimizer_bytes (bytes)                of the optimizer's state on this rank; weights and
                                           gradients are not in it
    optimizer_bytes_whole (shared, bytes)  of the optimizer's state if nothing is sharded
    weights_owned (elements)               numbers in the weights that this rank updates
    weights_all (shared, elements)         numbers in all weights that learn
    weights_error (difference)             largest one of weights from one process, after the last
                                           step
    redundancy_error (difference)          largest one of weights from torch's
                                           ZeroRedundancyOptimizer

Run
    quizkit demo sharded-optimizer --gpus 4
    python demos/sharded_optimizer.py --ranks 3 --optimizer SGD
    torchrun --nproc-per-node 4 demos/sharded_optimizer.py
"""

from copy import deepcopy
from typing import Any, Literal

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import broadcast, device, everyone, max_error, rank, ranks, ring_sum

import torch
from torch.nn.functional import mse_loss
from torch.nn.utils import parameters_to_vector

TOPIC = "zero"


class ShardedOptimizer(torch.optim.Optimizer):
    """Any optimizer of torch's, such as AdamW, whose state for a weight is on one rank only.

    Gradients must be equal on all ranks when it steps.
    """

    def __init__(self, params, kind, **options):
        self.kind = kind
        self.options = options
        self.owner = {}  # of each weight that learns: the rank that updates it
        self.held = [0] * ranks()  # numbers that each rank updates
        self.local = None
        super().__init__(params, options)  # comes to add_param_group

    def add_param_group(self, param_group):
        """Deal out weights: every rank does so alike, and makes an optimizer of its share."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for weight in group["params"]:
            if weight.requires_grad:
                self.owner[weight] = self.held.index(min(self.held))
                self.held[self.owner[weight]] += weight.numel()
        mine = [weight for weight in group["params"] if self.owner.get(weight) == rank()]
        if self.local is None:
            self.local = self.kind([{**group, "params": mine}], **self.options)
        else:
            self.local.add_param_group({**group, "params": mine})
        for name, value in self.local.param_groups[-1].items():
            group.setdefault(name, value)  # what the kind takes if it is told nothing

    @torch.no_grad()
    def step(self, closure=None):
        """Update my share; then every weight comes from its owner."""
        for group, local in zip(self.param_groups, self.local.param_groups, strict=True):
            local.update({**group, "params": local["params"]})  # a schedule may have changed it
        loss = self.local.step(closure)
        for weight, owner in self.owner.items():
            broadcast(weight, owner)
        return loss


def state_bytes(optimizer):
    """Bytes of all tensors an optimizer keeps."""
    kept = [tensor for state in optimizer.state.values() for tensor in state.values()]
    return sum(tensor.nbytes for tensor in kept if isinstance(tensor, torch.Tensor))


class Model(torch.nn.Module):
    """An embedding that is the head too, a layer that learns, and one that is frozen."""

    def __init__(self, vocabulary, width):
        super().__init__()
        like = {"dtype": torch.float64, "device": device()}
        self.embedding = torch.nn.Embedding(vocabulary, width, **like)
        self.frozen = torch.nn.Linear(width, width, **like).requires_grad_(False)
        self.layer = torch.nn.Linear(width, width, **like)
        self.head = torch.nn.Linear(width, vocabulary, bias=False, **like)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        """A row of numbers for each token."""
        return self.head(torch.tanh(self.layer(torch.tanh(self.frozen(self.embedding(tokens))))))


def train(model, optimizer, batches, average):
    """All steps, the learning rate halved after each."""
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    for tokens, targets in batches:
        optimizer.zero_grad()
        mse_loss(model(tokens), targets).backward()
        for weight in model.parameters():
            if average and weight.requires_grad:
                weight.grad.copy_(ring_sum(weight.grad.to(device())) / ranks())
        optimizer.step()
        schedule.step()
    return parameters_to_vector(model.parameters()).detach()


def main(
    steps: int = 4,  # training steps; the learning rate is halved after each
    vocabulary: int = 24,  # rows of the embedding, which is the largest weight
    width: int = 12,  # features of a token
    rows: int = 5,  # tokens of each rank in a step
    optimizer: Literal["AdamW", "SGD"] = "AdamW",  # which of torch's; SGD has momentum
    lr: float = 0.1,  # learning rate of the first step
) -> Metrics:
    """Train with state that is sharded, by hand and by torch, against one process."""
    from torch.distributed.optim import ZeroRedundancyOptimizer

    if min(steps, vocabulary, width, rows) < 1:
        refuse("steps, vocabulary, width and rows start at 1")
    kind = getattr(torch.optim, optimizer)
    options: dict[str, Any] = {"lr": lr, "momentum": 0.9} if optimizer == "SGD" else {"lr": lr}
    model = Model(vocabulary, width)
    tokens = torch.randint(vocabulary, (steps, ranks(), rows)).to(device())
    targets = torch.randn(steps, ranks(), rows, vocabulary, dtype=torch.float64).to(device())
    mine = list(zip(tokens[:, rank()], targets[:, rank()], strict=True))
    everything = list(zip(tokens.flatten(1), targets.flatten(1, 2), strict=True))

    alone = deepcopy(model)
    whole = kind([w for w in alone.parameters() if w.requires_grad], **options)
    truth = train(alone, whole, everything, average=False)
    ours = deepcopy(model)
    sharded = ShardedOptimizer(ours.parameters(), kind, **options)
    weights = train(ours, sharded, mine, average=True)

    place = "cpu" if torch.distributed.get_backend() == "gloo" else device()  # gloo: host only
    theirs = deepcopy(model).to(place)
    learning = [w for w in theirs.parameters() if w.requires_grad]
    official = ZeroRedundancyOptimizer(learning, optimizer_class=kind, **options)
    there = [(tokens.to(place), targets.to(place)) for tokens, targets in mine]
    torch_error = max_error(weights, train(theirs, official, there, average=True).to(device()))

    weights_error = max_error(weights, truth)
    kept = everyone(state_bytes(sharded.local)).sum().item()
    check("weights equal one process", weights_error, "<", 1e-12)
    check("weights equal torch's", torch_error, "<", 1e-12)
    check("state is kept once", kept, "==", state_bytes(whole))
    learns = sum(w.numel() for w in ours.parameters() if w.requires_grad)
    check("each weight has one owner", sum(sharded.held), "==", learns)
    return {
        "optimizer_bytes": counted(state_bytes(sharded.local)),
        "optimizer_bytes_whole": shared(counted(state_bytes(whole))),
        "weights_owned": counted(sharded.held[rank()]),
        "weights_all": shared(counted(learns)),
        "weights_error": compared(weights_error),
        "redundancy_error": compared(torch_error),
    }


BREAKS = {
    "nobody-told": Break(
        old="            broadcast(weight, owner)\n",
        new="            pass\n",
        expect="weights equal one process",
        ranks=2,
        source="state sharded and the update kept to oneself: replicas part at the first step",
    ),
    "schedule-unheard": Break(
        old="local.update({**group, ",
        new='local.update({**group, "lr": local["lr"], ',
        expect="weights equal one process",
        ranks=1,
        source="a schedule changes the wrapper's groups; the optimizer inside keeps its first rate",
    ),
    "state-for-all": Break(
        old="if self.owner.get(weight) == rank()]",
        new="if weight.requires_grad]",
        expect="state is kept once",
        ranks=2,
        source="every rank updates everything: right numbers, and no byte is saved",
    ),
}

if __name__ == "__main__":
    run(__file__)
