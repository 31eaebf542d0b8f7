"""Find words that go beyond the runs: a second thing said, a law from one size, a technique unset.

A claim proves what it compares, in the runs that were made. What a text says on top of that - why,
always, with recomputation, in an epoch - has to be in a claim, in `at`, in an argument, or go.
"""

import ast
import re
from collections.abc import Iterable, Iterator

from quizkit.bank.entry import points_of
from quizkit.bank.formula import Formula
from quizkit.bank.functions import Scalar, is_number
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Question, Text
from quizkit.lab.catalogue import Demo, Parameter
from quizkit.proof.conjuncts import parts_of
from quizkit.proof.reading.claimed import claimed, last_sentence
from quizkit.proof.reading.phrase import stems
from quizkit.proof.reading.plainly import asked, called
from quizkit.proof.reading.sayings import sayings, tellings, told_whole
from quizkit.proof.setting import runs_of
from quizkit.proof.worlds import names_of

Rule = tuple[str, str]
Said = tuple[str, Text, Formula | None]


def beyond(question: Question, demo: Demo) -> Iterator[Rule]:
    """Yield (place, message) of what is said and no run was made for."""
    if isinstance(question, Choice):
        yield from _more_than_told(question)
        yield from _alike(question, demo)
        yield from _laws(question)
        yield from _nothing(question)
    yield from _at_one_size(question, demo)
    yield from _techniques(question, demo)
    yield from _set_otherwise(question, demo)
    if isinstance(question, Numeric):
        yield from _never_varied(question, demo)


def _more_than_told(question: Choice) -> Iterator[Rule]:
    """A right option that says two things, the second mostly why, and claims one."""
    for index, option in enumerate(question.options):
        if option.correct and option.claim:
            said, told = sayings(option.text), tellings(question, option.claim)
            if said > told:
                yield (
                    f"options.{index}.claim",
                    f"the option says {said} things and its claim {told}: say less, or claim more",
                )


def _texts(question: Question) -> Iterator[Said]:
    """Yield what the key says: right options, points that count as proved, or what is asked."""
    match question:
        case Choice(options=options):
            for index, option in enumerate(options):
                if option.claim and option.correct:
                    yield f"options.{index}.claim", option.text, option.claim
        case Essay() | Bug():
            for place, point in points_of(question):
                if told_whole(question, point):
                    yield f"{place}.claim", point.says, point.claim
        case _:
            yield "prompt", question.prompt, None
            if isinstance(question, Cloze):
                yield "text", question.text, None


_WHATEVER = re.compile(
    r"\b(?:whatever|whichever|regardless of|no matter(?: how| what| which)?|"
    r"however (?:many|large|long|small|much|few)|(?:at|for|with|of|in) any|"
    r"independent(?:ly)? of|any (?:number|size|length|choice|value))\b([^,;.?]*)"
)
_EVER = re.compile(
    r"\b(?:always|never|in (?:all|every) cases?|invariably|without exception|stops? growing|"
    r"levels? off|keeps? (?:growing|falling|rising)|no longer grows?|(?:grows?|rises?|falls?) with|"
    r"the (?:more|longer|larger|bigger)\b.*\bthe|as (?:\w+ ){1,4}(?:grows?|rises?|increases?))\b"
)
_WHATEVER_ZH = re.compile("无论|不管|不论|任何|任意|永远|总是|一律|[跟与].{1,12}无关|越.{1,8}越")


def _at_one_size(question: Question, demo: Demo) -> Iterator[Rule]:
    """A text that speaks of all sizes, and runs of one."""
    made = [{**dict(run.args), "ranks": run.ranks} for run in runs_of(question, demo)]
    varied = {name for name in made[0] if len({each[name] for each in made}) > 1}
    for place, text, claim in _texts(question):
        english = text.en.lower()
        for found in _WHATEVER.finditer(english):
            named = {*_named(found[1], demo)}
            if named and not named & varied:
                yield place, f"`{found[0].strip()}` is said, and every run has one {min(named)}"
                break
        else:
            said = _WHATEVER.search(english) or _EVER.search(english)
            said = said or _WHATEVER_ZH.search(text.zh)
            if said and not varied and not (claim and "outcome" in claim.names):
                yield place, f"`{said[0].strip()}` is said, and one size was run: give `at` another"
            elif said and claim and _powers_of_two(each[name] for each in made for name in varied):
                yield place, f"`{said[0].strip()}` is said, and every size is a power of two"


def _powers_of_two(sizes: Iterable[Scalar]) -> bool:
    """Tell whether laws that differ elsewhere may agree at all of these."""
    numbers = [each for each in sizes if is_number(each)]
    return bool(numbers) and all(
        each == int(each) and not int(each) & (int(each) - 1) for each in numbers
    )


def _named(words: str, demo: Demo) -> Iterator[str]:
    """Yield the options of a demo that a few words are about."""
    said = stems(words)
    if re.search(r"\b(?:ranks?|gpus?|cards?|devices?|process(?:es)?)\b", words):
        yield "ranks"
    for name, parameter in demo.parameters.items():
        if said & (stems(name.replace("_", " ")) | stems(parameter.text)):
            yield name


_BY = {"rel": 1e-3, "abs": 1e-3}
_SAME = re.compile(
    r"\b(?:exactly|identical|unchanged|no (?:number|bit|byte|value)s? (?:changes?|differs?)|"
    r"the same (?:number|bytes|bits|time|memory|amount|loss|sum|result|gradients?|volume|traffic)|"
    r"as (?:many|much|large|long|often) as)\b"
)


def _alike(question: Choice, demo: Demo) -> Iterator[Rule]:
    """A right option that calls things the same, and its claim bounds how far they are apart."""
    for place, text, claim in claimed(question):
        found = _SAME.search(text)
        if found is None:
            continue
        for part in parts_of(claim.tree):
            if _is_loose(part, demo):
                message = f"`{found[0]}` is said, and `{ast.unparse(part)}` lets them differ"
                yield place, message


def _is_loose(part: ast.expr, demo: Demo) -> bool:
    match part:
        case ast.Call(ast.Name("isclose"), _, keywords):
            return any(
                isinstance(each.value, ast.Constant)
                and is_number(each.value.value)
                and each.value.value > _BY.get(each.arg or "", 1)
                for each in keywords
            )
        case ast.Compare(_, [ast.Lt() | ast.LtE()], [bound]):
            measured = names_of(part) & demo.watch.keys()
            differs = all(demo.watch[name].unit == "difference" for name in measured)
            return bool(measured) and not (differs and not names_of(bound))
        case _:
            return False


_LAW = re.compile(
    r"\b1/[a-z]\b|√|\bproportional\w*|\b(?:linear|quadratic|square|logarithm)\w*|"
    r"\b[a-z] times\b|\b[a-z]²|\blog[₂ ]"
)


def _laws(question: Choice) -> Iterator[Rule]:
    """A law in the words, `1/N`, and a claim that one thing is just less than another."""
    for place, text, claim in claimed(question):
        found = _LAW.search(text)
        if found is None:
            continue
        nodes = [*ast.walk(claim.tree)]
        exact = {"isclose", "all_equal"}
        if not any(
            (isinstance(each, ast.Name) and each.id in exact)
            or (isinstance(each, ast.Compare) and isinstance(each.ops[0], ast.Eq))
            for each in nodes
        ):
            message = f"`{found[0]}` is said, and `{claim}` knows only more and less"
            yield place, message


_NONE = re.compile(r"\b(?:no|nothing|none|never|nobody)\b")


def _nothing(question: Choice) -> Iterator[Rule]:
    """Nothing in the words, and less than something else in the claim."""
    for place, text, claim in claimed(question):
        found = _NONE.search(text)
        if found is None:
            continue
        nodes = [*ast.walk(claim.tree)]
        compared = [each for each in nodes if isinstance(each, ast.Compare)]
        if (
            compared
            and not any(isinstance(each, ast.Call) for each in nodes)
            and all(
                isinstance(each.ops[0], ast.Lt | ast.LtE) and names_of(each.comparators[0])
                for each in compared
            )
        ):
            message = f"`{found[0]}` is said, and `{claim}` knows only less"
            yield place, message


# What a step may be made with, and the stems by which a demo knows of it.
_TECHNIQUES = {
    r"interleav\w+": "interleaved chunks",
    r"recomput\w+": "recompute rerun again checkpoint segments selective saved",
    r"offload\w*": "offload host", r"prefetch\w*": "prefetch ahead depth deep early",
    r"shuffl\w+": "shuffle permutation order seed", r"pack(?:ed|ing)": "packed packing documents",
    r"zigzag": "zigzag", r"striped": "striped", r"sliding[- ]window": "window",
    r"compress\w*": "compress", r"quanti[sz]\w+": "quantize cast format scale",
    r"dropout": "dropout dice masks", r"momentum": "momentum adam moments",
    r"epochs?": "epoch sampler dataset", r"hierarchical\w*": "hierarchical levels nodes",
    r"double[- ]buffer\w*": "buffer", r"warm[- ]?up": "warm warmup",
    r"accumulat(?!ors?\b)\w+": "accumulate microbatch micro",
    r"overlap\w*": "overlap hide hidden exposed",
}  # fmt: skip
_TECHNIQUE = re.compile(rf"\b(?:{'|'.join(_TECHNIQUES)})\b")
_WITHOUT = re.compile(
    r"(?:\b(?:no|not|without|never|nothing|neither|nor|none|unlike|instead of|rather than|than|off|"
    r"avoid|before|against|whether|if)\b[^.;,]{0,30}|\bnon-?|\bun)$"
)


def _techniques(question: Question, demo: Demo) -> Iterator[Rule]:
    """A technique that is said to be used, and that the demo knows nothing of."""
    proof = question.proof
    assert proof is not None
    told = [demo.law, demo.trick, demo.name, demo.topic, *proof.said.values(), str(proof.broken)]
    told += [f"{name} {each.text} {each.part}" for name, each in demo.watch.items()]
    told += [f"{name} {each.text} {each.choices}" for name, each in demo.parameters.items()]
    told += [f"{name} {each.source}" for name, each in demo.breaks.items()]
    told += [claim.source for claim in proof.claims]  # a calculator's `dropout=True`
    known = stems(" ".join(told).replace("_", " ").replace("-", " "))
    texts = [text.en for _, text, _ in _texts(question)]
    if not isinstance(question, Essay | Bug):
        texts += [text.en for text in question.asks]
    words = " . ".join(texts).lower()
    for found in _TECHNIQUE.finditer(words):
        before = words[max(0, found.start() - 40) : found.start()]
        names = next(n for pattern, n in _TECHNIQUES.items() if re.fullmatch(pattern, found[0]))
        if not _WITHOUT.search(before) and not stems(f"{names} {found[0]}") & known:
            yield "proof.demo", f"`{found[0]}` is said, and `{demo.name}` knows nothing of it"
            return


def _set_otherwise(question: Question, demo: Demo) -> Iterator[Rule]:
    """A value that the words name, and the run has another one."""
    proof = question.proof
    assert proof is not None
    words, runs = asked(question), [dict(run.args) for run in runs_of(question, demo)]
    for name, parameter in demo.parameters.items():
        if name in proof.said or name in proof.regardless:
            continue
        values = {run[name] for run in runs}
        named = {*_values_named(words, parameter), *_degrees(words, parameter)}
        # A run of `each` makes them all, and one without `nothing` has them all.
        if named and not {"each", "nothing", *named} & {str(each) for each in values}:
            shown = ", ".join(sorted(map(str, values)))
            yield "proof.args", f"the words say `{min(named)}`, and `{name}` is `{shown}`"


_FEWEST = re.compile(
    r"(?:at least|from) .*how many|how many .*(?:at least|on does|(?:is|are) enough)|fewest|"
    r"smallest number"
)
_FROM_HOW_MANY = re.compile(r"\bhow many (?:on|at least|are|is|do|does)\b")


def _never_varied(question: Numeric, demo: Demo) -> Iterator[Rule]:
    """The fewest of something that are enough, where every run has as many of it."""
    asked_last = last_sentence(question)
    if not _FEWEST.search(asked_last):
        return
    runs = [dict(run.args) for run in runs_of(question, demo)]
    for name, parameter in demo.parameters.items():
        counts = parameter.kind == "int" and name.endswith("s")
        of = asked_last if not _FROM_HOW_MANY.search(asked_last) else asked(question)
        wanted = counts and re.search(rf"how many (?:\w+ )?{called(name)}", asked_last)
        wanted = wanted or (of != asked_last and re.search(called(name), of))
        if wanted and len({run[name] for run in runs}) == 1:
            yield "proof.at", f"the fewest {name} are asked, and every run has as many"


_AXES = {"tp", "pp", "cp", "dp", "ep"}


def _degrees(words: str, parameter: Parameter) -> set[str]:
    """The degrees of an axis that the words tell: `CP 2`, `TP = 4`."""
    if parameter.name not in _AXES or not parameter.default:  # 0: what is left of the ranks
        return set()
    return {*re.findall(rf"\b{parameter.name} ?=? ?(\d+)\b", words)}


_ANY_WORD = {"none", "all", "one", "no", "own", "full", "off", "on", "any", "each", "ring"}


def _values_named(words: str, parameter: Parameter) -> Iterator[str]:
    """Yield the values of an option that the words name as such, not what it is not."""
    choices = [*parameter.choices]
    if parameter.kind == "bool":
        choices = [parameter.name] if parameter.default is False else []
    for each in choices:
        if each in _ANY_WORD:
            continue
        pattern = re.compile(rf"(?<![\w`-]){re.sub('[_-]', '[ _-]?', re.escape(each))}(?![\w`-])")
        found = [*pattern.finditer(words)]
        if any(not _WITHOUT.search(words[max(0, m.start() - 40) : m.start()]) for m in found):
            yield "True" if parameter.kind == "bool" else each
