"""Setting a formula in one line: what binds how tightly, and where brackets are needed for it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from quizkit.ui.text.symbols import SUBSCRIPTS, SUPERSCRIPTS

PREFIXES = ("∂", "∇", "¬")
_BEFORE_SIGN = ("operator", "relation", "open", "comma")
_AFTER_FUNCTION = ("factor", "fraction", "function", "sum")

Kind = Literal[
    "factor", "fraction", "operator", "relation", "open", "close", "comma", "space", "function",
    "sum",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text and what it is among its neighbours."""

    text: str
    kind: Kind = "factor"
    # A single symbol, number or word: needs no brackets, whatever stands beside it.
    whole: bool = True


def join(pieces: Sequence[Piece]) -> str:
    """Set the pieces beside each other, with the spaces and brackets they need."""
    out = ""
    before: Piece | None = None
    for at, piece in enumerate(pieces):
        if piece.kind == "space":
            out += piece.text
            continue
        after = next((later for later in pieces[at + 1 :] if later.kind != "space"), None)
        text = piece.text
        if not piece.whole and (_multiplies(before, "close") or _multiplies(after, "open")):
            text = f"({text})"
        spaced = " " in (out[-1:], pieces[at + 1].text if at + 1 < len(pieces) else "")
        match piece.kind:
            case "relation":
                text = f" {text} "
            case "operator" if before is None or before.kind in _BEFORE_SIGN:
                pass
            case "operator" if spaced or text not in "+-/·*":
                text = f" {text} "
            case "function" | "sum":
                text = (" " if _multiplies(before, "close") else "") + text
                text += " " if after and after.kind in _AFTER_FUNCTION else ""
            case "close" | "comma":
                out = out.rstrip()
                text += " " if text == ";" else ""
            case _:
                text = (" " if before and _would_merge(out, before.text, text) else "") + text
        out = (out.rstrip() if before and before.kind == "open" else out) + text
        before = piece
    return out


def _multiplies(neighbour: Piece | None, bracket: Kind) -> bool:
    """Tell whether the neighbour would be read as a factor."""
    return neighbour is not None and neighbour.kind in ("factor", "fraction", "function", bracket)


def _would_merge(out: str, before: str, text: str) -> bool:
    """Two words side by side would run into one; letters that are multiplied may: sbh."""
    if not re.search(r"[A-Za-z0-9]$", out):
        return False
    longer = re.search(r"[A-Za-z]{2,}$", before)
    return bool(re.match(r"[A-Za-z]{2,}", text)) or (bool(longer) and text[:1].isalnum())


def numerator(pieces: Sequence[Piece]) -> str:
    """Write a numerator: a product needs no brackets, as multiplying comes from the left."""
    solid = [piece for piece in pieces if piece.kind != "space"]
    depth = 0
    for piece in solid:
        depth += (piece.kind == "open") - (piece.kind == "close")
        product = piece.text in ("·", "×", "⊗", "⊙")
        loose = piece.kind in ("relation", "comma", "fraction", "sum", "function")
        loose = loose or (piece.kind == "operator" and not product)
        if not depth and (loose or not piece.whole):
            return tight(pieces)
    text = join(pieces).strip()
    return text if " " not in text or len(solid) == 1 else tight(pieces)


def tight(pieces: Sequence[Piece]) -> str:
    """Write something that has to hold together under a root or below a fraction line."""
    solid = [piece for piece in pieces if piece.kind != "space"]
    text = join(pieces).strip()
    if len(solid) == 2 and solid[0].text in PREFIXES:
        solid = solid[1:]
    if (len(solid) == 1 and solid[0].whole) or is_bracketed(solid) or _is_call(solid):
        return text
    return f"({text})"


def is_bracketed(pieces: Sequence[Piece]) -> bool:
    """Tell whether one pair of brackets goes round all of it."""
    solid = [piece for piece in pieces if piece.kind != "space"]
    if not solid or solid[0].kind != "open" or solid[-1].kind != "close":
        return False
    depth = 0
    for at, piece in enumerate(solid):
        depth += (piece.kind == "open") - (piece.kind == "close")
        if not depth:
            return at == len(solid) - 1
    return False


def _is_call(solid: Sequence[Piece]) -> bool:
    r"""A name and its bracket: `T(n)`, `\max(a, b)`."""
    return (
        len(solid) > 1
        and solid[0].kind in ("factor", "function")
        and solid[0].whole
        and is_bracketed(solid[1:])
    )


def raised(inside: Sequence[Piece], mark: str) -> str:
    """Write a superscript or subscript: in small letters where Unicode has them all."""
    text = "".join(join(inside).split())
    small = SUPERSCRIPTS if mark == "^" else SUBSCRIPTS
    if text and all(character in small for character in text):
        return "".join(small[character] for character in text)
    plain = re.fullmatch(r"\w*|[^\w\s]", text) or is_bracketed(inside)
    return f"{mark}{text}" if plain else f"{mark}({join(inside).strip()})"
