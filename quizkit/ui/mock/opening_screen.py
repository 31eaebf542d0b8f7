"""Draw what an interview begins with: its title, the first words, the rules."""

from rich.console import Group, RenderableType
from rich.text import Text

from quizkit.bank.script import BEST
from quizkit.mock.desk import Opening
from quizkit.mock.marks import HINT_COSTS
from quizkit.mock.timer import face
from quizkit.ui.screens.parts import rule
from quizkit.ui.terminal.keymap import chord_name, chords
from quizkit.ui.text.markup import prose
from quizkit.words import say


def opening_screen(opening: Opening, plain: bool, lines: bool) -> RenderableType:
    """Draw the title, the interviewer's first words, the rules."""
    script, lang = opening.script, opening.lang
    rules = say(
        "mock.rules",
        lang,
        questions=len(script.stations),
        minutes=face(opening.minutes * 60),
        pause=face(opening.pause_minutes * 60),
    )
    keys = {command: chord_name(chord) for chord, command in chords("interview").items()}
    asked = say(
        "mock.rules_lines" if lines else "mock.rules_keys",
        lang,
        ask=keys["ask"],
        toggle=keys["toggle"],
    )
    price = say("mock.rules_price", lang, price=f"{HINT_COSTS * BEST:g}", best=f"{BEST:g}")
    if any(step.looks for _, step in script.placed()):
        price += say("mock.rules_looks", lang)
    told = (rules, asked, price, say("mock.silence", lang))
    return Group(
        Text(script.title[lang], "bold", overflow="fold"),
        *([] if plain else [rule()]),
        prose(script.opening[lang], plain),
        Text(""),
        *(Text(each, overflow="fold") for each in told),
    )
