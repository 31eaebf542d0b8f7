"""The clock in the interview's prompt, and its two warnings: the interview's, the question's."""

from typing import Literal

from quizkit.mock.timer import Timer, face
from quizkit.words import Lang, say

WARNED = 0.8
"""The share of its time after which the interview, or a question, is to come to an end."""
_STYLE = "bold reverse"  # no colour, so that it is seen without any

Nearing = Literal["all", "one"]


def nearing(timer: Timer, target: float) -> tuple[Nearing, ...]:
    """Return what has used up most of its time: the interview, the question that is open."""
    found: list[Nearing] = []
    if timer.used() >= WARNED * timer.total:
        found.append("all")
    if timer.spent() >= WARNED * target:
        found.append("one")
    return tuple(found)


def clock_line(timer: Timer, target: float, lang: Lang, sure: bool) -> list[tuple[str, str]]:
    """Write the clock as it stands in the prompt, four times a second, each piece with a style.

    `sure`: so the candidate has said of the answer.
    """
    near, own = nearing(timer, target), target - timer.spent()
    left = say("mock.clock_left", lang, left=face(timer.left()))
    if own >= 0:
        question = say("mock.clock_question", lang, question=face(own))
    else:
        question = say("mock.clock_over", lang, over=face(-own))
    if "all" in near:
        left += say("mock.clock_near_all", lang)
    if "one" in near and own >= 0:
        question += say("mock.clock_near_one", lang)
    styles = dict.fromkeys(near, _STYLE)
    pieces = [("", "["), (styles.get("all", ""), left), ("", " | ")]
    said = [("", " | "), ("bold", say("mock.is_sure", lang))] if sure else []
    return [*pieces, (styles.get("one", ""), question), *said, ("", "] ")]


def spoken(pieces: list[tuple[str, str]]) -> str:
    """Return the words of a prompt without their styles."""
    return "".join(text for _, text in pieces)
