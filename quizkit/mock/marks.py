"""Mark one step of an interview that is over: what the answer was worth, and who decided that."""

from dataclasses import dataclass

from quizkit.bank.model import Bug, Essay, Question, Text
from quizkit.bank.script import Station, WrittenTask
from quizkit.mock.judge import judge, rubric
from quizkit.mock.sitting import InterviewState, Judge, Kept
from quizkit.mock.written import passed
from quizkit.tutor.asked import Asked
from quizkit.tutor.verdict import Verdict, as_list, as_mapping

HINT_COSTS = 1 / 16
"""A hint takes a quarter point of the four that an answer can be worth."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One step of the interview, and what the answer was worth.

    `stands` are the vetoes that count: those the learner ticked, or without ticks those that were
    heard and were not taken back when asked about. `withdrawn` are the others that were heard.
    """

    station: Station
    probes: str
    asked: Asked
    given: object = None
    verdict: Verdict | None = None
    judge: Judge = "nobody"
    stands: tuple[int, ...] = ()
    withdrawn: tuple[int, ...] = ()
    reached: bool = True
    late: bool = False
    seconds: float = 0.0
    target: float = 0.0
    hints: int = 0
    sure: bool = False

    @property
    def probe(self) -> bool:
        """Tell whether it followed an answer up."""
        return bool(self.probes)

    @property
    def question(self) -> Question:
        """The question that was asked."""
        return self.asked.question

    @property
    def free(self) -> bool:
        """Tell whether it asks for a free text, which no key can judge."""
        return isinstance(self.question, Essay)

    @property
    def unticked(self) -> bool:
        """Tell whether it was a free text that keywords alone have judged."""
        return self.free and self.judge != "learner"

    @property
    def worth(self) -> float:
        """The answer's own score, 0 to 1: 0 where there is none."""
        return self.verdict.score if self.verdict and self.given is not None else 0.0

    @property
    def score(self) -> float:
        """The score that counts: what is left of it after the hints."""
        return max(0.0, self.worth - HINT_COSTS * self.hints)

    @property
    def hit(self) -> tuple[Text, ...]:
        """The points that were made: of a rubric, or checks that passed."""
        return self._points(True)

    @property
    def missed(self) -> tuple[Text, ...]:
        """The points that were not."""
        return self._points(False)

    @property
    def said(self) -> tuple[Text, ...]:
        """The false things that were said, and stand."""
        if not isinstance(self.question, Essay):
            return ()
        return tuple(self.question.vetoes[n].says for n in self.stands)

    @property
    def myths(self) -> tuple[str, ...]:
        """The misconceptions the answer showed."""
        if isinstance(self.question, Essay):
            vetoes = (self.question.vetoes[n] for n in self.stands)
            return tuple(veto.myth for veto in vetoes if veto.myth)
        return (self.verdict.myth,) if self.verdict and self.verdict.myth else ()

    def _points(self, wanted: bool) -> tuple[Text, ...]:
        question = self.question
        if isinstance(question, WrittenTask):
            none = (False,) * len(question.write.checks)
            held = passed(question.write, self.given) if self.given else none
            checks = zip(question.write.checks, held, strict=True)
            return tuple(check.says for check, ok in checks if ok is wanted)
        points = rubric(question)
        name = "reasons" if isinstance(question, Bug) else "points"
        ticked = as_list(as_mapping(self.given).get(name, [])) if points and self.given else []
        return tuple(point.says for n, point in enumerate(points) if (n in ticked) is wanted)


def mark(station: Station, parent: Station | None, asked: Asked, sitting: InterviewState) -> Mark:
    """Mark a step as the diary has it."""
    target = station.seconds * sitting.scale
    probes = parent.id if parent else ""
    answer = sitting.answers.get(station.id)
    if answer is None:
        return Mark(station, probes, asked, reached=False, target=target)
    kept = Kept.of(answer)
    given, stands, withdrawn = answer.given, (), ()
    if isinstance(asked.question, Essay) and given is not None:
        stands = _standing(station, sitting, as_mapping(given), kept.judge)
        given = {**as_mapping(given), "vetoes": [*stands]}
        every = range(len(asked.question.vetoes))
        withdrawn = tuple(
            n for n in every if kept.heard.get(f"veto{n + 1}") is True and n not in stands
        )
    return Mark(
        station,
        probes,
        asked,
        given=given,
        verdict=judge(asked, given) if given is not None else None,
        judge=kept.judge,
        stands=stands,
        withdrawn=withdrawn,
        late=kept.late,
        seconds=answer.seconds,
        target=target,
        hints=answer.hints,
        sure=answer.sure is True,
    )


def _standing(
    station: Station, sitting: InterviewState, given: object, judge: Judge
) -> tuple[int, ...]:
    """Return the vetoes that count. Keywords hear a negated sentence too, so without the learner's
    word one counts only where the candidate was asked about it and did not answer that right.
    """
    said = [n for n in as_list(as_mapping(given).get("vetoes", [])) if isinstance(n, int)]
    if judge == "learner":
        return tuple(said)
    kept: list[int] = []
    for n in said:
        probe = next((p for p in station.probes if p.when.source == f"veto{n + 1}"), None)
        answer = sitting.answers.get(probe.id) if probe else None
        if answer is not None and Kept.of(answer).heard["right"] is not True:
            kept.append(n)
    return tuple(kept)
