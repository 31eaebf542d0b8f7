"""A planted bug as a riddle: which check will go red first? What may be picked, and what was so."""

from collections.abc import Sequence
from hashlib import blake2b

from quizkit.lab.demo import Demo
from quizkit.lab.report import Report

HANGS, CRASHES = "hangs", "crashes"
"""Two ends of a run that is not asked by its checks any more."""

_OTHERS = 4
"""Checks beside the one that must fail: all of up to twenty would be a list to search."""


def choices(demo: Demo, broken: str, sound: Report) -> list[str]:
    """List what may be picked: some checks of the sound run, in its order; then the two ends.

    The check that is declared to fail is among them; which others are, is always the same.
    """
    expect = demo.breaks[broken].expect
    known = [*dict.fromkeys(check.name for check in sound.checks)]
    if expect != HANGS and not expect.startswith(CRASHES):
        known = [*dict.fromkeys([*known, expect])]
    others = sorted((each for each in known if each != expect), key=lambda e: _lot(demo, broken, e))
    kept = {expect, *others[:_OTHERS]}
    return [*(each for each in known if each in kept), HANGS, CRASHES]


def reds(report: Report) -> Sequence[str]:
    """Return what the run gave away, the first thing first: checks that failed, or how it ended."""
    if report.outcome == "hung":
        return (HANGS,)
    if report.outcome == "crashed":
        return (CRASHES,)
    return tuple(dict.fromkeys(check.name for check in report.checks if not check.holds))


def _lot(demo: Demo, broken: str, check: str) -> bytes:
    return blake2b(f"{demo.name}:{broken}:{check}".encode(), digest_size=4).digest()
