"""`quizkit calc`: the sums interviewers ask for, with their conventions, formulas and sources."""

from pathlib import Path
from typing import Annotated

import typer

from quizkit.cli import complete
from quizkit.cli.options import Json, Plain, Spoken


def register(app: typer.Typer) -> None:
    """Add the command. It reads its own help option, since each calculator has its own options."""
    app.command(
        context_settings={
            "allow_extra_args": True,
            "ignore_unknown_options": True,
            "help_option_names": [],
        }
    )(calc)


def calc(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A calculator, as plan or memory; quizkit calc alone lists all, by question.",
            autocompletion=complete.calculators,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="A model's sizes: llama-3-70b, or the path of its config.json.",
            autocompletion=complete.models,
        ),
    ] = None,
    gpu: Annotated[
        str | None,
        typer.Option(
            metavar="GPU",
            help="A GPU's peak, memory and links: h100.",
            autocompletion=complete.chips,
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Each number with its formula and its source.")
    ] = False,
    quiz: Annotated[
        bool, typer.Option("--quiz", help="Ask it as a question; what is not given is drawn.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compare formulas, simulator and real runs.")
    ] = False,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="pipeline: write the timeline as a picture.")
    ] = None,
    json: Json = False,
    lang: Spoken = None,
    plain: Plain = False,
    usage: Annotated[
        bool, typer.Option("--help", "-h", help="This; after a calculator's name, its options.")
    ] = False,
) -> None:
    """Do the sums interviewers ask for: `quizkit calc memory --params 7.5B --dp 64 --zero 3`.

    Options of the calculator itself follow its name; `quizkit calc NAME --help` lists them.
    """
    from quizkit.cli.common import language

    spoken = language(lang)
    if check:
        from quizkit.cli.calc_check import check as compare
        from quizkit.errors import UsageError

        for word in [each for each in (name, model, gpu) if each] + context.args:
            raise UsageError("calc_check_alone", given=word)
        raise typer.Exit(compare(json, plain, spoken))
    if name is None:
        from quizkit.cli.calc_run import print_list

        if usage:
            typer.echo(context.get_help())
        else:
            print_list(json, spoken, plain)
        return
    from quizkit.cli.calc_options import named
    from quizkit.cli.calc_run import SumAsked, find, print_page, run

    sheet = find(name)
    if usage:
        print_page(sheet, spoken, plain)
    elif name == "plan":
        from quizkit.cli.calc_plan import refuse
        from quizkit.cli.calc_plan import run as plan

        refuse({"--quiz": quiz, "--svg": svg, "--gpu": gpu})
        raise typer.Exit(plan(model, context.args, explain, json, spoken, plain))
    elif quiz:
        from quizkit.cli.calc_quiz import ask, refuse_named

        refuse_named(sheet, model, gpu)

        raise typer.Exit(ask(sheet, context.args, json, plain, spoken))
    else:
        run(SumAsked(sheet, context.args, named(model, gpu), explain, svg), json, spoken, plain)
