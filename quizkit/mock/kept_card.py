"""A scorecard as it is kept: plain data in both languages, whatever becomes of the script.

What is printed with `--json`, written into the diary and drawn on the screen, as Markdown and as a
page is this one tree. Fields that came after the first edition have a default, so that an older
card can still be read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from quizkit.bank.model import Text
from quizkit.bank.script import BEST
from quizkit.mock.desk import Stop
from quizkit.mock.sitting import Judge
from quizkit.words import Lang

Why = Literal["myth", "asked", "practice", "followup"]
"""The reason to practise a question: a misconception, lost when asked, named by the step, next."""

SILENCE = Text("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptEvidence:
    """An answer that a dimension stands on, with its share and the score that counted."""

    station: str
    share: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDimension:
    """One dimension. `words` is the part, 0 to 1, that keywords alone decided."""

    name: str
    weight: float
    score: float
    needed: float | None = None
    words: float = 0.0
    evidence: tuple[KeptEvidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRun:
    """The asked number as it was said and as a recorded run of `demo` measured it.

    `agrees` is None where the run cannot say. A run of other numbers has them in `at`, and in `key`
    what the formula gives for those.
    """

    said: Text
    run: Text
    demo: str
    agrees: bool | None = None
    at: str = ""
    key: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """One step and its answer.

    `title` is how the question begins, `number` that of its station; `yours` is the answer in
    words, `quotes` the learner's sentence for each point of `hit`, empty where there is none;
    `said` are false things that stand, `withdrawn` those that were heard and do not. `worth` is the
    score before hints. `model` is a model answer, where the answer was not wholly right.
    """

    station: str
    question: str
    kind: str
    probe: bool = False
    number: int = 0
    title: Text = SILENCE
    reached: bool = True
    given: object = None
    yours: Text = SILENCE
    expected: Text | None = None
    right: bool = False
    score: float = 0.0
    worth: float = 0.0
    judge: Judge = "nobody"
    hit: tuple[Text, ...] = ()
    quotes: tuple[str, ...] = ()
    missed: tuple[Text, ...] = ()
    said: tuple[Text, ...] = ()
    withdrawn: tuple[Text, ...] = ()
    seconds: float = 0.0
    target: float = 0.0
    late: bool = False
    hints: int = 0
    sure: bool = False
    model: Text | None = None
    run: KeptRun | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLook:
    """Recorded evidence that could be looked at, and whether it was.

    `missed` is the follow-up that was put because it was not, and then not answered.
    """

    id: str
    name: Text
    seconds: float = 0.0
    seen: bool = False
    missed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFact:
    """A fact that could be asked for, and whether it was."""

    asks: Text
    answer: Text
    asked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTime:
    """Seconds on the clock and away from it."""

    ended_by: Stop
    total: float
    used: float
    pause_budget: float = 0.0
    paused: float = 0.0
    charged_for_pauses: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCalibration:
    """Answers that a key judged, by whether the candidate said to be sure of them."""

    sure_right: int = 0
    sure_wrong: int = 0
    unsaid_right: int = 0
    unsaid_wrong: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeTask:
    """A question of the bank to practise, and why; `again` the second time in the week.

    `step` is the step that it is for, `myth` the misconception that it goes at.
    """

    question: str
    why: Why
    title: Text = SILENCE
    again: bool = False
    step: str = ""
    myth: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeDay:
    """A day of practice: the interview ends on day 1."""

    day: int
    questions: tuple[PracticeTask, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCard:
    """An interview's whole result; `lang` is the language it ended in."""

    schema: str
    session: str
    mock: str
    edition: str = ""
    title: Text
    level: int = 0
    lang: Lang = "en"
    at: str
    verdict: Literal["pass", "fail"]
    overall: float
    capped: bool = False
    best: float = BEST
    pass_mark: Mapping[str, float] = field(
        default_factory=dict[str, float], metadata={"key": "pass"}
    )
    dimensions: tuple[KeptDimension, ...] = ()
    answers: tuple[KeptAnswer, ...] = ()
    looks: tuple[KeptLook, ...] = ()
    facts: tuple[KeptFact, ...] = ()
    notes: tuple[str, ...] = ()
    time: KeptTime
    calibration: KeptCalibration = KeptCalibration()
    myths: tuple[str, ...] = ()
    beliefs: Mapping[str, Text] = field(default_factory=dict[str, Text])
    review: tuple[str, ...] = ()
    practice: tuple[PracticeDay, ...] = ()
    hint_price: float = 0.0
    conventions: tuple[Text, ...] = ()

    def step(self, station: str) -> KeptAnswer | None:
        """Return the answer of a step."""
        return next((each for each in self.answers if each.station == station), None)
