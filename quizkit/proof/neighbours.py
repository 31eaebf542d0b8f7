"""Find a metric taken for its neighbour: another layer's, direction's, collective's or variant's.

A Watch line says what its metric is of. Where the words name one of a few such things and the line
another, or where the line of a neighbour has the words and the claimed one's has none of them, the
claim is about something else.
"""

import re
from collections.abc import Iterator

from quizkit.bank.formula import Formula
from quizkit.bank.model import Choice, Numeric, Question, Trace
from quizkit.lab.catalogue import Demo
from quizkit.proof.phrase import main_clause, stems
from quizkit.proof.worded import GENERIC, kin

Rule = tuple[str, str]

# Of a text and of Watch lines: where each names one of a group, it is the same one.
_SCOPES = tuple(
    {name: re.compile(rf"\b(?:{pattern})\b") for name, pattern in group.items()}
    for group in (
        {"sent": "sends?|sent", "received": "receives?|received"},
        {"a layer": "(?:one|a|each|per) (?:transformer )?layer",
         "the model": "(?:whole|entire) model|all layers"},
        {"a layer": "(?:one|a|each|per) layer", "a token": "(?:a|one|each|per) token"},
        {"an epoch": "epochs?", "a step": "(?:a|per|each|every|one) step"},
        {"a token": "(?:a|per|each|one) token", "a sequence": "(?:a|per|each|one) sequence",
         "the batch": "(?:a|the|per|whole) batch"},
        {"reduce-scatter": "reduce[- ]scatters?", "all-gather": "all[- ]gathers?",
         "all-reduce": "all[- ]reduces?", "all-to-all": "all[- ]to[- ]alls?",
         "broadcast": "broadcasts?"},
    )
)  # fmt: skip
_BESIDE = re.compile(r"\b(?:without|not|no|than|as a|percentage of|share of|of the whole)\b[^,;.]*")


def neighbours(question: Question, demo: Demo) -> Iterator[Rule]:
    """Yield (place, message) of claims about what lies next to what the words are about."""
    for place, text, claim in _claimed(question):
        names = sorted(claim.names & demo.watch.keys())
        seen = " ".join(_line(name, demo) for name in names)
        for group in _SCOPES:
            said = {name for name, pattern in group.items() if pattern.search(text)}
            of = {name for name, pattern in group.items() if pattern.search(seen)}
            if said and of and not said & of:
                yield place, f"the words are about `{min(said)}`, and `{claim}` about `{min(of)}`"
        if len(names) == 1 and (other := _nearer(names[0], text, question, demo)):
            yield place, f"the words are nearer to `{other}` than to `{names[0]}`"


def _line(name: str, demo: Demo) -> str:
    watch = demo.watch[name]
    return f"{name.replace('_', ' ')} {watch.text} {watch.part}".lower()


def _nearer(name: str, text: str, question: Question, demo: Demo) -> str:
    """Return the neighbour that the words are about, where none of them is about the metric.

    Neighbours are counted in one unit, and have the first or the last part of their names in
    common.
    """
    proof = question.proof
    assert proof is not None
    used = frozenset[str]().union(*(claim.names for claim in proof.claims))
    if isinstance(question, Choice):
        used = used.union(*(each.claim.names for each in question.options if each.claim))
    words = stems(_BESIDE.sub(" ", text))
    mine = stems(_line(name, demo))
    for other in sorted(demo.watch.keys() - used):
        ends = [set(each.split("_")[:: len(each.split("_")) - 1 or 1]) for each in (name, other)]
        if demo.watch[other].unit != demo.watch[name].unit or not ends[0] & ends[1]:
            continue
        theirs = stems(_line(other, demo))
        told = {each for each in words & (theirs - mine - GENERIC) if len(each) > 1}
        if told and not words & kin(mine - theirs - GENERIC):
            return other
    return ""


def _claimed(question: Question) -> Iterator[tuple[str, str, Formula]]:
    """Yield what is asked or said to be true, in small English letters, with its claim."""
    proof = question.proof
    assert proof is not None
    match question:
        case Choice(options=options):
            for index, option in enumerate(options):
                if option.claim and option.correct:
                    yield f"options.{index}.claim", main_clause(option.text.en), option.claim
        case Numeric() | Trace():
            asked = question.prompt.en.lower().rsplit("?", 1)[0].strip()
            for index, claim in enumerate(proof.claims):
                if "answer" in claim.names:
                    yield f"proof.claims.{index}", re.split(r"(?<=[.;])\s", asked)[-1], claim
        case _:
            pass
