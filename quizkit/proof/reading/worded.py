"""Words and claims that part: what a text says has to be what its claim looks at.

No rule reads a text. But a point has to share a word with what it measures, an amount in an option
has to stand in its claim, what is called equal has to be claimed equal, a metric has to be the one
that the words name, and a quotation has to be of the condition that it is said to tell.
"""

import re
from collections.abc import Iterator

from quizkit.bank.entry import points_of
from quizkit.bank.functions import is_number
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order, Question, Trace
from quizkit.lab.catalogue import Demo
from quizkit.proof.judge import key_names
from quizkit.proof.reading.about import about, planted_bug
from quizkit.proof.reading.optioned import worded_options
from quizkit.proof.reading.ordered import ordered
from quizkit.proof.reading.phrase import amounts, apart, has, known, main_clause, says, stems
from quizkit.proof.reading.quantities import quantities
from quizkit.proof.reading.told import words_told

Rule = tuple[str, str]


def worded(question: Question, demo: Demo) -> Iterator[Rule]:
    """Yield (place, message) of words that their claim does not bear out."""
    match question:
        case Choice():
            yield from worded_options(question, demo)
        case Order() | Cloze():
            yield from ordered(question, demo)
        case Essay() | Bug():
            planted = planted_bug(question, demo)
            told = {*amounts(" ".join(text.en for text in question.asks))}
            world = known(question, demo)
            for place, point in points_of(question):
                for amount in {*amounts(main_clause(point.says.en))} - told:
                    if point.claim and not has(amount, point.claim.tree, world):
                        message = f"the text says {amount:g}, and its claim does not"
                        yield f"{place}.claim", message
                if point.claim and not about(point.says.en, point.claim, demo, planted):
                    seen = ", ".join(sorted(point.claim.names & demo.watch.keys()))
                    yield (
                        f"{place}.claim",
                        f"no word of the text is about `{seen}`: claim what it says",
                    )
        case _:
            pass
    yield from _elsewhere(question, demo)
    yield from quantities(question, demo)
    yield from _nearest(question, demo)
    yield from _quotes(question, demo)


def _elsewhere(question: Question, demo: Demo) -> Iterator[Rule]:
    """A key that goes by what nothing in the question is about."""
    proof = question.proof
    assert proof is not None
    match question:
        case Choice(options=options):
            claims = {f"options.{n}.claim": o.claim for n, o in enumerate(options) if o.correct}
        case Numeric() | Trace() | Cloze() | Order():
            keys = key_names(question).keys()
            claims = {f"proof.claims.{n}": each for n, each in enumerate(proof.claims)}
            claims = {place: each for place, each in claims.items() if each.names & keys}
        case _:
            return
    for place, claim in claims.items():
        if claim and not about(words_told(question), claim, demo, planted_bug(question, demo)):
            seen = ", ".join(sorted(claim.names & demo.watch.keys()))
            yield place, f"no word of the question is about `{seen}`"


_DEFAULTS = frozenset({"none", "all", "one", "plain", "0", "before", "after"})
_IDEAL = re.compile(r"over (?:the )?(?:ideal|useful)|of (?:the )?(?:ideal|useful)")


def _nearest(question: Question, demo: Demo) -> Iterator[Rule]:
    """A metric whose neighbour, the same of another variant or convention, is what the words name.

    Neighbours differ in one part of their names: `sent_bytes_1`, `sent_bytes_3`. The words name
    one of a family, and the claim looks at another that they do not name.
    """
    proof = question.proof
    assert proof is not None
    match question:
        case Numeric():
            claims, place = [*proof.claims], "proof.claims"
        case Choice(options=options):
            claims, place = [o.claim for o in options if o.claim and o.correct], "options"
        case _:
            return
    words = words_told(question)
    if isinstance(question, Choice):  # what a wrong option names may well be another thing
        texts = [*question.asks, *(o.text for o in question.options if o.correct)]
        words = " ".join(text.en.lower() for text in texts)
    words = re.sub(r"\S+ off\b", " ", words)
    set_to = {str(each) for each in proof.args.values()}
    used = frozenset[str]().union(*(each.names for each in claims)) & demo.watch.keys()
    for name in sorted(used):
        stage = name.rpartition("_")[2]
        named = re.search(r"zero-?[123]", words) and "zero-{" not in words
        named = named and _families(demo, stage) >= 3
        if stage in ("1", "2", "3") and named and not says(words, stage):
            yield place, f"the words tell of another stage of ZeRO than `{name}`"
            return
        for other in sorted(demo.watch.keys() - used):
            pair = apart(name, other)
            if pair is None:
                continue
            one, two = pair
            variants = _families(demo, one) >= 3 <= _families(demo, two)
            mine = stems(demo.watch[name].text) - stems(demo.watch[other].text)
            stray = variants and not says(words, one) and says(words, two)
            stray = stray and not mine & stems(words)
            stray = stray and not {one, two} & _DEFAULTS and one not in set_to
            if stray or _other_convention(name, other, words, demo):
                yield place, f"the words tell of `{other}`, and the claim is about `{name}`"
                return


def _families(demo: Demo, part: str) -> int:
    """Count the metrics of a variant: those whose names end in it."""
    return sum(name.endswith(f"_{part}") for name in demo.watch)


def _other_convention(name: str, other: str, words: str, demo: Demo) -> bool:
    """Tell whether a share is asked and a ratio was measured, or the other way round."""
    units = demo.watch[name].unit, demo.watch[other].unit
    share = re.search(r"\bshare of|percent(?:age)? of|of the (?:whole )?step", words) is not None
    ideal = _IDEAL.search(words) is not None
    asked = {("ratio", "share"): share and not ideal, ("share", "ratio"): ideal and not share}
    return asked.get(units, False)


_FREE = re.compile(
    r"\b(?:free|none|no|not|nothing|never|without|zero|ignor\w+|instant\w*|negligible|alone|only|"
    r"cost\w* nothing|leave \w+ out|counts?|neither|except|un\w+)\b|n't\b|\b0\b"
)


def _quotes(question: Question, demo: Demo) -> Iterator[Rule]:
    """A quotation that is said to tell of nothing, and does not."""
    proof = question.proof
    assert proof is not None
    for name, words in proof.said.items():
        parameter = demo.parameters.get(name)
        if parameter is None or not re.search(r"virtual time|cost", parameter.text):
            continue
        given = proof.args.get(name, parameter.default)
        if is_number(given) and given == 0 and not _FREE.search(words.lower()):
            yield f"proof.said.{name}", f"`{name}` is 0, and `{words}` does not say that it is free"
