"""What is kept of runs: only what a run now would show, and nothing of whose machine it was."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from quizkit.lab import record
from quizkit.lab.catalogue import catalogue
from quizkit.lab.content import content, torch_version
from quizkit.lab.demo import Demo
from quizkit.lab.record import Record
from quizkit.lab.report import Report, Setting

REPORTS = Path(__file__).parent / "reports"
DEMO = '''"""The law.

The trick
    None.

Watch
    sent_bytes  bytes

Run
    python demos/tiny.py
"""

from _bench import run
from helper import double

TOPIC = "comm"


def main(
    size: int = 10,
    cost: float = 1.0,
):
    return {}


if __name__ == "__main__":
    run(__file__)
'''


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUIZKIT_START", raising=False)
    monkeypatch.setattr(record, "gpu_here", lambda: False)
    monkeypatch.setattr("sys.platform", "linux")


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    folder = tmp_path / "demos"
    (folder / "_bench").mkdir(parents=True)
    (folder / "_bench" / "wire.py").write_text("counts = 1\n", encoding="utf-8")
    (folder / "tiny.py").write_text(DEMO, encoding="utf-8")
    (folder / "helper.py").write_text("from deeper import more\n", encoding="utf-8")
    (folder / "deeper.py").write_text("more = 1\n", encoding="utf-8")
    (folder / "stranger.py").write_text("x = 1\n", encoding="utf-8")
    return folder


@pytest.fixture
def tiny(demos: Path) -> Demo:
    from quizkit.lab.catalogue import find

    return find("tiny", demos)


def report(size: int = 10, broken: str | None = None, **more: object) -> Report:
    data = json.loads((REPORTS / "pipeline.json").read_text(encoding="utf-8"))
    data |= {"demo": "tiny", "args": {"size": size, "cost": 1.0}, "ranks": 4, "broken": broken}
    return Report.from_json(data | more)


def asked(size: int = 10, cost: float | None = None) -> Setting:
    args = {"size": size} if cost is None else {"size": size, "cost": cost}
    return Setting("tiny", 4, tuple(args.items()))


def kept(folder: Path, tiny: Demo, torch: str | None = "2.13.0") -> Record:
    return Record(folder / "runs", {"tiny": tiny}, "cached", torch)


@pytest.fixture
def filled(tmp_path: Path, tiny: Demo) -> Path:
    """A folder with one run in it."""
    made = kept(tmp_path, tiny)
    made.put(report())
    made.write()
    return tmp_path


def test_what_was_kept_comes_back_and_says_that_it_did_not_run_now(filled: Path, tiny: Demo):
    back = kept(filled, tiny).get(asked())
    assert back is not None
    assert (back.origin, back.seconds) == ("cached", None)
    same = report()
    assert replace(back, origin="ran", seconds=same.seconds, reason=same.reason) == same
    assert back.to_json()["origin"] == "cached"


def test_pictures_come_back_as_they_were(tmp_path: Path, tiny: Demo):
    series = [{"label": "a", "x": [0, 1], "y": [2.5, "NaN"]}]
    curve = {"kind": "curve", "title": "t", "x": "steps", "y": "loss", "series": series}
    stairs = {"kind": "staircase", "title": "t", "unit": "bytes", "parts": ["kept"]}
    pictures = [curve, stairs | {"steps": [{"label": "a", "values": [3]}], "budget": 0}]
    made = kept(tmp_path, tiny)
    made.put(report(pictures=pictures))
    made.write()
    back = kept(tmp_path, tiny).get(asked())
    assert back is not None
    assert back.to_json()["pictures"] == pictures


def test_arguments_left_out_are_the_defaults(filled: Path, tiny: Demo):
    again = kept(filled, tiny)
    for wanted in (Setting("tiny", 4), asked(10), asked(10, 1.0), asked(10, 1)):
        assert again.get(wanted), wanted
    for wanted in (asked(11), asked(10, 2.0), Setting("tiny", 3), Setting("tiny", 4, (), "bug")):
        assert again.get(wanted) is None, wanted


@pytest.mark.parametrize("name", ["tiny.py", "helper.py", "deeper.py", "_bench/wire.py"])
def test_a_changed_demo_neighbour_or_bench_is_not_answered_for(
    filled: Path, tiny: Demo, demos: Path, name: str
):
    with (demos / name).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert kept(filled, tiny).get(asked()) is None


def test_what_a_demo_does_not_import_changes_nothing(filled: Path, tiny: Demo, demos: Path):
    (demos / "stranger.py").write_text("y = 2\n", encoding="utf-8")
    assert kept(filled, tiny).get(asked())


def test_a_file_that_comes_into_the_bench_counts(tiny: Demo, demos: Path):
    before = content(tiny.path)
    (demos / "_bench" / "new.py").write_text("", encoding="utf-8")
    assert content(tiny.path) != before


def test_another_torch_another_start_or_a_gpu_is_another_run(
    filled: Path, tiny: Demo, monkeypatch: pytest.MonkeyPatch
):
    assert kept(filled, tiny, "2.11.0").get(asked()) is None
    assert kept(filled, tiny, None).get(asked())  # a record is of whatever torch made it
    with monkeypatch.context() as patch:
        patch.setenv("QUIZKIT_START", "spawn")
        assert kept(filled, tiny).get(asked()) is None
    monkeypatch.setattr(record, "gpu_here", lambda: True)
    assert kept(filled, tiny).get(asked()) is None


def test_a_demo_edited_while_it_ran_is_not_kept(tmp_path: Path, tiny: Demo, demos: Path):
    made = kept(tmp_path, tiny)
    made.put(report())
    (demos / "tiny.py").write_text(DEMO + "# later\n", encoding="utf-8")
    made.write()
    assert not [*tmp_path.glob("runs/*")]


HEAD = '{"schema":"quizkit/record/1","demo":"tiny",'


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\xff\xfe\x00",
        b"[]\n[]\n",
        b"null\n",
        b"[" * 100_000,
        b'{"schema":"quizkit/record/2"}\n',
        (HEAD + '"content":"x"}\n').encode(),
        (HEAD + '"content":1,"torch":2,"start":3,"backend":4,"device":5}\n[1]\n').encode(),
    ],
)
def test_a_damaged_file_counts_for_nothing_and_is_written_anew(
    filled: Path, tiny: Demo, said: bytes
):
    (filled / "runs" / "tiny.jsonl").write_bytes(said)
    again = kept(filled, tiny)
    assert again.get(asked()) is None
    again.put(report())
    again.write()
    assert kept(filled, tiny).get(asked())


@pytest.mark.parametrize(
    ("old", "new"),
    [('"verdict":"pass"', '"verdict":"fine"'), ('"checks":[', '"checks":[[1],'), ('"how"', '"h"')],
)
def test_a_damaged_line_counts_for_nothing(filled: Path, tiny: Demo, old: str, new: str):
    path = filled / "runs" / "tiny.jsonl"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert kept(filled, tiny).get(asked()) is None


def test_the_folder_is_private_and_lines_are_sorted(tmp_path: Path, tiny: Demo):
    made = kept(tmp_path, tiny)
    for size in (30, 10, 20):
        made.put(report(size))
    made.write()
    assert (tmp_path / "runs").stat().st_mode & 0o777 == 0o700
    text = (tmp_path / "runs" / "tiny.jsonl").read_text(encoding="utf-8")
    sizes = [json.loads(line)["args"]["size"] for line in text.splitlines()[1:]]
    assert sizes == [10, 20, 30]


def test_what_is_not_asked_for_goes_when_there_is_too_much(
    tmp_path: Path, tiny: Demo, monkeypatch: pytest.MonkeyPatch
):
    made = kept(tmp_path, tiny)
    for size in range(1, 6):
        made.put(report(size))
    made.write()
    monkeypatch.setattr(record, "_MOST", 4)
    again = kept(tmp_path, tiny)
    assert again.get(asked(2))
    again.put(report(9))
    again.write()
    left = kept(tmp_path, tiny)
    assert [size for size in range(1, 10) if left.get(asked(size))] == [2, 9]


def test_only_what_is_asked_for_is_kept_of_a_record(tmp_path: Path, tiny: Demo):
    made = kept(tmp_path, tiny)
    made.put(report(1))
    made.put(report(2))
    made.write()
    (tmp_path / "runs" / "gone_demo.jsonl").write_text("old\n", encoding="utf-8")
    again = kept(tmp_path, tiny)
    assert again.get(asked(2))
    again.keep_only({"tiny"})
    again.write()
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["tiny.jsonl"]
    left = kept(tmp_path, tiny)
    assert (left.get(asked(1)), bool(left.get(asked(2)))) == (None, True)


def test_of_a_run_that_hung_the_demo_s_own_lines_are_kept_and_no_folder(tmp_path: Path):
    demos = catalogue()
    data = json.loads((REPORTS / "all_reduce_hung.json").read_text(encoding="utf-8"))
    text = json.dumps(data).replace('File \\"demos/', 'File \\"/home/somebody/quizkit/demos/')
    assert "somebody" in text
    data = json.loads(text)
    data["error"]["message"] += '\n  File "/home/somebody/x.py", line 1, in f'
    made = Record(tmp_path / "runs", demos, "recorded")
    hung = Report.from_json(data)
    made.put(hung)
    made.write()
    kept_text = (tmp_path / "runs" / "all_reduce.jsonl").read_text(encoding="utf-8")
    assert "somebody" not in kept_text
    args = tuple(hung.args.items())
    again = Record(tmp_path / "runs", demos, "recorded")
    back = again.get(Setting(hung.demo, hung.ranks, args, hung.broken))
    assert back is not None
    assert back.error is not None
    assert back.shows("hangs")
    assert 'File "demos/all_reduce.py", line ' in (back.error.stacks[0] or "")
    assert "_bench" not in (back.error.stacks[0] or "")


def test_the_version_of_torch_is_read_and_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "torch"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise SystemExit\n", encoding="utf-8")
    (folder / "version.py").write_text("__version__ = '9.8.7+cpu'\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "torch", raising=False)
    torch_version.cache_clear()
    try:
        assert torch_version() == "9.8.7"
    finally:
        torch_version.cache_clear()
