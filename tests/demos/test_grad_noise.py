"""What sets gradient noise, what two norms tell of it, and how large SGD's cloud becomes."""

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (1, {"microbatches": 5}),
        (2, {"microbatches": 1, "rows": 3}),
        (3, {"microbatches": 2, "width": 5, "slope": 0.5}),
        (4, {"microbatches": 1, "rows": 1, "width": 20}),
        (8, {"microbatches": 1, "rows": 1, "steps": 3, "slope": 40.0}),
    ],
)
def test_noise_is_the_trace_over_the_samples(run: Run, ranks: int, args: dict[str, float]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    width, rows = args.get("width", 8), args.get("rows", 2)
    batch = rows * args["microbatches"] * ranks
    assert measured["batch"] == batch
    assert measured["step_grad_error"] < 1e-12
    assert measured["noise_micro"] == pytest.approx(width / rows, rel=0.06)
    assert measured["noise_rank"] == pytest.approx(width / rows / args["microbatches"], rel=0.06)
    # However the batch was cut: it could as well have been one process.
    assert measured["noise_step"] == pytest.approx(width / batch, rel=0.06)
    assert measured["noise_one"] == pytest.approx(width / batch, rel=0.06)


def test_more_ranks_with_the_same_rows_each_are_less_noisy(run: Run) -> None:
    noise = {ranks: run(ranks, steps=1)["metrics"]["noise_step"] for ranks in (1, 2, 4)}
    for ranks in (1, 2):
        assert noise[ranks] / noise[2 * ranks] == pytest.approx(2, rel=0.06)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_the_same_batch_is_as_noisy_on_any_number_of_ranks(run: Run, ranks: int) -> None:
    measured = run(ranks, rows=1, microbatches=8 // ranks, steps=1)["metrics"]
    assert measured["batch"] == 8
    assert measured["noise_step"] == pytest.approx(1, rel=0.06)


@pytest.mark.parametrize(("ranks", "width", "slope"), [(4, 8, 2.0), (4, 4, 2.0), (3, 16, 5.0)])
def test_two_norms_give_the_noise_scale(run: Run, ranks: int, width: int, slope: float) -> None:
    measured = run(ranks, microbatches=1, width=width, slope=slope, steps=1)["metrics"]
    assert measured["noise_scale"] == pytest.approx(width / slope, rel=0.06)
    assert measured["small_square"] == pytest.approx(slope + width / 2, rel=0.06)
    assert measured["big_square"] == pytest.approx(slope + width / 2 / ranks, rel=0.06)
    # One more number for every gradient of `width` numbers (a ring's chunks may be uneven).
    for gradients, norms in zip(measured["sent_gradients"], measured["sent_norms"], strict=True):
        assert gradients / norms == pytest.approx(width, rel=0.01)


def test_lr_times_n_keeps_the_cloud_and_its_root_does_not(run: Run) -> None:
    measured = run(4, rate=0.02, steps=120)["metrics"]
    one = measured["cloud_one"]
    assert measured["cloud_same"] / one == pytest.approx(1 / 4, rel=0.15)
    assert measured["cloud_root"] / one == pytest.approx(1 / 2, rel=0.15)
    assert measured["cloud_linear"] / one == pytest.approx(1, rel=0.15)


def test_ranks_that_draw_alike_are_one_rank(run: Run) -> None:
    report = run(4, "same-samples")
    measured = report["metrics"]
    # The mean over ranks is right as a mean: no comparison of gradients finds this.
    assert "a step's gradient equals one process" not in failed(report)
    assert measured["noise_step"] == measured["noise_rank"]
    assert measured["noise_step"] == pytest.approx(4 * measured["noise_one"], rel=0.1)


@pytest.mark.parametrize(
    ("ranks", "args", "says"),
    [
        (1, {"microbatches": 1}, "take 2 ranks or 2 microbatches"),
        (2, {"rate": 0.6}, "rate above 0 and up to 0.5"),
        (2, {"slope": 0.0}, "slope lies above 0"),
        (2, {"runs": 10}, "runs at 1000"),
        (2, {"width": 10_000}, "20 million draws"),
    ],
)
def test_what_tells_nothing_is_refused(
    run: Run, ranks: int, args: dict[str, float], says: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
