"""fully_shard says it in three places: what it is called on, which mesh, and reshard_after_forward.

The trick
    Each module it is called on becomes a unit, from the inside out; the root, called last, takes
    what is left. reshard_after_forward=True frees a unit's weights after its forward (full shard);
    False keeps them till backward (shard-grad-op), and after backward they are sharded either way.
    A mesh of one dimension shards over all its ranks; of two, it replicates along the first and
    shards along the second (hybrid). Called on the root alone it makes one unit of everything.
    The weights are DTensors: each rank has rows of them.

Watch
    whole_bytes (shared, bytes)     of all weights of the model
    local_true (bytes)              of this rank's weights between steps, reshard True
    local_mesh (bytes)              of this rank's weights between steps, mesh of nodes by ranks
    local_root (bytes)              of this rank's weights between steps, root alone
    between_true (bytes)            of whole weights between forward and backward, reshard True
    between_false (bytes)           of whole weights between forward and backward, reshard False
    after_false (bytes)             of whole weights after backward, reshard False
    peak_true (bytes)               of whole weights in a layer's forward, at most, reshard True
    peak_root (bytes)               of whole weights in a layer's forward, at most, root alone
    gathers_true (calls)            all-gathers of a step, reshard True
    gathers_false (calls)           all-gathers of a step, reshard False
    gathers_root (calls)            all-gathers of a step, root alone
    scatters_true (calls)           reduce-scatters of a step, reshard True
    all_reduces_true (calls)        all-reduces of a step, reshard True
    all_reduces_mesh (calls)        all-reduces of a step, mesh of nodes by ranks
    gradient_error (difference)     largest one of a gradient from one process, all of them

Run
    quizkit demo fully-shard --gpus 4
    python demos/fully_shard.py --ranks 4 --layers 6
    torchrun --nproc-per-node 4 demos/fully_shard.py
"""

from collections import Counter
from copy import deepcopy
from typing import Any

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import Layer, device, max_error, rank, ranks

import torch
from torch.utils._python_dispatch import TorchDispatchMode

TOPIC = "fsdp"


def shard(model, mesh, reshard, layers=True):
    """What there is to write: each layer, then the root, which takes what is left."""
    from torch.distributed.fsdp import fully_shard

    for module in (*model, model) if layers else (model,):
        fully_shard(module, mesh=mesh, reshard_after_forward=reshard)
    return model


class Calls(TorchDispatchMode):
    """Counts collectives as torch hands them to the backend."""

    def __init__(self):
        super().__init__()
        self.seen = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Note what is called, and call it."""
        if func.namespace == "c10d":
            self.seen[func._schema.name.partition("::")[2].strip("_")] += 1
        return func(*args, **(kwargs or {}))


def step(model, batch):
    """Forward and backward; collectives, and the bytes in whole weights while they run."""
    whole, peak = [], []

    def look(*_):
        # A weight that is whole stands in the module as a plain tensor; a sharded one is a DTensor.
        now = [weight for weight in model.parameters() if not hasattr(weight, "full_tensor")]
        whole.append(sum(weight.nbytes for weight in now))

    handles = [layer.register_forward_pre_hook(look) for layer in model]
    with Calls() as calls:
        output = model(batch)
        peak = max(whole)
        look()
        output.square().mean().backward()
        look()
    for handle in handles:
        handle.remove()
    return calls.seen, {"peak": peak, "between": whole[-2], "after": whole[-1]}


def main(
    layers: int = 4,  # residual layers, each a unit
    rows: int = 3,  # rows of each rank
    width: int = 12,  # hidden size
    nodes: int = 0,  # nodes for the mesh of two dimensions; 0: 2 if ranks are even, else 1
) -> Metrics:
    """One step with each way to call it, against one process."""
    from torch.distributed.device_mesh import init_device_mesh

    n, nodes = ranks(), nodes or 2 - ranks() % 2
    if min(layers, rows, width, nodes) < 1:
        refuse("layers, rows, width and nodes start at 1")
    if n % nodes:
        refuse(f"{nodes} nodes do not share {n} ranks evenly: take 1 or {n}")
    like = {"dtype": torch.float64, "device": device()}
    model = torch.nn.Sequential(*(Layer(width, width, **like) for _ in range(layers)))
    batch = torch.randn(n, rows, width, **like)
    alone = deepcopy(model)
    alone(batch).square().mean().backward()
    truth = torch.cat([weight.grad.flatten() for weight in alone.parameters()])

    place = torch.device("cpu") if torch.distributed.get_backend() == "gloo" else device()
    flat = init_device_mesh(place.type, (n,))
    grid = init_device_mesh(place.type, (nodes, n // nodes), mesh_dim_names=("node", "rank"))
    ways = {
        "true": (flat, True, True),
        "false": (flat, False, True),
        "mesh": (grid, True, True),
        "root": (flat, True, False),
    }
    seen, local, calls, errors = {}, {}, {}, []
    for name, (mesh, reshard, each_layer) in ways.items():
        ours = shard(deepcopy(model).to(place), mesh, reshard, each_layer)
        calls[name], seen[name] = step(ours, batch[rank()].to(place))
        weights: Any = [*ours.parameters()]  # DTensors by now
        local[name] = sum(weight.to_local().nbytes for weight in weights)
        row = torch.cat([weight.grad.full_tensor().flatten() for weight in weights])
        errors.append(max_error(row, truth))
        check(f"{name}: gradients equal one process", errors[-1], "<", 1e-12)
        check(f"{name}: sharded after backward", seen[name]["after"], "==", 0)
    whole = sum(weight.nbytes for weight in model.parameters())
    check("true: a layer at a time", seen["true"]["peak"], "==", whole // layers)
    check("false: all layers wait for backward", seen["false"]["between"], "==", whole)
    often = layers * (n > 1)
    check("true: a gather for each pass", calls["true"]["allgather_base"], "==", 2 * often)
    check("false: a gather for both", calls["false"]["allgather_base"], "==", often)
    check("mesh: sharded in a node", local["mesh"], "==", rows_of(model, n // nodes))
    check("mesh: summed over nodes", calls["mesh"]["allreduce"], "==", layers)
    return {
        "whole_bytes": shared(counted(whole)),
        **{f"local_{name}": counted(local[name]) for name in ("true", "mesh", "root")},
        "between_true": counted(seen["true"]["between"]),
        "between_false": counted(seen["false"]["between"]),
        "after_false": counted(seen["false"]["after"]),
        "peak_true": counted(seen["true"]["peak"]),
        "peak_root": counted(seen["root"]["peak"]),
        "gathers_true": counted(calls["true"]["allgather_base"]),
        "gathers_false": counted(calls["false"]["allgather_base"]),
        "gathers_root": counted(calls["root"]["allgather_base"]),
        "scatters_true": counted(calls["true"]["reduce_scatter_base"]),
        "all_reduces_true": counted(calls["true"]["allreduce"]),
        "all_reduces_mesh": counted(calls["mesh"]["allreduce"]),
        "gradient_error": compared(max(errors)),
    }


def rows_of(model, ranks_of_one):
    """Bytes of the rows that this rank has if so many share a copy: the last may have fewer."""
    place = rank() % ranks_of_one
    mine = [weight.chunk(ranks_of_one)[place:][:1] for weight in model.parameters()]
    return sum(piece.nbytes for pieces in mine for piece in pieces)


BREAKS = {
    "root-only": Break(
        old="(*model, model) if layers else (model,)",
        new="(model,)",
        expect="true: a layer at a time",
        source="github.com/allenai/allennlp/issues/5614: only the whole model wrapped, one unit",
        ranks=1,
    ),
    "mesh-turned": Break(
        old="(nodes, n // nodes), mesh",
        new="(n // nodes, nodes), mesh",
        expect="mesh: sharded in a node",
        source="a mesh with its dimensions mixed up: the first replicates, the second shards",
    ),
    "keeps-its-weights": Break(
        old="reshard_after_forward=reshard)",
        new="reshard_after_forward=False)",
        expect="true: a gather for each pass",
        source="github.com/pytorch/pytorch/issues/131965: weights still whole after forward",
    ),
}

if __name__ == "__main__":
    run(__file__)
