"""Cards to look at: interviews held in a room, and the card as somebody reads it."""

import json

from rich.console import Console

from quizkit.mock.printed import Beyond, printed
from quizkit.mock.readback import read_card
from quizkit.ui.mock.scorecard_screen import scorecard_screen
from quizkit.words import Lang


def held(room, *steps, ticks=None, beyond=None):
    desk = room.desk(*steps)
    desk.judgements = [ticks] if ticks else []
    interview = room.begin(desk)
    interview._tells = lambda card: printed(card, beyond or Beyond(room.questions))
    assert interview.run() is not None
    card = read_card(json.loads(json.dumps(interview.sitting.card)))
    assert card is not None
    return card


def drawn(card, lang: Lang = "en", width=80, plain=True):
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as shown:
        console.print(scorecard_screen(card, lang, plain))
    return shown.get()
