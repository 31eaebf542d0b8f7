"""What is asked, wherever it is asked: prompt, conditions and evidence are one piece."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from quizkit.bank.index import Index
from quizkit.bank.model import Exhibit
from quizkit.export.leaf import leaf
from quizkit.tutor.stem import stem
from quizkit.ui.jsonl.json_parts import ask_json
from quizkit.ui.screens.question_screen import question_screen
from quizkit.ui.screens.reading import whole
from quizkit.ui.screens.verdict_screen import nothing_to_show, verdict_screen
from quizkit.ui.terminal.draft import Draft
from quizkit.words import Lang

from . import shelf
from .test_screens import LANGS, WIDTHS, asking, drawn, judged

GOLDEN = Path(__file__).parent / "golden"
STEMS = ("assumed", "incident")
LOG = "rank 1  loss.7  gradient.8  spikes.9 on all"
USUAL: dict[Lang, str] = {
    "zh": "各 stage 用时相等；传输不计时间",
    "en": "the stages take equal times; transfers take no time",
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("name", STEMS)
def test_a_stem_looks_as_it_did(name: str, lang: Lang, width: int):
    """To look at them again: QUIZKIT_GOLDEN=1 pytest tests/ui/test_stem.py, then git diff."""
    folded, unfolded = (
        drawn(question_screen(replace(asking(name, lang), unfolded=opened), Draft()), width)
        for opened in (False, True)
    )
    shown = f"{folded}\n\n{unfolded}" if unfolded != folded else folded
    path = GOLDEN / f"{name}-{lang}-{width}.txt"
    if os.environ.get("QUIZKIT_GOLDEN"):
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")
    assert max(cell_len(line) for line in shown.split("\n")) <= width


@pytest.mark.parametrize("lang", LANGS)
def test_where_no_key_unfolds_them_all_conditions_are_told(lang: Lang):
    asked, usual = shelf.asked("assumed"), USUAL[lang]
    told = [
        drawn(question_screen(asking("assumed", lang), Draft(), plain=True), 200),
        drawn(whole(asked.question, lang), 200),
        leaf(asked.question, lang).front,
    ]
    assert all(usual in each for each in told), told
    said = ask_json(asking("assumed", lang))
    assert (len(said["assume"]), "8" in said["prompt"]) == (4, True)
    assert said["assume"][1] == {"zh": "m 不小于 4", "en": "m is at least 4"}[lang]


@pytest.mark.parametrize("lang", LANGS)
def test_the_usual_conditions_stand_behind_a_key(lang: Lang):
    moment, after = asking("assumed", lang), judged("assumed", lang, "22")
    for shown, opened in ((moment, False), (moment, True), (after, False), (after, True)):
        seen = replace(shown, unfolded=opened)
        screen = verdict_screen(seen, 200) if seen.verdict else question_screen(seen, Draft())
        assert (USUAL[lang] in " ".join(drawn(screen, 200).split())) is opened
    assert "assume" not in [*nothing_to_show(moment), *nothing_to_show(after)]
    assert "assume" in nothing_to_show(asking("number", lang))


def test_a_question_read_by_itself_knows_its_topics_conditions(tmp_path: Path):
    index = Index(shelf.STEMS, tmp_path)
    question = index.question("pp/assumed")
    index.close()
    assert question is not None
    assert question.usual == shelf.questions(shelf.STEMS)["assumed"].usual != {}


@pytest.mark.parametrize("lang", LANGS)
def test_the_evidence_is_shown_wherever_the_question_is(lang: Lang):
    asked = shelf.asked("incident")
    told = [
        drawn(question_screen(asking("incident", lang), Draft())),
        drawn(question_screen(asking("incident", lang), Draft(), plain=True)),
        drawn(verdict_screen(judged("incident", lang, [0]), 80)),
        drawn(whole(asked.question, lang)),
        leaf(asked.question, lang).front,
    ]
    assert all(LOG in each and "[2176, 2240]" in each for each in told), told
    evidence = ask_json(asking("incident", lang))["evidence"]
    assert [each["kind"] for each in evidence] == ["log", "bytes"]
    assert evidence[0]["text"].endswith(LOG)


def test_counted_numbers_stand_below_one_another():
    asked = shelf.asked("incident")
    counted = Exhibit("bytes", "payload_bytes  96\nsent  [40, 56]")
    asked = replace(asked, question=replace(asked.question, exhibits=(counted,)))
    assert "\npayload_bytes  96\nsent           [40, 56]\n" in stem(asked, "en").markdown()
