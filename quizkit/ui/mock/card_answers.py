"""Tell one answer of an interview: its name, in a line or two what it shows, and all of it."""

import re
from collections.abc import Iterator, Sequence

from quizkit.bank import model
from quizkit.bank.script import BEST
from quizkit.mock.first_words import cut
from quizkit.mock.kept_card import KeptAnswer, KeptRun
from quizkit.mock.timer import lasted
from quizkit.ui.mock.card_parts import Reply, ReplyRow, Tone
from quizkit.words import Lang, say

_SIGN = re.compile(r"[\\`*$\[\]<>]")
_TITLE, _WHOLE = 40, 80
_GIST = 120  # columns of an answer's words where they are only evidence


def answer_name(answer: KeptAnswer, lang: Lang, columns: int = _TITLE) -> str:
    """Return the name of a step: its number, and how its question begins."""
    title = cut(answer.title[lang] or answer.station, columns)
    if not answer.number:
        return title
    number = answer_number(answer, lang)
    return say("card.name", lang, number=number, title=title)


def answer_number(answer: KeptAnswer, lang: Lang) -> str:
    """Return the number of a step as it was put: a follow-up has that of its station."""
    key = "card.number_probe" if answer.probe else "card.number"
    return say(key, lang, number=answer.number)


def gist(answer: KeptAnswer, lang: Lang) -> Iterator[str]:
    """Yield what decided about an answer, the rest counted: all of it is told further down."""
    if only_hints(answer):
        yield _hint_cost(answer, "card.only_hint", lang)
        return
    if answer.expected is not None and not answer.missed and not answer.hit:
        pair = {"given": _brief(answer.yours[lang]), "wanted": _brief(answer.expected[lang])}
        yield say("card.gist_right" if answer.right else "card.gist_wrong", lang, **pair)
    else:
        yield from _points(answer, lang)
    if answer.hints and answer.worth > answer.score:
        yield _hint_cost(answer, "card.hint_too", lang)


def only_hints(answer: KeptAnswer) -> bool:
    """Tell whether an answer was right and lost only by its hints."""
    return answer.worth >= 1 and answer.hints > 0


def _hint_cost(answer: KeptAnswer, key: str, lang: Lang) -> str:
    cost = f"{BEST * (answer.worth - answer.score):.3g}"
    return say(key if answer.hints == 1 else f"{key}s", lang, cost=cost, count=answer.hints)


def _points(answer: KeptAnswer, lang: Lang) -> Iterator[str]:
    yield from (say("card.gist_said", lang, says=each[lang]) for each in answer.said)
    if answer.missed:
        told = {"says": answer.missed[0][lang], "count": len(answer.missed)}
        yield say(_counted("card.gist_missed", answer.missed), lang, **told)
    if answer.hit:
        quote = next((each for each in answer.quotes if each), "")
        at = answer.quotes.index(quote) if quote else 0
        told = {"says": answer.hit[at][lang], "count": len(answer.hit)}
        made = say(_counted("card.gist_hit", answer.hit), lang, **told)
        words = say("card.gist_words", lang, quote=_brief(quote)) if quote else ""
        yield made + words


def _counted(key: str, points: Sequence[model.Text]) -> str:
    return key if len(points) == 1 else f"{key}_of"


def card_reply(answer: KeptAnswer, lang: Lang) -> Reply:
    """Return all there is to tell of an answer."""
    tone: Tone = "good" if answer.worth >= 1 else "bad" if answer.worth == 0 else "weak"
    score = f"{answer.score:.0%}" if answer.reached else ""
    rows = [*_rows(answer, lang)]
    return Reply(
        answer_name(answer, lang, _WHOLE), score, tone, tuple(_facts(answer, lang)), tuple(rows)
    )


def _facts(answer: KeptAnswer, lang: Lang) -> Iterator[str]:
    if not answer.reached:
        yield say("card.unreached", lang)
        return
    judge = "no_answer" if answer.judge == "nobody" else f"by_{answer.judge}"
    yield say(f"card.{judge}", lang)
    over = "time_over" if answer.seconds > answer.target else "time_of"
    yield say(f"card.{over}", lang, seconds=lasted(answer.seconds), target=lasted(answer.target))
    if answer.late:
        yield say("card.is_late", lang)
    if answer.hints:
        yield say("card.with_hints", lang, count=answer.hints)
    if answer.sure:
        yield say("card.is_sure", lang)


def _rows(answer: KeptAnswer, lang: Lang) -> Iterator[ReplyRow]:
    def label(key: str) -> str:
        return say(f"card.{key}", lang)

    if answer.yours[lang]:
        own = answer.kind in ("essay", "bug", "numeric", "trace", "cloze", "written")
        yield ReplyRow(label("given"), answer.yours[lang], "", own)
    if not answer.reached:
        if answer.model:
            yield ReplyRow(label("model"), answer.model[lang], "dim")
        return
    if answer.expected is not None and not (answer.right and answer.kind != "numeric"):
        yield ReplyRow(label("expected"), answer.expected[lang], "strong")
    yield from _listed(label("hit"), answer.hit, "good", lang)
    yield from _listed(label("missed"), answer.missed, "weak", lang)
    yield from _listed(label("said"), answer.said, "bad", lang)
    if answer.run:
        agrees: Tone = "" if answer.run.agrees is None else "good" if answer.run.agrees else "bad"
        told = _run(answer.run, answer.question, lang)
        yield ReplyRow(label("run_beside" if answer.run.at else "run_says"), told, agrees)
    if answer.model:
        yield ReplyRow(label("model"), answer.model[lang], "dim")


def _run(run: KeptRun, question: str, lang: Lang) -> str:
    """Tell what a recorded run measured; of other numbers it says so, and what the key is there."""
    if not run.at:
        return say("card.run_recorded", lang, run=run.run[lang], question=question)
    told = say("card.run_other", lang, at=run.at, run=run.run[lang])
    if run.key:
        key = "card.run_other_same" if run.agrees is not None else "card.run_other_key"
        told += say(key, lang, wanted=run.key[lang])
    return told + say("card.run_again", lang, question=question)


def _listed(label: str, texts: Sequence[model.Text], tone: Tone, lang: Lang) -> Iterator[ReplyRow]:
    yield from (ReplyRow(label, each[lang], tone) for each in texts)


def _brief(text: str) -> str:
    """Return somebody's words in one line, cut to a few; nothing in them is markup."""
    return _SIGN.sub(r"\\\g<0>", cut(text, _GIST))
