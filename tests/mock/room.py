"""A small bank with a script, a clock that is set by hand, and a desk that follows a plan."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

from quizkit.bank.mocks import Script, read_mock
from quizkit.bank.model import Choice, Problem
from quizkit.bank.reader import Bank
from quizkit.diary import Diary
from quizkit.mock.desk import Aside, Handed, Left, Opening, OpenQuestion, RubricSheet, Stop, Ticks
from quizkit.mock.interview import Interview, begin, resume
from quizkit.mock.ledger import Ledger
from quizkit.mock.sitting import load, sittings
from quizkit.words import Lang

SCREEN = """\
title: {zh: 流水线小测, en: A pipeline screen}
level: 2
opening: {zh: 你好，我们开始。, en: Hello. Let us begin.}
minutes: 10
pause_minutes: 2
weights: {correctness: 50, numbers: 30, communication: 20}
pass: {overall: 2.3, correctness: 2}
stations:
  - id: bubble
    ask: pp/bubble
    seconds: 120
    speaks: {correctness: 1, numbers: 2}
    probes:
      - id: bubble-again
        if: wrong
        ask: pp/stages
        seconds: 60
        speaks: {correctness: 1}
  - id: why
    essay:
      prompt: {zh: 为什么用 1F1B？, en: Why 1F1B?}
      rubric:
        - points: 3
          says: {zh: 说到激活峰值, en: names the activation peak}
          keywords: [activation, 激活]
        - points: 1
          says: {zh: 说到气泡不变, en: says the bubble stays}
          keywords: [same bubble, 气泡不变]
      vetoes:
        - says: {zh: 气泡变小, en: the bubble shrinks}
          why: {zh: 不变, en: it does not}
          keywords: [smaller bubble, 气泡变小]
          myth: 1f1b-cuts-bubble
      explain: {zh: 如题, en: As stated}
    seconds: 180
    speaks: {correctness: 2, communication: 1}
    probes:
      - id: peak
        if: not point1 or score < 0.5
        ask: pp/order
        lead: {zh: 你没提到显存。, en: You did not mention memory.}
        seconds: 60
        speaks: {numbers: 1}
  - id: parts
    ask: pp/parts
    seconds: 90
    speaks: {correctness: 1}
"""

FILES = {
    "mocks/small.yaml": SCREEN,
    "pp/_topic.yaml": """\
title: {zh: 流水线并行, en: Pipeline parallelism}
intro: {zh: 按层切, en: Cut by layers}
""",
    "pp/_myths.yaml": """\
1f1b-cuts-bubble: {zh: 以为 1F1B 的气泡更小, en: 1F1B has a smaller bubble}
overhead-for-share: {zh: 口径混了, en: mixes the conventions}
""",
    "pp/bubble.yaml": """\
kind: numeric
level: 2
prompt:
  zh: "{p} 个 stage、{m} 个 micro-batch，气泡占整步的多少？"
  en: "{p} stages, {m} micro-batches: what share of the step is bubble?"
params: {p: [2, 3, 4, 5], m: [8, 9, 10, 11]}
answer: (p - 1) / (m + p - 1)
within: 0.005
traps:
  - {formula: (p - 1) / m, forgot: {zh: 口径, en: the convention}, myth: overhead-for-share}
explain: {zh: 如题, en: As stated}
sources: ["https://example.org"]
""",
    "pp/stages.yaml": """\
kind: choice
level: 1
prompt: {zh: 1F1B 省的是什么？, en: What does 1F1B save?}
options:
  - text: {zh: 激活显存, en: activation memory}
    correct: true
  - text: {zh: 气泡, en: the bubble}
    why: {zh: 气泡不变, en: the bubble stays}
    myth: 1f1b-cuts-bubble
  - text: {zh: 通信量, en: traffic}
    why: {zh: 通信量不变, en: traffic stays}
explain: {zh: 峰值更低, en: A lower peak}
sources: ["https://example.org"]
""",
    "pp/parts.yaml": """\
kind: choice
level: 2
several: true
prompt: {zh: 气泡取决于哪些？, en: What does the bubble depend on?}
options:
  - {text: p, correct: true}
  - {text: m, correct: true}
  - text: {zh: 隐藏维度, en: the hidden size}
    why: {zh: 两边同比, en: both sides scale}
    myth: 1f1b-cuts-bubble
explain: {zh: 前两者, en: The first two}
sources: ["https://example.org"]
""",
    "pp/order.yaml": """\
kind: order
level: 2
prompt: {zh: 排序, en: Put in order}
steps:
  - {id: forward, text: {zh: 前向, en: forward}}
  - {id: backward, text: {zh: 反向, en: backward}}
  - {id: step, text: {zh: 更新, en: optimiser step}}
explain: {zh: 如题, en: As stated}
sources: ["https://example.org"]
""",
    "pp/gaps.yaml": """\
kind: cloze
level: 2
prompt: {zh: 填空, en: Fill in}
text: "[[gap1]] - [[gap2]]"
gaps: {gap1: {answer: all-reduce}, gap2: {answer: 1F1B}}
explain: {zh: 如题, en: As stated}
sources: ["https://example.org"]
""",
}


TALK = """\
title: {zh: 谈一谈, en: A talk}
level: 2
opening: {zh: 开始吧。, en: Let us begin.}
minutes: 20
pause_minutes: 2
weights: {correctness: 50, numbers: 50}
pass: {overall: 2}
facts:
  - asks: {zh: 网络, en: the network}
    keywords: [network, 网络]
    answer: {zh: 卡间是 NVLink。, en: NVLink between GPUs.}
  - asks: {zh: 批量, en: the batch}
    keywords: [batch, 批量]
    answer: {zh: 批量随你。, en: The batch is yours to choose.}
stations:
  - id: ask-first
    clarifies: true
    essay:
      prompt: {zh: 先问什么？, en: What do you ask first?}
      rubric:
        - {points: 1, says: {zh: 问网络, en: asks about the network}, keywords: [network, 网络]}
      explain: {zh: 网络, en: the network}
    seconds: 60
    speaks: {correctness: 1}
  - id: hang
    essay:
      prompt: {zh: 卡住了，看什么？, en: It hangs. What do you look at?}
      rubric:
        - {points: 1, says: {zh: 看调用栈, en: the stacks}, keywords: [stacks, 调用栈]}
      vetoes:
        - says: {zh: 把超时调大, en: raise the time-out}
          why: {zh: 什么也没学到, en: nothing is learnt}
          keywords: [raise the time-out, 超时调大]
      explain: {zh: 调用栈, en: the stacks}
    hints: [{zh: 谁在等谁？, en: Who waits for whom?}, {zh: 调用栈。, en: The stacks.}]
    looks:
      - {id: stacks, of: pp/hang, show: stacks, seconds: 30, name: {zh: 调用栈, en: the stacks}}
    seconds: 120
    speaks: {correctness: 1}
    probes:
      - id: believes
        if: veto1
        ask: pp/stages
        seconds: 30
        speaks: {correctness: 1}
      - id: unseen
        if: not look1 and left < 18.5
        ask: pp/order
        seconds: 30
        speaks: {correctness: 1}
      - id: helped
        if: hints >= 2
        ask: pp/parts
        seconds: 30
        speaks: {correctness: 1}
  - id: layout
    write:
      prompt: {zh: 16 张卡怎么切？, en: How do you cut 16 GPUs?}
      fields: {tp: {zh: TP 度, en: TP degree}, pp: {zh: PP 度, en: PP degree}}
      given: {gpus: 16}
      checks:
        - {points: 3, says: {zh: 乘起来是 16, en: they make 16}, if: tp * pp == gpus}
        - {points: 1, says: {zh: TP 不出机器, en: TP within a node}, if: tp <= 8}
      example: {tp: 8, pp: 2}
      wrong: [{tp: 16, pp: 2}]
      explain: {zh: TP 用 8、PP 用 2 就行, en: TP 8 and PP 2 will do}
    seconds: 60
    speaks: {correctness: 2, numbers: 1}
    probes:
      - id: roughly
        if: check1 and not check2
        estimate:
          prompt: {zh: "{n} 的一半？", en: "Half of {n}?"}
          params: {n: [8]}
          answer: n / 2
          within: 0.25
          traps: [{formula: n * 2, forgot: {zh: 乘反了, en: the wrong way round}}]
          explain: {zh: 除以二, en: Divide by two}
        seconds: 30
        speaks: {numbers: 1}
  - id: late
    if: left >= 18
    ask: pp/parts
    seconds: 30
    speaks: {correctness: 1}
"""
HANG = """\
kind: choice
level: 2
prompt: {zh: 谁先到？, en: Who came first?}
options:
  - {text: {zh: 甲, en: one}, correct: true}
  - {text: {zh: 乙, en: two}, why: {zh: 不是, en: no}, myth: 1f1b-cuts-bubble}
explain: {zh: 甲, en: one}
evidence: {demo: pipeline, show: [stacks]}
sources: ["https://example.org"]
"""


class HandClock:
    """A clock that stands still until somebody moves it."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.start = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)

    def wall(self) -> datetime:
        return self.start + timedelta(seconds=self.seconds)

    def steady(self) -> float:
        return self.seconds

    def pass_(self, seconds: float) -> None:
        self.seconds += seconds


Said = Handed | Left | Aside | str
Step = Said | Callable[[OpenQuestion], Said]
Judgement = Ticks | Left | Callable[[RubricSheet], Ticks | Left]


class PlannedDesk:
    """Answers as planned, each after so many seconds; keeps what it was shown."""

    def __init__(self, clock: HandClock, *steps: tuple[float, Step]) -> None:
        self.clock = clock
        self.steps = [*steps]
        self.judgements: list[Judgement] = []
        self.moments: list[OpenQuestion] = []
        self.sheets: list[RubricSheet] = []
        self.stops: list[Stop] = []
        self.interactive = False

    def busy(self, text: str) -> AbstractContextManager[object]:
        return nullcontext()

    def open(self, opening: Opening) -> bool:
        return True

    def meet(self, moment: OpenQuestion) -> Handed | Left | Aside:
        self.moments.append(moment)
        seconds, step = self.steps.pop(0)
        self.clock.pass_(seconds)
        if callable(step):
            step = step(moment)
        return Handed(step) if isinstance(step, str) else step

    def stopped(self, why: Stop, lang: Lang) -> None:
        self.stops.append(why)

    def tick(self, sheet: RubricSheet) -> Ticks | Left:
        self.sheets.append(sheet)
        if not self.judgements:
            return Ticks(sheet.points, sheet.vetoes)
        judgement = self.judgements.pop(0)
        return judgement(sheet) if callable(judgement) else judgement

    def met(self) -> list[str]:
        """The questions that were put, in order."""
        return [moment.asked.question.id.split("/")[-1] for moment in self.moments]


class Room:
    """One script, one diary, one clock: interviews are begun and gone on with in it."""

    def __init__(self, folder: Path, diary: Diary) -> None:
        problems: list[Problem] = []
        script = read_mock(folder, "small", problems)
        assert isinstance(script, Script)
        assert problems == []
        self.script = script
        self.questions = Bank.load(folder, script.topics()).questions
        self.diary = diary
        self.clock = HandClock()

    @staticmethod
    def right(moment: OpenQuestion) -> str:
        """The right answer to the bubble that was drawn."""
        values = moment.asked.values
        return str((values["p"] - 1) / (values["m"] + values["p"] - 1))

    @staticmethod
    def picks(*texts: str) -> Callable[[OpenQuestion], str]:
        """The displayed numbers of options, by their English text."""

        def step(moment: OpenQuestion) -> str:
            question = moment.asked.question
            assert isinstance(question, Choice)
            shown = [question.options[at].text.en for at in moment.asked.order]
            return " ".join(str(shown.index(text) + 1) for text in texts)

        return step

    def desk(self, *steps: tuple[float, Step]) -> PlannedDesk:
        return PlannedDesk(self.clock, *steps)

    def begin(
        self, desk: PlannedDesk, minutes: float | None = None, session: str = ""
    ) -> Interview:
        ledger = begin(self.script, self.diary, desk, self.clock, "en", minutes, session)
        assert ledger is not None
        return Interview(self.script, self.questions, desk, ledger)

    def resume(self, desk: PlannedDesk) -> Interview:
        """As the command does it: everything from the diary, nothing from before."""
        [left] = [each for each in sittings(self.diary) if each.card is None][:1]
        ledger = Ledger(self.diary, self.clock, load(self.diary, left.session))
        message = resume(ledger)
        return Interview(self.script, self.questions, desk, ledger, message)
