"""Hangs: who waits for whom, who is named, and what a hang hides before it hangs."""

import ast
from itertools import zip_longest
from types import SimpleNamespace
from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run

pytestmark = pytest.mark.demo

DEMO = find("deadlock")
SHORT = 0.2  # seconds a rank waits in vain


def functions(*names: str) -> SimpleNamespace:
    """Some of its functions by themselves: the file's other lines need torch."""
    nodes = [
        node
        for node in ast.parse(DEMO.source).body
        if isinstance(node, ast.FunctionDef) and node.name in names
    ]
    space: dict[str, Any] = {"zip_longest": zip_longest}
    exec(compile(ast.Module([*nodes], []), "deadlock.py", "exec"), space)
    return SimpleNamespace(**space)


PAPER = functions("who_waits_for_whom", "entered", "followed", "first_difference")


def notes(*lines: str) -> list[list[dict[str, Any]]]:
    """`a:grad b!` for a call done on group a and one that is waited for on group b."""
    members = {
        word[0]: [r for r, line in enumerate(lines) if word[0] in [w[0] for w in line.split()]]
        for line in lines
        for word in line.split()
    }
    return [
        [
            {
                "group": word[0],
                "members": members[word[0]],
                "words": word[1:].strip("!"),
                "done": not word.endswith("!"),
            }
            for word in line.split()
        ]
        for line in lines
    ]


@pytest.mark.parametrize(("ranks", "culprit", "short"), [(2, 0, 3), (3, 1, 1), (4, 0, 2)])
def test_the_one_that_left_is_named(run: Run, ranks: int, culprit: int, short: int) -> None:
    report = run(ranks, culprit=culprit, short=short, patience=SHORT)
    measured = report["metrics"]
    assert report["verdict"] == "pass"
    assert measured["stuck"] == measured["circle"] == 0
    assert measured["stuck_uneven"] == ranks - 1
    assert measured["notes_name"] == culprit


def test_torch_names_the_same(run: Run) -> None:
    measured = run(3, culprit=1, monitored=True, patience=SHORT)["metrics"]
    assert measured["torch_names"] == measured["notes_name"] == 1


def test_everybody_counts_every_call(run: Run) -> None:
    measured = run(3, culprit=1, short=1, patience=SHORT)["metrics"]
    # 2 messages; 3 steps of 2 sums and a flag, but the last rank is not in front; a spike's loss.
    assert measured["entered"] == [12, 12, 9]


@pytest.mark.parametrize("name", ["two-orders", "send-first", "rank-local-condition"])
def test_who_hangs_before_anybody_leaves_is_explained_by_the_notes(run: Run, name: str) -> None:
    report = run(3, name, patience=SHORT)
    judged = {check["name"]: check["holds"] for check in report["checks"]}
    assert judged["the notes explain every wait"]
    assert "the notes name the one that left" not in judged  # nobody gets as far as to leave
    assert report["metrics"]["stuck"] == sum(k > 0 for k in report["metrics"]["waits_in_call"])


def line_of(planted: str, text: str) -> int:
    """Where a line of the demo stands, from 1, once a break is planted."""
    broken = DEMO.breaks[planted]
    lines = DEMO.source.replace(broken.old, broken.new, 1).split("\n")
    return next(k for k, line in enumerate(lines, 1) if text in line)


def test_the_call_that_is_waited_in_is_drawn_by_name_and_line(run: Run) -> None:
    events = run(3, "two-orders", patience=SHORT)["timeline"]["events"]
    assert [e["name"] for e in events if e["rank"] == 1][:2] == ["rows.1", "rows.2"]
    line = line_of("two-orders", 'talk.total(group, "gradient"')
    ends = [max((e for e in events if e["rank"] == r), key=lambda e: e["end"]) for r in range(3)]
    assert [e["name"] for e in ends] == [
        f"gradient.3 on {group}, line {line}" for group in ("all", "front", "all")
    ]


def test_the_one_that_left_has_nothing_open(run: Run) -> None:
    events = run(3, culprit=1, short=1, patience=SHORT)["timeline"]["events"]
    ends = [max(e["end"] for e in events if e["rank"] == r) for r in range(3)]
    assert ends[1] < ends[0] == ends[2]
    assert all("line" not in e["name"] for e in events if e["rank"] == 1)


def test_a_rank_local_condition_goes_wrong_before_it_hangs(run: Run) -> None:
    measured = run(2, "rank-local-condition", patience=SHORT)["metrics"]
    assert measured["stuck"] == 1  # only the rank that made one call too many, at the very end
    assert measured["wait_ends_at"] == [-1, 0]
    assert measured["waits_in_call"] == [0, 9]
    assert measured["first_difference"] == [10, 7]
    assert measured["weight_error"] > 1


def test_two_orders_wait_in_a_circle_and_nobody_is_to_blame(run: Run) -> None:
    measured = run(3, "two-orders", patience=SHORT)["metrics"]
    assert measured["stuck"] == 3
    assert measured["circle"] == 2
    assert measured["notes_name"] == -1


def test_sends_first_wait_in_a_circle_of_all(run: Run) -> None:
    assert run(2, "send-first", patience=SHORT)["metrics"]["circle"] == 2


def test_groups_made_by_members_only_hang_where_the_next_one_is_made(run: Run) -> None:
    report = run(2, "members-only")
    assert report["outcome"] == "hung"
    assert "new_group" in report["error"]["stacks"][0]


@pytest.mark.parametrize("options", [{"steps": 0}, {"short": 0}, {"short": 4}, {"rows": 0}])
def test_what_cannot_be_run_is_refused(run: Run, options: dict[str, int]) -> None:
    assert run(2, **options)["outcome"] == "refused"


def test_the_end_of_the_waiting_is_the_one_who_is_behind() -> None:
    # Rank 0 waits for 1 on group a, which waits for 2 on b, which is elsewhere.
    waits = PAPER.who_waits_for_whom(notes("a a!", "a b b!", "a b"))
    assert waits == {0: 1, 1: 2}
    assert PAPER.followed(waits, 0) == (2, [])


def test_a_circle_is_not_entered_by_who_waits_outside_it() -> None:
    assert PAPER.followed({3: 0, 0: 1, 1: 0}, 3) == (0, [0, 1])


def test_a_call_that_all_have_entered_is_not_waited_for() -> None:
    assert PAPER.who_waits_for_whom(notes("a a!", "a a!", "a a")) == {}


def test_calls_are_compared_group_by_group() -> None:
    assert PAPER.first_difference(notes("a:x b:y", "b:y a:x")) == [0, 0]
    assert PAPER.first_difference(notes("a:x a:y", "a:x b:z a:w a:y")) == [2, 3]


def test_a_call_that_is_done_is_not_waited_in() -> None:
    # A message that was buffered: its sender has gone on, though nobody has come for it.
    assert PAPER.who_waits_for_whom(notes("a b!", "b! a"[:2])) == {}
    assert PAPER.who_waits_for_whom(notes("a a", "a")) == {}
    assert PAPER.who_waits_for_whom(notes("a a!", "a")) == {0: 1}
