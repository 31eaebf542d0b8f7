"""A hang is somebody missing: each rank notes what it enters, and the notes name who is behind.

The trick
    Let each rank write down the call it is about to enter, where others can read it. Who waits in
    vain looks for a rank that has not entered that call, and goes on from there if that rank waits
    as well: at the end stands one that does not wait, or a circle. The ranks that complain did
    nothing wrong.

    Collectives have no names on the wire. On each group a rank's k-th call meets the others' k-th,
    whatever it was meant to be. So all ranks must make the same calls in the same order on each
    group, and in one order over the groups they share. Where ranks wrote different words for calls
    that met, they met by mistake, perhaps long before anybody waits.

    The ranks train one weight; again, --culprit runs --short batches fewer. At --spike its loss
    jumps, and all add up theirs. Drawn are the last calls; one that is waited in has no end.

Watch
    stuck (shared, ranks)              those that waited in vain while all had as many batches
    wait_ends_at (rank)                the one at the end of this one's waiting, or in its circle;
                                       -1 if it does not wait
    waits_in_call (index)              number of the call this rank waits in, from 1; 0 if it does
                                       not wait
    circle (shared, ranks)             most that wait for each other in a circle
    entered (calls)                    this rank entered while all had as many batches, messages
                                       included
    first_difference (index)           first call of this rank, from 1, that met words unlike its
                                       own, 0 if none
    weight_error (shared, difference)  largest one of any weight from one process, after the last
                                       step
    stuck_uneven (shared, ranks)       those that waited in vain while the culprit had fewer batches
    notes_name (shared, rank)          the one behind while the culprit had fewer batches, -1 if
                                       none
    torch_names (shared, rank)         the one that monitored_barrier names; -1 if none, or without
                                       --monitored

Run
    quizkit demo deadlock --gpus 4
    python demos/deadlock.py --ranks 4 --culprit 1 --short 2
    torchrun --nproc-per-node 4 demos/deadlock.py
"""

import json
import re
import sys
from datetime import timedelta
from itertools import zip_longest
from types import SimpleNamespace

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import everyone, rank, ranks, virtual_clock

import torch
import torch.distributed as dist

TOPIC = "debug"


def who_waits_for_whom(notes):
    """For each rank in the middle of a call, the first member that has not entered that call."""
    waits = {}
    for each, calls in enumerate(notes):
        for call in calls:
            if call["done"] or each in waits:
                continue
            group = call["group"]
            mine = entered(calls, group)
            missing = [m for m in call["members"] if entered(notes[m], group) < mine]
            if missing:
                waits[each] = missing[0]
    return waits


def entered(calls, group):
    """How many of a rank's calls were on that group."""
    return sum(call["group"] == group for call in calls)


def followed(waits, start):
    """From a rank that waits to one that does not; in a circle, round it once. Who was passed."""
    passed = []
    while start in waits and start not in passed:
        passed.append(start)
        start = waits[start]
    return start, passed[passed.index(start) :] if start in passed else []


def first_difference(notes):
    """For each rank the number, from 1, of its first call that met other words than its own."""
    met = [0] * len(notes)
    numbered = [list(enumerate(calls, 1)) for calls in notes]
    for group in {call["group"] for calls in notes for call in calls}:
        lines = [[(k, call) for k, call in calls if call["group"] == group] for calls in numbered]
        for meeting in zip_longest(*lines):  # the k-th calls of all ranks on that group
            came = {r: each for r, each in enumerate(meeting) if each}
            if len({call["words"] for _, call in came.values()}) > 1:
                for r, (number, _) in came.items():
                    met[r] = min(met[r] or number, number)
    return met


class Talk:
    """This rank's groups in one episode, and its flight recorder; no call waits for ever."""

    def __init__(self, episode, patience):
        self.store = dist.PrefixStore(episode, dist.distributed_c10d._get_default_store())
        self.patience = timedelta(seconds=patience)
        self.groups, self.calls = {}, []
        # Every rank makes every group, its own or not: that is how they come to the same names.
        for name, members in (("front", range(max(1, ranks() - 1))), ("all", range(ranks()))):
            handle = dist.new_group([*members], backend="gloo")
            self.groups[name] = handle, [*members]

    def enter(self, group, members, words):
        """Write down, where others can read it, what is about to be entered."""
        call = {"group": group, "members": members, "words": words, "done": False}
        call["line"] = sys._getframe(2).f_lineno  # where train made it
        self.calls.append(call)
        self.store.set(str(rank()), json.dumps(self.calls))
        return call

    def await_all(self, *flights):
        """Wait for calls to end, and write it down; or give up."""
        for call, work in flights:
            try:
                work.wait(self.patience)
            except RuntimeError as error:
                raise TimeoutError(call["words"]) from error
            call["done"] = True
        self.store.set(str(rank()), json.dumps(self.calls))

    def total(self, group, words, value):
        """The sum of a number over a group."""
        handle, members = self.groups[group]
        tensor = torch.tensor(float(value), dtype=torch.float64)
        call = self.enter(group, members, words)
        self.await_all((call, dist.all_reduce(tensor, group=handle, async_op=True)))
        return tensor.item()

    def to_the_right(self, row):
        """What the left neighbour has, while mine goes to the right."""
        me, n, handle = rank(), ranks(), self.groups["all"][0]
        right, left = (me + 1) % n, (me - 1) % n
        arriving = torch.empty_like(row)
        if n == 1:
            return row
        call = self.enter(f"{me} to {right}", [me, right], "rows")
        sent = call, dist.isend(row, right, handle)
        call = self.enter(f"{left} to {me}", [left, me], "rows")
        self.await_all(sent, (call, dist.irecv(arriving, left, handle)))
        return arriving

    def read(self, each):
        """What a rank has written down."""
        key = str(each)
        return json.loads(self.store.get(key)) if self.store.check([key]) else []


LR, JUMP = 0.1, 100.0  # the spike is that far from all other targets


def train(own, targets, batches, talk, state):
    """Gradient descent on one weight: the same calls in the same order on every rank."""
    inputs = own + talk.to_the_right(own)
    for batch in range(batches):
        residual = state.weight * inputs[batch] - targets[batch]
        loss = (residual**2).sum()
        gradient = (residual * inputs[batch]).sum()
        for group in ("front", "all"):
            if rank() in talk.groups[group][1]:
                state.sums[group] = talk.total(group, "gradient", gradient)
        state.weight -= LR * state.sums["all"] / (ranks() * len(residual))
        spikes = talk.total("all", "spikes", loss > JUMP)
        if spikes > 0:
            state.logged = talk.total("all", "loss", loss)


def episode(name, own, targets, batches, patience):
    """Train until through, or until somebody waits in vain; then read what all have written."""
    talk = Talk(name, patience)
    found = SimpleNamespace(talk=talk, state=SimpleNamespace(weight=0.0, sums={}, logged=0.0))
    try:
        train(own, targets, batches, talk, found.state)
        found.late = 0
    except TimeoutError:
        found.late = 1
    found.stuck = int(everyone(found.late).sum().item())  # all have written by then
    found.notes = [talk.read(each) for each in range(ranks())]
    waits = who_waits_for_whom(found.notes)
    found.ends = {each: followed(waits, each) for each in waits}
    open_calls = [k for k, call in enumerate(found.notes[rank()], 1) if not call["done"]]
    found.waits_in = open_calls[0] if found.late and open_calls else 0
    return found


def main(
    steps: int = 3,  # batches of each rank
    rows: int = 4,  # samples of a batch on each rank
    culprit: int = -1,  # rank that is short of batches, and whose loss jumps; -1 is the last
    short: int = 1,  # batches the culprit runs fewer, the second time
    spike: int = 1,  # batch, from 0, at which the culprit's loss jumps; -1 for none
    last: int = 3,  # calls of each rank that are drawn
    patience: float = 0.3,  # seconds until a wait is in vain; 4 times that, the first time
    monitored: bool = False,  # whether torch is asked too, which writes to standard error
) -> Metrics:
    """Train with as many batches on each rank, then with fewer on one of them."""
    if min(steps, rows, last) < 1 or not 1 <= short <= steps or not 0.01 <= patience <= 5:
        refuse(f"steps, rows, last start at 1, short is 1 to {max(steps, 1)}, patience 0.01 to 5")
    n, culprit = ranks(), culprit % ranks()
    inputs, targets, weight, logged = data(steps, rows, culprit, spike)
    own, wanted = inputs[:, rank()].contiguous(), targets[:, rank()]

    even = episode("even", own, wanted, steps, 4 * patience)
    weight_error = everyone(abs(even.state.weight - weight)).max().item()
    differs = first_difference(even.notes)

    batches = steps - short if rank() == culprit else steps
    uneven = episode("uneven", own, wanted, batches, patience)
    ends = {end for end, _ in uneven.ends.values()}
    notes_name = min(ends) if len(ends) == 1 else -1
    torch_names = -1
    if monitored and notes_name != 0:  # it is rank 0 that does the naming
        torch_names = asked_torch(uneven, patience)

    check("every rank gets through", even.stuck, "==", 0)
    check("ranks that meet mean the same call", max(differs), "==", 0)
    check("weight equals one process", weight_error, "<", 1e-12)
    check("the losses add up", abs(even.state.logged - logged), "<=", 1e-12 * logged)
    check("the notes explain every wait", len(even.ends), "==", even.stuck)
    if even.stuck:  # nobody gets as far as to leave
        drawn("as many batches", even, last)
    else:
        check("all others wait for the one that left", uneven.stuck, "==", n - 1)
        check("the notes name the one that left", notes_name, "==", culprit if n > 1 else -1)
        drawn(f"rank {culprit} leaves", uneven, last)
    return {
        "stuck": shared(counted(even.stuck)),
        "wait_ends_at": counted(even.ends.get(rank(), (-1, []))[0]),
        "waits_in_call": counted(even.waits_in),
        "circle": shared(counted(max((len(ring) for _, ring in even.ends.values()), default=0))),
        "entered": counted(len(even.notes[rank()])),
        "first_difference": counted(differs[rank()]),
        "weight_error": shared(compared(weight_error)),
        "stuck_uneven": shared(counted(uneven.stuck)),
        "notes_name": shared(counted(notes_name)),
        "torch_names": shared(counted(torch_names)),
    }


def data(steps, rows, culprit, spike):
    """All ranks' inputs and targets, one of them far off; and the weight one process reaches."""
    inputs = torch.rand(steps, ranks(), rows, dtype=torch.float64)
    both, weight, logged = inputs + inputs.roll(1, dims=1), 0.0, 0.0
    targets = 3 * both
    targets[spike : spike + (spike >= 0), culprit] += JUMP  # below 0 there is none
    for x, y in zip(both, targets, strict=True):
        losses = ((weight * x - y) ** 2).sum(-1)
        logged = losses.sum().item() if (losses > JUMP).any() else logged
        weight -= LR * ((weight * x - y) * x).mean().item()
    return inputs, targets, weight, logged


def asked_torch(found, patience):
    """The rank that monitored_barrier names if those who wait call it."""
    named = -1
    try:
        if found.late:
            dist.monitored_barrier(found.talk.groups["all"][0], timedelta(seconds=2 * patience))
    except RuntimeError as error:
        named = int((re.search(r"Rank (\d+) failed to pass", str(error)) or [0, -1])[1])
    return int(everyone(named).max().item())


def drawn(name, found, last):
    """This rank's last calls, numbered; the one it waits in has no end."""
    with virtual_clock(f"{name}, the last calls") as clock:
        calls = [*enumerate(found.notes[rank()], 1)][-last:]
        clock.now = 2.0 * (last - len(calls))
        for k, call in calls:
            at = f" on {call['group']}, line {call['line']}" if k == found.waits_in else ""
            clock.spend(5 if at else 2, f"{call['words']}.{k}{at}")


BREAKS = {
    "rank-local-condition": Break(
        old="        if spikes > 0:",
        new="        if loss > JUMP:",
        expect="every rank gets through",
        ranks=2,
        source="code that logs, saves or evaluates on one rank and calls a collective in there",
    ),
    "two-orders": Break(
        old='        for group in ("front", "all"):',
        new='        for group in sorted(("front", "all"), reverse=rank() > 0):',
        expect="every rank gets through",
        ranks=3,
        source="groups kept in a set of strings, which each process hashes in its own way",
    ),
    "send-first": Break(
        old='        call = self.enter(f"{left} to',
        new='        self.await_all(sent)\n        call = self.enter(f"{left} to',
        expect="every rank gets through",
        ranks=2,
        source="halo exchanges written send, then receive: they work while messages are buffered",
    ),
    "members-only": Break(
        old="            handle = dist.new_group([*members], backend=",
        new="            handle = rank() in members and dist.new_group([*members], backend=",
        expect="hangs",
        ranks=2,
        source="new_group called where the group is used; all ranks count the groups they make",
    ),
    "noted-afterwards": Break(
        old="json.dumps(self.calls))\n        return call",
        new="json.dumps(self.calls[:-1]))\n        return call",
        expect="the notes name the one that left",
        ranks=2,
        source="logs written after a call: who is stuck in it looks like one that never came",
    ),
}

if __name__ == "__main__":
    run(__file__)
