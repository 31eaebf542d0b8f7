"""One keymap: nothing clashes in it, and footer, help and the README's table say what it says."""

from typing import get_args

import pytest

from quizkit.tutor.desk import CommandName
from quizkit.ui.terminal import keymap
from quizkit.ui.terminal.keymap import KEYMAP, State
from quizkit.words import Lang

STATES: tuple[State, ...] = get_args(State)
LANGS: tuple[Lang, ...] = ("zh", "en")
# What a hand that edits text expects of Ctrl: move, delete, paste, redraw, pause, interrupt.
EDITING = {f"c-{letter}" for letter in "abcdefhijklmnpuwyz_"}


@pytest.mark.parametrize("state", STATES)
def test_a_key_means_one_thing_in_a_state(state: State):
    keys = [key for b in KEYMAP if state in b.states for key in b.keys]
    assert len(keys) == len(set(keys))
    digits = {b.command for b in KEYMAP if state in b.states for key in b.keys if key.isdigit()}
    assert len(digits) <= 1


def test_every_command_of_the_session_has_a_key_or_a_chord_where_it_can_be_given():
    for command in get_args(CommandName):
        given = [b for b in KEYMAP if b.command == command]
        assert given, command
        for binding in given:
            for state in binding.states:
                assert binding.keys or state in keymap.TYPING
                if state in keymap.TYPING:
                    assert binding.chord


@pytest.mark.parametrize("state", keymap.TYPING)
def test_chords_leave_the_editing_keys_alone(state: State):
    assert not EDITING & set(keymap.chords(state))
    chords = [b for b in KEYMAP if state in b.states and b.chord.startswith(("c-", "page"))]
    assert len(keymap.chords(state)) == len(chords)


def test_one_chord_says_the_same_in_the_session_and_in_an_interview():
    # Whoever has learnt Ctrl-T at one desk finds it at the other; Ctrl-O and Ctrl-X do no harm.
    session, interview = keymap.chords("compose"), keymap.chords("interview")
    differ = {each for each in interview if interview[each] != session.get(each)}
    assert differ == {"c-o", "c-x"}


def test_while_text_is_typed_no_letter_is_a_command():
    for state in keymap.TYPING:
        assert not any(keymap.bound(state, key) for key in "htfus!?q123 ")


def test_lines_take_the_key_or_the_whole_word():
    assert keymap.line_command(":t") == keymap.line_command(" :TOGGLE ") == "toggle"
    assert keymap.line_command(":!") == "sure"
    assert keymap.line_command("t") is None
    assert keymap.line_command(":nonsense") is None
    assert keymap.line_command(":e") is None
    assert keymap.line_command(":e", ["interview"]) == "editor"
    for state in STATES:
        typed = [b.line for b in KEYMAP if state in b.states and b.line.startswith(":")]
        assert len(typed) == len(set(typed))


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("state", STATES)
def test_footer_and_help_list_what_is_bound_and_nothing_else(state: State, lang: Lang):
    bound = [b for b in KEYMAP if state in b.states]
    footer = keymap.footer(state, lang, 4)
    offered = [b for b in bound if not b.quiet]  # the others are said by the page that is long
    labels = {b.label(lang) for b in offered if b.chord or state not in keymap.TYPING}
    assert {item.split(" ", 1)[1] for item in footer} == labels
    explained = {does for _, does in keymap.explained(state, lang, 4)}
    assert {b.explanation(lang) for b in bound if b.chord or state not in keymap.TYPING} < explained
    lines = keymap.footer(state, lang, 4, "lines")
    assert {item.split(" ", 1)[0] for item in lines} <= {
        b.line.format(last=4).split(" ")[0] for b in bound
    }
