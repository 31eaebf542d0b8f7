"""Where the learner stands, as it is shown: on a terminal, in plain lines, on a page."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from html.parser import HTMLParser

import pytest
from rich.cells import cell_len
from rich.console import Console

from quizkit.bank.model import KINDS, Text
from quizkit.tutor.activity import Activity
from quizkit.tutor.beliefs import Belief
from quizkit.tutor.calibration import Calibration
from quizkit.tutor.forecast import Forecast
from quizkit.tutor.retention import Retention
from quizkit.tutor.standing import Leech, Standing
from quizkit.tutor.tally import Tally
from quizkit.ui.screens.sections import share
from quizkit.ui.screens.stats_html import stats_html
from quizkit.ui.screens.stats_page import stats_page
from quizkit.ui.screens.stats_screen import stats_screen
from quizkit.ui.text import linebreak
from quizkit.words import Lang

NOW = datetime(2026, 3, 10, 12).astimezone()  # noon where the test runs: dates shown are local
DAYS = [date(2026, 3, 10) + timedelta(days=i) for i in range(14)]
LANGS: tuple[Lang, Lang] = ("zh", "en")

# Numbers as wide as they come: tens of thousands of answers, all right, all remembered.
MUCH = Tally(questions=99, met=99, remembered=99, answered=12345, right=12345)
SOME = Tally(questions=8, met=4, remembered=3.0, answered=10, right=9)
NONE = Tally(questions=5)
STANDING = Standing(
    now=NOW,
    study=Tally(questions=112, met=103, remembered=102, answered=12355, right=12354),
    mock=(7, 5),
    gone=3,
    flags=2,
    topics={"attention": MUCH, "pp": SOME, "zero": NONE},
    levels={("attention", n): MUCH for n in range(1, 6)} | {("pp", 2): SOME, ("zero", 1): NONE},
    kinds={("attention", kind): MUCH for kind in KINDS} | {("pp", "bug"): SOME},
    forecast=Forecast(3, tuple((day, i) for i, day in enumerate(DAYS)), 40),
    every=Retention(200, 150, 160, 180.0),
    recent=Retention(20, 15, 16, 18.0),
    beliefs=[
        Belief("flush-is-free", 4, NOW, ("pp/flush",), ("pp/a", "pp/b", "pp/c", "pp/d")),
        Belief("<unnamed> & odd", 1, NOW, ("pp/other",), ()),
    ],
    calibration=Calibration(11, 22, 33, 44, 55, ("pp/x", "pp/y", "pp/z")),
    leeches=[Leech("pp/x", "pp", "pipeline", 9), Leech("pp/sums", "pp", "", 5)],
    activity=Activity(tuple((day, i, i % 2) for i, day in enumerate(DAYS)), 30, 5, 12),
)
NAMES = {"flush-is-free": Text(zh="以为排空流水线不花时间", en="Flushing costs nothing")}


def page(
    lang: Lang, most: int | None = None, found: Standing = STANDING, topics: Sequence[str] = ()
):
    return stats_page(found, lang, NAMES, topics, most)


def shown(
    lang: Lang,
    width: int = 80,
    plain: bool = False,
    most: int | None = None,
    found: Standing = STANDING,
) -> str:
    linebreak.install()
    console = Console(width=width, markup=False, emoji=False, highlight=False)
    with console.capture() as capture:
        console.print(stats_screen(page(lang, most, found), lang, plain))
    return capture.get()


def test_a_share_of_nothing_is_no_share():
    assert (share(0, 5), share(1, 8), share(5, 5), share(0, 0)) == ("0%", "12%", "100%", "-")


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_every_width_holds_it_all(lang: Lang, width: int):
    text = shown(lang, width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    # Not one number of a table is cut, dropped or folded.
    first = next(line for line in text.splitlines() if line.startswith("attention"))
    assert first.split()[1:] == ["12345"] * 6
    kinds = [line for line in text.splitlines() if line.startswith("attention")][1]
    assert kinds.split()[1:] == ["12345"] * (1 + len(KINDS))
    assert text.count("quizkit learn pp") == 2
    # A day is one line, its interviews too.
    noted = {"zh": "面试 1", "en": "1 in interviews"}[lang]
    assert sum(line.rstrip().endswith(noted) for line in text.splitlines()) == 7
    assert "2026-03-10" in text


def test_a_row_of_a_table_is_what_was_counted():
    lines = shown("en").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("pp "))
    # 10 answers, 9 right; of 4 questions met 3 are expected to be remembered. All are of level 2.
    assert lines[at].split() == ["pp", "10", ".", "10", ".", ".", "."]
    assert lines[at + 1].split() == ["right", "90%", "90%"]
    assert lines[at + 2].split() == ["tomorrow", "75%", "75%"]
    every = next(i for i, line in enumerate(lines) if line.startswith("all "))
    assert lines[every].split() == ["all", "12355", "12345", "12355", *["12345"] * 3]
    assert lines[every + 2].split()[1:3] == ["99%", "100%"]
    assert "Topics not met yet: zero" in lines
    assert not [line for line in lines if line.startswith("zero")]


def test_bars_are_as_long_as_their_numbers():
    lines = shown("en").splitlines()
    due = lines[lines.index("Due in the next 14 days") + 2 :][:14]
    assert [line.split()[:2] for line in due] == [
        [f"{d:%m-%d}", str(i)] for i, d in enumerate(DAYS)
    ]
    # 40 columns stand for 13; what is there at all can be seen.
    assert [line.count("#") for line in due] == [40 * i // 13 for i in range(14)]
    done = lines[lines.index("Answers in the last 14 days") + 2 :][:14]
    few = replace(STANDING, forecast=Forecast(0, ((DAYS[0], 100), (DAYS[1], 1), (DAYS[2], 0)), 0))
    lines_of_few = shown("en", found=few).splitlines()
    bars = lines_of_few[lines_of_few.index("Due in the next 3 days") + 2 :][:3]
    assert [line.count("#") for line in bars] == [40, 1, 0]
    # The days' interviews are part of their bars, and named: 13 + 1 is the longest.
    assert done[13].split() == ["03-23", "14", "#" * 40, "1", "in", "interviews"]
    assert done[12].split() == ["03-22", "12", "#" * (40 * 12 // 14)]
    # A narrower picture has one scale too: 60 columns less "03-10  13  " and "  1 in interviews".
    narrow = shown("en", 60).splitlines()
    done = narrow[narrow.index("Answers in the last 14 days") + 2 :][:14]
    assert [line.count("#") for line in done] == [32 * (i + i % 2) // 14 for i in range(14)]


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        (
            "en",
            [
                "Answers: 12355, right: 12354 (100%)",
                "Questions met: 103 of 112; about 102 of those still remembered tomorrow (99%)",
                "In mock interviews, counted apart: answers 7, right 5",
                "Answers to questions that are not in the bank now: 3",
                "Flags: 2; to list them: quizkit bank flags",
                "Days of practice: 30, in a row now 5, longest run 12",
                "3 due now (part of today's), 40 later than these days, 9 never met",
                "Reviews: 200, right 150 (75%); remembered 160 (80%), where FSRS expected 180",
                "where FSRS expected 180 (90%) In the last 30 days: 20, right 15 (75%); remembered",
                "Sure and wrong: 11 (of 33 sure) Sure and right: 22 Unsure and right: 33 (of 77",
                "- Flushing costs nothing seen 4 x, last on 2026-03-10",
                "also caught by pp/a, pp/b, pp/c quizkit show pp/flush",
                "- <unnamed> & odd seen 1 x, last on 2026-03-10 quizkit show pp/other",
                "- pp/x missed 9 times quizkit show pp/x quizkit demo pipeline quizkit learn pp",
                "- pp/sums missed 5 times quizkit show pp/sums quizkit learn pp",
            ],
        ),
        (
            "zh",
            [
                "作答 12355 次，答对 12354 次（100%）",
                "112 道题里做过 103 道，估计明天还记得 102 道（99%）",
                "共练了 30 天，现在连续第 5 天，最长连续 12 天",
                "有把握，却答错：11（有把握的共 33）",
                "- 以为排空流水线不花时间 出现 4 次",
            ],
        ),
    ],
)
@pytest.mark.parametrize("plain", [False, True])
def test_what_is_said(lang: Lang, said: list[str], plain: bool):
    text = squeezed(shown(lang, 200, plain))
    for sentence in said:
        assert sentence in text


@pytest.mark.parametrize("lang", LANGS)
def test_plain_lines_have_no_pictures(lang: Lang):
    text = shown(lang, 200, plain=True)
    assert "#" not in text
    assert "--" not in text.replace("--json", "").replace("--html", "")
    said = {
        "zh": "pp，2 级：作答 10 次，答对 90%，明天还记得 75%",
        "en": "pp, level 2: answers 10, right 90%, remembered tomorrow 75%",
    }
    assert said[lang] in text
    assert {"zh": "pp，1 级", "en": "pp, level 1"}[lang] not in text
    assert text.count("zero") == 1  # what was not met has no numbers


def test_long_lists_say_what_they_leave_out():
    text = shown("en", most=1)
    assert "quizkit show pp/x" in text
    assert "quizkit show pp/y" not in text
    assert text.count("1 more; --json and --html have them all") == 2  # myths and leeches
    assert text.count("2 more; --json") == 1
    assert "more;" not in shown("en")


def test_nobody_is_told_off():
    quiet = replace(STANDING, activity=replace(STANDING.activity, row=0, longest=1))
    (line,) = [part for part in page("en", found=quiet)[3].parts if isinstance(part, str)]
    assert line == "Days of practice: 30"


@pytest.mark.parametrize("lang", LANGS)
def test_an_empty_diary_is_told_what_to_do_first(lang: Lang):
    empty = replace(STANDING, study=NONE, mock=(0, 0), gone=0)
    (only,) = page(lang, found=empty)
    assert "quizkit place" in str(only.parts)
    (only,) = page(lang, found=empty, topics=["pp"])
    assert "quizkit learn pp" in str(only.parts)
    assert len(page(lang, found=replace(empty, mock=(1, 0)))) > 1


class Seen(HTMLParser):
    """What a browser would take from the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)


@pytest.mark.parametrize("lang", LANGS)
def test_the_page_needs_nothing_from_outside(lang: Lang):
    text = stats_html(page(lang), lang)
    seen = Seen(text)
    assert not seen.open
    assert {tag for tag, _ in seen.tags}.isdisjoint({"script", "link", "img", "iframe", "object"})
    for _, attributes in seen.tags:
        assert attributes.keys().isdisjoint({"src", "href", "onload", "onclick"})
    for outside in ("http:", "https:", "url(", "@import", "//"):
        assert outside not in text
    assert "color-scheme: light dark" in text
    assert "prefers-color-scheme: dark" in text
    assert dict(seen.tags)["html"] == {"lang": {"zh": "zh-CN", "en": "en"}[lang]}


def test_the_page_says_what_the_screen_says():
    seen = Seen(stats_html(page("en"), "en"))
    text = squeezed(" ".join(seen.said))
    for sentence in ("Answers: 12355, right: 12354", "<unnamed> & odd", "quizkit demo pipeline"):
        assert sentence in text
    assert "10 90% 75%" in text
    widths = [a["style"] for tag, a in seen.tags if tag == "b" and "style" in a]
    # The picture of what is due: 1 to 13, of 13.
    expected = [f"width: {100 * i / 13:.1f}%" for i in range(1, 14)]
    assert widths[-13:] == expected
    assert "width: 75.0%" in widths
