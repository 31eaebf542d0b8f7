"""`quizkit demo`: list the demos, run one, run all."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from quizkit.cli import complete
from quizkit.cli.common import language, tell
from quizkit.cli.options import Json, Plain, Spoken, Topics
from quizkit.interrupt import at_once
from quizkit.words import Lang


def register(app: typer.Typer) -> None:
    """Add the command. It reads its own help option, since each demo has options of its own."""
    app.command(
        context_settings={
            "allow_extra_args": True,
            "ignore_unknown_options": True,
            "help_option_names": [],
        }
    )(demo)


def demo(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A demo; without one, list them all.",
            autocompletion=complete.demos,
        ),
    ] = None,
    ranks: Annotated[
        int | None,
        typer.Option(
            "--gpus",
            "--ranks",
            metavar="N",
            help="How many ranks; 4 unless a break says otherwise.",
        ),
    ] = None,
    device: Annotated[
        Literal["auto", "cuda", "cpu"],
        typer.Option(help="Where to compute; auto takes GPUs if there is one for each rank."),
    ] = "auto",
    broken: Annotated[
        str | None,
        typer.Option(
            "--break",
            metavar="BREAK",
            help="Plant one of the demo's bugs.",
            autocompletion=complete.breaks,
        ),
    ] = None,
    deadline: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="A run is stopped after so many: 60, or 3 if it is to hang."
        ),
    ] = None,
    topic: Topics = None,
    show: Annotated[bool, typer.Option("--show", help="Print the source, run nothing.")] = False,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all pictures as one SVG file.")
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the timeline for Perfetto.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Play the timeline on its clock, then the numbers.")
    ] = False,
    all_: Annotated[bool, typer.Option("--all", help="Run every demo.")] = False,
    breaks: Annotated[
        bool, typer.Option("--breaks", help="With --all: plant every bug of every demo too.")
    ] = False,
    json: Json = False,
    demos: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder with demos of your own.")
    ] = None,
    lang: Spoken = None,
    plain: Plain = False,
    usage: Annotated[
        bool, typer.Option("--help", "-h", help="This; after a demo's name, that demo's own.")
    ] = False,
) -> None:
    """Run the code an answer is about, on real ranks: `quizkit demo ring-attention --gpus 4`.

    Options of the demo itself follow its name; `quizkit demo NAME --help` lists them.
    """
    if usage and not name:
        typer.echo(context.get_help())
        return
    if name and name.startswith("-"):
        from quizkit.cli.demo_options import COMMON
        from quizkit.cli.usage import unknown

        raise unknown("demo_option", "quizkit demo", name, COMMON)
    if topic and (name or all_):
        from quizkit.errors import UsageError

        raise UsageError("demo_topic_alone")
    if all_ or name is None:
        pictures = {"--svg": svg, "--trace": trace, "--watch": watch}
        _alone(context.args, {"--break": broken, "--show": show, **pictures})
    if all_:
        if name:
            _alone([name], {})
        from quizkit.cli.demo_all import run_all

        raise typer.Exit(run_all(demos, ranks, device, deadline, breaks, json, lang))
    if breaks:
        from quizkit.errors import UsageError

        raise UsageError("option_without", name="--breaks", other="--all")
    if name is None:
        from quizkit.cli.demo_list import print_list

        print_list(demos, topic or (), json, lang, plain)
        return
    if watch and json:
        from quizkit.errors import UsageError

        raise UsageError("option_apart", name="--watch", other="--json")
    name = _meant(name, demos, language(lang))
    if usage or show:
        from quizkit.cli.demo_list import print_page, print_source

        if usage:
            print_page(name, demos, lang, plain)
        else:
            print_source(name, demos, broken, plain, json)
    else:
        with at_once():
            from quizkit.cli.demo_run import Request, run_one

        request = Request(name, context.args, ranks, broken, device, deadline)
        raise typer.Exit(run_one(request, demos, json, svg, trace, watch, lang, plain))


def _meant(name: str, folder: Path | None, lang: Lang) -> str:
    """The demo's own name; which one it is, is said where another was typed."""
    from quizkit.cli.aliases import demo_named
    from quizkit.words import say

    if (found := demo_named(name, folder)) != name:
        tell(say("lab.demo_meant", lang, name=name, demo=found), err=True)
    return found


def _alone(words: list[str], options: dict[str, object]) -> None:
    """Refuse what means something only beside the name of one demo."""
    from quizkit.errors import UsageError

    for word in words:
        raise UsageError("option_stray", given=word)
    for name, value in options.items():
        if value:
            raise UsageError("option_without", name=name, other="NAME")
