"""The room in which interviews are held, for each test anew."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from card_room import held
from room import FILES, HANG, TALK, Room

from quizkit.bank.exhibits import place_of, sealed
from quizkit.bank.model import Evidence, Exhibit, Text
from quizkit.diary import Diary
from quizkit.mock.desk import Aside, Ticks
from quizkit.mock.printed import Beyond


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


@pytest.fixture
def old_card() -> dict[str, object]:
    """A card as the first edition kept it: one language, ids instead of words."""
    return {
        "schema": "quizkit/scorecard/1",
        "session": "0ld",
        "mock": "small",
        "edition": "x",
        "title": "A pipeline screen",
        "lang": "en",
        "at": "2026-02-01T08:00:00+00:00",
        "verdict": "fail",
        "overall": 1.5,
        "capped": False,
        "best": 4.0,
        "pass": {"overall": 2.3},
        "dimensions": [
            {
                "name": "correctness",
                "weight": 50,
                "score": 1.5,
                "needed": 2,
                "evidence": [{"station": "bubble", "share": 1, "score": 0.375}],
            }
        ],
        "answers": [
            {
                "station": "bubble",
                "question": "pp/bubble",
                "kind": "numeric",
                "probe": False,
                "reached": True,
                "given": "0.9",
                "expected": "0.2",
                "right": False,
                "score": 0.0,
                "judge": "key",
                "hit": [],
                "missed": [],
                "said": [],
                "seconds": 10,
                "target": 120,
                "late": False,
            }
        ],
        "time": {
            "ended_by": "asked",
            "total": 600,
            "used": 10,
            "pause_budget": 120,
            "paused": 0,
            "charged_for_pauses": 0,
        },
        "myths": ["1f1b-cuts-bubble"],
        "review": ["pp/bubble"],
        "conventions": ["A dimension is scored 0 to 4."],
    }


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


@pytest.fixture
def bad(room):
    """An interview with a bit of everything that can go wrong."""
    return held(
        room,
        (5, Aside("!")),
        (150, "0.9"),
        (10, room.picks("the bubble")),
        (5, Aside("n ask for <b>p</b> first")),
        (10, "Less activation memory, at the price of $5 and $6.\nAnd a smaller bubble."),
        (10, room.picks("p")),
        ticks=Ticks((0,), ()),
        beyond=Beyond(room.questions, {"1f1b-cuts-bubble": Text("以为气泡更小", "Less bubble")}),
    )
