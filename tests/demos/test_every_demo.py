"""What holds for every demo there is: what it says of itself, green runs, bugs that show."""

import ast
import sys
from collections.abc import Mapping

import pytest

from quizkit.cli.demo_options import COMMON
from quizkit.errors import LabError
from quizkit.lab.catalogue import Demo, find, names
from quizkit.lab.report import Setting

from .conftest import Lab

RANKS = (1, 2, 3, 4)
"""One, two that are each other's both neighbours, no power of two, and what everybody tries first.

Eight cost as much as all of these: the demos that have an idea of them ask for them themselves.
"""
MAY_SHOW_OTHERWISE = {
    "fsdp-prefetch: forward-order",
    "fully-shard: keeps-its-weights",
    "pipeline: update-in-flight",
    "pipeline-update: in-flight",
    "rebalance: decided-alone",
    "tensor-parallel: no-f",
    "tensor-parallel: no-g",
    "tensor-parallel: g-sums-backward",
    "tp-cuts: joined-times-own-rows",
    "tp-gradients: dx-not-summed",
    "tp-gradients: dw-summed",
    "tp-gradients: dy-summed",
}
"""Bugs that something else can give away with a rank less than their own check needs."""
KINDS = ("counted", "compared", "identical", "clocked", "computed")


def readable() -> Mapping[str, Demo]:
    """The demos that can be read; `test_it_can_be_read` tells of the others."""
    found: dict[str, Demo] = {}
    for name in names():
        try:
            found[name] = find(name)
        except LabError:
            continue
    return found


DEMO = pytest.mark.parametrize("name", names())
BREAK = pytest.mark.parametrize(
    ("name", "broken"),
    [(demo.name, broken) for demo in readable().values() for broken in demo.breaks],
)


@DEMO
def test_it_can_be_read(name: str) -> None:
    demo = find(name)
    assert demo.trick
    assert demo.watch
    run = demo.source.split('"""')[1].partition("\nRun\n")[2]
    for command in (f"quizkit demo {name}", f"python demos/{demo.path.name}"):
        assert command in run


def test_no_name_shadows_another() -> None:
    # Beside the running script, `profile.py` would be found before Python's own.
    taken = sys.stdlib_module_names | {"torch", "numpy"}
    assert [name for name in names() if name.replace("-", "_") in taken] == []
    for demo in readable().values():
        flags = {flag for parameter in demo.parameters.values() for flag in parameter.flags}
        assert flags.isdisjoint(COMMON), demo.name


@DEMO
def test_its_breaks_come_last_and_name_checks(name: str) -> None:
    demo = find(name)
    last = [node for node in ast.parse(demo.source).body if isinstance(node, ast.Assign)][-1]
    assert ast.unparse(last.targets[0]) == "BREAKS"
    for broken, planted in demo.breaks.items():
        assert planted.source, broken
        ast.parse(demo.planted(broken))


def test_the_demos_that_read_a_real_clock() -> None:
    """Nothing runs beside them: a load would show in what they time or wait for."""
    assert {name for name in names() if find(name).timed} == {
        "fault",
        "step-profile",
        "step-report",
    }


# Real runs, all on one bench.


@pytest.mark.demo
@DEMO
@pytest.mark.parametrize("ranks", RANKS)
def test_it_is_green(lab: Lab, name: str, ranks: int) -> None:
    report = lab.run(Setting(name, ranks))
    if report.outcome == "refused":
        assert ranks != 4, "4 ranks are what everybody tries first"
        assert report.error
        assert any(digit in report.error.message for digit in "123456789"), "no size that works"
        return
    assert report.error is None
    assert [check.name for check in report.checks if not check.holds] == []
    assert report.verdict == "pass"
    watched = find(name).watch
    assert set(report.metrics) == set(watched)
    for metric, value in report.metrics.items():
        assert report.how[metric] in KINDS
        shared = not isinstance(value, tuple)
        assert shared == watched[metric].shared, metric
        assert shared or len(value) == ranks, metric  # pyright: ignore[reportArgumentType]


@pytest.mark.demo
def test_torchrun_leaves_their_options_alone() -> None:
    from torch.distributed.run import get_args_parser

    known = [flag for action in get_args_parser()._actions for flag in action.option_strings]
    for demo in readable().values():
        for flag in [flag for each in demo.parameters.values() for flag in each.flags]:
            # torchrun completes what it takes for the start of its own options.
            assert not [o for o in known if o.startswith(flag)], (demo.name, flag)


@pytest.mark.demo
@BREAK
def test_its_bug_shows_as_declared(lab: Lab, name: str, broken: str) -> None:
    planted = find(name).breaks[broken]
    report = lab.run(Setting(name, planted.ranks, (), broken))
    failing = [check.name for check in report.checks if not check.holds]
    ends = planted.expect == "hangs" or planted.expect.startswith("crashes:")
    assert report.verdict == ("error" if ends else "fail"), report.error
    assert report.shows(planted.expect), (report.outcome, failing, report.error)


@pytest.mark.demo
@BREAK
def test_its_bug_needs_as_many_ranks_as_it_says(lab: Lab, name: str, broken: str) -> None:
    planted = find(name).breaks[broken]
    if planted.ranks > 1:
        report = lab.run(Setting(name, planted.ranks - 1, (), broken), ends=True)
        assert not report.shows(planted.expect)
        if f"{name}: {broken}" not in MAY_SHOW_OTHERWISE:
            assert report.verdict == "pass" or report.outcome == "refused"
