"""How the arithmetic of a machine is named in the record."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from quizkit.lab.processor import processor


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    processor.cache_clear()
    yield
    processor.cache_clear()


@pytest.mark.parametrize(
    ("told", "name"),
    [
        (
            "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n"
            "model name\t: AMD EPYC\nflags\t\t: fpu sse4_2 avx avx2 fma\n",
            "AuthenticAMD 25 1 avx2",
        ),
        (
            "vendor_id: GenuineIntel\ncpu family: 6\nmodel: 143\nflags: avx avx2 avx512f\n",
            "GenuineIntel 6 143 avx512f",
        ),
        (
            "CPU implementer\t: 0x41\nCPU part\t: 0xd40\nFeatures\t: fp asimd\n",
            "0x41 0xd40 asimd",
        ),
        ("flags: avx2\n", ""),
    ],
)
def test_a_processor_has_a_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: str, name: str
):
    file = tmp_path / "cpuinfo"
    file.write_text(told, encoding="utf-8")
    monkeypatch.setattr("quizkit.lab.processor._TOLD", file)
    assert processor() == name


def test_where_nothing_tells_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("quizkit.lab.processor._TOLD", tmp_path / "nothing")
    assert processor() == ""
