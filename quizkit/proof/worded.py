"""Words and claims that part: what a text says has to be what its claim looks at.

No rule reads a text. But a point has to share a word with what it measures, an amount in an option
has to stand in its claim, what is called equal has to be claimed equal, a metric has to be the one
that the words name, and a quotation has to be of the condition that it is said to tell.
"""

import ast
import re
from collections.abc import Iterator
from itertools import combinations

from quizkit.bank.entry import points_of
from quizkit.bank.formula import Formula
from quizkit.bank.functions import is_number
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order, Question, Trace
from quizkit.lab.catalogue import Demo
from quizkit.proof.conjuncts import parts_of
from quizkit.proof.judge import key_names
from quizkit.proof.optioned import worded_options
from quizkit.proof.phrase import amounts, apart, has, known, main_clause, says, stem, stems
from quizkit.proof.told import words_told
from quizkit.proof.worlds import names_of

Rule = tuple[str, str]

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


def worded(question: Question, demo: Demo) -> Iterator[Rule]:
    """Yield (place, message) of words that their claim does not bear out."""
    match question:
        case Choice():
            yield from worded_options(question, demo)
        case Order() | Cloze():
            yield from _crossed(question, demo)
        case Essay() | Bug():
            planted = _planted(question, demo)
            told = {*amounts(" ".join(text.en for text in question.asks))}
            world = known(question, demo)
            for place, point in points_of(question):
                for amount in {*amounts(main_clause(point.says.en))} - told:
                    if point.claim and not has(amount, point.claim.tree, world):
                        message = f"the text says {amount:g}, and its claim does not"
                        yield f"{place}.claim", message
                if point.claim and not _about(point.says.en, point.claim, demo, planted):
                    seen = ", ".join(sorted(point.claim.names & demo.watch.keys()))
                    yield (
                        f"{place}.claim",
                        f"no word of the text is about `{seen}`: claim what it says",
                    )
        case _:
            pass
    yield from _elsewhere(question, demo)
    yield from _quantities(question, demo)
    yield from _kept_or_sent(question, demo)
    yield from _nearest(question, demo)
    yield from _quotes(question, demo)


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
    for place, text, claim in _claimed(question):
        if "outcome" in claim.names:
            continue
        watched = [(n, demo.watch[n]) for n in sorted(claim.names & demo.watch.keys())]
        seen = " ".join(f"{name.replace('_', ' ')} {w.text} {w.unit}" for name, w in watched)
        low = seen.lower()
        said = [each for each in _QUANTITIES if each.search(text)]
        words = [found[0] for each in said if (found := each.search(text))]
        of = [_MEASURED.get(each, each) for each in said]
        others = any(each.search(low) for each in (*_QUANTITIES, _COUNTED))
        others |= all(each.unit == "difference" for _, each in watched) and all(
            isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Lt)
            for part in parts_of(claim.tree)
        )
        if said and others and not any(each.search(low) for each in of):
            yield place, f"the words are about `{words[0]}`, and `{claim}` is not"


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
        if claim and not _about(words_told(question), claim, demo, _planted(question, demo)):
            seen = ", ".join(sorted(claim.names & demo.watch.keys()))
            yield place, f"no word of the question is about `{seen}`"


# What is kept and what is sent are both counted in bytes.
_KEPT = stems("memory hold held keep kept store live resident peak occupy allocate allocated")
_SENT = stems("traffic send sent communicate message transfer wire receive received volume")


def _kept_or_sent(question: Question, demo: Demo) -> Iterator[Rule]:
    """What is kept is asked, and what was sent was measured, or the other way round."""
    for place, text, claim in _claimed(question):
        names = sorted(claim.names & demo.watch.keys())
        if not names or any(demo.watch[n].unit not in ("bytes", "elements") for n in names):
            continue
        said = stems(re.sub(r"^(?:if|when) .*", "", text))  # under which condition
        seen = stems(" ".join(f"{n} {demo.watch[n].text}" for n in names).replace("_", " "))
        for one, other in ((_KEPT, _SENT), (_SENT, _KEPT)):
            if said & one and not said & other and seen & other and not seen & one:
                yield place, f"the words are about `{min(said & one)}`, not `{', '.join(names)}`"


def _claimed(question: Question) -> Iterator[tuple[str, str, Formula]]:
    """Yield what is asked or said to be true, in small English letters, with its claim."""
    assert question.proof is not None
    match question:
        case Choice(options=options):
            for index, option in enumerate(options):
                if option.claim and option.correct:
                    yield f"options.{index}.claim", main_clause(option.text.en), option.claim
        case Essay() | Bug():
            for place, point in points_of(question):
                if point.claim:
                    yield f"{place}.claim", main_clause(point.says.en), point.claim
        case Numeric() | Trace():
            asked = question.prompt.en.lower().rsplit("?", 1)[0].strip()
            for index, claim in enumerate(question.proof.claims):
                if "answer" in claim.names:
                    yield f"proof.claims.{index}", re.split(r"(?<=[.;])\s", asked)[-1], claim
        case Order():
            asked = " ".join(question.prompt.en.lower().split())
            for index, claim in enumerate(question.proof.claims):
                yield f"proof.claims.{index}", asked, claim
        case _:
            pass


_GROUPS = [frozenset(stem(each) for each in line.split()) for line in _KIN]


def kin(words: frozenset[str]) -> frozenset[str]:
    """Return words with those that are other words for the same thing."""
    return words.union(*(each for each in _GROUPS if each & words))


# In so many lines of Watch that one alone says nothing.
GENERIC = stems("output rank time")


def _planted(question: Question, demo: Demo) -> str:
    """The text of the planted bug, which a reason may be about."""
    proof = question.proof
    assert proof is not None
    planted = demo.breaks.get(proof.broken or "")
    return f"{proof.broken} {planted.old} {planted.new}" if planted else ""


def _about(text: str, claim: Formula, demo: Demo, planted: str) -> bool:
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


_CALLED = re.compile(r"\b[A-Za-z]+-\d+\b")  # ZeRO-3: which one it is, and not what of it
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


def _crossed(question: Order | Cloze, demo: Demo) -> Iterator[Rule]:
    """Two steps, or gaps, of which each is worded like what the other one is measured by."""
    proof = question.proof
    assert proof is not None
    texts = _own_words(question)
    metrics: dict[str, frozenset[str]] = {name: frozenset() for name in texts}
    for claim in proof.claims:
        for part in parts_of(claim.tree):
            for name, measured in _bound(part, frozenset(texts), demo):
                metrics[name] |= measured
    about = {
        name: stems(" ".join(f"{n} {demo.watch[n].text}" for n in sorted(found)).replace("_", " "))
        for name, found in metrics.items()
        if found
    }
    for one, other in combinations(about, 2):
        mine, theirs = about[one] - about[other], about[other] - about[one]
        straight = texts[one] & mine or texts[other] & theirs
        crossed = len(texts[one] & theirs), len(texts[other] & mine)
        kin = any(apart(a, b) for a in metrics[one] for b in metrics[other])
        if not straight and min(crossed) > (0 if kin else 1):
            part = "steps" if isinstance(question, Order) else "gaps"
            yield part, f"`{one}` is worded like what `{other}` is measured by, and it like `{one}`"


def _own_words(question: Order | Cloze) -> dict[str, frozenset[str]]:
    """The words of each step; of a gap, those since the gap or the clause before it."""
    if isinstance(question, Order):
        return {step.id: stems(step.text.en) for step in question.steps}
    found: dict[str, frozenset[str]] = {}
    for clause in re.split(r"[.;:]\s", question.text.en):
        gaps = [*re.finditer(r"\[\[(\w+)\]\]", clause)]
        for index, gap in enumerate(gaps):
            begins = gaps[index - 1].end() if index else 0
            ends = gaps[index + 1].start() if index + 1 < len(gaps) else len(clause)
            text = clause[begins : gap.start()] if len(gaps) > 1 else clause[begins:ends]
            found[gap[1]] = stems(re.sub(r"\[\[\w+\]\]", " ", text))
    return found


def _bound(
    part: ast.expr, keys: frozenset[str], demo: Demo
) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each name of the key, and the metrics that one part holds against it."""
    match part:
        case ast.Compare(ast.Compare(a, [_], [b]), [ast.Eq()], [ast.Compare(c, [_], [d])]):
            for names, sides_of in (((a, b), (c, d)), ((c, d), (a, b))):
                for key, side in zip(names, sides_of, strict=True):
                    for name in names_of(key) & keys:
                        yield name, frozenset(names_of(side) & demo.watch.keys())
        case _:
            named = names_of(part) & keys
            if len(named) == 1:
                yield next(iter(named)), frozenset(names_of(part) & demo.watch.keys())


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
