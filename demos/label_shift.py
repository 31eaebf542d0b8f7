"""Shift labels before the sequence is cut, divide by the targets of all ranks, sum over all ranks.

The trick
    Token i predicts token i + 1. A rank that shifts its own tokens by one loses the target of its
    last one to a neighbour, and where its shard is not in one piece it takes a token from elsewhere
    for the next: of a sequence on c ranks c - 1 targets go wrong with contiguous shards, 2c - 2
    with zigzag, all with striped. So shift labels of the whole sequence, then cut by the same ids.
    Shards have unlike numbers of targets (prompts, padding and the last token have none): each rank
    divides its SUM of losses by the count of all ranks, and a mean of means is something else; of
    no target it is 0 / 0. Every rank holds all weights and has seen a part of the targets, so that
    gradients are summed over DP x CP. (Attention's own sums over CP, of the gradients of keys and
    values, make activations' gradients whole, not those of weights.)

Watch
    mistaken (tokens)                targets of a sequence that a shift on this rank takes from
        elsewhere
    lost (tokens)                    targets of a sequence that a shift on this rank loses to
        another one
    targets (tokens)                 tokens of this rank with a target: the next one, unless it is a
        prompt's
    weight (ratio)                   weight of one of this rank's targets in the loss, over that in
        one process
    nan_by_mean (yes/no)             1 if torch's mean over this rank's own targets is NaN, else 0
    loss_error (shared, difference)  of the sum of all ranks' losses from one process's loss
    grad_error (shared, difference)  of the gradient summed over all ranks from one process
    own_error (difference)           of this rank's gradient, nothing summed, from one process
    dp_error (difference)            of the gradient summed over the ranks that hold the same shard
        of other sequences, from one process
    cp_error (difference)            of the gradient summed over the ranks that share a sequence,
        from one process
    dp_mean_error (difference)       of the gradient summed along CP and averaged over the copies,
        from one process
    drift (difference)               of this rank's weights from rank 0's after a step

Run
    quizkit demo label-shift --gpus 4
    python demos/label_shift.py --ranks 4 --layout contiguous --prompt 12
    torchrun --nproc-per-node 4 demos/label_shift.py --copies 2
"""

from typing import Literal

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_gather, device, everyone, max_error, rank, ranks, take_gradient

import torch
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from torch.nn.utils import parameters_to_vector

TOPIC = "cp"
REGIME = ("layout",)
IGNORE = -100  # the label that torch's cross_entropy leaves out
RATE = 0.1  # of plain SGD


def my_part(tokens, mine, prompt):
    """My tokens, what each has to predict, and how many have a target: a prompt is only read."""
    inputs = tokens[:, mine]
    labels = following(tokens)[:, mine]
    # The last token of a prompt predicts the first of the answer.
    labels = labels.masked_fill(mine < prompt - 1, IGNORE)
    targets = int((labels != IGNORE).sum())
    return inputs, labels, targets


def following(tokens):
    """For each token the one after it; the last has none."""
    labels = tokens.roll(-1, 1)
    labels[:, -1] = IGNORE
    return labels


def share_of_loss(losses, targets):
    """What this rank adds to the mean over the targets of all ranks."""
    count = everyone(targets).sum().item()
    return losses.sum() / count


def losses_of(logits, labels):
    """A loss for each token, 0 where there is no target."""
    rows = logits.flatten(0, 1), labels.flatten()
    return cross_entropy(*rows, ignore_index=IGNORE, reduction="none")


def places_of(shard, shards, seq, layout):
    """Where in the sequence the tokens of a shard stand."""
    places = torch.arange(seq, device=device())
    if layout == "contiguous":
        return places.chunk(shards)[shard]
    if layout == "striped":
        return places[shard::shards]
    pieces = places.chunk(2 * shards)  # zigzag: an early piece and a late one
    return torch.cat([pieces[shard], pieces[-1 - shard]])


def sum_over(tensor, members):
    """The sum of the members' tensors."""
    parts = all_gather(tensor)
    return torch.stack([parts[member] for member in members]).sum(0)


class FromGroup(torch.autograd.Function):
    """The members' tokens, one shard after the other; on the way back, my part of the sum."""

    @staticmethod
    def forward(ctx, mine, members):
        """Gather."""
        ctx.members, parts = members, all_gather(mine)
        return torch.cat([parts[member] for member in members], 1)

    @staticmethod
    def backward(ctx, gradient):
        """Every member's queries have looked at my keys."""
        total = sum_over(gradient, ctx.members)
        return total.chunk(len(ctx.members), 1)[ctx.members.index(rank())], None


class Model(torch.nn.Module):
    """Embedding, one causal attention, a head."""

    def __init__(self, vocab, width):
        super().__init__()
        like = {"dtype": torch.float64, "device": device()}
        self.table = torch.nn.Embedding(vocab, width, **like)
        self.mix = torch.nn.Linear(width, 3 * width, **like)
        self.head = torch.nn.Linear(width, vocab, **like)

    def forward(self, tokens, mine=None, theirs=None, members=()):
        """Logits of these tokens: a whole sequence, or my shard of one that members share."""
        x = self.table(tokens)
        q, k, v = self.mix(x).chunk(3, -1)
        if mine is None or theirs is None:
            return self.head(x + scaled_dot_product_attention(q, k, v, is_causal=True))
        k, v = FromGroup.apply(torch.cat([k, v], -1), members).chunk(2, -1)
        visible = mine[:, None] >= theirs
        return self.head(x + scaled_dot_product_attention(q, k, v, attn_mask=visible))


def main(
    seq: int = 48,  # tokens in a sequence
    batch: int = 2,  # sequences of each data parallel copy
    prompt: int = 5,  # tokens at the start of each sequence that are only read
    copies: int = 1,  # data parallel copies; the ranks of a copy share its sequences
    layout: Literal[
        "contiguous", "zigzag", "striped"
    ] = "zigzag",  # how tokens are dealt: in a row, an early and a late piece each, every c-th
    vocab: int = 19,  # different tokens there are
    width: int = 8,  # numbers in a token's vector
) -> Metrics:
    """Next-token loss and gradients of sequences that are cut, against one process."""
    if copies < 1 or ranks() % copies:
        fit = [n for n in range(1, ranks() + 1) if ranks() % n == 0]
        refuse(f"{copies} copies do not divide {ranks()} ranks: take one of {fit}")
    shards = ranks() // copies
    unit = 2 * shards if layout == "zigzag" else shards
    if seq < 2 or seq % unit:
        near = max(seq // unit * unit, unit, 2)
        refuse(f"seq must be a multiple of {unit} from 2 on, not {seq}: {near} or {near + unit}")
    if min(batch, vocab, width) < 1 or not 1 <= prompt < seq:
        refuse(f"batch, vocab and width start at 1; prompt lies between 1 and {seq - 1}")

    # Ranks of one copy share its sequences; a shard of others' lies on every `shards`-th rank.
    copy, shard = divmod(rank(), shards)
    sharers = range(copy * shards, (copy + 1) * shards)
    same_shard = range(shard, ranks(), shards)
    model = Model(vocab, width)
    sequences = torch.randint(vocab, (copies * batch, seq)).to(device())
    true_loss, truth, true_count = one_process(model, sequences, prompt)

    mine = places_of(shard, shards, seq, layout)
    theirs = torch.cat([places_of(each, shards, seq, layout) for each in range(shards)])
    tokens = sequences.chunk(copies)[copy]
    # Labels come from the whole sequence: what follows my last token lies on another rank.
    inputs, labels, targets = my_part(tokens, mine, prompt)

    logits = model(inputs, mine, theirs, sharers)
    losses = losses_of(logits, labels)
    loss = share_of_loss(losses, targets)
    weight = torch.autograd.grad(loss, losses, retain_graph=True)[0][labels.flatten() != IGNORE]
    loss.backward()
    own = take_gradient(model)
    gradient = sum_over(own, range(ranks()))
    weights = parameters_to_vector(model.parameters()).detach() - RATE * gradient

    # A shift of places, so that equal tokens cannot hide a wrong target.
    next_here = following(mine[None])[0]
    wrong = (next_here != mine + 1) & (mine < seq - 1)
    lost = int((wrong & (next_here == IGNORE)).sum())
    mean = cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORE)
    loss_error = abs(everyone(loss.item()).sum().item() - true_loss)
    grad_error = everyone(max_error(gradient, truth)).max().item()
    drift = max_error(weights, all_gather(weights)[0])

    check("every target counts once", everyone(targets).sum().item(), "==", true_count)
    check("loss equals one process", loss_error, "<", 1e-12)
    check("gradients equal one process", grad_error, "<", 1e-12)
    check("weights stay alike", drift, "==", 0.0)
    return {
        "mistaken": counted(int(wrong.sum()) - lost),
        "lost": counted(lost),
        "targets": counted(targets),
        "weight": compared(weight.max().item() * true_count if targets else 0.0),
        "nan_by_mean": counted(int(mean.isnan())),
        "loss_error": shared(compared(loss_error)),
        "grad_error": shared(compared(grad_error)),
        "own_error": compared(max_error(own, truth)),
        "dp_error": compared(max_error(sum_over(own, same_shard), truth)),
        "cp_error": compared(max_error(sum_over(own, sharers), truth)),
        "dp_mean_error": compared(max_error(gradient / copies, truth)),
        "drift": compared(drift),
    }


def one_process(model, sequences, prompt):
    """The truth: all sequences whole, one mean over all their targets."""
    labels = following(sequences)
    labels[:, : prompt - 1] = IGNORE
    loss = cross_entropy(model(sequences).flatten(0, 1), labels.flatten(), ignore_index=IGNORE)
    loss.backward()
    return loss.item(), take_gradient(model), int((labels != IGNORE).sum())


BREAKS = {
    "shift-after-shard": Break(
        old="labels = following(tokens)[:, mine]",
        new="labels = following(tokens[:, mine])",
        expect="every target counts once",
        ranks=2,
        source="models that shift labels inside their forward, as transformers' do, fed a shard",
    ),
    "boundary-token-dropped": Break(
        old="labels = following(tokens)[:, mine]",
        new="labels = following(tokens)[:, mine].where(mine.diff(append=mine[:1]) == 1, IGNORE)",
        expect="every target counts once",
        ranks=2,
        source="shifted after the cut, wrong targets masked out: none is wrong, but some are gone",
    ),
    "shifted-twice": Break(
        old="labels = following(tokens)[:, mine]",
        new="labels = following(following(tokens))[:, mine]",
        expect="loss equals one process",
        ranks=1,
        source="labels shifted before the cut, and once more by a model that shifts its own",
    ),
    "mean-of-means": Break(
        old="return losses.sum() / count",
        new="return losses.sum() / targets / ranks()",
        expect="gradients equal one process",
        ranks=2,
        source="cross_entropy's own mean on every rank, averaged by DDP",
    ),
    "gradient-not-reduced": Break(
        old="gradient = sum_over(own, range(ranks()))",
        new="gradient = sum_over(own, same_shard)",
        expect="gradients equal one process",
        ranks=2,
        source="gradients still reduced over the DP group alone after CP was added",
    ),
}


if __name__ == "__main__":
    run(__file__)
