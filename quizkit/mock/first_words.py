"""Name a question by how it begins: nobody knows it by its slug."""

import re
import unicodedata

_COLUMNS = 56
_SHORT = 20  # columns: "The second one." names nothing, and the sentence after it does
_END = re.compile(r"[。？！?!]|\.(?=\s)|[：:](?=\s|$)")
_MARKUP = re.compile(r"[`*$#>]|\[\[|\]\]")
_FENCED = re.compile(r"```.*?(```|$)", re.DOTALL)
_GAP = re.compile(r"\{\w+\}")


def first_words(prompt: str) -> str:
    """Return a prompt's beginning in one line: its first sentence, cut where that is too long."""
    text = " ".join(_MARKUP.sub("", _FENCED.sub(" ", prompt)).split())
    text = _GAP.sub("…", text)
    ends = (each.end() for each in _END.finditer(text))
    text = text[: next((end for end in ends if _columns(text[:end]) >= _SHORT), len(text))]
    shown = ""
    for letter in text:
        if _columns(shown + letter) > _COLUMNS:
            # Words of letters are not torn.
            cut = shown.rsplit(" ", 1)[0] if letter.isascii() and letter.isalnum() else shown
            return cut.rstrip(" ,，、;；") + "…"
        shown += letter
    return shown.rstrip("。.：:")


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)
