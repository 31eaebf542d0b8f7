"""Every demo makes its tensors on device(): run where another device is pretended.

No GPU is needed. What `pretended.py` refuses is what one would refuse.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quizkit.lab.catalogue import names
from quizkit.paths import DEMOS

pytestmark = pytest.mark.demo

ON_THE_HOST = {
    "allocator": "writes down what tensors on the meta device take, and has none with numbers",
    "async-read": "looks at a tensor while gloo is adding to it: in host memory, where one can",
    "deadlock": "is about who waits in which call: its numbers are tokens for gloo",
    "fault": "kills processes that talk by gloo, and reads what the rest are told",
    "resize-policy": "walks a virtual clock: there is no tensor in it",
    "step-profile": "profiles the CPU beside gloo's threads; a GPU's streams are another trace",
}
"""Demos whose subject is what host memory does, and why."""

STREAMS = {"fully-shard": "torch's own FSDP opens CUDA streams: a build without CUDA has none"}
"""Demos that a pretended GPU cannot take under nccl, and why."""


class Pretended:
    """A bench on a machine with one GPU, which is pretended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._child = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("pretended.py")), *ON_THE_HOST],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{DEMOS}"},
            text=True,
        )

    def run(self, demo: str, ranks: int, device: str = "shared") -> dict[str, Any]:
        """The report of a run: `shared` is staged through the host, `cuda` on one rank is nccl."""
        assert self._child.stdin
        assert self._child.stdout
        request = {"id": demo, "demo": demo, "ranks": ranks, "device": device, "deadline": 60.0}
        print(json.dumps(request), file=self._child.stdin, flush=True)
        for line in self._child.stdout:
            if (reply := json.loads(line)).get("id") == demo:
                return reply["report"]
        raise AssertionError("the bench is gone")

    def close(self) -> None:
        self._child.communicate(timeout=60)


@pytest.fixture(scope="module")
def pretended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pretended]:
    bench = Pretended(tmp_path_factory.mktemp("planted"))
    yield bench
    bench.close()


@pytest.mark.parametrize("name", names())
def test_a_demo_computes_on_its_device(pretended: Pretended, name: str) -> None:
    for ranks, device, backend in ((2, "shared", "gloo"), (1, "cuda", "nccl")):
        if backend == "nccl" and name in STREAMS:
            continue
        report = pretended.run(name, ranks, device)
        assert (report["device"], report["backend"]) == ("cuda", backend)
        assert report["staged"] == (backend == "gloo")
        assert report["outcome"] in ("finished", "refused"), report["error"]["message"]
        assert [check["name"] for check in report["checks"] if not check["holds"]] == []


@pytest.mark.parametrize("name", sorted(ON_THE_HOST))
def test_those_that_do_not_have_nothing_on_it(name: str) -> None:
    source = (DEMOS / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
    assert "device()" not in source


# A demo, where in it a device is forgotten, and what is then said.
FORGOTTEN = [
    ("ring-attention", "seq, dim, dtype=torch.float64)", ".to(device())", "on one device"),
    ("pipeline", '{"dtype": torch.float64', ', "device": device()', "must lie on cuda:0"),
    ("flops", "(w / hidden**0.5)", ".to(device())", "tensors must be on one device"),
    ("grad-noise", "return torch.Generator(", "device()", "a generator must be on the device"),
]


@pytest.mark.parametrize(("name", "before", "device", "words"), FORGOTTEN)
def test_one_that_forgets_its_device_is_found_out(
    pretended: Pretended, name: str, before: str, device: str, words: str
) -> None:
    source = (DEMOS / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
    assert before + device in source
    forgetful = f"forgetful-{name}"
    file = pretended.folder / f"{forgetful.replace('-', '_')}.py"
    file.write_text(source.replace(before + device, before, 1), encoding="utf-8")
    report = pretended.run(forgetful, 2)
    assert report["outcome"] == "crashed"
    assert words in report["error"]["message"]


IDLE = """
from _bench import check, run
import torch


def main():
    check("four ones", torch.ones(4).sum(), "==", 4)
    return {}
"""


def test_one_that_has_nothing_on_its_device_is_found_out(pretended: Pretended) -> None:
    (pretended.folder / "idle.py").write_text(IDLE, encoding="utf-8")
    assert "main did nothing on device()" in pretended.run("idle", 1)["error"]["message"]
