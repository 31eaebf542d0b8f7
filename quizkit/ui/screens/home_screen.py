"""`quizkit` alone: where the learner is, how strong each topic is, and the next useful thing."""

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from quizkit.tutor.home import Home
from quizkit.tutor.tally import Tally
from quizkit.ui.screens.parts import footer, rule, short
from quizkit.words import Lang, say

_BAR = 10
_FILL, _REST = "#", "."  # one column wide in every font


class HomePage:
    """The home screen in one language, in three parts; `warning` stands above all of it."""

    def __init__(
        self, home: Home, titles: Mapping[str, str], myth: str, warning: str, lang: Lang
    ) -> None:
        self._home, self._titles, self._myth, self._warning = home, titles, myth, warning
        self.lang: Lang = lang

    def head(self) -> list[RenderableType]:
        """Return the part that is always seen: a warning if questions are missing."""
        return [Text(self._warning, "bold", overflow="fold"), Text("")] if self._warning else []

    def body(self, width: int) -> list[RenderableType]:
        """Draw the facts, what is believed, and the topics, a line each."""
        lang = self.lang
        parts: list[RenderableType] = [
            Text("  ·  ".join(facts(self._home, lang)), "bold", overflow="fold")
        ]
        if belief := self._home.belief:
            told = say("home.belief", lang, times=belief.times, myth=self._myth)
            parts.append(short(Text(told), 2 * width - 2))
        return [*parts, rule(say("home.topics", lang)), *self._rows(width)]

    def foot(self) -> list[RenderableType]:
        """Return the last lines: what Enter does, and the keys."""
        step = say(f"home.step_{self._home.step}", self.lang)
        enter = Text.assemble(("Enter", "bold"), f"  {step}")
        return [Text(), enter, footer("home", self.lang, 0, without=("next",))]

    def _rows(self, width: int) -> Iterator[Text]:
        topics = self._home.topics
        names = max((cell_len(each) for each in topics), default=0)
        counts = max((cell_len(_count(each, self.lang)) for each in topics.values()), default=0)
        room = width - names - _BAR - counts - 3 * 2
        for topic, tally in topics.items():
            title = short(Text(self._titles.get(topic, "")), room).plain
            title += " " * (room - cell_len(title))
            count = _count(tally, self.lang)
            yield Text.assemble(
                (f"{topic}{' ' * (names - cell_len(topic))}", "bold"),
                f"  {title}  ",
                (_bar(tally), "cyan" if tally.met else "dim"),
                f"  {' ' * (counts - cell_len(count))}{count}",
                no_wrap=True,
            )


def facts(home: Home, lang: Lang) -> Sequence[str]:
    """List the level, the days that are left, and today's load."""
    level = say(f"ui.level_{home.level}" if home.level else "home.unplaced", lang)
    days = [] if home.days is None else [say("home.days", lang, days=home.days)]
    counts = {"reviews": home.reviews, "new": home.new, "minutes": home.minutes}
    load = "today" if home.days is None else "today_minutes"
    load = load if home.reviews or home.new else "done"
    return [level, *days, say(f"home.{load}", lang, **counts)]


def topic_lines(home: Home, titles: Mapping[str, str], lang: Lang) -> Iterator[str]:
    """Yield the topics without a picture: a line each."""
    width = max((cell_len(each) for each in home.topics), default=0)
    counts = max((len(_count(each, lang)) for each in home.topics.values()), default=0)
    for topic, tally in home.topics.items():
        count = f"{_count(tally, lang):>{counts}}"
        yield f"  {topic:{width}}  {count}  {titles.get(topic, '')}".rstrip()


def _count(tally: Tally, lang: Lang) -> str:
    remembered = f"{tally.remembered:.0f}"
    return say("home.topic", lang, remembered=remembered, questions=tally.questions)


def _bar(tally: Tally) -> str:
    """Draw a bar of what is remembered; half a question and more is seen at least."""
    filled = round(_BAR * tally.remembered / tally.questions) if tally.questions else 0
    filled = max(filled, 1 if tally.remembered >= 0.5 else 0)
    return _FILL * filled + _REST * (_BAR - filled)
