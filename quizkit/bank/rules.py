"""Check what a question must fulfil to be asked at all, beyond the types of its fields."""

import re
from collections.abc import Iterator

from quizkit.bank.formula import Formula, unknown_names
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order, Question, Trace

Rule = tuple[str, str]
_GAP = re.compile(r"\[\[(\w+)\]\]")
ID = re.compile(r"[a-z0-9_-]+/[a-z0-9-]+")
MOST_HINTS = 3
MOST_FORGIVEN = 0.02  # of a number, for rounding on the way


def broken_rules(question: Question) -> Iterator[Rule]:
    """Yield (place, message) of each rule the question breaks."""
    if not ID.fullmatch(question.id):
        yield "", f"`{question.id}`: file names are lower-case words joined by dashes"
    if not 1 <= question.level <= 5:
        yield "level", f"level {question.level}: levels are 1 to 5"
    if len(question.hints) > MOST_HINTS:
        yield "hints", f"{len(question.hints)} hints; {MOST_HINTS} at most"
    match question:
        case Choice():
            yield from _choice(question)
        case Numeric():
            yield from _numeric(question)
        case Order():
            yield from _order(question)
        case Cloze():
            yield from _cloze(question)
        case Trace() | Bug():
            if question.proof is None:
                yield "kind", f"a {question.kind} shows code of the demo its `proof` runs; add one"
            elif isinstance(question, Bug) and question.proof.broken is None:
                yield "proof", "a bug needs `break:` in its proof: the break it shows"
        case Essay():
            if not question.rubric:
                yield "rubric", "an essay needs at least one rubric point"
        case _:
            raise AssertionError(question.kind)
    if isinstance(question, Trace):
        yield from _forgiving(question.within)
    if isinstance(question, Bug) and not question.reasons:
        yield "reasons", "a bug needs at least one reason"


def _choice(question: Choice) -> Iterator[Rule]:
    right = sum(option.correct for option in question.options)
    if len(question.options) < 2 or len(question.options) > 9:
        yield "options", f"{len(question.options)} options; 2 to 9 can be picked by a digit"
    if not right:
        yield "options", "no option is `correct: true`"
    if right > 1 and not question.several:
        yield "options", f"{right} options are correct; say `several: true`"
    for lang in ("zh", "en"):
        texts = [option.text[lang] for option in question.options]
        for index, text in enumerate(texts):
            if text in texts[:index]:
                yield f"options.{index}", f"option `{text}` is there twice"


def _numeric(question: Numeric) -> Iterator[Rule]:
    formulas: list[tuple[str, Formula]] = [("answer", question.answer)]
    formulas += [(f"traps.{i}.formula", trap.formula) for i, trap in enumerate(question.traps)]
    if question.where:
        formulas.append(("where", question.where))
    for place, formula in formulas:
        for name in unknown_names(formula, question.params):
            yield place, f"`{name}` is not among `params`"
    for name, values in question.params.items():
        if not values:
            yield f"params.{name}", f"`{name}` has no values to draw from"
    yield from _forgiving(question.within)


def _forgiving(within: float) -> Iterator[Rule]:
    if within < 0:
        yield "within", "a tolerance is not negative"
    if within > MOST_FORGIVEN:
        yield "within", f"forgives {within:g}; {MOST_FORGIVEN:g} at most, or wrong is right too"


def _order(question: Order) -> Iterator[Rule]:
    ids = [step.id for step in question.steps]
    if question.after is not None and not any(question.after.values()):
        yield "after", "leaves every order right: say which step comes after which"
    if not 2 <= len(ids) <= 9:
        yield "steps", f"{len(ids)} steps; 2 to 9 can be ordered by digits"
    for index, name in enumerate(ids):
        if name in ids[:index]:
            yield f"steps.{index}", f"step `{name}` is there twice"
        if not name.isidentifier():
            yield f"steps.{index}", f"step id `{name}`: letters, digits and _ (claims name it)"
    for name, before in (question.after or {}).items():
        for step in (name, *before):
            if step not in ids:
                yield f"after.{name}", f"`{step}` is not a step"
            elif step in before and name in ids and ids.index(step) > ids.index(name):
                yield f"after.{name}", f"`{step}` is listed after `{name}`"


def _cloze(question: Cloze) -> Iterator[Rule]:
    for lang in ("zh", "en"):
        shown = _GAP.findall(question.text[lang])
        if sorted(shown) != sorted(question.gaps):
            yield "text", f"the {lang} text has gaps {shown}, the key has {[*question.gaps]}"
