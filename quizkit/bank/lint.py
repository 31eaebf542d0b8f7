"""Find what a careful editor would object to: rules that no single field's type can hold."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

from quizkit.bank.brief import not_brief, quoting
from quizkit.bank.build import Builder, unknown
from quizkit.bank.common import COMMON, common_questions, cover_problems
from quizkit.bank.draw import MOST_DRAWS, draws, number_of_draws
from quizkit.bank.entry import myths_of, points_of
from quizkit.bank.evidence import evidence
from quizkit.bank.exhibits import ENDING, broken_seal, place_of
from quizkit.bank.formula import FormulaError
from quizkit.bank.language import language_problems
from quizkit.bank.model import (
    Choice,
    CommonQuestion,
    Essay,
    Numeric,
    Problem,
    Question,
    Term,
    Text,
    Topic,
)
from quizkit.bank.nodes import compose
from quizkit.bank.reader import Bank, read_file
from quizkit.bank.reading_time import length
from quizkit.bank.retired import no_question, retired_problems
from quizkit.bank.rules import Rule
from quizkit.words import Lang

LONGEST_SHARE = 0.6  # of the keys may be the longest option before it becomes a pattern
FIRST_SHARE = 0.6  # of the keys may stand at one listed position
ENOUGH = 10  # questions before a share means anything
MOST_CONDITIONS = 4
LONGEST_CONDITION: Mapping[Lang, int] = {"zh": 30, "en": 15}  # Han characters and words
OFTEN = 3  # times that a condition is written out before it gets a name


def glossary(folder: Path, problems: list[Problem]) -> Mapping[str, Term]:
    """Return the term table."""
    return read_file(folder, "glossary.yaml", problems, Mapping[str, Term]) or {}


def lint(bank: Bank, folder: Path) -> list[Problem]:
    """List everything wrong with a bank that needs no demo to be seen."""
    problems = list(bank.problems)
    common = common_questions(folder, problems)
    terms = glossary(folder, problems)
    for question in bank.questions.values():
        errors = [*_errors(question, bank, common), *_evidence(question, folder)]
        for place, message in (*errors, *(not_brief(question) if question.core else ())):
            problems.append(Problem(question.file, question.line(place), message))
        for place, message in (*_warnings(question), *language_problems(question, terms)):
            problems.append(Problem(question.file, question.line(place), message, "warning"))
    for name, asked in common.items():
        for place, message in language_problems(asked, terms):
            problems.append(Problem(COMMON, 1, f"{name}: `{place}`: {message}", "warning"))
    problems += _conditions(bank)
    problems += _strays(bank, folder)
    problems += _reading_orders(bank, folder)
    problems += _ideas(bank)
    problems += retired_problems(folder, bank.questions)
    core = [question for question in bank.questions.values() if question.core]
    patterns = (*_patterns(bank), *(quoting(core) if len(core) >= ENOUGH else ()))
    problems += [Problem("", 1, message, "warning") for message in patterns]
    return problems


def _errors(question: Question, bank: Bank, common: Mapping[str, CommonQuestion]) -> Iterator[Rule]:
    yield from cover_problems(question, common)
    for index, followup in enumerate(question.followups):
        if followup.ask == question.id:
            yield f"followups.{index}", "asks itself"
        elif followup.ask not in bank.questions:
            message = no_question(followup.ask, bank.questions, bank.retired)
            yield f"followups.{index}.ask", message
    yield from _assumed(question, bank)
    for place, myth in myths_of(question):
        if myth not in bank.myths:
            message = unknown("myth", myth, bank.myths)
            yield place, f"{message} Name myths in a topic's `_myths.yaml`"
    for name in question.was:
        if name in bank.questions:
            yield "was", f"`{name}` is still a question"
        if name in bank.retired:
            yield "was", f"`{name}` is retired; a rename is not: take it out of one of the two"
    if isinstance(question, Choice):
        for index, option in enumerate(question.options):
            if not option.correct and (option.why is None or option.myth is None):
                yield (
                    f"options.{index}",
                    "a wrong option says `why` it tempts, and its `myth`",
                )
    if isinstance(question, Numeric):
        yield from _numeric(question)


def _assumed(question: Question, bank: Bank) -> Iterator[Rule]:
    if len(question.assume) > MOST_CONDITIONS:
        yield "assume", f"{len(question.assume)} conditions; {MOST_CONDITIONS} at most"
    topic = bank.topics.get(question.topic)
    for index, each in enumerate(question.assume):
        if not isinstance(each, str):
            yield from ((f"assume.{index}", message) for message in _too_long(each))
        elif each not in question.usual:
            known = unknown("condition", each, topic.assume if topic else ())
            message = f"{known} Give `zh:` and `en:`, or name it in `{question.topic}/_topic.yaml`"
            yield f"assume.{index}", message


def _evidence(question: Question, folder: Path) -> Iterator[Rule]:
    if question.evidence:
        wrong = broken_seal(place_of(folder, question.id), question.evidence)
        if wrong:
            yield "evidence", f"{wrong}; run quizkit bank evidence {question.id} --write"


def _strays(bank: Bank, folder: Path) -> Iterator[Problem]:
    for path in sorted(folder.glob(f"*/*{ENDING}")):
        name = path.relative_to(folder).as_posix()
        question = name.removesuffix(ENDING)
        if not (folder / f"{question}.yaml").exists():
            yield Problem(name, 1, f"there is no question `{question}`; delete the file")
        elif question in bank.questions and not bank.questions[question].evidence:
            yield Problem(name, 1, f"`{question}` asks for no `evidence`; delete the file")


def _too_long(condition: Text) -> Iterator[str]:
    for lang, most in LONGEST_CONDITION.items():
        if length(condition[lang]) > most:
            count = "Han characters and words" if lang == "zh" else "words"
            yield f"{lang}: {length(condition[lang])} {count}; a condition has {most} at most"


def _conditions(bank: Bank) -> Iterator[Problem]:
    """Conditions with a name that say too much, and those written so often that they need one."""
    for slug, topic in bank.topics.items():
        for name, text in topic.assume.items():
            for message in _too_long(text):
                yield Problem(f"{slug}/_topic.yaml", 1, f"`assume.{name}`: {message}")
    written: dict[tuple[str, Text], list[tuple[Question, int]]] = {}
    for question in bank.questions.values():
        for index, each in enumerate(question.assume):
            if not isinstance(each, str):
                written.setdefault((question.topic, each), []).append((question, index))
    for (topic, text), places in written.items():
        if len(places) >= OFTEN:
            for question, index in places:
                message = (
                    f"`{text.en}` is written {len(places)} times; name it in `{topic}/_topic.yaml`"
                )
                yield Problem(question.file, question.line(f"assume.{index}"), message, "warning")


def _ideas(bank: Bank) -> Iterator[Problem]:
    for slug, topic in bank.topics.items():
        file, count = f"{slug}/_topic.yaml", len(topic.ideas)
        if count and any(len(topic.paragraphs(lang)) != count for lang in ("zh", "en")):
            message = f"`ideas`: {count} of them, and `intro` needs as many paragraphs"
            yield Problem(file, 1, message)
        named = [f"{slug}/{each.ask}" for each in topic.ideas]
        named += [each.picture(slug) for each in topic.ideas if each.run]
        for name in dict.fromkeys(named):
            if name not in bank.questions:
                message = no_question(name, bank.questions, bank.retired)
                yield Problem(file, 1, f"`ideas`: {message}")


def _reading_orders(bank: Bank, folder: Path) -> Iterator[Problem]:
    for slug, topic in bank.topics.items():
        file = f"{slug}/_topic.yaml"
        gone = [
            name
            for name in topic.order
            if f"{slug}/{name}" not in bank.questions
            and not (folder / slug / f"{name}.yaml").exists()  # that one has its own message
        ]
        builder = Builder(lambda _line, _message: None)  # what is wrong with the file is known
        root = compose(folder / file, builder.report) if gone else None
        if root:
            builder.build(root, Topic, slug=slug)
        for name in gone:
            line = builder.lines.get(f"order.{topic.order.index(name)}", 1)
            message = no_question(f"{slug}/{name}", bank.questions, bank.retired)
            yield Problem(file, line, f"`order`: {message}")


def _numeric(question: Numeric) -> Iterator[Rule]:
    if number_of_draws(question) > MOST_DRAWS:
        yield "params", f"{number_of_draws(question)} draws; {MOST_DRAWS} at most, all are checked"
        return
    try:
        drawn = list(draws(question))
    except FormulaError as error:
        yield "where", str(error)
        return
    if not drawn:
        yield "where", "lets no draw through"
    for values in drawn:
        try:
            answer = question.answer.number(dict(values))
        except FormulaError as error:
            yield "answer", f"at {values}: {error}"
            return
        for index, trap in enumerate(question.traps):
            try:
                wrong = trap.formula.number(dict(values))
            except FormulaError as error:
                yield f"traps.{index}.formula", f"at {values}: {error}"
                return
            if abs(wrong - answer) <= question.within * abs(answer):
                yield (
                    f"traps.{index}.formula",
                    f"is right at {values}; exclude it by `where`",
                )
                return


def _twin_traps(question: Numeric) -> Iterator[Rule]:
    """Yield slips that lead to one number: nobody can tell which of them was made."""
    if number_of_draws(question) > MOST_DRAWS:
        return
    try:
        for values in draws(question):
            wrong = [trap.formula.number(dict(values)) for trap in question.traps]
            for j, i in combinations(range(len(wrong)), 2):
                if abs(wrong[j] - wrong[i]) <= question.within * abs(wrong[j]):
                    yield f"traps.{i}.formula", f"is traps.{j} at {values}; exclude it by `where`"
                    return
    except FormulaError:
        return  # that a formula fails there is among the errors


def _false_alarms(question: Essay) -> Iterator[Rule]:
    """A keyword cannot hear a negation: what a good answer says must not sound like a veto."""
    good = [question.say, *(point.says for point in question.rubric)]
    good += [Text(word, word) for point in question.rubric for word in point.keywords]
    for index, veto in enumerate(question.vetoes):
        heard = {
            word
            for text in good
            if text is not None
            for side in (text.zh, text.en)
            for word in evidence(side, veto.keywords)
        }
        if heard:
            words = ", ".join(sorted(heard))
            yield f"vetoes.{index}.keywords", f"a good answer says it too: {words}"


def _warnings(question: Question) -> Iterator[Rule]:
    if question.say is None:
        yield "kind", "has no `say`: what to say aloud"
    if not question.hints:
        yield "kind", "has no hints"
    if isinstance(question, Numeric):
        yield from _twin_traps(question)
    if isinstance(question, Essay):
        yield from _false_alarms(question)
    for place, point in points_of(question):
        if not point.keywords:
            yield place, "has no keywords, so it is never ticked beforehand"


def _patterns(bank: Bank) -> Iterator[str]:
    """Yield what would let a learner guess without knowing."""
    single = [q for q in bank.questions.values() if isinstance(q, Choice) and not q.several]
    if len(single) < ENOUGH:
        return
    longest = sum(
        max(range(len(q.options)), key=lambda i, q=q: len(q.options[i].text.en)) == _key(q)
        for q in single
    )
    if longest / len(single) > LONGEST_SHARE:
        yield f"the right option is the longest in {longest} of {len(single)} choices"
    place, count = Counter(_key(q) for q in single).most_common(1)[0]
    if count / len(single) > FIRST_SHARE:
        yield f"the right option is number {place + 1} in {count} of {len(single)} choices"


def _key(question: Choice) -> int:
    return next(i for i, option in enumerate(question.options) if option.correct)
