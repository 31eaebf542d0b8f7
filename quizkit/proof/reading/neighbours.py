"""Find a metric taken for its neighbour: another layer's, direction's or collective's.

A Watch line says what its metric is of. Where the words name one of a few such things and the line
another, or where the line of a neighbour has the words and the claimed one's has none of them, the
claim is about something else.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from quizkit.bank.formula import Formula
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order, Question, Trace
from quizkit.lab.catalogue import Demo
from quizkit.proof.reading.about import GENERIC, kin
from quizkit.proof.reading.claimed import claimed, last_sentence, used_names
from quizkit.proof.reading.phrase import stems
from quizkit.proof.reading.plainly import asked
from quizkit.proof.reading.told import words_told
from quizkit.proof.setting import runs_of

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
_FORWARD, _BOTH = re.compile(r"\bforward\b"), re.compile(r"\b(?:backward|step|both|train\w*)\b")
_STEP = re.compile(
    r"\b(?:(?:a|per|each|one|whole|the|every) (?:training )?step|iteration|an update)\b"
)
_IN_FORWARD = re.compile(r"\b(?:forwards?|prefill\w*|decod\w*|generat\w*|inference|serv\w+)\b")
_CALLED = tuple(
    {name: re.compile(rf"\b{name.lower()}\b") for name in names}
    for names in (("MHA", "GQA", "MQA", "MLA"), ("MFU", "HFU"))
)
_OF_ATTENTION = stems("key query value")  # whatever is asked about it
_ONE_END = re.compile(r"\b(?:first|last) (?:rank|stage|gpu|node|shard)")
_BESIDE = re.compile(r"\b(?:without|not|no|than|as a|percentage of|share of|of the whole)\b[^,;.]*")


def neighbours(question: Question, demo: Demo) -> Iterator[Rule]:
    """Yield (place, message) of claims about what lies next to what the words are about."""
    for place, text, claim in claimed(question):
        names = sorted(claim.names & demo.watch.keys())
        seen = " ".join(_line(name, demo) for name in names)
        for group in _SCOPES if not isinstance(question, Order) else ():
            said, of = _in(group, text), _in(group, seen)
            if said and of and not said & of:
                yield place, f"the words are about `{min(said)}`, and `{claim}` about `{min(of)}`"
        if isinstance(question, Choice):  # what is asked is said once, for all options
            text = f"{last_sentence(question)} {text}"
        for group in _CALLED if not isinstance(question, Order) else ():
            said, of = _in(group, f"{asked(question)} {text}"), _in(group, seen)
            if said and of and not said & of:
                yield place, f"the words are about {min(said)}, and `{claim}` about {min(of)}"
        forward = _FORWARD.search(seen) and not _BOTH.search(seen)
        if forward and _STEP.search(text) and not _IN_FORWARD.search(words_told(question)):
            yield place, f"the words are about a step, and `{claim}` about a forward"
        if isinstance(question, Cloze) and (way := _other_pass(text, seen)):
            yield place, f"the words are about {way}, and `{claim}` about the other pass"
        if isinstance(question, Numeric | Trace | Cloze) and _ONE_END.search(text):
            ends = [n for n in names if not demo.watch[n].shared and _over_all(n, claim)]
            if ends:
                yield place, f"one end is asked for, and `{claim}` is of all ranks"
        if isinstance(question, Numeric | Trace):
            for told in _parts_of_all(question, text, claim, demo):
                yield place, told
        alone = len(names) == 1 and not isinstance(question, Bug | Cloze | Essay | Order)
        if alone and (other := _nearer(names[0], text, question, demo)):
            yield place, f"the words are nearer to `{other}` than to `{names[0]}`"


# Names of metrics say which way it goes, by words that a question has for it.
_WAYS = {
    "up": r"\bup\b|to the gpu|from (?:the )?(?:host|cpu)|return\w*|br(?:ing|ought)\w*",
    "down": r"\bdown\b|to (?:the )?(?:host|cpu)|offload\w*",
    "forward": r"forward|prefill|decod\w*|generat\w*|logits|kept|keep|held|store|cache",
    "backward": r"backward|gradient", "sent": r"\bsen[dt]s?\b|sending", "received": r"receiv\w*",
    "dispatch": "dispatch", "combine": "combin|back", "killed": "kill",
    "stopped": "stop|fr[eo]ez|frozen|hang|hung",
}  # fmt: skip
_PAIRS = (("up", "down"), ("forward", "backward"), ("sent", "received"), ("dispatch", "combine"),
          ("killed", "stopped"))  # fmt: skip
_OTHER_WAY = {**dict(_PAIRS), **{other: one for one, other in _PAIRS}}
_OF_ALL = re.compile(
    r"\b(?:the whole (?:job|cluster|run|group)|all (?:of )?(?:the )?(?:ranks|gpus|nodes|machines)|"
    r"(?:each|every|per) (?:node|machine)|(?:is|of) (?:the|a) checkpoint)\b"
)
_IN_ALL = re.compile(r"\b(?:in all|altogether|in total|cross(?:es)? the network|overall)\b")
_OF_A_LAYER = re.compile(r"\b(?:one|a|each|per) layer\b")
_A_LAYER = re.compile(r"\b(?:one|a|each|per|of the) (?:\w+ )?(?:layer|block)\b")


def _parts_of_all(
    question: Numeric | Trace, text: str, claim: Formula, demo: Demo
) -> Iterator[str]:
    """Say what a metric is only a part of: the other way, the other ranks, the other layers."""
    names = sorted(claim.names & demo.watch.keys())
    yield from _one_way(question, names, demo)
    yield from _one_rank(
        question, text, claim, [n for n in names if not demo.watch[n].shared], demo
    )
    yield from _one_layer(question, text, claim, " ".join(_line(name, demo) for name in names))


def _one_way(question: Numeric | Trace, names: Sequence[str], demo: Demo) -> Iterator[str]:
    """What went up was measured, and no word says up."""
    words = words_told(question)
    for name in names:
        for way in _OTHER_WAY.keys() & {*name.split("_")}:
            other = "_".join(_OTHER_WAY[way] if p == way else p for p in name.split("_"))
            if other in demo.watch.keys() - {*names} and not re.search(_WAYS[way], words):
                yield f"the words nowhere say `{way}`, and `{other}` is the rest of `{name}`"


def _one_rank(
    question: Numeric | Trace, text: str, claim: Formula, single: Sequence[str], demo: Demo
) -> Iterator[str]:
    """One rank's was measured, and all ranks' is asked."""
    proof = question.proof
    assert proof is not None
    ranks = {"ranks", *(proof.ranks.names if isinstance(proof.ranks, Formula) else ())}
    alone = re.sub(r"\([^)]*\)", " ", text)
    whole = ranks & claim.names or re.search(r"\b(?:sum|max|min)\(", claim.source)
    more = {run.ranks for run in runs_of(question, demo)} != {1}
    found = _OF_ALL.search(alone) or (_IN_ALL.search(alone) if more else None)
    if single and not whole and found:
        yield f"the words are about `{found[0]}`, and `{claim}` about one rank"


def _one_layer(question: Numeric | Trace, text: str, claim: Formula, seen: str) -> Iterator[str]:
    """One layer's was measured; the words tell of none, or of how many there are."""
    if _OF_A_LAYER.search(seen) and not re.search(r"\b(?:layer|block)", asked(question)):
        yield f"the words tell of no layer, and `{claim}` is of one"
    layers = re.findall(
        r"(?:\{(\w+)\}|\b(\d+))[ -](?:\w+[ -])?(?:layers?|blocks?)\b", question.prompt.en
    )
    told = {each for pair in layers for each in pair if each}
    numbers = {str(n.value) for n in ast.walk(claim.tree) if isinstance(n, ast.Constant)}
    # The time of a layer is a unit like any other.
    one = _A_LAYER.search(seen) and not _A_LAYER.search(text) and "layers' time" not in text
    if one and told - claim.names - numbers:
        yield f"the words tell how many layers there are, and `{claim}` is of one"


def _other_pass(text: str, seen: str) -> str:
    """Return forward or backward, if a text is about one of them, and what was measured not."""
    passes = {"forward": r"\bforward", "backward": r"\bbackward|\bgradients?\b"}
    said = [name for name, pattern in passes.items() if re.search(pattern, text)]
    of = [name for name, pattern in passes.items() if re.search(pattern, seen)]
    return said[0] if len(said) == len(of) == 1 and said != of else ""


def _over_all(name: str, claim: Formula) -> bool:
    """Tell whether a claim takes a metric of all ranks together, and of none by itself."""
    return (
        re.search(rf"\b(?:sum|max|min)\({name}\)", claim.source) is not None
        and f"{name}[" not in claim.source
    )


def _in(group: Mapping[str, re.Pattern[str]], text: str) -> set[str]:
    return {name for name, pattern in group.items() if pattern.search(text)}


def _line(name: str, demo: Demo) -> str:
    watch = demo.watch[name]
    return f"{name.replace('_', ' ')} {watch.text} {watch.part}".lower()


def _nearer(name: str, text: str, question: Question, demo: Demo) -> str:
    """Return the neighbour that the words are about, where none of them is about the metric.

    Neighbours are counted in one unit, and have the first or the last part of their names in
    common.
    """
    used = used_names(question)
    words = stems(_BESIDE.sub(" ", text))
    mine = stems(_line(name, demo))
    for other in sorted(demo.watch.keys() - used):
        ends = [set(each.split("_")[:: len(each.split("_")) - 1 or 1]) for each in (name, other)]
        if demo.watch[other].unit != demo.watch[name].unit or not ends[0] & ends[1]:
            continue
        theirs = stems(_line(other, demo))
        told = {each for each in words & (theirs - mine - GENERIC - _OF_ATTENTION) if len(each) > 1}
        if told and not words & kin(mine - theirs - GENERIC):
            return other
    return ""
