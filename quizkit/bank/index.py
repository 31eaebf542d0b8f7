"""A bank that need not be read to be asked from: one line for each question, kept in a file.

The YAML files are the truth. A line is made when its file is read and made anew when the file has
changed; the index can be thrown away at any time. A question is always read from its own file.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from time import time_ns
from typing import Any, Concatenate, ParamSpec, TypeVar

from quizkit.bank.entry import Entry, entry
from quizkit.bank.index_file import discard, is_damage, opened, writing
from quizkit.bank.listed import Listed, listed
from quizkit.bank.model import Idea, Problem, Question, Retired, Text, Topic
from quizkit.bank.reader import (
    ODD_NAME,
    is_ours,
    printable,
    read,
    read_myths,
    read_topic,
    topic_slugs,
    with_usual,
)
from quizkit.bank.retired import FILE as RETIRED
from quizkit.bank.retired import read_retired
from quizkit.bank.search import searched, words

_JUST_NOW = 2_000_000_000  # ns in which a second change could leave the same time stamp
_FEW = 1000  # files, all of which are looked at within some milliseconds
_NAMES = ", ".join(Entry._fields)


_GARBLED = (ValueError, TypeError, LookupError)
"""What comes of a line that was not written like this."""

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def _twice(
    read: Callable[Concatenate["Index", _Given], _Found],
) -> Callable[Concatenate["Index", _Given], _Found]:
    """Read once more, of a file made anew, where the first one turns out to be damaged."""

    @wraps(read)
    def again(index: "Index", *args: _Given.args, **more: _Given.kwargs) -> _Found:
        try:
            return read(index, *args, **more)
        except (sqlite3.Error, *_GARBLED) as error:
            index._renew(error)  # pyright: ignore[reportPrivateUsage]  # its own method
            return read(index, *args, **more)

    return again


class Index:
    """The lines of one bank's folder. Raises BankError where the folder cannot be read.

    `thorough` looks at every file. Without it a shelf of a large bank is looked through only if a
    file came or went: each question that is asked is looked at anyway, but one that was edited in
    place to be `core` is not asked before some thorough look has found it.
    """

    def __init__(self, folder: Path, cache: Path | None, *, thorough: bool = True) -> None:
        self.folder = folder
        self._cache = cache
        self._open(thorough)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _open(self, thorough: bool) -> None:
        """Open the file and bring it up to date: a damaged one anew, one out of reach in memory."""
        for cache in (self._cache, self._cache, None):
            self._db = opened(self.folder, cache)
            try:
                with writing(self._db):
                    self._refresh(thorough)
            except (sqlite3.Error, *_GARBLED) as error:
                self._db.close()
                if cache is None:
                    raise
                if is_damage(error):
                    discard(self.folder, cache)
                else:
                    self._cache = None  # full, or locked by another for too long
            else:
                return

    def _renew(self, error: Exception) -> None:
        """Make anew what could not be read: the file if it is to blame, else in memory."""
        self._db.close()
        if is_damage(error):
            discard(self.folder, self._cache)
        else:
            self._cache = None
        self._open(thorough=True)

    @_twice
    def entries(self, topics: Iterable[str] | None = None) -> list[Entry]:
        """Return the lines of these topics' questions, or of all, by id."""
        query, values = f"select {_NAMES} from entries", list[str]()  # noqa: S608
        if topics is not None:
            values = [*topics]
            query += f" where topic in ({', '.join('?' * len(values))})"
        return [Entry._make(row) for row in self._db.execute(f"{query} order by id", values)]

    @_twice
    def knows(self, name: str) -> bool:
        """Tell whether there is a line for it."""
        return bool(self._db.execute("select 1 from entries where id = ?", (name,)).fetchone())

    @_twice
    def question(self, name: str) -> Question | None:
        """Return the question as its file is now, or None where there is none to be asked."""
        if not _is_text(name):
            return None
        file = f"{name}.yaml"
        path = self.folder / file
        problems: list[Problem] = []
        question = read(self.folder, path, problems) if _stamp(path) else None
        known = self._db.execute("select changed, size from files where name = ?", (file,))
        if known.fetchone() != _stamp(path):
            # Where it cannot be written now, the next session will find the change.
            with suppress(sqlite3.Error), writing(self._db):
                self._keep(file, name.split("/")[0], _stamp(path), question, problems)
        if question is not None and question.assume:
            return with_usual(question, self.topics().get(question.topic))
        return question

    @_twice
    def topics(self) -> dict[str, Topic]:
        """Return titles, introductions and reading orders."""
        shelves = self._db.execute("select topic from shelves order by topic").fetchall()
        notes = dict(self._notes("_topic.yaml"))
        return {slug: _topic(slug, notes.get(slug)) for (slug,) in shelves}

    @_twice
    def myths(self) -> dict[str, Text]:
        """Return the misconceptions of all topics."""
        found = (note for _, note in self._notes("_myths.yaml"))
        return {slug: Text(**said) for note in found for slug, said in note.items()}

    @_twice
    def retired(self) -> dict[str, Retired]:
        """Return the ids that are gone."""
        notes = (json.loads(note) for name, note in self._all_notes() if name == RETIRED)
        return {
            name: Retired(Text(**gone["reason"]), gone["see"])
            for note in notes
            for name, gone in note.items()
        }

    @_twice
    def problems(self, topics: Iterable[str] | None = None) -> list[Problem]:
        """List what is wrong with the files of these topics, or of all."""
        rows = self._db.execute("select topic, problems from files where problems <> '[]'")
        wanted = None if topics is None else {*topics}
        found = [text for topic, text in rows if wanted is None or topic in wanted]
        return [Problem(*each) for text in found for each in json.loads(text)]

    @_twice
    def listed(self, names: Iterable[str]) -> list[Listed]:
        """Return what lists say of these questions, in this order."""
        query = "select row from texts where id = ?"
        found = (self._db.execute(query, (name,)).fetchone() for name in names)
        return [_listed(json.loads(row[0])) for row in found if row]

    @_twice
    def search(self, wanted: str) -> list[tuple[int, str]]:
        """List (words missing in id, tags and prompt; id) of what holds every word."""
        asked = sorted((word.encode() for word in words(wanted)), key=len)
        found: list[tuple[int, str]] = []
        # Looked through here and not by SQL's `instr`, which takes several times as long.
        rows = self._db.execute("select id, front, whole from texts") if asked else ()
        for name, front, whole in rows:
            # The longest is in the fewest, so mostly it is looked for alone.
            if asked[-1] in whole and all(word in whole for word in asked):
                found.append((sum(whole.find(word, 0, front) < 0 for word in asked), name))
        return sorted(found)

    def _notes(self, file: str) -> Iterable[tuple[str, Any]]:
        for name, note in self._all_notes():
            topic, _, kind = name.partition("/")
            if kind == file:
                yield topic, json.loads(note)

    def _all_notes(self) -> Iterable[tuple[str, str]]:
        yield from self._db.execute("select name, note from notes order by name")

    def _refresh(self, thorough: bool) -> None:
        shelves = dict(self._db.execute("select topic, changed from shelves").fetchall())
        topics = topic_slugs(self.folder)
        (known,) = self._db.execute("select count(*) from files").fetchone()
        thorough = thorough or known <= _FEW
        for topic in shelves.keys() - set(topics):
            self._forget(
                name
                for (name,) in self._db.execute(
                    "select name from files where topic = ?", (topic,)
                ).fetchall()
            )
            self._db.execute("delete from shelves where topic = ?", (topic,))
        for topic in topics:
            changed = (self.folder / topic).stat().st_mtime_ns
            if thorough or shelves.get(topic) != changed:
                self._look_through(topic)
                settled = changed if time_ns() - changed > _JUST_NOW else 0
                if shelves.get(topic) != settled:
                    row = (topic, settled)
                    self._db.execute("insert or replace into shelves values (?, ?)", row)
            else:
                self._look_at(topic, ("_topic.yaml", "_myths.yaml"))
        self._look_at("", (RETIRED,))

    def _look_through(self, topic: str) -> None:
        query = "select name, changed, size from files where topic = ?"
        known = set(self._db.execute(query, (topic,)))
        found: set[tuple[str, int, int]] = set()
        odd: set[str] = set()
        with suppress(OSError), os.scandir(self.folder / topic) as files:
            for file in files:
                stamp = _stamp(file) if is_ours(file.name) else None
                if stamp:
                    name = f"{topic}/{printable(file.name)}"
                    found.add((name, *stamp))
                    if name != f"{topic}/{file.name}":
                        odd.add(name)
        there = {name for name, *_ in found - known}
        self._forget({name for name, *_ in known - found} - there)
        for name in sorted(there - odd):
            self._read(name, topic)
        for name in sorted(there & odd):
            self._keep(name, topic, (0, 0), None, [Problem(name, 1, ODD_NAME)])

    def _look_at(self, topic: str, files: Sequence[str]) -> None:
        for file in files:
            name = f"{topic}/{file}" if topic else file
            known = self._db.execute("select changed, size from files where name = ?", (name,))
            if (known.fetchone() or None) != _stamp(self.folder / name):
                self._read(name, topic)

    def _read(self, name: str, topic: str) -> None:
        path, problems = self.folder / name, list[Problem]()
        stamp = _stamp(path)
        match path.name:
            case "_topic.yaml":
                found = read_topic(self.folder, topic, problems)
                self._note(name, asdict(found) if found else None)
            case "_myths.yaml":
                myths = read_myths(self.folder, topic, problems)
                self._note(name, {slug: asdict(text) for slug, text in myths.items()})
            case "_retired.yaml":
                retired = read_retired(self.folder, problems)
                self._note(name, {gone: asdict(said) for gone, said in retired.items()})
            case hidden if hidden.startswith("_"):
                pass
            case _:
                question = read(self.folder, path, problems)
                self._keep(name, topic, stamp, question, problems)
                return
        self._keep(name, topic, stamp, None, problems)

    def _keep(
        self,
        file: str,
        topic: str,
        stamp: tuple[int, int] | None,
        question: Question | None,
        problems: Sequence[Problem],
    ) -> None:
        """Write down what the file holds as of that stamp."""
        self._forget([file], notes=False)
        if stamp is None:
            return
        # What is wrong may be mended without a trace in the file: a link, a permission.
        sound = not any(problem.severity == "error" for problem in problems)
        changed = stamp[0] if sound and time_ns() - stamp[0] > _JUST_NOW else 0
        told = json.dumps([[p.file, p.line, p.message, p.severity] for p in problems])
        row = (file, topic, changed, stamp[1], told)
        self._db.execute("insert into files values (?, ?, ?, ?, ?)", row)
        if question is None:
            return
        line = entry(question)
        marks = ", ".join("?" * len(line))
        self._db.execute(f"insert into entries values ({marks})", line)  # noqa: S608
        shown = json.dumps(asdict(listed(question)), ensure_ascii=False)
        front, whole = (text.encode() for text in searched(question))
        texts = (question.id, len(front), whole, shown)
        self._db.execute("insert into texts values (?, ?, ?, ?)", texts)

    def _note(self, name: str, note: object) -> None:
        self._db.execute("delete from notes where name = ?", (name,))
        if note is not None:
            said = json.dumps(note, ensure_ascii=False)
            self._db.execute("insert into notes values (?, ?)", (name, said))

    def _forget(self, files: Iterable[str], *, notes: bool = True) -> None:
        for file in files:
            name = file.removesuffix(".yaml")
            self._db.execute("delete from files where name = ?", (file,))
            self._db.execute("delete from entries where id = ?", (name,))
            self._db.execute("delete from texts where id = ?", (name,))
            if notes:
                self._note(file, None)


def _listed(row: dict[str, Any]) -> Listed:
    for name in ("tags", "covers"):
        row[name] = tuple(row[name])
    for name in ("prompt", "title"):
        row[name] = Text(**row[name])
    return Listed(**row)


def _topic(slug: str, note: Mapping[str, Any] | None) -> Topic:
    if note is None:  # as the reader has it: a shelf may do without a file of its own
        return Topic(slug, Text(slug, slug), Text(slug, slug))
    return Topic(
        slug,
        Text(**note["title"]),
        Text(**note["intro"]),
        tuple(note["needs"]),
        tuple(note["order"]),
        {name: Text(**said) for name, said in note["assume"].items()},
        tuple(Idea(**each) for each in note["ideas"]),
    )


def _is_text(name: str) -> bool:
    """Tell whether it can be looked for at all: bytes of a command line may be no text."""
    return name.isprintable()  # a NUL and half a character are not


def _stamp(path: Path | os.DirEntry[str]) -> tuple[int, int] | None:
    try:
        try:
            state = os.stat(path)  # noqa: PTH116
        except OSError:
            state = os.lstat(path)  # a link that leads nowhere is there, and somebody is told so
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size
