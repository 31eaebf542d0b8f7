"""The pipeline sheet: the clock against the closed forms, and what is refused."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest

from quizkit.calc import pipeline, sheets
from quizkit.calc.figure import Value
from quizkit.calc.schedule import SCHEDULES
from quizkit.calc.sheet import CalcError

COSTS = [(1, 1, 1), (1, 1.5, 0.5), (2, 2, 1), (3, 1, 2), (1, 3, 2), (1, 2, 3), (0.1, 0.1, 0.1)]
SIZES = [(p, m) for p in (1, 2, 3, 4, 6, 8) for m in (1, 2, 3, 4, 6, 7, 8, 12, 15, 16, 17, 24)]


def work(stages: int, microbatches: int, **inputs: Value) -> Mapping[str, Value]:
    return pipeline.SHEET.work({"stages": stages, "microbatches": microbatches, **inputs}).figures


def costs(forward: float, backward_input: float, backward_weight: float) -> dict[str, Value]:
    return {
        "forward": forward,
        "backward_input": backward_input,
        "backward_weight": backward_weight,
    }


def exists(schedule: str, stages: int, microbatches: int) -> bool:
    """The sizes for which a schedule is defined at all."""
    if schedule == "interleaved":
        return microbatches % stages == 0
    if schedule == "dualpipe":
        return stages % 2 == 0 and microbatches % 2 == 0 and microbatches >= 2 * stages
    return schedule != "dualpipe-v" or microbatches >= 2 * stages


# The conditions under which theory speaks, written down a second time.
FITS = {
    "gpipe": lambda p, m, f, i, w: True,
    "1f1b": lambda p, m, f, i, w: True,
    "interleaved": lambda p, m, f, i, w: True,
    "zb-h1": lambda p, m, f, i, w: m >= p and f >= w and i >= w,
    "zb-h2": lambda p, m, f, i, w: m >= 2 * p - 1 and f >= w and i >= w,
    "zb-v": lambda p, m, f, i, w: m >= 2 * p - 1 and f == i == w,
    "v-half": lambda p, m, f, i, w: m > p and f == i == w,
    "v-min": lambda p, m, f, i, w: m >= p and f == i == w,
    "dualpipe": lambda p, m, f, i, w: f == i >= w,
    "dualpipe-v": lambda p, m, f, i, w: f == i >= w,
}
CASES = [(name, v) for name in FITS for v in ((1, 2, 3, 4) if name == "interleaved" else (0,))]


@pytest.mark.parametrize(("schedule", "virtual"), CASES)
def test_formula_and_clock_agree_wherever_there_is_a_formula(schedule: str, virtual: int) -> None:
    compared = 0
    for stages, microbatches in SIZES:
        if not exists(schedule, stages, microbatches):
            continue
        for cost in COSTS:
            found = work(stages, microbatches, schedule=schedule, virtual=virtual, **costs(*cost))
            case = (stages, microbatches, cost)
            assert ("closed_form" in found) == FITS[schedule](stages, microbatches, *cost), case
            if "closed_form" in found:
                compared += 1
                for name in ("makespan", "bubble_over_ideal", "bubble_share", "peak_live"):
                    closed = found[f"closed_{name}"]
                    assert found[name] == pytest.approx(closed, rel=1e-9, abs=1e-9), (name, case)
    assert compared >= 12


@pytest.mark.parametrize(
    ("schedule", "sizes", "cost"),
    [
        ("zb-h1", (4, 3), (1, 1, 1)),  # fewer micro-batches than stages
        ("zb-h1", (4, 8), (1, 2, 2)),  # W does not fit beside F
        ("zb-h1", (4, 8), (2, 1, 2)),  # W does not fit beside B
        ("zb-h2", (4, 6), (3, 3, 1)),
        ("zb-h2", (4, 8), (1, 3, 2)),
        ("zb-v", (4, 2), (1, 1, 1)),
        ("v-half", (4, 2), (1, 1, 1)),
        ("v-half", (4, 8), (1, 2, 1)),
        ("v-min", (3, 1), (1, 1, 1)),
        ("v-min", (4, 8), (1, 2, 1)),
        ("zb-v", (4, 8), (5, 5, 1)),
        ("dualpipe", (4, 8), (2, 1, 1)),
        ("dualpipe", (6, 12), (1, 2, 1)),
        ("dualpipe-v", (4, 8), (1, 1, 2)),
    ],
)
def test_beyond_its_conditions_a_formula_would_be_wrong(
    schedule: str, sizes: tuple[int, int], cost: tuple[int, int, int]
) -> None:
    stages, microbatches = sizes
    found = work(stages, microbatches, schedule=schedule, **costs(*cost))
    assert "closed_form" not in found
    bubble = pipeline.closed_bubble(
        {"closed_form": "", "schedule": schedule, "stages": stages, "chunks": found["chunks"]}
        | costs(*cost)
    )
    assert isinstance(bubble, (int, float))
    assert found["makespan"] != pytest.approx(microbatches * sum(cost) + bubble)


@pytest.mark.parametrize(
    ("schedule", "bubble"),
    [
        # DeepSeek-V3 technical report, table 2, for 8 devices and F = B for the input = W = 1, that
        # is F&B = 3 and B = 2: (PP - 1)(F + B), (PP - 1)(F + B - 2W), (PP/2 - 1)(F&B + B - 3W).
        ("1f1b", 7 * (1 + 2)),
        ("zb-h1", 7 * (1 + 2 - 2)),
        ("dualpipe", 3 * (3 + 2 - 3)),
    ],
)
def test_deepseeks_table(schedule: str, bubble: int) -> None:
    found = work(8, 20, schedule=schedule)
    assert found["makespan"] == 20 * 3 + bubble
    # Its column of activations: PP, PP and PP + 1.
    live = found["peak_live"]
    assert isinstance(live, list)
    assert max(live) == (9 if schedule == "dualpipe" else 8)


def test_what_the_papers_on_controlled_memory_and_zero_bubble_state() -> None:
    for stages in (2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 30):
        plain = work(stages, 64)
        peaks: list[float] = []
        bubbles: list[float] = []
        for schedule in ("v-min", "v-half", "zb-v", "zb-h2"):
            found = work(stages, 64, schedule=schedule)
            live, whole, ideal = found["peak_live_whole"], found["makespan"], found["ideal"]
            assert isinstance(live, list)
            assert isinstance(whole, (int, float))
            assert isinstance(ideal, (int, float))
            peaks.append(max(live))
            bubbles.append(whole - ideal)
        # Micro-batches of a device's whole share: (p + 4)//3, (p + 2)//2, p and 2p - 1.
        assert peaks == [(stages + 4) // 3, (stages + 2) // 2, stages, 2 * stages - 1]
        # "~ 2p/3m" and "~ p/2m" where 1F1B has "~ p/m"; exactly, 1F1B has (p - 1)(F + B + W).
        whole = 3 * (stages - 1)
        assert 3 * (stages - 1) == plain["closed_bubble"]
        assert abs(bubbles[0] - whole * 2 / 3) <= 1.5
        assert abs(bubbles[1] - whole / 2) <= 0.5
        # No gap but for the last device's late start.
        assert bubbles[2:] == [(stages - 1) / 2, stages - 1]


def test_zb_h2_waits_between_its_ends_as_the_paper_says() -> None:
    for cost in ((1, 1, 1), (2, 2, 1), (3, 1, 1), (1, 1.5, 0.5)):
        f, b, w = cost
        for stages, microbatches in ((2, 3), (3, 5), (4, 7), (4, 12), (6, 16)):
            found = work(stages, microbatches, schedule="zb-h2", **costs(*cost))
            gap = f + b - 2 * w
            assert found["idle_per_device"] == [(stages - 1 - s) * gap for s in range(stages)]


def test_both_conventions_of_the_bubble() -> None:
    # Narayanan et al. 2021, section 2.2.1: (p - 1)/m; and over the whole step (p - 1)/(m + p - 1).
    found = work(4, 8)
    assert found["bubble_over_ideal"] == 3 / 8
    assert found["bubble_share"] == pytest.approx(3 / 11, rel=1e-15)
    # Section 2.2.2: v chunks cut it to (p - 1)/(v m), and there are v times as many messages.
    two = work(4, 8, schedule="interleaved", virtual=2)
    assert two["bubble_over_ideal"] == 3 / 16
    assert (found["messages"], two["messages"]) == (2 * 8 * 3, 2 * 8 * 7)


def test_a_turn_inside_a_device_sends_nothing_and_takes_no_time() -> None:
    for schedule in ("zb-v", "v-half", "v-min", "dualpipe-v"):
        assert work(4, 8, schedule=schedule)["messages"] == 2 * 8 * 6
        assert work(1, 8, schedule=schedule, latency=5)["makespan"] == 24
    assert work(4, 8, schedule="dualpipe")["messages"] == 2 * 8 * 3


def test_latency_is_paid_per_hop_and_not_by_the_sender() -> None:
    # One micro-batch: down p - 1 hops, up p - 1 hops.
    assert work(4, 1, latency=0.5)["makespan"] == 4 * 3 + 6 * 0.5
    # GPipe's hops are hidden behind other micro-batches but for the first and the last ones.
    assert work(4, 8, schedule="gpipe", latency=0.5)["makespan"] == 33 + 6 * 0.5
    # In 1F1B neighbours wait for each other's answers all the time, and far more hops show.
    assert work(4, 8, latency=0.5)["makespan"] == 33 + 16 * 0.5
    assert work(4, 8, latency=0.5)["busy"] == [24] * 4
    assert "closed_form" not in work(4, 8, latency=0.5)
    # A hop is as long for a chunk as for a whole device; the V has 6 down and 6 up.
    one = work(4, 1, schedule="zb-v", backward_weight=0, latency=0.5)
    assert one["makespan"] == 4 * 2 + 12 * 0.5


def test_a_chunk_takes_its_part_of_a_devices_share() -> None:
    for schedule in ("1f1b", "interleaved", "zb-v", "dualpipe", "dualpipe-v"):
        assert work(4, 8, schedule=schedule)["busy"] == [24] * 4, schedule
    lengths = {
        schedule: {
            end - start
            for _, _, start, end in pipeline.events(
                pipeline.SHEET.work(
                    {"stages": 4, "microbatches": 8, "schedule": schedule, "forward": 2}
                ).inputs
            )
        }
        for schedule in ("interleaved", "dualpipe")
    }
    assert lengths == {"interleaved": {1}, "dualpipe": {1, 2}}


def test_slow_stages_work_longer_and_the_others_wait() -> None:
    found = work(4, 8, stage_times=[1, 2, 1, 1])
    assert found["busy"] == [24, 48, 24, 24]
    assert found["ideal"] == 30
    # Its first micro-batch takes 1 to come; it waits 2 for the first answer; rank 0 ends 2 later.
    assert found["makespan"] == 1 + 48 + 2 + 2
    assert work(4, 1, stage_times=[1, 2, 1, 1])["makespan"] == 3 * (1 + 2 + 1 + 1)
    assert "closed_form" not in found
    assert "closed_form" in work(4, 8, stage_times=[1, 1, 1, 1])


def test_idle_time_per_device_and_for_the_step() -> None:
    # Qi et al. 2024: zero bubble means that no device waits between its own first and last.
    found = work(4, 8, schedule="zb-v")
    assert found["idle_per_device"] == [0, 0, 0, 0]
    assert found["idle_global"] == [1.5] * 4
    assert work(4, 8, schedule="zb-h1")["idle_per_device"] == [3, 2, 1, 0]


def test_peaks_are_counted_in_chunks_and_in_whole_devices() -> None:
    found = work(4, 8, schedule="interleaved", virtual=4)
    assert found["peak_live"] == [19, 17, 15, 13]
    assert found["peak_live_whole"] == [4.75, 4.25, 3.75, 3.25]
    assert work(4, 8, schedule="dualpipe")["peak_live_whole"] == [5, 5, 5, 5]


def test_whole_numbers_stay_whole() -> None:
    found = work(4, 9, schedule="zb-v", forward=3, backward_input=3, backward_weight=3)
    assert found["makespan"] == Fraction(81) + Fraction(9, 2)
    thirds = work(3, 9, schedule="interleaved", virtual=3)
    assert thirds["makespan"] == 27 + 2
    assert isinstance(thirds["makespan"], int)


@pytest.mark.parametrize(
    ("inputs", "key", "says"),
    [
        ({"schedule": "interleaved", "microbatches": 6}, "calc_interleaved", "multiple of 4"),
        ({"schedule": "dualpipe", "stages": 3}, "calc_dualpipe", "even number of stages"),
        ({"schedule": "dualpipe", "microbatches": 9}, "calc_dualpipe", "9 micro-batches"),
        ({"schedule": "dualpipe", "microbatches": 6}, "calc_dualpipe", "at least 2 x stages"),
        ({"schedule": "dualpipe-v", "microbatches": 7}, "calc_dualpipe_v", "at least 2 x stages"),
        ({"schedule": "zb-v", "virtual": 3}, "calc_two_chunks", "--virtual 3"),
        ({"schedule": "1f1b", "virtual": 2}, "calc_one_chunk", "interleaved"),
        ({"microbatches": 10**9}, "calc_operations", "the most is"),
        ({"stage_times": [1, 2]}, "calc_stage_times", "4 finite numbers"),
        ({"stage_times": [1, 2, 1, float("inf")]}, "calc_stage_times", "finite"),
        (costs(0, 0, 0), "calc_no_work", "cannot all be 0"),
        (costs(1e308, 1e308, 1e308), "calc_endless", "so large"),
        ({"order": "/nowhere/order.txt"}, "calc_order_file", "/nowhere/order.txt"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(
    inputs: dict[str, Value], key: str, says: str
) -> None:
    with pytest.raises(CalcError) as caught:
        pipeline.SHEET.work({"stages": 4, "microbatches": 8, **inputs})
    assert caught.value.key == key
    assert says in str(caught.value)


def test_a_count_may_come_out_of_a_division() -> None:
    for schedule in SCHEDULES:
        found = work(4, 8, schedule=schedule)
        assert (
            pipeline.SHEET.work(
                {"stages": 8 / 2, "microbatches": 16 / 2, "schedule": schedule}
            ).figures
            == found
        )


def test_an_order_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "order.txt"
    path.write_text("# two stages\nF0 F1 B0 B1\n\nF0 B0 F1 B1  # the last one\n", encoding="utf-8")
    found = work(2, 2, order=str(path))
    assert found["makespan"] == work(2, 2)["makespan"]
    assert "closed_form" not in found
    # The file may change between two looks at it.
    path.write_text("F0 F1 B0 B1\nF0 F1 B1 B0\n", encoding="utf-8")
    assert work(2, 2, order=str(path))["makespan"] == 11


def test_figures_of_the_same_inputs_play_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from quizkit.calc.schedule import playing

    played: list[object] = []
    original = playing.simulate
    monkeypatch.setattr(playing, "simulate", lambda *a: played.append(a) or original(*a))
    worked = pipeline.SHEET.work({"stages": 5, "microbatches": 31})
    assert len(pipeline.events(worked.inputs)) == 2 * 5 * 31
    assert len(played) == 1


def test_questions_can_call_it() -> None:
    share = sheets.find("pipeline_bubble_share")
    assert share is not None
    assert share(stages=4, microbatches=8) == pytest.approx(3 / 11)
