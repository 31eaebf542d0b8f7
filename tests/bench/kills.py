"""Kill a study session with SIGKILL again and again while it is answered; nothing may be lost.

python tests/bench/kills.py [--times 200] [--seed 1]

Each session speaks JSON lines and is killed at a random moment. After every kill the diary must
hold each answer whose verdict had been printed, SQLite must find nothing wrong with it, and the
next session must start.
"""

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing, suppress
from pathlib import Path

from quizkit.diary import Diary

QUIZKIT = [sys.executable, "-m", "quizkit"]
ANSWERS = {
    "choice": [0],
    "numeric": "1",
    "order": None,
    "cloze": None,
    "trace": "1",
    "bug": None,
    "essay": {"text": "x", "points": [], "vetoes": []},
}


def killed_session(home: Path, verdicts: int, later: float) -> list[str]:
    """Answer until that many verdicts have come, go on, and be killed `later` seconds after.

    Gives the verdicts that were printed. With no verdict to wait for it is killed while it starts.
    """
    command = [*QUIZKIT, "study", "--json", "--topic", "comm", "--limit", "1000"]
    told: list[str] = []
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en"},
        text=True,
    ) as session:
        assert session.stdin
        assert session.stdout
        timer = threading.Timer(later, session.send_signal, [signal.SIGKILL])
        if not verdicts:
            timer.start()
        with suppress(BrokenPipeError):
            for line in session.stdout:
                if not line.endswith("\n"):
                    break  # cut off by the kill: nobody was told
                said = json.loads(line)
                if "verdict" in said:
                    told.append(said["verdict"]["uuid"])
                    if len(told) == verdicts:
                        timer.start()
                if "ask" in said:
                    answer = {"answer": ANSWERS[said["ask"]["kind"]]}
                    session.stdin.write(json.dumps(answer) + "\n")
                    session.stdin.flush()
        if timer.ident:  # else the session had ended before it came to that
            timer.join()
        with suppress(BrokenPipeError):
            session.stdin.close()
    return told


def survives(times: int, seed: int) -> int:
    """How many answers were acknowledged over so many kills. Raises AssertionError for a loss."""
    dice, told = random.Random(seed), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        file = home / "diary.sqlite3"
        for _ in range(times):
            verdicts = dice.randint(0, 30)
            told += killed_session(home, verdicts, dice.uniform(0.0, 0.01 if verdicts else 0.3))
            if not file.exists():
                continue
            with closing(sqlite3.connect(file)) as database:
                assert database.execute("pragma integrity_check").fetchone() == ("ok",)
            with Diary(file) as diary:
                kept = {row.uuid for row in diary.answers()}
            lost = set(told) - kept
            assert not lost, f"lost after a kill: {lost}"
    return len(told)


def main() -> None:
    """Kill, look, and say how much was there to lose."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    told = survives(given.times, given.seed)
    print(f"{given.times} kills, {told} answers acknowledged, none lost, no file harmed")


if __name__ == "__main__":
    main()
