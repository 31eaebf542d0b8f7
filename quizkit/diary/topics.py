"""Topics that are begun anew. Nothing is removed: a further row says up to when nothing counts."""

from datetime import datetime
from uuid import uuid4

from quizkit.answer import FORGET, UNDO, Answer, counted
from quizkit.diary.book import Diary
from quizkit.words import Lang


def counting(diary: Diary, topic: str) -> int:
    """How many answers of a topic count."""
    return sum(row.question.partition("/")[0] == topic for row in counted(diary.answers()))


def forget(diary: Diary, topic: str, now: datetime, lang: Lang) -> Answer:
    """From here on nothing counts that was answered in the topic up to now, on any machine."""
    return _added(diary, topic, now, lang, FORGET, None)


def remember(diary: Diary, topic: str, now: datetime, lang: Lang) -> Answer | None:
    """Take the last forgetting of the topic back; None where there is none."""
    last = diary.forgotten(topic)
    return last and _added(diary, topic, now, lang, UNDO, last.uuid)


def _added(
    diary: Diary, topic: str, now: datetime, lang: Lang, note: str, undoes: str | None
) -> Answer:
    row = Answer(
        uuid=uuid4().hex,
        device=diary.device,
        at=now,
        session="",
        question=topic,
        lang=lang,
        seed=0,
        undoes=undoes,
        note=note,
    )
    diary.append(row)
    return row
