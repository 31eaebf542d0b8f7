"""Balance: a loss through the router's probabilities, or a bias that picks experts and weighs none.

The trick
    f_e is the share of copies that go to expert e, P_e the mean probability the router gives it.
    The balance loss E * sum f_e P_e is 1 if both are even and E if one expert has everything. f is
    a count: constant almost everywhere, no gradient. P carries it, and is pushed down where f is
    large. It is added to the task's loss, so that it pulls at the router beside the task.

    Without a loss: b_e is added to the scores when the best k are picked, and after a step goes
    down by a fixed amount if e had more than the mean, up if less. Weights are made of the scores
    alone: whoever picks the same experts gets the same output. Counts are those of all ranks, else
    every rank has a router of its own. A loss near 1 is no proof of balance: if P is all but even
    and one expert always a hair ahead, it has all tokens.

Watch
    aux_even (shared, ratio)           balance loss if tokens are sure of their expert, as many of
                                       each; k = 1
    aux_collapsed (shared, ratio)      balance loss if all are sure of the same expert; k = 1
    aux_hair (shared, ratio)           balance loss if all prefer the same expert by a hair; k = 1
    hair_share (shared, ratio)         of tokens that go to that expert then
    load_first (shared, ratio)         busiest expert over the mean before training, copies of all
                                       ranks
    load_none (shared, ratio)          busiest expert over the mean, last steps, nothing done
    load_aux (shared, ratio)           busiest expert over the mean, last steps, with the loss
    load_bias (shared, ratio)          busiest expert over the mean, last steps, with the bias
    pull_aux (shared, ratio)           length of the balance loss's gradient in the router at first
    pull_counts (shared, ratio)        the same of a loss made of f alone, E * sum f_e squared
    picked_anew (shared, tokens)       of the last step that the bias sends to other experts
    weight_shift (shared, difference)  of weights by the bias, largest, where it changes no expert
    weight_added (shared, difference)  the same if the bias were added to the weights as well
    bias_apart (shared, difference)    largest between two ranks' biases, at the end
    pull_gap (shared, difference)      of the balance loss's gradient from one process with all
                                       tokens

Run
    quizkit demo moe-balance --gpus 4
    python demos/moe_balance.py --ranks 3 --top 1 --skew 3
    torchrun --nproc-per-node 4 demos/moe_balance.py
"""

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import all_gather, all_reduce, device, everyone, max_error, rank, ranks

import torch
from torch.nn.functional import mse_loss, one_hot

TOPIC = "moe"
LAST = 8  # steps at the end that loads are counted over
RATE = 0.5  # of plain SGD


def choose(scores, bias, top):
    """The bias has a say in who is picked, and none in what a pick counts."""
    chosen = (scores + bias).topk(top, 1).indices
    weights = scores.gather(1, chosen)
    return chosen, weights / weights.sum(1, keepdim=True)


def load(chosen, experts):
    """Copies that go to each expert, from all ranks."""
    return all_reduce(chosen.flatten().bincount(minlength=experts).double())


def balance_loss(scores, counts):
    """E * sum f P: of this rank's tokens, so that the ranks' gradients add up to the whole one."""
    share = counts / counts.sum()
    return len(counts) * (share * scores.mean(0)).sum() / ranks()


def nudge(bias, counts, speed):
    """Down by one step for who had too many, up for who had too few; no gradient is asked."""
    return bias + speed * torch.sign(counts.mean() - counts)


def layer(x, gate, experts, bias, top):
    """Tokens through their experts; all of these are here, so that no token has to travel."""
    scores = (x @ gate).softmax(1)
    chosen, weights = choose(scores, bias, top)
    spread = torch.zeros_like(scores).scatter(1, chosen, weights)
    return torch.einsum("te,th,ehd->td", spread, x, experts), scores, chosen


def train(gate, experts, batches, top, aux, speed):
    """The router learns, the experts stay; gives router, bias, and the counts of each step."""
    bias = torch.zeros_like(gate[0])
    history = []
    for x, goal in batches:
        gate = gate.detach().requires_grad_()
        y, scores, chosen = layer(x, gate, experts, bias, top)
        counts = load(chosen, len(experts))
        loss = mse_loss(y, goal) / ranks() + aux * balance_loss(scores, counts)
        (slope,) = torch.autograd.grad(loss, gate)
        gate = gate - RATE * all_reduce(slope)
        bias = nudge(bias, counts, speed)
        history.append(counts)
    return gate.detach(), bias, history


def main(
    tokens: int = 64,  # tokens of each rank in a step
    experts: int = 8,  # experts of the layer
    top: int = 2,  # experts that compute a token, k
    width: int = 16,  # numbers in a token
    skew: float = 1.5,  # added to the score of expert 0 for every token before training
    steps: int = 32,  # training steps
    aux: float = 0.5,  # what the balance loss is multiplied by
    speed: float = 0.01,  # what a bias goes up or down by in a step
) -> Metrics:
    """The same router trained with nothing done, with the loss, and with the bias."""
    if not 1 <= top <= experts:
        refuse(f"top lies in 1 to {experts}, the number of experts")
    if min(tokens, width) < 1 or not LAST <= steps <= 200:
        refuse(f"tokens and width start at 1, steps lie in {LAST} to 200")
    if not 0 <= min(aux, speed) <= max(aux, speed) <= 1 or not abs(skew) <= 20:
        refuse("aux and speed lie in 0 to 1, skew in -20 to 20")
    like = {"dtype": torch.float64, "device": device()}
    batches = torch.randn(steps, ranks(), tokens, width, **like)
    batches[..., 0] = 1.0  # what the first row of the router adds to its scores
    goals = torch.tanh(batches @ torch.randn(width, width, **like) / width**0.5)
    gate = torch.randn(width, experts, **like) / width**0.5
    gate[0, 0] += skew
    every = torch.randn(experts, width, width, **like) / width**0.5
    mine = [*zip(batches[:, rank()], goals[:, rank()], strict=True)]

    ways = {"none": (0.0, 0.0), "aux": (aux, 0.0), "bias": (0.0, speed)}
    trained = {name: train(gate, every, mine, top, *way) for name, way in ways.items()}
    rows = {name: [all_reduce(each.clone()) for each in made[2]] for name, made in trained.items()}
    over = {name: [uneven(counts) for counts in made] for name, made in rows.items()}
    ends = {name: uneven(sum(made[-LAST:])) for name, made in rows.items()}
    picture("curve", "busiest expert over the mean", series=over, x="step", y="ratio")
    for name, made in rows.items():
        last = [round(n / ranks()) for n in made[-1].tolist()]
        steps_of = {f"expert {e}": [n] for e, n in enumerate(last)}
        title = f"{name}: copies of each expert, last step"
        picture("staircase", title, parts=("copies",), steps=steps_of, unit="copies")
    if skew and aux and top < experts:
        check("the loss evens out the load", ends["aux"], "<", ends["none"])
    if skew and speed and top < experts:
        check("the bias evens out the load", ends["bias"], "<", ends["none"])

    x, first = batches[0, rank()], trained["none"][2][0]
    pull, pull_counts = (pulls(x, gate, first, of) for of in (balance_loss, loss_of_counts))
    whole = pulls_alone(batches[0].flatten(0, 1), gate, top)
    pull_gap = max_error(pull, whole)
    if top < experts:  # else everybody has everything, and the loss is 1 whatever the router says
        check("the loss pulls at the router", pull.norm().item(), ">", 0.0)
    check("gradient of the loss equals one process", pull_gap, "<", 1e-12)

    last_gate, bias, _ = trained["bias"]
    apart = everyone(max(max_error(bias, other) for other in all_gather(bias))).max().item()
    check("all ranks have the same bias", apart, "==", 0.0)
    picked, shift, added = everyone(unbiased(mine[-1][0] @ last_gate, bias, top)).T
    check("the bias weighs nothing", shift.max(), "<", 1e-12)

    sure = 50 * torch.eye(experts, **like)  # each token of another expert
    same = sure[:1].expand(experts, -1)
    cases = {"even": sure, "collapsed": same, "hair": same / 5000}
    losses, shares = {}, {}
    for name, logits in cases.items():
        scores = logits.softmax(1)
        counts = one_hot(scores.argmax(1), experts).double().sum(0)
        losses[name] = balance_loss(scores, counts).item() * ranks()
        shares[name] = (counts.max() / counts.sum()).item()
    return {
        **{f"aux_{name}": shared(compared(loss)) for name, loss in losses.items()},
        "hair_share": shared(counted(shares["hair"])),
        "load_first": shared(counted(over["none"][0])),
        **{f"load_{name}": shared(counted(end)) for name, end in ends.items()},
        "pull_aux": shared(compared(pull.norm().item())),
        "pull_counts": shared(compared(pull_counts.norm().item())),
        "picked_anew": shared(counted(int(picked.sum()))),
        "weight_shift": shared(compared(shift.max().item())),
        "weight_added": shared(compared(added.max().item())),
        "bias_apart": shared(compared(apart)),
        "pull_gap": shared(compared(pull_gap)),
    }


# Below: what is looked at, and what it is held against.


def uneven(counts):
    """The busiest expert's load over the mean."""
    return (counts.max() / counts.mean()).item()


def loss_of_counts(_scores, counts):
    """What one would think of first: shares alone, squared."""
    share = counts / counts.sum()
    return len(counts) * share.square().sum() / ranks()


def pulls(x, gate, counts, of):
    """A loss's gradient in the router, of all ranks together; zero if autograd sees none."""
    weight = gate.clone().requires_grad_()
    value = of((x @ weight).softmax(1), counts)
    if not value.requires_grad:
        return torch.zeros_like(gate)
    (slope,) = torch.autograd.grad(value, weight)
    return all_reduce(slope)


def pulls_alone(x, gate, top):
    """The same of E * sum f P, by one process that has all tokens."""
    weight = gate.clone().requires_grad_()
    scores = (x @ weight).softmax(1)
    experts = len(gate[0])
    share = one_hot(scores.topk(top, 1).indices, experts).double().mean((0, 1))
    (slope,) = torch.autograd.grad(experts * share @ scores.mean(0), weight)
    return slope


def unbiased(logits, bias, top):
    """Tokens that the bias sends elsewhere; of the others, how far weights are from those without.

    Then the same distance if weights were made of scores and bias.
    """
    scores = logits.softmax(1)
    plain, biased = (choose(scores, each, top) for each in (torch.zeros_like(bias), bias))
    added = (scores + bias).gather(1, biased[0])
    there = [
        torch.zeros_like(scores).scatter(1, chosen, weights)
        for chosen, weights in (plain, biased, (biased[0], added / added.sum(1, keepdim=True)))
    ]
    stay = ((there[0] > 0) == (there[1] > 0)).all(1)
    gaps = [max_error(each[stay], there[0][stay]) for each in there[1:]]
    return [(~stay).sum().item(), *gaps]


BREAKS = {
    "bias-in-weights": Break(
        old="weights = scores.gather(1, chosen)",
        new="weights = (scores + bias).gather(1, chosen)",
        expect="the bias weighs nothing",
        ranks=1,
        source="github.com/huggingface/transformers/pull/41647: gating values of DeepSeek-V3"
        " taken from the scores with the bias",
    ),
    "hard-counts": Break(
        old="(share * scores.mean(0)).sum()",
        new="share.square().sum()",
        expect="the loss pulls at the router",
        ranks=1,
        source="github.com/CASIA-LMC-Lab/AnomalyMoE/issues/1: a loss of loads, without gradient",
    ),
    "own-counts": Break(
        old="return all_reduce(chosen.flatten().bincount(minlength=experts).double())",
        new="return chosen.flatten().bincount(minlength=experts).double()",
        expect="all ranks have the same bias",
        ranks=2,
        source="github.com/pytorch/torchtitan/pull/1114: counts are summed over all data-parallel"
        " ranks, as without it each rank's bias follows its own tokens",
    ),
}

if __name__ == "__main__":
    run(__file__)
