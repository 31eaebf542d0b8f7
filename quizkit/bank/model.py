"""The nouns of a question: nothing here reads, prints or grades.

A field's type says what its YAML must be (see `reader`); `field(metadata={"key": ...})` names a key
that Python cannot spell. Words come in pairs; the logic is written once, so that the languages
cannot disagree.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from quizkit.bank.formula import Formula
from quizkit.bank.functions import Number, Scalar
from quizkit.words import Lang

Kind = Literal["choice", "numeric", "order", "cloze", "trace", "bug", "essay", "written"]
"""The last one is asked in interviews alone: a layout or a schedule."""
When = Literal["right", "wrong", "always"]


@dataclass(frozen=True, slots=True)
class Text:
    """One thing, said twice. A plain string in YAML means the same in both languages."""

    zh: str
    en: str

    __iter__ = None  # else `in` would count up through __getitem__ for ever

    def __getitem__(self, lang: Lang) -> str:
        return self.zh if lang == "zh" else self.en


@dataclass(frozen=True, slots=True)
class Option:
    """One answer of a `choice`. A wrong one says why it tempts and which myth it is.

    `shows` says what would be seen if its claim held and what was: "{sent} bytes were sent".
    """

    text: Text
    correct: bool = False
    why: Text | None = None
    myth: str | None = None
    claim: Formula | None = None
    shows: Text | None = None


@dataclass(frozen=True, slots=True)
class Trap:
    """A wrong formula that people really use, and what they forgot."""

    formula: Formula
    forgot: Text
    myth: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an `order`; its id names its position (1, 2, ...) in claims."""

    id: str
    text: Text


@dataclass(frozen=True, slots=True)
class Gap:
    """The answer to one gap of a `cloze`; `value` is what its name means in claims."""

    answer: Text
    also: tuple[str, ...] = ()
    value: Formula | None = None


@dataclass(frozen=True, slots=True)
class RubricPoint:
    """Something a good answer says. Keywords are evidence for a pre-tick, never a verdict."""

    points: int
    says: Text
    keywords: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    claim: Formula | None = None
    shows: Text | None = None


@dataclass(frozen=True, slots=True)
class Veto:
    """Something that must not be said, because it is false."""

    says: Text
    why: Text
    keywords: tuple[str, ...] = ()
    myth: str | None = None


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question that an interviewer would ask next."""

    ask: str
    when: When = field(default="always", metadata={"key": "if"})


@dataclass(frozen=True, slots=True)
class Proof:
    """The run the key hangs on: a demo, its settings, and what must be true of what it measures.

    `regardless` names options of the demo's regime that the claims hold without; `said` quotes the
    words that tell the learner of a condition which they do not call by its name.
    """

    demo: str
    claims: tuple[Formula, ...] = ()
    ranks: Formula | int = 4
    args: Mapping[str, Formula | Scalar] = field(default_factory=dict[str, Formula | Scalar])
    at: tuple[Mapping[str, Number], ...] = ()
    broken: str | None = field(default=None, metadata={"key": "break"})
    when: Formula | None = None
    regardless: tuple[str, ...] = ()
    said: Mapping[str, str] = field(default_factory=dict[str, str])


Shown = Literal["stacks", "timings", "curve", "bytes", "log"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """An incident as an engineer would see it: which run it is recorded of, and what of it."""

    demo: str
    show: tuple[Shown, ...]
    ranks: int = 4
    args: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    broken: str | None = field(default=None, metadata={"key": "break"})


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One thing that was recorded, as it is shown."""

    kind: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """The fields of every kind. `id` is its path under the bank; `digest` says which edition it is.

    `core` questions are met first; `assume` are conditions, in words or by a name; `usual` has the
    words of those with a name. `exhibits` are what was recorded for `evidence`.
    """

    id: str = field(metadata={"given": True})
    file: str = field(metadata={"given": True})
    digest: str = field(metadata={"given": True})
    lines: Mapping[str, int] = field(metadata={"given": True}, repr=False, compare=False)
    usual: Mapping[str, Text] = field(
        default_factory=dict[str, Text], metadata={"given": True}, repr=False, compare=False
    )
    exhibits: tuple[Exhibit, ...] = field(default=(), metadata={"given": True})
    kind: Kind
    level: int
    prompt: Text
    evidence: Evidence | None = None
    assume: tuple[Text | str, ...] = ()
    core: bool = False
    tags: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    hints: tuple[Text, ...] = ()
    explain: Text
    say: Text | None = None
    followups: tuple[FollowUp, ...] = ()
    sources: tuple[str, ...] = ()
    was: tuple[str, ...] = ()
    proof: Proof | None = None

    @property
    def topic(self) -> str:
        """The folder the question lies in."""
        return self.id.split("/", 1)[0]

    @property
    def asks(self) -> tuple[Text, ...]:
        """The words of what is asked: the prompt, and each condition."""
        given = (self.usual.get(each) if isinstance(each, str) else each for each in self.assume)
        return (self.prompt, *(text for text in given if text))

    def line(self, place: str) -> int:
        """Return the line of a place such as `proof.claims.1`, or of what encloses it."""
        while place and place not in self.lines:
            place = place.rpartition(".")[0]
        return self.lines.get(place, 1)


@dataclass(frozen=True, kw_only=True)
class Choice(Question):
    """One option is right, or with `several` any number of them."""

    options: tuple[Option, ...]
    several: bool = False


@dataclass(frozen=True, kw_only=True)
class Numeric(Question):
    """A number, from parameters drawn anew each time."""

    answer: Formula
    params: Mapping[str, tuple[Number, ...]] = field(default_factory=dict[str, tuple[Number, ...]])
    where: Formula | None = None
    unit: str = ""
    within: float = 0.01
    traps: tuple[Trap, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Order(Question):
    """Steps, listed in the right order; `after` makes it partial (step -> what comes before it)."""

    steps: tuple[Step, ...]
    after: Mapping[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, kw_only=True)
class Cloze(Question):
    """A text with gaps, written `[[gap1]]`."""

    text: Text
    gaps: Mapping[str, Gap]


@dataclass(frozen=True, kw_only=True)
class Trace(Question):
    """Predict what a piece of a demo counts or returns; shows one function of the proof's demo."""

    function: str
    answer: Number | tuple[Number, ...]
    within: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Bug(Question):
    """Find the wrong line: one function of the proof's demo, with the proof's break planted."""

    function: str
    reasons: tuple[RubricPoint, ...]


@dataclass(frozen=True, kw_only=True)
class Essay(Question):
    """A free answer, held against a rubric by the learner."""

    rubric: tuple[RubricPoint, ...]
    vetoes: tuple[Veto, ...] = ()


KINDS: Mapping[Kind, type[Question]] = {
    "choice": Choice,
    "numeric": Numeric,
    "order": Order,
    "cloze": Cloze,
    "trace": Trace,
    "bug": Bug,
    "essay": Essay,
}


@dataclass(frozen=True, slots=True)
class Idea:
    """The question asked after a paragraph, and a picture drawn from a kept run.

    `run` is the question whose proof made the run (with its topic, if that is another one),
    `schedule` the timeline of it that is shown, or the title of another of its pictures.
    """

    ask: str
    run: str = ""
    schedule: str = ""

    def picture(self, topic: str) -> str:
        """Return the id of the question whose run is shown, or nothing."""
        return self.run if "/" in self.run or not self.run else f"{topic}/{self.run}"


@dataclass(frozen=True, slots=True)
class Topic:
    """A shelf: its title, what it is about, what to know before, in which order to read it.

    `assume` are conditions that many of its questions share, each by a name. `ideas` say of each
    paragraph of the introduction which question follows it in a course.
    """

    slug: str = field(metadata={"given": True})
    title: Text
    intro: Text
    needs: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    assume: Mapping[str, Text] = field(default_factory=dict[str, Text])
    ideas: tuple[Idea, ...] = ()

    def paragraphs(self, lang: Lang) -> list[str]:
        """Return the introduction, an idea each."""
        return [each.strip() for each in self.intro[lang].split("\n\n") if each.strip()]


@dataclass(frozen=True, slots=True)
class Retired:
    """The reason that a question is gone, and which one to take instead."""

    reason: Text
    see: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a file: where, and what to do about it."""

    file: str
    line: int
    message: str
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.severity}: {self.message}"


@dataclass(frozen=True, slots=True)
class CommonQuestion:
    """One of the common 70, in our own words: what is asked, and what a whole answer holds."""

    topic: str
    ask: Text
    parts: Mapping[str, Text]


@dataclass(frozen=True, slots=True)
class Forms:
    """Ways to say a term, by language."""

    zh: tuple[str, ...] = ()
    en: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the field: the form we use, other forms people say, forms to avoid."""

    zh: str
    en: str
    note: Text
    also: Forms = Forms()
    avoid: Forms = Forms()
