"""The learner's diary: rows that are only added. Everything else is derived from them."""

from quizkit.answer import Answer, Card, Event, Mode, Review, counted, flagged
from quizkit.diary.book import Diary
from quizkit.diary.exchange import Pages, exported, imported, pages
from quizkit.diary.file import backups, erase

__all__ = [
    "Answer",
    "Card",
    "Diary",
    "Event",
    "Mode",
    "Pages",
    "Review",
    "backups",
    "counted",
    "erase",
    "exported",
    "flagged",
    "imported",
    "pages",
]
