"""How fast it feels: ratios against a peer in the same rounds, medians, targets beside them.

python tests/bench/speeds.py [--rounds 7]

Targets are for Linux on a CPU. On a busy machine both sides of a ratio suffer, not always alike:
look at the spread before believing a figure.
"""

import argparse
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from quizkit.answer import Answer
from quizkit.diary import Diary
from quizkit.tutor.memory import Memory

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


def large_bank(folder: Path, size: int) -> Path:
    """A bank of so many questions: the shipped ones again and again under other names."""
    shipped = [path for path in (ROOT / "questions").glob("*/*.yaml") if path.name[0] != "_"]
    shipped = [path for path in shipped if path.parent.name != "mocks"]
    for number in range(size):
        source = shipped[number % len(shipped)]
        shelf = folder / source.parent.name
        if not shelf.exists():
            shelf.mkdir(parents=True)
            for name in ("_topic.yaml", "_myths.yaml"):
                shutil.copy(source.parent / name, shelf)
        shutil.copy(source, shelf / f"{source.stem}-{number // len(shipped)}.yaml")
    return folder


def first_question(home: str, *options: str) -> float:
    """Wall seconds until a question stands on a pseudo-terminal: its number and its keys."""
    start = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(QUIZKIT_HOME=home, TERM="xterm-256color", LANG="C.UTF-8")
        os.chdir(ROOT)
        os.execv(PYTHON, [*QUIZKIT, "study", "--seed", "1", "--lang", "en", *options])
    seen = b""
    while b"1/" not in seen or b"quit" not in seen.lower():
        seen += os.read(terminal, 65536)
    took = time.perf_counter() - start
    os.write(terminal, b"\x03")
    os.close(terminal)
    os.waitpid(child, 0)
    return took


def many_answers(home: Path, count: int) -> None:
    """A diary of so many answers to the shipped questions."""
    names = sorted(
        f"{path.parent.name}/{path.stem}"
        for path in (ROOT / "questions").glob("*/*.yaml")
        if path.name[0] != "_" and path.parent.name != "mocks"
    )
    start = datetime.now(UTC) - timedelta(days=400)
    home.mkdir()
    with Diary(home / "diary.sqlite3") as diary:
        for number in range(count):
            diary.append(
                Answer(
                    uuid=f"{number:032x}",
                    device="bench",
                    at=start + timedelta(minutes=5 * number),
                    session="bench",
                    question=names[number * 7919 % len(names)],
                    lang="en",
                    seed=number,
                    right=number % 5 > 0,
                    score=float(number % 5 > 0),
                    grade=1 + number % 4,
                )
            )
        Memory(diary)  # folded once, as by the session that wrote the last of them


def key_to_screen(home: str) -> float:
    """Wall seconds from a key (the other language) to the screen that it changes, the median."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(QUIZKIT_HOME=home, TERM="xterm-256color", LANG="C.UTF-8")
        os.chdir(ROOT)
        command = ["study", "--seed", "1", "--lang", "en", "--kind", "choice"]
        os.execv(PYTHON, [*QUIZKIT, *command])
    seen, took = b"", list[float]()
    while b"quit" not in seen:
        seen += os.read(terminal, 65536)
    time.sleep(2)  # the bench has warmed up
    for wanted in ["退出".encode(), b"quit"] * 5:
        seen, start = b"", time.perf_counter()
        os.write(terminal, b"t")
        while wanted not in seen:
            seen += os.read(terminal, 65536)
        took.append(time.perf_counter() - start)
    os.write(terminal, b"\x03")
    os.close(terminal)
    os.waitpid(child, 0)
    return median(took)


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
        few, many = (large_bank(Path(folder) / str(n), n) for n in (2_000, 20_000))
        old = Path(folder) / "old"
        many_answers(old, 100_000)
        torchrun = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "4"]
        measures: dict[str, Callable[[], float]] = {
            "empty app --help": lambda: timed([PYTHON, str(empty), "--help"]),
            "quizkit --help": lambda: timed([*QUIZKIT, "--help"]),
            "first question": lambda: first_question(folder),
            "first of 2,000": lambda: first_question(folder, "--bank", str(few)),
            "first of 20,000": lambda: first_question(folder, "--bank", str(many)),
            "first after 100,000 answers": lambda: first_question(str(old)),
            "search 20,000": lambda: timed(
                [*QUIZKIT, "search", "bubble", "--bank", str(many)], QUIZKIT_HOME=folder
            ),
            "quizkit due": lambda: timed([*QUIZKIT, "due"], QUIZKIT_HOME=folder),
            "key to screen": lambda: key_to_screen(folder),
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
        ("first of 2,000", "empty app --help", 2.0),
        ("first of 20,000", "empty app --help", 2.5),
        ("cold demo", "import torch", 1.4),
        ("cold demo", "torchrun", 0.35),
        ("warm proof", "import torch", 0.35),
    ]
    gaps = [  # seconds that one may take longer than the other
        ("first after 100,000 answers", "first question", 0.15),
        ("search 20,000", "quizkit due", 0.2),
        ("key to screen", None, 0.05),
    ]
    for name, values in seconds.items():
        print(f"{name:27} {median(values):7.3f} s   ({min(values):.3f} to {max(values):.3f})")
    for ours, peer, target in ratios:
        pairs = zip(seconds[ours], seconds[peer], strict=True)
        ratio = median(a / b for a, b in pairs)
        word = "ok  " if ratio <= target else "SLOW"
        print(f"{word} {ours} / {peer}: {ratio:.2f} (target {target})")
    for ours, peer, target in gaps:
        base = seconds[peer] if peer else [0.0] * rounds
        gap = median(a - b for a, b in zip(seconds[ours], base, strict=True))
        word = "ok  " if gap <= target else "SLOW"
        print(f"{word} {ours} - {peer or 'nothing'}: {gap:.3f} s (target {target})")


if __name__ == "__main__":
    main()
