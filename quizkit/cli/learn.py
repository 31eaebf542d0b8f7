"""`quizkit learn` and `quizkit place`: a topic from its beginning, and the level to begin at."""

from typing import TYPE_CHECKING, Annotated

import typer

from quizkit.cli import complete
from quizkit.cli.common import choose_topics, language, library, tell
from quizkit.cli.options import AllOfThem, Banks, JsonLines, LineByLine, Spoken
from quizkit.cli.session import open_desk, session

if TYPE_CHECKING:
    from quizkit.bank.library import Library
    from quizkit.bank.model import Text, Topic
    from quizkit.tutor.desk import Desk, Page
    from quizkit.tutor.placement import Placed
    from quizkit.words import Lang

_LANGS: "tuple[Lang, Lang]" = ("zh", "en")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(learn)
    app.command()(place)


def learn(
    topic: Annotated[
        str,
        typer.Argument(metavar="TOPIC", help="A topic, as in pp.", autocompletion=complete.topics),
    ],
    again: Annotated[
        bool, typer.Option("--again", help="From the beginning, also what was answered.")
    ] = False,
    all_: AllOfThem = False,
    runs: Annotated[
        bool, typer.Option("--runs/--no-runs", help="After each answer, run what decides it.")
    ] = True,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The same seed, the same numbers.")
    ] = None,
    lang: Spoken = None,
    plain: LineByLine = False,
    json: JsonLines = False,
    bank: Banks = None,
) -> None:
    """Walk through a topic: an idea, a picture, a question, and again."""
    from quizkit.paths import QUESTIONS
    from quizkit.tutor.lesson import Lesson
    from quizkit.tutor.lineup import core, course
    from quizkit.tutor.queue import Queue

    spoken = language(lang)
    wanted = choose_topics(QUESTIONS, bank or [], [topic]) or set[str]()
    (topic,) = wanted
    shelves = library(bank or [], thorough=False)
    entries = shelves.entries(wanted)
    place = open_desk(json, plain, spoken)
    with shelves:
        shelf = shelves.topics()[topic]
        asks = [f"{topic}/{idea.ask}" for idea in shelf.ideas]
        order = dict.fromkeys([*asks, *(f"{topic}/{slug}" for slug in shelf.order)])
        asked = entries if all_ else core(entries, asks)
        opening = _opening(shelves, topic, [each.id for each in asked])
        lesson = Lesson(place, shelf.title, _ideas(shelves, shelf, spoken), asks, opening)
        session(
            asked,
            shelves,
            place,
            lambda cards, number: Queue(
                asked, course(asked, [*order], {} if again else cards), number, strict=True
            ),
            lang=spoken,
            before=lesson.before,
            seed=seed,
            runs=runs,
            done=("study.course_done", {"topic": topic}),
            command=f"quizkit learn {topic}",
        )


def place(
    lang: Spoken = None, plain: LineByLine = False, json: JsonLines = False, bank: Banks = None
) -> None:
    """Ask quick questions for ten minutes to find the level at which `study` begins."""
    spoken = language(lang)
    shelves = library(bank or [], thorough=False)
    desk = open_desk(json, plain, spoken)
    with shelves:
        read = _read(desk, _offer(spoken))
        found = find_level(shelves, desk, read) if read is not None else None
    if read is not None and found is not None:
        from quizkit.words import say

        tell(f"{explained(found, read)}\n\n{say('study.due_start', read)}", err=True)


def find_level(shelves: "Library", desk: "Desk", lang: "Lang") -> "Placed | None":
    """Ask the placement's questions, and settle the level they lead to, if to one."""
    import os
    from datetime import UTC, datetime

    from quizkit.settings import settle
    from quizkit.tutor.placement import Placement

    entries = shelves.entries()
    number = int.from_bytes(os.urandom(4), "big")
    placement = Placement(entries, number, lambda: datetime.now(UTC))
    session(
        entries, shelves, desk, lambda _cards, _seed: placement, lang=lang, seed=number, places=True
    )
    found = placement.result
    if found:
        settle("level", str(found.level))
    return found


def explained(found: "Placed", lang: "Lang") -> str:
    """Explain a level: what was right at which, why not one more, and what follows from it."""
    from quizkit.tutor.lineup import HELD_ENOUGH, HIGHEST
    from quizkit.tutor.placement import ENOUGH, LIKELY
    from quizkit.words import say

    def words(key: str, **values: object) -> str:
        return say(f"study.{key}", lang, **values)

    higher, rights = found.level + 1, found.rights
    count, right = (sum(row[i] for row in found.rows) for i in (1, 2))
    if not found.held:
        why = [words("placed_low")]
    elif found.level == HIGHEST:
        why = []
    elif found.open_above:
        why = [words("placed_top", higher=higher)]
    elif found.chance < LIKELY:
        percents = {"percent": f"{100 * found.chance:.0f}", "likely": f"{100 * LIKELY:.0f}"}
        why = [words("placed_unlikely", higher=higher, **percents)]
        why += [words("placed_guesses", rights=rights)] if rights else []
    else:
        why = [words("placed_few", higher=higher, rights=rights, enough=ENOUGH)]
    rows = [words("placed_row", level=n, count=of, right=hits) for n, of, hits in found.rows]
    return "\n\n".join(
        [
            words("placed", level=found.level, count=count, right=right),
            "\n".join(rows),
            ("" if lang == "zh" else " ").join(why),
            words("placed_next", level=found.level, enough=HELD_ENOUGH),
        ]
    ).replace("\n\n\n\n", "\n\n")


def offered(shelves: "Library", desk: "Desk", lang: "Lang") -> "Lang | None":
    """Offer a first-time learner to find their level; None where they leave."""
    from dataclasses import replace

    page = replace(_offer(lang), skips=True)
    while True:
        match desk.read(page).name:
            case "toggle":
                page = _turned(page)
            case "quit":
                return None
            case "skip":
                return page.lang
            case _:
                found = find_level(shelves, desk, page.lang)
                return _read(desk, _found(found, page.lang)) if found else page.lang


def _read(desk: "Desk", page: "Page") -> "Lang | None":
    """Have the page read; the language it was left in, or None where the learner leaves."""
    while True:
        match desk.read(page).name:
            case "toggle":
                page = _turned(page)
            case "quit":
                return None
            case _:
                return page.lang


def _turned(page: "Page") -> "Page":
    from dataclasses import replace

    from quizkit.words import other

    return replace(page, lang=other(page.lang))


def _opening(shelves: "Library", slug: str, questions: list[str]) -> "Text":
    """Say how long the course is, how far the learner has come, what to know before."""
    from quizkit.bank.model import Text
    from quizkit.diary import Diary
    from quizkit.paths import diary_file
    from quizkit.words import listed, say

    topics = shelves.topics()
    needs = [topics[each] for each in topics[slug].needs if each in topics]
    with Diary(diary_file()) as diary:
        done = len({review.question for review in diary.reviews(questions)})

    def text(spoken: "Lang") -> str:
        named = listed((f"{each.title[spoken]} (`{each.slug}`)" for each in needs), spoken)
        before = say("study.needs", spoken, topics=named) if needs else ""
        key = "study.course_ideas" if topics[slug].ideas else "study.course"
        course = say(key, spoken, count=len(questions), done=done)
        return (course + ("" if spoken == "zh" else " ") + before).strip()

    return Text(*(text(spoken) for spoken in _LANGS))


def _ideas(shelves: "Library", topic: "Topic", lang: "Lang") -> "list[Page]":
    """A page for each idea of a topic; a picture comes from the record that ships."""
    from quizkit.bank.model import Idea, Text
    from quizkit.cli.kept import kept_run
    from quizkit.tutor.desk import Page

    told = zip(*(topic.paragraphs(spoken) for spoken in _LANGS), strict=False)
    ideas = topic.ideas or [Idea("")] * len(topic.paragraphs("zh"))
    return [
        Page(
            topic.title,
            Text(*said),
            lang,
            picture=kept_run(shelves, idea.picture(topic.slug)) if idea.run else None,
            schedule=idea.schedule,
        )
        for said, idea in zip(told, ideas, strict=False)
    ]


def _found(found: "Placed", lang: "Lang") -> "Page":
    from quizkit.bank.model import Text
    from quizkit.tutor.desk import Page
    from quizkit.words import say

    title = Text(*(say("study.place_title", spoken) for spoken in _LANGS))
    return Page(title, Text(*(explained(found, spoken) for spoken in _LANGS)), lang)


def _offer(lang: "Lang") -> "Page":
    from quizkit.bank.model import Text
    from quizkit.tutor.desk import Page
    from quizkit.tutor.placement import LENGTH, MINUTES
    from quizkit.words import say

    title = Text(*(say("study.place_title", spoken) for spoken in _LANGS))
    count = {"minutes": MINUTES, "count": LENGTH}
    text = (say("study.place_text", spoken, **count) for spoken in _LANGS)
    return Page(title, Text(*text), lang)
