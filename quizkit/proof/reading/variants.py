"""Find a metric of another variant than the words name: pure bf16 for AMP, SGD for Adam.

A variant is a part of a metric's name: `states_bytes_pure` beside `states_bytes`, `ring_mha` beside
`ring_gqa`. Who measures one has to be told of it.
"""

import re
from collections.abc import Iterator

from quizkit.bank.model import Choice, Numeric, Question, Trace
from quizkit.lab.catalogue import Demo
from quizkit.proof.reading.claimed import claimed, used_names
from quizkit.proof.reading.phrase import apart, stem, stems
from quizkit.proof.reading.plainly import asked
from quizkit.proof.reading.told import words_told

Rule = tuple[str, str]

# Names of methods; a dtype or a number in a metric's name may be said of anything.
_METHODS = {
    "adam", "sgd", "mha", "gqa", "mla", "mqa", "ring", "tree", "gpipe", "1f1b", "ddp", "fsdp",
    "hybrid", "powersgd", "paged", "async", "sync", "gather", "scatter", "sparse", "dense", "flat",
}  # fmt: skip
_TYPES = stems("bf16 fp16 fp32 fp64")  # may be said of anything
_OF_WHOM = {"rank", "ranks", "count", "yes/no"}


def variants(question: Question, demo: Demo) -> Iterator[Rule]:
    """Yield (place, message) of claims about a variant that nobody is told of."""
    if not isinstance(question, Choice | Numeric | Trace):
        return
    used = used_names(question)
    words, told_first = stems(words_told(question)), asked(question)
    for place, text, claim in claimed(question):
        about = f"{told_first} {text}"
        for name in sorted(claim.names & demo.watch.keys()):
            for other in sorted(demo.watch.keys() - used):
                if demo.watch[other].unit != demo.watch[name].unit:
                    continue
                told = _told_apart(name, other, demo)
                if told and not told & words and demo.watch[name].unit not in _OF_WHOM:
                    yield place, f"no word tells of `{name}`, which is not `{other}`"
                pair = apart(name, other)
                said = pair and pair[1] in _METHODS and _says(about, pair[1])
                if said and pair and not _says(about, pair[0]):
                    yield place, f"`{pair[1]}` is asked about, and `{name}` was measured"
    if isinstance(question, Trace):
        yield from _of_the_function(question, demo)


def _told_apart(name: str, plain: str, demo: Demo) -> frozenset[str]:
    """Return the words that tell a variant from the plain metric that its name begins with."""
    if not name.startswith(f"{plain}_"):
        return frozenset()
    own = {stem(each) for each in name.removeprefix(f"{plain}_").split("_")}
    more = stems(demo.watch[name].text) - stems(demo.watch[plain].text)
    return (more | own) - _TYPES


def _says(text: str, method: str) -> bool:
    """Tell whether a text names a method; AdamW is one of Adam's."""
    return re.search(rf"\b{re.escape(method)}w?\b", text) is not None


def _of_the_function(question: Trace, demo: Demo) -> Iterator[Rule]:
    """A trace of one function, and what another one's result was measured by."""
    assert question.proof is not None
    claims = [claim for claim in question.proof.claims if "answer" in claim.names]
    names = frozenset[str]().union(*(claim.names for claim in claims)) & demo.watch.keys()
    own = {each for each in demo.watch if question.function in each}
    units = {demo.watch[each].unit for each in own} & {demo.watch[each].unit for each in names}
    # `bad` is in the names of many a metric.
    if len(question.function) > len("scan") and units and not own & names:
        shown = min(own)
        yield "proof.claims", f"`{question.function}` is traced, and `{shown}` is in no claim"
