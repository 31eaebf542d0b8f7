"""A resume goes on as if nothing had happened if each thing that a step reads comes back.

The trick
    A step reads weights and fp32 master weights, Adam's moments and count, the schedule's position,
    the loss scaler, the generator its dropout draws from, the place in the data, and its number.
    All of that is in the checkpoint, each rank with its own: shards differ, and so do generators.
    Then the resumed run equals the uninterrupted one bit by bit, on as many ranks as before.

    Leave one out, and nothing fails: the run ends elsewhere, sometimes after a jump of the loss,
    sometimes without one. Each is left out here in turn, and takes the value it has in a new job.

    Mixed precision on ZeRO-1: fp16 weights on all ranks, and on each its shard of fp32 master
    weights and two moments. Saved once over all ranks that is 2 + 4 + 8 = 14 bytes a weight.

Watch
    saved_bytes (bytes)               fp16 weights, fp32 master, two moments in this rank's shard
    held_weights (count)              weights in this rank's shard, padding included
    same_all (shared, yes/no)         whether a resume with everything ends in the state of the run
                                      that was not interrupted, bit by bit
    same_weights (shared, yes/no)     whether one without the fp16 weights ends in its weights
    same_master (shared, yes/no)      whether one without the fp32 master weights does
    same_optimizer (shared, yes/no)   whether one without Adam's moments and count does
    same_schedule (shared, yes/no)    whether one without the schedule's position does
    same_scaler (shared, yes/no)      whether one without the loss scaler does
    same_random (shared, yes/no)      whether one without the ranks' generators does
    same_data (shared, yes/no)        whether one without the data position does
    same_step (shared, yes/no)        whether one without the step's number does
    parts_that_matter (shared, count) parts without which a resume ends elsewhere, of the 8
    loss_whole (shared, loss)         of the last step, all ranks, never interrupted
    loss_resumed (shared, loss)       of the last step, all ranks, resumed without what --without
                                      says

Run
    quizkit demo resume --gpus 4
    python demos/resume.py --ranks 2 --without optimizer
"""

from functools import partial
from io import BytesIO
from typing import Literal, NamedTuple

from _bench import Break, Metrics, check, compared, counted, identical, picture, refuse, run, shared
from _bench import device, everyone, rank, ranks, ring_gather, ring_scatter_sum

import torch
from torch.nn.functional import mse_loss

TOPIC = "fault"
PARTS = ("weights", "master", "optimizer", "schedule", "scaler", "random", "data", "step")
RATE, WARM, MEAN, SQUARE, TINY = 0.02, 4, 0.9, 0.99, 1e-8


def captured(job):
    """All that a resume needs."""
    return {
        "weights": job.weights.chunk(ranks())[rank()].clone(),
        "master": job.master.clone(),
        "optimizer": (job.moments.clone(), job.updates),
        "schedule": job.turns,
        "scaler": (job.scale, job.good),
        "random": job.generator.get_state(),
        "data": job.taken,
        "step": job.step,
    }


def restore(job, state):
    """Put a fresh job where the saved one was."""
    job.weights = ring_gather(state["weights"].to(device()))
    job.master = state["master"].to(device(), copy=True)
    moments, job.updates = state["optimizer"]
    job.moments = moments.to(device(), copy=True)
    job.turns = state["schedule"]
    job.scale, job.good = state["scaler"]
    job.generator.set_state(state["random"])
    job.taken = state["data"]
    job.step = state["step"]


class Job:
    """Mixed-precision data parallelism with a sharded optimizer (ZeRO-1), as it starts."""

    def __init__(self, width, rows, seed):
        self.width, self.rows, self.losses = width, rows, []
        size = -(-2 * width * width // ranks()) * ranks()
        seeded = torch.Generator().manual_seed(seed)
        every = torch.randn(size, generator=seeded).to(device()) / width**0.5
        self.master = every.chunk(ranks())[rank()].clone()
        self.weights = every.half()
        self.moments = torch.zeros(2, len(self.master), device=device())
        self.updates = self.turns = self.good = self.taken = self.step = 0
        self.scale = 2.0**24
        self.generator = torch.Generator().manual_seed(100 + rank())

    def train(self, dataset):
        """One step, skipped by all ranks if any gradient overflows."""
        inputs, targets = self.batch(dataset)
        weights = self.weights.clone().requires_grad_()
        first, second = weights[: 2 * self.width**2].view(2, self.width, self.width)
        kept = torch.rand(inputs.shape, generator=self.generator) > 0.2
        hidden = torch.tanh(inputs @ first) * kept.to(device()) / 0.8
        loss = mse_loss((hidden @ second).float(), targets)
        (loss * self.scale).backward()
        gradient = ring_scatter_sum(weights.grad.float()) / (self.scale * ranks())
        if everyone(not gradient.isfinite().all()).any():
            self.scale, self.good = self.scale / 16, 0
        else:
            self.update(gradient)
            self.good += 1
            if self.good == 2000:
                self.scale, self.good = self.scale * 2, 0
        self.turns, self.step = self.turns + 1, self.step + 1
        self.losses.append(everyone(loss.item()).mean().item())

    def batch(self, dataset):
        """The next rows of this epoch's order, each rank its own; a step may cross its end."""
        many = len(dataset[0])
        picked = []
        for at in range(self.taken + rank() * self.rows, self.taken + (rank() + 1) * self.rows):
            seeded = torch.Generator().manual_seed(at // many)
            picked.append(torch.randperm(many, generator=seeded)[at % many])
        self.taken += self.rows * ranks()
        return (each[torch.stack(picked)].to(device()) for each in dataset)

    def update(self, gradient):
        """Adam on my shard, at the rate of the schedule; then all get the new weights."""
        self.updates += 1
        self.moments[0].lerp_(gradient, 1 - MEAN)
        self.moments[1].lerp_(gradient.square(), 1 - SQUARE)
        mean = self.moments[0] / (1 - MEAN**self.updates)
        square = self.moments[1] / (1 - SQUARE**self.updates)
        rate = RATE * min((self.turns + 1) / WARM, (WARM / (self.turns + 1)) ** 0.5)
        self.master -= rate * mean / (square.sqrt() + TINY)
        self.weights = ring_gather(self.master.half())


def main(
    steps: int = 14,  # of the run
    saved: int = 6,  # the step after which it is saved and resumed
    without: Literal[
        "nothing", "weights", "master", "optimizer", "schedule", "scaler", "random", "data", "step"
    ] = "nothing",  # what the resume that loss_resumed is of does not bring back
    width: int = 5,  # hidden size
    rows: int = 2,  # samples of each rank in a step
    samples: int = 40,  # in the data, in a new order each epoch
    seed: int = 0,  # of weights and data
) -> Metrics:
    """Train to the end; then from a checkpoint, with everything and without each part."""
    if not (1 <= steps <= 64 and 6 <= saved <= 60 and 1 <= rows <= 64 and 2 <= width <= 64):
        refuse("steps and rows lie in 1 to 64, width in 2 to 64, saved in 6 to 60")
    if not 1 <= samples <= 1000:
        refuse("samples lie in 1 to 1000")
    seeded = torch.Generator().manual_seed(seed)
    inputs = torch.randn(samples, width, generator=seeded)
    dataset = inputs.half(), torch.tanh(inputs.roll(1, 1)) - 0.2

    new = partial(Job, width, rows, seed)
    whole = new()
    fresh = middle = captured(whole)
    while whole.step < steps:
        whole.train(dataset)
        if whole.step == saved:
            middle = captured(whole)
    truth = Ending(captured(whole), whole.losses)

    def ended(state):
        job = new()
        restore(job, unpacked(packed(state)))
        while job.step < steps:
            job.train(dataset)
        return Ending(captured(job), job.losses)

    ends = {}
    if saved < steps:
        ends = {part: ended({**middle, part: fresh[part]}) for part in PARTS}
    everything = ended(middle) if ends else truth
    same_all = agreed(packed(everything.state) == packed(truth.state))
    same = {part: agreed(same_weights(ends[part], truth)) for part in ends}
    check("a resume equals the uninterrupted run", same_all, "==", 1)
    check("what is left out shows", sum(same.values()), "==", 0)
    resumed = ends.get(without, everything)

    lines = {"never interrupted": dict(enumerate(truth.losses, 1))}
    for part in ends:
        if part in ("master", "optimizer", "data"):
            lines[f"without {part}"] = dict(enumerate(ends[part].losses, saved + 1))
    picture("curve", "loss after a resume", series=lines, x="step", y="loss")
    big = (middle["weights"], middle["master"], middle["optimizer"][0])
    return {
        "saved_bytes": counted(sum(each.nbytes for each in big)),
        "held_weights": counted(len(whole.master)),
        "same_all": shared(identical(same_all)),
        **{f"same_{part}": shared(identical(same.get(part, True))) for part in PARTS},
        "parts_that_matter": shared(counted(sum(not each for each in same.values()))),
        "loss_whole": shared(compared(truth.losses[-1])),
        "loss_resumed": shared(compared(resumed.losses[-1])),
    }


# Below: what a run is held against.


class Ending(NamedTuple):
    """How a run ended on this rank, and the losses on the way."""

    state: dict
    losses: list[float]


def same_weights(one, other):
    """Whether two runs ended with the same weights, bit by bit."""
    return all(torch.equal(one.state[part], other.state[part]) for part in ("weights", "master"))


def packed(state):
    """A state as bytes."""
    buffer = BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


def unpacked(data):
    """The state in bytes."""
    return torch.load(BytesIO(data), map_location="cpu")


def agreed(here):
    """Whether it is so on all ranks."""
    return bool(everyone(here).all())


BREAKS = {
    "random-of-rank-0": Break(
        old='job.generator.set_state(state["random"])',
        new='every = ring_gather(state["random"].to(device())).cpu()\n'
        '    job.generator.set_state(every[: len(state["random"])])',
        expect="a resume equals the uninterrupted run",
        ranks=2,
        source="github.com/NVIDIA/Megatron-LM/pull/6858: one rank's generator state for its peers",
    ),
    "random-left-out": Break(
        old='        "random": job.generator.get_state(),\n',
        new='        "random": torch.Generator().manual_seed(100 + rank()).get_state(),\n',
        expect="a resume equals the uninterrupted run",
        ranks=1,
        source="generators seeded again at every start instead of saved",
    ),
}

if __name__ == "__main__":
    run(__file__)
