"""Damage a diary in every way a disk can, and ask every command that reads it: none may break.

python tests/bench/damage.py [--times 60] [--seed 1]

A sound diary is written once. Of each copy some bits are flipped, pages are zeroed, filled with
noise or swapped, rows are spoiled under SQLite's nose, or the end is cut off. Then each command
must end with exit code 0 or 4, on 4 with a sentence, and never with a traceback.
"""

import argparse
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess

from quizkit.answer import Answer, SessionEvent
from quizkit.diary import Diary

sys.path.append(str(Path(__file__).parents[1] / "start"))

import started  # pyright: ignore[reportMissingImports]

COMMANDS = (
    ("due", "--json"),
    ("stats",),
    ("stats", "--json"),
    ("study", "--json", "--topic", "pp", "--limit", "2"),
    ("plan", "--interview", f"{date.today() + timedelta(days=30)}", "--minutes", "30"),
    ("mock", "--list", "--plain"),
    ("mock", "--history", "--plain"),
    ("mock", "--resume", "--plain"),
    ("bank", "flags"),
    ("data", "--where"),
    ("data", "--export"),
)
_PAGE = 4096
_START = datetime(2026, 3, 1, 8, tzinfo=UTC)
_NAMES = ("dp/skipped-branch", "tp/head-memory", "pp/whole-batch", "pp/gone")


def written(path: Path, rows: int = 300) -> None:
    """A diary with answers, two interviews, flags and an essay half written."""
    with Diary(path) as diary:
        for i in range(rows):
            right = i % 3 > 0
            diary.append(
                Answer(
                    uuid=f"{i:032x}",
                    device="d1",
                    at=_START + timedelta(hours=i),
                    session=f"s{i // 20}",
                    question=_NAMES[i % len(_NAMES)],
                    lang="zh" if i % 2 else "en",
                    seed=i,
                    given={"text": "气泡 bubble " * (i % 40), "points": [0, 1]},
                    score=1.0 if right else 0.0,
                    right=right,
                    grade=3 if right else 1,
                    seconds=i / 7,
                    note="flag: 题面有误" if i % 50 == 49 else "" if right else "myth: half",
                    undoes=f"{i - 1:032x}" if i % 29 == 28 else None,
                )
            )
        for session, ended in (("m1", True), ("m2", False)):
            start = {
                "script": "pipeline-screen",
                "lang": "zh",
                "total": 900.0,
                "budget": 60.0,
                "scale": 1.0,
            }
            notes: list[tuple[str, dict[str, object]]] = [("start", start)]
            notes += [
                ("alive", {"spent": float(n), "draft": "x" * n, "used": float(n), "paused": 0.0})
                for n in range(40)
            ]
            if ended:
                card = {"verdict": "pass", "overall": 3.5, "best": 5, "script": "pipeline-screen"}
                notes.append(("done", {"card": card}))
            for n, (name, note) in enumerate(notes):
                at = _START + timedelta(seconds=n)
                diary.log(SessionEvent(device="d1", at=at, session=session, name=name, note=note))


def _flipped(data: bytearray, dice: random.Random) -> None:
    for _ in range(dice.choice((1, 3, 30))):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def _zeroed(data: bytearray, dice: random.Random) -> None:
    at = dice.randrange(len(data) // _PAGE) * _PAGE
    size = dice.choice((512, _PAGE, 4 * _PAGE))
    data[at : at + size] = bytes(len(data[at : at + size]))


def _noise(data: bytearray, dice: random.Random) -> None:
    at, size = dice.randrange(len(data)), dice.choice((16, 512, _PAGE))
    data[at : at + size] = dice.randbytes(len(data[at : at + size]))


def _swapped(data: bytearray, dice: random.Random) -> None:
    pages = len(data) // _PAGE
    one, two = (dice.randrange(1, pages) * _PAGE for _ in range(2))
    data[one : one + _PAGE], data[two : two + _PAGE] = (
        data[two : two + _PAGE],
        data[one : one + _PAGE],
    )


def _cut(data: bytearray, dice: random.Random) -> None:
    del data[dice.randrange(len(data)) :]


_DISK: tuple[Callable[[bytearray, random.Random], None], ...] = (
    _flipped, _flipped, _zeroed, _noise, _swapped, _cut,
)  # fmt: skip
_VALUES = (
    "cast(x'fffe' as text)", "'\x1b[31mred'", "'{'", "''", "'NaN'", "'[' || hex(randomblob(9))",
    "-1", "253402300799999", "9223372036854775807", "0", "'{}'", "'[]'", "'1e999'",
)  # fmt: skip
_CELLS = {
    "answers": ("at", "question", "session", "lang", "given", "note", "uuid", "undoes", "seed"),
    "events": ("at", "session", "name", "note"),
    "cards": ("seen", "reps", "lapses", "stability", "difficulty", "due", "last", "question"),
}


def _spoilt(path: Path, dice: random.Random) -> str:
    """One cell with another value; what a table forbids is left out."""
    table = dice.choice([*_CELLS])
    cell, value = dice.choice(_CELLS[table]), dice.choice(_VALUES)
    key = "question" if table == "cards" else "id"
    with closing(sqlite3.connect(path)) as database:
        for each in ("answers_are_final", "events_are_final"):
            database.execute(f"drop trigger if exists {each}")
        keys = [row[0] for row in database.execute(f"select {key} from {table} order by {key}")]
        chosen = dice.sample(keys, min(len(keys), dice.choice((1, 5))))
        statement = f"update or ignore {table} set {cell} = {value} where {key} = ?"
        try:
            database.executemany(statement, [(each,) for each in chosen])
        except sqlite3.IntegrityError:
            return ""
        database.commit()
    return f"{table}.{cell} = {value}"


def damaged(sound: Path, home: Path, dice: random.Random) -> str:
    """Put a damaged copy into the home; says how it was damaged."""
    home.mkdir(parents=True)
    file = home / "diary.sqlite3"
    shutil.copyfile(sound, file)
    if dice.random() < 0.4:
        while not (said := _spoilt(file, dice)):
            pass
        return said
    data, change = bytearray(file.read_bytes()), dice.choice(_DISK)
    change(data, dice)
    file.write_bytes(data)
    return change.__name__.strip("_")


def broken(home: Path, sound: Path) -> Iterator[str]:
    """What each command made of it that it should not have."""
    env = os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en"}
    other = home.with_name(f"{home.name}-other")
    other.mkdir()
    shutil.copyfile(sound, other / "diary.sqlite3")
    merge = ("data", "--merge", str(home / "diary.sqlite3"))
    runs: list[tuple[tuple[str, ...], CompletedProcess[str]]] = [
        (merge, started.quizkit(*merge, env=env | {"QUIZKIT_HOME": str(other)}))
    ]
    runs += [(words, started.quizkit(*words, env=env)) for words in COMMANDS]
    for words, done in runs:
        # `mock --resume` finds none to go on with: that is a usage error.
        fine = (0, 2, 4, 130) if words[0] == "mock" else (0, 4)
        if "Traceback" in done.stderr or done.returncode not in fine:
            last = done.stderr.strip().splitlines()[-1:]
            yield f"{' '.join(words)}: exit {done.returncode}: {last}"
        elif done.returncode == 4 and "quizkit: " not in done.stderr:
            yield f"{' '.join(words)}: exit 4 and not a word"
        elif "\x1b" in done.stdout + done.stderr:
            yield f"{' '.join(words)}: an escape sequence reaches the terminal"
        elif "--export" in words and done.stdout:
            json.loads(done.stdout, parse_constant=float)


def survives(times: int, seed: int) -> list[str]:
    """What went wrong over so many damaged diaries."""
    dice, found = random.Random(seed), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sound").mkdir()
        sound = Path(folder) / "sound" / "diary.sqlite3"
        written(sound)
        env = os.environ | {"QUIZKIT_HOME": str(sound.parent), "QUIZKIT_LANG": "en"}
        assert started.quizkit("due", env=env).returncode == 0  # so that cards are cached
        for number in range(times):
            home = Path(folder) / f"home{number}"
            how = damaged(sound, home, dice)
            found += [f"{number} ({how}): {each}" for each in broken(home, sound)]
            shutil.rmtree(home)
            shutil.rmtree(home.with_name(f"{home.name}-other"))
    return found


def main() -> int:
    """Damage, ask, and say what broke."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["QUIZKIT_CACHE"] = cache
        found = survives(given.times, given.seed)
    print("\n".join(found))
    asked = given.times * (len(COMMANDS) + 1)
    print(f"{given.times} damaged diaries, {asked} commands, {len(found)} broke")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
