"""The warm bench, as the tool drives it: requests in, replies out, one run at a time."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import FAULTS, Programs, Warm

pytestmark = pytest.mark.demo

WAITS = """
import time
from _bench import check, rank, run

def main(seconds: float = 600.0):
    if rank() == 0:
        print("here", flush=True)
    time.sleep(seconds)
    check("any", 1, "==", 1)
    return {}
"""


@pytest.fixture
def bench(programs: Programs) -> Iterator[Warm]:
    """A bench of this test's own, to be ended by it."""
    programs.write("faults", FAULTS)
    programs.write("waits", WAITS)
    made = Warm(programs)
    assert made.receive()["ready"]["torch"]
    yield made
    if made.process.poll() is None:
        assert made.close() == 0


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """A bench that has imported torch itself, and all else that is there."""
    programs = Programs(tmp_path_factory.mktemp("cold"))
    programs.popen = subprocess.Popen
    made = Warm(programs)
    assert made.receive()["ready"]["torch"]
    yield made
    assert made.close() == 0
    programs.nothing_left()


def test_a_cancel_ends_the_run_and_not_the_bench(bench: Warm):
    bench.send({"id": "a", "demo": "waits", "ranks": 3})
    bench.said(b"here")
    bench.send({"id": "b", "demo": "waits", "ranks": 3})
    bench.send({"id": "c", "demo": "faults", "ranks": 2})
    bench.send({"cancel": "b"})
    bench.send({"cancel": "no such run"})
    bench.send({"cancel": "a"})
    replies = [bench.receive() for _ in range(3)]
    assert [each["id"] for each in replies] == ["a", "b", "c"]
    assert [each["report"]["outcome"] for each in replies] == ["killed", "killed", "finished"]
    assert replies[0]["report"]["seconds"] > 0
    assert replies[1]["report"]["seconds"] == 0
    assert bench.run("faults")["verdict"] == "pass"


def test_the_end_of_input_ends_the_run_and_the_bench(bench: Warm):
    bench.send({"id": "a", "demo": "waits"})
    bench.said(b"here")
    assert bench.close() == 0
    assert bench.programs.nothing_left()


@pytest.mark.skipif(sys.platform != "linux", reason="the policy is Linux's own")
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_ranks_do_not_cut_in_on_each_other_and_a_program_keeps_its_policy(
    programs: Programs, start: str
):
    text = FAULTS.replace("counted(rank())", "counted(os.sched_getscheduler(0))")
    path = programs.write("policy", text.replace('"another"', '"other"'))
    end = "    run(__file__)\n"
    path.write_text(path.read_text().replace(end, f"    print(os.sched_getscheduler(0))\n{end}"))
    asked = (sys.executable, path, "--json", "--ranks", 2)
    done = programs.run(*asked, QUIZKIT_START=start)
    before, report = done.stdout.split("\n", 1)
    assert int(before) == os.sched_getscheduler(0)
    assert json.loads(report)["metrics"]["number"] == [os.SCHED_BATCH] * 2
    if start == "fork":
        idle = "import os, sys; os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)); "
        again = idle + "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
        done = programs.run(sys.executable, "-c", again, *asked[1:])
        report = done.stdout.split("\n", 1)[1]
        assert json.loads(report)["metrics"]["number"] == [os.SCHED_IDLE] * 2


def test_ctrl_c_is_for_whoever_drives_the_bench(warm: Warm):
    warm.process.send_signal(signal.SIGINT)
    assert warm.run("faults")["verdict"] == "pass"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_bench_that_is_killed_takes_its_ranks_along(bench: Warm, number: int):
    bench.send({"id": "a", "demo": "waits"})
    bench.said(b"here")
    bench.process.send_signal(number)
    bench.process.communicate(timeout=30)
    assert bench.process.returncode == (143 if number == signal.SIGTERM else -number)
    assert bench.programs.nothing_left()


def test_a_driver_that_is_killed_outright_ends_the_bench(programs: Programs):
    programs.write("waits", WAITS)
    driver = programs.write(
        "driver",
        """
import subprocess, sys
bench = subprocess.Popen([sys.executable, "-P", "-m", "_bench"], stdin=subprocess.PIPE)
bench.stdin.write(b'{"id": "a", "demo": "waits"}\\n')
bench.stdin.flush()
bench.wait()
""",
    )
    with programs.start(sys.executable, driver) as process:
        assert process.stderr
        assert "here" in process.stderr.readline()
        process.kill()
        process.communicate(timeout=30)
    assert programs.nothing_left()


def test_it_does_not_import_torch_to_the_end_for_a_driver_that_was_killed(programs: Programs):
    programs.write("torch", "import os, time\nos.write(2, b'importing\\n')\ntime.sleep(600)\n")
    bench = 'subprocess.run([sys.executable, "-P", "-m", "_bench"], stdin=subprocess.PIPE)'
    driver = programs.write("driver", f"import subprocess, sys\n{bench}\n")
    with programs.start(sys.executable, driver) as process:
        assert process.stderr
        assert process.stderr.readline() == "importing\n"
        process.kill()
        process.communicate(timeout=30)  # its end is the end of all that write there
    assert programs.nothing_left()


def test_source_is_read_for_every_request(warm: Warm):
    warm.programs.write("changing", FAULTS)
    assert warm.run("changing")["metrics"] == {"number": [0, 1, 2]}
    warm.programs.write("changing", FAULTS.replace("counted(rank())", "counted(10 + rank())"))
    assert warm.run("changing")["metrics"] == {"number": [10, 11, 12]}


def test_what_a_demo_prints_stays_out_of_the_protocol(warm: Warm):
    warm.programs.write(
        "loud",
        'import os\nprint("top level")\n'
        + WAITS.replace("time.sleep(", "os.write(1, b'raw\\n'); ("),
    )
    assert warm.run("loud", 1)["outcome"] == "finished"
    assert b"[rank 0] raw\n" in warm.said(b"raw\n")


def test_heavy_modules_are_imported_once_in_the_bench(cold: Warm):
    cold.programs.write(
        "heavy",
        """
import sys
from _bench import check, run
before = "torch.distributed.pipelining" in sys.modules

def main():
    from torch.distributed import pipelining
    check("had before it asked", before, "==", True)
    return {}
""",
    )
    assert cold.run("heavy", 1)["verdict"] == "pass"


def test_what_the_bench_offers_is_imported_before_the_ranks_start(cold: Warm):
    cold.programs.write(
        "plain",
        """
import sys
from _bench import check, run

def main():
    for name in ("clock", "messages", "rings", "saved", "toy"):
        check(name, f"_bench.{name}" in sys.modules, "==", True)
    return {}
""",
    )
    assert cold.run("plain", 1)["verdict"] == "pass"


def test_warming_up_imports_what_is_named(cold: Warm):
    cold.programs.write(
        "warmed",
        """
import sys
from _bench import check, run

def main(module: str = "wave"):
    check("is there", module in sys.modules, "==", True)
    return {}
""",
    )
    assert cold.run("warmed", 1)["verdict"] == "fail"
    cold.send({"warm": ["wave", "no.such.module", "this"]})  # "this" prints when it is imported
    assert cold.run("warmed", 1)["verdict"] == "pass"


def kind_of(reply: dict) -> str:
    return reply["error"]["kind"]


def test_requests_that_are_not_right_say_so_and_hurt_nothing(warm: Warm):
    run = warm.run
    (warm.programs.folder / "inner").mkdir()
    warm.programs.write("inner/faults", FAULTS)
    for path in ("inner/faults", "/etc/passwd", "faults.py", "_bench", "no-such-demo", "Faults"):
        reply = run(path)
        assert kind_of(reply) == "usage"
        assert path in reply["error"]["message"]
    assert "no argument 'size'" in run("faults", args={"size": 3})["error"]["message"]
    assert "kind must be str" in run("faults", args={"kind": 3})["error"]["message"]
    gone: dict[str, Any] = {"break": "gone"}
    assert "no break 'gone'" in run("faults", **gone)["error"]["message"]
    wrongs: list[dict[str, Any]] = [
        {"ranks": "4"},
        {"deadline": 0},
        {"deadline": 1e8},
        {"device": "tpu"},
        {"rank": 3},
    ]
    for wrong in (*wrongs, {"ranks": True}):
        assert kind_of(run("faults", **wrong)) == "usage"
    assert kind_of(run("faults", device="cuda")) == "environment"
    warm.send([1, 2])  # type: ignore[arg-type]
    assert kind_of(warm.receive()) == "usage"
    assert run("faults")["verdict"] == "pass"


def test_too_many_ranks_are_refused_before_any_is_started(warm: Warm):
    report = warm.run("faults", 65)
    assert report["outcome"] == "refused"
    assert "take at most 64" in report["error"]["message"]
    assert warm.run("faults", 0)["outcome"] == "refused"


def test_a_demo_with_a_syntax_error_is_the_demos_fault(warm: Warm):
    warm.programs.write("broken", "def main():\n    return (\n")
    reply = warm.run("broken")
    assert kind_of(reply) == "usage"
    assert "broken.py:2" in reply["error"]["message"]


def test_without_torch_the_bench_says_how_to_get_it(programs: Programs):
    bare = [sys.executable, "-S", "-P", "-m", "_bench"]
    done = subprocess.run(bare, env=programs.environment, input=b"", capture_output=True)
    reply = json.loads(done.stdout)
    assert done.returncode == 3
    assert reply["error"]["kind"] == "environment"
    assert "pip install 'torch>=2.11' numpy" in reply["error"]["message"]


def test_without_torch_a_demo_says_how_to_get_it(programs: Programs):
    path = programs.write("faults", FAULTS)
    done = programs.run(sys.executable, "-S", path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "this demo needs torch: pip install 'torch>=2.11' numpy\n"


def test_a_torch_that_is_too_old(programs: Programs):
    programs.popen = subprocess.Popen
    old = programs.folder / "old" / "torch"
    old.mkdir(parents=True)
    (old / "__init__.py").write_text("__version__ = '2.10.0+cu126'\n")
    programs.environment["PYTHONPATH"] = os.pathsep.join(
        [str(old.parent), programs.environment["PYTHONPATH"]]
    )
    path = programs.write("plain", "from _bench import run\ndef main(): ...\nrun(__file__)\n")
    done = programs.run(sys.executable, path)
    assert done.returncode == 3
    assert done.stderr.startswith("the demos need torch 2.11 or newer, this is 2.10.0: pip install")


def test_without_numpy_nothing_is_said(programs: Programs):
    programs.popen = subprocess.Popen
    hidden = programs.folder / "hidden" / "numpy"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError('no numpy', name='numpy')\n")
    programs.environment["PYTHONPATH"] = os.pathsep.join(
        [str(hidden.parent), programs.environment["PYTHONPATH"]]
    )
    code, report, err = programs.demo(programs.write("faults", FAULTS))
    assert (code, report["verdict"], err) == (0, "pass", "")


def test_the_bench_finds_demos_beside_itself():
    from _bench import serve

    assert serve.find("all-reduce") == Path(serve.__file__).parents[1] / "all_reduce.py"
