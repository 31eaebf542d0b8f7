"""A plan to an interview: small cases worked by hand, laws that hold for every case, evidence."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import product
from random import Random

import fsrs
import pytest

from quizkit.answer import Answer, Card
from quizkit.bank.entry import Entry
from quizkit.bank.library import Library
from quizkit.bank.mocks import read_mock
from quizkit.paths import QUESTIONS, cache_folder
from quizkit.tutor.forecast import forecast
from quizkit.tutor.plan import Hold, Plan, Task, asked, expected, plan, stretches, unmet
from quizkit.tutor.plan_evidence import ENOUGH, after, chances, fitted, later, pace, usual
from quizkit.tutor.plan_memory import AGAIN, GOOD, WEIGHTS, Fsrs, MemoryTrace
from quizkit.tutor.plan_outlook import LITTLE, Aim, outlook, planned_today
from quizkit.tutor.plan_weights import by_role, by_script

MODEL = Fsrs()
NOW = datetime(2027, 3, 1, 9, tzinfo=UTC)


def met(stability: float, since: float, difficulty: float = 5.0) -> Hold:
    return Hold(((1.0, MemoryTrace(stability, difficulty)),), -since)


def task(name: str, hold: Hold, seconds: float = 60, weight: float = 1.0) -> Task:
    return Task(name, "alpha", weight, seconds, hold)


def mean(chances: Iterable[float]) -> float:
    found = list(chances)
    return sum(found) / len(found)


def crowd(seed: int) -> list[Task]:
    random = Random(seed)
    times = (40, 60, 90, 120, 240)
    return [
        task(
            str(name),
            unmet(random.uniform(0.1, 0.9), MODEL)
            if random.random() < 0.5
            else met(random.uniform(0.2, 40), random.uniform(0, 30), random.uniform(1, 10)),
            random.choice(times),
        )
        for name in range(random.choice((2, 10, 40)))
    ]


def days_of(found: Plan) -> list[tuple[str, ...]]:
    return [day.reviews + day.new for day in found.days]


def test_the_formulas_are_the_packages():
    package = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    assert package.parameters == WEIGHTS
    start = datetime(2027, 1, 1, tzinfo=UTC)
    for grade in (1, 2, 3, 4):
        new, _ = package.review_card(fsrs.Card(card_id=0, due=start), fsrs.Rating(grade), start)
        assert MODEL.first(grade) == pytest.approx((new.stability, new.difficulty), rel=1e-12)
    grid = product((0.001, 0.212, 2.3, 40, 3000), (1, 5, 7.7, 10), (0, 1, 5, 90), (1, 2, 3, 4))
    for stability, difficulty, days, grade in grid:
        card = fsrs.Card(
            card_id=0,
            state=fsrs.State.Review,
            stability=stability,
            difficulty=difficulty,
            due=start,
            last_review=start,
        )
        at = start + timedelta(days=days)
        chance = package.get_card_retrievability(card, at)
        assert MODEL.recall(stability, days) == pytest.approx(chance, rel=1e-12)
        then, _ = package.review_card(card, fsrs.Rating(grade), at)
        ours = MODEL.after(MemoryTrace(stability, difficulty), days, grade)
        assert ours == pytest.approx((then.stability, then.difficulty), rel=1e-12)


def test_one_minute_goes_to_what_gains_most():
    fading, fresh = task("fading", met(2.0, 20)), task("fresh", met(200.0, 1))
    found = plan([fresh, fading], [60], MODEL)
    assert days_of(found) == [("fading",)]
    # By hand: right with today's chance, wrong else; a day passes after either.
    right = MODEL.recall(2.0, 20)
    after = [MODEL.after(MemoryTrace(2.0, 5.0), 20, grade).stability for grade in (GOOD, AGAIN)]
    chances = [MODEL.recall(stability, 1) for stability in after]
    assert found.practised["fading"] == pytest.approx(right * chances[0] + (1 - right) * chances[1])
    assert found.practised["fresh"] == found.without["fresh"] == MODEL.recall(200.0, 2)


def test_a_weight_moves_the_minute():
    one, other = task("one", met(2.0, 20)), task("other", met(2.5, 20))
    assert days_of(plan([one, other], [60], MODEL)) == [("one",)]
    heavy = other._replace(weight=2.0)
    assert days_of(plan([one, heavy], [60], MODEL)) == [("other",)]


def test_the_shorter_of_equals_comes_first_and_no_day_overruns():
    long, short = task("long", met(2.0, 20), 90), task("short", met(2.0, 20), 40)
    assert days_of(plan([long, short], [89], MODEL)) == [("short",)]
    assert days_of(plan([long, short], [130], MODEL)) == [("short", "long")]
    assert days_of(plan([long, short], [39], MODEL)) == [()]


def test_what_was_never_met_is_known_as_often_as_said():
    hold = unmet(0.25, MODEL)
    good, again = (MODEL.first(grade).stability for grade in (GOOD, AGAIN))
    assert expected(hold, 3, MODEL) == pytest.approx(0.25 * MODEL.recall(good, 3))
    then = asked(hold, 2, MODEL)
    both = 0.25 * MODEL.recall(good, 1) + 0.75 * MODEL.recall(again, 1)
    assert expected(then, 3, MODEL) == pytest.approx(both)


def test_two_ways_to_an_answer_as_one_stay_near_all_ways():
    """Against the whole tree of right and wrong answers, three times asked."""
    times = (0.0, 4.0, 9.0)
    hold = met(3.0, 5)
    ways = [(1.0, MemoryTrace(3.0, 5.0), -5.0)]
    for day in times:
        hold = asked(hold, day, MODEL)
        parted: list[tuple[float, MemoryTrace, float]] = []
        for chance, trace, last in ways:
            right = MODEL.recall(trace.stability, day - last)
            for share, grade in ((right, GOOD), (1 - right, AGAIN)):
                parted.append((chance * share, MODEL.after(trace, day - last, grade), day))
        ways = parted
    assert len(ways) == 8
    assert len(hold.traces) == 2
    exact = sum(chance * MODEL.recall(trace.stability, 20 - last) for chance, trace, last in ways)
    assert expected(hold, 20, MODEL) == pytest.approx(exact, abs=0.02)


def test_practice_never_lowers_and_more_minutes_hardly_ever_do():
    """A day filled by what is worth most is not the best of all days: 0.1 points are granted."""
    for seed in range(25):
        tasks = crowd(seed)
        length = Random(seed).choice((1, 2, 5, 14, 30))
        before = 0.0
        for minutes in (0, 1, 3, 8, 20, 60):
            found = plan(tasks, [60 * minutes] * length, MODEL)
            assert all(day.seconds <= 60 * minutes for day in found.days)
            assert all(found.practised[each.id] >= found.without[each.id] for each in tasks)
            now = mean(found.practised.values())
            assert now >= before - 0.001
            before = now


def test_more_weight_never_less_time():
    for seed in range(12):
        tasks = crowd(seed)
        for name in {each.id for each in tasks[:5]}:
            heavier = [t._replace(weight=3.0) if t.id == name else t for t in tasks]
            asked_before, asked_after = (
                sum(name in day for day in days_of(plan(each, [300] * 5, MODEL)))
                for each in (tasks, heavier)
            )
            assert asked_after >= asked_before


def test_days_are_taken_in_stretches_that_narrow():
    for until in (0, 1, 2, 10, 60, 366):
        found = list(stretches(until))
        assert [day for each in found for day in each] == list(range(until))
        assert until == 0 or found[0] == range(1)
        assert all(len(each) == 1 for each in found[-8:])


def test_own_time_counts_once_there_is_enough_of_it():
    few = [("choice", 80.0, 20.0)] * (ENOUGH - 1)
    assert pace(few, 1.0)("choice") == 1
    enough = pace([*few, ("choice", 80.0, 20.0)], 1.0)
    assert (enough("choice"), enough("essay")) == (0.25, 0.25)
    mixed = pace([*few, ("choice", 80.0, 20.0), *[("essay", 300.0, 600.0)] * ENOUGH], 1.0)
    assert (mixed("choice"), mixed("essay")) == (0.25, 2.0)
    assert mixed("cloze") == pytest.approx(1.125)  # the middle of all


def test_a_question_is_priced_by_its_words_in_the_learners_language():
    long = entry("alpha/long")._replace(asks_zh=40, asks_en=60, tells_zh=50, tells_en=70)
    short = entry("alpha/short")._replace(asks_zh=10, asks_en=12, tells_zh=10, tells_en=12)
    essay = short._replace(id="alpha/essay", kind="essay")
    assert [usual(each, "en") for each in (long, short, essay)] == [105, 57, 312]
    assert [usual(each, "zh") for each in (long, short, essay)] == [85, 55, 310]
    assert (after(long, "zh", met=False), after(long, "en", met=True)) == (50, 35)
    day = [
        outlook([long, short], {}, [], replace(AIM, minutes=9, lang=lang), NOW, UTC).days[0][1]
        for lang in ("zh", "en")
    ]
    # Read, answered, read why; and half of them, which go wrong, once more in three fifths of it.
    chinese = (85 + 50) + (55 + 10) + ((0.6 * 85 + 25) + (0.6 * 55 + 5)) / 2
    english = (105 + 70) + (57 + 12) + ((0.6 * 105 + 35) + (0.6 * 57 + 6)) / 2
    assert [each.seconds for each in day] == pytest.approx([chinese, english])


def test_the_banks_questions_take_as_long_as_people_need():
    """Those of a day of 40 minutes, counted on the shipped bank: half of them come back once."""
    entries = shipped()
    for lang in ("zh", "en"):
        aim = Aim(interview=date(2027, 3, 15), minutes=40, lang=lang)
        new = len(outlook(entries, {}, [], aim, NOW, UTC).days[0][1].new)
        assert 12 <= new <= 25, (lang, new)


def test_what_is_known_anyway_follows_the_first_answers():
    assert chances([])("alpha") == 0.5
    known = chances([("alpha", True)] * 8 + [("beta", False)] * 8)
    assert known("alpha") > 0.8 > 0.2 > known("beta")
    assert known("gamma") == pytest.approx(0.5)


def test_the_curve_follows_what_was_forgotten():
    def reviews(right: bool) -> list[tuple[str, float, int]]:
        first = [(str(n), 0.0, GOOD) for n in range(30)]
        return first + [(str(n), 3.0, GOOD if right else AGAIN) for n in range(30)]

    assert fitted([]).recall(1, 30) == MODEL.recall(1, 30)
    assert fitted(later(reviews(False))).recall(1, 30) < 0.5 * MODEL.recall(1, 30)
    assert fitted(later(reviews(True))).recall(1, 30) > MODEL.recall(1, 30)
    same_day = [("a", 0.0, AGAIN), ("a", 0.5, AGAIN), ("a", 0.9, GOOD)]
    assert later(same_day) == []


def entry(name: str, level: int = 2, kind: str = "choice") -> Entry:
    return Entry(name, name.split("/")[0], level, kind, "", "", "", "")


def shipped() -> list[Entry]:
    with Library([QUESTIONS], cache_folder()) as shelves:
        return shelves.entries()


def answer(name: str, at: datetime, right: bool, seconds: float = 30.0) -> Answer:
    return Answer(
        uuid=f"{name}{at}",
        device="d",
        at=at,
        session="s",
        question=name,
        lang="en",
        seed=1,
        right=right,
        grade=GOOD if right else AGAIN,
        seconds=seconds,
    )


def folded(rows: Iterable[Answer]) -> dict[str, Card]:
    from quizkit.tutor.memory import Review, fold

    return fold(Review(row.question, row.at, row.grade or GOOD) for row in rows)


ENTRIES = [entry(f"{topic}/q{n:02}") for topic in ("alpha", "beta") for n in range(10)]
AIM = Aim(interview=date(2027, 3, 8), minutes=9)


def test_planning_again_goes_on_from_what_was_done():
    """Doing what was planned leaves the forecast near what it was; doing nothing lowers it."""
    first = outlook(ENTRIES, {}, [], AIM, NOW, UTC)
    today = first.days[0][1].new
    # 9 minutes: each takes 40 seconds to answer and 30 to read why, and half of them come back.
    assert len(today) == 6
    assert [day for day, _ in first.days] == [date(2027, 3, n) for n in range(1, 8)]
    # Half right, as was expected of them.
    rows = [answer(name, NOW, right=n % 2 == 0, seconds=40) for n, name in enumerate(today)]
    assert first.unmet == {}
    done = outlook(ENTRIES, folded(rows), rows, AIM, NOW + timedelta(minutes=5), UTC)
    assert done.spent == 420
    assert done.days[0][1].seconds <= 120
    assert done.whole.met == 6
    tomorrow = NOW + timedelta(days=1)
    kept = outlook(ENTRIES, folded(rows), rows, AIM, tomorrow, UTC)
    slipped = outlook(ENTRIES, {}, [], AIM, tomorrow, UTC)
    assert kept.whole.practised == pytest.approx(first.whole.practised, abs=0.02)
    assert slipped.whole.practised < first.whole.practised
    assert first.slip > 0
    assert kept.spent == 0


def test_finding_the_level_takes_nothing_off_the_day():
    rows = [replace(answer(f"alpha/q0{n}", NOW, right=True), session="placing") for n in range(3)]
    later = NOW + timedelta(minutes=9)
    taken, spared = (
        outlook(ENTRIES, folded(rows), rows, AIM, later, UTC, placed=placed)
        for placed in ((), {"placing"})
    )
    assert (taken.spent, spared.spent) == (180, 0)
    assert taken.days[0][1].seconds < spared.days[0][1].seconds
    left = planned_today(ENTRIES, folded(rows), rows, AIM, later, UTC, placed={"placing"})
    assert len(left.plan) == 6


def test_what_is_due_is_what_the_forecast_says():
    """The same number on the same day as stats and the verdict's date, whatever is planned."""
    rows = [
        answer(each.id, NOW - timedelta(days=n % 5, hours=1), right=n % 3 > 0)
        for n, each in enumerate(ENTRIES)
    ]
    cards = folded(rows)
    aim = Aim(interview=date(2027, 4, 20), minutes=2)
    found = outlook(ENTRIES, cards, rows, aim, NOW, UTC)
    told = forecast(cards.values(), NOW, UTC)
    assert [(day, found.due[i]) for i, (day, _) in enumerate(found.days[:14])] == [*told.days]
    assert sum(found.due) == len(cards)
    assert found.due[0] > len(found.days[0][1].reviews)


def test_where_little_changes_it_says_what_does():
    light = outlook(ENTRIES, {}, [], replace(AIM, interview=date(2027, 7, 1)), NOW, UTC)
    assert light.slip < LITTLE
    assert light.best is not None
    topic, of = light.best
    gains = {name: each.practised - each.without for name, each in light.topics.items()}
    assert of == light.topics[topic]
    assert gains[topic] == max(gains.values())
    # Days enough for all of it: minutes are not what is short.
    assert light.more is None
    many = [entry(f"alpha/q{n:03}") for n in range(150)]
    far = Aim(interview=date(2027, 5, 1), minutes=3)
    short = outlook(many, {}, [], far, NOW, UTC)
    assert short.slip < LITTLE
    assert short.more is not None
    minutes, gain = short.more
    twice = outlook(many, {}, [], replace(far, minutes=minutes), NOW, UTC)
    assert minutes > 3
    assert gain == pytest.approx(twice.whole.practised - short.whole.practised)
    assert gain >= LITTLE


def test_no_minutes_are_no_practice():
    found = outlook(ENTRIES, {}, [], Aim(interview=AIM.interview, minutes=0), NOW, UTC)
    assert found.whole.practised == found.whole.without > 0
    assert {day.new + day.reviews for _, day in found.days} == {()}
    assert found.slip == 0
    assert (found.unmet, found.too_long) == ({"choice": 20}, 20)


def test_todays_lineup_is_todays_part_of_the_plan():
    lineup = planned_today(ENTRIES, {}, [], AIM, NOW, UTC)
    assert sorted(lineup.plan) == sorted(outlook(ENTRIES, {}, [], AIM, NOW, UTC).days[0][1].new)
    assert {name.split("/")[0] for name in lineup.plan} == {"alpha", "beta"}
    rows = [answer(name, NOW, right=True, seconds=60) for name in lineup.plan]
    after = planned_today(ENTRIES, folded(rows), rows, AIM, NOW + timedelta(minutes=9), UTC)
    assert after.plan == []


def test_what_was_taken_back_or_renamed_counts_as_it_should():
    row = answer("old/name", NOW - timedelta(days=2), right=True)
    undo = Answer(
        uuid="u", device="d", at=NOW, session="s", question="x", lang="en", seed=0, undoes=row.uuid
    )
    renamed = [entry("alpha/a")._replace(was="old/name")]
    assert outlook(renamed, {}, [row], AIM, NOW, UTC).whole.without > 0.5
    without = outlook(renamed, {}, [row, undo], AIM, NOW, UTC).whole.without
    assert without == outlook(renamed, {}, [], AIM, NOW, UTC).whole.without


def test_the_job_decides_by_level():
    easy, hard = entry("alpha/easy", 1), entry("alpha/hard", 5)
    junior, staff = (
        Aim(interview=AIM.interview, minutes=2, weigh=by_role(r)) for r in ("junior", "staff")
    )
    assert planned_today([easy, hard], {}, [], junior, NOW, UTC).plan == ["alpha/easy"]
    assert planned_today([easy, hard], {}, [], staff, NOW, UTC).plan == ["alpha/hard"]


def test_a_script_decides_by_topic():
    script = read_mock(QUESTIONS, "pipeline-screen", [])
    assert script
    entries = [entry("pp/a"), entry("pp/b"), entry("comm/a"), entry("tp/a")]
    weigh = by_script(script, entries)
    weights = {each.id: weigh(each) for each in entries}
    assert weights["tp/a"] == 0
    assert weights["pp/a"] == weights["pp/b"] > 0
    assert sum(weights.values()) == pytest.approx(1)
    spent = {"pp": 0, "comm": 0}
    for _, station in script.placed():
        if station.ask:
            spent[station.ask.split("/")[0]] += station.seconds
    assert weights["comm/a"] == pytest.approx(spent["comm"] / sum(spent.values()))
