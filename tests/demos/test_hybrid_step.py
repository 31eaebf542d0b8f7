"""A step on three axes: counts against arithmetic, every layout one process's, and the clock."""

import re
from typing import Any

import pytest

from .conftest import Run, failed
from .ranks import on_ranks

pytestmark = pytest.mark.demo

H, S, V, L, B, M = 16, 16, 32, 4, 8, 4
LAYOUTS = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (1, 3, 1), (2, 2, 1), (2, 1, 2), (1, 2, 2)]
LAYOUTS += [(4, 1, 1), (2, 3, 1), (8, 1, 1), (2, 2, 2), (4, 2, 1), (2, 4, 1), (4, 1, 2), (1, 4, 2)]


def sizes(t: int, p: int, d: int) -> dict[str, int]:
    return {"tp": t, "pp": p, "steps": 2}


def layers_of(stage: int, p: int) -> int:
    return L // p + (stage < L % p)


def numbers(stage: int, t: int, p: int) -> tuple[int, int]:
    """What TP cuts of a stage's weights, on one rank, and what it replicates."""
    first, last, layers = stage == 0, stage == p - 1, layers_of(stage, p)
    cut = (layers * 12 * H * H + (first or last) * V * H) // t
    return cut, layers * (2 * 2 * H + 2 * H) + last * 2 * H


@pytest.mark.parametrize(("t", "p", "d"), LAYOUTS)
def test_bytes_messages_and_operations_on_real_ranks(run: Run, t: int, p: int, d: int) -> None:
    report = run(t * p * d, **sizes(t, p, d))
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    tokens = B // d // M * S
    for rank in range(t * p * d):
        stage = rank // (t * d)  # tp changes first, then dp
        cut, replicated = numbers(stage, t, p)
        first, last, layers = stage == 0, stage == p - 1, layers_of(stage, p)
        # A block gathers twice and scatters twice, forward and backward; the ends once each.
        shard = tokens * H * 8 // t
        calls = 8 * layers + 2 * first + 2 * last
        loss = 3 * 2 * tokens * 8 // t if last else 0
        sent = M * (calls * shard + loss) * (t - 1)
        # The ring cuts what is summed in t chunks, of which this rank sends all but two, twice.
        assert abs(measured["tp_bytes"][rank] - sent - 2 * (t - 1) * replicated * 8 / t) <= 8 * t
        hops = M * (calls + 4 * last) + 2
        assert measured["tp_messages"][rank] == (t - 1) * hops
        ways = (not first) + (not last)
        assert measured["pp_bytes"][rank] == M * ways * shard
        assert measured["pp_messages"][rank] == M * ways
        psi = -(-(cut + replicated) // d) * d * 8
        assert measured["gradient_bytes"][rank] == psi
        assert measured["dp_bytes"][rank] == 2 * (d - 1) * psi // d
        assert measured["dp_messages"][rank] == 2 * (d - 1)
        assert measured["adam_bytes"][rank] == 2 * psi // d
        assert measured["tied_bytes"][rank] == (p > 1 and (first or last)) * V // t * H * 8
        block = 2 * 12 * H * H + 4 * S * H  # a token, forward
        flops = 3 * M * tokens * (layers * block + last * 2 * H * V) // t
        assert measured["product_flops"][rank] == flops


def test_one_curve_whatever_the_layout(run: Run) -> None:
    curve = [run(t * p * d, **sizes(t, p, d))["metrics"]["last_loss"] for t, p, d in LAYOUTS]
    assert max(curve) - min(curve) < 1e-12
    whole_moments = run(4, **sizes(2, 2, 1), zero=0)["metrics"]["last_loss"]
    assert whole_moments == pytest.approx(curve[0], abs=1e-12)


def by_torch() -> tuple[float, float, float]:
    """How far the demo's own one process is from torch's attention, loss, clipping and Adam."""
    import hybrid_step as demo
    import torch
    from torch.nn.functional import cross_entropy, gelu, layer_norm, scaled_dot_product_attention
    from torch.utils.flop_counter import FlopCounterMode

    like = {"dtype": torch.float64, "device": "cpu"}
    torch.manual_seed(0)
    whole = demo.model(2, 12, 3, 10, like)
    me = demo.seat({axis: [[0]] for axis in ("tp", "pp", "dp", "world")}, 2, 4 * 7, 1.0)
    w, v = demo.cut(whole, me), demo.cut(whole, me)
    moments = torch.zeros(2, sum(each.numel() for each in w.values()), **like)
    adam = torch.optim.Adam(v.values(), lr=demo.RATE, eps=1e-6)
    loss_off = norm_off = flops = 0.0
    for number in range(1, 4):
        ids = torch.randint(10, (4, 8))
        ours, _, norm = demo.step(demo.my_samples(ids, 2, me), w, moments, number, me)
        with FlopCounterMode(display=False) as counted:
            x = v["table"][ids[:, :-1]]
            for i in range(2):
                y = layer_norm(x, x.shape[2:], *v[f"norm1.{i}"])
                q, k, z = (
                    (y @ v[f"qkv.{i}"].flatten(1)).unflatten(2, (3, 3, 4)).permute(2, 0, 3, 1, 4)
                )
                with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
                    y = scaled_dot_product_attention(q, k, z, is_causal=True)
                y = y.transpose(1, 2).flatten(2) @ v[f"out.{i}"].flatten(0, 1)
                x = x + y + v[f"out_bias.{i}"]
                y = gelu(layer_norm(x, x.shape[2:], *v[f"norm2.{i}"]) @ v[f"up.{i}"])
                x = x + y @ v[f"down.{i}"] + v[f"down_bias.{i}"]
            logits = layer_norm(x, x.shape[2:], *v["norm"]) @ v["table"].T
            loss = cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            adam.zero_grad()
            loss.backward()
        flops += counted.get_total_flops()
        length = torch.nn.utils.clip_grad_norm_(v.values(), demo.LIMIT)
        adam.step()
        loss_off = max(loss_off, abs(ours - loss.item()))
        norm_off = max(norm_off, abs(norm - length.item()))
    weight_off = max((w[name] - v[name]).abs().max().item() for name in w)
    return max(loss_off, norm_off), weight_off, me.flops - flops


def test_its_one_process_is_torch_s() -> None:
    ((off, weight_off, flops_off),) = on_ranks(1, by_torch)
    assert off < 1e-12
    assert weight_off < 1e-12
    assert flops_off == 0


def test_zero_1_sends_no_more_and_keeps_less(run: Run) -> None:
    one, none = (run(8, zero=zero)["metrics"] for zero in (1, 0))
    assert one["dp_bytes"] == none["dp_bytes"]
    assert [2 * each for each in one["adam_bytes"]] == none["adam_bytes"]


@pytest.mark.parametrize("order", ["tp-dp-pp", "tp-pp-dp", "pp-dp-tp"])
def test_the_order_says_who_crosses_a_node(run: Run, order: str) -> None:
    measured = run(8, order=order, per_node=2)["metrics"]
    inner = order.split("-")[0]
    axes = ("tp", "pp", "dp", "tied")
    for rank in range(8):
        sent = {axis: measured[f"{axis}_bytes"][rank] for axis in axes}
        stays = sent["pp"] + sent["tied"] if inner == "pp" else sent[inner]
        # The norm's eight bytes for each other rank go round a ring.
        assert 0 <= measured["node_bytes"][rank] - (sum(sent.values()) - stays) <= 7 * 8


def test_the_axis_that_talks_most_belongs_inside(run: Run) -> None:
    times = {
        order: run(8, order=order, per_node=2)["metrics"] for order in ("tp-dp-pp", "pp-dp-tp")
    }
    assert times["tp-dp-pp"]["step_time"] < times["pp-dp-tp"]["step_time"]


def test_the_clock_counts_operations_and_bytes(run: Run) -> None:
    free = {"inside": 1e12, "across": 1e12, "latency": 0.0}
    alone = run(1, **free)["metrics"]
    assert alone["step_time"] == pytest.approx(alone["product_flops"][0] / 1000)
    tp = run(2, tp=2, pp=1, **free)["metrics"]
    assert tp["step_time"] == pytest.approx(alone["step_time"] / 2)
    # Equal stages but for the head: with m = 4 and p = 2 no less than 5/4 of the half.
    pp = run(2, tp=1, pp=2, **free)["metrics"]
    assert pp["step_time"] >= 1.25 * alone["step_time"] / 2
    assert pp["pp_wait"][0] > 0
    slow = run(2, tp=2, pp=1, latency=5.0)["metrics"], run(2, tp=2, pp=1, latency=1.0)["metrics"]
    assert slow[0]["step_time"] - slow[1]["step_time"] >= 4 * slow[0]["tp_messages"][0]


@pytest.mark.parametrize(
    ("name", "ranks"),
    [
        ("replicas-counted", 2),
        ("own-tokens-only", 4),
        ("table-not-added", 4),
        ("every-backward", 8),
    ],
)
def test_breaks_move_no_byte_that_counts(run: Run, name: str, ranks: int) -> None:
    right, wrong = run(ranks), run(ranks, name)
    assert failed(wrong)
    assert wrong["metrics"]["pp_bytes"] == right["metrics"]["pp_bytes"]


def test_replicas_in_the_norm_make_it_too_long(run: Run) -> None:
    measured = run(2, "replicas-counted")["metrics"]
    assert measured["step_norm_error"] > 0.01
    right = run(2)["metrics"]["norm_ratio_all"]
    assert right > 1.01
    assert run(1)["metrics"]["norm_ratio_all"] == 1


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"tp": 3}, "product is 4 ranks"),
        ({"tp": 4, "heads": 2, "hidden": 8}, "tp divides 2"),
        ({"tp": 1, "pp": 4, "layers": 2}, "at most 2"),
        ({"tp": 1, "pp": 1, "batch": 6}, "divides 6 samples"),
        ({"heads": 3}, "heads divides hidden"),
        ({"order": "tp-pp"}, "tp-dp-pp"),
        ({"speed": 0.0}, r"0\.001"),
        ({"microbatches": 0}, "start at 1"),
    ],
)
def test_what_cannot_run_is_refused_with_what_can(
    run: Run, args: dict[str, Any], says: str
) -> None:
    report = run(4, **args)
    assert report["outcome"] == "refused"
    assert re.search(says, report["error"]["message"])
