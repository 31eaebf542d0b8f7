"""The package as Anki reads it: what its importer needs is there, and the same card stays it."""

import json
import sqlite3
import zipfile
from contextlib import closing
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest

from quizkit.bank.reader import Bank
from quizkit.export.anki import Note, note, package

SHELF = Path(__file__).parents[1] / "ui" / "shelf"
# Of schema 11, which every Anki since 2.1 takes in. 26.9.3 took in this package when it was made.
COLUMNS = {
    "col": "id crt mod scm ver dty usn ls conf models decks dconf tags",
    "notes": "id guid mid mod usn tags flds sfld csum flags data",
    "cards": "id nid did ord mod usn type queue due ivl factor reps lapses left odue odid flags"
    " data",
    "revlog": "id cid usn ease ivl lastIvl factor time type",
    "graves": "usn oid type",
}
KEYS = {
    "models": "id name type mod usn sortf did css latexPre latexPost flds tmpls req",
    "decks": "id name desc mod usn conf dyn collapsed newToday revToday lrnToday timeToday",
    "dconf": "id name mod usn maxTaken new rev lapse",
}


class Package:
    """A package taken apart."""

    def __init__(self, file: Path) -> None:
        with zipfile.ZipFile(file) as found:
            assert found.testzip() is None
            assert found.namelist() == ["collection.anki2", "media"]
            assert json.loads(found.read("media")) == {}
            self.bytes = found.read("collection.anki2")
        copy = file.with_suffix(".sqlite3")
        copy.write_bytes(self.bytes)
        with closing(sqlite3.connect(copy)) as db:
            db.row_factory = sqlite3.Row
            assert db.execute("pragma integrity_check").fetchone()[0] == "ok"
            self.columns = {
                name: " ".join(row["name"] for row in db.execute(f"pragma table_info({name})"))
                for (name,) in db.execute("select name from sqlite_master where type = 'table'")
            }
            (self.col,) = map(dict[str, Any], db.execute("select * from col"))
            self.notes = [dict(row) for row in db.execute("select * from notes")]
            self.cards = [dict(row) for row in db.execute("select * from cards")]
        self.told = {
            name: json.loads(self.col[name]) for name in ("conf", "models", "decks", "dconf")
        }


@pytest.fixture(scope="module")
def notes() -> list[Note]:
    found = Bank.load(SHELF).questions.values()
    return [note(each, ("zh", "en")) for each in found if each.kind != "bug"]


@pytest.fixture
def made(tmp_path: Path, notes: list[Note]) -> Package:
    (tmp_path / "x.apkg").write_bytes(package(notes, 1_800_000_000.0))
    assert [each.name for each in tmp_path.iterdir()] == ["x.apkg"]
    return Package(tmp_path / "x.apkg")


def test_the_tables_are_those_of_the_schema(made: Package):
    assert made.columns == COLUMNS
    assert made.col["ver"] == 11
    for name, keys in KEYS.items():
        for key, each in made.told[name].items():
            assert {*keys.split()} <= each.keys()
            assert str(each["id"]) == key


def test_every_card_has_its_note_its_deck_and_its_type(made: Package, notes: list[Note]):
    assert len(made.notes) == len(made.cards) == len(notes) > 5
    assert [each["nid"] for each in made.cards] == [each["id"] for each in made.notes]
    assert {str(each["did"]) for each in made.cards} == made.told["decks"].keys() - {"1"}
    assert {each["name"] for each in made.told["decks"].values()} == {"Default", "quizkit::pp"}
    (model,) = made.told["models"].values()
    for row, each in zip(made.notes, notes, strict=True):
        assert str(row["mid"]) in made.told["models"]
        first, front, back = row["flds"].split("\x1f")
        assert first == row["sfld"] == each.id
        assert front
        assert back
        assert row["csum"] == int(sha1(first.encode()).hexdigest()[:8], 16)
        assert row["tags"] == f" quizkit::pp level::2 kind::{each.tags[2].split('::')[1]} "
    assert [field["name"] for field in model["flds"]] == ["Question", "Front", "Back"]


def test_both_languages_and_formulas_that_anki_typesets(made: Package):
    row = next(each for each in made.notes if each["sfld"] == "pp/number")
    _, front, back = row["flds"].split("\x1f")
    assert front.index("气泡") < front.index("<hr>") < front.index("which share of the step")
    assert back.count(r"\(\frac{p-1}{m+p-1}\)") == 2


def test_the_same_question_is_the_same_note_for_good(made: Package, tmp_path: Path):
    # Changing any of these would double the cards of everyone who imports again.
    found = {each["sfld"]: each["guid"] for each in made.notes}
    assert len({*found.values()}) == len(found)
    assert found["pp/number"] == "b6be6805c410ed850d8c"
    assert [*made.told["models"]] == ["1763700001"]
    assert [*made.told["decks"]] == ["1", "195602075316"]
    changed = Note("pp/number", ("pp/number", "new", "newer"), ("a",))
    (tmp_path / "y.apkg").write_bytes(package([changed], 1_800_000_009.0))
    (again,) = Package(tmp_path / "y.apkg").notes
    assert again["guid"] == found["pp/number"]
    assert again["mod"] == made.notes[0]["mod"] + 9


def test_nothing_of_the_machine_is_in_it(made: Package):
    for word in (str(Path.cwd()), str(Path.home()), str(SHELF.parent)):
        assert word.encode() not in made.bytes
