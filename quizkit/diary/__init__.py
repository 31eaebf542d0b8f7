"""The learner's diary: rows that are only added. Everything else is derived from them."""

from quizkit.answer import Answer, Card, Mode, Review, SessionEvent, counted, flagged
from quizkit.diary.book import Diary
from quizkit.diary.exchange import LARGEST, copied, exported, imported, pages
from quizkit.diary.file import backups, erase, exists
from quizkit.diary.rows import LeftOut, Pages

__all__ = [
    "LARGEST",
    "Answer",
    "Card",
    "Diary",
    "LeftOut",
    "Mode",
    "Pages",
    "Review",
    "SessionEvent",
    "backups",
    "copied",
    "counted",
    "erase",
    "exists",
    "exported",
    "flagged",
    "imported",
    "pages",
]
