"""Name a question by how it begins: nobody knows it by its slug."""

import re
import unicodedata

_COLUMNS = 56
_LATE = 0.7  # of the room: a clause that ends before says too little
_SHORT = 20  # columns: "The second one." names nothing, and the sentence after it does
_END = re.compile(r"[。？！?!]|\.(?=\s)|[：:](?=\s|$)")
_CLAUSE = re.compile(r"[，、；：。！？]|[,;:.!?](?= )")
_INSIDE = re.compile(r"[A-Za-z0-9_/-]")
_TORN = re.compile(r"[A-Za-z0-9_./'-]+$")
_MARKUP = re.compile(r"[`*$#>]|\[\[|\]\]")
_FENCED = re.compile(r"```.*?(```|$)", re.DOTALL)
_GAP = re.compile(r"\{\w+\}")


def first_words(prompt: str) -> str:
    """Return a prompt's beginning in one line: its first sentence, cut where that is too long."""
    text = " ".join(_MARKUP.sub("", _FENCED.sub(" ", prompt)).split())
    text = _GAP.sub("…", text)
    ends = (each.end() for each in _END.finditer(text))
    text = text[: next((end for end in ends if _columns(text[:end]) >= _SHORT), len(text))]
    return cut(text, _COLUMNS + 1) if _columns(text) > _COLUMNS else text.rstrip("。.：:")


def cut(text: str, columns: int) -> str:
    """Return a text in one line, cut to so many columns: at a clause that ends late enough, or
    else at a word; words of letters are not torn unless there is nothing before them.
    """
    text = " ".join(text.split())
    if _columns(text) <= columns:
        return text
    room = next(n for n in range(len(text), -1, -1) if _columns(text[:n]) < max(1, columns))
    shown = text[:room]
    clauses = [each.start() for each in _CLAUSE.finditer(text, 0, room + 1)]
    if clauses and _columns(text[: clauses[-1]]) >= _LATE * columns:
        shown = text[: clauses[-1]]
    elif _INSIDE.match(text, room):
        shown = _TORN.sub("", shown) or shown
    return shown.rstrip(" ,，、;；:：…") + "…"


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)
