"""`quizkit prove`: hold answers against runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from quizkit.cli import complete
from quizkit.cli.common import (
    choose_topics,
    joined_bank,
    language,
    library,
    tell,
    unknown_question,
)
from quizkit.cli.options import Banks, Json, Spoken
from quizkit.interrupt import unwinding

if TYPE_CHECKING:
    from quizkit.bank.model import Question
    from quizkit.lab.demo import Demo
    from quizkit.lab.report import Setting
    from quizkit.proof.difference import Comparison
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
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="Run everything anew; with --all also compare it with the record that ships.",
        ),
    ] = False,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep", help="With --mutate: also run each proof in other regimes and conditions."
        ),
    ] = False,
    bank: Banks = None,
    deadline: Annotated[
        float, typer.Option(metavar="SECONDS", help="The longest that one run may take.")
    ] = 60,
    json: Json = False,
    lang: Spoken = None,
) -> None:
    """Check answers against runs: each distinct setting is run once on real ranks.

    What has run here before, the same code with the same arguments, is remembered.
    """
    from quizkit.cli.demo_run import deadline_for
    from quizkit.lab.catalogue import catalogue
    from quizkit.lab.lanes import Lanes, lanes_for
    from quizkit.lab.report import Origin, Report
    from quizkit.paths import QUESTIONS
    from quizkit.proof.difference import compare, rounds_as_here
    from quizkit.proof.kept import falling_back, keeping, remembered, shipped
    from quizkit.proof.prove import Prover, Status, distinct, faults, on_lanes
    from quizkit.words import say

    spoken = language(lang)
    deadline = deadline_for(None, deadline)
    questions, problems = _chosen(ids or [], topic or [], all_, bank or [])
    results: list[Result] = []
    mutations: list[Mutation] = []
    demos = catalogue()
    record = shipped(demos)
    known = {each.id: faults(each, demos) for each in questions}
    # The shipped bank has its own gate; somebody's own questions are tried in depth at once.
    own = {each.id for each in questions if not (QUESTIONS / each.file).is_file()}
    wanted = [
        *distinct([q for q in questions if q.id not in own], demos, mutate, mutate and deep, known),
        *distinct([q for q in questions if q.id in own], demos, mutate, mutate, known),
    ]
    with unwinding(), remembered(demos) as kept:
        missing = wanted if fresh else [each for each in wanted if each not in kept]
        with Lanes(lanes_for(len(missing))) as lanes:
            run = keeping(on_lanes(lanes, demos, missing, deadline), kept, fresh)
            prover = Prover(
                demos,
                run if fresh else falling_back(run, record),
                faults=known,
                seen=record.healthy,
                exact=lambda name: rounds_as_here(record.made(name)),
            )
            for question in questions:
                result = prover.prove(question)
                results.append(result)
                mutation = None
                if mutate and result.status == "proved":
                    mutation = prover.mutate(question, deep or question.id in own)
                    mutations.append(mutation)
                if not json:
                    _say_result(result, mutation, bool(ids), spoken)
    made = {s: each for s, each in prover.reports.items() if isinstance(each, Report)}
    compared = (
        compare(_shipped_runs(questions, demos, known), made, record) if fresh and all_ else None
    )
    counts = {
        status: sum(result.status == status for result in results) for status in get_args(Status)
    }
    runs = {
        origin: sum(report.origin == origin for report in made.values())
        for origin in get_args(Origin)
    }
    # Among those that are proved: parts of their keys rest on no run.
    counts["in_part"] = sum(
        bool(result.status == "proved" and result.parts and not result.parts.whole)
        for result in results
    )
    survivors = sum(each.wrong for each in mutations)
    if json:
        _print_json(counts, runs, results, mutations, problems, compared, spoken)
    else:
        for problem in problems:
            typer.echo(problem, err=True)
        _say_counts(counts, runs, spoken)
        if mutations:
            killed = sum(each.killed for each in mutations)
            tell(say("prove.mutants", spoken, killed=killed, survived=survivors), err=True)
        if compared:
            _say_comparison(compared, spoken)
    wrong = counts["failed"] or survivors or problems or (compared and not compared.holds)
    # Borne out by a record alone, a question was not held against a run.
    raise typer.Exit(1 if wrong else 3 if counts["skipped"] or counts["recorded"] else 0)


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
            with library(banks) as shelves:
                known = [each.id for each in shelves.entries()]
            raise unknown_question(name, known, bank.retired)
    questions = [
        question
        for question in bank.questions.values()
        if everything or question.topic in chosen or question.id in ids
    ]
    errors = [problem for problem in bank.problems if problem.severity == "error"]
    # Named alone, a question stands for itself: its neighbours were not asked for.
    asked = [p for p in errors if everything or p.file.split("/")[0] in chosen]
    return questions, [str(each) for each in asked]


def _say_result(result: "Result", mutation: "Mutation | None", numbers: bool, lang: "Lang") -> None:
    """The outcome and its reasons; with `numbers`, or where it failed, what each run measured."""
    typer.echo(f"{_outcome(result, mutation, lang)}  {result.question}", err=True)
    for reason in result.reasons:
        typer.echo(f"        {reason[lang]}", err=True)
    if mutation:
        _say_mutation(mutation, lang)
    if result.judgement is None or not (numbers or result.status == "failed"):
        return
    for run in result.judgement.runs:
        bound = ", ".join(f"{name}={value:g}" for name, value in run.bindings.items())
        named = {name for claim in result.judgement.claims for name in claim.claim.names}
        for name in sorted(named & set(run.report.metrics)):
            value, how = run.report.metrics[name], run.report.how[name]
            shown = [*value] if isinstance(value, tuple) else value
            typer.echo(f"        {bound or '-'}: {name} = {shown} ({how})", err=True)


def _outcome(result: "Result", mutation: "Mutation | None", lang: "Lang") -> str:
    """Say how it ended; `proved` alone only of all parts of a key that no change survives."""
    from quizkit.words import say

    if mutation and mutation.wrong:
        return say("prove.weak", lang)
    word, parts = say(f"prove.{result.status}", lang), result.parts
    if result.status not in ("proved", "recorded") or parts is None or parts.whole:
        return word
    more = say(f"prove.{parts.kind}_more", lang, count=parts.in_part) if parts.in_part else ""
    said = {"word": word.strip(), "proved": parts.proved, "of": parts.of, "more": more}
    return say(f"prove.{parts.kind}", lang, **said)


def _say_mutation(mutation: "Mutation", lang: "Lang") -> None:
    from quizkit.words import say

    for what in mutation.survived:
        typer.echo("        " + say("prove.survived", lang, what=what), err=True)
    for each in mutation.elsewhere:
        typer.echo("        " + each[lang], err=True)


def _shipped_runs(
    questions: "Sequence[Question]",
    demos: "Mapping[str, Demo]",
    known: "Mapping[str, Sequence[str]]",
) -> "Mapping[Setting, str]":
    """The runs that the record must hold: those of the user's own questions it cannot."""
    from quizkit.paths import QUESTIONS
    from quizkit.proof.prove import distinct

    found: dict[Setting, str] = {}
    for question in questions:
        if (QUESTIONS / question.file).is_file():
            for each in distinct([question], demos, known=known):
                found.setdefault(each, question.id)
    return found


def _say_counts(counts: dict[str, int], runs: dict[str, int], lang: "Lang") -> None:
    """Print how many questions ended how, and which of their runs were really made now."""
    from quizkit.words import say

    tell(say("prove.counts", lang, **counts), err=True)
    if counts["recorded"]:
        tell(say("prove.counts_recorded", lang, **counts), err=True)
    if runs["cached"] or runs["recorded"]:
        tell(say("prove.runs", lang, **runs), err=True)


def _say_comparison(compared: "Comparison", lang: "Lang") -> None:
    """Print what came out otherwise than recorded."""
    from collections import Counter

    from quizkit.words import say

    for question, each in compared.differing:
        found = {"what": each.what, "recorded": each.recorded, "measured": each.measured}
        typer.echo(say("prove.differs", lang, question=question, **found), err=True)
    # A changed bench makes all of them stale: a line a demo is enough to say so.
    for demo, count in Counter(setting.demo for _, setting in compared.missing).items():
        question, run = next(each for each in compared.missing if each[1].demo == demo)
        what = say("prove.unrecorded", lang, demo=demo, count=count, question=question, run=run)
        typer.echo(what, err=True)
    for made in {*compared.elsewhere.values()}:
        where = {"torch": made.torch, "backend": made.backend, "device": made.device}
        tell(say("prove.uncomparable", lang, **where), err=True)
    tell(say("prove.as_recorded", lang, runs=compared.same), err=True)
    if compared.near:
        tell(say("prove.near_recorded", lang, runs=compared.near), err=True)


def _print_json(
    counts: dict[str, int],
    runs: dict[str, int],
    results: list["Result"],
    mutations: list["Mutation"],
    problems: list[str],
    compared: "Comparison | None",
    lang: "Lang",
) -> None:
    import json
    from dataclasses import asdict

    from quizkit.lab.report import plain

    mutated = {each.question: each for each in mutations}
    rows: list[dict[str, Any]] = []
    for result in results:
        row: dict[str, Any] = {"id": result.question, "status": result.status}
        row["reasons"] = [reason[lang] for reason in result.reasons]
        row["runs"] = {each: result.origins.count(each) for each in runs}
        if result.status in ("proved", "recorded") and result.parts:
            row["parts"] = asdict(result.parts)
        if result.question in mutated:
            mutation = mutated[result.question]
            row |= {"killed": mutation.killed, "survived": [*mutation.survived]}
            row["elsewhere"] = [each[lang] for each in mutation.elsewhere]
        rows.append(row)
    found: dict[str, Any] = {"schema": "quizkit/proofs/1", **counts, "runs": runs, "results": rows}
    found["problems"] = problems
    if compared:
        found["record"] = {
            "same": compared.same,
            "near": compared.near,
            "differing": [
                {
                    "id": question,
                    "what": each.what,
                    "recorded": plain(each.recorded),
                    "measured": plain(each.measured),
                }
                for question, each in compared.differing
            ],
            "missing": [
                {"id": question, "run": str(setting)} for question, setting in compared.missing
            ],
        }
    typer.echo(json.dumps(found, ensure_ascii=False))
