"""What a run gets from its machine: a device, room for its ranks, and torch only if it runs."""

import subprocess
import sys
from pathlib import Path

from _bench import backend, memory
from _bench.early import MissingError

import pytest


def test_cuda_is_taken_only_if_every_rank_gets_a_gpu():
    assert backend.decide("auto", 4, 4).backend == "nccl"
    assert backend.decide("auto", 4, 8).device == "cuda"
    assert backend.decide("cuda", 1, 1).backend == "nccl"
    less = backend.decide("auto", 4, 3)
    assert (less.backend, less.device, less.staged) == ("gloo", "cpu", False)
    assert "3 CUDA GPUs found for 4 ranks" in less.reason


def test_too_few_gpus_are_shared_when_cuda_is_asked_for():
    shared = backend.decide("cuda", 4, 1)
    assert (shared.backend, shared.device, shared.staged) == ("gloo", "cuda", True)
    assert backend.state("gloo", "cuda", True, 4) == "cuda, shared, staged"


def test_no_gpu():
    assert backend.decide("auto", 2, 0).reason == "no CUDA GPU found"
    with pytest.raises(MissingError, match="no CUDA GPU"):
        backend.decide("cuda", 2, 0)


def test_cpu_is_cpu_even_beside_gpus():
    assert backend.decide("cpu", 2, 8).device == "cpu"


def test_states_have_their_names():
    assert backend.state("nccl", "cuda", False, 8) == "nccl × 8"
    assert backend.state("gloo", "cpu", False, 8) == "gloo on cpu"


def test_ranks_that_do_not_fit_are_refused_with_the_number_that_would():
    assert memory.refusal(8, "fork", 1 << 30) is None
    message = memory.refusal(20, "fork", 1 << 30)
    assert message == "20 ranks need about 1280 MiB and 1024 MiB are free: 16 would fit"
    assert "3 would fit" in str(memory.refusal(4, "spawn", 1 << 30))


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, 8 << 30),
        ({"memory.max": "max", "memory.current": "5"}, 8 << 30),
        ({"memory.max": str(3 << 30), "memory.current": str(1 << 30)}, 2 << 30),
        (
            {
                "memory/memory.limit_in_bytes": str(3 << 30),
                "memory/memory.usage_in_bytes": str(1 << 30),
            },
            2 << 30,
        ),
        (
            {
                "memory/memory.limit_in_bytes": "9223372036854771712",
                "memory/memory.usage_in_bytes": str(1 << 30),
            },
            8 << 30,
        ),
    ],
)
def test_a_container_s_limit_counts(tmp_path: Path, files: dict[str, str], free: int):
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text(f"MemTotal: 9 kB\nMemAvailable: {8 << 20} kB\n")
    for name, text in files.items():
        file = tmp_path / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
    assert memory.available(tmp_path) == free


def test_a_number_of_ranks_no_machine_should_start():
    assert "at most 64" in str(memory.refusal(65, "fork", 1 << 50))
    assert "1 or more" in str(memory.refusal(0, "fork"))


def test_importing_the_bench_brings_no_torch():
    code = "import _bench, sys; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    folder = str(Path(backend.__file__).parents[1])
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": folder}).returncode == 0


def test_what_the_bench_exports_is_there():
    import _bench

    for name in _bench.__all__:
        if name not in _bench._NEEDS_TORCH:
            assert getattr(_bench, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'fork'"):
        _bench.fork  # noqa: B018
