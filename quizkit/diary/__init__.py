"""The learner's diary: rows that are only added. Everything else is derived from them."""

from quizkit.answer import Answer, Card, Event, Mode, Review, counted, flagged
from quizkit.diary.book import Diary
from quizkit.diary.file import erase

__all__ = ["Answer", "Card", "Diary", "Event", "Mode", "Review", "counted", "erase", "flagged"]
