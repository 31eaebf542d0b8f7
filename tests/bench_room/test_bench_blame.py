"""Who failed first, from how the ranks ended."""

from _bench import blame, stack


def ended(rank: int, kind: str = "returned", at: float = 0.0, **message: object) -> blame.Ending:
    known = {"type": "ValueError", "text": "no", "follows": None} if kind == "raised" else {}
    return blame.Ending(rank, kind, at, known | message)


def test_the_first_to_fail_by_itself_is_blamed_and_not_those_who_lost_it():
    verdict = blame.judge(
        [
            ended(0, "raised", 1.0, type="RuntimeError", follows="lost"),
            ended(1, "raised", 3.0),
            ended(2, "raised", 2.0, text="chunk 7"),
            ended(3),
        ],
        None,
    )
    assert (verdict.outcome, verdict.rank) == ("crashed", 2)
    assert verdict.message.startswith("rank 2 raised ValueError: chunk 7\n")
    assert "in its wake: rank 0 lost its connection; rank 1 raised ValueError" in verdict.message


def test_a_death_by_signal_is_named():
    dead = blame.Ending(1, "died", 5.0, status=-11)
    verdict = blame.judge([ended(0, "raised", 1.0, follows="lost"), dead], None)
    assert (verdict.rank, verdict.message.split("\n")[0]) == (1, "rank 1 died of SIGSEGV")


def test_who_is_waited_for_is_missing():
    waits = [stack.Frame("/site/torch/distributed/distributed_c10d.py", 1, "all_reduce")]
    works = [stack.Frame("/demos/x.py", 1, "main")]
    endings = [blame.Ending(0, calls=waits), blame.Ending(1, calls=works)]
    verdict = blame.judge(endings, 3.0)
    assert verdict == blame.Verdict("hung", 1, "rank 1 never arrived within 3 s: rank 0 waited")
    endings[1].calls = waits
    assert "waited for each other within 3 s: a deadlock" in blame.judge(endings, 3.0).message
    endings[1] = ended(1)
    assert blame.judge(endings, 3.0).message == "rank 1 returned early: rank 0 waited"
    assert blame.judge(endings, 3.0).rank == 1


def test_a_refusal_is_no_failure():
    verdict = blame.judge([ended(0, "refused", message="take 4 ranks"), ended(1)], None)
    assert verdict == blame.Verdict("refused", None, "take 4 ranks")


def test_a_dump_is_shown_from_main_on_like_a_traceback(tmp_path):
    demo = tmp_path / "demo.py"
    demo.write_text("def main():\n    wait_long()\n")
    dump = f"""Fatal Python error: Aborted

Thread 0x01 (most recent call first):
  File "{stack.BENCH}/body.py", line 1 in watch
  File "/lib/threading.py", line 1 in run
  File "/lib/threading.py", line 2 in _bootstrap
  File "/lib/threading.py", line 3 in _bootstrap

Thread 0x02 (most recent call first):
  File "{demo}", line 2 in main
  File "{stack.BENCH}/body.py", line 2 in lived
"""
    expected = f'  File "{demo}", line 2, in main\n    wait_long()'
    assert stack.shown(stack.frames(dump)) == expected
