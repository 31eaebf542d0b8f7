"""Options that several commands take, each told once."""

from pathlib import Path
from typing import Annotated

import typer

from quizkit.cli import complete

AllOfThem = Annotated[
    bool,
    typer.Option("--all", help="All questions; without it a topic that has a core asks its core."),
]
Banks = Annotated[
    list[Path] | None,
    typer.Option(
        "--bank", metavar="DIR", help="Another folder of questions beside the shipped ones."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
JsonLines = Annotated[bool, typer.Option("--json", help="JSON lines, both ways.")]
LineByLine = Annotated[
    bool, typer.Option("--plain", help="Line by line, for screen readers and logs.")
]
Plain = Annotated[bool, typer.Option("--plain", help="No colours, no columns.")]
Unboxed = Annotated[bool, typer.Option("--plain", help="No colours, no boxes.")]
Spoken = Annotated[
    str | None,
    typer.Option(
        "--lang", metavar="zh|en", help="Language of the words; else the config, else the locale."
    ),
]
Topics = Annotated[
    list[str] | None,
    typer.Option(
        "--topic",
        metavar="TOPIC",
        help="Only these topics; quizkit due lists them.",
        autocompletion=complete.topics,
    ),
]
