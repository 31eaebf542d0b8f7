"""Find one quantity in the words and another in the claim: bytes for FLOPs, bytes for a time.

What is counted in bytes may be kept or sent, all of memory or a part of it, and in one type or
another; what takes time has a clock or a rate.
"""

import ast
import re
from collections.abc import Iterator, Sequence

from quizkit.bank.model import Choice, Cloze, Order, Question
from quizkit.lab.catalogue import Demo
from quizkit.proof.conjuncts import parts_of
from quizkit.proof.reading.claimed import claimed, last_sentence, texts_of
from quizkit.proof.reading.phrase import stems
from quizkit.proof.reading.told import words_told

Rule = tuple[str, str]


def quantities(question: Question, demo: Demo) -> Iterator[Rule]:
    """Yield (place, message) of claims that count something else than the words are about."""
    yield from _quantities(question, demo)
    yield from _kept_or_sent(question, demo)


# What is counted: of a text that names one, and of metrics that count another.
_QUANTITIES = (
    re.compile(r"\b(?:flops?|matrix products?|multipl\w+|recomput\w+)\b"),
    re.compile(r"\b(?:bytes?|memory|traffic|[kmgt]i?b|sends?|sent|volume)\b"),
    re.compile(r"\b(?:how many|fewer|more|number of) (?:messages|collectives|all-reduces|calls)\b"),
    re.compile(
        r"\b(?:faster|slower|time|bubble|idle|step is|longer|shorter|ticks?|waits?|latency)\b"
    ),
)
_COUNTED = re.compile(r"\b(?:messages?|collectives?|all-?reduces?|calls?|rounds?|gathers?)\b")
_TIMED = re.compile(rf"{_QUANTITIES[3].pattern}|\bloads?\b")
_MEASURED = {_QUANTITIES[2]: _COUNTED, _QUANTITIES[3]: _TIMED}


def _quantities(question: Question, demo: Demo) -> Iterator[Rule]:
    """FLOPs in the words and bytes in the claim, or the other way round."""
    proof = question.proof
    assert proof is not None
    texts = texts_of(question)
    for place, text, claim in claimed(question):
        if "outcome" in claim.names:
            continue
        watched = [(n, demo.watch[n]) for n in sorted(claim.names & demo.watch.keys())]
        seen = " ".join(f"{name.replace('_', ' ')} {w.text} {w.unit}" for name, w in watched)
        low = seen.lower()
        said = [each for each in _QUANTITIES if each.search(text)]
        words = [found[0] for each in said if (found := each.search(text))]
        of = [_MEASURED.get(each, each) for each in said]
        if isinstance(question, Cloze):  # messages are sent as well
            of.append(_COUNTED)
        others = any(each.search(low) for each in (*_QUANTITIES, _COUNTED))
        others |= all(each.unit == "difference" for _, each in watched) and all(
            isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Lt)
            for part in parts_of(claim.tree)
        )
        if said and others and not any(each.search(low) for each in of):
            yield place, f"the words are about `{words[0]}`, and `{claim}` is not"
        whole, last = text, ""
        if isinstance(question, Choice):  # also behind a "No,"
            whole = texts[place].en.lower()
            last = last_sentence(question)
        if watched and (found := _untimed(question, whole, low, [w.unit for _, w in watched])):
            yield place, f"the words are about `{found}`, and nothing in `{claim}` takes time"
        for pattern, kinds in _WHOLES.items():
            if (found := pattern.search(whole)) and kinds.search(low) and not kinds.search(whole):
                yield place, f"`{found[0]}` holds more than `{claim}` is about"
        for pattern, weaker, same in _STRONGER:
            found = pattern.search(f"{last} {whole}")
            if found and weaker.search(low) and not same.search(f"{low} {claim}"):
                yield place, f"the words are about `{found[0]}`, and `{claim}` is not"
        if (found := _QUALITY.search(whole)) and watched and not _TRAINED.search(low):
            yield place, f"the words are about `{found[0]}`, and `{claim}` about no training"
        trick = demo.trick if isinstance(question, Order) else ""  # a step of which much is fp16
        told = f"{low} {trick} {claim} {proof.args} {proof.at} {_defaults(demo)}".lower()
        for name, pattern in _DTYPES.items():
            if pattern.search(whole) and not pattern.search(told):
                yield place, f"the words are about {name}, and `{claim}` knows nothing of it"


_TIME = re.compile(
    r"\b(?:(?:takes?|lasts?|runs?) (?:just )?as (?:long|fast)|"
    r"as long(?! as)|as fast(?! as)|speeds?|(?:fast|slow)est first|throughput|per second|a second|"
    r"how long|latency|(?:milli|micro)?seconds|hours|days)\b"
)
_TIMES = re.compile(
    rf"{_TIMED.pattern}|\b(?:ticks?|seconds?|makespan|mfu|hfu|busy|clock|delay|rates?)\b|\bstep_"
)
_RATE = re.compile(r"/s\b|per second|at \w+ of|flop/s")
_WHOLES = {
    re.compile(
        r"\bmemory (?:that )?(?:each|a|every|the|one) (?:gpu|rank|card) (?:needs|takes|uses)\b|"
        r"\bmemory (?:does|will) (?:each|a|every|the|one) (?:gpu|rank|card) (?:need|take|use)\b|"
        r"\b(?:gpu memory|peak memory|memory of (?:a|each|the) gpu|device memory|"
        r"memory (?:on|per) (?:a |each |the )?(?:gpu|rank|stage))\b"
    ): re.compile(r"\b(?:activations?|saved|autograd|weights?|gradients?|states|cache|logits)\b"),
}
# What is asked, what was measured instead, and what would make it the same.
_STRONGER = tuple(
    (re.compile(one), re.compile(two), re.compile(three))
    for one, two, three in (
        (r"\b(?:at any (?:moment|time)|at its (?:most|peak)|peaks?)\b|"
         r"\bat (?:the )?most\b(?=.*\b(?:during|in) a step\b)",
         r"\bidle|\bbetween|\bafter\b|\bend\b", r"peak|at most|most |largest|\bmax"),
        (r"\bstandard deviations?\b", r"varianc", r"deviation|sqrt"),
        (r"\bvariances?\b", r"deviation", r"varianc|\*\* ?2"),
        (r"\bind(?:ex|ices)\b|\bfrom 0\b", r"\bfrom 1\b", r"- ?1\b|\+ ?1\b"),
    )
)  # fmt: skip
_QUALITY = re.compile(
    r"\b(?:converge\w*|quality|accuracy|(?:worse|better) model|model (?:is|gets|becomes) "
    r"(?:worse|better)|trains? (?:as well|worse|better)|training (?:result|quality)|"
    r"generali[sz]\w*)\b"
)
_TRAINED = re.compile(
    r"loss|error|accura|drift|distance|optim|settled|apart|gap|cosine|trained|noise|differ"
)
_DTYPES = {
    "bf16": re.compile(r"\b(?:bf16|bfloat16)\b"),
    "fp16": re.compile(r"\b(?:fp16|float16|half precision)\b"),
    "fp8": re.compile(r"\b(?:fp8|e4m3|e5m2)\b"),
    "int8": re.compile(r"\bint8\b"),
}


def _untimed(question: Question, text: str, seen: str, units: Sequence[str]) -> str:
    """Return the word for a time where bytes or operations were counted, and no rate is told."""
    found = _TIME.search(text)
    if found is None or _TIMES.search(seen) or {*units} & {"ratio", "norm", "ticks", "seconds"}:
        return ""
    return "" if _RATE.search(words_told(question)) else found[0]


def _defaults(demo: Demo) -> str:
    return " ".join(str(each.default) for each in demo.parameters.values())


# What is kept and what is sent are both counted in bytes.
_KEPT = stems("memory hold held keep kept store live resident peak occupy allocate allocated")
_SENT = stems("traffic send sent communicate message transfer wire receive received volume")


def _kept_or_sent(question: Question, demo: Demo) -> Iterator[Rule]:
    """What is kept is asked, and what was sent was measured, or the other way round."""
    for place, text, claim in claimed(question):
        names = sorted(claim.names & demo.watch.keys())
        if not names or any(demo.watch[n].unit not in ("bytes", "elements") for n in names):
            continue
        said = stems(re.sub(r"^(?:if|when) .*", "", text))  # under which condition
        seen = stems(" ".join(f"{n} {demo.watch[n].text}" for n in names).replace("_", " "))
        for one, other in ((_KEPT, _SENT), (_SENT, _KEPT)):
            if said & one and not said & other and seen & other and not seen & one:
                yield place, f"the words are about `{min(said & one)}`, not `{', '.join(names)}`"
