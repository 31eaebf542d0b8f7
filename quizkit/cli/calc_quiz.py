"""`quizkit calc NAME --quiz`: a sheet becomes a question, and the tutor asks it."""

import ast
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import product
from random import Random

from quizkit.bank.entry import entry
from quizkit.bank.formula import parse
from quizkit.bank.functions import is_number
from quizkit.bank.model import Numeric, Text, Trap
from quizkit.calc import sheets
from quizkit.calc.figure import Figure, Value
from quizkit.calc.sheet import CalcError, Calculator, Quiz, Worked, option
from quizkit.cli.calc_options import parsed
from quizkit.cli.common import tell
from quizkit.cli.laboratory import Laboratory
from quizkit.cli.session import open_desk
from quizkit.diary import Diary
from quizkit.errors import UsageError
from quizkit.interrupt import INTERRUPTED
from quizkit.paths import diary_file
from quizkit.tutor.lineup import Lineup
from quizkit.tutor.queue import Queue
from quizkit.tutor.study import Study
from quizkit.ui.screens.amount import exact
from quizkit.words import Lang, say

_LANGS: tuple[Lang, Lang] = ("zh", "en")


def ask(sheet: Calculator, words: Sequence[str], json: bool, plain: bool, lang: Lang) -> int:
    """Ask one question about the sheet; the answer is recorded like any other."""
    given, _ = parsed(sheet, words)
    asked = question(sheet, given, Random(os.urandom(8)))  # noqa: S311
    place = open_desk(json, plain, lang)
    line, seed = entry(asked), int.from_bytes(os.urandom(4), "big")
    with Diary(diary_file()) as diary, Laboratory([line]) as lab:
        session = Study(
            [line],
            diary,
            place,
            lambda: datetime.now(UTC),
            lang=lang,
            queue=lambda _: Queue([line], Lineup(plan=[line.id]), seed),
            read={asked.id: asked}.get,
            prove=lab.prove,
            show=lab.show,
        )
        try:
            session.run()
        except KeyboardInterrupt:
            command = f"quizkit calc {sheet.name} --quiz"
            tell(say("study.left", lang, command=command), err=True)
            return INTERRUPTED
    return 0


def refuse_named(sheet: Calculator, model: str | None, gpu: str | None) -> None:
    """Raise UsageError: a question draws its own sizes."""
    for flag, name in (("--model", model), ("--gpu", gpu)):
        if name:
            raise _foreign(sheet, flag)


def _foreign(sheet: Calculator, flag: str) -> UsageError:
    assert sheet.quiz is not None, sheet.name
    known = ", ".join(map(option, sheet.quiz.draws))
    return UsageError("calc_quiz", sheet=sheet.name, name=flag, known=known)


def question(sheet: Calculator, given: Mapping[str, Value], random: Random) -> Numeric:
    """Return the question about a sheet's figure; what was given stands, the rest is drawn."""
    quiz = sheet.quiz
    assert quiz is not None, sheet.name
    for name in given:
        # The prompt says what else holds, so nothing else can change without a lie in it.
        if name not in quiz.draws:
            raise _foreign(sheet, option(name))
    worked = _drawn(sheet, quiz, given, random)
    chain = _chain(worked, quiz.figure)
    inputs = ", ".join(f"{name}={name}" for name in quiz.draws)
    sources = tuple(dict.fromkeys(each.source for each in chain))
    drawn = " ".join(f"{name}={worked.inputs[name]}" for name in quiz.draws)
    return Numeric(
        id=f"calc/{sheet.name}",
        file=f"calc {sheet.name}",
        digest=sha256(drawn.encode()).hexdigest()[:12],
        lines={},
        kind="numeric",
        level=2,
        prompt=_text(sheet.name, worked),
        hints=(_listed("quiz_formula", [f"{each.name} = {each.formula}" for each in chain]),),
        explain=_listed("quiz_worked", [_worked(each, worked) for each in chain], sources),
        sources=sources,
        answer=parse(f"{sheets.called(sheet.name, quiz.figure)}({inputs}) / {quiz.scale!r}"),
        params={name: (value,) for name, value in worked.inputs.items() if is_number(value)},
        unit=quiz.unit,
        traps=tuple(
            # Like the figure itself, a trap comes out in the figure's own unit.
            Trap(
                parse(f"({_bound(trap.formula, worked)}) / {quiz.scale!r}"),
                _text(trap.forgot, worked),
            )
            for trap in quiz.traps
        ),
    )


def _drawn(sheet: Calculator, quiz: Quiz, given: Mapping[str, Value], random: Random) -> Worked:
    """The sheet with the first of the shuffled draws that it takes."""
    choices = [[given[name]] if name in given else values for name, values in quiz.draws.items()]
    draws = [dict(zip(quiz.draws, values, strict=True)) for values in product(*choices)]
    random.shuffle(draws)
    refused: CalcError | None = None
    for draw in draws:
        try:
            return sheet.work(draw)
        except CalcError as error:
            refused = error
    assert refused is not None, sheet.name
    raise refused


def _chain(worked: Worked, name: str) -> list[Figure]:
    """The figures that one is worked out of, in their order, itself the last."""
    needed = {name}
    chain: list[Figure] = []
    for each in reversed(worked.sheet.figures):
        if each.name in needed:
            needed.update(each.arguments)
            chain.append(each)
    return chain[::-1]


def _worked(each: Figure, worked: Worked) -> str:
    """One step of the sum: the numbers put in, and what comes out."""
    filled, value = each.filled(worked.values), worked.figures[each.name]
    shown = exact(value, each.unit, "en")
    shown = shown if isinstance(value, list) else shown.replace(",", "")
    return f"{each.name} = {shown}" if filled == shown else f"{each.name} = {filled} = {shown}"


def _bound(formula: str, worked: Worked) -> str:
    """A trap's formula with the words among the inputs put in: the language draws only numbers."""
    words = {name: value for name, value in worked.inputs.items() if not is_number(value)}

    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.Constant(words[node.id]) if node.id in words else node  # pyright: ignore[reportArgumentType]

    return ast.unparse(Put().visit(ast.parse(formula, mode="eval")))


def _text(key: str, worked: Worked) -> Text:
    return Text(*(say(f"quiz.{key}", lang, **worked.inputs) for lang in _LANGS))


def _listed(key: str, lines: Sequence[str], sources: Sequence[str] = ()) -> Text:
    listing = "\n".join(["", "", "```text", *lines, "```"])
    after = "".join(f"\n- {each}" for each in sources)
    return Text(*(say(f"calc.{key}", lang) + listing + after for lang in _LANGS))
