"""What autocast changes: dtypes as torch's, gradients to the bit, bytes of what is kept."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("amp")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    "args",
    [{}, {"layers": 1}, {"tokens": 1, "width": 5, "layers": 3}, {"tokens": 256, "width": 16}],
)
def test_it_is_torchs_autocast(run: Run, args: dict[str, int]) -> None:
    report = run(1, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["grad_error"] == 0
    assert measured["refused"] == 1


@pytest.mark.parametrize(("tokens", "width"), [(64, 32), (512, 32), (16, 64), (7, 24)])
def test_states_stay_copies_come_and_what_is_kept_shrinks(
    run: Run, tokens: int, width: int
) -> None:
    measured = run(1, tokens=tokens, width=width)["metrics"]
    parameters = 13 * width**2 + 10 * width
    assert measured["states_bytes"] == measured["states_bytes_fp32"] == 16 * parameters
    assert measured["states_bytes_pure"] == 8 * parameters
    assert measured["copy_bytes"] == 2 * parameters
    kept = [measured[f"kept_bytes{end}"] for end in ("_fp32", "", "_pure")]
    assert kept[0] == 2 * kept[2]
    assert kept[1] > kept[2]
    assert 0 < measured["kept_wide_bytes"] < kept[1] < 0.65 * kept[0]


def test_every_bug_shows(run: Run) -> None:
    for name, planted in DEMO.breaks.items():
        assert planted.expect in failed(run(1, name))


@pytest.mark.parametrize("args", [{"tokens": 0}, {"width": 300}, {"layers": 9}])
def test_what_cannot_be_is_refused(run: Run, args: dict[str, int]) -> None:
    assert run(1, **args)["outcome"] == "refused"
