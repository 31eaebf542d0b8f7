"""Tell a scorecard in one language, from what decides to the detail."""

from collections.abc import Iterator, Sequence

from quizkit.mock.kept_card import KeptAnswer, KeptCard, KeptDimension
from quizkit.mock.scorecard import VETO_CAP
from quizkit.mock.timer import lasted
from quizkit.ui.mock.card_answers import answer_name, answer_number, card_reply, gist
from quizkit.ui.mock.card_parts import Bullet, CardPart, CardSection, Meter, Remark, Tone
from quizkit.ui.screens.parts import bracketed, colon
from quizkit.words import Lang, listed, say


def card_page(card: KeptCard, lang: Lang) -> Sequence[CardSection]:
    """Return the sections of the card that have something to tell."""
    title = f"{say('card.card', lang)}{colon(lang)}{card.title[lang]}"
    every = [
        CardSection(title, [*_head(card, lang)]),
        _section("dimensions", _dimensions(card, lang), lang),
        _section("false", _false(card, lang), lang),
        _section("myths", _myths(card, lang), lang),
        _section("help", _help(card, lang), lang),
        _section("judges", _judges(card, lang), lang),
        _section("time", _time(card, lang), lang),
        _section("calibration", _calibration(card, lang), lang),
        _section("answers", (card_reply(each, lang) for each in card.answers), lang),
        _section("practice", _practice(card, lang), lang),
        _section("notes", (Bullet(each) for each in card.notes), lang),
        _section("rules_title", (Bullet(each[lang], "dim") for each in card.conventions), lang),
    ]
    return [each for each in every if each.parts]


def _section(name: str, parts: Iterator[CardPart], lang: Lang) -> CardSection:
    return CardSection(say(f"card.{name}", lang), [*parts])


def _head(card: KeptCard, lang: Lang) -> Iterator[CardPart]:
    passed, best = card.verdict == "pass", f"{card.best:g}"
    yield Remark(say("card.passed" if passed else "card.failed", lang), _tone(passed))
    needed = card.pass_mark.get("overall")
    told = say("card.of", lang, score=f"{card.overall:.2f}", best=best)
    if needed is not None:
        told += bracketed([say("card.mark_overall", lang, mark=f"{needed:g}")], lang)
    low = needed is not None and card.overall < needed
    name = say("card.overall_name", lang)
    yield Meter(name, card.overall, card.best, needed, told, _tone(not low))
    if card.capped:
        yield Remark(say("card.capped", lang, cap=f"{VETO_CAP:g}"), "bad")
    short = [each for each in card.dimensions if _low(each)]
    if short:
        told = [
            say(
                "card.short", lang, dimension=say(f"card.{each.name}", lang),
                score=f"{each.score:.2f}", mark=f"{each.needed:g}",
            )
            for each in short
        ]  # fmt: skip
        yield Remark(say("card.below", lang, dimensions=listed(told, lang)), "bad")
    yield Remark(say("card.taken", lang, date=card.at[:10], level=card.level), "dim")


def _low(dimension: KeptDimension) -> bool:
    return dimension.needed is not None and dimension.score < dimension.needed


def _tone(good: bool) -> Tone:
    return "good" if good else "bad"


def _dimensions(card: KeptCard, lang: Lang) -> Iterator[CardPart]:
    whole = sum(each.weight for each in card.dimensions) or 1
    told_of: set[str] = set()
    for each in card.dimensions:
        facts = [say("card.weight", lang, share=f"{each.weight / whole:.0%}")]
        if each.needed is not None:
            facts.insert(0, say("card.mark_overall", lang, mark=f"{each.needed:g}"))
        told = f"{each.score:.2f}{bracketed(facts, lang)}"
        tone = "bad" if _low(each) else "good" if each.needed is not None else ""
        yield Meter(say(f"card.{each.name}", lang), each.score, card.best, each.needed, told, tone)
        if each.words:
            share = f"{each.words:.0%}"
            yield Remark(say("card.words_decided", lang, share=share), "weak")
        yield from _evidence(card, each, told_of, lang)


def _evidence(
    card: KeptCard, dimension: KeptDimension, told_of: set[str], lang: Lang
) -> Iterator[CardPart]:
    """Yield the answers a dimension stands on, what cost most first; what needs no words at last.

    What an answer showed is told once, at the first dimension that stands on it.
    """
    shares = sum(part.share for part in dimension.evidence) or 1
    plain: dict[str, list[tuple[KeptAnswer, float]]] = {"unreached": [], "silent": [], "full": []}
    for part in sorted(dimension.evidence, key=lambda part: -part.share * (1 - part.score)):
        answer = card.step(part.station)
        if answer is None:
            continue
        kind = _plain(answer)
        if kind:
            plain[kind].append((answer, part.share / shares))
            continue
        told = {"score": f"{part.score:.0%}", "share": f"{part.share / shares:.0%}"}
        head = say("card.evidence", lang, name=answer_name(answer, lang), **told)
        yield Bullet(head, "", () if answer.station in told_of else tuple(gist(answer, lang)))
        told_of.add(answer.station)
    for kind, those in plain.items():
        if those:
            share = f"{sum(share for _, share in those):.0%}"
            names = listed((answer_number(answer, lang) for answer, _ in those), lang)
            tone: Tone = "good" if kind == "full" else "weak"
            yield Bullet(say(f"card.evidence_{kind}", lang, share=share, names=names), tone)


def _plain(answer: KeptAnswer) -> str:
    """Return why an answer needs no words as evidence; nothing where it does."""
    if not answer.reached:
        return "unreached"
    if answer.given is None:
        return "silent"
    return "full" if answer.worth >= 1 and answer.judge == "key" and not answer.hints else ""


def _false(card: KeptCard, lang: Lang) -> Iterator[CardPart]:
    for answer in card.answers:
        name = answer_name(answer, lang)
        for each in answer.said:
            told = say("card.stands", lang, said=each[lang].rstrip("。."))
            yield Bullet(told, "bad", (say("card.said_at", lang, name=name),))
    for answer in card.answers:
        name = answer_name(answer, lang)
        key = "card.unticked" if answer.judge == "learner" else "card.taken_back"
        for each in answer.withdrawn:
            told = say(key, lang, said=each[lang].rstrip("。."))
            yield Bullet(told, "dim", (say("card.said_at", lang, name=name),))


def _myths(card: KeptCard, lang: Lang) -> Iterator[CardPart]:
    for name in card.myths:
        yield Bullet(card.beliefs[name][lang] if name in card.beliefs else name, "bad")


def _help(card: KeptCard, lang: Lang) -> Iterator[CardPart]:
    """Hints with their price, records that were looked at and facts that were asked for."""
    hinted = [each for each in card.answers if each.hints]
    price = card.hint_price
    if hinted:
        count = sum(each.hints for each in hinted)
        where = tuple(
            say("card.hints_at", lang, name=answer_name(each, lang), count=each.hints,
                cost=f"{price * each.hints:g}")
            for each in hinted
        )  # fmt: skip
        yield Bullet(say("card.hints", lang, count=count, price=f"{price:g}"), "", where)
    elif price:
        yield Bullet(say("card.no_hints", lang))
    seen = [each for each in card.looks if each.seen]
    if card.looks:
        names = tuple(
            say("card.look", lang, name=each.name[lang], seconds=lasted(each.seconds))
            for each in seen
        )
        yield Bullet(say("card.looks", lang, count=len(seen), of=len(card.looks)), "", names)
    asked = [each for each in card.facts if each.asked]
    if card.facts:
        names = tuple(f"{each.asks[lang]}{colon(lang)}{each.answer[lang]}" for each in asked)
        yield Bullet(say("card.facts", lang, count=len(asked), of=len(card.facts)), "", names)
    missed = [each.name[lang] for each in card.looks if not each.seen]
    if missed:
        yield Bullet(say("card.looks_missed", lang), "weak", tuple(missed))
    missed = [each.asks[lang] for each in card.facts if not each.asked]
    if missed:
        told = ("；" if lang == "zh" else "; ").join(missed)
        yield Bullet(say("card.facts_missed", lang), "weak", (told,))


def _judges(card: KeptCard, lang: Lang) -> Iterator[CardPart]:
    reached = [each for each in card.answers if each.reached]
    counts = {
        judge: [each for each in reached if each.judge == judge]
        for judge in ("key", "learner", "keywords", "nobody")
    }
    for judge, those in counts.items():
        if those:
            count = len(those)
            yield Bullet(
                say(f"card.judged_{judge}", lang, count=count), "", _names(judge, those, lang)
            )
    unreached = len(card.answers) - len(reached)
    if unreached:
        yield Bullet(say("card.judged_unreached", lang, count=unreached), "weak")


def _names(judge: str, those: Sequence[KeptAnswer], lang: Lang) -> tuple[str, ...]:
    """Return the names where who decided is worth a second look."""
    return () if judge == "key" else tuple(answer_name(each, lang) for each in those)


def _time(card: KeptCard, lang: Lang) -> Iterator[CardPart]:
    spent = card.time
    used, total = lasted(spent.used), lasted(spent.total)
    told = [say(f"card.ended_{spent.ended_by}", lang)]
    told.append(say("card.time_used", lang, used=used, total=total))
    if spent.paused:
        paused, budget = lasted(spent.paused), lasted(spent.pause_budget)
        told.append(say("card.time_paused", lang, paused=paused, budget=budget))
    if spent.charged_for_pauses:
        charged = lasted(spent.charged_for_pauses)
        told.append(say("card.time_charged", lang, charged=charged))
    yield Remark(("；" if lang == "zh" else "; ").join(told))
    reached = [each for each in card.answers if each.reached]
    top = max((max(each.seconds, each.target) for each in reached), default=0.0)
    for each in reached:
        over = each.seconds > each.target
        facts = say("card.time_of", lang, seconds=lasted(each.seconds), target=lasted(each.target))
        if each.late:
            facts += bracketed([say("card.is_late", lang)], lang)
        name = answer_name(each, lang)
        yield Meter(name, each.seconds, top, each.target, facts, "weak" if over else "")


def _calibration(card: KeptCard, lang: Lang) -> Iterator[CardPart]:
    found = card.calibration
    if found.sure_right or found.sure_wrong:
        sure = found.sure_right + found.sure_wrong
        tone = "bad" if found.sure_wrong else "good"
        told = say("card.sure", lang, count=sure, right=found.sure_right, wrong=found.sure_wrong)
        wrong = tuple(
            answer_name(each, lang)
            for each in card.answers
            if each.sure and each.given is not None and not each.right
        )
        yield Bullet(told, tone, wrong)
        others = found.unsaid_right + found.unsaid_wrong
        told = {"count": others, "right": found.unsaid_right, "wrong": found.unsaid_wrong}
        yield Bullet(say("card.unsaid", lang, **told))


def _practice(card: KeptCard, lang: Lang) -> Iterator[CardPart]:
    if card.practice:
        yield Remark(say("card.practice_how", lang))
    for day in card.practice:
        tasks = [
            f"`{each.question}` {each.title[lang]}"
            + bracketed([say(f"card.for_{each.why}", lang)], lang)
            for each in day.questions
            if not each.again
        ]
        again = [f"`{each.question}`" for each in day.questions if each.again]
        if again:
            tasks.append(f"{say('card.again', lang)}{colon(lang)}{listed(again, lang)}")
        yield Bullet(say("card.day", lang, day=day.day), "strong", tuple(tasks))
