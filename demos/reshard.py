"""A checkpoint of boxes: any layout reads its overlaps with the pieces that another layout wrote.

The trick
    A piece is a box of a whole tensor: its rows, its columns. Each rank writes its own pieces into
    its own file, and the index says of each which box it is, in which file, from which byte on. No
    degree is in it. Who reads asks for boxes of its own; what overlaps with a piece is read, row by
    row where columns are cut, and nothing else.

    What a rank holds may be several boxes in a pile: its rows of the gate on its rows of up. Its
    share of the optimizer is some rows of that pile. What several ranks hold, one of them writes.
    Rows that pad the vocabulary belong to a layout: they are neither written nor read.

    Here DP shards master weights and Adam's moments; bf16 weights are whole along it. The ranks of
    a new layout, be they more than those of this run or fewer, are played by these in turn.

Watch
    wrote_bytes (bytes)                this rank, into its file
    stored_bytes (shared, bytes)       of the whole checkpoint, index apart
    new_read_bytes (shared, bytes)     most by one rank of the new layout
    new_total_bytes (shared, bytes)    read by all ranks of the new layout together
    new_files (shared, count)          files that one rank of the new layout reads from at most
    new_reads (shared, count)          reads by one rank of it at most, each of bytes in a row
    half_read_bytes (shared, bytes)    most by one of half as many ranks, TP 1
    one_read_bytes (shared, bytes)     by one rank that takes all
    weights_read_bytes (shared, bytes) most by one rank of the new layout that takes weights alone
    restored_apart (shared, elements)  of all tensors in all layouts that are not what was saved
    resumed_apart (shared, elements)   in the layout that wrote them, read back
    torch_apart (shared, elements)     between torch.distributed.checkpoint in another layout and us

Run
    quizkit demo reshard --gpus 4
    python demos/reshard.py --ranks 4 --to-ranks 6 --to-tp 2
"""

import json
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from _bench import Break, Metrics, barrier, broadcast, check, counted, picture, refuse, run, shared
from _bench import device, everyone, rank, ranks

import torch

TOPIC = "fault"


class Box(NamedTuple):
    """Rows and columns of a whole tensor."""

    top: int
    bottom: int
    left: int
    right: int


class Layout(NamedTuple):
    """How ranks share the model: rank = dp index * tp + tp index."""

    tp: int
    dp: int = 1


def overlap(a, b):
    """What two boxes have in common, or None."""
    rows = max(a.top, b.top), min(a.bottom, b.bottom)
    columns = max(a.left, b.left), min(a.right, b.right)
    return Box(*rows, *columns) if rows[0] < rows[1] and columns[0] < columns[1] else None


def pile(name, shape, tp, t):
    """The boxes that a TP rank holds of a tensor, from the top."""
    (rows, columns), kind = shape, name.split(".")[-1]
    if kind == "norm":
        return [Box(0, rows, 0, columns)]
    if kind in ("out", "down"):
        wide = columns // tp
        return [Box(0, rows, t * wide, (t + 1) * wide)]
    if kind == "gate_up":  # the same rows of either half
        half, high = rows // 2, rows // 2 // tp
        return [Box(top, top + high, 0, columns) for top in (t * high, half + t * high)]
    high = padded(rows, tp) // tp if kind == "table" else rows // tp
    return [Box(t * high, (t + 1) * high, 0, columns)]


def padded(vocab, tp):
    """Rows of a table in this layout: as many on each TP rank, a multiple of 8."""
    return -(-vocab // (8 * tp)) * 8 * tp


def some_rows(boxes, first, last):
    """Rows of a pile, counted from its top."""
    for box in boxes:
        high = box.bottom - box.top
        top, bottom = max(first, 0), min(last, high)
        if top < bottom:
            yield box._replace(top=box.top + top, bottom=box.top + bottom)
        first, last = first - high, last - high


def wanted(key, shape, layout, number):
    """A rank's boxes: weights as TP cuts them; master weights and moments cut by DP as well."""
    (name, state), (d, t) = key.split("/"), divmod(number, layout.tp)
    boxes = pile(name, shape, layout.tp, t)
    if state != "weight":
        high = sum(box.bottom - box.top for box in boxes)
        boxes = some_rows(boxes, d * high // layout.dp, (d + 1) * high // layout.dp)
    real = Box(0, shape[0], 0, shape[1])  # rows beyond are padding
    return [both for box in boxes if (both := overlap(box, real))]


def writes(place, key, layout, number):
    """Of several ranks that hold the same, one writes; for the next tensor another one."""
    d, t = divmod(number, layout.tp)
    turn = not key.endswith("/weight") or place % layout.dp == d
    return turn and ("norm" not in key or place % layout.tp == t)


def save(folder, mine, shapes, layout):
    """Each rank writes a file; then rank 0 the index, without which there is no checkpoint."""
    entries = []
    with (folder / f"{rank()}.bin").open("wb") as file:
        for place, (key, tensor) in enumerate(mine.items()):
            if writes(place, key, layout, rank()):
                at = 0
                for box in wanted(key, shapes[key], layout, rank()):
                    entries.append([key, box, rank(), file.tell()])
                    file.write(as_bytes(tensor[at : at + box.bottom - box.top]))
                    at += box.bottom - box.top
        wrote = file.tell()
    (folder / f"{rank()}.json").write_text(json.dumps(entries))
    barrier()
    if rank() == 0:
        index = {key: {"shape": shape, "pieces": []} for key, shape in shapes.items()}
        for number in range(ranks()):
            for key, *piece in json.loads((folder / f"{number}.json").read_text()):
                index[key]["pieces"].append(piece)
        (folder / "index.json").write_text(json.dumps(index))
    barrier()
    return wrote


def load(disk, saved, boxes, dtype):
    """A pile of boxes, each put together from its overlaps with the pieces that were saved."""
    parts = []
    for want in boxes:
        parts.append(torch.zeros(want.bottom - want.top, want.right - want.left, dtype=dtype))
        for piece, number, start in saved["pieces"]:
            if both := overlap(have := Box(*piece), want):
                found = cut_out(disk, number, start, have, both, dtype)
                part(parts[-1], both, want).copy_(found)
    return torch.cat(parts) if parts else torch.zeros(0, saved["shape"][1], dtype=dtype)


def cut_out(disk, number, start, piece, both, dtype):
    """A part of a piece: whole rows lie one after another, parts of rows are read one by one."""
    pitch, wide = ((box.right - box.left) * dtype.itemsize for box in (piece, both))
    start += (both.top - piece.top) * pitch + (both.left - piece.left) * dtype.itemsize
    high = both.bottom - both.top
    if wide == pitch:
        data = disk.read(number, start, high * pitch)
    else:
        lines = range(start, start + high * pitch, pitch)
        data = b"".join(disk.read(number, line, wide) for line in lines)
    return torch.frombuffer(bytearray(data), dtype=dtype).view(high, -1)


def main(
    tp: int = 0,  # TP degree of those that write, the rest is DP; 0: 2 if ranks are even, else 1
    to_ranks: int = 0,  # ranks of the new layout; 0: twice as many
    to_tp: int = 0,  # its TP degree; 0: twice as high, if that divides its ranks
    layers: int = 2,  # of the model
    heads: int = 16,  # query heads, of width 4, two to a KV head; any TP degree divides the latter
    hidden: int = 24,  # width of the model
    ffn: int = 48,  # width of the gate, and of up; any TP degree divides it
    vocab: int = 50,  # tokens there are; a table is padded to a multiple of 8 x TP rows
) -> Metrics:
    """Save with the ranks of this run; load in other layouts, by one rank after another."""
    n = ranks()
    if min(layers, heads, hidden, ffn, vocab) < 1 or min(tp, to_ranks, to_tp) < 0:
        refuse("all sizes start at 1; tp, to-ranks and to-tp at 0")
    tp, to_ranks = tp or 2 - n % 2, to_ranks or 2 * n
    to_tp = to_tp or (2 * tp if to_ranks % (2 * tp) == 0 else 1)
    for degree, total in (tp, n), (to_tp, to_ranks):
        if total % degree or heads % (2 * degree) or ffn % degree:
            refuse(f"tp {degree} has to divide {total} ranks, heads / 2 and ffn: take 1")
    layouts = {
        "same": Layout(tp, n // tp),
        "new": Layout(to_tp, to_ranks // to_tp),
        "weights": Layout(to_tp, to_ranks // to_tp),
        "half": Layout(1, max(1, n // 2)),
        "one": Layout(1),
    }
    whole = states(layers, heads, hidden, ffn, vocab)
    shapes = {key: tuple(tensor.shape) for key, tensor in whole.items()}
    mine = {key: held(key, tensor, layouts["same"], rank()) for key, tensor in whole.items()}

    folder = shared_folder()
    try:
        wrote = save(folder, mine, shapes, layouts["same"])
        stored = sum(path.stat().st_size for path in folder.glob("*.bin"))
        index = json.loads((folder / "index.json").read_text())
        disks, apart, own = {}, Counter(), 0
        for name, layout in layouts.items():
            disks[name] = [Disk(folder)]  # a rank may have none to play
            for number in range(rank(), layout.tp * layout.dp, n):
                disks[name].append(disk := Disk(folder, number))
                for key, saved in index.items():
                    if name == "weights" and not key.endswith("/weight"):
                        continue
                    boxes = wanted(key, saved["shape"], layout, number)
                    tensor = load(disk, saved, boxes, whole[key].dtype)
                    apart[name] += differ(tensor, held(key, whole[key], layout, number))
                    own += tensor.nbytes if name == "new" else 0
        apart["torch"] = with_torch(folder / "torch", whole)
        barrier()
    finally:
        if rank() == 0:
            shutil.rmtree(folder, ignore_errors=True)

    same, torchs = (int(everyone(apart[name]).sum()) for name in ("same", "torch"))
    restored = int(everyone(sum(apart.values()) - apart["torch"]).sum())
    read = {name: int(everyone(max(d.total for d in disks[name])).max()) for name in layouts}
    taken = sum(disk.total for disk in disks["new"])
    check("the layout that wrote reads it back", same, "==", 0)
    check("every layout restores what was saved", restored, "==", 0)
    check("torch's own checkpoint restores the same", torchs, "==", 0)
    check("a rank reads the bytes it holds", taken, "==", own)
    check("all is written, and once", stored, "==", sum(t.nbytes for t in whole.values()))
    row = [sum(disk.of_file[number] for disk in disks["new"]) for number in range(n)]
    picture("messages", "the new layout: read from each rank's file", row=row)
    names = "new", "half", "one", "weights"
    return {
        "wrote_bytes": counted(wrote),
        "stored_bytes": shared(counted(stored)),
        **{f"{name}_read_bytes": shared(counted(read[name])) for name in names},
        "new_total_bytes": shared(counted(int(everyone(taken).sum()))),
        "new_files": shared(counted(highest(len(disk.of_file) for disk in disks["new"]))),
        "new_reads": shared(counted(highest(disk.reads for disk in disks["new"]))),
        "restored_apart": shared(counted(restored)),
        "resumed_apart": shared(counted(same)),
        "torch_apart": shared(counted(torchs)),
    }


class Disk:
    """Reads parts of files, and counts what was read."""

    def __init__(self, folder, reader=0):
        self.folder, self.reader, self.reads, self.of_file = folder, reader, 0, Counter()

    def read(self, number, start, length):
        """So many bytes of a rank's file."""
        self.reads += 1
        self.of_file[number] += length
        with (self.folder / f"{number}.bin").open("rb", buffering=0) as file:
            file.seek(start)
            return file.read(length)

    @property
    def total(self):
        """Bytes read from all files."""
        return self.of_file.total()


def highest(values):
    """The largest one on any rank."""
    return int(everyone(max(values)).max())


def part(tensor, box, inside=None):
    """A box of a whole tensor; or of a part of it, of which it is known which box that is."""
    down, across = (inside.top, inside.left) if inside else (0, 0)
    rows = slice(box.top - down, box.bottom - down)
    return tensor[rows, box.left - across : box.right - across]


def as_bytes(tensor):
    """The numbers, row by row, as they go into a file."""
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


def differ(tensor, like):
    """Elements with other bits, all of them where shapes differ; rows of padding do not count."""
    bits = {2: torch.int16, 4: torch.int32}[like.dtype.itemsize]
    like = like[~like.isnan().any(1)]
    if tensor.shape != like.shape:
        return max(tensor.numel(), like.numel())
    return int((tensor.contiguous().view(bits) != like.view(bits)).sum())


def states(layers, heads, hidden, ffn, vocab):
    """The whole model: weights in bf16; master weights and Adam's moments in fp32."""
    shapes = {"embed.table": (vocab, hidden)}
    for layer in range(layers):
        shapes[f"{layer}.attention.norm"] = shapes[f"{layer}.mlp.norm"] = hidden, 1
        shapes[f"{layer}.qkv"] = 2 * heads * 4, hidden  # [q q k v] of each KV head
        shapes[f"{layer}.out"] = hidden, heads * 4
        shapes[f"{layer}.gate_up"] = 2 * ffn, hidden
        shapes[f"{layer}.down"] = hidden, ffn
    shapes["norm"], shapes["head.table"] = (hidden, 1), (vocab, hidden)
    whole = {}
    for name, shape in shapes.items():
        master, mean, square = torch.randn(3, *shape)
        whole[f"{name}/weight"], whole[f"{name}/master"] = master.bfloat16(), master
        whole[f"{name}/mean"], whole[f"{name}/square"] = mean, square**2
    return whole


def held(key, tensor, layout, number):
    """What this rank of a layout has in memory, as training code cuts it; tables padded."""
    (name, state), (d, t) = key.split("/"), divmod(number, layout.tp)
    kind = name.split(".")[-1]
    if kind == "table":
        more = padded(len(tensor), layout.tp) - len(tensor)
        tensor = torch.cat([tensor, tensor.new_full((more, tensor.shape[1]), torch.nan)])
    if kind == "gate_up":
        mine = torch.cat([half.chunk(layout.tp)[t] for half in tensor.chunk(2)])
    elif kind in ("down", "out"):
        mine = tensor.chunk(layout.tp, 1)[t]
    else:
        mine = tensor if kind == "norm" else tensor.chunk(layout.tp)[t]
    if state == "weight":
        return mine
    return mine[d * len(mine) // layout.dp : (d + 1) * len(mine) // layout.dp]


def with_torch(folder, whole):
    """Two tensors through torch.distributed.checkpoint: saved by rows, loaded by columns."""
    from torch import _dynamo  # noqa: F401  # what follows wants it: imported before the fork
    from torch.distributed.checkpoint import _fsspec_filesystem, load, save  # noqa: F401
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard

    place = torch.device("cpu") if torch.distributed.get_backend() == "gloo" else device()
    mesh = init_device_mesh(place.type, (ranks(),))

    def local(tensor, dim):
        parts = dict(enumerate(tensor.chunk(ranks(), dim)))
        return parts.get(rank(), tensor.narrow(dim, 0, 0)).contiguous()

    def cut(tensor, dim):
        shape = {"shape": tensor.shape, "stride": tensor.stride(), "run_check": False}
        return DTensor.from_local(local(tensor, dim).to(place), mesh, [Shard(dim)], **shape)

    keys = "0.out/master", "0.qkv/mean"
    save({key: cut(whole[key], 0) for key in keys}, checkpoint_id=folder)
    found = {key: cut(0 * whole[key], 1) for key in keys}
    load(found, checkpoint_id=folder)
    return sum(differ(found[key].to_local().cpu(), local(whole[key], 1)) for key in keys)


def shared_folder():
    """A fresh folder that all ranks know; over several machines TMPDIR must be one they share."""
    name = torch.zeros(512, dtype=torch.uint8, device=device())
    if rank() == 0:
        made = tempfile.mkdtemp(prefix="reshard-").encode()
        name[: len(made)] = torch.tensor([*made], dtype=torch.uint8)
    return Path(bytes(broadcast(name, 0).tolist()).rstrip(b"\0").decode())


BREAKS = {
    "fused-as-one-block": Break(
        old='if kind == "gate_up":  # the same rows of either half',
        new='if kind == "none":',
        expect="every layout restores what was saved",
        ranks=1,
        source="NVIDIA/Megatron-LM #4841: fused rows declared as one axis-0 weight, then resharded",
    ),
    "wrong-axis": Break(
        old='if kind in ("out", "down"):',
        new='if kind == "none":',
        expect="every layout restores what was saved",
        ranks=1,
        source="merge scripts with one torch.cat(parts) for all weights, cut by rows or by columns",
    ),
    "own-file-only": Break(
        old="if both := overlap(have := Box(*piece), want):",
        new="if number == disk.reader and (both := overlap(have := Box(*piece), want)):",
        expect="every layout restores what was saved",
        ranks=1,
        source="sgl-project/sglang #36438: rank k reads shard k, at whatever degree it serves",
    ),
}

if __name__ == "__main__":
    run(__file__)
