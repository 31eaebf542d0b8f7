"""DataParallel by hand against one process and DDP: who copies what, and what device 0 bears."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("data-parallel")

pytestmark = pytest.mark.demo


def pieces(batch: int, devices: int) -> list[int]:
    """Rows of each device, as `chunk` gives them out."""
    size = -(-batch // devices)
    return [max(0, min(size, batch - place * size)) for place in range(devices)]


@pytest.mark.parametrize(
    ("ranks", "batch", "layers", "width"),
    [(1, 5, 1, 3), (2, 13, 2, 16), (3, 7, 4, 5), (4, 2, 1, 8), (4, 24, 3, 1), (5, 12, 2, 4)],
)
def test_it_is_right_and_device_0_is_an_end_of_everything(
    run: Run, ranks: int, batch: int, layers: int, width: int
) -> None:
    report = run(ranks, batch=batch, layers=layers, width=width, steps=3)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    held, psi, row = pieces(batch, ranks), 8 * layers * (width + 1) * width, 8 * width
    used = sum(rows > 0 for rows in held)
    assert measured["rows"] == held
    assert measured["model_bytes"] == psi
    assert measured["grad_scale"] == pytest.approx(1)
    assert measured["weight_copies"] == used - 1
    assert measured["threads"] == used

    away = batch - held[0]
    inputs = outputs = row * away
    sent = [(used - 1) * psi + inputs + outputs]  # weights, inputs, gradients of outputs
    got = [(used - 1) * psi + outputs]  # gradients of weights, outputs
    sent += [(psi + row * rows) * (rows > 0) for rows in held[1:]]
    got += [(psi + 2 * row * rows) * (rows > 0) for rows in held[1:]]
    assert measured["sent_bytes_dp"] == sent
    assert measured["received_bytes_dp"] == got
    assert measured["output_bytes"] == [row * (held[0] + batch), *(row * own for own in held[1:])]

    assert measured["calls_dp"] == [used * layers] + [0] * (ranks - 1)
    assert measured["calls_ddp"] == [layers] * ranks


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_as_many_bytes_as_rings_on_other_shoulders(run: Run, ranks: int) -> None:
    measured = run(ranks, batch=24, width=24)["metrics"]
    psi = measured["model_bytes"]
    assert sum(measured["weight_bytes_dp"]) == sum(measured["sent_bytes_ring"])
    assert measured["weight_bytes_dp"] == [(ranks - 1) * psi] + [psi] * (ranks - 1)
    assert measured["sent_bytes_ring"] == [2 * (ranks - 1) * psi // ranks] * ranks


def test_what_a_break_leaves_right(run: Run) -> None:
    # Pieces of one size hide that means are averaged.
    assert run(2, "loss-on-each-device", batch=12)["verdict"] == "pass"
    # The first forward knows nothing of a copy that is never renewed.
    assert "outputs equal one process" not in failed(run(2, "copied-once", steps=1))
    # DDP is not touched by any of them.
    for name in DEMO.breaks:
        assert "DDP's gradients equal one process" not in failed(run(2, name))


def test_the_deepest_and_longest_it_allows_stays_exact(run: Run) -> None:
    for sizes in ({"batch": 3, "width": 2}, {"batch": 5, "width": 60}):
        assert run(2, layers=8, steps=5, **sizes)["verdict"] == "pass", sizes


@pytest.mark.parametrize("wrong", [{"batch": 0}, {"layers": 9}, {"width": 0}, {"steps": 6}])
def test_what_cannot_be_run_is_refused(run: Run, wrong: dict[str, int]) -> None:
    report = run(2, **wrong)
    assert report["outcome"] == "refused"
    assert "start at 1" in report["error"]["message"]
