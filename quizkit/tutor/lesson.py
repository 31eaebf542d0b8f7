"""A topic told idea by idea: each is read, with its picture, before the question about it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from quizkit.bank.model import Text
from quizkit.tutor.desk import Desk, Page
from quizkit.tutor.turns import Turn
from quizkit.words import Lang, other


class Lesson:
    """The pages of a course and the questions they belong to.

    `pages` come in reading order, `asks` say of each which question follows it; without them all
    pages come first. `opening` is said with whatever page is the first.
    """

    def __init__(
        self, desk: Desk, title: Text, pages: Sequence[Page], asks: Sequence[str], opening: Text
    ) -> None:
        self._desk = desk
        self._title = title
        self._pages = [
            replace(page, back=number > 0, number=number + 1, total=len(pages))
            for number, page in enumerate(pages)
        ]
        self._of: Mapping[str, int] = {name: number for number, name in enumerate(asks)}
        self._opening: Text | None = opening

    def before(self, turn: Turn, lang: Lang) -> Lang | None:
        """Have read what comes before a question.

        The language it was left in, or None where the learner leaves.
        """
        opening, self._opening = self._opening, None
        if turn.question in self._of and not turn.repeat:
            first = last = self._of[turn.question]
        elif opening and not self._of and self._pages:
            first, last = 0, len(self._pages) - 1
        elif opening:
            return self._read(Page(self._title, opening, lang))[1]
        else:
            return lang
        at, spoken = first, lang
        while at <= last:
            page = self._pages[at]
            if at == first and opening:
                page = replace(page, news=opening)
            step, left = self._read(replace(page, lang=spoken))
            if left is None:
                return None
            at, spoken = at + step, left
        return spoken

    def _read(self, page: Page) -> tuple[int, Lang | None]:
        """Have it read: how many pages on, and in which language; None where one leaves."""
        while True:
            match self._desk.read(page).name:
                case "toggle":
                    page = replace(page, lang=other(page.lang))
                case "quit":
                    return 0, None
                case "undo" if page.back:
                    return -1, page.lang
                case _:
                    return 1, page.lang
