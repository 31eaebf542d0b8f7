"""The home screen on a low terminal: every topic can be reached, and the warning stays."""

import io

from rich.console import Console

from quizkit.tutor.home import Home
from quizkit.tutor.tally import Tally
from quizkit.ui.screens.home_screen import HomePage
from quizkit.ui.terminal.home_keys import chosen
from quizkit.ui.terminal.screen import Screen
from quizkit.words import Lang

from .pressed import Pressed

TOPICS = {f"topic{number:02}": Tally(questions=4) for number in range(20)}
HOME = Home(
    level=2, days=None, minutes=30, reviews=3, new=2, topics=TOPICS, belief=None, begun=True
)
WARNING = "3 files cannot be read"


def screens(*keys: str, height: int = 14, warning: str = WARNING) -> list[str]:
    """What was painted, one after the other, until `q`."""
    out = io.StringIO()
    console = Console(file=out, width=80, height=height, force_terminal=False)

    def drawn(lang: Lang) -> HomePage:
        return HomePage(HOME, {}, "", warning, lang)

    assert chosen(Screen(console), Pressed([*keys, "q"]), "en", drawn)[0] == "quit"
    return out.getvalue().split("\x1b[H\x1b[2J")[1:]


def test_on_a_low_terminal_topics_scroll_and_what_must_be_seen_stays() -> None:
    seen = screens("end", "k", "home", "pagedown", "pagedown", "pagedown")
    for page in seen:
        assert len(page.rstrip("\n").split("\n")) < 14
        assert page.startswith(WARNING)
        assert "today's questions" in page
        assert "q quit" in page
    first, end, up, home, *_, last = seen
    assert "topic00" in first
    assert "↓ more (" in first
    assert "topic19" in end
    assert "↓" not in end
    assert "↓ more (1 line," in up
    assert (home, last) == (first, end)
    assert all(any(topic in page for page in seen) for topic in TOPICS)


def test_what_fits_says_nothing_of_scrolling() -> None:
    [page] = screens(height=40, warning="")
    assert "more (" not in page
    assert "topic19" in page
