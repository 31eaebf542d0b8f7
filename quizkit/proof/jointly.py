"""Test whether another whole key would do as well: numbers exchanged, or an order turned.

A sum stays where one number gives what another one takes, and so would a key that it proves.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from quizkit.bank.draw import show_value
from quizkit.bank.functions import Number, Value, is_number
from quizkit.bank.model import Cloze, Order, Question, Text, Trace
from quizkit.proof.said import both
from quizkit.proof.worlds import Scene, truth_of

Key = Mapping[str, Value]


def loose_together(question: Question, scenes: Sequence[Scene]) -> Iterator[Text]:
    """Yield what else the claims are as true of, where a key is more than one number."""
    match question:
        case Order():
            steps = [step.id for step in question.steps]
            ids = steps[::-1]
            turned = [places(steps, ids)] * len(scenes)
            if not _allowed(question, ids) and _as_true(question, scenes, turned):
                yield both("prove.loose_turned", order=", ".join(ids))
        case Cloze():
            names = [name for name, gap in question.gaps.items() if gap.value]
            for pair in combinations(names, 2):
                keys = [_gaps(scene, *pair) for scene in scenes]
                for other in zip(*keys, strict=True):
                    if _as_true(question, scenes, other):
                        said = ", ".join(f"{n} = {show_value(v)}" for n, v in other[0].items())
                        yield both("prove.loose_pair", place=f"gaps.{pair[0]}", other=said)
                        break
        case Trace(answer=tuple() as answer):
            for other in _lists(answer):
                if _as_true(question, scenes, [{"answer": other}] * len(scenes)):
                    said = f"answer = {show_value(other)}"
                    yield both("prove.loose_pair", place="answer", other=said)
                    return
        case _:
            pass


def ordered(question: Order) -> Iterator[tuple[str, str]]:
    """Yield the pairs whose order the key does not leave open; with no `after`, all neighbours."""
    if question.after is None:
        ids = [step.id for step in question.steps]
        yield from pairwise(ids)
        return
    for step, before in question.after.items():
        for first in before:
            yield first, step


def before(ids: Sequence[str], first: str, second: str) -> list[str]:
    """Return the order with `second` right before `first`, and the rest as it was."""
    rest = [each for each in ids if each != second]
    return [*rest[: rest.index(first)], second, *rest[rest.index(first) :]]


def places(steps: Sequence[str], ids: Sequence[str]) -> Key:
    """Return what the names of an order's key mean if its steps come in another order."""
    at = {each: place for place, each in enumerate(ids, start=1)}
    return {**at, "order": [at[each] for each in steps]}


def _allowed(question: Order, ids: Sequence[str]) -> bool:
    """Tell whether the key leaves this order open."""
    if question.after is None:
        return len(ids) < 2
    at = {each: place for place, each in enumerate(ids)}
    return all(at[one] < at[step] for step, before in question.after.items() for one in before)


def _as_true(question: Question, scenes: Sequence[Scene], keys: Sequence[Key]) -> bool:
    """Tell whether the claims that name the key are true of the other key in every run."""
    assert question.proof is not None
    named = [each.tree for each in question.proof.claims if any(each.names & {*k} for k in keys)]
    worlds = [{**scene.values, **key} for scene, key in zip(scenes, keys, strict=True)]
    changed = any(
        not math.isclose(was, now, rel_tol=0.01)
        if is_number(was) and is_number(now)
        else was != now
        for scene, key in zip(scenes, keys, strict=True)
        for was, now in ((scene.values[name], now) for name, now in key.items())
    )
    return bool(named) and changed and all(truth_of(c, w) for c in named for w in worlds)


def _gaps(scene: Scene, one: str, other: str) -> Iterator[Key]:
    a, b = scene.values[one], scene.values[other]
    numbers = _exchanged(a, b) if is_number(a) and is_number(b) else ((b, a),)
    for first, second in numbers:
        yield {one: first, other: second}


def _lists(answer: Sequence[Number]) -> Iterator[list[int | float | bool]]:
    for i, j in combinations(range(len(answer)), 2):
        for first, second in _exchanged(answer[i], answer[j]):
            changed: list[int | float | bool] = [*answer]
            changed[i], changed[j] = first, second
            yield changed


def _exchanged(a: Number, b: Number) -> Iterator[tuple[Number, Number]]:
    """The two the other way round, and others that come to the same together."""
    yield b, a
    yield from ((a + 1, b - 1), (a - 1, b + 1))
    yield from ((a * 2, b / 2), (a / 2, b * 2), (a * 2, b * 2))
