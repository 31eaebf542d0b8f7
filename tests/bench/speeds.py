"""How fast it feels: ratios against a peer in the same rounds, medians, targets beside them.

python tests/bench/speeds.py [--rounds 7]

Targets are for Linux on a CPU. On a busy machine both sides of a ratio suffer, not always alike:
look at the spread before believing a figure.
"""

import argparse
import json
import os
import pty
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
PYTHON = sys.executable
QUIZKIT = [PYTHON, "-m", "quizkit"]
DEMO = str(ROOT / "demos" / "ring_attention.py")

EMPTY_APP = """
import typer
app = typer.Typer()
{commands}
@app.callback()
def start(): pass
app()
"""
COMMAND = "@app.command()\ndef command{n}(option: str = 'x'):\n    'Does nothing.'\n"


def timed(command: list[str], **environment: str) -> float:
    """Wall seconds of a command whose output nobody reads."""
    start = time.perf_counter()
    subprocess.run(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        check=True,
        cwd=ROOT,
        env=os.environ | environment,
    )
    return time.perf_counter() - start


def first_question(home: str) -> float:
    """Wall seconds until a question's text stands on a pseudo-terminal."""
    wanted = json.loads(
        subprocess.run(
            [*QUIZKIT, "list", "--topic", "pp", "--json"], capture_output=True, cwd=ROOT, check=True
        ).stdout
    )
    starts = [question["prompt"]["en"].split()[0].encode() for question in wanted["questions"]]
    start = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(QUIZKIT_HOME=home, TERM="xterm-256color", LANG="C.UTF-8")
        os.chdir(ROOT)
        os.execv(PYTHON, [*QUIZKIT, "study", "--topic", "pp", "--lang", "en"])
    seen = b""
    while not any(text in seen for text in starts):
        seen += os.read(terminal, 65536)
    took = time.perf_counter() - start
    os.write(terminal, b"\x03")
    os.close(terminal)
    os.waitpid(child, 0)
    return took


def warm_proof() -> float:
    """Wall seconds of one run of ring attention on a bench that has already run it."""
    script = (
        "import time\nfrom quizkit.lab.bench import Bench\nfrom quizkit.lab.report import Setting\n"
        "with Bench() as bench:\n    wanted = Setting('ring-attention', 4)\n    bench.run(wanted)\n"
        "    start = time.perf_counter()\n    assert bench.run(wanted).verdict == 'pass'\n"
        "    print(time.perf_counter() - start)\n"
    )
    done = subprocess.run([PYTHON, "-c", script], capture_output=True, cwd=ROOT, check=True)
    return float(done.stdout)


def main() -> None:
    """Take every measure once a round, print medians of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    commands = "".join(COMMAND.format(n=n) for n in range(14))
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.py"
        empty.write_text(EMPTY_APP.format(commands=commands))
        torchrun = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "4"]
        measures: dict[str, Callable[[], float]] = {
            "empty app --help": lambda: timed([PYTHON, str(empty), "--help"]),
            "quizkit --help": lambda: timed([*QUIZKIT, "--help"]),
            "first question": lambda: first_question(folder),
            "import torch": lambda: timed([PYTHON, "-c", "import torch"]),
            "cold demo": lambda: timed([*QUIZKIT, "demo", "ring-attention", "--gpus", "4"]),
            "torchrun": lambda: timed([*torchrun, DEMO], OMP_NUM_THREADS="1"),
            "warm proof": warm_proof,
        }
        seconds: dict[str, list[float]] = {name: [] for name in measures}
        for round_ in range(rounds + 1):
            for name, measure in measures.items():
                took = measure()
                if round_:  # the first round warms caches and bytecode
                    seconds[name].append(took)
    ratios = [
        ("quizkit --help", "empty app --help", 1.25),
        ("first question", "empty app --help", 2.0),
        ("cold demo", "import torch", 1.4),
        ("cold demo", "torchrun", 0.35),
        ("warm proof", "import torch", 0.35),
    ]
    for name, values in seconds.items():
        print(f"{name:18} {median(values):7.3f} s   ({min(values):.3f} to {max(values):.3f})")
    for ours, peer, target in ratios:
        pairs = zip(seconds[ours], seconds[peer], strict=True)
        ratio = median(a / b for a, b in pairs)
        word = "ok  " if ratio <= target else "SLOW"
        print(f"{word} {ours} / {peer}: {ratio:.2f} (target {target})")


if __name__ == "__main__":
    main()
