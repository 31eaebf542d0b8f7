"""PowerSGD: two thin factors, r(n + m) numbers, stand for n x m, and the ranks can sum them.

The trick
    P = M Q and, once P's columns are orthonormal, Q = M^T P. Each is linear in M, so the ranks' P
    and Q are all-reduced as gradients are, and P Q^T is what one process would find that had the
    mean of all M. Singular vectors are not linear in M: factors that each rank finds for itself
    cannot be added up. All ranks begin from the same Q, or their sums mean nothing.

    A step brings the projection of the mean onto r directions. What it leaves over is kept for the
    next gradient (error feedback), and the next step begins with this step's Q (warm start): many
    cheap steps find the directions that one dear decomposition would. The bytes are fewer by
    a factor of n m / (r(n + m)).

Watch
    sent_bytes_dense (bytes, step)    sent by this rank for one gradient by the dense ring
    sent_bytes_factors (bytes, step)  sent by this rank for the P and Q of one gradient
    error_first (shared, ratio)       distance of the first step's P Q^T from the mean, over its
                                      length
    error_warm (shared, ratio)        distance of the last step's P Q^T from the mean, over its
                                      length; all steps on the same gradients, without feedback
    error_cold (shared, ratio)        distance of the last step's P Q^T from the mean, over its
                                      length, from a fresh Q at each step
    error_best (shared, ratio)        distance of the best matrix of rank r from the mean, over its
                                      length, found by decomposing the mean
    error_averaged (shared, ratio)    distance from the mean, over its length, if each rank
                                      decomposes its own and factors are averaged
    missing_plain (shared, ratio)     distance of all that was sent from all there was, over its
                                      length, without feedback
    missing_feedback (shared, ratio)  distance of all that was sent from all there was, over its
                                      length, with feedback: what the last residual holds
    one_process_error (ratio)         distance of a step from one process that has the mean, over
                                      its length, largest of all steps
    hook_error (ratio)                distance of a step from torch's powerSGD_hook with the same
                                      state, over its length

Run
    quizkit demo powersgd --gpus 4
    python demos/powersgd.py --ranks 3 --height 40 --width 25 --factor-rank 4
    torchrun --nproc-per-node 4 demos/powersgd.py
"""

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_gather, all_reduce, device, everyone, rank, ranks, ring_sum, wire

import torch
import torch._dynamo  # DDP wants it: here it is imported once, before the ranks are forked
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as theirs
from torch.nn.parallel import DistributedDataParallel

TOPIC = "compress"
WAYS = {"cold": (False, False), "warm": (False, True), "feedback": (True, True)}  # feedback, warm


def step(gradient, start, residual):
    """What all ranks take for the mean gradient, the next start, and what is left over."""
    wanted = gradient + residual
    p = ring_sum(wanted @ start)
    p = orthonormal(p)  # of the sum, and so the same on every rank
    q = ring_sum(wanted.mT @ p) / ranks()
    taken = p @ q.mT
    return taken, orthonormal(q), wanted - taken


def orthonormal(columns):
    """Columns of length 1 at right angles to each other, with the same span."""
    return torch.linalg.qr(columns).Q


def fresh(width, r, turn):
    """A random start: another one at each turn, the same on every rank."""
    torch.manual_seed(1000 + turn)
    return torch.randn(width, r, dtype=torch.float64).to(device())


def steps_of(gradient, r, steps, feedback, warm):
    """Several steps on the same gradient, as good as one that changes slowly; what is left over."""
    residual, start = torch.zeros_like(gradient), fresh(gradient.shape[1], r, 0)
    taken = []
    for turn in range(steps):
        start = start if warm else fresh(gradient.shape[1], r, turn)
        sent, start, left = step(gradient, start, residual)
        residual = left if feedback else residual
        taken.append(sent)
    return torch.stack(taken), residual


def main(
    height: int = 48,  # rows of the gradient, n
    width: int = 32,  # columns of the gradient, m
    factor_rank: int = 2,  # columns of P and of Q, r
    steps: int = 6,  # steps, all on the same gradient
    decay: float = 0.7,  # a singular value of the common part over the one before; the first is 1
    spread: float = 0.1,  # about the norm of what each rank's gradient has of its own
) -> Metrics:
    """Average matrices whose directions weigh less and less, and a spread on each rank."""
    n, r, least = ranks(), factor_rank, min(height, width)
    if not (1 <= r <= least and steps >= 1):
        refuse(f"height, width and steps start at 1; factor-rank is 1 to {max(least, 1)}")
    if not (0.05 <= decay <= 1 and 0.001 <= spread <= 100):
        refuse("take a decay of 0.05 to 1 and a spread of 0.001 to 100")
    weights = decay ** torch.arange(least).double()
    alike = orthonormal(torch.randn(height, least).double()) * weights
    alike = alike @ orthonormal(torch.randn(width, least).double()).T
    torch.manual_seed(1 + rank())
    noise = torch.randn(height, width).double() * spread / (height * width) ** 0.5
    gradient = (alike + noise).to(device())
    mean = torch.stack(all_gather(gradient)).mean(0)

    def error(matrix, truth=mean):
        return ((matrix - truth).norm() / truth.norm()).item()

    ran, worst, residual = {}, 0.0, torch.zeros_like(gradient)
    for name, way in WAYS.items():  # feedback is the last: its residual is looked at below
        ran[name], residual = steps_of(gradient, r, steps, *way)
        truths = one_process(mean, r, steps, *way)
        gaps = [error(x, truth) for x, truth in zip(ran[name], truths, strict=True)]
        check(f"{name}: equals one process", max(gaps), "<", 1e-9)
        worst = max(worst, *gaps)
    left = all_reduce(residual) / n
    check("nothing is lost", error(ran["feedback"].sum(0) + left, steps * mean), "<", 1e-12)
    ours, theirs, thin = torch_step(gradient, r)
    torch_error = error(ours, theirs)
    check("a step equals torch's", torch_error, "<", 1e-9)
    with wire() as dense:
        ring_sum(gradient)
    sent = everyone(thin).sum().item()
    check("factors of r(n + m) numbers", sent, "==", 2 * (n - 1) * 8 * r * (height + width))
    averaged = averaged_factors(gradient, r)
    longest = everyone(gradient.norm().item()).max() * (1 + 1e-9)
    check("averaged factors give no more than the ranks had", averaged.norm(), "<=", longest)
    u, s, v = torch.linalg.svd(mean, full_matrices=False)

    return {
        "sent_bytes_dense": counted(dense.sent_bytes),
        "sent_bytes_factors": counted(thin),
        "error_first": shared(compared(error(ran["warm"][0]))),
        "error_warm": shared(compared(error(ran["warm"][-1]))),
        "error_cold": shared(compared(error(ran["cold"][-1]))),
        "error_best": shared(compared(error(u[:, :r] * s[:r] @ v[:r]))),
        "error_averaged": shared(compared(error(averaged))),
        "missing_plain": shared(compared(error(ran["warm"].sum(0), steps * mean))),
        "missing_feedback": shared(compared(error(ran["feedback"].sum(0), steps * mean))),
        "one_process_error": compared(worst),
        "hook_error": compared(torch_error),
    }


def one_process(mean, r, steps, feedback, warm):
    """The same by a process that has the mean: it projects onto the span, and sums nothing."""
    residual, start = torch.zeros_like(mean), fresh(mean.shape[1], r, 0)
    for turn in range(steps):
        start = start if warm else fresh(mean.shape[1], r, turn)
        wanted = mean + residual
        span = torch.linalg.svd(wanted @ start, full_matrices=False).U
        projected = span @ (span.T @ wanted)
        residual = wanted - projected if feedback else residual
        start = wanted.T @ span  # only its span matters
        yield projected


def averaged_factors(gradient, r):
    """What must not be done: each rank's own best factors, averaged over the ranks."""
    u, s, v = torch.linalg.svd(gradient, full_matrices=False)
    factors = torch.cat([u[:, :r] * s[:r], v[:r].T])
    left, right = (all_reduce(factors) / ranks()).split(gradient.shape)
    return left @ right.T


def torch_step(gradient, r):
    """A step by torch's hook, and ours from the state in which torch's began it."""
    # gloo takes tensors from host memory only.
    where = torch.device("cpu") if torch.distributed.get_backend() == "gloo" else device()
    gradient = gradient.to(where)
    height, width = gradient.shape
    model = DistributedDataParallel(torch.nn.Linear(width, height, False, where, gradient.dtype))
    state = theirs.PowerSGDState(None, r, start_powerSGD_iter=2, min_compression_rate=0)
    model.register_comm_hook(state, theirs.powerSGD_hook)
    start = residual = torch.empty(0)
    for _ in range(4):  # two dense ones, one from a fresh Q, and one that begins where it ended
        if state.q_memory_dict:
            start = state.q_memory_dict[0].view(width, r).clone()
            residual = state.error_dict[0].view(height, width).clone()
        model.zero_grad()
        # W times the unit matrix: the gradient of this sum is just what it is multiplied with.
        (model(torch.eye(width).to(gradient)) * gradient.T).sum().backward()
    with wire() as wired:
        ours = step(*(each.to(device()) for each in (gradient, start, residual)))[0]
    return ours, model.module.weight.grad.to(device()), wired.sent_bytes


BREAKS = {
    "orthonormal-first": Break(
        old="p = ring_sum(wanted @ start)",
        new="p = ring_sum(orthonormal(wanted @ start))",
        expect="feedback: equals one process",
        ranks=2,
        source="each rank tidies its own P before the sum: that step is not linear",
    ),
    "own-start": Break(
        old="torch.manual_seed(1000 + turn)",
        new="torch.manual_seed(1000 + turn + rank())",
        expect="warm: equals one process",
        ranks=2,
        source="Q drawn from a seed that depends on the rank: what is summed does not fit together",
    ),
    "any-columns": Break(
        old="p = orthonormal(p)",
        new="p = p / p.norm(dim=-2, keepdim=True)",
        expect="feedback: equals one process",
        ranks=1,
        source="columns of length 1 that are not at right angles: with r = 1 it is right",
    ),
    "sum-for-mean": Break(
        old="q = ring_sum(wanted.mT @ p) / ranks()",
        new="q = ring_sum(wanted.mT @ p)",
        expect="feedback: equals one process",
        ranks=2,
        source="P needs no division, as it is made orthonormal; Q does",
    ),
    "keeps-the-last-only": Break(
        old="return taken, orthonormal(q), wanted - taken",
        new="return taken, orthonormal(q), gradient - taken",
        expect="nothing is lost",
        ranks=1,
        source="the residual is taken of the gradient alone: what was left over before is dropped",
    ),
}

if __name__ == "__main__":
    run(__file__)
