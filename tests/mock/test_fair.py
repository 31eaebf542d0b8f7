"""Without ticks the strong pass, and the weak, the bluffer and the believer fail clearly.

The sheets were written by people who saw the prompts alone (`candidates.py` prints them), neither
rubric nor keywords; each holds one candidate's answers to every step that might be put.
"""

from functools import cache
from pathlib import Path

import pytest
import yaml
from candidates import script_of, sit

from quizkit.mock.printed import printed
from quizkit.mock.scorecard import Scorecard
from quizkit.words import Lang, other

SHEETS = Path(__file__).parent / "sheets"
HELD: list[tuple[str, Lang]] = [
    (slug, lang)
    for slug in ("training-framework", "parallel-strategy", "debug-the-run")
    for lang in ("zh", "en")
]
CLEARLY = 0.5


@pytest.fixture(scope="module")
def seat(shipped, tmp_path_factory):
    """One sitting of each candidate; `again` tells a second one from the first."""

    @cache
    def held(
        slug: str,
        lang: Lang,
        profile: str,
        pace: float = 0.9,
        wrote: Lang | None = None,
        again: int = 0,
    ) -> Scorecard:
        file = SHEETS / f"{slug}.{wrote or lang}.{profile}.yaml"
        answers = yaml.safe_load(file.read_text(encoding="utf-8"))["answers"]
        diary = tmp_path_factory.mktemp("sitting") / "diary.sqlite3"
        return sit(script_of(slug), shipped, diary, answers, lang, pace)[0]

    return held


@pytest.mark.parametrize(("slug", "lang"), HELD)
def test_who_passes_and_who_does_not(seat, slug, lang):
    strong, middling, weak, bluffer, veto = (
        seat(slug, lang, profile) for profile in ("strong", "middling", "weak", "bluffer", "veto")
    )
    mark = strong.script.pass_mark["overall"]
    assert strong.passed
    assert max(each.overall for each in (weak, bluffer, veto)) <= mark - CLEARLY
    assert max(weak.overall, bluffer.overall) < middling.overall < strong.overall
    assert not any(each.passed for each in (weak, bluffer, veto))


@pytest.mark.parametrize(("slug", "lang"), HELD)
def test_the_silent_the_late_and_who_speaks_the_other_language(seat, slug, lang):
    strong = seat(slug, lang, "strong")
    late = seat(slug, lang, "strong", pace=2.2)
    assert late.stop == "time"
    assert any(not mark.reached for mark in late.marks)
    assert late.overall < strong.overall
    foreign = seat(slug, lang, "strong", wrote=other(lang))
    assert foreign.passed
    assert late.script.minutes * 60 == late.spent.total == pytest.approx(late.spent.used)


@pytest.mark.parametrize(("slug", "lang"), HELD[::3])
def test_the_same_answers_and_the_same_draw_give_the_same_card(seat, slug, lang):
    assert printed(seat(slug, lang, "veto")) == printed(seat(slug, lang, "veto", again=1))
