"""Quote the learner's own words for the points that were made: one sentence each."""

from collections.abc import Sequence
from re import match, split

from quizkit.bank.evidence import evidence
from quizkit.bank.model import RubricPoint
from quizkit.mock.first_words import cut

_QUOTED = 160  # columns of a sentence: more is no evidence but the text again


def quotes(text: str, points: Sequence[RubricPoint]) -> tuple[str, ...]:
    """Return for each point the sentence that holds most keywords of it; empty where none does.

    One that begins with the point's own heading ("Spike: ...") goes before that. Of sentences with
    as many the longest keyword decides, then the order of the text. The point that is spoken of
    most clearly takes its sentence first; another takes the same one only where no other holds a
    keyword of it.
    """
    sentences = [each.strip() for each in split(r"(?<=[。！？!?；;\n])|(?<=\.)\s", text)]
    clear: list[tuple[bool, int, int, int, int]] = []
    for at, point in enumerate(points):
        for place, sentence in enumerate(sentences):
            held = evidence(sentence, point.keywords)
            headed = _headed(sentence, point)
            if held or headed:
                longest = max(map(len, held), default=0)
                clear.append((not headed, -len(held), -longest, at, place))
    found: dict[int, int] = {}
    for taken_too in (False, True):
        for *_, at, place in sorted(clear):
            if at not in found and (taken_too or place not in found.values()):
                found[at] = place
    told = (sentences[found[at]] if at in found else "" for at in range(len(points)))
    return tuple(cut(each, _QUOTED) for each in told)


def _headed(sentence: str, point: RubricPoint) -> bool:
    """Tell whether a sentence begins as the point does, up to the colon, in either language."""
    starts = (match(r"([^:：]+)[:：]", each) for each in (sentence, point.says.zh, point.says.en))
    mine, *its = (each[1].strip().casefold() if each else "" for each in starts)
    return mine != "" and mine in its
