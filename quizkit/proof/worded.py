"""Words and claims that part: what a text says has to be what its claim looks at.

No rule reads a text. But a point has to share a word with what it measures, an amount in an option
has to stand in its claim, what is called equal has to be claimed equal, a metric has to be the one
that the words name, and a quotation has to be of the condition that it is said to tell.
"""

import ast
import math
import re
from collections.abc import Iterator, Mapping
from itertools import combinations

from quizkit.bank.formula import Formula
from quizkit.bank.functions import Value, is_number
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order, Question, Trace
from quizkit.bank.spelt import SPELT
from quizkit.lab.catalogue import Demo
from quizkit.proof.conjuncts import parts_of
from quizkit.proof.setting import rows
from quizkit.proof.told import words_told
from quizkit.proof.worlds import judges, names_of, sides, value_of

Rule = tuple[str, str]

_LITTLE = """
    a an the of to in on at by for from with and or but not no nor is are was were be been it its
    this that these those as so if then than them they their there where when which what who how
    why do does did has have had will would can could should may might must one each every all
    any some more most less least fewer few many much only own other another same such too very
    also just both either neither into onto over under out up down off about after before between
    through while during per via within without because since until still again once here now
    even ever never always you your we our i he she his her itself themselves run runs take takes
    took get gets got go goes come comes make makes made give gives say says let put set like
    number value first last largest rank ranks gpu gpus process processes
"""
_COMMON = frozenset(_LITTLE.split())
_ENDINGS = re.compile(r"(?<=\w{3})(?:ations?|ions?|ings?|ers?|ed|es|s|ly|e)$")
# Words for one thing: a text that says one of them is about what a metric calls by another.
_KIN = (
    "memory byte size gb mb gib hold held keep kept store save saved live peak room fit resident",
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
            yield from _options(question, demo)
            yield from _denied(question, demo)
            yield from _turned_round(question, demo)
            yield from _languages(question)
        case Order() | Cloze():
            yield from _crossed(question, demo)
        case Essay(rubric=points) | Bug(reasons=points):
            part = "rubric" if isinstance(question, Essay) else "reasons"
            planted = _planted(question, demo)
            told = {*amounts(" ".join(text.en for text in question.asks))}
            world = _known(question, demo)
            for index, point in enumerate(points):
                for amount in {*amounts(main_clause(point.says.en))} - told:
                    if point.claim and not _has(amount, point.claim.tree, world):
                        message = f"the text says {amount:g}, and its claim does not"
                        yield f"{part}.{index}.claim", message
                if point.claim and not _about(point.says.en, point.claim, demo, planted):
                    seen = ", ".join(sorted(point.claim.names & demo.watch.keys()))
                    yield (
                        f"{part}.{index}.claim",
                        f"no word of the text is about `{seen}`: claim what it says",
                    )
        case _:
            pass
    yield from _quantities(question, demo)
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
        if said and others and not any(each.search(low) for each in of):
            yield place, f"the words are about `{words[0]}`, and `{claim}` is not"


def _claimed(question: Question) -> Iterator[tuple[str, str, Formula]]:
    """Yield what is asked or said to be true, in small English letters, with its claim."""
    assert question.proof is not None
    match question:
        case Choice(options=options):
            for index, option in enumerate(options):
                if option.claim and option.correct:
                    yield f"options.{index}.claim", main_clause(option.text.en), option.claim
        case Essay(rubric=points) | Bug(reasons=points):
            part = "rubric" if isinstance(question, Essay) else "reasons"
            for index, point in enumerate(points):
                if point.claim:
                    yield f"{part}.{index}.claim", main_clause(point.says.en), point.claim
        case Numeric() | Trace():
            asked = question.prompt.en.lower().rsplit("?", 1)[0].strip()
            for index, claim in enumerate(question.proof.claims):
                if "answer" in claim.names:
                    yield f"proof.claims.{index}", re.split(r"(?<=[.;])\s", asked)[-1], claim
        case _:
            pass


def stems(text: str) -> frozenset[str]:
    """Return the words that say something, without their endings."""
    plain = re.sub(r"\{[^}]*\}", " ", text.lower())
    words = re.findall(r"[a-z0-9]+", plain)
    return frozenset(_stem(each) for each in words if each not in _COMMON and not each.isdigit())


def _stem(word: str) -> str:
    return _ENDINGS.sub("", word)[:6]


_GROUPS = [frozenset(_stem(each) for each in line.split()) for line in _KIN]


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
    groups = _GROUPS[:3] + _GROUPS[4:] if planted else _GROUPS
    return bool(mine.union(*(each for each in groups if each & mine)) & theirs)


_CALLED = re.compile(r"\b[A-Za-z]+-\d+\b")  # ZeRO-3: which one it is, and not what of it
_CLAUSE = re.compile(r"[,;:.](?=\s|$)|\b(?:as|since|because|though|while)\b(?! (?:much|many|l))")
_NUMBER = rf"(?:\d+(?:\.\d+)?|{'|'.join(SPELT)})"
_AMOUNTS: Mapping[re.Pattern[str], float] = {
    re.compile(rf"\b({_NUMBER})(?: ?[x×]|[- ]times|[- ]?fold)"): 0,
    re.compile(r"\b(\d+(?:\.\d+)?) ?(?:%|percent)"): 0.01,
    re.compile(r"\b(?:twice|doubl(?:es?|ed|ing))\b"): 2,
    re.compile(r"\bhal(?:f(?! right)|ve[sd]?|ving)\b"): 0.5,
    re.compile(r"\btripl\w+"): 3, re.compile(r"\ba third\b"): 1 / 3,
    re.compile(r"\ba quarter\b"): 0.25, re.compile(r"\ba hundred\b"): 100,
    re.compile(r"\ba thousand\b"): 1000, re.compile(r"\ba dozen\b"): 12,
}  # fmt: skip
_SAME = re.compile(
    r"\b(?:the same(?! (?:code|seed|batch|node|machine|data))|equal|unchanged|neither|alike|"
    r"as (?:many|much|large|long|fast|often|far)|identical|no (?:change|difference))\b"
)
_UNEQUAL = re.compile(r"\b(?:more|grows?|rises?|increases?|fewer|less|falls?|shrinks?|halves?)\b")
_NOT = re.compile(r"\b(?:not?|nothing|never|cannot|twice|half|times|third|longer)\b|n't\b")


def amounts(text: str) -> Iterator[float]:
    """Yield how many times, or what share, an English text says."""
    low = text.lower()
    for pattern, by in _AMOUNTS.items():
        for found in pattern.finditer(low):
            if not pattern.groups:
                yield by
            else:
                number = float(SPELT[found[1]]) if found[1] in SPELT else float(found[1])
                yield number * (by or 1)


def main_clause(text: str) -> str:
    """Return what an English text says, in small letters, without what it says why."""
    return _CLAUSE.split(text.lower())[0]


def _options(question: Choice, demo: Demo) -> Iterator[Rule]:
    """Amounts and equalities that an option says, and its claim does not."""
    told = {*amounts(" ".join(text.en for text in question.asks))}
    world = _known(question, demo)
    for index, option in enumerate(question.options):
        if option.claim is None or "outcome" in option.claim.names:
            continue
        place, claim = f"options.{index}.claim", option.claim.tree
        text = main_clause(option.text.en)
        said = [each for each in amounts(text) if each not in told]
        equal = [_is_equal(part) for part in parts_of(claim)]
        for amount in said if option.correct else ():
            if not _has(amount, claim, world):
                yield place, f"the option says {amount:g}, and its claim does not: `{option.claim}`"
        if said or _NOT.search(text):
            continue
        if option.correct and _SAME.search(text) and not any(equal):
            yield (
                place,
                f"the option says that it is alike, and nothing is equal in `{option.claim}`",
            )
        elif (
            option.correct
            and _UNEQUAL.search(text)
            and not _SAME.search(text)
            and all(equal)
            and not any(isinstance(each, ast.BinOp) for each in ast.walk(claim))
            and not any(judges(side) for pair in sides(claim) for side in pair)
        ):
            yield place, f"the option says more or less, and `{option.claim}` that it is equal"
        elif _SAME.search(text) and all(equal) and len(equal) == 1 and _factors(claim):
            by = next(iter(_factors(claim)))
            if (
                by % 1
                and by not in told
                and all(names_of(s) & demo.watch.keys() for s in next(iter(sides(claim))))
            ):
                yield place, f"the option says that it is alike, and its claim {by:g} times"


def _known(question: Question, demo: Demo) -> dict[str, Value]:
    """What is known of the first run before it is made."""
    proof = question.proof
    assert proof is not None
    defaults = {name: each.default for name, each in demo.parameters.items()}
    given: dict[str, object] = {**defaults, **proof.args, **rows(question)[0]}
    ranks = {} if isinstance(proof.ranks, Formula) else {"ranks": proof.ranks}
    return {n: v for n, v in {**given, **ranks}.items() if is_number(v)}


def _has(amount: float, claim: ast.expr, world: Mapping[str, Value]) -> bool:
    """Tell whether a claim has an amount, as it is said or as what is left of it."""
    found = [
        float(value)
        for node in ast.walk(claim)
        if isinstance(node, ast.expr) and is_number(value := value_of(node, world))
    ]
    alike = [amount, 1 / amount, 1 - amount, 1 + amount, 100 * amount, amount - 1]
    ratios = [*found, *(a / b for a in found for b in found if b)]
    # About as much may be said of a window: "about 1%" of `x > 0.005 and x < 0.02`.
    between = len(found) > 1 and min(found) < amount < max(found)
    return between or any(math.isclose(a, b, rel_tol=1e-6) for a in ratios for b in alike if b)


def _is_equal(part: ast.expr) -> bool:
    """Tell whether a part says that two things are equal, or apart by nothing."""
    match part:
        case ast.Compare(_, [ast.Eq() | ast.NotEq()], [_]):
            return True
        case ast.Compare(_, [ast.Lt() | ast.Gt()], [ast.Constant(float() | int() as by)]):
            return abs(by) <= 0.02
        case ast.Compare(_, [ast.LtE() | ast.GtE()], _):
            return True
        case ast.Call(ast.Name("isclose" | "all_equal" | "all" | "any")) | ast.Name():
            return True
        case ast.UnaryOp(ast.Not(), inner):
            return _is_equal(inner)
        case ast.BoolOp(_, parts):
            return any(_is_equal(each) for each in parts)
        case _:
            return False


def _factors(claim: ast.expr) -> list[float]:
    """The numbers by which something is multiplied in a claim, or divided."""
    return [
        float(side.value)
        for node in ast.walk(claim)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)
        for side in (node.left, node.right)
        if isinstance(side, ast.Constant) and is_number(side.value)
    ]


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
        if stage in ("1", "2", "3") and named and not _says(words, stage):
            yield place, f"the words tell of another stage of ZeRO than `{name}`"
            return
        for other in sorted(demo.watch.keys() - used):
            pair = _apart(name, other)
            if pair is None:
                continue
            one, two = pair
            variants = _families(demo, one) >= 3 <= _families(demo, two)
            mine = stems(demo.watch[name].text) - stems(demo.watch[other].text)
            stray = variants and not _says(words, one) and _says(words, two)
            stray = stray and not mine & stems(words)
            stray = stray and not {one, two} & _DEFAULTS and one not in set_to
            if stray or _other_convention(name, other, words, demo):
                yield place, f"the words tell of `{other}`, and the claim is about `{name}`"
                return


def _apart(name: str, other: str) -> tuple[str, str] | None:
    """The one part in which two names differ."""
    one, two = name.split("_"), other.split("_")
    different = [(a, b) for a, b in zip(one, two, strict=False) if a != b]
    return different[0] if len(one) == len(two) and len(different) == 1 else None


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


def _says(words: str, part: str) -> bool:
    if part.isdigit():
        return re.search(rf"zero[- ]?(?:stage[- ])?{part}\b|\bstages? {part}\b", words) is not None
    return re.search(rf"(?<![a-z]){re.escape(part[:6])}", words) is not None


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
        kin = any(_apart(a, b) for a in metrics[one] for b in metrics[other])
        if kin and not straight and texts[one] & theirs and texts[other] & mine:
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


def _turned_round(question: Choice, demo: Demo) -> Iterator[Rule]:
    """`A keeps more`, where the claim says that it is B which does."""
    for index, option in enumerate(question.options):
        text = main_clause(option.text.en)
        more, less = _MORE.search(text), _LESS.search(text)
        if option.claim is None or bool(more) is bool(less) or _NOT.search(text):
            continue
        for part in parts_of(option.claim.tree):
            match part:
                case ast.Compare(left, [ast.Lt() | ast.Gt() as op], [right]):
                    pair = [next(iter(names_of(s)), "") for s in (left, right)]
                    apart = _apart(*pair) if {*pair} <= demo.watch.keys() else None
                    if apart is None or any(each.isdigit() for each in apart):
                        continue
                    says = [_says(text, each) for each in apart]
                    first_is_more = isinstance(op, ast.Gt)
                    if says[0] != says[1] and (says[0] is bool(more)) is not first_is_more:
                        message = f"the option says it the other way round than `{option.claim}`"
                        yield f"options.{index}.claim", message
                case _:
                    pass


_MORE = re.compile(r"\b(?:more|larger|longer|higher|bigger)\b")
_LESS = re.compile(r"\b(?:fewer|less|smaller|shorter|lower)\b")


def _languages(question: Choice) -> Iterator[Rule]:
    """An option that is alike in one language, and half or twice in the other."""
    for index, option in enumerate(question.options):
        zh, en = option.text.zh, main_clause(option.text.en)
        alike, halved = re.search("不变|一样|相同", zh), re.search("减半|一半|翻倍|加倍", zh)
        same, said = _SAME.search(en), [*amounts(en)]
        if (halved and not alike and same and not said) or (
            alike and not halved and "倍" not in zh and said and not same
        ):
            yield f"options.{index}.text", "zh and en say different amounts"


def _denied(question: Choice, demo: Demo) -> Iterator[Rule]:
    """`A, not B`, where the claim says that it is B which differs."""
    for index, option in enumerate(question.options):
        found = re.search(r"^(.+?),? (?:not|rather than|instead of) (.+)$", option.text.en.lower())
        if found is None or option.claim is None or not option.correct:
            continue
        said, denied = stems(found[1]), stems(found[2])
        equal = dict[bool, frozenset[str]]({True: frozenset(), False: frozenset()})
        for part in parts_of(option.claim.tree):
            names = names_of(part)
            if len(names) > 1 and names <= demo.watch.keys():
                equal[_is_equal(part)] |= stems(" ".join(names).replace("_", " "))
        if said & equal[True] and denied & equal[False] and not said & equal[False]:
            yield f"options.{index}.claim", f"the option denies what `{option.claim}` says"


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
