"""The client of the bench: real runs, and every way in which one can be cut short."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from quizkit.errors import LabError, UsageError
from quizkit.lab.bench import Bench, Cancelled
from quizkit.lab.report import Setting

pytestmark = pytest.mark.demo

DEMO = '''"""{law}

The trick
    None.
Watch
    number   a number
Run
    quizkit demo {name}
"""
import os, sys, time
from _bench import Metrics, barrier, check, compared, counted, rank, run

TOPIC = "test"

def main(value: float = 1.0) -> Metrics:
    {body}

if __name__ == "__main__":
    run(__file__)
'''

DEMOS = {
    "quick": 'check("it is one", value, "==", 1); return {"number": counted(rank())}',
    "endless": "time.sleep(600)",
    "loud": 'print("x" * 100_000); check("yes", 1, "==", 1); return {"number": counted(1)}',
    "odd": 'check("finite", value, "<", 9); return {"number": compared(value * float("nan"))}',
}


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    for name, body in DEMOS.items():
        text = DEMO.format(law=f"A {name} demo.", name=name, body=body)
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def bench(demos: Path, family: object) -> Iterator[Bench]:
    with Bench(demos) as made:
        yield made


QUICK = Setting("quick", 2)
ENDLESS = Setting("endless", 2)


def once(ready: Callable[[], object], then: Callable[[], object]) -> threading.Thread:
    """Do something, from outside, as soon as something else has come about."""

    def wait() -> None:
        ready()
        then()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_one_warm_bench_for_many_runs(cold: None, bench: Bench, family) -> None:
    bench.start()
    reports = [bench.run(QUICK) for _ in range(3)]
    (process,) = family.becomes(1)
    assert [report.verdict for report in reports] == ["pass"] * 3
    assert reports[0].metrics["number"] == (0, 1)
    bench.run(QUICK)
    assert [*family.becomes(1)] == [process]
    assert os.getsid(process) != os.getsid(0)  # the terminal's Ctrl-C does not reach it


def test_a_report_says_what_it_was_asked(bench: Bench) -> None:
    report = bench.run(Setting("quick", 3, (("value", 2.5),)), device="cpu")
    assert (report.demo, report.ranks, dict(report.args)) == ("quick", 3, {"value": 2.5})
    assert report.verdict == "fail"
    assert (report.device, report.backend) == ("cpu", "gloo")


def test_nan_arrives_as_nan(bench: Bench) -> None:
    number = bench.run(Setting("odd", 2)).metrics["number"]
    assert str(number) == "(nan, nan)"


def test_what_ranks_print_does_not_disturb(bench: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    assert bench.run(Setting("loud", 4)).verdict == "pass"
    assert capfd.readouterr() == ("", "")


def test_a_request_that_cannot_be_is_the_users(bench: Bench) -> None:
    for wrong in (
        Setting("missing", 2),
        Setting("quick", 2, (("colour", 1),)),
        Setting("quick", 2, (("value", "red"),)),
        Setting("quick", 2, broken="missing"),
    ):
        with pytest.raises(UsageError) as caught:
            bench.run(wrong)
        assert caught.value.exit_code == 2
    assert bench.run(QUICK).verdict == "pass"


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_the_environments(bench: Bench) -> None:
    with pytest.raises(LabError, match="CUDA") as caught:
        bench.run(QUICK, device="cuda")
    assert caught.value.exit_code == 3


def test_a_deadline_ends_a_hang(bench: Bench, family) -> None:
    report = bench.run(ENDLESS, deadline=0.2)
    assert report.outcome == "hung"
    assert report.shows("hangs")
    family.becomes(1)


def test_cancel_from_another_thread(bench: Bench, family) -> None:
    bench.run(QUICK)
    (process,) = family.becomes(1)
    thread = once(lambda: family.becomes(3), bench.cancel)
    report = bench.run(ENDLESS)
    thread.join()
    assert (report.outcome, report.verdict) == ("killed", "error")
    assert [*family.becomes(1)] == [process]
    bench.cancel()  # nothing runs: nothing happens
    assert bench.run(QUICK).verdict == "pass"


def test_ctrl_c_ends_the_run_and_keeps_the_bench(bench: Bench, family) -> None:
    before = signal.getsignal(signal.SIGINT)
    bench.run(QUICK)
    (process,) = family.becomes(1)
    thread = once(lambda: family.becomes(3), lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt) as caught:
        bench.run(ENDLESS)
    thread.join()
    assert isinstance(caught.value, Cancelled)
    assert caught.value.report
    assert caught.value.report.outcome == "killed"
    assert [*family.becomes(1)] == [process]
    assert signal.getsignal(signal.SIGINT) == before
    assert bench.run(QUICK).verdict == "pass"


def test_a_second_ctrl_c_does_not_wait_for_a_bench_that_is_stuck(bench: Bench, family) -> None:
    bench.run(QUICK)
    (process,) = family.becomes(1)

    child, asked = bench._child, threading.Event()  # pyright: ignore[reportPrivateUsage]
    assert child
    send = child.send

    def noticed(message: dict[str, object]) -> None:
        send(message)
        if "cancel" in message:
            asked.set()

    child.send = noticed

    def insist() -> None:
        family.becomes(3)
        os.kill(process, signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGINT)
        assert asked.wait(60)  # else the system may make one signal of two
        os.kill(os.getpid(), signal.SIGINT)

    thread = once(insist, lambda: None)
    with pytest.raises(Cancelled):
        bench.run(ENDLESS)
    thread.join()
    family.becomes(0)
    assert bench.run(QUICK).verdict == "pass"


def test_ctrl_c_while_torch_is_still_being_imported(
    cold: None, bench: Bench, demos: Path, family
) -> None:
    (demos / "torch.py").write_text("import time; time.sleep(600)", encoding="utf-8")
    thread = once(lambda: family.becomes(1), lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(Cancelled) as caught:
        bench.run(QUICK)
    thread.join()
    assert caught.value.report is None
    family.becomes(0)
    (demos / "torch.py").unlink()
    assert bench.run(QUICK).verdict == "pass"


def test_a_bench_killed_during_a_run(bench: Bench, family) -> None:
    bench.run(QUICK)
    (process,) = family.becomes(1)
    thread = once(lambda: family.becomes(3), lambda: os.kill(process, signal.SIGKILL))
    with pytest.raises(LabError, match=r"killed \(SIGKILL\), most likely because memory ran out"):
        bench.run(ENDLESS)
    thread.join()
    family.becomes(0)
    assert bench.run(QUICK).verdict == "pass"


def test_a_bench_killed_between_runs_is_started_anew(bench: Bench, family) -> None:
    bench.run(QUICK)
    (process,) = family.becomes(1)
    os.kill(process, signal.SIGKILL)
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    assert bench.run(QUICK).verdict == "pass"
    assert [*family.becomes(1)] != [process]


def test_a_bench_that_cannot_serve_says_why(cold: None, bench: Bench, demos: Path) -> None:
    (demos / "torch.py").write_text("raise OSError('libtorch.so: no such file')", encoding="utf-8")
    with pytest.raises(LabError, match=r"libtorch\.so: no such file"):
        bench.run(QUICK)
    (demos / "torch.py").write_text("__version__ = '1.13.0'", encoding="utf-8")
    with pytest.raises(LabError, match=r"1\.13"):
        bench.run(QUICK)


def test_closing_leaves_nothing_even_in_the_midst_of_a_run(demos: Path, family) -> None:
    bench = Bench(demos)
    bench.run(QUICK)
    outcome: list[object] = []

    def run() -> None:
        try:
            outcome.append(bench.run(ENDLESS))
        except LabError as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    family.becomes(3)
    bench.close()
    thread.join()
    family.becomes(0)
    assert len(outcome) == 1


def test_nobody_outlives_a_quizkit_that_was_killed(demos: Path, family) -> None:
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from quizkit.lab.bench import Bench\nfrom quizkit.lab.report import Setting\n"
        "Bench(Path(sys.argv[1])).run(Setting('endless', 2))\n"
    )
    process = os.posix_spawn(sys.executable, [sys.executable, "-c", script, str(demos)], os.environ)
    family.becomes(4)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    family.becomes(0)
