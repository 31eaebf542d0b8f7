"""What can still be read of a table where SQLite calls the file damaged."""

import sqlite3
from typing import cast

from quizkit.diary.rows import COLUMNS, Row, Table

Span = tuple[int, int]
"""Ids from one to another, both included."""


def salvaged(
    database: sqlite3.Connection, table: Table, size: int, *, sound: bool
) -> tuple[dict[int, Row], list[Span]]:
    """The rows that can be read, by id, and between which ids nothing can; `size`: the file's.

    Each way into a table leads past other pages, so every way is taken, but where all is sound.
    """
    select = f"select id, {', '.join(COLUMNS[table])} from {table}"  # noqa: S608
    found: dict[int, Row] = {}
    ways = (f"{select} not indexed", f"{select} order by id desc")[: 1 if sound else 2]
    whole = [_reads(database, found, way) for way in ways]
    if all(whole):
        return found, []
    # No row is smaller than this, so no id is larger.
    spans, lost = [(1, max(size // 40, *found, 1))], list[Span]()
    while spans:
        low, high = spans.pop()
        if _reads(database, found, f"{select} where id between {low} and {high}"):
            continue
        if low < high:
            half = (low + high) // 2
            spans += [(half + 1, high), (low, half)]
        elif low not in found:
            before = lost.pop() if lost and lost[-1][1] == low - 1 else (low, low)
            lost.append((before[0], low))
    return found, lost


def _reads(database: sqlite3.Connection, found: dict[int, Row], query: str) -> bool:
    """Take in what a query finds; whether it came to its end."""
    try:
        for number, *row in database.execute(query):
            if type(number) is int:
                found.setdefault(number, cast("Row", tuple(row)))
    except sqlite3.DatabaseError:
        return False
    return True
