"""Find steps, or gaps, that go by what measures another one, or nothing of the kind."""

import ast
import re
from collections.abc import Iterator
from itertools import combinations

from quizkit.bank.formula import parse
from quizkit.bank.model import Cloze, Order
from quizkit.lab.catalogue import Demo
from quizkit.proof.conjuncts import parts_of
from quizkit.proof.reading.about import about
from quizkit.proof.reading.phrase import apart, stems
from quizkit.proof.worlds import names_of

Rule = tuple[str, str]


def ordered(question: Order | Cloze, demo: Demo) -> Iterator[Rule]:
    """Yield (place, message) of steps and gaps that are measured by something else."""
    yield from _crossed(question, demo)
    if isinstance(question, Order):
        yield from _unmeasured(question, demo)


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


def _unmeasured(question: Order, demo: Demo) -> Iterator[Rule]:
    """Steps put in order by a fact that measures neither, or by what is about another step."""
    proof = question.proof
    assert proof is not None
    texts = {step.id: step.text.en for step in question.steps}
    for index, claim in enumerate(proof.claims):
        for part in parts_of(claim.tree):
            match part:
                case ast.Compare(
                    ast.Compare(a, [one], [b]) as left, [ast.Eq()], [ast.Compare(c, [two], [d])]
                ):
                    of, fact = (
                        ((a, b), (c, d)) if names_of(left) & texts.keys() else ((c, d), (a, b))
                    )
                    if not (names_of(of[0]) | names_of(of[1])) & texts.keys():
                        continue
                    place = f"proof.claims.{index}"
                    if not all(names_of(side) & demo.watch.keys() for side in fact):
                        yield place, f"`{ast.unparse(part)}` measures no two steps"
                        continue
                    names = [next(iter(names_of(side) & demo.watch.keys())) for side in fact]
                    # Which variant or rank it is says the step; of what quantity, the prompt.
                    one_of = names[0] == names[1] or apart(*names)
                    more = question.prompt.en if one_of else ""
                    turned = fact if type(one) is type(two) else fact[::-1]
                    for step, side in zip(of, turned, strict=True):
                        for name in names_of(step) & texts.keys():
                            said = ast.unparse(side)
                            if not about(f"{texts[name]} {more}", parse(said), demo, ""):
                                yield place, f"no word of `{name}` is about `{said}`"
                case _:
                    pass


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
