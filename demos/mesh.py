"""A group differs in one coordinate: degree members, N / degree groups; the fastest sit together.

The trick
    A rank is a number, and its coordinates are the digits of it: the axis named first changes
    fastest. A group of an axis holds the ranks that agree in all other digits. So every rank is in
    one group of each axis, and ranks of the fastest axis are neighbours, inside a node if the
    degree divides its size. What is reduced over several axes has a group of both: gradients over
    dp and cp, where all hold the same weights. A tied table joins first and last stage. Experts are
    dealt out over dp x cp, so an expert's gradient is summed by every ep-th of those ranks.

    Fixing a coordinate and varying the others makes the complement: groups of N / degree. torch's
    init_device_mesh names its axes the other way round, the fastest last.

Watch
    size_tp (ranks)                 in this rank's group along tp
    size_cp (ranks)                 in this rank's group along cp
    size_dp (ranks)                 in this rank's group along dp
    size_pp (ranks)                 in this rank's group along pp
    size_grads (ranks)              in this rank's group over dp and cp
    size_expert (ranks)             that hold the same expert as this one, with itself
    size_ends (ranks)               first and last stage; 0 on a stage between
    left_tp (rank)                  whose message came to this one round its tp group
    left_cp (rank)                  whose message came to this one round its cp group
    left_dp (rank)                  whose message came to this one round its dp group
    left_pp (rank)                  whose message came to this one round its pp group
    left_grads (rank)               whose message came to this one round its dp and cp group
    left_expert (rank)              whose message came to this one round its expert's group
    left_ends (rank)                whose message came to this one from the other end; -1 between
    axis_bytes_tp (bytes)           sent by this rank in one all-reduce of the payload along tp
    axis_bytes_cp (bytes)           sent by this rank in one all-reduce of the payload along cp
    axis_bytes_dp (bytes)           sent by this rank in one all-reduce of the payload along dp
    axis_bytes_pp (bytes)           sent by this rank in one all-reduce of the payload along pp
    axis_across_tp (bytes)          of axis_bytes_tp, to other nodes
    axis_across_cp (bytes)          of axis_bytes_cp, to other nodes
    axis_across_dp (bytes)          of axis_bytes_dp, to other nodes
    axis_across_pp (bytes)          of axis_bytes_pp, to other nodes
    groups_made (calls)             of new_group by this rank, for its own groups and all others
    dense_apart (difference)        largest one between weights in this rank's dp and cp group
    expert_apart (difference)       largest one between weights in this rank's expert's group

Run
    quizkit demo mesh --gpus 8
    python demos/mesh.py --ranks 8 --tp 2 --dp 4 --pp 1 --order tp-cp-pp-dp
    torchrun --nproc-per-node 8 demos/mesh.py
"""

from collections import defaultdict
from itertools import chain
from math import prod

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run
from _bench import device, max_error, rank, ranks, ring_sum, shift, wire

import torch
import torch.distributed as dist

TOPIC = "hybrid"
AXES = ("tp", "cp", "dp", "pp")
KINDS = (*AXES, "grads", "expert", "ends")


def coordinates(number, degrees):
    """The digits of a rank's number; `degrees` has the fastest axis first."""
    at = {}
    for axis, degree in degrees.items():
        number, at[axis] = divmod(number, degree)
    return at


def groups(axes, degrees):
    """Along one axis, or over several together: the ranks that agree in all other coordinates."""
    found = defaultdict(list)
    for number in range(prod(degrees.values())):
        at = coordinates(number, degrees)
        found[tuple(at[axis] for axis in degrees if axis not in axes)].append(number)
    return [*found.values()]


def all_groups(degrees, ep):
    """Those of each axis, and those that training needs besides."""
    made = {axis: groups([axis], degrees) for axis in degrees}
    made["grads"] = groups(["dp", "cp"], degrees)  # the same weights, other tokens
    # ep ranks in a row hold all experts between them: every ep-th holds the same ones.
    made["expert"] = [group[e::ep] for group in made["grads"] for e in range(ep)]
    made["ends"] = [sorted({line[0], line[-1]}) for line in made["pp"]]
    return made


def connect(made):
    """This rank's groups. Every rank makes every group, its own or not, all in the same order."""
    mine, calls = {}, 0
    for name, each in made.items():
        for members in each:
            calls += 1
            handle = dist.new_group(members, backend="gloo")
            if rank() in members:
                mine[name] = members, handle
    return mine, calls


def main(
    tp: int = 0,  # tensor-parallel degree; 0: 2 if that divides the ranks, else 1
    cp: int = 1,  # context-parallel degree
    dp: int = 0,  # data-parallel degree; 0: what is left
    pp: int = 0,  # pipeline-parallel degree; 0: 2 if that divides what tp and cp leave, else 1
    ep: int = 0,  # ranks over which experts are dealt out; 0: 2 if dp x cp is even, else 1
    order: str = "tp-cp-dp-pp",  # the axes, the one that varies fastest first
    per_node: int = 0,  # ranks of a node; 0: 4 if that divides the ranks, else all
    elements: int = 240,  # fp64 elements each rank brings to a sum
) -> Metrics:
    """Build every group of a mesh, and let each of them talk."""
    n, axes = ranks(), order.split("-")
    if sorted(axes) != sorted(AXES):
        refuse(f"{order!r} is no order of tp, cp, dp and pp: take tp-cp-dp-pp")
    if min(tp, dp, pp, ep, per_node) < 0 or min(cp, elements) < 1:
        refuse("cp and elements start at 1; tp, dp, pp, ep and per-node at 0")
    tp = tp or two_of(n, cp, dp, pp)
    pp = pp or two_of(n, tp, cp, dp)
    dp = dp or max(1, n // (tp * cp * pp))
    if tp * cp * dp * pp != n:
        refuse(f"tp {tp} x cp {cp} x dp {dp} x pp {pp} is not {n} ranks: leave out dp, or all")
    ep = ep or two_of(dp * cp)
    if dp * cp % ep:
        refuse(f"dp x cp is {dp * cp}, and ep {ep} does not divide it: take 1 or {dp * cp}")
    node = per_node or (n if n % 4 else 4)
    if n % node:
        refuse(f"nodes of {node} are not filled by {n} ranks: take 1 or {n}")

    asked = {"tp": tp, "cp": cp, "dp": dp, "pp": pp}
    degrees = {axis: asked[axis] for axis in axes}
    made = all_groups(degrees, ep)
    # A rank that is in none of them would be waited for.
    whole = [sorted(chain(*made[kind])) == [*range(n)] for kind in made if kind != "ends"]
    check("every rank is in one group of each kind", sum(whole), "==", len(whole))
    mine, calls = connect(made)

    torch.manual_seed(rank())
    payload = torch.randn(elements, dtype=torch.float64, device=device())
    theirs = torch_mesh(axes, asked)
    sent = {}
    for axis in AXES:
        members, handle = mine[axis]
        with wire() as counts:
            total = ring_sum(payload, members)
        sent[axis] = counts.to
        check(f"{axis}: as many members as its degree", len(members), "==", asked[axis])
        check(f"{axis}: N / degree groups", len(made[axis]), "==", n // asked[axis])
        alike = dist.get_process_group_ranks(theirs.get_group(axis)) == members
        check(f"{axis}: the members are torch's", alike, "==", True)
        check(f"{axis}: sums are torch's", max_error(total, summed(payload, handle)), "<", 1e-12)
    apart = weights_apart(degrees, made, mine, ep)
    for kind in apart:
        check(f"{kind}: weights are alike in a group", apart[kind], "==", 0.0)

    first = rank() - rank() % node
    far = {a: sum(sent[a]) - sum(sent[a][first : first + node]) for a in AXES}
    if node % asked[axes[0]] == 0:
        check("the fastest axis stays in its node", far[axes[0]], "==", 0)
    row = [sum(to) for to in zip(*sent.values(), strict=True)]
    drawn = {axis: made[axis] for axis in axes if len(mine[axis][0]) > 1}
    picture("messages", f"{order}: one sum along each axis", row=row, node=node, groups=drawn)

    met = {kind: meet(mine, kind) for kind in made}
    return {
        **{f"size_{kind}": counted(met[kind][0]) for kind in KINDS},
        **{f"left_{kind}": counted(met[kind][1]) for kind in KINDS},
        **{f"axis_bytes_{axis}": counted(sum(sent[axis])) for axis in AXES},
        **{f"axis_across_{axis}": counted(far[axis]) for axis in AXES},
        "groups_made": counted(calls),
        "dense_apart": compared(apart["grads"]),
        "expert_apart": compared(apart["expert"]),
    }


# Below: defaults, what is measured of a group, and what torch makes of it.


def two_of(n, *taken):
    """2 if that divides what is left of n, else 1; what is not yet known takes nothing."""
    return 2 if n % (2 * prod(each or 1 for each in taken)) == 0 else 1


def meet(mine, kind):
    """How many there are in this rank's group, and whose message came round to it."""
    if kind not in mine:
        return 0, -1
    members, _ = mine[kind]
    me = torch.tensor([1, rank()], device=device())
    return int(ring_sum(me, members)[0]), int(shift(me, members)[1])


def weights_apart(degrees, made, mine, ep):
    """How far apart weights are whose gradients would be summed: the largest less the smallest."""
    at, size = coordinates(rank(), degrees), 5
    torch.manual_seed(0)
    like = {"dtype": torch.float64, "device": device()}
    dense = torch.randn(degrees["pp"], degrees["tp"], size, **like)
    experts = torch.randn(degrees["pp"], degrees["tp"], ep, size, **like)
    peers = next(group for group in made["grads"] if rank() in group)
    held = {
        "grads": dense[at["pp"], at["tp"]],
        "expert": experts[at["pp"], at["tp"], peers.index(rank()) % ep],
    }
    found = {}
    for kind, weight in held.items():
        members, _ = mine[kind]
        most, least = (ring_sum(weight, members, of) for of in (torch.maximum, torch.minimum))
        found[kind] = (most - least).max().item()
    return found


def torch_mesh(axes, asked):
    """torch's own: its last axis is the fastest."""
    from torch.distributed.device_mesh import init_device_mesh

    kind = "cpu" if dist.get_backend() == "gloo" else device().type
    slowest_first = axes[::-1]
    shape = tuple(asked[axis] for axis in slowest_first)
    return init_device_mesh(kind, shape, mesh_dim_names=tuple(slowest_first))


def summed(row, handle):
    """torch's sum over a group, in host memory."""
    total = row.cpu().clone()
    dist.all_reduce(total, group=handle)
    return total.to(row.device)


BREAKS = {
    "fixes-one": Break(
        old="for axis in degrees if axis not in axes",
        new="for axis in degrees if axis in axes",
        expect="tp: as many members as its degree",
        ranks=2,
        source="builders that loop over one axis and put all ranks with that index in a group",
    ),
    "slowest-first": Break(
        old="in degrees.items():",
        new="in reversed(degrees.items()):",
        expect="tp: the members are torch's",
        ranks=4,
        source="github.com/pytorch/torchtitan/issues/286: Wrong mesh order, TP across nodes",
    ),
    "degrees-misnamed": Break(
        old="{axis: asked[axis] for axis in axes}",
        new="dict(zip(axes, [asked[axis] for axis in reversed(axes)], strict=True))",
        expect="tp: as many members as its degree",
        ranks=2,
        source="github.com/pytorch/pytorch/issues/161776: names of a mesh swapped, not its degrees",
    ),
    "experts-over-all-dp": Break(
        old='[group[e::ep] for group in made["grads"] for e in range(ep)]',
        new='made["grads"]',
        expect="expert: weights are alike in a group",
        ranks=8,
        source="github.com/facebookresearch/fairscale/issues/871: experts must not be summed",
    ),
}

if __name__ == "__main__":
    run(__file__)
