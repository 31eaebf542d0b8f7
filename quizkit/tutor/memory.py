"""Keep what is remembered, and until when: FSRS folded over the answers that count.

The answers are the truth; cards are folded from them and cached. Only questions with new rows are
folded again, and the scheduler is imported only when there is something to fold.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from quizkit.answer import Card, Review
from quizkit.bank.entry import Entry
from quizkit.bank.model import Kind
from quizkit.diary import Diary
from quizkit.tutor.verdict import Note

if TYPE_CHECKING:
    import fsrs

RECIPE = 3
"""Counts up whenever the same answers would make other cards; cached ones are then folded anew."""

# What an answer of a kind takes someone who knows it, in seconds.
TARGETS: Mapping[Kind, float] = {
    "choice": 40,
    "numeric": 90,
    "order": 60,
    "cloze": 60,
    "trace": 90,
    "bug": 120,
    "essay": 240,
    "written": 180,
}
_SLOW = 3.0
_QUICK = 0.5
_FULL = 0.75
_NEARLY = 0.8
_MOST = 0.66
_SLIP = "study.lowered_slip"

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4

LEECH = 5
"""A question forgotten so often wants another way of learning, not another repetition."""


def rate(
    kind: Kind,
    right: bool,
    score: float,
    hints: int,
    seconds: float,
    sure: bool | None,
    *,
    myth: bool = False,
) -> int:
    """Return the grade (1-4) that follows from what happened.

    Again: wrong. Hard: wrong in one part of many (6 gaps of 7, one number of a list, 2 of 3
    options and no misconception), or right, but with a hint, by a guess, with reasons missing, or
    in more than three times the kind's target. Easy: sure, without a hint, in half the target.
    Else good.
    """
    why = {key for key, _ in lowered(kind, right, score, hints, seconds, sure, myth=myth)}
    if not right:
        return HARD if why == {_SLIP} else AGAIN
    return HARD if why else EASY if sure and seconds <= _QUICK * TARGETS[kind] else GOOD


def lowered(
    kind: Kind,
    right: bool,
    score: float,
    hints: int,
    seconds: float,
    sure: bool | None,
    *,
    myth: bool = False,
) -> tuple[Note, ...]:
    """List what the grade rests on beside right and wrong; nothing where that alone decides."""
    taken: list[Note] = [("study.lowered_hints", {"hints": hints})] if hints else []
    if not right:
        # In an order one swap may be the whole point; parts of a text or a list stand alone.
        apart = kind in ("cloze", "trace") and score >= _NEARLY
        apart = apart or (kind == "choice" and score >= _MOST and not myth)
        return (*(taken or [(_SLIP, {})]),) if apart else ()
    limit = _SLOW * TARGETS[kind]
    every: list[tuple[bool, Note]] = [
        (sure is False, ("study.lowered_unsure", {})),
        # An essay passes from 70 %: what is missing up to full marks is what makes it hard.
        (score < _FULL, ("study.lowered_missing", {})),
        (seconds > limit, ("study.lowered_slow", {"limit": f"{limit:.0f}"})),
    ]
    return (*taken, *(note for holds, note in every if holds))


class Memory:
    """The cards of a diary, kept up to date."""

    def __init__(self, diary: Diary, entries: Iterable[Entry] = ()) -> None:
        self._diary = diary
        self._names = {old: each.id for each in entries for old in each.was.split()}
        self._seen, self._cards = diary.cards(RECIPE)
        self.refresh()

    @property
    def cards(self) -> Mapping[str, Card]:
        """The cards of what is remembered, by question; none for what was never answered."""
        if not self._names.keys() & self._cards.keys():
            return self._cards
        return {**self._cards, **self._renamed()}

    def refresh(self) -> None:
        """Take in what was written since, by this session or by another."""
        last, changed = self._diary.news(self._seen)
        if last == self._seen:
            return
        cards = fold(self._diary.reviews(changed if self._seen else None))
        forgotten = changed - cards.keys()
        self._diary.keep_cards(cards.values(), forgotten, last, RECIPE)
        self._cards = {name: c for name, c in self._cards.items() if name not in changed} | cards
        self._seen = last

    def _renamed(self) -> dict[str, Card]:
        """The cards of questions that were answered under an older name too."""
        old = self._names.keys() & self._cards.keys()
        both = old | {self._names[name] for name in old}
        reviews = (
            Review(self._names.get(review.question, review.question), review.at, review.grade)
            for review in self._diary.reviews(both)
        )
        return fold(reviews)


def fold(reviews: Iterable[Review]) -> dict[str, Card]:
    """Return the cards after these answers, which come in the order they were given."""
    cards: dict[str, Card] = {}
    for review in reviews:
        before = cards.get(review.question)
        cards[review.question] = reviewed(before, review)
    return cards


def reviewed(card: Card | None, review: Review) -> Card:
    """Return the card after one more answer."""
    scheduler, ratings = _scheduler()
    import fsrs

    # A clock that was set back must not make an answer come before the one it followed.
    at = max(review.at, card.last) if card else review.at
    state = fsrs.Card(
        card_id=0,
        state=fsrs.State.Review if card else fsrs.State.Learning,
        step=None if card else 0,
        stability=card.stability if card else None,
        difficulty=card.difficulty if card else None,
        due=card.due if card else at,
        last_review=card.last if card else None,
    )
    after, _ = scheduler.review_card(state, ratings[review.grade - 1], at)
    assert after.stability is not None
    assert after.difficulty is not None
    return Card(
        review.question,
        after.stability,
        after.difficulty,
        after.due,
        at,
        (card.reps if card else 0) + 1,
        (card.lapses if card else 0) + (review.grade == AGAIN),
    )


@cache
def _scheduler() -> "tuple[fsrs.Scheduler, tuple[fsrs.Rating, ...]]":
    import fsrs

    # No learning steps: nobody must come back in ten minutes. No fuzz: the same answers, the same
    # cards.
    scheduler = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    return scheduler, tuple(fsrs.Rating)
