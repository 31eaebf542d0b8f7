"""`quizkit mock --card`, `--history`: scorecards that were given, shown again or taken along."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from quizkit.cli.common import tell

if TYPE_CHECKING:
    from quizkit.bank.reader import Bank
    from quizkit.mock.kept_card import KeptCard, KeptRun
    from quizkit.mock.marks import Mark
    from quizkit.mock.scorecard import Scorecard
    from quizkit.proof.prove import Prover
    from quizkit.words import Lang


def teller(shelf: "Bank") -> "Callable[[Scorecard], dict[str, Any]]":
    """Return the function that writes a scorecard down with all that the bank knows beside it."""
    from quizkit.mock.printed import Beyond, printed

    return lambda card: printed(card, Beyond(shelf.questions, shelf.myths, _runs()))


def _runs() -> "Callable[[Mark], KeptRun | None]":
    """Return the function that finds what a recorded run measured; nothing is ever run."""
    from quizkit.bank.model import Numeric, Trace

    court: list[Prover] = []  # loaded once somebody answered such a question

    def run(mark: "Mark") -> "KeptRun | None":
        from quizkit.errors import QuizkitError
        from quizkit.ui.proof.run_beside import run_beside

        question = mark.question
        if question.proof is None or not isinstance(question, Numeric | Trace):
            return None
        if not court:
            from quizkit.cli.kept import recorded_only

            court.append(recorded_only())
        try:
            proof = court[0].view(question, mark.asked.values, mark.given)
        except QuizkitError:
            return None
        return run_beside(mark, proof)

    return run


def show_card(
    name: str | None,
    lang: "Lang | None",
    *,
    json: bool,
    plain: bool,
    markdown: bool,
    html: Path | None,
) -> None:
    """Show a card, print it as JSON or Markdown, or write it as a page.

    `name` is a session (its beginning will do) or a script; without it, the last card that was
    given. Without `lang` it is in the interview's language.
    """
    from quizkit import safe_file
    from quizkit.words import say

    raw, card = _kept(name)
    lang = lang or card.lang
    if html is not None:
        from quizkit.export.card_html import card_html

        safe_file.write(html, card_html(card, lang))
        tell(say("card.written", lang, file=html), err=True)
    if json:
        print_json(raw)
    elif markdown:
        from quizkit.export.card_markdown import card_markdown
        from quizkit.ui.terminal.console import console

        console()  # what it settles about encodings holds for plain text too
        typer.echo(card_markdown(card, lang), nl=False)
    elif html is None:
        draw_card(card, lang, plain)


def draw_card(card: "KeptCard", lang: "Lang", plain: bool) -> None:
    """Show a card: page by page where somebody is there to turn them, else all of it."""
    from quizkit.ui.mock.scorecard_screen import scorecard_screen
    from quizkit.ui.terminal.console import console, is_plain
    from quizkit.ui.terminal.keys import Keyboard
    from quizkit.ui.terminal.paging import read_through
    from quizkit.ui.terminal.screen import Screen
    from quizkit.words import say

    seen = sys.stdout.isatty()
    flat = is_plain(plain)
    screen = Screen(console(flat))
    drawn = scorecard_screen(card, lang, flat or not seen)
    if not (seen and sys.stdin.isatty()) or flat:
        screen.add("", drawn)
        return
    read_through(screen, Keyboard(), [drawn], lang)
    verdict = say("card.passed" if card.verdict == "pass" else "card.failed", lang)
    overall = say("card.of", lang, score=f"{card.overall:.2f}", best=f"{card.best:g}")
    tell(f"\n{card.title[lang]}  {verdict}  {overall}")
    tell(say("card.again_how", lang))


def _kept(name: str | None) -> "tuple[dict[str, Any], KeptCard]":
    """The card of that name, as it lies in the diary and as a noun."""
    from quizkit.diary import Diary
    from quizkit.errors import UsageError
    from quizkit.mock.readback import read_card
    from quizkit.mock.sitting import sittings
    from quizkit.paths import diary_file

    with Diary(diary_file()) as diary:
        ended = [each for each in sittings(diary) if each.card is not None]
    if name is not None:
        those = [each for each in ended if each.script == name]
        ended = those or [each for each in ended if each.session.startswith(name)]
    if not ended:
        raise UsageError("mock_no_card", name=name) if name else UsageError("mock_no_cards")
    raw = dict(ended[0].card or {})
    card = read_card(raw)
    if card is None:
        raise UsageError("mock_card_unread", name=ended[0].session[:8])
    return raw, card


def show_history(lang: "Lang", json: bool) -> None:
    """List the interviews so far, and what changed from one attempt to the next."""
    from quizkit.diary import Diary
    from quizkit.mock.attempts import attempts
    from quizkit.mock.sitting import sittings
    from quizkit.paths import diary_file
    from quizkit.ui.mock.history_screen import history_screen
    from quizkit.ui.terminal.console import console
    from quizkit.ui.terminal.screen import Screen

    with Diary(diary_file()) as diary:
        every = sittings(diary)
    found = attempts(every)
    if not json:
        Screen(console()).add(history_screen(found, lang))
        return
    from quizkit.mock.readback import written

    rows = [{**written(each), "at": each.at.isoformat(timespec="seconds")} for each in found]
    cards = [each.card for each in every if each.card is not None]
    print_json({"schema": "quizkit/scorecards/2", "attempts": rows, "scorecards": cards})


def print_json(what: dict[str, Any]) -> None:
    """Print one JSON object."""
    import json

    typer.echo(json.dumps(what, ensure_ascii=False))
