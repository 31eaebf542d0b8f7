"""`quizkit demo` at a terminal: look through the demos, run one, plant a bug."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from quizkit.cli.common import library
from quizkit.lab.bench import Bench
from quizkit.lab.catalogue import Demo, catalogue
from quizkit.lab.report import Report, Setting
from quizkit.words import Lang


def open_browser(folder: Path | None, shelves: Mapping[str, Sequence[Demo]], lang: Lang) -> None:
    """Show it until the learner leaves."""
    from quizkit.cli.aliases import DEMOS
    from quizkit.cli.demo_run import RANKS, deadline_for
    from quizkit.proof.kept import falling_back, shipped
    from quizkit.ui.screens.demo_browser import Browser
    from quizkit.ui.terminal.browsing import Browsing
    from quizkit.ui.terminal.console import console
    from quizkit.ui.terminal.keys import Keyboard
    from quizkit.ui.terminal.screen import Screen

    demos = catalogue(folder)
    with library([], thorough=False) as bank:
        titles = {slug: each.title for slug, each in bank.topics().items()}
    with Bench(folder) as bench:

        def here(wanted: Setting) -> Report:
            planted = demos[wanted.demo].breaks.get(wanted.broken or "")
            return bench.run(wanted, deadline_for(planted, None))

        run = here if folder else falling_back(here, shipped(demos))
        browser = Browser(shelves, titles, DEMOS, lang)
        Browsing(Screen(console()), Keyboard(), browser, run, RANKS).browse(bench.start)
