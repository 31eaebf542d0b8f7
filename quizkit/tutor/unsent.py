"""Essays that were begun and not handed in: kept in the diary until the question comes again."""

from dataclasses import replace

from quizkit.answer import Answer, SessionEvent
from quizkit.bank.model import Essay, Question
from quizkit.diary import Diary
from quizkit.errors import DiaryError
from quizkit.tutor.desk import Command, Desk, Given, Interrupted, Moment
from quizkit.tutor.record import Clock

_NAME = "unsent"


class Unsent:
    """The texts written so far, by question. An answer makes what was kept before it past."""

    def __init__(self, diary: Diary, clock: Clock, session: str) -> None:
        self._diary = diary
        self._clock = clock
        self._session = session

    def text(self, question: Question, last: Answer | None) -> str:
        """Return what was begun after the last answer, or nothing."""
        if not isinstance(question, Essay):
            return ""
        kept = [e for e in self._diary.events(name=_NAME) if e.note.get("question") == question.id]
        forgotten = self._diary.forgotten(question.topic)
        if not kept or any(row and row.at >= kept[-1].at for row in (last, forgotten)):
            return ""
        return str(kept[-1].note.get("text", ""))

    def meet(self, desk: Desk, moment: Moment) -> Given | Command:
        """Return what the desk says. When the learner leaves, what was written by then is on disk.

        Where it cannot be, that is said and the learner is asked again; who leaves all the same
        has the text in the message that ends the session.
        """
        told = not desk.interactive
        while True:
            gone: Interrupted | None = None
            try:
                reply = desk.meet(moment)
            except Interrupted as left:
                gone, reply = left, Command("quit", draft=left.unsent, unsent=left.unsent)
            if isinstance(reply, Command) and reply.name in ("quit", "skip"):
                try:
                    self._keep(moment, reply.unsent)
                except DiaryError as error:
                    why = error.message(moment.lang)
                    if told:
                        raise DiaryError("unsent", why=why, text=reply.unsent) from error
                    told = True
                    draft = reply.unsent if reply.draft is None else reply.draft
                    moment = replace(moment, draft=draft, message=("study.unwritten", {"why": why}))
                    continue
            if gone:
                raise gone
            return reply

    def _keep(self, moment: Moment, text: str) -> None:
        question = moment.question
        # An empty text takes back what was kept.
        if isinstance(question, Essay) and text.strip() != self.text(question, moment.before):
            note = {"question": question.id, "text": text.strip()}
            at, device = self._clock(), self._diary.device
            self._diary.log(
                SessionEvent(device=device, at=at, session=self._session, name=_NAME, note=note)
            )
