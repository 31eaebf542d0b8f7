"""Tell whether a text is about what a claim measures: a word of a Watch line, or one of its kin."""

import re

from quizkit.bank.formula import Formula
from quizkit.bank.model import Question
from quizkit.lab.catalogue import Demo
from quizkit.proof.reading.phrase import stem, stems

# Words for one thing: a text that says one of them is about what a metric calls by another.
_KIN = (
    "memory byte size gb mb gib hold held keep kept store save saved live peak room fit resident",
    "param parameter weight",
    "traffic send sent byte communicate message transfer wire move network volume shape collective "
    "receive gather reduce broadcast",
    "time tick slow fast wait idle makespan second late hide overlap expose latency stall bubble "
    "gain",
    "error differ gap wrong exact drift apart agree correct round same function result",
    "flops compute work product arithmetic multiply operation load busy",
    "hang block deadlock stuck wait circle",
    "norm length clip scale factor divide mean average sum",
    "layout recut cut shard slice split place layout", "sample document token sequence",
    "segment rerun forward recompute checkpoint", "momentum optimizer state adam variance",
)  # fmt: skip


_GROUPS = [frozenset(stem(each) for each in line.split()) for line in _KIN]


def kin(words: frozenset[str]) -> frozenset[str]:
    """Return words with those that are other words for the same thing."""
    return words.union(*(each for each in _GROUPS if each & words))


# In so many lines of Watch that one alone says nothing.
GENERIC = stems("output rank time")
_CALLED = re.compile(r"\b[A-Za-z]+-\d+\b")  # ZeRO-3: which one it is, and not what of it


def planted_bug(question: Question, demo: Demo) -> str:
    """The text of the planted bug, which a reason may be about."""
    proof = question.proof
    assert proof is not None
    planted = demo.breaks.get(proof.broken or "")
    return f"{proof.broken} {planted.old} {planted.new}" if planted else ""


def about(text: str, claim: Formula, demo: Demo, planted: str) -> bool:
    """Tell whether the text has a word of the metrics or arguments of its claim, or of the bug."""
    if "outcome" in claim.names:
        return True
    said = planted.replace("_", " ")
    for name in claim.names:
        if name in demo.watch:
            each = demo.watch[name]
            said += f" {name} {_CALLED.sub(' ', each.text)} {each.unit} {each.part}"
        elif name in demo.parameters:
            said += f" {name} {demo.parameters[name].text}"
    mine, theirs = stems(_CALLED.sub(" ", text)), stems(said.replace("_", " "))
    # Of a bug everybody says that there is an error: its reason is about the cause.
    groups = [each for each in _GROUPS if not (planted and stem("error") in each)]
    shared = mine.union(*(each for each in groups if each & mine)) & theirs
    return bool(shared - GENERIC)
