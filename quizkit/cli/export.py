"""`quizkit export`: the bank as Anki cards, as Markdown, or as a page to print."""

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from quizkit.cli.common import choose_topics, language, library, tell
from quizkit.cli.options import Banks, Json, Spoken, Topics

if TYPE_CHECKING:
    from quizkit.bank.library import Library
    from quizkit.bank.model import Question
    from quizkit.words import Lang

_Made = TypeVar("_Made")

export = typer.Typer(help="Take the questions with you: Anki, Markdown, a page to print.")

Langs = Annotated[
    str | None,
    typer.Option(
        "--lang", metavar="zh|en|both", help="One language or both; else the config or the locale."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(export, name="export")


@export.command()
def anki(
    file: Annotated[Path, typer.Argument(metavar="FILE.apkg", help="The package to write.")],
    topic: Topics = None,
    lang: Langs = None,
    bank: Banks = None,
    json: Json = False,
) -> None:
    """Write cards for Anki, a deck a topic; importing again updates them, keeping their reviews."""
    from time import time

    from quizkit.cli.kept import kept_views
    from quizkit.export.anki import Note, note, package, search
    from quizkit.words import say

    langs, seen = _langs(lang), kept_views()
    notes: list[Note] = []
    with library(bank or []) as shelves:
        left = _Left()
        wanted = _chosen(topic, bank)
        for _, question in _questions(shelves, wanted):
            card = left.unless(question, lambda each: note(each, langs, seen(each)))
            notes += [card] if card else []
        live = {each.id for each in shelves.entries()}
        gone = [
            name
            for name in shelves.retired()
            if name not in live and (wanted is None or name.split("/")[0] in wanted)
        ]
    _write(file, package(notes, time()))
    _report(file, len(notes), left.names, langs[0], json, retired=gone)
    if gone and not json:  # importing only adds and updates
        told = {"count": len(gone), "search": search(gone)}
        typer.echo(say("export.retired", langs[0], **told), err=True)


@export.command()
def markdown(
    target: Annotated[
        Path | None,
        typer.Argument(metavar="DIR|FILE.md", help="A file a topic, or one file; else stdout."),
    ] = None,
    topic: Topics = None,
    lang: Langs = None,
    bank: Banks = None,
    json: Json = False,
) -> None:
    """Write the questions to read, their answers folded away."""
    from quizkit.cli.kept import kept_views
    from quizkit.errors import UsageError
    from quizkit.export.leaf import leaf
    from quizkit.export.markdown import contents, page

    langs, seen = _langs(lang), kept_views()
    if json and target is None:
        raise UsageError("export_target")
    shown: dict[str, list[Question]] = {}
    with library(bank or []) as shelves:
        left = _Left()
        for slug, question in _questions(shelves, _chosen(topic, bank)):
            if left.unless(question, lambda each: leaf(each, langs[0])):
                shown.setdefault(slug, []).append(question)
        topics = shelves.topics()
    pages = {slug: page(topics[slug], every, langs, seen) for slug, every in shown.items()}
    if target is None:
        typer.echo("\n".join(pages.values()), nl=False)
        _tell_left(left.names, langs[0])
        return
    if target.suffix == ".md":
        files = {target: "\n".join(pages.values())}
    else:
        files = {target / f"{slug}.md": text for slug, text in pages.items()}
        counts = [(topics[slug], len(every)) for slug, every in shown.items()]
        files[target / "README.md"] = contents(counts, langs)
    for file, text in files.items():
        _write(file, text)
    _report(target, sum(map(len, shown.values())), left.names, langs[0], json)


@export.command()
def sheet(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE.html", help="A page to print; else text on stdout."),
    ] = None,
    lang: Spoken = None,
    plain: Annotated[bool, typer.Option("--plain", help="Text, without colour or HTML.")] = False,
) -> None:
    """Write the night before's two pages: ten formulas, three pictures and the conventions."""
    from quizkit.bank.lint import glossary
    from quizkit.cli.kept import kept_run
    from quizkit.export.sheet import printed, text
    from quizkit.export.sheet import sheet as made
    from quizkit.paths import QUESTIONS

    spoken = language(lang)
    with library([], thorough=False) as shelves:
        found = made(glossary(QUESTIONS, []), lambda name: kept_run(shelves, name), spoken)
    if file is not None:
        _write(file, text(found) if plain else printed(found))
        typer.echo(str(file))
        return
    from quizkit.ui.terminal.console import console, is_plain
    from quizkit.ui.text.markup import prose

    flat = is_plain(plain)
    console(plain=flat).print(prose(text(found), flat))


class _Left:
    """The questions that cannot be shown, such as one whose demo is not there."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def unless(self, question: "Question", make: "Callable[[Question], _Made]") -> "_Made | None":
        """Return what is made of the question, or None where nothing can be."""
        from quizkit.errors import QuizkitError

        try:
            return make(question)
        except QuizkitError:
            self.names.append(question.id)
            return None


def _chosen(topics: Sequence[str] | None, banks: Sequence[Path] | None) -> set[str] | None:
    from quizkit.paths import QUESTIONS

    return choose_topics(QUESTIONS, banks or [], topics or [])


def _questions(
    shelves: "Library", wanted: Collection[str] | None
) -> "Iterator[tuple[str, Question]]":
    """(topic, question) in reading order; None wants all topics."""
    entries = shelves.entries(wanted)
    for slug, shelf in sorted(shelves.topics().items()):
        names = [each.id for each in entries if each.topic == slug]
        place = {f"{slug}/{name}": at for at, name in enumerate(shelf.order)}
        for name in sorted(names, key=lambda name: place.get(name, len(place))):
            question = shelves.question(name)
            if question is not None:
                yield slug, question


def _langs(option: str | None) -> "Sequence[Lang]":
    if option == "both":
        return ("zh", "en") if language() == "zh" else ("en", "zh")
    return (language(option),)


def _write(file: Path, said: bytes | str) -> None:
    """Write it, and make the folder it is to be in."""
    from quizkit import safe_file
    from quizkit.errors import UsageError

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError("file_write", file=file, reason=reason) from error
    safe_file.write(file, said)


def _report(
    file: Path, count: int, left: Sequence[str], lang: "Lang", json: bool, **more: object
) -> None:
    from quizkit.words import say

    if json:
        import json as writer

        said = {"schema": "quizkit/export/1", "file": str(file), "questions": count, "left": left}
        said |= more
        typer.echo(writer.dumps(said, ensure_ascii=False))
        return
    tell(say("export.written", lang, count=count, file=file))
    _tell_left(left, lang)


def _tell_left(left: Sequence[str], lang: "Lang") -> None:
    from quizkit.words import say

    if left:
        names = ", ".join(left)
        tell(say("export.left_out", lang, count=len(left), names=names), err=True)
