"""Write a scorecard down as it is kept and as `--json` prints it: `quizkit/scorecard/2`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from re import search
from typing import Any

from quizkit.bank.model import Bug, Choice, Cloze, Essay, Order, Question, Text
from quizkit.bank.script import BEST, Probe, WrittenTask
from quizkit.mock.first_words import first_words
from quizkit.mock.judge import key, rubric
from quizkit.mock.kept_card import (
    KeptAnswer,
    KeptCalibration,
    KeptCard,
    KeptDimension,
    KeptEvidence,
    KeptFact,
    KeptLook,
    KeptRun,
    KeptTime,
)
from quizkit.mock.marks import HINT_COSTS, Mark
from quizkit.mock.practice import practice
from quizkit.mock.quotes import quotes
from quizkit.mock.readback import written
from quizkit.mock.scorecard import VETO_CAP, Rated, Scorecard
from quizkit.mock.written import shown
from quizkit.tutor.asked import Asked
from quizkit.tutor.verdict import as_list, as_mapping
from quizkit.words import Lang, say

SCHEMA = "quizkit/scorecard/2"
CONVENTIONS = (
    "scale", "overall", "unreached", "judged", "probed", "halved", "hinted", "capped", "clock"
)  # fmt: skip
"""Facts needed to read the numbers; sentences `card.rule_...` in the words."""


@dataclass(frozen=True, slots=True)
class Beyond:
    """Knowledge from outside the interview that its card tells.

    `questions` are those that can be practised, `myths` the words of misconceptions; `run` returns
    what a recorded run has to say to an answer, if it measures what was asked.
    """

    questions: Mapping[str, Question] = field(default_factory=dict[str, Question])
    myths: Mapping[str, Text] = field(default_factory=dict[str, Text])
    run: Callable[[Mark], KeptRun | None] = lambda _: None


def printed(card: Scorecard, beyond: Beyond | None = None) -> dict[str, Any]:
    """Return the scorecard as JSON, its words in both languages."""
    told: dict[str, Any] = written(kept(card, beyond or Beyond()))
    return told


def kept(card: Scorecard, beyond: Beyond) -> KeptCard:
    """Return the scorecard as it is kept."""
    script = card.script
    numbers, turned = _numbers(card), _turned(card)
    return KeptCard(
        schema=SCHEMA,
        session=card.session,
        mock=script.slug,
        edition=script.digest,
        title=script.title,
        level=script.level,
        lang=card.lang,
        at=card.at,
        verdict="pass" if card.passed else "fail",
        overall=_round(card.overall),
        capped=card.capped,
        best=BEST,
        pass_mark=dict(script.pass_mark),
        dimensions=tuple(
            KeptDimension(
                name=each.dimension,
                weight=each.weight,
                score=_round(each.score),
                needed=each.needed,
                words=_round(_worded(each)),
                evidence=tuple(
                    KeptEvidence(station=mark.station.id, share=share, score=_round(mark.score))
                    for mark, share in each.evidence
                ),
            )
            for each in card.rated
        ),
        answers=tuple(_answer(mark, numbers[mark.station.id], beyond) for mark in card.marks),
        looks=tuple(
            KeptLook(
                id=each.id,
                name=each.name,
                seconds=each.seconds,
                seen=each.id in card.looks,
                missed=turned.get(each.id, ""),
            )
            for mark in card.marks
            if mark.reached
            for each in mark.station.looks
            if each.seconds  # what lies there is no choice of the candidate's
        ),
        facts=tuple(
            KeptFact(asks=each.asks, answer=each.answer, asked=n in card.asked)
            for n, each in enumerate(script.facts)
        ),
        notes=card.notes,
        time=KeptTime(
            ended_by=card.stop,
            total=_round(card.spent.total),
            used=_round(card.spent.used),
            pause_budget=_round(card.spent.budget),
            paused=_round(card.spent.paused),
            charged_for_pauses=_round(card.spent.charged),
        ),
        calibration=_calibration(card.marks),
        myths=card.myths,
        beliefs={name: beyond.myths[name] for name in card.myths if name in beyond.myths},
        review=card.review,
        practice=practice(card.marks, card.rated, beyond.questions),
        hint_price=BEST * HINT_COSTS,
        conventions=tuple(_both(f"card.rule_{name}", **_PLACES) for name in CONVENTIONS),
    )


_PLACES = {"best": f"{BEST:g}", "cap": f"{VETO_CAP:g}", "hint": f"{BEST * HINT_COSTS:g}"}


def _both(key: str, **values: object) -> Text:
    return Text(say(key, "zh", **values), say(key, "en", **values))


def _worded(rated: Rated) -> float:
    """Return the part of a dimension that keywords decided: of what was not answered they say
    nothing.
    """
    loose = [each for each in rated.evidence if each[0].unticked]
    heard = sum(share for mark, share in loose if mark.judge == "keywords")
    return rated.words * heard / (sum(share for _, share in loose) or 1)


def _numbers(card: Scorecard) -> Mapping[str, int]:
    """Number the steps as they were when they were put: a follow-up has its station's number."""
    stations, above = [each.id for each in card.script.stations], dict[str, int]()
    for mark in card.marks:
        own = stations.index(mark.station.id) + 1 if mark.station.id in stations else 0
        above[mark.station.id] = own or above.get(mark.probes, 0)
    return above


def _turned(card: Scorecard) -> Mapping[str, str]:
    """Map a look that was never taken to the follow-up that asked for it and was not answered."""
    steps, found = {mark.station.id: mark.station for mark in card.marks}, dict[str, str]()
    for mark in card.marks:
        if not isinstance(mark.station, Probe) or not mark.reached or mark.worth >= 1:
            continue
        for n, look in enumerate(card.script.looks(steps[mark.probes]), start=1):
            wanted = search(rf"\bnot look{n}\b", mark.station.when.source)
            if wanted and look.id not in card.looks:
                found.setdefault(look.id, mark.station.id)
    return found


def _answer(mark: Mark, number: int, beyond: Beyond) -> KeptAnswer:
    asked, question = mark.asked, mark.question
    verdict = mark.verdict
    # A free text is held against its points: those missed are what was expected.
    expected = key(asked) if not isinstance(question, Essay) and mark.reached else None
    full = mark.worth >= 1 and not mark.said
    vetoes = question.vetoes if isinstance(question, Essay) else ()
    return KeptAnswer(
        station=mark.station.id,
        question=question.id,
        kind=question.kind,
        probe=mark.probe,
        number=number,
        title=Text(*(first_words(asked.fill(question.prompt, lang)) for lang in _LANGS)),
        reached=mark.reached,
        given=mark.given,
        yours=yours(mark),
        expected=_filled(asked, expected),
        right=bool(verdict and verdict.right),
        score=_round(mark.score),
        worth=_round(mark.worth),
        judge=mark.judge,
        hit=_all_filled(asked, mark.hit),
        quotes=tuple(_quotes(mark)),
        missed=_all_filled(asked, mark.missed),
        said=_all_filled(asked, mark.said),
        withdrawn=_all_filled(asked, [vetoes[n].says for n in mark.withdrawn]),
        seconds=_round(mark.seconds),
        target=_round(mark.target),
        late=mark.late,
        hints=mark.hints,
        sure=mark.sure,
        model=None if full else _filled(asked, question.say or question.explain),
        run=beyond.run(mark) if mark.given is not None else None,
    )


def yours(mark: Mark) -> Text:
    """Return the answer as the learner would recognise it, in words."""
    question, given = mark.question, mark.given
    if given is None:
        return Text("", "")
    match question:
        case Choice():
            picked = [question.options[int(str(each))].text for each in as_list(given)]
            return _joined(mark.asked, picked, ("；", "; "))
        case Order():
            by_id = {step.id: step.text for step in question.steps}
            steps = [by_id[str(each)] for each in as_list(given)]
            return _joined(mark.asked, steps, (" → ", " → "))
        case Cloze():
            return _same(" · ".join(str(value) for value in as_mapping(given).values()))
        case Essay():
            return _same(str(as_mapping(given).get("text", "")))
        case Bug():
            parts = as_mapping(given)
            told = {"line": parts.get("line"), "why": parts.get("text", "")}
            return _both("card.line_said", **told)
        case WrittenTask():
            return shown(given)
        case _:
            return _same(str(given))


_LANGS: tuple[Lang, Lang] = ("zh", "en")


def _same(text: str) -> Text:
    return Text(text, text)


def _joined(asked: Asked, texts: Sequence[Text], between: tuple[str, str]) -> Text:
    zh, en = ([asked.fill(text, lang) for text in texts] for lang in _LANGS)
    return Text(between[0].join(zh), between[1].join(en))


def _filled(asked: Asked, text: Text | None) -> Text | None:
    return Text(*(asked.fill(text, lang).strip() for lang in _LANGS)) if text else None


def _all_filled(asked: Asked, texts: Sequence[Text]) -> tuple[Text, ...]:
    return tuple(Text(*(asked.fill(text, lang) for lang in _LANGS)) for text in texts)


def _quotes(mark: Mark) -> Sequence[str]:
    """Return for each point that was made the learner's sentence that speaks of it."""
    points = rubric(mark.question)
    if not points or mark.given is None:
        return []
    text = str(as_mapping(mark.given).get("text", ""))
    made = {id(each) for each in mark.hit}
    return quotes(text, [point for point in points if id(point.says) in made])


def _calibration(marks: Sequence[Mark]) -> KeptCalibration:
    # A free text is right by degrees: only what the key judges says how well one knew.
    answered = [mark for mark in marks if mark.given is not None and mark.judge == "key"]
    counts = {
        (sure, right): sum(
            mark.sure is sure and bool(mark.verdict and mark.verdict.right) is right
            for mark in answered
        )
        for sure in (True, False)
        for right in (True, False)
    }
    return KeptCalibration(
        sure_right=counts[True, True],
        sure_wrong=counts[True, False],
        unsaid_right=counts[False, True],
        unsaid_wrong=counts[False, False],
    )


def _round(number: float) -> float:
    return round(number, 4)
