"""A session at a desk: what `study`, `learn` and `place` have in common."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from quizkit.cli.common import tell
from quizkit.interrupt import INTERRUPTED

if TYPE_CHECKING:
    from quizkit.answer import Card
    from quizkit.bank.entry import Entry
    from quizkit.bank.library import Library
    from quizkit.tutor.desk import Desk
    from quizkit.tutor.study import Before
    from quizkit.tutor.turns import Turns
    from quizkit.tutor.verdict import Note
    from quizkit.words import Lang


def open_desk(json: bool, plain: bool, lang: "Lang") -> "Desk":
    """Open the desk where questions are shown and answered: a screen, lines, or JSON lines."""
    import sys

    if json:
        from quizkit.ui.jsonl.json_desk import JsonDesk

        return JsonDesk(sys.stdin.fileno(), sys.stdout.buffer)
    from quizkit.ui.terminal.desks import desk

    return desk(lang, plain)


def session(
    entries: "Sequence[Entry]",
    shelves: "Library",
    desk: "Desk",
    queue: "Callable[[Mapping[str, Card], int], Turns]",
    *,
    lang: "Lang",
    seed: int | None,
    answer_in: "Lang | None" = None,
    topics: Sequence[str] = (),
    runs: bool = False,
    done: "Note | None" = None,
    command: str = "quizkit study",
    places: bool = False,
    before: "Before | None" = None,
) -> None:
    """Ask what the queue brings; `done` is said where it brings nothing at all.

    `command` is what takes up again what was left half-way. One that `places` looks for the
    learner's level, and is no part of the day's share.
    """
    import os
    from datetime import UTC, datetime

    from quizkit.answer import PLACEMENT, SessionEvent
    from quizkit.cli.laboratory import Laboratory
    from quizkit.diary import Diary
    from quizkit.paths import diary_file
    from quizkit.tutor.study import Study
    from quizkit.words import say

    number = seed if seed is not None else int.from_bytes(os.urandom(4), "big")
    with Diary(diary_file()) as diary, Laboratory(entries) as lab:
        study = Study(
            entries,
            diary,
            desk,
            lambda: datetime.now(UTC),
            lang=lang,
            queue=lambda cards: queue(cards, number),
            read=shelves.question,
            prove=lab.prove,
            show=lab.show,
            answer_in=answer_in,
            runs=runs,
            greeting=lambda cards: _foundations(shelves, topics, cards, lang),
            myths=shelves.myths(),
            before=before,
        )
        if done and not study.left:
            tell(say(done[0], lang, **done[1]))
            return
        if places:
            mark = SessionEvent(
                device=diary.device,
                at=datetime.now(UTC),
                session=study.session,
                name=PLACEMENT,
                note={},
            )
            diary.log(mark)
        lab.warm_soon()
        try:
            study.run()
        except KeyboardInterrupt:
            tell(say("study.left", study.lang, command=command), err=True)
            raise typer.Exit(INTERRUPTED) from None


def _foundations(
    shelves: "Library", topics: Sequence[str], cards: "Mapping[str, Card]", lang: "Lang"
) -> "Note | None":
    """Name the topics that these rest on and the learner has hardly met."""
    from quizkit.tutor.lineup import HELD
    from quizkit.words import listed

    known = shelves.topics()
    needs = {need for topic in topics for need in known[topic].needs} - {*topics}
    held = {name.split("/")[0] for name, card in cards.items() if card.stability >= HELD}
    missing = sorted(need for need in needs - held if need in known)
    if not missing:
        return None
    named = listed((f"{known[each].title[lang]} ({each})" for each in missing), lang)
    return "study.foundations", {"topics": named, "first": missing[0]}
