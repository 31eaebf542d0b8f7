"""Candidates on paper: what an interview would ask, and a sitting held with answers written down.

An answer sheet is YAML: `answers: {step: text}`; a step may also be `{say: text, first: [asides]}`.
Whoever writes one sees the prompts (`python tests/mock/candidates.py SCRIPT LANG` prints them) and
neither rubric nor keywords. A step without an answer is passed.
"""

import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from room import HandClock

from quizkit.bank.mocks import read_mock
from quizkit.bank.model import Bug, Choice, Cloze, Numeric, Order, Problem, Trace
from quizkit.bank.reader import Bank
from quizkit.bank.script import Script, Station, WrittenTask
from quizkit.diary import Diary
from quizkit.mock.desk import (
    Aside,
    Handed,
    Left,
    Opening,
    OpenQuestion,
    RubricSheet,
    Stop,
    Ticks,
)
from quizkit.mock.interview import Interview, Tells, begin
from quizkit.mock.printed import printed
from quizkit.mock.scorecard import Scorecard
from quizkit.paths import QUESTIONS
from quizkit.proof.code import code_of
from quizkit.tutor.stem import stem
from quizkit.words import Lang

SESSION = "a-seat-with-a-view"


@dataclass
class PaperDesk:
    """Hands in what stands on the sheet; each answer takes its target times `pace`."""

    clock: HandClock
    answers: Mapping[str, Any]
    script: Script
    pace: float = 0.9
    interactive: bool = False
    met: list[str] = field(default_factory=list[str])
    said: list[str] = field(default_factory=list[str])
    handed: bool = False

    def busy(self, text: str) -> AbstractContextManager[object]:
        return nullcontext()

    def open(self, opening: Opening) -> bool:
        return True

    def meet(self, moment: OpenQuestion) -> Handed | Left | Aside:
        step = self._step(moment)
        answer = self.answers.get(step.id)
        parts = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {"say": answer}
        if not self.met or self.met[-1] != step.id:
            self.met.append(step.id)
            self.said = [*(parts.get("first") or [])]
        elif self.handed:
            # Nobody could read it, and nobody is there to say it in another way.
            return self._hand(moment, "", passed=True)
        self.handed = not self.said
        if self.said:
            return Aside(str(self.said.pop(0)))
        text = parts.get("say")
        return self._hand(moment, "" if text is None else str(text), passed=text is None)

    def _hand(self, moment: OpenQuestion, text: str, *, passed: bool) -> Handed:
        spent = moment.timer.spent()
        wanted = max(0.0, moment.target * (0.2 if passed else self.pace) - spent)
        left = moment.timer.left()
        self.clock.pass_(min(wanted, left))
        return Handed(text, late=wanted >= left, passed=passed)

    def _step(self, moment: OpenQuestion) -> Station:
        name = moment.asked.question.id
        steps = [step for _, step in self.script.placed()]
        own = [step for step in steps if name == f"mocks/{self.script.slug}/{step.id}"]
        asks = [step for step in steps if step.ask == name and moment.target]
        fits = [step for step in asks if abs(step.seconds - moment.target) < 1e-6] or asks
        return (own or fits)[0]

    def stopped(self, why: Stop, lang: Lang) -> None:
        pass

    def tick(self, sheet: RubricSheet) -> Ticks | Left:
        return Ticks(sheet.points, sheet.vetoes, confirmed=False)


def script_of(slug: str) -> Script:
    """A shipped script."""
    problems: list[Problem] = []
    script = read_mock(QUESTIONS, slug, problems)
    assert script is not None, problems
    return script


def sit(
    script: Script,
    bank: Bank,
    diary: Path,
    answers: Mapping[str, Any],
    lang: Lang = "en",
    pace: float = 0.9,
    session: str = SESSION,
    tells: Tells = printed,
) -> tuple[Scorecard, list[str]]:
    """Hold the whole interview without ticks; the card, and the steps as they were met."""
    clock = HandClock()
    desk = PaperDesk(clock, answers, script, pace)
    with Diary(diary) as book:
        ledger = begin(script, book, desk, clock, lang, session=session)
        assert ledger is not None
        interview = Interview(script, bank.questions, desk, ledger, shows=code_of, tells=tells)
        card = interview.run()
    assert card is not None
    return card, desk.met


def prompts(script: Script, bank: Bank, lang: Lang, diary: Path, session: str = SESSION) -> str:
    """Every step as it would be put, with its draw; of evidence what a look would show."""
    clock = HandClock()
    with Diary(diary) as book:
        ledger = begin(script, book, PaperDesk(clock, {}, script), clock, lang, session=session)
        assert ledger is not None
        interview = Interview(
            script, bank.questions, PaperDesk(clock, {}, script), ledger, shows=code_of
        )
        main = {step.id for step in script.stations}
        out = [f"# {script.title[lang]}\n\n{script.opening[lang]}"]
        for _, step in script.placed():
            asked = interview.asked(step)
            out.append(
                f"## {step.id}{'' if step.id in main else '   (a follow-up: may not be asked)'}"
                f"   target {step.seconds} s"
            )
            if step.lead is not None:
                out.append(step.lead[lang])
            out.append(stem(asked, lang).markdown())
            out += _body(asked, lang)
            out += [
                f"(evidence {n}, {look.name[lang]}, takes {look.seconds} s:)\n"
                f"```\n{exhibit.text if (exhibit := look.exhibit(bank.questions)) else ''}\n```"
                for n, look in enumerate(script.looks(step), start=1)
                if look in step.looks
            ]
    return "\n\n".join(out) + "\n"


def _body(asked: Any, lang: Lang) -> list[str]:
    question = asked.question
    match question:
        case Choice():
            options = (question.options[at].text for at in asked.order)
            told = [f"{n}. {asked.fill(each, lang)}" for n, each in enumerate(options, start=1)]
            return ["\n".join(told), "(answer: numbers)" if question.several else "(one number)"]
        case Order():
            steps = (question.steps[at].text for at in asked.order)
            told = [f"{n}. {asked.fill(each, lang)}" for n, each in enumerate(steps, start=1)]
            return ["\n".join(told), "(answer: all numbers in order)"]
        case Cloze():
            return [asked.fill(question.text, lang), "(answer: gap; gap; ...)"]
        case Numeric():
            return [f"(answer: a number, {question.unit})"]
        case Bug() | Trace():
            lines = asked.code.lines
            code = "\n".join(f"{n:>3}  {line}" for n, line in enumerate(lines, start=1))
            bug = isinstance(question, Bug)
            how = "(answer: line number, then why)" if bug else "(answer: what it gives)"
            return [f"```\n{code}\n```", how]
        case WrittenTask() if question.write.fields:
            names = [f"{name}: {text[lang]}" for name, text in question.write.fields.items()]
            return ["\n".join(names), "(answer: name=number ..., all of them)"]
        case WrittenTask():
            return ["(answer: a line a stage)"]
        case _:
            return ["(a free answer)"]


if __name__ == "__main__":
    import tempfile

    slug, spoken = sys.argv[1:3]
    chosen = script_of(slug)
    shelf = Bank.load(QUESTIONS, chosen.topics())
    with tempfile.TemporaryDirectory() as folder:
        diary = Path(folder) / "diary.sqlite3"
        print(prompts(chosen, shelf, cast("Lang", spoken), diary))
