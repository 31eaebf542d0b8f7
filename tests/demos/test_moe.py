"""Tokens to their experts and home: against a loop, arithmetic, and torch's own all-to-all."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run
from .ranks import on_ranks

DEMO = find("moe")

pytestmark = pytest.mark.demo

ODD = {"tokens": 7, "experts": 11, "top": 3, "width": 5}
ONE = {"tokens": 1, "top": 1, "width": 1}


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        *((ranks, {}) for ranks in (1, 2, 3, 4, 5)),
        *((ranks, ODD) for ranks in (1, 2, 3, 4, 5)),
        *((ranks, ONE) for ranks in (1, 3)),
        (3, {"experts": 3, "top": 3}),
        (4, {"hot": 100.0}),
        (4, {"hot": -100.0, "top": 8}),
    ],
)
def test_the_layer_is_a_loop_over_tokens(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    assert report["metrics"]["out_gap"] < 1e-12
    assert max(report["metrics"][f"{of}_gap"] for of in ("token", "router", "expert")) < 1e-12


@pytest.mark.parametrize(
    ("ranks", "tokens", "experts", "top"), [(2, 6, 4, 1), (3, 5, 7, 2), (4, 8, 8, 3), (8, 3, 16, 2)]
)
def test_rows_and_bytes(run: Run, ranks: int, tokens: int, experts: int, top: int) -> None:
    args = {"tokens": tokens, "experts": experts, "top": top, "width": 9}
    measured = run(ranks, **args)["metrics"]
    assert measured["copies"] == [tokens * top] * ranks
    assert sum(measured["rows_here"]) == ranks * tokens * top
    assert max(measured["rows_here"]) == measured["busiest_rank"] == measured["layer_time"]
    idle = [measured["layer_time"] - rows for rows in measured["rows_here"]]
    assert measured["layer_idle"] == idle
    row = 9 * 8
    # Of what an expert's rank computes, its own rows never left.
    for me in range(ranks):
        out = measured["sent_dispatch"][me] // row
        stayed = measured["copies"][me] - out
        assert measured["sent_combine"][me] == (measured["rows_here"][me] - stayed) * row
    both = zip(measured["sent_dispatch"], measured["sent_combine"], strict=True)
    assert measured["sent_back"] == [sum(pair) for pair in both]
    held = [sum(e * ranks // experts == me for e in range(experts)) for me in range(ranks)]
    assert measured["sent_counts"] == [(experts - mine) * 8 for mine in held]
    assert measured["sent_around"] == [2 * (ranks - 1) * tokens * row] * ranks
    assert measured["row_trips_forward"] == measured["row_trips_backward"] == [2] * ranks


def test_a_hot_expert_gets_a_copy_of_every_token(run: Run) -> None:
    measured = run(4, hot=50.0)["metrics"]
    assert measured["busiest_expert"] == 40  # of 4 ranks with 10 tokens
    assert measured["rows_here"][0] == measured["layer_time"] >= 40
    one = run(4, hot=50.0, top=1)["metrics"]
    assert one["rows_here"] == [40, 0, 0, 0]
    assert one["sent_dispatch"] == [0, 960, 960, 960]
    assert one["sent_combine"] == [2880, 0, 0, 0]


def test_with_as_many_experts_as_ranks_all_of_them_sends_what_gathering_sends(run: Run) -> None:
    measured = run(4, experts=4, top=4)["metrics"]
    out = [
        sum(pair) for pair in zip(measured["sent_dispatch"], measured["sent_combine"], strict=True)
    ]
    assert out == measured["sent_around"]


def test_the_weights_of_the_best(run: Run) -> None:
    every = run(2, top=8)["metrics"]
    assert every["kept_weight"] == pytest.approx(1.0)
    assert run(2)["metrics"]["kept_weight"] < 0.9
    assert 0 < run(2)["metrics"]["flipped_bf16"] < 200


def test_what_a_break_leaves_right(run: Run) -> None:
    cut = run(4, "no-gradient")
    assert max(cut["metrics"]["out_gap"], cut["metrics"]["router_gap"]) < 1e-12
    assert min(cut["metrics"]["token_gap"], cut["metrics"]["expert_gap"]) > 0.1
    for name in ("local-numbers", "order-of-arrival", "sorted-again"):
        assert run(4, name)["metrics"]["sent_dispatch"] == run(4)["metrics"]["sent_dispatch"]


@pytest.mark.parametrize(
    ("ranks", "args"),
    [(4, {"experts": 3}), (2, {"top": 0}), (2, {"top": 9}), (2, {"tokens": 0}), (2, {"width": 0})],
)
def test_sizes_that_mean_nothing_are_refused(run: Run, ranks: int, args: dict[str, Any]) -> None:
    assert run(ranks, **args)["outcome"] == "refused"


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]


def beside_torch() -> list[float]:
    """Our all-to-all and torch's with a gradient; ranks have unequal numbers of rows, or none."""
    from _bench import max_error, rank, ranks

    import torch
    from moe import travel
    from torch.distributed._functional_collectives import all_to_all_single_autograd

    n, me = ranks(), rank()
    sizes = torch.randint(0, 4, (n, n), generator=torch.Generator().manual_seed(3))
    sizes[1] = 0  # rank 1 has nothing for anybody
    to, source = sizes[me].tolist(), sizes[:, me].tolist()
    torch.manual_seed(me)
    rows = torch.randn(sum(to), 3, dtype=torch.float64)
    mine, theirs = rows.clone().requires_grad_(), rows.clone().requires_grad_()
    came = travel(mine, to, source)
    group: Any = torch.distributed.group.WORLD
    known = all_to_all_single_autograd(theirs, source, to, group)
    weights = torch.randn(sum(source), 3, dtype=torch.float64)
    (came * weights).sum().backward()
    (known * weights).sum().backward()
    assert mine.grad is not None
    assert theirs.grad is not None
    return [max_error(came, known), max_error(mine.grad, theirs.grad)]


@pytest.mark.parametrize("ranks", [2, 4])
def test_our_all_to_all_has_the_gradient_of_torch_s(ranks: int) -> None:
    for found in on_ranks(ranks, beside_torch):
        assert found == [0.0, 0.0]


def unequal() -> list[float]:
    """Ranks with unlike numbers of tokens, one of them with none, in fp32."""
    from _bench import max_error, rank, ranks

    import torch
    from moe import Seen, moe, one_loop, place

    class Silent(Seen):
        def turn(self, name: str, rows: int = 0) -> None:
            """Nothing is looked at."""

    torch.manual_seed(0)
    every = [torch.nn.Linear(6, 6) for _ in range(5)]
    gate, tokens = torch.randn(6, 5), [torch.randn(3 * r, 6) for r in range(ranks())]
    mine = {e: every[e] for e in range(5) if place(e, 5) == rank()}
    y = moe(tokens[rank()], gate, mine, 2, 5, Silent())
    if not rank():
        return [float(len(y))]
    return [max_error(y, one_loop(tokens[rank()], gate, every, 2))]


def test_ranks_may_have_unlike_numbers_of_tokens() -> None:
    for (found,) in on_ranks(3, unequal):
        assert found < 1e-5
