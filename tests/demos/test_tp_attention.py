"""Attention cut by heads: shapes, copies and bytes at odd sizes, and what each bug does."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run, failed

SOURCE = (Path(__file__).parents[2] / "demos" / "tp_attention.py").read_text(encoding="utf-8")

pytestmark = pytest.mark.demo

SMALL = {"heads": 6, "head_dim": 6, "hidden": 12, "ffn": 18, "seq": 5, "batch": 1}


def heads_of(ranks: int, **sizes: int) -> list[tuple[range, range]]:
    """What the demo's own function gives every rank; the file's other lines need torch."""
    [function] = [
        node
        for node in ast.parse(SOURCE).body
        if isinstance(node, ast.FunctionDef) and node.name == "heads_of"
    ]
    space: dict[str, Any] = {"ranks": lambda: ranks}
    exec(compile(ast.Module([function], []), "tp_attention.py", "exec"), space)
    size = type("Size", (), sizes)
    return [space["heads_of"](rank, size) for rank in range(ranks)]


@pytest.mark.parametrize(
    ("t", "heads", "kv"), [(1, 6, 2), (2, 8, 8), (3, 6, 3), (4, 8, 2), (8, 64, 4), (16, 64, 8)]
)
def test_a_rank_holds_the_kv_heads_its_queries_look_at(t: int, heads: int, kv: int) -> None:
    given = heads_of(t, heads=heads, kv_heads=kv)
    assert [head for queries, _ in given for head in queries] == list(range(heads))
    for queries, kvs in given:
        assert {head // (heads // kv) for head in queries} == set(kvs)
        assert len(kvs) == max(1, kv // t)


@pytest.mark.parametrize(
    ("t", "kv"), [(1, 2), (2, 6), (2, 1), (3, 6), (3, 3), (3, 1), (6, 3), (6, 2), (6, 6)]
)
def test_shapes_and_bytes_follow_whole_heads(run: Run, t: int, kv: int) -> None:
    report = run(t, kv_heads=kv, **SMALL)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    held = max(1, kv // t)
    assert measured["kv_held"] == [held] * t
    assert measured["kv_copies"] == [max(1, t // kv)] * t
    assert measured["kv_copies_apart"] == [0] * t
    assert measured["qkv_rows"] == [(6 // t + 2 * held) * 6] * t
    assert measured["out_columns"] == [6 // t * 6] * t
    assert measured["cache_bytes"] == [2 * 5 * held * 6 * 8] * t
    # A ring sends 2 (t - 1) / t of what it sums: x, and inside a head the scores of all heads.
    once, scores = 5 * 12 * 8, 6 * 5 * 5 * 8
    for way in ("forward", "backward"):
        assert measured[f"sent_{way}"] == pytest.approx([2 * (t - 1) / t * once] * t)
        inside = 2 * (t - 1) / t * (once + scores)
        assert measured[f"sent_inside_{way}"] == pytest.approx([inside] * t)


def test_watch_lists_what_a_run_reports(run: Run) -> None:
    report = run(4)
    watch = (ast.get_docstring(ast.parse(SOURCE)) or "").split("Watch\n")[1].split("\nRun\n")[0]
    assert set(re.findall(r"^    (\w+)", watch, re.MULTILINE)) == set(report["metrics"])
    assert set(report["how"].values()) == {"counted", "compared"}


BREAKS: dict[str, tuple[str, int, set[str]]] = {
    "chunk-the-qkv": ("out", 2, {"out", "grad", "kv_weight_grad"}),
    "chunk-the-gate": ("mlp_out", 2, {"mlp_out", "mlp_grad"}),
    "copies-not-summed": ("kv_weight_grad", 4, {"kv_weight_grad"}),
    "copies-dealt-out": ("out", 4, {"out", "grad", "kv_weight_grad"}),
    "softmax-of-parts": ("inside_out", 2, {"inside_out", "inside_grad"}),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_shows_as_declared_and_on_no_fewer_ranks(run: Run, name: str) -> None:
    expect, ranks, wrong = BREAKS[name]
    declared = re.search(rf'"{name}": Break\(.*?expect="(.*?)",\s*ranks=(\d+)', SOURCE, re.DOTALL)
    assert declared is not None
    assert declared.groups() == (f"{expect} as on one process", str(ranks))
    report = run(ranks, name)
    red = {name.removesuffix(" as on one process") for name in failed(report)}
    assert red - {"inside a head the scores travel too"} == wrong
    found = report["metrics"][f"{expect}_error"]
    assert (min(found) if isinstance(found, list) else found) > 0.1
    # With as many ranks as KV heads there is no copy to forget; 3 do not share 2 KV heads.
    fewer = run({2: 1, 4: 2}[ranks], name)
    assert failed(fewer) == []


def test_copies_meet_a_part_of_the_gradient_each(run: Run) -> None:
    # Where every rank has its own KV heads, nothing is summed and nothing can be forgotten.
    report = run(4, "copies-not-summed", kv_heads=4)
    assert report["verdict"] == "pass"
    assert report["metrics"]["kv_copies"] == [1] * 4


@pytest.mark.parametrize(
    ("t", "args", "fits"),
    [
        (3, {}, "take 1"),
        (4, {"kv_heads": 3}, "take 2"),
        (2, {"kv_heads": 0}, "start at 1"),
        (2, {"heads": 5, "kv_heads": 5}, "heads 6"),
        (2, {"head_dim": 7}, "head-dim 8"),
        (3, {"hidden": 47, "kv_heads": 3}, "hidden 48"),
        (2, {"seq": 0}, "start at 1"),
    ],
)
def test_what_cannot_be_shared_is_refused_with_what_can(
    run: Run, t: int, args: dict[str, int], fits: str
) -> None:
    report = run(t, **args)
    assert report["outcome"] == "refused"
    assert fits in report["error"]["message"]
