"""The room in which interviews are held, for each test anew."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from room import FILES, HANG, TALK, Room

from quizkit.bank.exhibits import place_of, sealed
from quizkit.bank.model import Evidence, Exhibit
from quizkit.diary import Diary


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bank")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def room(folder: Path, tmp_path: Path) -> Iterator[Room]:
    with Diary(tmp_path / "diary.sqlite3") as diary:
        yield Room(folder, diary)


@pytest.fixture(scope="session")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("talk")
    shown = Evidence("pipeline", ("stacks",))
    files = {**FILES, "mocks/small.yaml": TALK, "pp/hang.yaml": HANG}
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    written = sealed(shown, [Exhibit("stacks", "rank 0 waits in recv")])
    place_of(folder, "pp/hang").write_text(written, encoding="utf-8")
    return folder
