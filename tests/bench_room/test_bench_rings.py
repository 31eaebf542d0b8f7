"""The bench's ready-made rings: what they give and what they count."""

import pytest

from .conftest import Warm

pytestmark = pytest.mark.demo

RINGS = '''
import torch
from _bench import all_gather, check, compared, counted, everyone, rank, ranks, run
from _bench import ring_gather, ring_scatter_sum, ring_sum, shared, shift, wire


def main(rows: int = 0, half: bool = False):
    """Every ring against the same thing done with torch's own collectives."""
    me, n = rank(), ranks()
    group = None
    if half:  # even and odd ranks, each in a ring of their own that runs backwards
        group = [r for r in reversed(range(n)) if r % 2 == me % 2]
    members = group or list(range(n))
    torch.manual_seed(me)
    part = torch.randn(rows or 2 * len(members), 3 * len(members), dtype=torch.float64)
    all_parts = [all_gather(part)[r] for r in members]
    total, place = torch.stack(all_parts).sum(0), members.index(me)
    counts = {}

    def held(name, ours, reference):
        check(name, (ours - reference).abs().max().item() if ours.numel() else 0.0, "<", 1e-12)
        check(name + " shape", ours.shape == reference.shape, "==", True)

    def watched(name, call):
        with wire() as sent:
            result = call()
        counts[name] = counted(sent.sent_bytes)
        counts[name + "_messages"] = counted(sent.sent_messages)
        return result

    held("shift", watched("shift", lambda: shift(part, group)), all_parts[place - 1])
    held("gather", watched("gather", lambda: ring_gather(part, group=group)),
         torch.cat(all_parts))
    held("columns", ring_gather(part, -1, group), torch.cat(all_parts, 1))
    held("sum", watched("sum", lambda: ring_sum(part, group)), total)
    held("largest", ring_sum(part, group, torch.maximum), torch.stack(all_parts).amax(0))
    held("shard of columns", ring_scatter_sum(part, 1, group),
         total.chunk(len(members), 1)[place])
    if not rows:
        shard = watched("scatter_sum", lambda: ring_scatter_sum(part, group=group))
        held("shard", shard, total.chunk(len(members))[place])
        shard.zero_()
        check("the part is left as it was", (part != 0).all().item(), "==", True)
    bits = all_gather(ring_sum(part, group))
    check("same bits", all(torch.equal(bits[r], bits[members[0]]) for r in members), "==", True)
    return counts


if __name__ == "__main__":
    run(__file__)
'''

REFUSED = '''
import torch
from _bench import check, rank, ranks, ring_scatter_sum, run, shift


def main(outside: bool = False):
    """What cannot be done is said on the rank that asked for it."""
    if outside:
        shift(torch.ones(1), [0])
    ring_scatter_sum(torch.ones(ranks() + 1, 2))


if __name__ == "__main__":
    run(__file__)
'''


@pytest.mark.parametrize(("ranks", "half"), [(1, False), (2, False), (3, False), (4, True)])
def test_rings_agree_with_the_collectives(warm: Warm, ranks: int, half: bool):
    warm.programs.write("rings", RINGS)
    report = warm.run("rings", ranks, args={"half": half})
    assert report["verdict"] == "pass", report
    n = ranks // 2 if half else ranks
    whole = 2 * n * 3 * n * 8
    metrics = report["metrics"]
    assert metrics["shift"] == [whole if n > 1 else 0] * ranks
    assert metrics["gather"] == [(n - 1) * whole] * ranks
    assert metrics["scatter_sum"] == [(n - 1) * whole // n] * ranks
    assert metrics["sum"] == [2 * (n - 1) * whole // n] * ranks
    assert metrics["sum_messages"] == [2 * (n - 1)] * ranks


def test_a_sum_of_any_length(warm: Warm):
    warm.programs.write("rings", RINGS)
    assert warm.run("rings", 3, args={"rows": 1})["verdict"] == "pass"


@pytest.mark.parametrize(
    ("outside", "said"),
    [(False, "3 rows cannot be cut into 2 equal shards"), (True, "rank 1 is not in the ring")],
)
def test_what_a_ring_cannot_do(warm: Warm, outside: bool, said: str):
    warm.programs.write("refused", REFUSED)
    report = warm.run("refused", 2, args={"outside": outside})
    assert report["outcome"] == "crashed"
    assert said in report["error"]["message"]
