"""A demo as its own program: options, report, breaks, exit codes."""

import subprocess
import sys

import pytest

from .conftest import FAULTS, Programs, Warm

pytestmark = pytest.mark.demo

DEMO = '''
"""Adding up goes round.

Watch
    total (shared)  the sum
    seen            what a rank sent
"""
from typing import Literal

from _bench import Break, Metrics, check, compared, computed, counted, exchange, rank, ranks, run
from _bench import shared
import torch

TOPIC = "comm"


def main(start: int = 1, way: Literal["up", "down"] = "up", scale: float = 1.0,
         exact: bool = True) -> Metrics:
    me, n = rank(), ranks()
    step = 1 if way == "up" else -1
    total = mine = torch.tensor([(start + me) * scale])
    for _ in range(n - 1):
        mine = exchange(mine, (me + step) % n, torch.empty(1), (me - step) % n).wait()
        total = total + mine
    expected = scale * (n * start + n * (n - 1) / 2)
    check("sum is right", total, "==" if exact else "<=", expected)
    return {"total": shared(compared(total)), "seen": counted(start + me)}


BREAKS = {
    "forgets-itself": Break(
        old="total = mine = torch", new="total, mine = 0, torch", expect="sum is right", ranks=3,
        source="a first try",
    ),
    "no-such-name": Break(old="total + mine", new="total + theirs", expect="crashes: NameError"),
    "one-too-few": Break(old="range(n - 1)", new="range(n - 1 - (me == 1))", expect="hangs"),
    "own-tags": Break(old=") % n).wait()", new=") % n, tag=me).wait()", expect="hangs"),
    "wrong-hope": Break(old="total + mine", new="total + theirs", expect="sum is right"),
}

if __name__ == "__main__":
    run(__file__)
'''


def test_a_report_has_all_its_parts(programs: Programs):
    programs.popen = subprocess.Popen
    path = programs.write("go_round", DEMO)
    code, report, err = programs.demo(path, "--start", 5, "--scale", "2", "--way", "down")
    assert (code, err) == (0, "")
    assert report.pop("seconds") > 0
    assert report.pop("torch").count(".") == 2
    assert report == {
        "schema": "quizkit/report/1",
        "demo": "go-round",
        "ranks": 4,
        "args": {"start": 5, "way": "down", "scale": 2.0, "exact": True},
        "broken": None,
        "backend": "gloo",
        "device": "cpu",
        "staged": False,
        "reason": "no CUDA GPU found",
        "start": "fork",
        "outcome": "finished",
        "error": None,
        "checks": [
            {
                "name": "sum is right",
                "measured": 52.0,
                "relation": "==",
                "expected": 52.0,
                "holds": True,
            }
        ],
        "metrics": {"total": 52.0, "seen": [5, 6, 7, 8]},
        "how": {"total": "compared", "seen": "counted"},
        "floors": {},
        "timeline": {"clock": "virtual", "events": [], "hops": [], "letters": {}},
        "pictures": [],
        "verdict": "pass",
    }


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
def test_any_number_of_ranks(warm: Warm, ranks: int):
    warm.programs.write("go_round", DEMO)
    report = warm.run("go-round", ranks, args={"exact": False})
    assert (report["verdict"], report["ranks"]) == ("pass", ranks)
    assert report["metrics"]["total"] == ranks * (ranks + 1) / 2


def test_the_report_in_words(programs: Programs):
    path = programs.write("go_round", DEMO)
    done = programs.run(sys.executable, path, "--ranks", 2, "--no-exact", "--device", "cpu")
    first, *rest = done.stdout.splitlines()
    words = "go-round on 2 ranks: gloo on cpu (--device cpu was asked for), fork, "
    assert first.startswith(words)
    assert rest == [
        "  total  3  (compared)",
        "  seen   [1, 2]  (counted)",
        "  ok   sum is right: 3 <= 3",
        "pass (finished)",
    ]


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("forgets-itself", 1, "bug 'forgets-itself': expected 'sum is right' to show: it did"),
        ("no-such-name", 1, "bug 'no-such-name': expected 'crashes: NameError' to show: it did"),
        ("one-too-few", 124, "bug 'one-too-few': expected 'hangs' to show: it did"),
        ("wrong-hope", 1, "bug 'wrong-hope': expected 'sum is right' to show: IT DID NOT"),
    ],
)
def test_a_planted_bug_shows_as_declared(programs: Programs, name: str, code: int, words: str):
    path = programs.write("go_round", DEMO)
    done = programs.run(sys.executable, path, "--break", name, "--deadline", 2)
    assert done.returncode == code
    assert done.stdout.splitlines()[-1] == words
    assert f"on {3 if name == 'forgets-itself' else 2} ranks, bug '{name}' planted" in done.stdout


def test_a_traceback_shows_the_planted_line(warm: Warm):
    warm.programs.write("go_round", DEMO)
    report = warm.run("go-round", 2, **{"break": "no-such-name"})
    assert report["broken"] == "no-such-name"
    assert "\n    total = total + theirs\n" in report["error"]["message"]
    report = warm.run("go-round", 2, **{"break": "own-tags"}, deadline=1)
    assert "(me - step) % n, tag=me).wait()" in report["error"]["stacks"][0]


LIGHT = '''"""The law in one line."""
from typing import Literal

from _bench import Break, run


def main(
    way: Literal["up", "down"] = "up",
    exact: bool = True,  # 100 % or a "#" less
    scale: float = 1.0,
):
    return {}


BREAKS = {"a-bug": Break(old="return", new="raise", expect="hangs")}
run(__file__)
'''


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rank", 3], "unrecognized arguments"),
        (["--ranks", "x"], "invalid int"),
        (["--way", "round"], "invalid choice: 'round'"),
        (["--break", "odd"], "invalid choice: 'odd'"),
        (["--deadline", 0], "invalid seconds"),
        (["--deadline", 1e8], "invalid seconds"),
    ],
)
def test_usage(programs: Programs, options: list, words: str):
    done = programs.run(sys.executable, programs.write("light", LIGHT), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_help_names_the_law_and_every_option(programs: Programs):
    done = programs.run(sys.executable, programs.write("light", LIGHT), "--help")
    assert done.returncode == 0
    for word in ("The law in one line.", "--ranks", "--way {up,down}", "--no-exact", "{a-bug}"):
        assert word in done.stdout
    assert " default 1.0" in done.stdout
    assert '100 % or a "#" less, default True' in " ".join(done.stdout.split())


def test_cuda_that_is_not_there(programs: Programs):
    done = programs.run(sys.executable, programs.write("faults", FAULTS), "--device", "cuda")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "no CUDA GPU found: use --device cpu, or auto\n"


def test_a_refusal_has_its_exit_code(programs: Programs):
    path = programs.write("faults", FAULTS)
    code, report, _ = programs.demo(path, "--kind", "refuse")
    assert (code, report["verdict"]) == (2, "error")
    code, report, _ = programs.demo(path, "--ranks", 65)
    assert (code, report["outcome"]) == (2, "refused")


@pytest.mark.parametrize(
    ("ends", "verdict", "words"),
    [
        ("return {}", "error", "made no check"),
        ("check('a', float('nan'), '<', 1); return {}", "fail", ""),
        ("check('a', 1, '<', 1); return {}", "fail", ""),
        (
            "return {'m': shared(counted(rank()))}",
            "error",
            "m is shared, but the ranks have [0, 1]",
        ),
        ("return {str(rank()): counted(1)}", "error", "rank 1 and rank 0 do not report the same"),
        ("return {'m': 1}", "error", "needs counted()"),
        ("return {'m': counted(float('inf'))}", "error", "made no check"),
    ],
)
def test_what_cannot_pass(warm: Warm, ends: str, verdict: str, words: str):
    names = "from _bench import check, counted, rank, shared"
    warm.programs.write("ends", f"{names}\n\ndef main():\n    {ends}\n")
    report = warm.run("ends", 2)
    assert report["verdict"] == verdict
    assert words in (report["error"] or {"message": ""})["message"]
    if "inf" in ends:
        assert report["metrics"] == {"m": ["inf", "inf"]}


def test_the_bench_alone_makes_a_rank(programs: Programs):
    path = programs.write("alone", "from _bench import rank\nprint(rank())\n")
    done = programs.run(sys.executable, path)
    assert "RuntimeError: no run is on" in done.stderr


def test_every_rank_has_one_thread_and_draws_the_same(programs: Programs):
    programs.popen = subprocess.Popen
    path = programs.write(
        "draws",
        """
from _bench import check, compared, run, shared
import torch

def main():
    seeded = torch.Generator().manual_seed(0)
    check("as seeded", torch.rand(1), "==", torch.rand(1, generator=seeded).item())
    check("one thread", torch.get_num_threads(), "==", 1)
    return {"drawn": shared(compared(torch.rand(1)))}

if __name__ == "__main__":
    run(__file__)
""",
    )
    code, report, _ = programs.demo(path, OMP_NUM_THREADS="2")
    assert (code, len(report["checks"])) == (0, 2)


def test_a_rank_that_forks_and_dies_is_noticed(warm: Warm):
    """Its child holds no pipe of the bench's, and is ended too."""
    warm.programs.write(
        "forks",
        """
import os
import time
from _bench import check, rank

def main():
    if rank() == 1 and os.fork() == 0:
        os.setsid()
        time.sleep(600)
    if rank() == 1:
        os.kill(os.getpid(), 9)
    time.sleep(0.05)
    check("any", 1, "==", 1)
    return {}
""",
    )
    report = warm.run("forks", 2, deadline=30)
    assert report["error"]["message"].startswith("rank 1 died of SIGKILL")
    assert report["seconds"] < 20
