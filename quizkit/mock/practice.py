"""Seven days of practice after an interview, from what was lost in it.

What a step lost is its share of each dimension it speaks to, by the script's weights, times what is
missing of its score. Questions that go at a misconception that was shown come first; then step by
step, the greatest loss first and one question each in turn: the step's own question, those it names
for practice, what follows up on it. All are asked once in that order and once more in the same, so
that about half a week lies between; the whole is cut evenly into days.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest

from quizkit.bank.entry import myths_of
from quizkit.bank.model import Question, Text
from quizkit.mock.first_words import first_words
from quizkit.mock.kept_card import PracticeDay, PracticeTask
from quizkit.mock.marks import Mark
from quizkit.mock.scorecard import Rated
from quizkit.tutor.after_mock import DAYS

FEWEST, MOST = 2, 4
"""Questions a day."""

_OF_A_MYTH = 2
"""Questions on one misconception: the answer that showed it is on the card already."""


def practice(
    marks: Sequence[Mark], rated: Sequence[Rated], questions: Mapping[str, Question]
) -> tuple[PracticeDay, ...]:
    """Return the days that have questions; none where nothing was lost or the bank has none."""
    chosen: dict[str, PracticeTask] = {}
    for task in _wanted(marks, rated, questions):
        name = task.question
        if name in questions and len(chosen) < DAYS * MOST // 2 and name not in chosen:
            chosen[name] = replace(task, title=Text(*_title(questions[name])))
    firsts = [*chosen.values()]
    turns = [*firsts, *(replace(each, again=True) for each in firsts)]
    days = min(DAYS, len(turns) // FEWEST)
    if len(chosen) == 1:  # once more on the same day is no practice
        return tuple(PracticeDay(day=1 + 3 * n, questions=(turn,)) for n, turn in enumerate(turns))
    cuts = [round(len(turns) * n / days) for n in range(days + 1)] if days else []
    # Few questions are spread over the week just the same.
    return tuple(
        PracticeDay(day=1 + round((DAYS - 1) * n / (days - 1)), questions=tuple(turns[start:end]))
        for n, (start, end) in enumerate(pairwise(cuts))
    )


def lost(marks: Sequence[Mark], rated: Sequence[Rated]) -> Mapping[str, float]:
    """Return by station how much of the overall, 0 to 1, went with its answer."""
    weights = sum(each.weight for each in rated)
    found = {mark.station.id: 0.0 for mark in marks}
    for each in rated:
        shares = sum(share for _, share in each.evidence)
        for mark, share in each.evidence:
            part = each.weight / weights * share / shares
            found[mark.station.id] += part * (1 - mark.score)
    return found


def _wanted(
    marks: Sequence[Mark], rated: Sequence[Rated], questions: Mapping[str, Question]
) -> Iterator[PracticeTask]:
    """Yield what could be practised, the most useful first."""
    losses = lost(marks, rated)
    order = {mark.station.id: at for at, mark in enumerate(marks)}
    worst = sorted(marks, key=lambda mark: (-losses[mark.station.id], order[mark.station.id]))
    # Who was right and lost only by a hint knows the point.
    worst = [mark for mark in worst if losses[mark.station.id] > 0 and mark.worth < 1]
    known = {mark.question.id for mark in marks if mark.worth >= 1}
    shown_at = {myth: mark.station.id for mark in reversed(worst) for myth in mark.myths}
    for myth in dict.fromkeys(myth for mark in worst for myth in mark.myths):
        about = [
            each
            for each in questions.values()
            if each.id not in known and myth in {name for _, name in myths_of(each)}
        ]
        about.sort(key=lambda each: (each.level, each.id))
        for each in about[:_OF_A_MYTH]:
            yield PracticeTask(question=each.id, why="myth", step=shown_at[myth], myth=myth)
    for row in zip_longest(*(_of(mark, questions) for mark in worst)):
        yield from (each for each in row if each and each.question not in known)


def _of(mark: Mark, questions: Mapping[str, Question]) -> Iterator[PracticeTask]:
    ask, step = mark.station.ask, mark.station.id
    if ask:
        yield PracticeTask(question=ask, why="asked", step=step)
    for name in mark.station.practice:
        yield PracticeTask(question=name, why="practice", step=step)
    own = questions.get(ask or "")
    if own:
        for each in own.followups:
            if each.when in ("always", "wrong"):
                yield PracticeTask(question=each.ask, why="followup", step=step)


def _title(question: Question) -> tuple[str, str]:
    return first_words(question.prompt.zh), first_words(question.prompt.en)
