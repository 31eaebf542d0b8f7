"""Say where the learner stands: sections of lines, bars, tables and lists.

Said once, for the terminal, for plain lines and for the HTML page alike.
"""

from collections.abc import Iterable, Mapping, Sequence

from quizkit.bank.model import KINDS, Text
from quizkit.tutor.lineup import HIGHEST
from quizkit.tutor.retention import Retention
from quizkit.tutor.standing import LEECH, Standing
from quizkit.tutor.tally import Tally, total
from quizkit.ui.screens.sections import Bar, Bars, Item, Part, Section, Table, share
from quizkit.words import Lang, listed, say

_OTHERS = 3  # questions that catch a myth too: enough to go on with


def stats_page(
    found: Standing,
    lang: Lang,
    names: Mapping[str, Text],
    topics: Sequence[str] = (),
    most: int | None = None,
) -> list[Section]:
    """Return the page, no list longer than `most`. The first section's title is the page's."""
    date = say("stats.as_of", lang, date=found.now.astimezone().date().isoformat())
    only = [say("stats.only", lang, topics=listed(topics, lang))] if topics else []
    head = " · ".join([say("stats.title", lang), date, *only])
    if found.empty:
        told = [say("stats.empty_topic", lang, topic=each) for each in topics]
        return [Section(head, told or [say("stats.empty", lang)])]
    return [
        Section(head, [*_summary(found, lang)]),
        Section(say("stats.by_level", lang), _levels(found, lang)),
        Section(say("stats.by_kind", lang), _kinds(found, lang)),
        Section(say("stats.days", lang, days=len(found.activity.days)), _days(found, lang)),
        Section(say("stats.due", lang, days=len(found.forecast.days)), _due(found, lang)),
        Section(say("stats.retention", lang), _retention(found, lang)),
        Section(say("stats.calibration", lang), _calibration(found, lang, most)),
        *_myths(found, lang, names, most),
        *_leeches(found, lang, most),
    ]


def _summary(found: Standing, lang: Lang) -> Iterable[str]:
    study = found.study
    if study.answered:
        of = share(study.right, study.answered)
        counts = {"answered": study.answered, "right": study.right}
        yield say("stats.answers", lang, share=of, **counts)
    counts = {"met": study.met, "questions": study.questions}
    of, about = share(study.remembered, study.met), f"{study.remembered:.0f}"
    yield say("stats.questions", lang, remembered=about, share=of, **counts)
    answered, right = found.mock
    if answered:
        yield say("stats.mock", lang, answered=answered, right=right)
    if found.gone:
        yield say("stats.gone", lang, count=found.gone)
    if found.flags:
        yield say("stats.flags", lang, count=found.flags)


def _levels(found: Standing, lang: Lang) -> list[Part]:
    columns = [say("stats.level", lang, level=n) for n in range(1, HIGHEST + 1)]
    cells = {
        topic: [found.levels.get((topic, n)) for n in range(1, HIGHEST + 1)]
        for topic in found.topics
    }
    unmet = [topic for topic, tally in found.topics.items() if not tally.met]
    told = [say("stats.unmet", lang, topics=listed(unmet, lang))] if unmet else []
    return [say("stats.legend", lang), _table(columns, cells, found, lang), *told]


def _kinds(found: Standing, lang: Lang) -> list[Part]:
    columns = [say(f"stats.kind_{kind}", lang) for kind in KINDS]
    cells = {topic: [found.kinds.get((topic, kind)) for kind in KINDS] for topic in found.topics}
    return [_table(columns, cells, found, lang)]


def _table(
    columns: Sequence[str],
    cells: Mapping[str, Sequence[Tally | None]],
    found: Standing,
    lang: Lang,
) -> Table:
    """The topics that were met, each with all of it; above them all of them."""
    rows = [(topic, [tally, *cells[topic]]) for topic, tally in found.topics.items() if tally.met]
    sums = [total(row[i] for row in cells.values()) for i in range(len(columns))]
    every = [(say("stats.all", lang), [found.study, *sums])] if len(rows) > 1 else []
    return Table([say("stats.all", lang), *columns], [*every, *rows])


def _due(found: Standing, lang: Lang) -> list[Part]:
    coming = found.forecast
    new = found.study.questions - found.study.met
    told = say("stats.due_now", lang, late=coming.late, later=coming.later, new=new)
    return [told, Bars([Bar(f"{day:%m-%d}", count) for day, count in coming.days])]


def _days(found: Standing, lang: Lang) -> list[Part]:
    done = found.activity
    facts = [say("stats.active", lang, active=done.active)]
    if done.row > 1:
        facts.append(say("stats.row", lang, row=done.row))
    if done.longest > 1:
        facts.append(say("stats.longest", lang, longest=done.longest))
    bars = [
        Bar(f"{day:%m-%d}", study + mock, say("stats.of_mock", lang, count=mock) if mock else "")
        for day, study, mock in done.days
    ]
    return [("，" if lang == "zh" else ", ").join(facts), Bars(bars)]


def _retention(found: Standing, lang: Lang) -> list[Part]:
    if not found.every.reviews:
        return [say("stats.no_reviews", lang), say("stats.review_is", lang)]
    told = [say("stats.every", lang, **_reviews(found.every))]
    if found.recent.reviews:
        told.append(say("stats.recent", lang, **_reviews(found.recent)))
    return [*told, say("stats.review_is", lang)]


def _reviews(of: Retention) -> dict[str, object]:
    return {
        "reviews": of.reviews,
        "right": of.right,
        "share": share(of.right, of.reviews),
        "recalled": of.recalled,
        "kept": share(of.recalled, of.reviews),
        "predicted": f"{of.predicted:.0f}",
        "expected": share(of.predicted, of.reviews),
    }


def _calibration(found: Standing, lang: Lang, most: int | None) -> list[Part]:
    said = found.calibration
    sure, unsure = said.sure_wrong + said.sure_right, said.unsure_right + said.unsure_wrong
    told: list[Part] = []
    if sure:
        told += [
            say("stats.sure_wrong", lang, count=said.sure_wrong, of=sure),
            say("stats.sure_right", lang, count=said.sure_right),
        ]
    if unsure:
        told += [
            say("stats.unsure_right", lang, count=said.unsure_right, of=unsure),
            say("stats.unsure_wrong", lang, count=said.unsure_wrong),
        ]
    told.append(say("stats.unsaid", lang, count=said.unsaid))
    if said.mistaken:
        told.append(say("stats.mistaken", lang))
        told += _first([Item(f"quizkit show {name}") for name in said.mistaken], lang, most)
    return told


def _myths(
    found: Standing, lang: Lang, names: Mapping[str, Text], most: int | None
) -> list[Section]:
    items: list[Item] = []
    for each in found.beliefs:
        date = each.last.astimezone().date().isoformat()
        seen = say("stats.myth_seen", lang, times=each.times, date=date)
        others = listed(each.caught[:_OTHERS], lang)
        caught = [say("stats.myth_caught", lang, questions=others)] if others else []
        text = names[each.myth][lang] if each.myth in names else each.myth
        items.append(Item(text, [seen, *caught, f"quizkit show {each.shown[0]}"]))
    if not items:
        return []
    parts = [say("stats.myths_why", lang), *_first(items, lang, most)]
    return [Section(say("stats.myths", lang), parts)]


def _leeches(found: Standing, lang: Lang, most: int | None) -> list[Section]:
    items: list[Item] = []
    for each in found.leeches:
        text = say("stats.lapses", lang, question=each.question, lapses=each.lapses)
        demo = [f"quizkit demo {each.demo}"] if each.demo else []
        steps = [f"quizkit show {each.question}", *demo, f"quizkit learn {each.topic}"]
        items.append(Item(text, steps))
    if not items:
        return []
    why = say("stats.leeches_why", lang, least=LEECH)
    return [Section(say("stats.leeches", lang), [why, *_first(items, lang, most)])]


def _first(items: Sequence[Item], lang: Lang, most: int | None) -> list[Part]:
    shown: list[Part] = [*items[:most]]
    left = len(items) - len(shown)
    return [*shown, say("stats.more", lang, count=left)] if left else shown
