"""`quizkit prove`: hold answers against runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quizkit.cli import complete
from quizkit.cli.common import choose_topics, joined_bank, language, tell, unknown_question
from quizkit.cli.options import Banks, Json, Spoken

if TYPE_CHECKING:
    from quizkit.bank.model import Question
    from quizkit.proof.prove import Mutation, Result
    from quizkit.words import Lang


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(prove)


def prove(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID",
            help="Questions, as in pp/bubble-share.",
            autocompletion=complete.questions,
        ),
    ] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option(metavar="TOPIC", help="All of a topic.", autocompletion=complete.topics),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="The whole bank.")] = False,
    mutate: Annotated[
        bool, typer.Option("--mutate", help="Also change each key, and list what survives.")
    ] = False,
    bank: Banks = None,
    deadline: Annotated[
        float, typer.Option(metavar="SECONDS", help="The longest that one run may take.")
    ] = 60,
    json: Json = False,
    lang: Spoken = None,
) -> None:
    """Check answers against runs: each distinct setting is run once on real ranks."""
    from quizkit.cli.demo_run import deadline_for
    from quizkit.lab.catalogue import catalogue
    from quizkit.lab.lanes import Lanes, lanes_for
    from quizkit.proof.prove import Court, distinct, on_lanes

    spoken = language(lang)
    deadline = deadline_for(None, deadline)
    questions, problems = _chosen(ids or [], topic or [], all_, bank or [])
    results: list[Result] = []
    mutations: list[Mutation] = []
    demos = catalogue()
    wanted = distinct(questions, demos, mutate)
    with Lanes(lanes_for(len(wanted))) as lanes:
        court = Court(demos, on_lanes(lanes, demos, wanted, deadline))
        for question in questions:
            result = court.prove(question)
            results.append(result)
            if not json:
                _say_result(result, bool(ids), spoken)
            if mutate and result.status == "proved":
                mutations.append(court.mutate(question))
                if not json:
                    _say_mutation(mutations[-1], spoken)
    counts = {
        status: sum(result.status == status for result in results)
        for status in ("proved", "failed", "skipped", "sourced")
    }
    if json:
        _print_json(counts, results, mutations, problems)
    else:
        from quizkit.words import say

        for problem in problems:
            typer.echo(problem, err=True)
        tell(say("prove.counts", spoken, **counts), err=True)
        if mutations:
            killed = sum(each.killed for each in mutations)
            survived = sum(len(each.survived) for each in mutations)
            tell(say("prove.mutants", spoken, killed=killed, survived=survived), err=True)
    raise typer.Exit(1 if counts["failed"] or problems else 3 if counts["skipped"] else 0)


def _chosen(
    ids: list[str], topics: list[str], everything: bool, banks: list[Path]
) -> tuple[list["Question"], list[str]]:
    """The questions asked for, and the files among them that cannot be read."""
    from quizkit.errors import UsageError
    from quizkit.paths import QUESTIONS

    if not (ids or topics or everything):
        raise UsageError("prove_what")
    chosen = choose_topics(QUESTIONS, banks, topics) or set[str]()
    wanted = None if everything else chosen | {name.split("/")[0] for name in ids}
    bank = joined_bank(banks, wanted)
    for name in ids:
        if name not in bank.questions:
            broken = [p for p in bank.problems if p.file == f"{name}.yaml"]
            if broken:
                return [], [str(problem) for problem in broken]
            every = joined_bank(banks, None).questions
            raise unknown_question(name, every, bank.retired)
    questions = [
        question
        for question in bank.questions.values()
        if everything or question.topic in chosen or question.id in ids
    ]
    errors = [problem for problem in bank.problems if problem.severity == "error"]
    # Named alone, a question stands for itself: its neighbours were not asked for.
    asked = [p for p in errors if everything or p.file.split("/")[0] in chosen]
    return questions, [str(each) for each in asked]


def _say_result(result: "Result", numbers: bool, lang: "Lang") -> None:
    """The outcome; with `numbers`, or where it failed, what each run measured."""
    from quizkit.words import say

    word = say(f"prove.{result.status}", lang)
    typer.echo(f"{word}  {result.question}", err=True)
    for reason in result.reasons:
        typer.echo(f"        {reason}", err=True)
    if result.judgement is None or not (numbers or result.status == "failed"):
        return
    for run in result.judgement.runs:
        bound = ", ".join(f"{name}={value:g}" for name, value in run.bindings.items())
        named = {name for claim in result.judgement.claims for name in claim.claim.names}
        for name in sorted(named & set(run.report.metrics)):
            value, how = run.report.metrics[name], run.report.how[name]
            shown = [*value] if isinstance(value, tuple) else value
            typer.echo(f"        {bound or '-'}: {name} = {shown} ({how})", err=True)


def _say_mutation(mutation: "Mutation", lang: "Lang") -> None:
    from quizkit.words import say

    for what in mutation.survived:
        typer.echo("        " + say("prove.survived", lang, what=what), err=True)


def _print_json(
    counts: dict[str, int],
    results: list["Result"],
    mutations: list["Mutation"],
    problems: list[str],
) -> None:
    import json

    mutated = {each.question: each for each in mutations}
    rows: list[dict[str, Any]] = []
    for result in results:
        row: dict[str, Any] = {"id": result.question, "status": result.status}
        row["reasons"] = [*result.reasons]
        if result.question in mutated:
            mutation = mutated[result.question]
            row |= {"killed": mutation.killed, "survived": [*mutation.survived]}
        rows.append(row)
    found = {"schema": "quizkit/proofs/1", **counts, "results": rows, "problems": problems}
    typer.echo(json.dumps(found, ensure_ascii=False))
