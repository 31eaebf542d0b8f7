"""`quizkit show`, `list`, `search`, `glossary`: read the bank."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from quizkit.cli import complete
from quizkit.cli.common import choose_topics, language, library, no_question, tell, typed
from quizkit.cli.options import Banks, Json, Spoken, Topics, Unboxed

if TYPE_CHECKING:
    from quizkit.bank.listed import Listed


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(show)
    app.command("list")(list_questions)
    app.command()(search)
    app.command()(glossary)


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A question, as in pp/bubble-share.",
            autocompletion=complete.questions,
        ),
    ],
    bank: Banks = None,
    json: Json = False,
    lang: Spoken = None,
    plain: Unboxed = False,
) -> None:
    """Show one question whole, with its answer."""
    from quizkit.bank.listed import listed
    from quizkit.cli.kept import kept_views
    from quizkit.ui.screens.reading import whole
    from quizkit.ui.terminal.console import console

    spoken = language(lang)
    with library(bank or []) as shelves:
        question = shelves.question(name)
        if question is None:
            raise no_question(shelves, name)
    if json:
        from quizkit.bank.plain import plain as whole_of

        row = _row(listed(question)) | {"whole": whole_of(question)}
        _print({"schema": "quizkit/questions/1", "questions": [row]})
    else:
        proof = kept_views(beside=True)(question) if question.proof else None
        console(plain=plain).print(whole(question, spoken, plain, proof))


def list_questions(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="With --covers: one of the common 70, as in basics-13.",
        ),
    ] = None,
    topic: Topics = None,
    core: Annotated[bool, typer.Option("--core", help="Only core questions.")] = False,
    covers: Annotated[
        bool,
        typer.Option(
            "--covers",
            help="By the common 70: what answers each, or what a whole answer to ID holds.",
        ),
    ] = False,
    bank: Banks = None,
    json: Json = False,
    lang: Spoken = None,
    plain: Unboxed = False,
) -> None:
    """List the questions."""
    from quizkit.errors import UsageError
    from quizkit.paths import QUESTIONS
    from quizkit.ui.screens.lists import Questions
    from quizkit.ui.terminal.console import console

    if name and not covers:
        from quizkit.cli.usage import path, typed_so

        line = typed_so(context, language(lang))
        raise UsageError("usage_extra", command=path(context), given=name, line=line)
    spoken = language(lang)
    chosen = choose_topics(QUESTIONS, bank or [], topic or [])
    with library(bank or []) as shelves:
        entries = shelves.entries(chosen)
        count = {"all": len(entries), "core": sum(each.core for each in entries)}
        questions = shelves.listed(each.id for each in entries if each.core or not core)
    if covers:
        from quizkit.bank.common import common_questions, coverage
        from quizkit.ui.screens.coverage import every_common, one_common

        common = common_questions(QUESTIONS, [])
        if name:
            if name not in common:
                from quizkit.near import nearest

                raise UsageError("common", name=name, hint=nearest(name, common))
            common = {name: common[name]}
        found = coverage(common, questions)
        if json:
            rows = [
                {
                    "id": name,
                    "topic": each.asked.topic,
                    "ask": {"zh": each.asked.ask.zh, "en": each.asked.ask.en},
                    "questions": each.questions,
                    "parts": [
                        {"id": f"{name}.{part}", "says": {"zh": says.zh, "en": says.en}}
                        | {"questions": each.parts[part]}
                        for part, says in each.asked.parts.items()
                    ],
                    "covered": each.whole,
                }
                for name, each in found.items()
            ]
            _print({"schema": "quizkit/coverage/1", "common": rows})
        elif name:
            console(plain=plain).print(one_common(name, found[name], questions, spoken))
        else:
            console(plain=plain).print(every_common(found, spoken))
    elif json:
        rows = [_row(question) for question in questions]
        _print({"schema": "quizkit/questions/1", "count": count, "questions": rows})
    else:
        console(plain=plain).print(Questions(questions, spoken), crop=False)


def search(
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="Words in either language.")],
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="Lines at most; --json prints all.")
    ] = 40,
    bank: Banks = None,
    json: Json = False,
    lang: Spoken = None,
    plain: Unboxed = False,
) -> None:
    """Find questions by words in either language; two Chinese characters are enough."""
    from quizkit.ui.screens.lists import Questions
    from quizkit.ui.terminal.console import console
    from quizkit.words import say

    spoken = language(lang)
    wanted = typed(text)
    with library(bank or []) as shelves:
        names = shelves.search(wanted)
        found = shelves.listed(names if json else names[:limit])
    if json:
        _print({"schema": "quizkit/questions/1", "questions": [_row(each) for each in found]})
    elif found:
        console(plain=plain).print(Questions(found, spoken, whole=True), crop=False)
        if len(names) > limit:
            more = {"more": len(names) - limit, "limit": len(names)}
            tell(say("bank.more_found", spoken, **more), err=True)
    else:
        tell(say("bank.none_found", spoken, text=wanted), err=True)
        raise typer.Exit(1)


def glossary(
    text: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="Only terms that hold this.")
    ] = None,
    json: Json = False,
    lang: Spoken = None,
    plain: Unboxed = False,
) -> None:
    """Show the field's terms in both languages, each with its convention."""
    from dataclasses import asdict

    from quizkit.bank.lint import glossary as terms
    from quizkit.bank.search import folded
    from quizkit.paths import QUESTIONS
    from quizkit.ui.screens.reading import term_table
    from quizkit.ui.terminal.console import console
    from quizkit.words import say

    spoken = language(lang)
    wanted = folded(typed(text or []))
    found = {
        slug: term
        for slug, term in terms(QUESTIONS, []).items()
        if wanted in folded(f"{slug} {term.zh} {term.en} {term.also} {term.note}")
    }
    if json:
        rows = [{"slug": slug, **asdict(term)} for slug, term in found.items()]
        _print({"schema": "quizkit/glossary/1", "terms": rows})
    elif found:
        console(plain=plain).print(term_table(found, spoken))
    else:
        tell(say("bank.no_term", spoken, text=typed(text or [])), err=True)
        raise typer.Exit(1)


def _row(question: "Listed") -> dict[str, Any]:
    from dataclasses import asdict

    row = asdict(question)
    del row["title"]
    return row


def _print(data: dict[str, Any]) -> None:
    import json

    typer.echo(json.dumps(data, ensure_ascii=False))
