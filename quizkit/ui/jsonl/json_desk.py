"""A desk that speaks JSON lines both ways: a front end, an agent or a test sits at it.

Out, one object a line:

    {"ask": {id, kind, prompt, options, ...}}
    {"verdict": {uuid, question, right, ...}}   the answer is on disk
    {"hint": ...} {"why": ...} {"say": ...} {"proof": report, "claims": ...} {"sure": ...}
    {"page": {title, text, number, total,       an idea of a course, before the question about it;
              picture, schedule}}               the report of a kept run, where there is one
    {"message": {key, text}}                    something was undone, flagged, ...
    {"error": {key, text}}                      this line was not understood; nothing happened
    {"end": {answered, right, ...}}

In: {"answer": ...}, null for "I do not know", with `seconds` and `sure` if known; or
{"command": "hint|prove|why|say|toggle|undo|skip|sure|flag|grade|right|quit"}, with `value` for a
grade or a flag. The next question follows its predecessor's verdict at once; `prove`, `why`, `say`,
`grade` and `right` are about the last verdict. The end of the input ends the session.

Each line in has one line out that answers it, an error where it led to nothing; only blank lines
are passed over.
"""

import json
import math
import os
import select
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO, cast, get_args

from quizkit.near import nearest
from quizkit.tutor.desk import Command, CommandName, Given, Moment, Page, Summary
from quizkit.ui.jsonl.json_parts import (
    Json,
    ask_json,
    end_json,
    hint_json,
    note_json,
    proof_json,
    verdict_json,
    why_json,
)
from quizkit.words import Lang

_COMMANDS = tuple(name for name in get_args(CommandName) if name not in ("help", "assume", "full"))
# What the session has to say by itself; every other message answers a line that led to nothing.
_NEWS = (
    "study.again",
    "study.unsent",
    "study.leech",
    "study.run_next",
    "study.ahead",
    "study.foundations",
    "study.gone",
    "study.undone",
    "study.unskipped",
    "study.flagged",
    "study.unflagged",
    "study.you_were_right",
)


_LONGEST = 1 << 20
"""Bytes of a line."""
_LONG_TIME = 10**6
"""Seconds that an answer may have taken: eleven days."""


class _LongLineError(Exception):
    """A line that was not kept."""


class _Lines:
    """Lines from a descriptor, with a time to wait for the next one."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = bytearray()
        self._looked = 0  # so far there is no end of a line in it
        self._dropped = False
        self._ended = False

    def next(self, patience: float | None = None) -> bytes | None:
        """The next line, or None at the end.

        Raises TimeoutError if none came in time, and _LongLineError in place of one too long.
        """
        while (end := self._rest.find(b"\n", self._looked)) < 0 and not self._ended:
            self._looked = len(self._rest)
            if self._looked > _LONGEST:
                self._take(self._looked)
                self._dropped = True
            if not select.select([self._descriptor], [], [], patience)[0]:
                raise TimeoutError
            more = os.read(self._descriptor, 65536)
            self._rest += more
            self._ended = not more
        ended = end < 0
        line = self._take(len(self._rest) if ended else end + 1).removesuffix(b"\n")
        dropped, self._dropped = self._dropped, False
        if dropped or len(line) > _LONGEST:
            raise _LongLineError
        return None if ended and not line else line

    def _take(self, size: int) -> bytes:
        taken, self._looked = bytes(self._rest[:size]), 0
        del self._rest[:size]
        return taken


class JsonDesk:
    """Reads a descriptor. After the last verdict it waits a moment for one more command."""

    interactive = False

    def __init__(self, source: int, sink: BinaryIO, patience: float = 1.0) -> None:
        self._lines = _Lines(source)
        self._sink = sink
        self._patience = patience
        self._asked: Moment | None = None
        self._judged: dict[str, Moment] = {}
        self._lang: Lang = "en"
        self._owed = False  # whether the last line still waits for its reply

    def meet(self, moment: Moment) -> Given | Command:
        """Say what is new, then wait for a line."""
        self._lang = moment.lang
        if moment.message:
            word = "message" if moment.message[0] in _NEWS else "error"
            self._say({word: note_json(moment.message, moment.lang)})
        for news in self._question(moment) if moment.phase == "question" else self._verdict(moment):
            self._say(news)
        if moment.phase == "question":
            if self._owed:
                self._refuse("nothing")
            return self._read()
        waiting = self._asked is not None
        if waiting or moment.number != moment.total:
            return Command("continue")
        if self._owed:
            self._refuse("nothing")
        try:
            return self._read(self._patience)
        except TimeoutError:
            return Command("continue")

    def busy(self, text: str) -> AbstractContextManager[object]:
        """Show nothing: the report follows."""
        return nullcontext()

    def read(self, page: Page) -> Command:
        """Say the page and go on."""
        lang = page.lang
        told = [page.text, page.news] if page.news else [page.text]
        text = "\n\n".join(each[lang].strip() for each in told)
        said: Json = {"title": page.title[lang], "text": text}
        if page.total:
            said |= {"number": page.number, "total": page.total}
        if page.picture:
            said |= {"picture": page.picture.to_json(), "schedule": page.schedule}
        self._say({"page": said})
        return Command("continue")

    def end(self, summary: Summary) -> None:
        """Write the last line: the summary of the session."""
        self._say({"end": end_json(summary)})

    def _question(self, moment: Moment) -> Iterator[Json]:
        before, self._asked = self._asked, moment
        if before is None or before.asked is not moment.asked or before.lang != moment.lang:
            yield {"ask": ask_json(moment)}
            return
        if moment.hints_shown > before.hints_shown:
            yield {"hint": hint_json(moment)}
        if moment.sure is not before.sure:
            yield {"sure": moment.sure}

    def _verdict(self, moment: Moment) -> Iterator[Json]:
        before = self._judged.get(moment.uuid)
        self._judged[moment.uuid] = moment
        if self._asked and self._asked.asked is moment.asked:
            self._asked = None
        if before is None or before.lang != moment.lang:
            yield {"verdict": verdict_json(moment)}
        if before is None:
            return
        if moment.why != before.why:
            yield {"why": why_json(moment)}
        if moment.say != before.say:
            words = moment.question.say or moment.question.explain
            text = moment.asked.fill(words, moment.lang).strip()
            yield {"say": {"question": moment.question.id, "text": text}}
        if moment.proof and moment.proof is not before.proof:
            yield {**proof_json(moment.proof, moment.lang), "question": moment.question.id}

    def _read(self, patience: float | None = None) -> Given | Command:
        while True:
            try:
                line = self._lines.next(patience)
            except _LongLineError:
                self._refuse("long", limit=f"{_LONGEST:,}")
                continue
            if line is None:
                return Command("quit")
            if not line.strip():
                continue
            try:
                said = json.loads(line, parse_float=_finite, parse_constant=_finite)
            except (ValueError, RecursionError) as error:
                self._refuse("json", reason=str(error))
                continue
            reply = self._reply(cast("Json", said)) if isinstance(said, dict) else None
            if reply:
                self._owed = True
                return reply
            if not isinstance(said, dict):
                self._refuse("json", reason="an object is expected, one a line")

    def _reply(self, said: Json) -> Given | Command | None:
        """Read what a line asks for; None after saying what is wrong with it."""
        open_ = self._asked is not None
        if "answer" in said and not open_:
            self._refuse("no_question")
        elif "answer" in said:
            return self._given(said)
        elif "command" not in said:
            self._refuse("neither", keys=", ".join(map(str, said)))
        elif said["command"] not in _COMMANDS:
            name = str(said["command"])
            self._refuse("command", name=name, hint=nearest(name, _COMMANDS))
        elif said["command"] == "continue" and open_:
            self._refuse("nothing")  # the session went on by itself; it is not an answer
        elif said["command"] == "grade" and not _is_grade(said.get("value")):
            self._refuse("grade")
        else:
            return Command(said["command"], said.get("value"))
        return None

    def _given(self, said: Json) -> Given | None:
        seconds, sure = said.get("seconds"), said.get("sure")
        timed = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and not (timed and 0 <= seconds <= _LONG_TIME):
            self._refuse("seconds", most=_LONG_TIME)
        elif sure is not None and not isinstance(sure, bool):
            self._refuse("sure")
        else:
            return Given(said["answer"], seconds, sure)
        return None

    def _refuse(self, key: str, **values: Any) -> None:
        self._say({"error": note_json((f"study.line_{key}", values), self._lang)})

    def _say(self, said: Json) -> None:
        text = json.dumps(said, ensure_ascii=False, allow_nan=False)
        # Half a character may come in; it does not go out.
        self._sink.write(text.encode(errors="replace") + b"\n")
        self._sink.flush()
        self._owed = False


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):  # NaN and Infinity are no JSON; 1e999 could not be written again
        raise ValueError(text)
    return number


def _is_grade(value: object) -> bool:
    return type(value) is int and 1 <= value <= 4
