"""A small session for a pseudo-terminal: the real desk, hand-made questions, real grading.

Run as a script: what it decides goes to the file named first, one JSON line a meeting.
"""

import argparse
import json
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import shelf

from quizkit.bank.entry import entry
from quizkit.diary import Diary
from quizkit.tutor.desk import Command, Given, Moment, Summary
from quizkit.tutor.grade import grade
from quizkit.tutor.verdict import UnreadableError
from quizkit.ui.terminal.desks import desk
from quizkit.words import Lang, other


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("log", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--lang", default="en")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--busy", action="store_true", help="hold a run before each verdict")
    parser.add_argument("--study", action="store_true", help="the real session, a real diary")
    options = parser.parse_args()
    if options.study:
        return study(options)
    session = Session(options)
    try:
        for number, name in enumerate(options.names, 1):
            if not session.question(name, number):
                break
    except KeyboardInterrupt:
        session.write(interrupted=True)
        return 130
    session.end()
    return 0


def study(options: argparse.Namespace) -> int:
    """The session that people have, over the shelf."""
    from quizkit.tutor.lineup import today
    from quizkit.tutor.queue import Queue
    from quizkit.tutor.study import Study

    known = shelf.questions()
    entries = [entry(known[name]) for name in options.names]
    with Diary(options.log) as diary:
        try:
            Study(
                entries,
                diary,
                desk(options.lang, options.plain),
                lambda: datetime.now(UTC),
                lang=options.lang,
                queue=lambda cards: Queue(entries, today(entries, cards, datetime.now(UTC), 1), 1),
                read={question.id: question for question in known.values()}.get,
                prove=lambda asked, _: shelf.proof(asked),
                show=shelf.code,
            ).run()
        except KeyboardInterrupt:
            return 130
    return 0


class Session:
    """As little of a study session as shows a desk at work."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.lang: Lang = "zh" if options.lang == "zh" else "en"
        self.desk = desk(options.lang, options.plain)
        self.right = self.answered = 0

    def write(self, **what: object) -> None:
        with self.options.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(what, ensure_ascii=False, default=str) + "\n")

    def question(self, name: str, number: int) -> bool:
        total = len(self.options.names)
        moment = Moment("question", shelf.asked(name), self.lang, number, total)
        while True:
            said = self.desk.meet(moment)
            moment = replace(moment, message=None)
            if isinstance(said, Given):
                try:
                    verdict = grade(moment.asked, said.value)
                except UnreadableError as error:
                    moment = replace(moment, message=error.note, draft=said.value)
                    continue
                self.write(given=said.value, right=verdict.right)
                self.answered += 1
                self.right += verdict.right
                if self.options.busy:
                    self.run()
                return self.verdict(
                    replace(moment, phase="verdict", given=said.value, verdict=verdict, grade=3)
                )
            self.write(command=said.name, value=said.value)
            if said.name in ("quit", "continue", "skip"):
                return said.name != "quit"
            moment = self.changed(replace(moment, draft=said.draft), said)

    def verdict(self, moment: Moment) -> bool:
        while True:
            said = self.desk.meet(moment)
            assert isinstance(said, Command)
            self.write(command=said.name, value=said.value)
            if said.name in ("quit", "continue"):
                return said.name == "continue"
            moment = self.changed(moment, said)

    def changed(self, moment: Moment, said: Command) -> Moment:
        match said.name:
            case "toggle":
                self.lang = other(moment.lang)
                return replace(moment, lang=self.lang)
            case "hint":
                return replace(moment, hints_shown=min(2, moment.hints_shown + 1))
            case "assume":
                return replace(moment, unfolded=not moment.unfolded)
            case "sure":
                return replace(moment, sure=not moment.sure)
            case "flag":
                return replace(moment, flagged=True)
            case "why":
                return replace(moment, why=True)
            case "say":
                return replace(moment, say=True)
            case "grade":
                assert isinstance(said.value, int)
                return replace(moment, grade=said.value)
            case "full":
                return replace(moment, full=not moment.full)
            case "prove":
                return replace(moment, proof=shelf.proof(moment.asked))
            case _:
                return moment

    def run(self) -> None:
        """Something that lasts until it is interrupted, or told that it is done."""
        try:
            with self.desk.busy("running pipeline"):
                self.write(busy=True)
                while not self.options.log.with_suffix(".go").exists():
                    time.sleep(0.05)
        except KeyboardInterrupt:
            self.write(cancelled=True)

    def end(self) -> None:
        self.desk.end(Summary(self.answered, self.right, 0, 90.0, (), {}, 0, None, self.lang))


if __name__ == "__main__":
    sys.exit(main())
