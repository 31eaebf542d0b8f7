"""A desk that speaks JSON lines both ways: a front end, an agent or a test sits at it.

Out, one object a line:

    {"ask": {id, kind, prompt, options, ...}}
    {"verdict": {uuid, question, right, ...}}   the answer is on disk
    {"hint": ...} {"why": ...} {"say": ...} {"proof": report, "claims": ...} {"sure": ...}
    {"page": {title, text}}                     what a course begins with
    {"message": {key, text}}                    something was undone, flagged, ...
    {"error": {key, text}}                      this line was not understood; nothing happened
    {"end": {answered, right, ...}}

In: {"answer": ...}, null for "I do not know", with `seconds` and `sure` if known; or
{"command": "hint|prove|why|say|toggle|undo|skip|sure|flag|grade|right|quit"}, with `value` for a
grade or a flag. The next question follows its predecessor's verdict at once; `prove`, `why`, `say`,
`grade` and `right` are about the last verdict. The end of the input ends the session.
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
from quizkit.ui.json_parts import (
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

_COMMANDS = tuple(name for name in get_args(CommandName) if name != "help")
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


class _Lines:
    """Lines from a descriptor, with a time to wait for the next one."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""
        self._ended = False

    def next(self, patience: float | None = None) -> bytes | None:
        """The next line, or None at the end. Raises TimeoutError if none came in time."""
        while b"\n" not in self._rest and not self._ended:
            if not select.select([self._descriptor], [], [], patience)[0]:
                raise TimeoutError
            more = os.read(self._descriptor, 65536)
            self._rest += more
            self._ended = not more
        line, _, self._rest = self._rest.partition(b"\n")
        return line if line or self._rest or not self._ended else None


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

    def meet(self, moment: Moment) -> Given | Command:
        """Say what is new, then wait for a line."""
        self._lang = moment.lang
        if moment.message:
            word = "message" if moment.message[0] in _NEWS else "error"
            self._say({word: note_json(moment.message, moment.lang)})
        for news in self._question(moment) if moment.phase == "question" else self._verdict(moment):
            self._say(news)
        if moment.phase == "question":
            return self._read()
        waiting = self._asked is not None
        if waiting or moment.number != moment.total:
            return Command("continue")
        try:
            return self._read(self._patience)
        except TimeoutError:
            return Command("continue")

    def busy(self, text: str) -> AbstractContextManager[object]:
        """Nothing to show: the report follows."""
        return nullcontext()

    def read(self, page: Page) -> Command:
        """Say it and go on."""
        lang = page.lang
        self._say({"page": {"title": page.title[lang], "text": page.text[lang].strip()}})
        return Command("continue")

    def end(self, summary: Summary) -> None:
        """The last line."""
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
            yield {**proof_json(moment.proof), "question": moment.question.id}

    def _read(self, patience: float | None = None) -> Given | Command:
        while True:
            line = self._lines.next(patience)
            if line is None:
                return Command("quit")
            if not line.strip():
                continue
            try:
                said = json.loads(line)
            except (ValueError, RecursionError) as error:
                self._refuse("json", reason=str(error))
                continue
            reply = self._reply(cast("Json", said)) if isinstance(said, dict) else None
            if reply:
                return reply
            if not isinstance(said, dict):
                self._refuse("json", reason="an object is expected, one a line")

    def _reply(self, said: Json) -> Given | Command | None:
        """What a line asks for; None after saying what is wrong with it."""
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
            pass  # the session went on by itself; it is not an answer
        else:
            return Command(said["command"], said.get("value"))
        return None

    def _given(self, said: Json) -> Given | None:
        seconds, sure = said.get("seconds"), said.get("sure")
        timed = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and not (timed and 0 <= seconds < math.inf):
            self._refuse("seconds")
        elif sure not in (None, True, False):
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
