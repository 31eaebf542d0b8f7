"""The one keymap: which key does what, and when. Footer, help and KEYS.md come from it.

Three ways to say the same: a key, where nothing is typed; a Ctrl chord, where letters are text;
`:` and the key, where input comes line by line. The chords stay off what an editing hand expects:
Ctrl-A B D E F H I J K L M N P U W Y Z _ keep the meaning they have in a shell, Ctrl-C interrupts
and Ctrl-D on an empty line quits.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from quizkit.words import Lang, say

State = Literal[
    "watch",
    "pick", "tick", "rubric", "order", "line", "review", "type", "compose", "verdict", "page",
    "home", "demos", "filter", "riddle", "ran", "interview",
]  # fmt: skip
"""The thing the desk is waiting for. A digit means one thing in each."""

Manner = Literal["keys", "lines"]
"""The way commands are given: key by key, or a line at a time."""

_TICKING: tuple[State, ...] = ("tick", "rubric")
_ASKING: tuple[State, ...] = (
    "pick", *_TICKING, "order", "line", "review", "type", "compose"
)  # fmt: skip
_ALL: tuple[State, ...] = (*_ASKING, "verdict")
_SESSION: tuple[State, ...] = (*_ALL, "page")
_SHOWN: tuple[State, ...] = ("home", "riddle", "ran", "watch")
_BESIDE: tuple[State, ...] = ("home", "demos", "riddle", "ran")
_PAGED: tuple[State, ...] = (*_ALL, "page", "demos", "filter", *_SHOWN, "interview")
# Up and down move the cursor of a list of ticks, Home and End the one of a text.
_STILL: tuple[State, ...] = ("pick", "order", "line", "review", "verdict", "page")
_KEYED: tuple[State, ...] = (*_STILL, *_TICKING, "home", "demos", "riddle", "ran")
_MOCK: tuple[State, ...] = ("interview",)
_ANYWHERE: tuple[State, ...] = (*_ALL, "page", *_BESIDE, "watch", *_MOCK)
_DIGITS = tuple("123456789")
_PAGES = ("pageup", "pagedown")


@dataclass(frozen=True, slots=True)
class Binding:
    """One command. `words` names its label (`ui.key_...`) and its explanation (`ui.does_...`)."""

    command: str
    words: str
    states: tuple[State, ...]
    keys: tuple[str, ...]
    # How the keys are printed; `{last}` is the largest digit that means something now.
    shown: str
    chord: str = ""
    # In line mode: what is typed, on a line of its own.
    line: str = ""
    # The page itself says so where it is of use.
    quiet: bool = False

    def label(self, lang: Lang) -> str:
        """Return one or two words, for the footer."""
        return say(f"ui.key_{self.words}", lang)

    def explanation(self, lang: Lang) -> str:
        """Return a sentence, for the help."""
        return say(f"ui.does_{self.words}", lang)


KEYMAP: tuple[Binding, ...] = (
    Binding("pick", "pick", ("pick",), _DIGITS, "1-{last}", line="1-{last}"),
    Binding("tick", "tick", _TICKING, _DIGITS, "1-{last}", line="1 3"),
    Binding("place", "place", ("order",), _DIGITS, "1-{last}", line="3 1 2"),
    Binding("digit", "digit", ("line",), tuple("0123456789"), "0-9", line="12"),
    Binding("edit", "edit", ("review",), _DIGITS, "1-{last}"),
    Binding("up", "move", _TICKING, ("up", "k"), "↑/↓"),
    Binding("down", "move", _TICKING, ("down", "j"), "↑/↓"),
    Binding("mark", "mark", _TICKING, ("space",), "Space"),
    Binding("back", "back", ("order", "line"), ("backspace",), "Backspace"),
    Binding("rewrite", "rewrite", ("rubric",), ("backspace",), "Backspace"),
    Binding("submit", "submit", (*_TICKING, "order", "line", "review"), ("enter",), "Enter"),
    Binding("submit", "submit", ("type",), (), "Enter", chord="enter"),
    Binding("submit", "submit_text", ("compose",), (), "Alt-Enter", chord="escape enter"),
    Binding("reveal", "reveal", ("pick",), ("space", "enter"), "Space/Enter", line="Enter"),
    Binding("continue", "continue", ("verdict",), ("space", "enter"), "Space/Enter", line="Enter"),
    Binding("continue", "begin", ("page",), ("space", "enter"), "Space/Enter", line="Enter"),
    Binding("grade", "grade", ("verdict",), tuple("1234"), "1-4", line="1-4"),
    Binding("right", "right", ("verdict",), ("r",), "r", line=":r"),
    Binding("prove", "prove", ("verdict",), ("p",), "p", line=":p"),
    Binding("full", "full", ("verdict",), ("v",), "v", line=":v"),
    Binding("why", "why", ("verdict",), ("w",), "w", line=":w"),
    Binding("say", "say", ("verdict",), ("y",), "y", line=":y"),
    Binding("scroll_up", "scroll", (*_STILL, *_SHOWN), ("up", "k"), "↑/↓", quiet=True),
    Binding("scroll_down", "scroll", (*_STILL, *_SHOWN), ("down", "j"), "↑/↓", quiet=True),
    Binding("page_up", "page", _PAGED, ("pageup",), "PgUp/PgDn", chord="pageup", quiet=True),
    Binding("page_down", "page", _PAGED, ("pagedown",), "PgUp/PgDn", chord="pagedown", quiet=True),
    Binding("scroll_top", "page_ends", _KEYED, ("home",), "Home/End", quiet=True),
    Binding("scroll_end", "page_ends", _KEYED, ("end",), "Home/End", quiet=True),
    Binding("hint", "hint", _ASKING, ("h",), "h", chord="c-r", line=":h"),
    Binding("assume", "assume", _ALL, ("a",), "a", chord="c-v"),
    Binding("next", "next", ("home",), ("enter", "space"), "Enter"),
    Binding("demos", "demos", ("home",), ("d",), "d"),
    Binding("study", "study", ("home",), ("s",), "s"),
    Binding("mock", "mock", ("home",), ("m",), "m"),
    Binding("run", "run", ("demos", "filter"), ("enter",), "Enter"),
    Binding("higher", "walk", ("demos", "filter"), ("up",), "↑/↓"),
    Binding("lower", "walk", ("demos", "filter"), ("down",), "↑/↓"),
    Binding("filter", "filter", ("demos",), ("/",), "/"),
    Binding("choose", "choose", ("filter",), ("tab",), "Tab"),
    Binding("clear", "clear", ("demos", "filter"), ("escape",), "Esc"),
    Binding("guess", "guess", ("riddle",), _DIGITS, "1-{last}"),
    Binding("leave", "leave_it", ("ran",), ("enter", "space", "escape"), "Enter"),
    Binding("leave", "leave_it", ("riddle",), ("escape",), "Esc"),
    Binding("plant", "plant", ("demos", "ran"), ("b",), "b"),
    Binding("play", "play", ("watch",), ("space",), "Space"),
    Binding("back", "step", ("watch",), ("left",), "←/→"),
    Binding("on", "step", ("watch",), ("right",), "←/→"),
    Binding("first", "ends", ("watch",), ("home",), "Home/End"),
    Binding("last", "ends", ("watch",), ("end",), "Home/End"),
    Binding("schedule", "schedule", ("watch",), ("n", "tab"), "n"),
    Binding("quit", "leave_watch", ("watch",), ("q", "escape"), "q"),
    Binding("ask", "ask_interviewer", _MOCK, (), "Ctrl-O", chord="c-o", line=":…"),
    Binding("hint", "hint_priced", _MOCK, (), "Ctrl-R", chord="c-r", line=":h"),
    Binding("editor", "editor", _MOCK, (), "Ctrl-X", chord="c-x", line=":e"),
    Binding("toggle", "toggle", _ANYWHERE, ("t",), "t", chord="c-t", line=":t"),
    Binding("sure", "sure", _ASKING, ("!",), "!", chord="c-]", line=":!"),
    Binding("sure", "sure_of_this", _MOCK, (), "Ctrl-]", chord="c-]", line=":!"),
    Binding("skip", "no_answer", _MOCK, (), "Ctrl-S", chord="c-s", line=":s"),
    Binding("quit", "go_out", _MOCK, (), "Ctrl-Q", chord="c-q", line=":q"),
    Binding("flag", "flag", _ALL, ("f",), "f", chord="c-x", line=":f"),
    Binding("undo", "undo", _ALL, ("u",), "u", chord="c-o", line=":u"),
    Binding("undo", "before", ("page",), ("u", "left"), "u/←"),
    Binding("skip", "skip", (*_ASKING, "page"), ("s",), "s", chord="c-s", line=":s"),
    Binding(
        "help", "help", (*_ALL, "page", *_BESIDE, "watch"), ("?",), "?", chord="c-g", line=":?"
    ),
    Binding("quit", "quit", (*_ALL, "page", *_BESIDE), ("q",), "q", chord="c-q", line=":q"),
)

TYPING: tuple[State, ...] = ("type", "compose", *_MOCK)


def bound(state: State, key: str) -> str | None:
    """Return the command of a key in a state."""
    for binding in KEYMAP:
        if state in binding.states and key in binding.keys and state not in TYPING:
            return binding.command
    return None


def chords(state: State) -> dict[str, str]:
    """Map chords to commands, for what is typed."""
    here = [b for b in KEYMAP if state in b.states]
    return {b.chord: b.command for b in here if b.chord.startswith("c-") or b.chord in _PAGES}


def scrolls(key: str) -> str | None:
    """Return the command by which a key moves a page that is only read."""
    return next((b.command for b in KEYMAP if b.quiet and key in b.keys), None)


SCROLLING = tuple(b.command for b in KEYMAP if b.quiet)
"""The commands that only move the page."""


def line_command(line: str, states: Collection[State] = _SESSION) -> str | None:
    """Return the command of a line such as `:t` or `:hint` in one of the states, or nothing."""
    wanted = line.strip().casefold()
    for binding in KEYMAP:
        named = binding.line.startswith(":") and wanted in (binding.line, f":{binding.command}")
        if named and not {*binding.states}.isdisjoint(states):
            return binding.command
    return None


def allows(state: State, command: str) -> bool:
    """Tell whether the command means something in a state."""
    return any(b.command == command and state in b.states for b in KEYMAP)


def footer(
    state: State,
    lang: Lang,
    last: int = 4,
    manner: Manner = "keys",
    without: Collection[str] = (),
) -> list[str]:
    """List what can be pressed now, as `key label`, in the order of the keymap.

    `without` names commands that would show nothing here.
    """
    here = [each for each in _here(state, manner, without) if not each.quiet]
    keys = (_pressed(each, state, manner).format(last=last) for each in here)
    labels = (each.label(lang) for each in here)
    return list(dict.fromkeys(f"{key} {label}" for key, label in zip(keys, labels, strict=True)))


def explained(
    state: State,
    lang: Lang,
    last: int = 4,
    manner: Manner = "keys",
    without: Collection[str] = (),
) -> list[tuple[str, str]]:
    """List what can be pressed now as (key, sentence): the footer's and the terminal's own."""
    rows = [
        (_pressed(b, state, manner).format(last=last), b.explanation(lang))
        for b in _here(state, manner, without)
    ]
    if state in TYPING and manner == "keys":
        rows += [
            ("Ctrl-D", say("ui.does_leave", lang)),
            ("Ctrl-_", say("ui.does_retract", lang)),
        ]
    if manner == "keys":
        rows += [("Ctrl-L", say("ui.does_redraw", lang)), ("Ctrl-Z", say("ui.does_pause", lang))]
    return [*dict.fromkeys(rows), ("Ctrl-C", say("ui.does_interrupt", lang))]


def chord_name(chord: str) -> str:
    """Write a chord such as `c-t` as people write it."""
    if chord in _PAGES:
        return "PgUp/PgDn"
    return "Ctrl-" + chord.removeprefix("c-").upper() if chord.startswith("c-") else ""


def _here(state: State, manner: Manner, without: Collection[str]) -> list[Binding]:
    here = [b for b in KEYMAP if state in b.states and b.command not in without]
    return [b for b in here if _pressed(b, state, manner)]


def _pressed(binding: Binding, state: State, manner: Manner) -> str:
    """Return how the command is given here; nothing where it cannot be."""
    if manner == "lines":
        return binding.line
    if state in TYPING:
        return chord_name(binding.chord) or (binding.shown if not binding.keys else "")
    return binding.shown if binding.keys else ""
