"""What a proof shows of a run that did not finish: the line of the demo each rank was at."""

from dataclasses import replace

from rich.console import Group

from quizkit.lab.report import Failure
from quizkit.ui.proof.proof_screen import proof_screen
from quizkit.words import say

from . import shelf
from .test_screens import drawn, judged

STACK = """  File "/somewhere/demos/uneven_inputs.py", line 220, in main
    steps = train_fewest(mine, batches)
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/somewhere/demos/uneven_inputs.py", line 134, in train_fewest
    torch.distributed.barrier()
  File "/elsewhere/torch/distributed/distributed_c10d.py", line 5356, in barrier
    work.wait()"""


def shown(outcome: str, error: Failure | None) -> str:
    """The proof screen of a run of uneven-inputs that ended like this, in Chinese."""
    proof = shelf.proof(shelf.asked("single"))
    report = replace(proof.report, demo="uneven-inputs", outcome=outcome, error=error)
    moment = judged("single", "zh", proof=replace(proof, report=report))
    return drawn(Group(*proof_screen(moment, 100)), 100)


def test_a_hang_shows_the_line_of_the_demo_each_rank_waits_at():
    said = shown("hung", Failure(None, "rank 0 returned early: rank 1 waited", (None, STACK)))
    assert say("lab.outcome_hung", "zh") in said
    assert "rank 0 提前返回了，rank 1 还在等" in said
    assert "rank 1 停在 uneven_inputs.py 第 134 行：\n    torch.distributed.barrier()" in said
    assert "train_fewest(mine" not in said, "the innermost frame of the demo is the one"
    assert "work.wait" not in said
    assert "/somewhere" not in said
    held = say("ui.checks_hold", "zh", count=len(shelf.proof(shelf.asked("single")).report.checks))
    assert held not in said
    assert held in shown("finished", None)


def test_a_rank_that_was_not_in_the_demo_has_no_line():
    elsewhere = STACK.replace("uneven_inputs.py", "_bench/start.py")
    said = shown("crashed", Failure(0, "rank 0 raised KeyError: 3\nrank 1 fell", (elsewhere, None)))
    assert "rank 0 抛出 KeyError：3" in said
    assert "fell" not in said
    assert "停在" not in said
