"""Long pages on a small screen: where they begin, how they move, and that they say so."""

from collections.abc import Callable

import pytest

UP, DOWN, PAGE_UP, PAGE_DOWN, HOME, END = (
    "\x1b[A", "\x1b[B", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F"
)  # fmt: skip


def body(text: str) -> list[str]:
    """The page, down to the line that says how much is missing; nothing while it is painted."""
    lines = text.split("\n")
    said = [at for at, line in enumerate(lines) if "more (" in line or "above" in line]
    return lines[: said[0]] if said and "quit" in text else []


def other(before: list[str]) -> Callable[[str], bool]:
    """Whether the whole of another part of the page is there."""
    return lambda text: body(text) not in ([], before)


def test_a_verdict_begins_at_its_top_and_every_line_of_it_can_be_reached(sit, written):
    desk = sit("single", columns=40, rows=15)
    desk.until("? help")
    desk.press("2")
    top = desk.wait(lambda text: "Wrong ---" in text and body(text), "a verdict")
    assert "Wrong ---" in top
    assert "\n3" not in top[: top.index("↓ more")]
    whole = body(top)
    while "↓ more" in desk.text:
        before = body(desk.text)
        desk.press("j")
        desk.wait(other(before), "the next line")
        assert body(desk.text)[: len(before) - 2] == before[1:-1]
        whole.append(body(desk.text)[-1])
    assert sum(line.startswith("The question ---") for line in whole) == 1
    end = body(desk.text)
    desk.press("k")
    desk.wait(lambda text: "↓ more (1 line," in text and body(text), "one line up")
    desk.press(DOWN)
    desk.wait(lambda text: body(text) == end, "the end")
    desk.press(HOME)
    desk.wait(lambda text: body(text) == body(top), "the top")
    desk.press(END)
    desk.wait(lambda text: body(text) == end, "the end")
    while "↑" in desk.text:
        before = body(desk.text)
        desk.press(PAGE_UP)
        desk.wait(other(before), "the page before")
    assert body(desk.text) == body(top)
    desk.press("\r")
    assert desk.close() == 0
    said = [line.get("command") for line in written()]
    assert said == [None, "continue"]  # nothing that scrolls was an answer or a command


LOW = {"single": 12, "order": 12, "bug": 12, "several": 9, "number": 7}


@pytest.mark.parametrize("name", LOW)
def test_a_question_begins_at_its_top_on_a_low_screen_and_its_end_can_be_reached(sit, name: str):
    desk = sit(name, columns=40, rows=LOW[name])
    top = desk.wait(body, "a long page")
    assert top.startswith("1/1  pp")
    while "↓ more" in desk.text:
        before = body(desk.text)
        desk.press(PAGE_DOWN)
        desk.wait(other(before), "the next page")
    assert not desk.text.startswith("1/1  pp")


def test_what_was_asked_for_is_what_the_screen_begins_with(sit):
    desk = sit("single", columns=60, rows=16)
    desk.until("? help")
    desk.press("h")
    desk.until("Draw it first.")
    desk.press("2")
    desk.until("Wrong ---")
    for key, title in (("p", "The run"), ("w", "Option by option"), ("y", "Said aloud")):
        desk.press(key)
        desk.wait(lambda text, title=title: body(text) and body(text)[0].startswith(title), title)
    desk.press("t")  # the place is kept
    desk.wait(lambda text: text.split("\n")[0] == "面试时可以这么说", "the same in Chinese")


def test_the_cursor_of_a_list_takes_the_page_along(sit):
    desk = sit("several", columns=40, rows=9)
    desk.until("↓ more (")
    desk.press(UP)  # from the first to the last
    desk.until("> 3)")
    desk.press(DOWN)
    desk.until("> 1)")


def test_help_scrolls_and_any_other_key_goes_back(sit):
    desk = sit("single", columns=60, rows=14)
    desk.until("? help")
    desk.press("?")
    desk.until("↓ more (")
    desk.press(END)
    desk.until("Ctrl-C", gone="↓ more (")
    desk.press("x")
    desk.until("1/1  pp")
    assert "any key goes back" not in desk.text


def test_a_page_that_fits_says_nothing_of_scrolling(sit):
    desk = sit("single", columns=80, rows=60)
    desk.until("? help")
    desk.press("?")
    desk.until("any key goes back")
    assert "PgUp" not in desk.text
    assert "more (" not in desk.text


def test_a_long_text_scrolls_in_its_own_lines_and_the_question_stays(sit):
    desk = sit("essay", columns=60, rows=18)
    desk.until("Alt-Enter")
    before = desk.text.split("\n")[0]
    for number in range(20):
        desk.press(f"line {number} of an answer\r")
    desk.until("line 19 of an answer", gone="line 2 of an answer")
    assert desk.text.split("\n")[0] == before
