"""`quizkit` alone: where the learner is, how strong each topic is, and the next useful thing."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from quizkit.tutor.home import Home
from quizkit.tutor.tally import Tally
from quizkit.ui.screens.parts import footer, rule, short
from quizkit.words import Lang, say

_BAR = 10
_TITLED = 80  # columns from which on a topic has a line and its title,
_MOST = 18  # if there are no more than these: with what stands around them, 24 lines
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
        if told := practice_told(self._home, lang):
            parts.append(Text(told, overflow="fold"))
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
        """A topic a line; two, without their titles, in narrow terminals or of many topics."""
        topics = [*self._home.topics]
        if width >= _TITLED and len(topics) <= _MOST:
            yield from (self._row(topic, width) for topic in topics)
            return
        half = (width - 2) // 2
        under = -(-len(topics) // 2)
        for left, right in zip_longest(topics[:under], topics[under:]):
            row = self._row(left, half)
            yield row.append("  ").append_text(self._row(right, half)) if right else row

    def _row(self, topic: str, width: int) -> Text:
        topics = self._home.topics
        names = max(map(cell_len, topics))
        counts = max(cell_len(_count(each, self.lang)) for each in topics.values())
        count = _count(topics[topic], self.lang)
        room = width - names - _BAR - counts - 3 * 2
        row = Text(no_wrap=True).append(f"{topic}{' ' * (names - cell_len(topic))}  ", "bold")
        bar = _BAR
        if room > 0:
            title = short(Text(self._titles.get(topic, "")), room).plain
            row.append(f"{title}{' ' * (room - cell_len(title))}  ")
        else:
            bar += room + 2  # no title, nor the blanks behind it
        row.append(_bar(topics[topic], bar), "cyan" if topics[topic].met else "dim")
        return row.append(f"  {' ' * (counts - cell_len(count))}{count}")


def facts(home: Home, lang: Lang) -> Sequence[str]:
    """List the level, the days that are left, and today's load."""
    level = say(f"ui.level_{home.level}" if home.level else "home.unplaced", lang)
    days = [] if home.days is None else [say("home.days", lang, days=home.days)]
    counts = {"reviews": home.reviews, "new": home.new, "minutes": home.minutes}
    load = "today" if home.days is None else "today_minutes"
    load = load if home.reviews or home.new else "done"
    return [level, *days, say(f"home.{load}", lang, **counts)]


def practice_told(home: Home, lang: Lang) -> str:
    """Say what an interview of late left to practise today; nothing where that is nothing."""
    if not home.practice:
        return ""
    found = home.practice
    told = {"date": f"{found.held:%m-%d}", "day": found.day, "count": len(found.questions)}
    return say("home.practice", lang, **told)


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


def _bar(tally: Tally, long: int) -> str:
    """Draw a bar of what is remembered; half a question and more is seen at least."""
    filled = round(long * tally.remembered / tally.questions) if tally.questions else 0
    filled = max(filled, 1 if tally.remembered >= 0.5 else 0)
    return _FILL * filled + _REST * (long - filled)
