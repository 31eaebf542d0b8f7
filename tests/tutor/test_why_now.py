"""A question says why it is its turn."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from quizkit.answer import Card
from quizkit.bank.entry import entry
from quizkit.bank.model import FollowUp
from quizkit.bank.reader import Bank
from quizkit.tutor.lineup import today
from quizkit.tutor.queue import Queue
from quizkit.tutor.turns import Turn
from quizkit.tutor.verdict import Note
from quizkit.tutor.why_now import why_now

NOW = datetime(2026, 3, 1, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (None, ("study.now_new", {})),
        (1, ("study.now_early", {})),
        (-0.5, ("study.now_due", {})),
        (-3.5, ("study.now_late", {"days": 3})),
    ],
)
def test_where_nothing_brought_it_the_memory_is_the_reason(days: float | None, said: Note):
    card = None
    if days is not None:
        card = Card("a/1", 1.0, 5.0, NOW + timedelta(days=days), NOW - timedelta(days=9), 1, 0)
    assert why_now(Turn("a/1", 1), card, NOW) == said
    brought: Note = ("study.now_belief", {})
    assert why_now(Turn("a/1", 1, reason=brought), card, NOW) == brought
    assert why_now(Turn("a/1", 1, repeat=True, reason=brought), card, NOW)[0] == "study.now_again"


def test_a_chain_of_follow_ups_counts_its_links(bank: Bank):
    same = entry(bank.questions["pp/stages"])._replace(follows="", myths="", topic="a")
    chain = {f"a/{i}": f"a/{i + 1}" for i in range(3)}
    entries = [same._replace(id=f"a/{i}", follows=chain.get(f"a/{i}", "")) for i in range(6)]
    queue = Queue(entries, today(entries, {}, NOW, 1), 1)
    reasons: dict[str, Note | None] = {}
    while turn := queue.next():
        reasons[turn.question] = turn.reason
        leads = chain.get(turn.question)
        follows = (FollowUp(leads, "right"),) if leads else ()
        question = replace(bank.questions["pp/stages"], id=turn.question, followups=follows)
        queue.follow(question, True)
    links = [note for note in reasons.values() if note and note[0] == "study.now_link"]
    assert links == [
        ("study.now_link", {"number": n + 1, "of": len(links)}) for n in range(len(links))
    ]
    assert len(links) >= 2


def test_a_question_that_catches_the_same_belief_says_so(bank: Bank):
    same = entry(bank.questions["pp/stages"])._replace(follows="", myths="", topic="a")
    myth = [same._replace(id=f"b/{i}", myths="one-belief") for i in range(2)]
    queue = Queue(myth, today(myth, {}, NOW, 1), 1)
    first = queue.next()
    assert first
    queue.wrong(first, "one-belief")
    after = queue.next()
    assert after
    assert after.reason == ("study.now_belief", {})
