"""`quizkit bank`: for those who write questions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quizkit.cli import complete
from quizkit.cli.common import choose_topics, language, tell, unknown_question
from quizkit.cli.flags import flags
from quizkit.cli.options import Json, Spoken
from quizkit.cli.record import record

if TYPE_CHECKING:
    from quizkit.bank.model import Problem

bank = typer.Typer(help="For authors: check, start and describe questions.")
bank.command()(flags)
bank.command()(record)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(bank, name="bank")


@bank.command()
def lint(
    topic: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC", help="Topics; none means all.", autocompletion=complete.topics
        ),
    ] = None,
    bank: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder of questions instead of the shipped one."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail too.")] = False,
    json: Json = False,
    lang: Spoken = None,
) -> None:
    """Check every question file: all mistakes at once, each with file, line and remedy."""
    from quizkit.paths import QUESTIONS

    spoken = language(lang)
    folder = bank or QUESTIONS
    chosen = choose_topics(folder, (), topic or ())
    problems, count = _problems(folder, chosen)
    errors = [problem for problem in problems if problem.severity == "error"]
    if json:
        _print_json(problems, count)
    else:
        from quizkit.words import say

        for problem in problems:
            typer.echo(str(problem), err=True)
        key = "bank.lint_bad" if problems else "bank.lint_good"
        warnings = len(problems) - len(errors)
        typer.echo(
            say(key, spoken, questions=count, errors=len(errors), warnings=warnings), err=True
        )
    raise typer.Exit(1 if errors or (strict and problems) else 0)


@bank.command()
def new(
    name: Annotated[str, typer.Argument(metavar="ID", help="topic/slug, as in pp/bubble.")],
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="choice, numeric, order, cloze, trace, bug or essay.",
            autocompletion=complete.kinds,
        ),
    ],
    bank: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder of questions instead of the shipped one."),
    ] = None,
    lang: Spoken = None,
) -> None:
    """Start a question file with every key that its kind has."""
    import re

    from quizkit.bank.model import KINDS, Kind
    from quizkit.bank.retired import read_retired
    from quizkit.bank.template import template
    from quizkit.errors import UsageError
    from quizkit.near import nearest
    from quizkit.paths import QUESTIONS
    from quizkit.words import say

    spoken = language(lang)
    known: dict[str, Kind] = {each: each for each in KINDS}
    if kind not in known:
        raise UsageError("kind", name=kind, hint=nearest(kind, KINDS))
    if not re.fullmatch(r"[a-z0-9_-]+/[a-z0-9-]+", name):
        raise UsageError("question_name", name=name)
    gone = read_retired(bank or QUESTIONS, [])
    if name in gone:  # answers to it in a diary are to the question that went
        raise unknown_question(name, (), gone)
    path = (bank or QUESTIONS) / f"{name}.yaml"
    if path.exists():
        raise UsageError("question_there", path=path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(template(known[kind]), encoding="utf-8")
    except OSError as error:
        raise UsageError("question_write", path=path, reason=error.strerror or "") from error
    tell(say("bank.new", spoken, path=path))


@bank.command()
def evidence(
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID",
            help="Questions, as in pp/bubble-share.",
            autocompletion=complete.questions,
        ),
    ],
    write: Annotated[
        bool, typer.Option("--write", help="Record it in the file beside the question.")
    ] = False,
    bank: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder of questions instead of the shipped one."),
    ] = None,
    lang: Spoken = None,
) -> None:
    """Run the incidents of questions and show, or record, what an engineer would see."""
    from quizkit.bank.exhibits import place_of, sealed
    from quizkit.bank.reader import Bank
    from quizkit.errors import UsageError
    from quizkit.lab.bench import Bench
    from quizkit.lab.catalogue import catalogue
    from quizkit.paths import QUESTIONS
    from quizkit.proof.exhibits import evidence_problems, recorded
    from quizkit.proof.prove import on_bench
    from quizkit.words import say

    spoken, folder, demos = language(lang), bank or QUESTIONS, catalogue()
    found = Bank.load(folder)
    with Bench() as bench:
        for name in ids:
            if name not in found.questions:
                raise unknown_question(name, found.questions, found.retired)
            question = found.questions[name]
            if question.evidence is None:
                raise UsageError("evidence_none", id=name)
            wrong = [f"{place}: {message}" for place, message in evidence_problems(question, demos)]
            if wrong:
                raise UsageError("question_broken", problems="\n".join(wrong))
            made = recorded(question, demos[question.evidence.demo], on_bench(bench, demos))
            text, path = sealed(question.evidence, made), place_of(folder, name)
            if write:
                path.write_text(text, encoding="utf-8")
                tell(say("bank.evidence_written", spoken, path=path))
            else:
                typer.echo(text, nl=False)


@bank.command()
def schema() -> None:
    """Print the JSON Schema of a question file, for editors that complete YAML."""
    import json

    from quizkit.bank.schema import schema as made

    typer.echo(json.dumps(made(), ensure_ascii=False, indent=1))


def _problems(folder: Path, chosen: set[str] | None) -> tuple[list["Problem"], int]:
    """Find what is wrong with a bank, names in proofs included; count the questions read."""
    from quizkit.bank.lint import glossary
    from quizkit.bank.lint import lint as editorial
    from quizkit.bank.mocks import mock_problems, scripts
    from quizkit.bank.model import Problem
    from quizkit.bank.reader import Bank
    from quizkit.lab.catalogue import catalogue
    from quizkit.mock.rehearsal import rehearsed
    from quizkit.proof.exhibits import evidence_problems
    from quizkit.proof.shows import shows_problems
    from quizkit.proof.static import wrong_names
    from quizkit.proof.thin import thin_proof

    # Follow-ups and myths may point into other topics, so all of it is read in any case.
    whole = Bank.load(folder)
    problems = editorial(whole, folder)
    problems += mock_problems(folder, whole, glossary(folder, []))
    for script in scripts(folder, whole):
        for place, message in rehearsed(script, whole.questions):
            problems.append(Problem(script.file, script.line(place), message))
    demos = catalogue()
    for question in whole.questions.values():
        for place, message in (*wrong_names(question, demos), *evidence_problems(question, demos)):
            problems.append(Problem(question.file, question.line(place), message))
        for place, message in (*thin_proof(question, demos), *shows_problems(question, demos)):
            problems.append(Problem(question.file, question.line(place), message))
    if chosen is not None:
        problems = [problem for problem in problems if problem.file.split("/")[0] in chosen]
    wanted = [q for q in whole.questions.values() if chosen is None or q.topic in chosen]
    return sorted(problems, key=lambda each: (each.file, each.line)), len(wanted)


def _print_json(problems: list["Problem"], count: int) -> None:
    import json
    from dataclasses import asdict

    found = [asdict(problem) for problem in problems]
    typer.echo(json.dumps({"schema": "quizkit/lint/1", "questions": count, "problems": found}))
