"""The first draft of a new question: every key that its kind has, with a word on each."""

from quizkit.bank.model import Kind

TODO = "TODO"

_HEAD = """\
kind: {kind}
level: 2                     # 1 name it, 2 compute it, 3 diagnose it, 4 choose it, 5 defend it
core: false                  # true: met first, among some 180
tags: []
covers: []                   # parts of questions/_common70.yaml: basics-13.order
prompt:                      # some word of it is about what the key is measured by
  zh: |
    TODO{zh}
  en: |
    TODO{en}
assume: []                   # up to four conditions: {{zh: …, en: …}}, or a name of _topic.yaml's
# evidence: {{demo: deadlock, ranks: 2, show: [log]}}   of an incident: quizkit bank evidence
"""

_TAIL = """\
hints: []                    # up to three, each giving away a little more
explain:
  zh: |
    TODO
  en: |
    TODO
say:                         # what a strong candidate says aloud, in three or four sentences
  zh: |
    TODO
  en: |
    TODO
proof:
  demo: pipeline             # quizkit demo lists them; quizkit demo NAME shows its metrics
  ranks: 4
{proof}"""

_ASKED: dict[Kind, tuple[str, str]] = {
    "choice": ("：1F1B 和 GPipe 谁的气泡大？", ": has 1F1B or GPipe the larger bubble?"),
    "numeric": ("：气泡占整步的多少？", ": what share of the step is bubble?"),
    "order": ("：哪个 stage 先开始反向？", ": which stage starts its backward first?"),
    "cloze": (
        "：stage 0 同时留着几个 micro-batch 的激活？",
        ": how many micro-batches are alive on stage 0?",
    ),
    "trace": (
        "：各 stage 最多同时留着几个 micro-batch 的激活？",
        ": how many micro-batches are alive at most on each stage?",
    ),
}

_KIND: dict[Kind, tuple[str, str]] = {
    "choice": (
        """\
options:
  - text: {zh: TODO, en: TODO}
    correct: true
    claim: bubble_1f1b == bubble_gpipe     # true in every run
  - text: {zh: TODO 2, en: TODO 2}
    why: {zh: TODO, en: TODO}              # why it tempts
    myth: TODO                             # named in _myths.yaml
    claim: bubble_1f1b < bubble_gpipe      # a run refutes it
    shows: {zh: "TODO {bubble_1f1b}", en: "TODO {bubble_1f1b}"}   # what would be seen, what was
""",
        "  args: {microbatches: 8}\n",
    ),
    "numeric": (
        """\
params: {p: [2, 3, 4, 8], m: [8, 16, 32]}  # drawn anew each time
where: m >= p
answer: (p - 1) / (m + p - 1)
within: 0.01
traps:
  - formula: (p - 1) / m
    forgot: {zh: TODO, en: TODO}
""",
        """\
  args: {microbatches: =m}
  at: [{p: 4, m: 8}, {p: 3, m: 5}, {p: 2, m: 2}]
  claims:
    - isclose(bubble_1f1b, answer)
""",
    ),
    "order": (
        """\
steps:                       # in the right order; `after: {b: [a]}` makes it partial
  - {id: a, text: {zh: TODO 1, en: TODO 1}}
  - {id: b, text: {zh: TODO 2, en: TODO 2}}
""",
        """\
  claims:
    - (first_backward_1f1b[3] < first_backward_1f1b[0]) == (a < b)
""",
    ),
    "cloze": (
        """\
text:
  zh: |
    TODO [[gap1]]
  en: |
    TODO [[gap1]]
gaps:
  gap1: {answer: "4", also: [four, 四], value: 4}
""",
        """\
  claims:
    - peak_live_1f1b[0] == gap1
""",
    ),
    "trace": (
        "function: schedule_1f1b      # of the demo; shown to the learner\nanswer: [4, 3, 2, 1]\n",
        "  claims:\n    - peak_live_1f1b == answer\n",
    ),
    "bug": (
        """\
function: schedule_1f1b      # of the demo; shown with the break planted
reasons:
  - points: 1
    says: {zh: TODO, en: TODO}
    keywords: [TODO]
""",
        "  break: no-cooldown\n",
    ),
    "essay": (
        """\
rubric:
  - points: 2
    says: {zh: TODO, en: TODO}
    keywords: [TODO]
vetoes: []                   # what must not be said: {says, why, myth, keywords}
""",
        "  claims:\n    - bubble_1f1b == bubble_gpipe\n",
    ),
}


def template(kind: Kind) -> str:
    """Return a file to be filled in. It is read as it stands; lint names every TODO left in it."""
    own, proof = _KIND[kind]
    zh, en = _ASKED.get(kind, ("", ""))
    head = _HEAD.format(kind=kind, zh=zh, en=en)
    tail = _TAIL.format(proof=proof)
    # What is drawn is what is run.
    return head + own + (tail.replace("ranks: 4", "ranks: =p") if kind == "numeric" else tail)
