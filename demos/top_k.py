"""Top-k: ranks gather k (value, index) pairs; below n/N of n entries that beats the dense ring.

The trick
    A rank sends its k largest entries: the values themselves, not their sizes, and their places.
    Ranks choose different entries, so the pairs are gathered: (N-1) times 8k bytes from each rank
    (fp32 and int32), where the dense ring sends 2(N-1)/N times 4n. They meet at k = n/N.

    What is not sent is kept and added to the next gradient: error feedback. Else entries that are
    never among the k largest of a rank are lost for good. Here ranks pull the first entries apart
    and agree on all others: those in dispute win at every step, and cancel in the mean. With
    feedback, all that was sent and the residual make up all gradients there were.

Watch
    sent_bytes_dense (bytes, step)     sent by this rank by the dense ring, fp32
    sent_bytes_sparse (bytes, step)    sent by this rank by the gathered pairs
    entries_in_sum (shared, elements)  different entries in the last sum, of k from each rank
    moved_plain (shared, elements)     weights that ever moved without feedback
    moved_feedback (shared, elements)  weights that ever moved with feedback
    distance_start (shared, norm)      of the first weights' distance from the optimum of the mean
        loss
    distance_dense (shared, norm)      of the distance from the optimum at the end, if all entries
        are sent
    distance_plain (shared, norm)      of the distance from the optimum at the end, top-k without
        feedback
    distance_feedback (shared, norm)   of the distance from the optimum at the end, top-k with
        feedback; a smaller lr, given the steps it needs, ends nearer
    lost_share_plain (share)           of all this rank's gradients neither sent nor kept, without
        feedback
    lost_share_feedback (share)        of all this rank's gradients neither sent nor kept, with
        feedback
    path_error (difference)            of the weights from one process, at any step, largest
    same_by_hook (yes/no)              whether a DDP with this top-k as its hook has the same
        weights at every step

Run
    quizkit demo top-k --gpus 4
    python demos/top_k.py --ranks 4 --k 24 --spread 2
    torchrun --nproc-per-node 4 demos/top_k.py
"""

from _bench import Break, Metrics, check, compared, counted, identical, refuse, run, shared
from _bench import device, exchange, max_error, rank, ranks, ring_sum, wire

import torch
import torch._dynamo  # DDP wants it: here it is imported once, before the ranks are forked
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

TOPIC = "compress"
INDEX = torch.int32  # 4 bytes reach two thousand million entries; topk itself gives 8


class TopK:
    """One rank's top-k: what it has left over, and what it has sent."""

    def __init__(self, feedback, k):
        self.feedback, self.k, self.path = feedback, k, []
        self.residual = self.sent = self.lost = torch.zeros(()).to(device())

    def total(self, gradient):
        """The sum of what the ranks choose to send of their gradients."""
        row = gradient + self.residual
        values, places = compress(row, self.k)
        if self.feedback:
            self.residual = row.clone()
            self.residual[places.long()] -= values  # and what rounding took off stays
        with wire() as wired:
            total, self.touched = sparse_sum(row, values, places)
        self.bytes = wired.sent_bytes  # of this step
        self.sent = self.sent + torch.zeros_like(row).index_add_(0, places, values.double())
        return total


def compress(row, k):
    """The k entries that are largest in size: their values, and their places."""
    places = row.abs().topk(k).indices
    return row[places].float(), places.to(INDEX)


def gather_pairs(values, places):
    """One message from each rank to all: the places and the values of each, in order of rank."""
    message = torch.cat([places.view(torch.uint8), values.view(torch.uint8)])
    ways = [((rank() + far) % ranks(), (rank() - far) % ranks()) for far in range(1, ranks())]
    # All at once: in a ring each hop would wait for the one before, for the same bytes.
    flights = {of: exchange(message, to, torch.empty_like(message), of) for to, of in ways}
    for member in range(ranks()):
        row = flights[member].wait() if member in flights else message
        cut = len(places) * INDEX.itemsize
        yield row[cut:].view(torch.float32), row[:cut].view(INDEX)


def sparse_sum(row, values, places):
    """The sum of all ranks' pairs; entries that nobody sent stay 0."""
    total, touched = torch.zeros_like(row), torch.zeros_like(row)
    for theirs, where in gather_pairs(values, places):
        total.index_add_(0, where, theirs.double())  # two ranks may have chosen the same place
        touched[where.long()] = 1
    return total, int(touched.sum())


def hook(topk, bucket):
    """What DDP calls with a full bucket, in place of its own all-reduce and division by N."""
    # One bucket, one residual. With more of them, each has its own, and not from the first step
    # on: after it DDP deals its weights to buckets anew.
    mean = topk.total(bucket.buffer().to(device())) / ranks()
    there = bucket.buffer().device
    done = torch.futures.Future(devices=[] if there.type == "cpu" else [there])
    done.set_result(mean.to(there))
    return done


def train(feedback, wish, k, lr, steps):
    """Gradient descent on the mean of |x - wish|^2 / 2 over the ranks; only k entries travel."""
    x, wanted, seen = torch.zeros_like(wish), torch.zeros_like(wish), TopK(feedback, k)
    for _ in range(steps):
        gradient = x - wish
        x = x - lr * (seen.total(gradient) / ranks())
        seen.path.append(x)
        wanted += gradient
    seen.lost = (wanted - seen.sent - seen.residual).abs().sum() / wanted.abs().sum()
    return seen


def train_ddp(wish, k, lr, steps):
    """The same with feedback, by DDP with our hook: the weights after each step."""
    # gloo takes tensors from host memory only.
    wish = wish.cpu() if dist.get_backend() == "gloo" else wish
    model = DistributedDataParallel(torch.nn.Linear(1, len(wish), False).to(wish))
    model.register_comm_hook(TopK(True, k), hook)
    x, path = torch.nn.init.zeros_(model.module.weight), []
    for _ in range(steps):
        x.grad = None
        ((model(wish.new_ones(1)) - wish) ** 2).sum().div(2).backward()
        x.data -= lr * x.grad
        path.append(x.detach().flatten().to(device(), copy=True))
    return path


def centre(member, target, disputed, spread):
    """The weights a rank would like best; rank 0 pulls against all others, the mean is target."""
    pull = torch.zeros_like(target)
    pull[:disputed] = torch.linspace(2, 1, disputed) * spread
    return target + (pull * (ranks() - 1) if member == 0 else -pull)


def main(
    entries: int = 96,  # entries of the gradient, n
    k: int = 8,  # entries each rank sends in a step
    disputed: int = 12,  # how many entries, the first ones, the ranks pull apart
    spread: float = 5.0,  # how hard they pull; 0: not at all
    lr: float = 0.08,  # learning rate
    steps: int = 50,  # training steps
) -> Metrics:
    """Train with all entries, with top-k, and with top-k and error feedback."""
    if not (1 <= k <= entries and 0 <= disputed <= entries and steps >= 1):
        refuse("entries and steps start at 1; k is 1 to entries, disputed 0 to entries")
    if not (0 < lr <= 1 and 0 <= spread <= 1e6):
        refuse("take an lr above 0 and up to 1, and a spread from 0 to 1e6")
    n = ranks()
    target = torch.linspace(1, 2, entries, dtype=torch.float64)
    wishes = torch.stack([centre(each, target, disputed, spread) for each in range(n)])
    wishes, target = wishes.to(device()), target.to(device())
    size = wishes.abs().max().item()
    check(
        "the mean wish is the target",
        max_error(wishes.mean(0), target) / size,
        "<",
        1e-12,
    )

    ran, errors = {}, []
    for name, feedback in (("plain", False), ("feedback", True)):
        ran[name] = seen = train(feedback, wishes[rank()], k, lr, steps)
        path, touched = one_process(feedback, wishes, k, lr, steps)
        gaps = [max_error(x, y) for x, y in zip(seen.path, path, strict=True)]
        errors.append(max(gaps) / size)
        check(f"{name}: the weights equal one process", errors[-1], "<", 1e-9)
        check(f"{name}: as many entries as in one process", seen.touched, "==", touched)
        check(f"{name}: 8 bytes for each pair", seen.bytes, "==", (n - 1) * k * 8)
    plain, feedback = ran["plain"], ran["feedback"]
    check("with feedback nothing is lost", feedback.lost.item(), "<", 1e-12)
    by_ddp = torch.stack(train_ddp(wishes[rank()], k, lr, steps))
    hook_error = max_error(torch.stack(feedback.path), by_ddp)
    check("our hook in DDP: the same weights", hook_error, "==", 0)
    with wire() as dense:
        ring_sum((-wishes[rank()]).float())
    everything, _ = one_process(False, wishes, entries, lr, steps)

    def moved(path):
        return int((torch.stack(path) != 0).any(0).sum())

    def distance(x):
        return (x - target).norm().item()

    return {
        "sent_bytes_dense": counted(dense.sent_bytes),
        "sent_bytes_sparse": counted(feedback.bytes),
        "entries_in_sum": shared(counted(feedback.touched)),
        "moved_plain": shared(counted(moved(plain.path))),
        "moved_feedback": shared(counted(moved(feedback.path))),
        "distance_start": shared(compared(distance(0 * target))),
        "distance_dense": shared(compared(distance(everything[-1]))),
        "distance_plain": shared(compared(distance(plain.path[-1]))),
        "distance_feedback": shared(compared(distance(feedback.path[-1]))),
        "lost_share_plain": compared(plain.lost.item()),
        "lost_share_feedback": compared(feedback.lost.item()),
        "path_error": compared(max(errors) * size),
        "same_by_hook": identical(torch.equal(torch.stack(feedback.path), by_ddp)),
    }


def one_process(feedback, wishes, k, lr, steps):
    """The same in one place, with rows of full length and everything else masked out.

    Gives the weights after each step, and how many entries the last step's sum had.
    """
    x, residuals, path = torch.zeros_like(wishes[0]), torch.zeros_like(wishes), []
    for _ in range(steps):
        rows, chosen = x - wishes + residuals, set()
        kept = torch.zeros_like(rows)
        for row, keep in zip(rows, kept, strict=True):
            # As above, so that of two equal entries the same one is taken.
            best = row.abs().topk(k).indices
            keep[best] = row[best].float().double()
            chosen.update(best.tolist())
        residuals = rows - kept if feedback else residuals
        x = x - lr * sum(kept) / len(wishes)
        path.append(x)
    return path, len(chosen)


BREAKS = {
    "sign-lost": Break(
        old="return row[places].float(), places.to(INDEX)",
        new="return row.abs()[places].float(), places.to(INDEX)",
        expect="feedback: the weights equal one process",
        ranks=1,
        source="sketches that return the values of abs().topk(k): every entry sent is positive",
    ),
    "overwrites": Break(
        old="total.index_add_(0, where, theirs.double())",
        new="total[where.long()] = theirs.double()",
        expect="feedback: the weights equal one process",
        ranks=2,
        source="pairs unpacked by assignment: where two ranks chose one place the last one stays",
    ),
    "sent-and-kept": Break(
        old="            self.residual[places.long()] -= values",
        new="            pass",
        expect="with feedback nothing is lost",
        ranks=1,
        source="the residual is not cleared where it was sent, and so is sent again and again",
    ),
    "short-memory": Break(
        old="            self.residual = row.clone()",
        new="            self.residual = gradient.clone()",
        expect="with feedback nothing is lost",
        ranks=1,
        source="what this gradient leaves over replaces what was left before: no entry ever grows",
    ),
    "hook-sums": Break(
        old="    mean = topk.total(bucket.buffer().to(device())) / ranks()",
        new="    mean = topk.total(bucket.buffer().to(device()))",
        expect="our hook in DDP: the same weights",
        ranks=2,
        source="with a hook DDP does not divide by N either: one that only sums is N times off",
    ),
    "wide-indices": Break(
        old="INDEX = torch.int32",
        new="INDEX = torch.int64",
        expect="feedback: 8 bytes for each pair",
        ranks=2,
        source="indices sent as topk returns them, int64: 12 bytes for a pair instead of 8",
    ),
}

if __name__ == "__main__":
    run(__file__)
