"""Layouts: every term against the calculator or the run of the schedule that it comes from."""

from dataclasses import replace
from itertools import product
from math import inf, isclose
from typing import Any

import pytest

from quizkit.calc.chips import chip
from quizkit.calc.models import Model, model
from quizkit.calc.plan.evaluation import Evaluation
from quizkit.calc.plan.job import Assumed, Job
from quizkit.calc.plan.layout import RECOMPUTE, Layout, broken, chunks, every_grid
from quizkit.calc.plan.ranking import SLOW, _Seen, ranked
from quizkit.calc.plan.reasons import Broken, Full, Slower, enough, full, why
from quizkit.calc.plan.sheet import SHEET, job, pinned
from quizkit.calc.plan.terms import FIGURES, PARTS
from quizkit.calc.schedule.playing import played
from quizkit.calc.sheet import Calculator
from quizkit.calc.sheets import sheet
from quizkit.errors import UsageError

SMALL = Model("small", 6, 512, 8, 8, 64, 2048, False, 1024, True, 0, 0, 0, 0, 0, "here")
SPARSE = Model("sparse", 6, 512, 8, 4, 64, 2048, True, 1024, False, 8, 2, 512, 1, 2, "here")
LLAMA = Job(model("llama-3-70b"), chip("H100"), 64, 8192, 1024)


def layout(**degrees: int | str) -> Layout:
    given = dict.fromkeys(Layout._fields, 1) | {"zero": 0, "recompute": "none"} | degrees
    return Layout(**given)  # pyright: ignore[reportArgumentType]


def values(asked: Job, **degrees: int | str):
    every = Evaluation(FIGURES, asked.inputs(), [each.name for each in FIGURES])
    return every.of(layout(**degrees))


def worked(calculator: Calculator, **inputs: int | float | str | bool) -> dict[str, Any]:
    return dict(calculator.work(inputs).figures)


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
def test_states_are_those_of_the_memory_calculator(zero: int):
    found = values(replace(LLAMA, gpus=16), tp=2, dp=4, cp=2, zero=zero)
    params = 2 * found["params_per_device"]
    assert params == model("llama-3-70b").params
    assert found["expert_params_per_device"] == 0
    alone = worked(sheet("memory"), params=params, tp=2, dp=4, cp=2, zero=zero, grad_dtype="fp32")
    assert found["model_states_bytes"] == alone["model_states_bytes"]
    # FSDP: two layers' weights in bf16 and one layer's gradients in fp32, of what tp leaves.
    layer = (params - 2 * 128256 * 8192) / 80 / 2
    assert found["unit_bytes"] == pytest.approx(8 * layer if zero == 3 else 0, abs=8)


def test_a_stage_holds_its_layers_and_one_table():
    found = values(LLAMA, tp=2, pp=4, dp=8)
    layers = model("llama-3-70b").params - 2 * 128256 * 8192
    assert 2 * found["params_per_device"] == pytest.approx(layers / 4 + 128256 * 8192, abs=2)


def test_experts_are_cut_by_ep_and_their_states_over_the_rest():
    asked = Job(SPARSE, chip("H100"), 16, 64, 64)
    found = values(asked, tp=2, dp=4, pp=2, ep=4, zero=1)
    experts = 4 * 8 * 3 * 512 * 512  # four layers of six have eight
    assert found["expert_params_per_device"] * 4 * 2 == experts
    assert found["expert_ranks"] == 2
    alone = worked(
        sheet("memory"), params=SPARSE.params - 2 * 1024 * 512, expert_params=experts, tp=2, pp=2,
        dp=4, ep=4, zero=1, grad_dtype="fp32",
    )  # fmt: skip
    # An end stage has a table more than that, of which tp leaves half, and zero 1/4.
    table = 1024 * 512 // 2
    states = alone["model_states_bytes"] + (2 + 4 + 12 // 4) * table
    assert found["states_bytes"] == pytest.approx(states, abs=100)


@pytest.mark.parametrize(("tp", "pp", "cp"), [(1, 1, 1), (2, 1, 1), (4, 2, 1), (2, 3, 2)])
def test_activations_are_those_of_the_paper_without_dropout(tp: int, pp: int, cp: int):
    asked = Job(SMALL, chip("H100"), tp * pp * cp, 256, 12)
    found = values(asked, tp=tp, pp=pp, cp=cp)
    alone = worked(
        sheet("activations"), layers=6, hidden=512, heads=8, seq=256, tp=tp, cp=cp, pp=pp,
        sp=tp > 1, dropout=False, microbatches=12,
    )  # fmt: skip
    assert found["layer_bytes"] == alone["bytes_per_layer"]
    assert found["first_bytes"] == alone["bytes_per_layer"] * 6 // pp * pp
    # Selective lets two norms' outputs and GeLU's go; full keeps the layer's input.
    at = 2 * 256 // cp * 512 // tp
    selective = values(asked, tp=tp, pp=pp, cp=cp, recompute="selective")["layer_bytes"]
    assert alone["bytes_per_layer"] - selective == (2 + 4) * at
    assert values(asked, tp=tp, pp=pp, cp=cp, recompute="full")["layer_bytes"] == at


def test_a_gate_and_fewer_heads_of_k_and_v_change_what_is_kept():
    # Llama-3-70B, tp 8: Q and output 8192 wide, K and V 1024; gate, up and product 28672; in
    # tp's parts too the inputs of two norms and of two products.
    kept = 2 * 8192 + 2 * 1024 + 3 * 28672 + 4 * 8192
    found = values(LLAMA, tp=8, pp=8)
    statistics = 4 * 64 * 8192 // 8
    assert found["layer_bytes"] == 2 * 8192 * kept // 8 + statistics
    assert found["loss_peak_bytes"] == 12 * 8192 * 128256 // 8
    alone = worked(
        sheet("activations"), layers=80, hidden=8192, heads=64, kv_heads=8, ffn=28672, gated=True,
        seq=8192, tp=8, sp=True, dropout=False,
    )  # fmt: skip
    assert found["layer_bytes"] == alone["bytes_per_layer"]


@pytest.mark.parametrize("tp", [1, 2, 4])
def test_products_are_those_of_the_flops_calculator(tp: int):
    gpt = model("gpt-3-175b")
    asked = Job(gpt, chip("A100"), tp * 4, 2048, 16)
    found = values(asked, tp=tp, pp=2, dp=2)
    alone = worked(
        sheet("flops"), layers=96, hidden=12288, seq=2048, vocab=50257, heads=96, causal=True
    )
    layers = alone["model_flops_per_token"] - alone["logits_flops_per_token"]
    ours = found["compute_seconds"] * asked.gpus * 312e12 * 0.65
    assert ours == pytest.approx(layers * 16 * 2048)
    assert found["mfu"] < 0.65


def test_products_of_few_tokens_wait_for_memory():
    # H100: 0.65 x 989e12 / 3.35e12 rows; a weight is read twice, and its gradient 4 times as much.
    ridge = 0.65 * 989e12 / 3.35e12
    asked = Job(model("deepseek-v3"), chip("H100"), 64, 4096, 64)
    near = values(asked, dp=64, ep=8)
    share = 4096 * 8 * 8 / 256  # of eight ranks' copies, one expert's
    assert near["ridge_tokens"] == pytest.approx(ridge)
    assert near["expert_slowdown"] == 1 == near["dense_slowdown"]
    assert share > 4 * ridge
    few = values(asked, tp=8, dp=8, ep=8)
    rows = share / 8
    assert few["expert_slowdown"] == pytest.approx((2 * ridge / rows + 4 * ridge / rows) / 3)
    cut = values(asked, cp=8, dp=8, ep=8)
    assert cut["dense_slowdown"] == pytest.approx((2 + 4 * ridge / 512) / 3)


@pytest.mark.parametrize(
    ("pp", "count", "v"),
    [(2, 4, 1), (4, 4, 1), (4, 16, 1), (8, 32, 1), (4, 2, 1), (4, 8, 2), (8, 16, 2), (8, 32, 3)],
)
def test_the_bubble_and_the_hops_are_what_the_played_schedule_takes(pp: int, count: int, v: int):
    name = "1f1b" if v == 1 else "interleaved"
    free, slow = (
        max(played(pp, count, name, v, "", 6, 12, 0, each, []).last_end) for each in (0, 0.1)
    )
    asked = Job(replace(SMALL, layers=48), chip("H100"), pp, 256, count)
    found = values(asked, pp=pp, virtual=v)
    bubble = found["bubble_seconds"] / found["work_seconds"]
    assert bubble == pytest.approx((free - count * 18) / 18)
    assert found["shown_hops"] == pytest.approx((slow - free) / 0.1, abs=0.01)


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
def test_bytes_of_data_parallelism_are_those_of_the_traffic_calculator(zero: int):
    fast = replace(chip("H100"), inside=inf, across=inf)
    none = Assumed(call=0, hop_inside=0, hop_across=0, link_share=1, overlap=False)
    slow = replace(chip("H100"), inside=1e9, across=1e9 / 8)  # one rate for every ring
    asked = Job(LLAMA.model, slow, 16, 1024, 32, none)
    degrees = {"tp": 2, "dp": 8, "batch": 2, "zero": zero}
    found = values(asked, **degrees)
    assert values(replace(asked, chip=fast), **degrees)["dp_seconds"] == 0
    alone = worked(
        sheet("traffic"), params=2 * found["params_per_device"], tp=2, dp=8, zero=zero,
        microbatches=2, grad_bytes=4, seq=1024, hidden=8192, layers=80,
    )  # fmt: skip
    rate = 1e9 / 8 * 4  # four ranks of the ring in a node, each with a card
    total = alone["dp_bytes"] + alone["zero_bytes"]
    assert found["dp_seconds"] == pytest.approx(total / rate)


def test_what_shows_of_data_parallelism_is_what_work_does_not_hide():
    fits = values(LLAMA, tp=8, pp=4, dp=2, zero=1)
    assert fits["scatter_seconds"] < fits["backward_seconds"]
    shown = (fits["scatter_seconds"] + fits["gather_seconds"]) / 20
    assert fits["dp_seconds"] == pytest.approx(shown)  # one layer's of 20
    whole = values(LLAMA, dp=64, zero=3)
    spared = whole["forward_seconds"] + whole["backward_seconds"]
    moved = 2 * whole["gather_seconds"] + whole["scatter_seconds"]
    assert whole["dp_seconds"] >= 15 * (moved - spared)


@pytest.mark.parametrize("asked", [SMALL, SPARSE])
def test_every_layout_is_looked_at_once_and_the_fastest_comes_first(asked: Model):
    here = Job(asked, replace(chip("H100"), memory=150 * 10**6), 12, 64, 24)
    good = [grid for grid in every_grid(here) if not broken(here, grid)]
    tried: list[Layout] = []
    for tp, cp, pp, ep, dp in good:
        share = 24 // dp
        for v, batch, recompute in product(range(1, 7), range(1, share + 1), RECOMPUTE):
            if share % batch or v not in chunks(here, pp) or (v > 1 and share // batch % pp):
                continue
            zeros = range(4) if dp * cp > 1 else range(1)
            tried += [Layout(tp, cp, pp, v, ep, dp, z, batch, recompute) for z in zeros]
    found = ranked(here, lambda _: True)
    assert found.looked_at == len(tried) == len(found.placed) + found.fell.total()
    every = Evaluation(FIGURES, here.inputs(), ["memory_bytes", "step_seconds"])
    fits: list[tuple[float, Layout]] = []
    for each in tried:
        now = every.of(each)
        if now["memory_bytes"] <= here.usable_bytes:
            fits.append((now["step_seconds"], each))
    assert 0 < len(fits) < len(tried)
    assert {each.layout for each in found.placed} == {each for _, each in fits}
    assert found.placed[0].seconds == min(fits)[0]
    seconds = [each.seconds for each in found.placed]
    assert seconds == sorted(seconds)
    # Nothing that is left out for its bound would have been within it.
    quick = ranked(here)
    assert quick.placed[0] == found.placed[0]
    left = {each.layout for each in found.placed} - {each.layout for each in quick.placed}
    assert all(t > SLOW * found.placed[0].seconds for t, each in fits if each in left)
    seen = _Seen(here)
    assert all(each.seconds >= seen.bound(each.grid) for each in found.placed)


def test_a_layout_s_numbers_do_not_depend_on_what_was_looked_at_before():
    some = ranked(LLAMA).placed[::97]
    every = Evaluation(FIGURES, LLAMA.inputs(), ["step_seconds"])
    for each in some:
        degrees = each.layout._asdict()
        assert values(LLAMA, **degrees)["step_seconds"] == each.seconds
        assert every.of(each.layout)["step_seconds"] == each.seconds


def test_the_sheet_s_own_figures_give_the_same_step():
    best = ranked(LLAMA).best[0]
    given = {**LLAMA.inputs(), **best.layout._asdict(), "sp": best.layout.tp > 1}
    for each in FIGURES:
        given[each.name] = each(given)  # pyright: ignore[reportArgumentType]
    assert given["step_seconds"] == best.seconds
    assert given["memory_bytes"] == best.memory
    parts = [float(str(given[f"{part}_seconds"])) for part in PARTS]
    assert isclose(sum(parts), best.seconds)


def test_seventy_billion_on_sixty_four():
    found = ranked(LLAMA)
    best = found.best[0]
    assert (best.layout.tp, best.layout.pp, best.layout.recompute) == (2, 4, "selective")
    assert best.memory < 80e9
    now = found.values(best.layout)
    assert now["tokens_per_second"] == pytest.approx(1024 * 8192 / best.seconds)
    # PaLM's 6N and causal attention's 6 L H Q T, over 64 peaks.
    flops = 6 * (model("llama-3-70b").multiplied_params + 80 * 8192 * 8192)
    assert now["mfu"] == pytest.approx(flops * now["tokens_per_second"] / (64 * 989e12))
    assert found.grids == 84
    assert dict(found.fell_grids) == {"node": 10}  # 16, 32 and 64 ranks: 6 + 3 + 1


def test_nothing_fits_and_how_much_would():
    asked = replace(LLAMA, model=model("llama-3-405b"))
    found = ranked(asked)
    assert not found.placed
    assert found.least
    lack = full(asked, found.least[1], found.values(found.least[1]))
    # All states at 18 bytes a parameter over 64 ranks, and two layers and a gradient whole.
    states = 18 * asked.model.params / 64 + 8 * 3.196e9 / found.least[1].tp
    assert lack.memory["states"] == pytest.approx(states, rel=0.01)
    assert lack.part == "states"
    assert lack.over == pytest.approx(sum(lack.memory.values()) - 80e9)
    more = enough(asked)
    assert more == 128
    assert ranked(replace(asked, gpus=more)).placed


def test_why_a_layout_does_not_divide():
    found = ranked(LLAMA)
    for text, rule in {
        "tp=16": "node",
        "tp=3": "gpus",
        "pp=64,tp=1,v=7": "rounds",
        "mb=3": "rounds",
    }.items():
        reason = why(found, pinned(text))
        assert isinstance(reason, Broken), text
        assert reason.rule == rule, text
    reason = why(found, pinned("tp=16"))
    assert reason.mend
    assert reason.mend.name == "tp"
    assert reason.mend.placed == found.placed[0]


def test_why_a_layout_does_not_fit():
    reason = why(ranked(LLAMA), pinned("tp=1,pp=1,zero=1"))
    assert isinstance(reason, Full)
    # 6 bytes of 70.6e9 parameters whole, 12 over 64.
    states = (6 + 12 / 64) * model("llama-3-70b").params
    assert reason.memory["states"] == pytest.approx(states, rel=1e-6)
    assert reason.part == "states"
    assert reason.mend
    assert reason.mend.name in ("pp", "zero")


def test_why_a_layout_is_slower_and_what_would_mend_it():
    found = ranked(LLAMA)
    reason = why(found, pinned("tp=8,pp=4"))
    assert isinstance(reason, Slower)
    assert reason.ratio == pytest.approx(reason.placed.seconds / found.placed[0].seconds)
    assert next(iter(reason.more)) == "tp"
    assert sum(reason.more.values()) == pytest.approx(
        reason.placed.seconds - found.placed[0].seconds
    )
    assert reason.mend
    assert reason.mend.name == "tp"
    assert reason.mend.placed.layout.pp == 4
    assert reason.mend.placed.seconds < reason.placed.seconds
    best = why(found, found.placed[0].layout._asdict())
    assert isinstance(best, Slower)
    assert (best.ratio, best.rank, best.mend) == (1, 1, None)


@pytest.mark.parametrize("text", ["tq=8", "tp", "tp=x", "recompute=some", "=4"])
def test_degrees_that_cannot_be_read(text: str):
    with pytest.raises(UsageError):
        pinned(text)


@pytest.mark.parametrize("text", ["64xH100", "64 x h100", "64×H100", "64*H100-SXM"])
def test_gpus_are_a_number_and_a_name(text: str):
    asked = job("llama-3-70b", text, 8192, 8)
    assert (asked.gpus, asked.chip.name) == (64, "H100")


@pytest.mark.parametrize("text", ["64", "xH100", "0xH100", "H100x64", "64xQ9"])
def test_gpus_that_cannot_be_read(text: str):
    with pytest.raises(UsageError):
        job("llama-3-70b", text, 8192, 8)


def test_every_figure_has_a_source_and_shows_its_formula():
    now = values(LLAMA, tp=2, cp=2, pp=4, dp=4, zero=2, virtual=10, recompute="selective")
    names = [each.name for each in SHEET.figures]
    assert len(set(names)) == len(names)
    for each in SHEET.figures:
        assert each.source.strip()
        assert each.filled(now)
        assert set(each.arguments) <= set(now), each.name
