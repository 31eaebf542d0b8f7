"""Offloading: what a GPU cannot keep comes over the link when it is its turn, and goes again.

The trick
    Of mixed-precision Adam's 16 bytes a parameter the passes need 2, a layer at a time. So 14 can
    lie in host memory, if little has to cross: 16-bit gradients go down, Adam runs on the host
    where its 12 bytes are, new 16-bit weights come up (`states`, the cut of ZeRO-Offload). Were
    the states to come up to a GPU that steps, 12 bytes a parameter would cross each way (`visit`).
    `all` keeps the weights down there as well: each layer comes up to go forward and again to go
    back, and leaves, the cut of FSDP's CPU offload. Ranks share by ZeRO: each moves its own part,
    1/N of a layer. ZeRO-Infinity goes on to NVMe, a layer at a time, by the same means.

    A copy runs beside compute, with two buffers to take turns. So its source must not be written,
    nor its target read, before it has ended: here a copy does its work when it is waited for, as
    late as it may. On the timeline F and B are passes; the link, the host and Adam cost what the
    options say, messages between ranks nothing. Activations stay where they are, not counted.

Watch
    parameters (shared, elements)  weights of the model: layers * width^2
    device_none (bytes)     most of weights, gradients and states on the GPU at once, no offload
    device_states (bytes)   most of weights, gradients and states on the GPU at once, states down
    device_visit (bytes)    most of weights, gradients and states on the GPU at once, states visit
    device_all (bytes)      most of weights, gradients and states on the GPU at once, all down
    up_states (bytes, step)    from host to GPU, states down
    up_visit (bytes, step)     from host to GPU, states visit
    up_all (bytes, step)       from host to GPU, all down
    down_states (bytes, step)  from GPU to host, states down
    down_visit (bytes, step)   from GPU to host, states visit
    down_all (bytes, step)     from GPU to host, all down
    host_all (bytes)        of weights, gradients and states in host memory, all down
    time_none (ticks, step)    of a step on the virtual clock, no offload
    time_states (ticks, step)  of a step on the virtual clock, states down
    time_all (ticks, step)     of a step on the virtual clock, all down
    waits_all (ticks, step)    of a step on the virtual clock, all down, each copy waited for
    fits_none (shared, yes/no)    no offload stays within --budget, on every rank
    fits_states (shared, yes/no)  states down stays within --budget, on every rank
    weights_same (yes/no)   in every plan, bit by bit, as without offload
    states_same (yes/no)    master weights, momentum and variance as without offload

Run
    quizkit demo offload --gpus 4
    python demos/offload.py --ranks 2 --microbatches 4
    torchrun --nproc-per-node 4 demos/offload.py
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Literal

from _bench import Break, Metrics, check, clocked, counted, identical, refuse, run, shared
from _bench import device, picture, rank, ranks, ring_gather, ring_scatter_sum
from _bench import virtual_clock

import torch
from torch import Tensor
from torch.nn.functional import pad

TOPIC = "zero"


@dataclass(frozen=True)
class Plan:
    """What is kept off the GPU, and how it gets there."""

    weights_down: bool = False
    states_down: bool = False
    step_below: bool = False  # Adam runs on the host
    buffers: int = 2  # of either kind; with 1 every copy is waited for at once


class Training:
    """A rank's part of a training under a plan."""

    def __init__(
        self, plan: Plan, rows: Tensor, width: int, low: torch.dtype, budget: int, costs: "Costs"
    ):
        self.plan, self.width, self.costs = plan, width, costs
        self.device, self.host = Arena(budget, device()), Arena(2**60, torch.device("cpu"))
        self.steps, self.moved, self.row = 0, Counter[str](), rows.shape[1] * low.itemsize
        kept = mine(rows) if plan.weights_down else rows
        place = self.host if plan.weights_down else self.device
        self.weights = [place.take(row.to(low)) for row in kept]
        place = self.host if plan.step_below else self.device
        self.gradients = [place.take(torch.zeros_like(row, dtype=low)) for row in mine(rows)]
        first = [torch.stack([row, 0 * row, 0 * row]) for row in mine(rows)]
        place = self.host if plan.states_down else self.device
        self.states = [place.take(each) for each in first]
        pairs = range(plan.buffers * plan.step_below)
        self.buffers = [self.device.take(self.gradients[0]) for _ in pairs]
        self.landing = [self.host.take(self.gradients[0]) for _ in pairs]
        self.copies, self.coming = list[tuple[int, Tensor, Tensor]](), list[tuple[Tensor, float]]()

    def spend(self, lane: str, name: str, cost: float, after: float = 0.0) -> float:
        """Something takes its time on the GPU, the host, or the link up or down; when it ends."""
        start = max(self.free[lane], after)
        self.free[lane] = start + cost
        self.seen += [(name, start, start + cost)] if lane == "GPU" else []
        return start + cost

    def cross(self, way: str, tensor: Tensor, after: float) -> float:
        """A tensor crosses the link, up or down; when it has."""
        self.moved[way] += tensor.nbytes
        ends = self.spend(way, way, self.costs["link"] * tensor.nbytes / self.row, after)
        if self.plan.buffers == 1:
            self.free["GPU"] = max(self.free["GPU"], ends)
        return ends

    @contextmanager
    def lent(self, layer: int, name: str, cost: float) -> Iterator[Tensor]:
        """A layer's weights for a while; where they are below, the next ones set out as well."""
        whole, ready = self.weights[layer], 0.0
        if self.plan.weights_down:
            while self.uses and len(self.coming) < self.plan.buffers:
                self.coming.append(self.lift(self.weights[self.uses.pop(0)]))
            whole, ready = self.coming.pop(0)
        self.spend("GPU", name, cost, ready)
        yield whole[: self.width**2].view(self.width, self.width)
        if self.plan.weights_down:
            self.device.drop(whole)

    def lift(self, part: Tensor) -> tuple[Tensor, float]:
        """This rank's part comes up, all parts are gathered: a layer, and when it is there."""
        ends = self.cross("up", part, self.free["GPU"])  # then the buffer was free
        part = self.device.take(part)
        whole = self.device.take(ring_gather(part))
        self.device.drop(part)
        return whole, ends

    def collect(self, layer: int, gradient: Tensor) -> None:
        """Sum over the ranks; this rank's part goes down, or stays."""
        row = pad(gradient.flatten(), (0, -gradient.numel() % ranks()))
        whole = self.device.take(row)
        part = ring_scatter_sum(whole)
        self.device.drop(whole)
        if not self.plan.step_below:
            self.gradients[layer] += part
            return
        if len(self.copies) == len(self.buffers):
            self.arrive()  # the buffer that is next still holds what is on its way
        buffer, landing = self.buffers[0], self.landing[0]
        self.buffers, self.landing = [*self.buffers[1:], buffer], [*self.landing[1:], landing]
        buffer.copy_(part)
        self.arrived[layer] = self.cross("down", buffer, self.free["GPU"])
        self.copies.append((layer, buffer, landing))

    def arrive(self) -> None:
        """The oldest copy on its way down has to end now; till then none of it need have gone."""
        layer, buffer, landing = self.copies.pop(0)
        self.gradients[layer] += landing.copy_(buffer)

    def passes(self, batch: Tensor) -> None:
        """Forward and backward of a micro-batch, y = tanh(x @ w)."""
        kept, layers = [batch[0]], range(len(self.weights))
        for layer in layers:
            with self.lent(layer, f"F{layer}", self.costs["F"]) as weights:
                kept.append((kept[-1] @ weights).tanh())
        slope = (kept[-1] - batch[1]) / len(batch[1])
        for layer in reversed(layers):
            y = kept.pop()
            slope = slope * (1 - y * y)
            with self.lent(layer, f"B{layer}", self.costs["B"]) as weights:
                self.collect(layer, kept[-1].T @ slope)
                slope = slope @ weights.T

    def step(self, batches: Tensor) -> None:
        """All micro-batches, then Adam for each layer, wherever that runs."""
        self.free, self.seen, self.arrived = defaultdict[str, float](float), [], {}
        self.moved.clear()
        turn = [*range(len(self.weights))]
        self.uses = [*turn, *reversed(turn)] * len(batches)
        for batch in batches:
            self.passes(batch)
        while self.copies:
            self.arrive()
        self.steps += 1
        for layer in reversed(turn):
            mean = self.gradients[layer].float() / (ranks() * len(batches))
            self.gradients[layer].zero_()
            self.update(layer, mean)

    def update(self, layer: int, mean: Tensor) -> None:
        """Adam where the plan has it; new 16-bit weights go where the passes look for them."""
        ends = self.arrived.get(layer, self.free["GPU"])
        states, visits = self.states[layer], self.plan.states_down and not self.plan.step_below
        if visits:
            ends = self.cross("up", states, ends)
            states = self.device.take(states)
        adam(states, mean, self.steps)
        if self.plan.step_below:
            ends = self.spend("host", "A", self.costs["A"] / ranks(), ends)
        if visits:
            self.cross("down", states, ends)
            self.states[layer].copy_(states)
            self.device.drop(states)
        new = states[0].to(self.weights[layer].dtype)
        if self.plan.step_below and not self.plan.weights_down:
            self.cross("up", new, ends)
        above = not self.plan.weights_down
        self.weights[layer].copy_(ring_gather(new.to(self.device.place)) if above else new)


def main(
    layers: int = 4,  # layers of the model, each a matrix of width x width
    width: int = 24,  # hidden size, the same in every layer
    microbatches: int = 1,  # micro-batches of each rank to an update
    steps: int = 3,  # updates in training
    dtype: Literal["bf16", "fp32"] = "bf16",  # of activations, weights in passes and gradients
    forward: float = 1.0,  # ticks of a layer's forward
    backward: float = 2.0,  # ticks of a layer's backward
    link: float = 1.0,  # ticks of a layer's weights over one link; a rank's part takes 1/N of it
    adam_time: float = 1.0,  # ticks of Adam for a layer on one host CPU; 1/N for a rank's part
    budget: int = 0,  # bytes of a GPU; 0: for each plan what it needs
    seed: int = 0,  # seed of the random numbers
) -> Metrics:
    """Train under each plan from the same start; count what is kept and moved, and compare."""
    if min(layers, width, microbatches, steps) < 1:
        refuse("layers, width, microbatches and steps must be 1 or more")
    n, low = ranks(), {"bf16": torch.bfloat16, "fp32": torch.float32}[dtype]
    batches = torch.randn(n, microbatches, 2, 4, width).to(device(), low)[rank()]
    drawn = torch.randn(layers, width**2).to(device()) / width**0.5
    rows = pad(drawn, (0, -(width**2) % n))
    row = rows.shape[1] * low.itemsize  # a layer in the passes' dtype
    part, states = row // n, 12 * rows.shape[1] // n
    needs = {
        "none": layers * (row + part + states) + row,
        "states": layers * row + row + 2 * part,
        "visit": layers * (row + part) + max(row, states),
        "all": 3 * row + 2 * part if layers > 1 else 2 * row + 3 * part,
        "waits": 2 * row + part,
    }
    if 0 < budget < needs["all"]:
        refuse(f"{budget} bytes do not hold two layers on their way: take budget {needs['all']}")

    down = Plan(weights_down=True, states_down=True, step_below=True)
    plans = {
        "all": down,
        "waits": replace(down, buffers=1),
        "states": Plan(states_down=True, step_below=True),
        "visit": Plan(states_down=True),
        "none": Plan(),
    }
    costs = {"F": forward, "B": backward, "link": link, "A": adam_time}
    done, times, fits = dict[str, Training](), dict[str, float](), dict[str, bool]()
    for name, plan in plans.items():
        done[name] = Training(plan, rows, width, low, needs[name], costs)
        times[name] = trained(done[name], batches, steps, name)
        peak = done[name].device.peak
        check(f"{name}: the GPU holds what the plan has there", peak, "==", needs[name])
        fits[name] = not budget
        if budget:
            with suppress(OutOfMemoryError):
                Training(plan, rows, width, low, budget, costs).step(batches)
                fits[name] = True
    weights, states = (
        [own(each, kind) for each in done.values()] for kind in ("weights", "states")
    )
    same, alike = (
        [all(map(torch.equal, each, kind[-1])) for each in kind] for kind in (weights, states)
    )
    check("weights equal training without offload", all(same), "==", True)
    check("states equal training without offload", all(alike), "==", True)
    held = {name: [each.device.peak, each.host.peak] for name, each in done.items()}
    title = "most of weights, gradients and states"
    picture("staircase", title, parts=["on the GPU", "on the host"], steps=held, unit="bytes")
    few, places = ("none", "states", "visit", "all"), ("states", "visit", "all")
    moved = {f"{way}_{name}": done[name].moved[way] for way in ("up", "down") for name in places}
    return {
        "parameters": shared(counted(drawn.numel())),
        **{f"device_{name}": counted(done[name].device.peak) for name in few},
        **{name: counted(number) for name, number in moved.items()},
        "host_all": counted(done["all"].host.peak),
        **{f"time_{name}": clocked(times[name]) for name in ("none", "states", "all")},
        "waits_all": clocked(times["waits"]),
        "fits_none": shared(counted(fits["none"])),
        "fits_states": shared(counted(fits["states"])),
        "weights_same": identical(all(same)),
        "states_same": identical(all(alike)),
    }


# Below: the memory that counts, Adam, and what is reported.

Costs = dict[str, float]  # ticks: F, B and A (Adam) of a layer, and link for its weights


class OutOfMemoryError(MemoryError):
    """More was put into an arena than its budget allows."""

    def __init__(self, size: int) -> None:
        super().__init__(f"Tried to allocate {size} bytes")
        self.size = size


class Arena:
    """A memory with a hard budget."""

    def __init__(self, budget: int, place: torch.device) -> None:
        self.budget, self.place = budget, place
        self.used = self.peak = 0

    def take(self, like: Tensor) -> Tensor:
        """Room for a tensor, with what it holds."""
        if self.used + like.nbytes > self.budget:
            raise OutOfMemoryError(like.nbytes)
        self.used += like.nbytes
        self.peak = max(self.peak, self.used)
        return like.to(self.place, copy=True)

    def drop(self, *tensors: Tensor) -> None:
        """Nobody needs them any more."""
        self.used -= sum(each.nbytes for each in tensors)


def mine(rows: Tensor) -> Tensor:
    """This rank's part of each flat row."""
    return rows.chunk(ranks(), -1)[rank()]


def adam(kept: Tensor, gradient: Tensor, step: int, lr: float = 1e-3) -> None:
    """One step on master weights, momentum and variance; each operation rounds on its own."""
    master, momentum, variance = kept
    gradient = gradient.to(kept.device)
    momentum.mul_(0.9).add_(0.1 * gradient)
    variance.mul_(0.999).add_(0.001 * (gradient * gradient))
    spread = (variance / (1 - 0.999**step)).sqrt() + 1e-8
    master -= lr * (momentum / (1 - 0.9**step) / spread)


def own(training: Training, kind: str) -> list[Tensor]:
    """This rank's part of the weights, or of the states, layer by layer."""
    kept = training.weights if kind == "weights" else training.states
    if kind == "weights" and not training.plan.weights_down:
        kept = [mine(row) for row in kept]
    return [each.cpu() for each in kept]


def trained(training: Training, batches: Tensor, steps: int, name: str) -> float:
    """All steps; the ticks of the last, and what the GPU did in it, up to where it failed."""
    with virtual_clock(name, F="forward of layer {}", B="backward of layer {}") as clock:
        told: list[str] = []
        try:
            for _ in range(steps):
                training.step(batches)
        except OutOfMemoryError as error:
            arena = training.device
            told = [f"tried {error.size}", f"in use {arena.used}", f"budget {arena.budget}"]
            raise
        finally:
            for what, start, end in training.seen:
                clock.reach(start)
                clock.spend(end - start, what)
            for words in told:
                clock.spend(1, f"{words} bytes")
        clock.reach(max(training.free.values()))
        return clock.makespan()


BREAKS = {
    "step-before-arrival": Break(
        old="        while self.copies:\n            self.arrive()\n",
        new="",
        expect="weights equal training without offload",
        ranks=1,
        source="non_blocking copies to the host, read by the optimizer without a synchronize",
    ),
    "buffer-in-flight": Break(
        old="        if len(self.copies) == len(self.buffers):\n",
        new="        if len(self.copies) > 99:\n",
        expect="weights equal training without offload",
        ranks=1,
        source="the next gradient computed into a buffer whose copy to the host has not ended",
    ),
    "never-dropped": Break(
        old="        if self.plan.weights_down:\n            self.device.drop(whole)\n",
        new="",
        expect="crashes: OutOfMemoryError",
        ranks=1,
        source="a gathered layer that something still refers to is not freed",
    ),
}

if __name__ == "__main__":
    run(__file__)
