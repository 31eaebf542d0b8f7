"""Anki's package: a zip of a collection (SQLite, schema 11, which every Anki reads) and no media.

A note's guid comes from the question's id, and decks and the note type have fixed numbers, so
importing again updates what is there and keeps the reviews.
"""

import json
import sqlite3
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha1, sha256
from html import escape
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from quizkit.bank.model import Question
from quizkit.errors import UsageError
from quizkit.export.leaf import Leaf, leaf
from quizkit.export.web import html, mathjax
from quizkit.proof.view import ProofView
from quizkit.words import Lang

_DEFLATED = zipfile.ZIP_DEFLATED
_MODEL = 1_763_700_001
_FIELDS = ("Question", "Front", "Back")
_NAME = "quizkit"
_TABLES = """
create table col (id integer primary key, crt integer not null, mod integer not null,
    scm integer not null, ver integer not null, dty integer not null, usn integer not null,
    ls integer not null, conf text not null, models text not null, decks text not null,
    dconf text not null, tags text not null);
create table notes (id integer primary key, guid text not null, mid integer not null,
    mod integer not null, usn integer not null, tags text not null, flds text not null,
    sfld integer not null, csum integer not null, flags integer not null, data text not null);
create table cards (id integer primary key, nid integer not null, did integer not null,
    ord integer not null, mod integer not null, usn integer not null, type integer not null,
    queue integer not null, due integer not null, ivl integer not null, factor integer not null,
    reps integer not null, lapses integer not null, left integer not null, odue integer not null,
    odid integer not null, flags integer not null, data text not null);
create table revlog (id integer primary key, cid integer not null, usn integer not null,
    ease integer not null, ivl integer not null, lastIvl integer not null,
    factor integer not null, time integer not null, type integer not null);
create table graves (usn integer not null, oid integer not null, type integer not null);
create index ix_notes_usn on notes (usn);
create index ix_cards_usn on cards (usn);
create index ix_revlog_usn on revlog (usn);
create index ix_cards_nid on cards (nid);
create index ix_cards_sched on cards (did, queue, due);
create index ix_revlog_cid on revlog (cid);
create index ix_notes_csum on notes (csum);
"""
_STYLE = """
.card { font-family: sans-serif; font-size: 18px; text-align: left; line-height: 1.5; }
pre { overflow-x: auto; background: #8882; padding: .5em; }
code { font-family: monospace; font-size: 85%; }
table { border-collapse: collapse; } td, th { border: 1px solid #8888; padding: .2em .5em; }
.about { color: gray; font-size: 75%; }
"""


@dataclass(frozen=True, slots=True)
class Note:
    """One question as a card."""

    id: str
    fields: Sequence[str]
    tags: Sequence[str]

    @property
    def guid(self) -> str:
        """The same for the same question, whatever becomes of its text."""
        return sha256(f"quizkit/{self.id}".encode()).hexdigest()[:20]

    @property
    def deck(self) -> str:
        """One for each topic."""
        return f"quizkit::{self.id.split('/', 1)[0]}"


def note(question: Question, langs: Sequence[Lang], proof: ProofView | None = None) -> Note:
    """Return a question's card, in one language or in several one below the other."""
    leaves = [leaf(question, lang, proof) for lang in langs]
    front, back = _side(leaves, "front"), _side(leaves, "back")
    tags = (f"quizkit::{question.topic}", f"level::{question.level}", f"kind::{question.kind}")
    return Note(question.id, (escape(question.id), front, back), tags)


def search(ids: Iterable[str]) -> str:
    """Return the search that finds the notes of these questions in Anki's browser."""
    wanted = " OR ".join(f"{_FIELDS[0]}:{name}" for name in ids)
    return f"note:{_NAME} ({wanted})"


def package(notes: Iterable[Note], now: float) -> bytes:
    """Return the package. `now`, in seconds, tells Anki which of two versions is the newer one."""
    made = BytesIO()
    try:
        with TemporaryDirectory() as folder, zipfile.ZipFile(made, "w", _DEFLATED) as parts:
            collection = Path(folder) / "collection.anki2"
            with closing(sqlite3.connect(collection)) as db:
                _fill(db, list(notes), int(now * 1000))
            parts.write(collection, collection.name)
            parts.writestr("media", "{}")
    except (OSError, sqlite3.OperationalError) as error:
        raise UsageError("file_write", file="$TMPDIR", reason=error) from error
    return made.getvalue()


def _side(leaves: Sequence[Leaf], name: str) -> str:
    sides: list[str] = []
    for each in leaves:
        about = f'<p class="about">{escape(each.title)}</p>\n' if name == "front" else ""
        sides.append(about + html(getattr(each, name), mathjax))
    return "<hr>\n".join(sides)


def _fill(db: sqlite3.Connection, notes: Sequence[Note], now: int) -> None:
    seconds = now // 1000
    decks = {1: "Default"} | {_number(name): name for name in sorted({n.deck for n in notes})}
    conf = {"nextPos": len(notes) + 1, "curDeck": 1, "activeDecks": [1], "curModel": str(_MODEL),
            "newSpread": 0, "collapseTime": 1200, "timeLim": 0, "estTimes": True, "dueCounts": True,
            "sortType": "noteFld", "sortBackwards": False, "addToCur": True}  # fmt: skip
    made: tuple[Mapping[Any, Any], ...] = (
        conf,
        {_MODEL: _model(seconds)},
        {number: _deck(number, name, seconds) for number, name in decks.items()},
        {1: _options()},
        {},
    )
    told = [json.dumps(each, ensure_ascii=False) for each in made]
    with db:
        db.executescript(_TABLES)
        db.execute(
            "insert into col values (1, ?, ?, ?, 11, 0, 0, 0, ?, ?, ?, ?, ?)",
            (seconds, now, now, *told),
        )
        for place, each in enumerate(notes):
            first = each.fields[0]
            row = (now + place, each.guid, _MODEL, seconds, -1, f" {' '.join(each.tags)} ",
                   "\x1f".join(each.fields), first, int(sha1(first.encode()).hexdigest()[:8], 16))  # noqa: S324  # fmt: skip
            db.execute("insert into notes values (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '')", row)
            card = (now + place, now + place, _number(each.deck), seconds, place + 1)
            db.execute(
                "insert into cards values (?, ?, ?, 0, ?, -1, 0, 0, ?, 0, 0, 0, 0, 0, 0, 0, 0, '')",
                card,
            )


def _number(deck: str) -> int:
    return int(sha256(deck.encode()).hexdigest()[:10], 16) + 2


def _model(seconds: int) -> dict[str, Any]:
    look: dict[str, object] = {
        "font": "Arial",
        "size": 20,
        "rtl": False,
        "sticky": False,
        "media": [],
    }
    return {
        "id": _MODEL, "name": _NAME, "type": 0, "mod": seconds, "usn": -1, "sortf": 0, "did": 1,
        "css": _STYLE, "latexPre": "", "latexPost": "", "tags": [], "vers": [],
        "req": [[0, "any", [1]]],
        "flds": [{"name": name, "ord": place, **look} for place, name in enumerate(_FIELDS)],
        "tmpls": [{
            "name": "Card 1", "ord": 0, "did": None, "bqfmt": "", "bafmt": "",
            "qfmt": '{{Front}}<p class="about">{{Question}}</p>',
            "afmt": "{{FrontSide}}<hr id=answer>{{Back}}",
        }],
    }  # fmt: skip


def _deck(number: int, name: str, seconds: int) -> dict[str, Any]:
    today = {f"{each}Today": [0, 0] for each in ("new", "rev", "lrn", "time")}
    return {
        "id": number, "name": name, "desc": "", "mod": seconds, "usn": -1, "conf": 1, "dyn": 0,
        "collapsed": False, "browserCollapsed": False, "extendNew": 0, "extendRev": 0, **today,
    }  # fmt: skip


def _options() -> dict[str, Any]:
    return {
        "id": 1, "name": "Default", "mod": 0, "usn": 0, "maxTaken": 60, "autoplay": True,
        "timer": 0, "replayq": True, "dyn": False,
        "new": {"delays": [1, 10], "ints": [1, 4, 7], "initialFactor": 2500, "order": 1,
                "perDay": 20, "bury": False, "separate": True},
        "rev": {"perDay": 200, "ease4": 1.3, "fuzz": 0.05, "minSpace": 1, "ivlFct": 1,
                "maxIvl": 36500, "bury": False},
        "lapse": {"delays": [10], "mult": 0, "minInt": 1, "leechFails": 8, "leechAction": 0},
    }  # fmt: skip
