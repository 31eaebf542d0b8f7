"""Tell a scorecard in one language, from what decides to the detail."""

from collections.abc import Iterator, Sequence

from quizkit.mock.kept_card import KeptAnswer, KeptCard, KeptDimension, PracticeTask
from quizkit.mock.scorecard import VETO_CAP
from quizkit.mock.timer import lasted
from quizkit.ui.mock.card_answers import answer_name, answer_number, card_reply, gist, only_hints
from quizkit.ui.mock.card_parts import Bullet, CardPart, CardSection, Meter, Remark, Tone
from quizkit.ui.screens.parts import bracketed, colon
from quizkit.words import Lang, listed, say


def card_page(card: KeptCard, lang: Lang) -> Sequence[CardSection]:
    """Return the sections of the card that have something to tell."""
    title = f"{say('card.card', lang)}{colon(lang)}{card.title[lang]}"
    every = [
        CardSection(title, [*_head(card, lang)]),
        _section("next", _next(card, lang), lang),
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
    yield Remark(card.at[:10], "dim")


_NAMED = 32  # columns of a question's name where a line has more to say


def _next(card: KeptCard, lang: Lang) -> Iterator[CardPart]:
    """Yield what to do next, three lines at most."""
    needed = card.pass_mark.get("overall", 0.0)
    lossy = [each for each in card.dimensions if each.score < card.best and each.evidence]
    if lossy:
        # What fails comes first; with no mark of its own a dimension is held against the overall's.
        below = [each for each in lossy if _low(each)] or lossy
        weak = min(below, key=lambda each: each.score - (each.needed or needed))
        part = max(weak.evidence, key=lambda part: part.share * (1 - part.score))
        answer = card.step(part.station)
        key = "card.next_overall" if weak.needed is None else "card.mark_overall"
        mark = say(key, lang, mark=f"{weak.needed or needed:g}")
        name = answer_name(answer, lang, _NAMED) if answer else part.station
        told = {"dimension": say(f"card.{weak.name}", lang), "score": f"{weak.score:.2f}"}
        yield Bullet(say("card.next_weak", lang, mark=mark, name=name, **told), "strong")
    tasks = [each for day in card.practice for each in day.questions]
    first = next((each for each in tasks if each.myth), None)
    if first:
        answer = card.step(first.step)
        number = answer_number(answer, lang) if answer else first.step
        shown = say("card.next_shown", lang, number=number)
        where = ("，" if lang == "zh" else ", ").join([f"`{first.question}`", shown])
        myth = card.beliefs[first.myth][lang] if first.myth in card.beliefs else first.myth
        yield Bullet(say("card.next_myth", lang, myth=myth, where=where), "strong")
    if card.practice:
        day, date = card.practice[0].day, card.at[:10]
        yield Bullet(say("card.next_day", lang, day=day, date=date), "strong")


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
        # That only a hint was lost is short, and said wherever the answer stands.
        again = answer.station in told_of and not only_hints(answer)
        yield Bullet(head, "", () if again else tuple(gist(answer, lang)))
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
    return "full" if answer.worth >= 1 and not answer.hints and not answer.said else ""


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
    closed = [each for each in card.looks if not each.seen]
    turned = tuple(
        say("card.look_missed", lang, name=each.name[lang], number=answer_number(answer, lang))
        for each in closed
        if (answer := card.step(each.missed))
    )
    if turned:
        yield Bullet(say("card.looks_missed", lang), "weak", turned)
    # The others may have been of no use, and who left them alone was right to.
    if len(closed) > len(turned):
        yield Bullet(say("card.looks_left", lang, count=len(closed) - len(turned)))
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
    answered = [each for each in card.answers if each.given is not None]
    if not any(each.sure for each in answered):
        return
    yield Remark(say("card.exact_only", lang), "dim")
    for key, sure in (("card.sure", True), ("card.unsaid", False)):
        those = [each for each in answered if each.judge == "key" and each.sure is sure]
        wrong = [each for each in those if not each.right]
        if those:
            told = {"count": len(those), "right": len(those) - len(wrong), "wrong": len(wrong)}
            tone: Tone = ("bad" if wrong else "good") if sure else ""
            names = tuple(answer_name(each, lang) for each in wrong)
            yield Bullet(say(key, lang, **told), tone, names)
    free = [each for each in answered if each.judge != "key" and each.sure]
    if free:
        names = [
            answer_name(each, lang) + bracketed([f"{each.score:.0%}"], lang).rstrip()
            for each in free
        ]
        yield Bullet(say("card.sure_free", lang, names=listed(names, lang)), "dim")


def _practice(card: KeptCard, lang: Lang) -> Iterator[CardPart]:
    if card.practice:
        yield Remark(say("card.practice_how", lang))
    days = [*card.practice]
    ends = len(days)
    while ends and all(each.again for each in days[ends - 1].questions):
        ends -= 1
    if len(days) - ends < 2:  # one day needs no summing up
        ends = len(days)
    for day in days[:ends]:
        tasks = [
            f"`{each.question}` {each.title[lang]}" + bracketed([_why(card, each, lang)], lang)
            for each in day.questions
            if not each.again
        ]
        again = [f"`{each.question}`" for each in day.questions if each.again]
        if again:
            tasks.append(f"{say('card.again', lang)}{colon(lang)}{listed(again, lang)}")
        yield Bullet(say("card.day", lang, day=day.day), "strong", tuple(tasks))
    if days[ends:]:
        span = say("card.days_again", lang, first=days[ends].day, last=days[-1].day)
        told = [
            say("card.day", lang, day=day.day)
            + "  "
            + " · ".join(f"`{each.question}`" for each in day.questions)
            for day in days[ends:]
        ]
        yield Bullet(span, "strong", tuple(told))


def _why(card: KeptCard, task: PracticeTask, lang: Lang) -> str:
    """Return why a question is practised, and for which step; an older card knows no step."""
    step = card.step(task.step)
    if step is None:
        return say(f"card.for_{task.why}", lang)
    return say(f"card.for_{task.why}_at", lang, step=answer_number(step, lang))
