"""`quizkit` alone: where the learner is, how strong each topic is, and the next useful thing."""

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from quizkit.tutor.home import Home
from quizkit.tutor.tally import Tally
from quizkit.ui.screens.parts import footer, rule, short
from quizkit.words import Lang, say

_BAR = 10
_FILL, _REST = "#", "."  # one column wide in every font


class HomeScreen:
    """As high as the terminal at most: of topics as many as there is room for."""

    def __init__(self, home: Home, titles: Mapping[str, str], myth: str, lang: Lang) -> None:
        self._home, self._titles, self._myth = home, titles, myth
        self._lang: Lang = lang

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Facts, what is believed, the topics, what Enter does, the keys."""
        lang = self._lang
        enter = Text.assemble(("Enter", "bold"), f"  {say(f'home.step_{self._home.step}', lang)}")
        above = Group(*self._above(options.max_width), rule(say("home.topics", lang)))
        below = Group(Text(), enter, footer("home", lang, 0, without=("next",)))
        taken = sum(len(console.render_lines(each, options)) for each in (above, below))
        yield above
        yield from self._rows(options.max_width, console.height - taken - 1)
        yield below

    def _above(self, width: int) -> Iterator[Text]:
        yield Text("  ·  ".join(facts(self._home, self._lang)), "bold", overflow="fold")
        if belief := self._home.belief:
            told = say("home.belief", self._lang, times=belief.times, myth=self._myth)
            yield short(Text(told), 2 * width - 2)

    def _rows(self, width: int, room: int) -> Iterator[Text]:
        topics = self._home.topics
        shown = [*topics] if len(topics) <= room else [*topics][: max(0, room - 1)]
        names = max((cell_len(each) for each in topics), default=0)
        counts = max((cell_len(_count(each, self._lang)) for each in topics.values()), default=0)
        for topic in shown:
            tally = topics[topic]
            title = short(
                Text(self._titles.get(topic, "")), width - names - _BAR - counts - 3 * 2
            ).plain
            title += " " * (width - names - _BAR - counts - 3 * 2 - cell_len(title))
            count = _count(tally, self._lang)
            yield Text.assemble(
                (f"{topic}{' ' * (names - cell_len(topic))}", "bold"),
                f"  {title}  ",
                (_bar(tally), "cyan" if tally.met else "dim"),
                f"  {' ' * (counts - cell_len(count))}{count}",
                no_wrap=True,
            )
        if left := len(topics) - len(shown):
            yield Text(say("home.more_topics", self._lang, count=left), "dim")


def facts(home: Home, lang: Lang) -> Sequence[str]:
    """The level, the days that are left, and today's load."""
    level = say(f"ui.level_{home.level}" if home.level else "home.unplaced", lang)
    days = [] if home.days is None else [say("home.days", lang, days=home.days)]
    counts = {"reviews": home.reviews, "new": home.new, "minutes": home.minutes}
    load = "today" if home.days is None else "today_minutes"
    load = load if home.reviews or home.new else "done"
    return [level, *days, say(f"home.{load}", lang, **counts)]


def topic_lines(home: Home, titles: Mapping[str, str], lang: Lang) -> Iterator[str]:
    """The topics without a picture: a line each."""
    width = max((cell_len(each) for each in home.topics), default=0)
    counts = max((len(_count(each, lang)) for each in home.topics.values()), default=0)
    for topic, tally in home.topics.items():
        count = f"{_count(tally, lang):>{counts}}"
        yield f"  {topic:{width}}  {count}  {titles.get(topic, '')}".rstrip()


def _count(tally: Tally, lang: Lang) -> str:
    remembered = f"{tally.remembered:.0f}"
    return say("home.topic", lang, remembered=remembered, questions=tally.questions)


def _bar(tally: Tally) -> str:
    """What is there at all can be seen."""
    filled = round(_BAR * tally.remembered / tally.questions) if tally.questions else 0
    filled = max(filled, 1 if tally.remembered >= 0.5 else 0)
    return _FILL * filled + _REST * (_BAR - filled)
