"""Which tokens a rank holds: exact however they are dealt, and even only where they should be."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed
from .ranks import on_ranks

DEMO = find("cp-layouts")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
def test_one_document_is_even_unless_it_is_cut_in_a_row(run: Run, ranks: int) -> None:
    seq = 144
    report = run(ranks, seq=seq, documents="1", heads=3, dim=5)
    assert report["verdict"] == "pass", report["checks"]
    measured, n = report["metrics"], seq // ranks
    assert measured["visible_pairs"] == seq * (seq + 1) // 2

    contiguous = [rank * n * n + n * (n + 1) // 2 for rank in range(ranks)]
    assert measured["work_contiguous"] == contiguous
    assert measured["work_zigzag"] == measured["work_per_document"]
    assert measured["work_zigzag"] == [seq * (seq + 1) // 2 // ranks] * ranks
    # A striped rank sees one key more with each token, and stands one later than the rank before.
    striped = [ranks * n * (n - 1) // 2 + n * (rank + 1) for rank in range(ranks)]
    assert measured["work_striped"] == striped
    lopsided = (2 * seq - n + 1) / (seq + 1)
    # The last rank has something to do at every step: waiting for the slowest costs nothing more.
    for name in ("imbalance", "lockstep"):
        assert measured[f"{name}_contiguous"] == pytest.approx(lopsided, rel=1e-12)
    assert measured["lockstep_zigzag"] == 1
    mean = seq * (seq + 1) / 2 / ranks / n**2
    assert measured["makespan_zigzag"] == pytest.approx(mean, abs=1e-8)
    assert measured["makespan_contiguous"] == pytest.approx(lopsided * mean, abs=1e-8)


@pytest.mark.parametrize(("ranks", "documents", "tilt"), [(4, "4,1,1,1,1", 1.6), (3, "1,4", 1.17)])
def test_packed_documents_tilt_zigzag_and_not_what_cuts_each_of_them(
    run: Run, ranks: int, documents: str, tilt: float
) -> None:
    report = run(ranks, documents=documents, seq={4: 384, 3: 240}[ranks])
    assert report["verdict"] == "pass"
    measured = report["metrics"]
    assert measured["imbalance_zigzag"] == pytest.approx(tilt, abs=0.01)
    assert measured["imbalance_per_document"] == measured["lockstep_per_document"] == 1
    assert measured["imbalance_striped"] < 1.05
    shares = [int(share) for share in documents.split(",")]
    lengths = [report["args"]["seq"] * share // sum(shares) for share in shares]
    assert measured["visible_pairs"] == sum(n * (n + 1) // 2 for n in lengths)


def test_even_in_the_end_is_not_even_at_every_step(run: Run) -> None:
    measured = run(4, documents="1,1,1,1")["metrics"]
    # Documents of one length: mirror images have the same to do, yet not at the same time.
    assert measured["imbalance_zigzag"] == 1
    assert measured["lockstep_zigzag"] == pytest.approx(1.5, rel=0.01)
    assert measured["makespan_zigzag"] > 1.45 * measured["makespan_per_document"]
    # Here every rank has a document of its own and needs nobody.
    assert measured["lockstep_contiguous"] == 1


def test_a_ring_that_waits_for_its_block_only_may_beat_lockstep(run: Run) -> None:
    measured = run(3)["metrics"]
    assert measured["lockstep_contiguous"] > measured["imbalance_contiguous"] + 0.4
    mean = sum(measured["work_contiguous"]) / 3 / 128**2
    assert measured["makespan_contiguous"] == pytest.approx(
        measured["imbalance_contiguous"] * mean, abs=1e-8
    )


@pytest.mark.parametrize("tile", [4, 12])
def test_whole_tiles_cost_striped_most(run: Run, tile: int) -> None:
    ranks, seq = 4, 192
    measured = run(ranks, seq=seq, documents="1", tile=tile)["metrics"]
    m = seq // ranks // tile  # tiles along one side of a block
    assert measured["work_striped"] == [ranks * m * (m + 1) // 2 * tile**2] * ranks
    assert measured["work_zigzag"] == [(ranks * m * m // 2 + m // 2) * tile**2] * ranks
    assert measured["lockstep_striped"] == measured["lockstep_zigzag"] == 1
    assert measured["makespan_striped"] > measured["makespan_zigzag"]


def test_what_a_break_leaves_right(run: Run) -> None:
    # As many pairs as ever, but not those: only the numbers tell.
    red = failed(run(4, "striped-as-contiguous"))
    assert red
    assert all(name.startswith("striped: output") for name in red)
    # Right, and slow.
    assert failed(run(4, "not-mirrored")) == [DEMO.breaks["not-mirrored"].expect]
    # One document has nothing to leak into.
    assert run(4, "leak-between-blocks", documents="1")["verdict"] == "pass"


@pytest.mark.parametrize(
    ("ranks", "args", "said"),
    [
        (3, {"seq": 100}, "96 or 120"),
        (4, {"seq": 100, "documents": "1", "tile": 4}, "96 or 128"),
        (2, {"documents": "2,,1"}, "1 or 2,1,1"),
        (2, {"documents": "0"}, "1 or 2,1,1"),
        (2, {"tile": 0}, "1 or 2,1,1"),
    ],
)
def test_what_cannot_be_dealt_out_is_refused(
    run: Run, ranks: int, args: dict[str, Any], said: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert report["error"]["message"].endswith(said)


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]


def test_a_timeline_for_each_layout(run: Run) -> None:
    events = [e for e in run(3)["timeline"]["events"] if e["rank"] == 1]
    schedules = [*dict.fromkeys(e["schedule"] for e in events)]
    assert schedules == ["contiguous", "zigzag", "striped", "per document"]
    for schedule in schedules:
        assert [e["name"] for e in events if e["schedule"] == schedule] == ["A1", "A0", "A2"]


def layouts(kind: str) -> dict[str, float]:
    """The worst error against fp64, output and gradients, over that of torch's own attention."""
    from _bench import everyone, rank, ranks

    import torch
    from cp_layouts import LAYOUTS, deal, go_home, on_one_rank, places, ring, visible

    lengths, dtype = [72, 24, 48], getattr(torch, kind)
    torch.manual_seed(0)
    inputs = torch.randn(4, 2, sum(lengths), 8).to(dtype)
    document = torch.arange(3).repeat_interleave(torch.tensor(lengths))
    truth = on_one_rank(inputs.double(), lengths, official=False)
    usual = (on_one_rank(inputs, lengths, official=True) - truth).abs().amax((1, 2, 3)) + 1e-15
    found = {}
    for layout in LAYOUTS:
        held = deal(torch.arange(sum(lengths)), rank(), layout, lengths)
        sources = [(rank() - step) % ranks() for step in range(ranks())]
        masks = [(s, visible(held, places(s, layout, lengths), document)) for s in sources]
        q = inputs[0, :, held].requires_grad_()
        out, blocks, _ = ring(q, inputs[1:3, :, held], masks)
        dq, *dkv = torch.autograd.grad((out * inputs[3, :, held]).sum(), [q, *blocks])
        assert out.dtype == dtype
        ours = torch.stack([out.detach(), dq, *go_home(dkv).to(dtype)])
        off = (ours - truth[:, :, held]).abs().amax((1, 2, 3))
        found[layout] = everyone((off / usual).tolist()).max().item()
    return found


@pytest.mark.parametrize("kind", ["float64", "float32", "bfloat16"])
def test_no_dtype_crashes_or_is_rounded_more_than_in_torchs_attention(kind: str) -> None:
    # A ring of three: some blocks show some queries nothing, so that their lse there is -inf.
    for found in on_ranks(3, layouts, kind):
        assert max(found.values()) < (8 if kind == "float64" else 2), found
