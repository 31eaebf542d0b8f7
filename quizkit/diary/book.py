"""What is written into the diary and read out of it.

An answer is committed before `append` returns. What was a mistake is taken back by a further row
that names it. The cards (what is remembered, and until when) lie beside the answers as a cache and
can be rebuilt from them at any time.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar, cast

from quizkit.answer import PLACEMENT, Answer, Card, Review, SessionEvent, forgotten
from quizkit.diary.file import File
from quizkit.diary.rows import (
    COLUMNS,
    LeftOut,
    Pages,
    Row,
    Table,
    UnusableError,
    answer_in,
    event_in,
    is_name,
    logged,
    milliseconds,
    moment,
    packed,
    review_in,
    shown,
)
from quizkit.errors import DiaryError

_NAMED = "diary"
_NAMES = ", ".join(COLUMNS["answers"])
# Not by id: rows of another machine come in after rows that are younger than they.
_ORDER = "at, device, id"
_INSERT = f"insert into answers ({_NAMES}) values ({', '.join('?' * len(COLUMNS['answers']))})"  # noqa: S608
_SELECT = f"select {_NAMES} from answers order by {_ORDER}"  # noqa: S608
_SELECT_OF = f"""select {_NAMES} from answers where question in
    (select value from json_each(?)) order by {_ORDER}"""  # noqa: S608
_LOG = "insert into events (device, at, session, name, note) values (?, ?, ?, ?, ?)"
_EVENTS = "select device, at, session, name, note from events"
_COUNTS = """not exists (select 1 from answers as u where u.undoes = a.uuid)
    and not exists (select 1 from answers as f where f.note = 'forget'
        and f.question = substr(a.question, 1, instr(a.question, '/') - 1) and f.at >= a.at
        and not exists (select 1 from answers as u where u.undoes = f.uuid))"""
_GRADED = f"grade is not null and {_COUNTS}"
_KEEP = """insert into cards values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (question) do
    update set (seen, recipe, reps, lapses, stability, difficulty, due, last) =
    (excluded.seen, excluded.recipe, excluded.reps, excluded.lapses, excluded.stability,
    excluded.difficulty, excluded.due, excluded.last)
    where excluded.seen >= seen or excluded.recipe <> recipe"""
_DAYS = 10.0**6
"""More than anything is remembered for."""
_QUICK = 0.25
"""Seconds to wait for a lock where only a cache is written, or what comes again."""

Kind = TypeVar("Kind")


class Diary:
    """The learner's file. Several processes may have it open at once."""

    def __init__(self, path: Path) -> None:
        self._file = File(path)

    def __enter__(self) -> "Diary":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; nothing is pending."""
        self._file.close()

    @property
    def device(self) -> str:
        """A random name for this diary's machine: the one it has, else a new one."""
        for source in (f"events where name = '{_NAMED}'", "answers", "events"):
            rows = self._file.rows(f"select device from {source} order by id limit 9")  # noqa: S608
            if found := next((str(row[0]) for row in rows if is_name(row[0])), ""):
                return found
        return token_hex(4)

    def wait_with(self, waiting: Callable[[], AbstractContextManager[object]]) -> None:
        """What to hold while another program keeps the diary locked: it is waited for longer."""
        self._file.waiting = waiting

    def append(self, answer: Answer) -> None:
        """Add a row. When this returns, the row is on disk."""
        self._file.write(_INSERT, [packed(answer)])

    def answers(self, questions: Collection[str] | None = None) -> list[Answer]:
        """Every answer that is of use, in the order in which they were given.

        `questions` are those that are asked for, and what was forgotten of their topics.
        """
        if questions is None:
            return [*_usable(self._file.rows(_SELECT), answer_in)]
        names = sorted({*questions, *(name.partition("/")[0] for name in questions)})
        return [*_usable(self._file.rows(_SELECT_OF, (json.dumps(names),)), answer_in)]

    def last(self, question: str) -> Answer | None:
        """The latest answer to a question that counts."""
        query = f"""select {_NAMES} from answers as a where question = ? and right is not null
            and {_COUNTS} order by at desc, device desc, id desc"""  # noqa: S608
        return next(_usable(self._file.rows(query, (question,)), answer_in), None)

    def forgotten(self, topic: str) -> Answer | None:
        """The last row by which a topic was forgotten, if it was."""
        query = f"select {_NAMES} from answers where question = ?"  # noqa: S608
        return forgotten(_usable(self._file.rows(query, (topic,)), answer_in)).get(topic)

    def log(self, event: SessionEvent, *, hurried: bool = False) -> None:
        """Add what happened beside the answers. When this returns, it is on disk.

        What is `hurried` gives way to a lock at once: it comes again.
        """
        self._file.write(_LOG, [logged(event)], patience=_QUICK if hurried else None)

    def events(self, session: str | None = None, name: str | None = None) -> list[SessionEvent]:
        """What happened in a session, or every event of a name, in the order they came."""
        wanted = {"session": session, "name": name}
        given = {column: value for column, value in wanted.items() if value is not None}
        where = " and ".join(f"{column} = ?" for column in given) or "true"
        rows = self._file.rows(f"{_EVENTS} where {where} order by id", [*given.values()])
        # An index that is damaged finds what has another name.
        found = _usable(rows, event_in)
        return [e for e in found if name in (None, e.name) and session in (None, e.session)]

    def pages(self) -> Pages:
        """All there is: the rows that are of use, and of the others what can be read of them."""
        damage = self._file.damage()
        answers, answers_left = self._salvaged("answers", answer_in, damage)
        events, events_left = self._salvaged("events", event_in, damage)
        answers.sort(key=lambda row: (milliseconds(row.at), row.device))
        return Pages(answers, events, [*answers_left, *events_left], damage)

    def placements(self) -> set[str]:
        """The sessions that looked for the learner's level."""
        return {each.session for each in self.events(name=PLACEMENT)}

    def take_in(
        self, answers: Iterable[Answer], events: Iterable[SessionEvent]
    ) -> tuple[int, int, Path | None]:
        """Add rows of another diary, all or none: so many answers and events were new.

        Where anything was, the diary as it had been lies in the file that is named last.
        """
        taken, happened = [packed(row) for row in answers], [logged(event) for event in events]
        # Nobody may write between the look at what is there and what is added to it.
        with self._file.writing():
            known = {row[0] for row in self._file.rows("select uuid from answers")}
            seen = {*self._file.rows(_EVENTS)}
            taken = [row for row in {row[0]: row for row in taken}.values() if row[0] not in known]
            happened = [row for row in dict.fromkeys(happened) if row not in seen]
            if not taken and not happened:
                return 0, 0, None
            kept = self._file.back_up("before-merge")
            # The first row of this name is this machine's own, whatever comes in afterwards.
            name = SessionEvent(
                device=self.device, at=datetime.now(UTC), session="", name=_NAMED, note={}
            )
            own = [] if any(row[3] == _NAMED for row in seen) else [logged(name)]
            self._file.add(_LOG, own)
            self._file.add(_INSERT, taken)
            self._file.add(_LOG, happened)
        return len(taken), len(happened), kept

    def cards(self, recipe: int) -> tuple[int, dict[str, Card]]:
        """The cached cards made by this recipe, and up to which row they know the answers."""
        query = """select seen, question, stability, difficulty, due, last, reps, lapses
            from cards where recipe = ?"""
        last = cast("int", self._file.rows("select coalesce(max(id), 0) from answers")[0][0])
        rows = self._file.rows(query, (recipe,))
        try:
            cards = {str(row[1]): _card(row[1:]) for row in rows if row[6]}
            seen = max((cast("int", row[0]) for row in rows), default=0)
            if seen > last:
                raise ValueError(seen)
        except (TypeError, ValueError):
            # What was cached is damaged; the answers are not.
            self._cache("delete from cards", [()])
            return 0, {}
        return seen, cards

    def news(self, seen: int) -> tuple[int, set[str]]:
        """The last row, and the questions that the rows after `seen` change something about."""
        query = "select max(id), question from answers where id > ? group by question"
        rows = cast("list[tuple[int, str]]", self._file.rows(query, (seen,)))
        names = {row[1] for row in rows}
        topics = [name for name in names if "/" not in name]
        if topics:  # of which all was forgotten, or is remembered after all
            query = """select distinct question from answers
                where substr(question, 1, instr(question, '/') - 1) in
                (select value from json_each(?))"""
            names |= {str(row[0]) for row in self._file.rows(query, (json.dumps(topics),))}
        return max((row[0] for row in rows), default=seen), names.difference(topics)

    def reviews(self, questions: Collection[str] | None = None) -> Iterator[Review]:
        """The answers that count, of these questions or of all, in the order they were given."""
        query = f"select question, at, grade from answers as a where {_GRADED}"  # noqa: S608
        values = list[str]()
        if questions is not None:
            query += " and question in (select value from json_each(?))"
            values.append(json.dumps(sorted(questions)))
        yield from _usable(self._file.rows(f"{query} order by {_ORDER}", values), review_in)

    def asked_since(self, moment: datetime) -> tuple[int, int]:
        """How many questions have been answered since: for the first time, and again.

        A placement's answers are none of the day's.
        """
        query = f"""select question, min(at) from answers as a where {_GRADED}
            and question in (select question from answers where at >= ?1 and grade is not null)
            group by question having max(at * (session not in
            (select session from events where name = ?2))) >= ?1"""  # noqa: S608
        since = milliseconds(moment)
        rows = self._file.rows(query, (since, PLACEMENT))
        firsts = [cast("int", row[1]) for row in rows]
        new = sum(first >= since for first in firsts)
        return new, len(firsts) - new

    def keep_cards(
        self, cards: Iterable[Card], forgotten: Iterable[str], seen: int, recipe: int
    ) -> None:
        """Cache cards that know the answers up to row `seen`; of the forgotten nothing counts."""
        rows: list[Row] = [
            (card.question, seen, recipe, card.reps, card.lapses, *_state(card)) for card in cards
        ]
        rows += [(question, seen, recipe, 0, 0, *[None] * 4) for question in forgotten]
        self._cache(_KEEP, rows)

    def _cache(self, query: str, rows: Iterable[Row]) -> None:
        try:
            self._file.write(query, rows, patience=_QUICK)
        except DiaryError as error:
            # Nobody waits for a cache: next time the same is found in the answers again.
            if error.key != "diary_busy":
                raise

    def _salvaged(
        self, table: Table, read: Callable[[Row], Kind], damage: str
    ) -> tuple[list[Kind], list[LeftOut]]:
        rows, lost = self._file.salvage(table, sound=not damage)
        kept: list[Kind] = []
        left = [LeftOut(f"{table} {low}-{high}", damage) for low, high in lost]
        for number, row in sorted(rows.items()):
            try:
                kept.append(read(row))
            except UnusableError as error:
                there = dict(zip(COLUMNS[table], map(shown, row), strict=True))
                left.append(LeftOut(f"{table} {number}", str(error), there))
        return kept, left


def _usable(rows: Iterable[Row], read: Callable[[Row], Kind]) -> Iterator[Kind]:
    """The rows that can be used. The others are passed over here, and told of by `pages`."""
    for row in rows:
        try:
            yield read(row)
        except UnusableError:
            continue


def _state(card: Card) -> tuple[float, float, int, int]:
    return card.stability, card.difficulty, milliseconds(card.due), milliseconds(card.last)


def _card(row: Sequence[object]) -> Card:
    """A card of the cache. Raises ValueError or TypeError where it can be none."""
    name, stability, difficulty, due, last, reps, lapses = cast("tuple[Any, ...]", row)
    card = Card(name, stability, difficulty, moment(due), moment(last), reps, lapses)
    if not (0 < stability < _DAYS and 1 <= difficulty <= 10 and reps > 0 and lapses >= 0):
        raise ValueError(row)
    return card
