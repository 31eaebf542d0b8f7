"""A file is written whole or stays as it was; what is no file is neither read nor replaced."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from quizkit import safe_file
from quizkit.errors import DiaryError, UsageError


def write(path: Path, said: bytes | str = "new", most: int | None = None) -> str:
    """Write in a process in which no file can grow past `most` bytes: what a full disk does."""
    limit = "" if most is None else f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most},) * 2)"
    code = (
        # -B: Python itself would leave a module it compiled cut short.
        "import resource, sys; from pathlib import Path; from quizkit import safe_file\n"
        "from quizkit.errors import QuizkitError\n"
        f"{limit}\n"
        f"try: safe_file.write(Path({str(path)!r}), {said!r})\n"
        "except QuizkitError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_text_and_bytes(tmp_path: Path):
    file = tmp_path / "file"
    for said, kept in (("气泡\n", "气泡\n".encode()), (b"\xff\0", b"\xff\0"), ("", b"")):
        safe_file.write(file, said)
        assert (file.read_bytes(), safe_file.read(file, len(kept))) == (kept, kept)
    assert [*tmp_path.iterdir()] == [file]


def test_a_full_disk_leaves_what_was_there(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("old")
    said = write(file, "new" * 1000, most=1000)
    assert said == f"Cannot write {file}: File too large\n"
    assert file.read_text() == "old"
    assert [*tmp_path.iterdir()] == [file]
    assert write(file, "new" * 1000, most=3000) == ""
    assert file.read_text() == "new" * 1000


def test_permissions_stay_and_a_new_file_has_the_usual_ones(tmp_path: Path):
    private, fresh, usual = (tmp_path / name for name in ("private", "fresh", "usual"))
    private.write_text("old")
    private.chmod(0o600)
    safe_file.write(private, "new")
    safe_file.write(fresh, "new")
    usual.touch()
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert fresh.stat().st_mode == usual.stat().st_mode


def test_a_link_goes_on_leading_to_the_file(tmp_path: Path):
    (tmp_path / "real").write_text("old")
    link, to_be = tmp_path / "link", tmp_path / "to-be"
    link.symlink_to("real")
    to_be.symlink_to("not-yet")
    safe_file.write(link, "new")
    safe_file.write(to_be, "made")
    assert link.is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "not-yet").read_text() == "made"


def test_a_long_name_is_no_longer_beside_it(tmp_path: Path):
    file = tmp_path / ("n" * 255)
    safe_file.write(file, "new")
    assert file.read_text() == "new"


def made(folder: Path, kind: str) -> Path:
    place = folder / kind
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/dev/zero")
    return place


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, kind: str):
    place = made(tmp_path, kind)
    for attempt in (
        lambda: safe_file.write(place, "new", failure=DiaryError),
        lambda: safe_file.read(place, 10, failure=DiaryError),
    ):
        with pytest.raises(DiaryError) as told:
            attempt()
        assert str(place) in str(told.value)
        assert "is no regular file" in str(told.value)
    assert [*tmp_path.iterdir()] == [place]


def test_what_cannot_be_read_or_is_too_large_is_said(tmp_path: Path):
    loop, large = tmp_path / "loop", tmp_path / "large"
    loop.symlink_to("loop")
    large.write_bytes(b"x" * 11)
    for place, said in (
        (loop, "Too many levels of symbolic links"),
        (tmp_path / "absent", "No such file"),
        (large / "below", "Not a directory"),
        (large, "more than 10 bytes"),
    ):
        with pytest.raises(UsageError) as told:
            safe_file.read(place, 10)
        assert said in str(told.value)
    assert safe_file.read(large, 11) == b"x" * 11
    for place, said in (
        (loop, "Too many levels of symbolic links"),
        (tmp_path / "absent" / "below", "No such file"),
    ):
        with pytest.raises(UsageError) as told:
            safe_file.write(place, "new")
        assert said in str(told.value)
