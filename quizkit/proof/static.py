"""Check what can be said about a proof without running it: every name it uses exists."""

from collections.abc import Iterator, Mapping

from quizkit.bank.build import unknown
from quizkit.bank.draw import MOST_DRAWS, draws, number_of_draws
from quizkit.bank.formula import Formula, FormulaError, unknown_names
from quizkit.bank.model import Bug, Cloze, Numeric, Proof, Question, Trace
from quizkit.errors import UsageError
from quizkit.lab.catalogue import Demo, Parameter
from quizkit.lab.excerpt import excerpt
from quizkit.proof.judge import key_names, statements
from quizkit.proof.reading.told import words_told
from quizkit.proof.setting import rows, setting

Rule = tuple[str, str]


def wrong_names(question: Question, demos: Mapping[str, Demo]) -> Iterator[Rule]:
    """Yield (place, message) of everything in a proof that does not exist or does not fit."""
    proof = question.proof
    if proof is None:
        return
    demo = demos.get(proof.demo)
    if demo is None:
        yield "proof.demo", unknown("demo", proof.demo, demos)
        return
    for name, value in proof.args.items():
        if name not in demo.parameters:
            yield f"proof.args.{name}", unknown("argument", name, demo.parameters)
        elif not isinstance(value, Formula) and not _fits(value, demo.parameters[name]):
            yield f"proof.args.{name}", f"`{name}` of {demo.name} cannot be {value!r}"
    if proof.broken is not None and proof.broken not in demo.breaks:
        yield "proof.break", unknown("break", proof.broken, demo.breaks)
        return
    yield from _regime(demo, proof)
    yield from _quoted(question, demo, proof)
    yield from _code(question, demo, proof)
    yield from _names(question, demo, proof)


def _regime(demo: Demo, proof: Proof) -> Iterator[Rule]:
    """Options that change what a metric means, and that the proof leaves to chance."""
    for name in demo.regime:
        if name in proof.args and name in proof.regardless:
            yield "proof.regardless", f"`{name}` is also set in `args`: which of the two holds?"
        elif name not in proof.args and name not in proof.regardless:
            default = demo.parameters[name].default
            default = str(default).lower() if isinstance(default, bool) else default
            yield (
                "proof.args",
                f"`{name}` changes what {demo.name} measures: name it (its default is {default}),"
                f" or say `regardless: [{name}]` if the claims hold whatever it is",
            )
    for name in proof.regardless:
        if name not in demo.regime:
            yield "proof.regardless", unknown("regime option", name, demo.regime)


def _quoted(question: Question, demo: Demo, proof: Proof) -> Iterator[Rule]:
    """Words that are said to name a condition, and that nobody is told."""
    told = words_told(question)
    for name, words in proof.said.items():
        if name not in {*demo.parameters, "ranks", "break"}:
            yield f"proof.said.{name}", unknown("argument", name, demo.parameters)
        elif " ".join(words.lower().split()) not in told:
            yield f"proof.said.{name}", f"the English words nowhere say `{words}`"


def _names(question: Question, demo: Demo, proof: Proof) -> Iterator[Rule]:
    bound = set(rows(question)[0])
    for index, row in enumerate(proof.at):
        if set(row) != bound:
            yield f"proof.at.{index}", "every row of `at` binds the same names"
        if isinstance(question, Numeric) and set(row) != set(question.params):
            yield f"proof.at.{index}", f"must bind the params: {', '.join(question.params)}"
    if isinstance(question, Numeric) and question.params and not proof.at:
        yield "proof", "a number with params is proved at rows of `at`"
    passed = [("proof.ranks", "ranks", proof.ranks)]
    passed += [(f"proof.args.{name}", name, arg) for name, arg in proof.args.items()]
    for place, name, value in passed:
        if isinstance(value, Formula):
            for missing in unknown_names(value, bound):
                yield place, f"`{missing}` is bound by no row of `at`"
        if name in bound and not (isinstance(value, Formula) and value.source == name):
            yield place, f"`{name}` is also bound by `at`; write `={name}`"
    scopes = {
        "metric": set(demo.watch),
        "argument": set(demo.parameters),
        "name of the key": set(key_names(question)),
        "word": {"ranks", "outcome"},
    }
    everything = bound.union(*scopes.values())
    for what, names in scopes.items():
        for other, others in scopes.items():
            if what < other:
                for name in sorted(names & others):
                    yield "proof", f"`{name}` is both a {what} and a {other}"
    for name in sorted(bound & (scopes["metric"] | scopes["name of the key"])):
        yield "proof.at", f"`{name}` already has a meaning in claims"
    # A metric called like an argument that `at` binds is caught above, by the argument.
    for name in sorted(bound & scopes["argument"] - set(proof.args)):
        yield "proof.at", f"`{name}` is an argument of {demo.name}; pass it on in `args`"
    meanings = {f"gaps.{n}.value": m for n, m in key_names(question).items()}
    for place, meaning in meanings.items() if isinstance(question, Cloze) else ():
        if isinstance(meaning, Formula):
            for missing in unknown_names(meaning, everything):
                yield place, unknown("name", missing, everything)
    for place, _, claim, _ in statements(question):
        for missing in unknown_names(claim, everything):
            yield place, unknown("name", missing, everything)
    for index, row in enumerate(rows(question)):
        try:
            wanted = setting(question, row)
        except FormulaError as error:
            yield f"proof.at.{index}", str(error)
            continue
        if wanted.ranks < 1:
            yield f"proof.at.{index}", f"{wanted.ranks} ranks"
        for name, value in wanted.args:
            parameter = demo.parameters.get(name)
            given = isinstance(proof.args[name], Formula)
            if given and parameter and not _fits(value, parameter):
                yield f"proof.at.{index}", f"`{name}` of {demo.name} cannot be {value!r}"
    yield from _when(question, proof)


def _when(question: Question, proof: Proof) -> Iterator[Rule]:
    """Yield what would keep `when` from being decided for a draw."""
    if proof.when is None:
        return
    if not isinstance(question, Numeric):
        yield "proof.when", "only a number has draws of its own"
        return
    for missing in unknown_names(proof.when, question.params):
        yield "proof.when", f"`{missing}` is not among `params`"
        return
    if number_of_draws(question) > MOST_DRAWS:
        return
    try:
        drawn = [*draws(question)]
    except FormulaError as error:
        yield "where", str(error)
        return
    met = False
    for values in drawn:
        try:
            met |= proof.when.truth(dict(values))
        except FormulaError as error:
            yield "proof.when", f"at {values}: {error}"
            return
    if drawn and not met:
        yield "proof.when", "no draw meets it: widen it, or leave it out"


def _code(question: Question, demo: Demo, proof: Proof) -> Iterator[Rule]:
    if not isinstance(question, (Bug, Trace)):
        return
    try:
        excerpt(demo, question.function, proof.broken)
    except UsageError as error:
        yield "function", str(error)


def _fits(value: object, parameter: Parameter) -> bool:
    if parameter.choices:
        return value in parameter.choices
    kinds = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,)}
    if isinstance(value, bool):
        return parameter.kind == "bool"
    return isinstance(value, kinds[parameter.kind])
