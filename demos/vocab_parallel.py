"""Cut the vocabulary over t ranks: its loss takes 3 numbers a token from each, not V/t logits.

The trick
    Rank r owns rows rV/t to (r+1)V/t of the table. It looks up the ids that are its own, puts 0
    for the others, and an all-reduce adds up what was found; going back, a row's gradient already
    lies where the row lies. The head makes each rank the logits of its own rows. The loss wants
    three numbers a token from all: the largest, the sum of exp(logit - largest), and the target's,
    which its owner alone has. The gradient, softmax - onehot, is local. V is padded until t
    divides it, with logits of -inf. --lift: added to every logit. --skew: small ids more often.

Watch
    table_rows (rows)  of the table that each rank owns, padding included
    ownerless (shared, count)  ids that not exactly one rank owns
    own_ids (tokens)  whose id is this rank's
    logits (elements, forward)  logits each rank computes, padding included
    sent_lookup (bytes, forward)  sent by each rank to look up the tokens: a ring over tokens x 16
    sent_table_backward (bytes, backward)  sent by each rank for the gradient of the table
    sent_loss (bytes, forward)  sent by each rank for the loss from its own logits
    sent_loss_backward (bytes, backward)  sent by each rank for the gradient of its own logits
    sent_gather (bytes, forward)  sent by each rank if all logits are gathered for the loss
    loss_cut (loss)  mean from local logits, over the tokens that have a target
    loss_one (shared, loss)  mean from one process and torch's cross entropy, without padding
    lookup_error (difference, forward)  largest one of looked-up rows from one process
    stray_error (difference, forward)  looked-up rows, against the right ones plus row 0 of all
        other shards
    token_loss_error (difference, forward)  largest one of a token's loss from one process
    table_grad_error (difference, backward)  the table's gradient, this rank's rows, from one
        process
    head_grad_error (difference, backward)  the head's gradient, this rank's rows, from one process
    head_input_grad_error (difference, backward)  the head input's gradient, whole on every rank,
        from one process
    summed_grad_error (difference, backward)  the table's gradient from one process, had the ranks'
        been all-reduced

Run
    quizkit demo vocab-parallel --gpus 4
    python demos/vocab_parallel.py --ranks 2 --vocab 13 --multiple 1
    torchrun --nproc-per-node 4 demos/vocab_parallel.py
"""

from math import inf
from types import SimpleNamespace

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_reduce, device, everyone, max_error, rank, ranks, ring_gather, ring_sum, wire

import torch
from torch.autograd import grad
from torch.nn.functional import cross_entropy, embedding, linear

TOPIC = "tp"

WIDTH = 16  # of a row
IGNORED = -100  # torch's mark for a token without a target
same = torch.Tensor.clone  # in this direction there is nothing to send


def cut(vocab, multiple):
    """How many rows a rank owns: Megatron pads to a multiple of 128 for every rank."""
    return -(-vocab // (multiple * ranks())) * multiple


def find(ids, rows):
    """Which ids are this rank's, and where; a foreign id points at row 0, for it must point."""
    first = rank() * rows
    own = (ids >= first) & (ids < first + rows)
    return own, (ids - first).masked_fill(~own, 0)


def look_up(ids, table):
    """Rows of a table of which this rank has a shard."""
    own, at = find(ids, len(table))
    found = table[at].masked_fill(~own[:, None], 0)
    return Conjugate.apply(found, add_up, same)


class Loss(torch.autograd.Function):
    """Cross entropy of every token, from this rank's logits and three numbers a token."""

    @staticmethod
    def forward(ctx, logits, targets):
        """Loss = log of the sum of exp - the target's logit, all relative to the largest."""
        largest = reduce(logits.amax(1), torch.maximum)
        powers = torch.exp(logits - largest[:, None])
        own, at = find(targets, logits.shape[1])
        hit = logits.gather(1, at[:, None])[:, 0].masked_fill(~own, 0)
        total, hit = add_up(torch.stack((powers.sum(1), hit)))
        ctx.save_for_backward(powers / total[:, None], targets)
        return total.log() + largest - hit

    @staticmethod
    def backward(ctx, gradient):
        """Softmax - onehot: what this rank needs of it, it has."""
        softmax, targets = ctx.saved_tensors
        own, at = find(targets, softmax.shape[1])
        onehot = torch.zeros_like(softmax).scatter_(1, at[:, None], own.to(softmax.dtype)[:, None])
        return (softmax - onehot) * gradient[:, None], None


def reduce(x, combine):
    """A ring all-reduce: chunks are combined on their way round, then go round once more."""
    return ring_sum(x, combine=combine)


def add_up(part):
    """What each rank has a part of, whole."""
    return reduce(part, torch.add)


class Conjugate(torch.autograd.Function):
    """One thing on the way forward, its conjugate on the way back."""

    @staticmethod
    def forward(ctx, x, there, back):
        """Parts are added up, or what is whole goes as it is into every rank's part."""
        ctx.back = back
        return there(x)

    @staticmethod
    def backward(ctx, gradient):
        """A sum's gradient is each part's; where all ranks took x, theirs are added up."""
        return ctx.back(gradient), None, None


def predict(x, head, vocab, lift):
    """The logits of this rank's rows of the head, which is column-parallel."""
    logits = linear(torch.tanh(x), head) + lift  # tanh: the model between table and head
    ids = rank() * len(head) + torch.arange(len(head), device=x.device)
    return logits.masked_fill(ids >= vocab, -inf)


def main(
    vocab: int = 101,  # ids in the vocabulary, before padding
    multiple: int = 8,  # each rank's rows are padded to a multiple of it
    tokens: int = 128,  # tokens to look up and to predict, the same on every rank
    lift: float = 1e3,  # added to every logit: at 1000, exp without the maximum overflows
    skew: float = 0.0,  # how strongly small ids are favoured; 0: all come alike often
) -> Metrics:
    """Look tokens up, and predict others: on shards of the vocabulary and on the whole of it."""
    if min(vocab, multiple) < 1 or tokens < ranks() or not (0 <= skew < inf and abs(lift) <= 1e3):
        refuse(f"vocab and multiple start at 1, tokens at {ranks()}, skew at 0; lift ends at 1000")

    rows = cut(vocab, multiple)
    whole = max(rows * ranks(), vocab)
    real = torch.arange(whole)[:, None] < vocab  # padded rows are zeros
    tables = [(torch.randn(whole, WIDTH).double() * real).to(device()) for _ in range(2)]
    # Spread over the vocabulary: with skew 0 and enough tokens every id comes at least once.
    draws = [(torch.randperm(tokens).double() + 0.5) / tokens for _ in range(2)]
    ids, targets = ((vocab * draw ** (1 + skew)).long().to(device()) for draw in draws)
    targets[: tokens // 32] = IGNORED
    answered = targets != IGNORED
    truth = one_process(tables, ids, targets, vocab, lift)

    part = slice(rank() * rows, (rank() + 1) * rows)
    table, head = (shards[part].clone().requires_grad_() for shards in tables)
    with wire() as to_lookup:
        looked_up = look_up(ids, table)
    x = looked_up.detach().requires_grad_()
    logits = predict(Conjugate.apply(x, same, add_up), head, vocab, lift)
    with wire() as to_loss:
        losses = Loss.apply(logits, targets) * answered
    loss = losses.sum() / answered.sum()
    with wire() as from_loss:
        [for_logits] = grad(loss, logits)
    for_x, for_head = grad(logits, (x, head), for_logits)
    with wire() as to_table:
        [for_table] = grad((looked_up * for_x).sum(), table)

    known = targets.masked_fill(targets >= rows * ranks(), IGNORED)  # torch refuses others
    with wire() as to_gather:
        from_all = cross_entropy(ring_gather(logits, 1), known, reduction="none")
    torch_mean, torch_grad = torch_loss(logits, known)

    owners = all_reduce(find(torch.arange(vocab, device=device()), rows)[0].long())
    ownerless = (owners != 1).sum().item()
    check("every id has one owner", ownerless, "==", 0)
    # Row 0 of every shard, but not of the one in which the id lies.
    strays = tables[0][::rows][: ranks()].sum(0) - tables[0][ids // rows * rows]
    found = {
        "lookup_error": max_error(looked_up, truth.x),
        "token_loss_error": max_error(losses, truth.losses),
        "table_grad_error": max_error(for_table, truth.for_table[part]),
        "head_grad_error": max_error(for_head, truth.for_head[part]),
        "head_input_grad_error": max_error(for_x, truth.for_x),
    }
    for name, error in found.items():
        check(f"{name.removesuffix('_error').replace('_', ' ')} as on one", error, "<", 1e-12)
    check("gathered logits, same loss", max_error(from_all, truth.losses), "<", 1e-12)
    check("torch's loss_parallel, same loss", abs(loss.item() - torch_mean), "<", 1e-12)
    check("and same gradient", max_error(for_logits, torch_grad), "<", 1e-12)
    check("both gradients are local", to_table.sent_messages + from_loss.sent_messages, "==", 0)
    sent = everyone(to_loss.sent_bytes).sum().item()
    check("3 numbers a token", sent, "==", 2 * (ranks() - 1) * 3 * tokens * 8)
    return {
        "table_rows": counted(len(table)),
        "ownerless": shared(counted(ownerless)),
        "own_ids": counted(find(ids, rows)[0].sum().item()),
        "logits": counted(logits.numel()),
        "sent_lookup": counted(to_lookup.sent_bytes),
        "sent_table_backward": counted(to_table.sent_bytes),
        "sent_loss": counted(to_loss.sent_bytes),
        "sent_loss_backward": counted(from_loss.sent_bytes),
        "sent_gather": counted(to_gather.sent_bytes),
        "loss_cut": compared(loss.item()),
        "loss_one": shared(compared((truth.losses.sum() / answered.sum()).item())),
        "stray_error": compared(max_error(looked_up, truth.x + strays)),
        "summed_grad_error": compared(max_error(all_reduce(for_table), truth.for_table[part])),
    } | {name: compared(error) for name, error in found.items()}


def one_process(tables, ids, targets, vocab, lift):
    """The truth: no shards, no padding."""
    table, head = (whole.clone().requires_grad_() for whole in tables)
    looked_up = embedding(ids, table[:vocab])
    x = looked_up.detach().requires_grad_()
    logits = linear(torch.tanh(x), head[:vocab]) + lift
    losses = cross_entropy(logits, targets, reduction="none")
    for_x, for_head = grad(losses.sum() / (targets != IGNORED).sum(), (x, head))
    [for_table] = grad((looked_up * for_x).sum(), table)
    return SimpleNamespace(x=x, losses=losses, for_x=for_x, for_head=for_head, for_table=for_table)


def torch_loss(logits, targets):
    """The mean loss and its gradient as torch's own loss_parallel has them."""
    import torch._dynamo  # DTensor wants it; named here, it is imported once for all ranks
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard
    from torch.distributed.tensor.parallel import loss_parallel

    place = "cpu" if torch.distributed.get_backend() == "gloo" else device().type
    local = logits.detach().to(place).requires_grad_()
    mesh = init_device_mesh(place, (ranks(),))
    with loss_parallel():
        mean = cross_entropy(DTensor.from_local(local, mesh, [Shard(1)]), targets.to(place))
        return mean.item(), *grad(mean, local)


BREAKS = {
    "foreign-rows-kept": Break(
        old="found = table[at].masked_fill(~own[:, None], 0)",
        new="found = table[at]",
        expect="lookup as on one",
        ranks=2,
        source="ids are masked and rows forgotten: every rank adds a row for every foreign token",
    ),
    "tail-without-owner": Break(
        old="return -(-vocab // (multiple * ranks())) * multiple",
        new="return vocab // ranks()",
        expect="every id has one owner",
        ranks=2,
        source="V // t rows on each rank, as many a sketch has it: the last V % t ids are nobody's",
    ),
    "local-max": Break(
        old="largest = reduce(logits.amax(1), torch.maximum)",
        new="largest = logits.amax(1)",
        expect="token loss as on one",
        ranks=2,
        source="softmax written for one process, and only its sum made parallel",
    ),
    "padding-counted": Break(
        old="return logits.masked_fill(ids >= vocab, -inf)",
        new="return logits",
        expect="token loss as on one",
        ranks=1,
        source="padded rows are zeros, so they do no harm: yet exp(0) is 1",
    ),
    "onehot-everywhere": Break(
        old="own.to(softmax.dtype)[:, None])",
        new="1.0)",
        expect="head grad as on one",
        ranks=2,
        source="the target's mask is applied in the forward only: the loss is right",
    ),
}

if __name__ == "__main__":
    run(__file__)
