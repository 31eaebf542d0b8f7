"""The page that teaches how to write a demo tells the truth."""

import ast
import re
import sys

import pytest

from .conftest import DEMOS, Programs

PAGE = (DEMOS / "README.md").read_text(encoding="utf-8")
EXAMPLE, SCRIPT = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
COMMANDS = re.findall(r"^python demos/ring_sum\.py (.*)$", PAGE, re.MULTILINE)


def test_the_table_names_all_the_bench_offers():
    import _bench

    _, _, rest = PAGE.partition("## What the bench offers")
    table = [line.split("|")[1] for line in rest.split("\n\n")[1].splitlines()]
    assert sorted(re.findall(r"`(\w+)`", " ".join(table))) == sorted(_bench.__all__)


def test_the_rules_the_example_follows():
    tree = ast.parse(EXAMPLE)
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    names = [n.module if isinstance(n, ast.ImportFrom) else n.names[0].name for n in imports]
    assert names == ["_bench", "_bench", "torch", "torch"]
    assert "ring_sum.py" in PAGE


@pytest.mark.demo
@pytest.mark.parametrize("options", COMMANDS)
def test_the_example_runs_as_the_page_says(programs: Programs, options: str):
    path = programs.write("ring_sum", EXAMPLE)
    done = programs.run(sys.executable, path, *options.split())
    if "--break" in options:
        assert done.stdout.endswith(" to show: it did\n")
        assert done.returncode == (124 if "early" in options else 1)
    else:
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.demo
def test_watch_lists_what_the_example_reports(programs: Programs):
    code, report, _ = programs.demo(programs.write("ring_sum", EXAMPLE), "--ranks", 3)
    watch = EXAMPLE.partition("Watch\n")[2].partition("\n\n")[0]
    assert re.findall(r"^    (\w+)", watch, re.MULTILINE) == list(report["metrics"])
    assert (code, report["metrics"]["hops"]) == (0, 2)
    assert report["metrics"]["sent_bytes"] == [16_000] * 3


@pytest.mark.demo
def test_a_script_of_ones_own_runs_as_the_page_says(programs: Programs):
    path = programs.write("mine", SCRIPT)
    done = programs.run(sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=3", path)
    assert done.returncode == 0, done.stderr
    # torchrun starts ranks unbuffered, so words of three lines may come in any order.
    expected = "".join(f"{rank} tensor([3., 3., 3.])\n" for rank in range(3))
    assert sorted(done.stdout) == sorted(expected)


def test_every_break_of_the_example_is_run_above():
    breaks = re.findall(r'^    "([a-z-]+)": Break\(', EXAMPLE, re.MULTILINE)
    assert len(breaks) == 2
    assert all(any(f"--break {name}" in line for line in COMMANDS) for name in breaks)
