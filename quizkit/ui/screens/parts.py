"""The parts every screen is made of: head, headings, notes, the footer from the keymap."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

from quizkit.bank import model
from quizkit.tutor.desk import Moment
from quizkit.tutor.verdict import Note
from quizkit.ui.terminal import keymap
from quizkit.ui.text.inline import inline
from quizkit.words import Lang, say

WIDEST = 100  # longer lines are hard to read, however wide the terminal is
_ANCHOR = "anchor"
RIGHT, WRONG, PARTLY = "bold green", "bold red", "bold magenta"


def kind(question: model.Question, lang: Lang) -> str:
    """Say what is to be done: pick one or several, work out a number, ..."""
    several = isinstance(question, model.Choice) and question.several
    return say(f"ui.kind_{'several' if several else question.kind}", lang)


def head(moment: Moment, plain: bool) -> RenderableType:
    """Return the line on where we are: number, shelf, level, kind; then what was said about it."""
    question, lang = moment.question, moment.lang
    facts = [question.topic, say(f"ui.level_{question.level}", lang), kind(question, lang)]
    if moment.why_now:
        facts.append(note(moment.why_now, lang))
    if moment.sure is not None:
        facts.append(say("ui.is_sure" if moment.sure else "ui.is_unsure", lang))
    if moment.flagged:
        facts.append(say("ui.is_flagged", lang))
    if plain:
        key = "ui.number_of" if moment.total else "ui.number_open"
        number = say(key, lang, number=moment.number, total=moment.total)
        stop, comma = ("。", "，") if lang == "zh" else (". ", ", ")
        return Text(f"{number}{stop}{comma.join(facts)}", overflow="fold")
    number = f"{moment.number}/{moment.total}" if moment.total else f"{moment.number}"
    return Group(Flow([Text(number, "bold"), *(Text(fact, "dim") for fact in facts)]), rule())


def rule(title: str = "", style: str = "dim") -> RenderableType:
    """Draw a line across, in a character that is one column wide everywhere."""
    return Rule(Text(title, style), characters="-", style=style, align="left")


def section(title: str, *content: RenderableType) -> list[RenderableType]:
    """Return a heading and what stands under it, a blank line above."""
    return [Text(""), Text(title, "bold"), *content]


class Anchored:
    """Parts of a page whose first words bear a name, for a screen to begin there."""

    def __init__(self, name: str, *parts: RenderableType) -> None:
        self._mark = _marked(name)
        self._parts = parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        """The parts as they are, but for the mark, which nobody sees."""
        is_marked = False
        for segment in console.render(Group(*self._parts), options):
            if is_marked or segment.control or not segment.text.strip():
                yield segment
            else:
                is_marked = True
                yield Segment(segment.text, (segment.style or Style()) + self._mark)


def _marked(name: str) -> Style:
    return Style(bold=True, meta={_ANCHOR: name})


def anchors(line: Iterable[Segment]) -> set[str]:
    """Return the names that a line of a page bears."""
    styles = (segment.style for segment in line)
    return {str(style.meta[_ANCHOR]) for style in styles if style and _ANCHOR in style.meta}


def more(above: int, below: int, lang: Lang) -> Text:
    """Say how many lines cannot be seen below and above, and what brings them."""
    key = "ui.more_line" if below == 1 else "ui.more_below"
    told = [say(key, lang, count=below)] if below else []
    told += [say("ui.more_above", lang, count=above)] if above else []
    return Text("  ".join(told), "bold cyan", no_wrap=True, overflow="crop")


def below(text: Text, by: int = 4) -> RenderableType:
    """Set a text in under what it is about, on every line that it takes."""
    return Padding(text, (0, 0, 0, by), expand=False)


def short(text: Text, columns: int) -> Text:
    """Return the text on one line, cut to so many columns."""
    line = Text(" ".join(text.plain.split()))
    if line.cell_len > columns:
        # Half of a wide character is a space, and none belongs before the dots.
        line.truncate(max(0, columns - 1), overflow="crop")
        line.rstrip()
        line.append("…")
    return line


def bracketed(words: Sequence[str], lang: Lang) -> str:
    """Put words said in passing into the language's own brackets."""
    return f"（{'，'.join(words)}）" if lang == "zh" else f" ({', '.join(words)})"


def colon(lang: Lang) -> str:
    """Return the language's own colon."""
    return "：" if lang == "zh" else ": "


def note(said: Note, lang: Lang) -> str:
    """Return a note's sentence."""
    key, values = said
    spoken: Mapping[str, object] = {
        name: value[lang] if isinstance(value, model.Text) else value
        for name, value in values.items()
    }
    return say(key, lang, **spoken)


def numbered(
    rows: Sequence[RenderableType],
    signs: Sequence[tuple[str, str]] | None = None,
    ticked: Sequence[bool] | None = None,
    here: int | None = None,
    first: int = 0,
) -> RenderableType:
    """Draw a list with the digits that pick from it, after signs, ticks and the cursor."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    before = [each for each in (here, signs, ticked) if each is not None]
    for _ in range(len(before) + 1):
        grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for at, row in enumerate(rows):
        cells: list[RenderableType] = []
        if here is not None:
            cells.append(Text(">", _marked("here")) if at == here else Text(" "))
        if signs is not None:
            cells.append(Text(*signs[at]))
        cells.append(Text(f"{first + at + 1})", "bold"))
        if ticked is not None:
            cells.append(Text("[x]" if ticked[at] else "[ ]", "bold" if ticked[at] else ""))
        grid.add_row(*cells, row)
    return grid


def pairs(rows: Sequence[tuple[str, RenderableType]]) -> RenderableType:
    """Draw names and what they are, side by side."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, value)
    return grid


def said(moment: Moment, plain: bool) -> list[RenderableType]:
    """Return the session's message, if it has one."""
    if moment.message is None:
        return []
    return [Text(""), inline(note(moment.message, moment.lang), plain, "bold")]


def footer(
    state: keymap.State, lang: Lang, last: int, without: Collection[str] = ()
) -> RenderableType:
    """Return what can be pressed now, broken between commands and never inside one."""
    pieces = (item.partition(" ") for item in keymap.footer(state, lang, last, without=without))
    return Flow([Text(key, "bold").append(f" {label}", "not bold dim") for key, _, label in pieces])


class Flow:
    """Pieces set one after the other; which of them fit on a line only the console knows."""

    def __init__(self, pieces: Sequence[Text]) -> None:
        self.pieces = pieces

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Break lines between the pieces; a piece alone that is wider is folded."""
        line = Text(overflow="fold")
        for piece in self.pieces:
            if line and line.cell_len + 2 + piece.cell_len > options.max_width:
                yield line
                line = Text(overflow="fold")
            line.append("  " if line else "").append_text(piece)
        yield line


def help_screen(
    state: keymap.State,
    lang: Lang,
    last: int,
    manner: keymap.Manner = "keys",
    without: Collection[str] = (),
) -> RenderableType:
    """Draw every key that means something now, with a sentence."""
    rows: list[tuple[str, RenderableType]] = [
        (key, Text(does, overflow="fold"))
        for key, does in keymap.explained(state, lang, last, manner, without)
    ]
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return Group(Text(say("ui.help_title", lang), "bold"), Text(""), grid)
