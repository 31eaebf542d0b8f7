r"""LaTeX mathematics as one line of Unicode: `\frac{p-1}{m+p-1}` becomes `(p-1)/(m+p-1)`.

A line has no height, so what TeX says by position needs brackets here. Every piece knows how
tightly it binds, and brackets are set where, and only where, leaving them out would change what is
meant. What is not known keeps its name, so nothing disappears.
"""

import re

from quizkit.ui.text.pieces import (
    PREFIXES,
    Kind,
    Piece,
    is_bracketed,
    join,
    numerator,
    raised,
    tight,
)
from quizkit.ui.text.symbols import (
    ACCENTS,
    ALPHABETS,
    BIG,
    FUNCTIONS,
    OPERATORS,
    RELATIONS,
    SYMBOLS,
)

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|[0-9]+(?:[.,][0-9]+)*|.", re.DOTALL)
_FRACTIONS = ("frac", "dfrac", "tfrac", "cfrac")
_UPRIGHT = (
    "text", "textrm", "textbf", "textit", "texttt", "mathrm", "mathbf", "mathit", "mathsf",
    "operatorname", "boldsymbol", "bm", "mbox",
)  # fmt: skip
_SIZES = ("left", "right", "middle", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "bigg", "Bigg")
_SILENT = (
    "displaystyle", "textstyle", "limits", "nolimits", "boxed", "nonumber", "underbrace",
    "overbrace",
)  # fmt: skip
_SPACES = (",", ";", ":", "!", " ", "quad", "qquad", "enspace", "thinspace")


def unicode(source: str) -> str:
    """Write the formula between two dollars (without them) in one line."""
    pieces = _Reader(source).pieces("")
    return " ".join(join(pieces).split())


class _Reader:
    """Reads tokens, one construct at a time."""

    def __init__(self, source: str) -> None:
        self.tokens: list[str] = _TOKEN.findall(source)
        self.at = 0

    def pieces(self, end: str) -> list[Piece]:
        """Everything up to the sign `end`, or to the end of the source."""
        pieces: list[Piece] = []
        while self.at < len(self.tokens):
            sign = self.tokens[self.at]
            if sign.strip() == end and end:
                self.at += 1
                break
            if sign in ("^", "_", "'"):
                self.at += 1
                base = pieces.pop() if pieces and pieces[-1].kind != "space" else Piece("")
                pieces.append(self._script(sign, base))
            elif sign == "{":
                self.at += 1
                pieces += self._group()
            else:
                pieces.append(self._one())
        return pieces

    def _one(self) -> Piece:
        """The next construct."""
        sign = self.tokens[self.at]
        self.at += 1
        if sign.startswith("\\") and len(sign) > 1:
            return self._macro(sign[1:])
        return _character(sign)

    def _group(self) -> list[Piece]:
        """Braces show nothing; but what a script is put on stays together."""
        inside = self.pieces("}")
        scripted = self.at < len(self.tokens) and self.tokens[self.at] in ("^", "_")
        if not scripted or len(inside) == 1:
            return inside
        return [Piece(join(inside), whole=is_bracketed(inside))]

    def _argument(self) -> list[Piece]:
        """Read what a macro or a script applies to: a braced group, or the next construct."""
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        if self.at >= len(self.tokens):
            return []
        if self.tokens[self.at] == "{":
            self.at += 1
            return self.pieces("}")
        sign = self.tokens[self.at]
        if len(sign) > 1 and sign[0].isdigit():
            # TeX takes one character: \frac12 is a half.
            self.tokens[self.at : self.at + 1] = [sign[0], sign[1:]]
        return [self._one()]

    def _raw(self) -> str:
        """The argument as it is written, for names and for prose."""
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        if self.at >= len(self.tokens) or self.tokens[self.at] != "{":
            return join(self._argument())
        depth, start = 0, self.at + 1
        while self.at < len(self.tokens):
            depth += {"{": 1, "}": -1}.get(self.tokens[self.at], 0)
            self.at += 1
            if not depth:
                break
        raw = "".join(self.tokens[start : self.at - 1])
        return re.sub(r"\\([_%&#$ ])", r"\1", raw)

    def _script(self, mark: str, base: Piece) -> Piece:
        if mark == "'":
            return Piece(base.text + "′", base.kind, base.whole)
        inside = self._argument()
        text = base.text if base.whole else f"({base.text})"
        return Piece(text + raised(inside, mark), _after_script(base.kind))

    def _macro(self, name: str) -> Piece:
        if name in _FRACTIONS:
            above, below = self._argument(), self._argument()
            return Piece(f"{numerator(above)}/{tight(below)}", "fraction", whole=False)
        if name == "sqrt":
            root = self._root()
            return Piece(f"{root}√{tight(self._argument())}")
        if name in ("binom", "dbinom", "tbinom"):
            above, below = self._argument(), self._argument()
            return Piece(f"C({join(above)}, {join(below)})")
        if name in _UPRIGHT:
            raw = self._raw()
            return Piece(raw if "\\" not in raw else unicode(raw))
        if name in ALPHABETS:
            return Piece("".join(ALPHABETS[name].get(c, c) for c in self._raw()))
        if name in ACCENTS:
            inside = join(self._argument())
            accent = ACCENTS[name]
            return Piece(inside + accent if len(inside) == 1 else f"{name}({inside})")
        if name in ("begin", "end"):
            return _environment(name, self._raw())
        if name in _SIZES:
            return self._delimiter()
        symbol = _symbol(name)
        # TeX needs the space after a name that ends in a letter; it says nothing.
        clings = symbol.kind in ("operator", "relation", "space") or symbol.text in PREFIXES
        if clings and self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        return symbol

    def _root(self) -> str:
        """The degree of a root, `\\sqrt[3]{x}`, raised."""
        if self.at < len(self.tokens) and self.tokens[self.at] == "[":
            self.at += 1
            return raised(self.pieces("]"), "^").removeprefix("^")
        return ""

    def _delimiter(self) -> Piece:
        r"""After \left and its like: the bracket itself, or nothing for `\left.`."""
        if self.at < len(self.tokens) and self.tokens[self.at] == ".":
            self.at += 1
            return Piece("", "space")
        return self._one() if self.at < len(self.tokens) else Piece("", "space")


def _character(sign: str) -> Piece:
    if sign.isspace() or sign in ("~", "&"):
        return Piece(" ", "space")
    if sign in "([":
        return Piece(sign, "open")
    if sign in ")]":
        return Piece(sign, "close")
    if sign in "+-*/":
        return Piece(sign, "operator")
    if sign in "=<>":
        return Piece(sign, "relation")
    return Piece(sign, "comma" if sign in ",;:" else "factor")


def _symbol(name: str) -> Piece:
    if name == "\\":
        return Piece(";", "comma")
    if name in _SPACES:
        return Piece(" ", "space")
    if name in _SILENT:
        return Piece("", "space")
    if name in RELATIONS:
        return Piece(RELATIONS[name], "relation")
    if name in OPERATORS:
        return Piece(OPERATORS[name], "operator")
    if name in BIG:
        return Piece(BIG[name], "sum")
    if name in FUNCTIONS:
        return Piece(FUNCTIONS[name], "function")
    if name in ("{", "lfloor", "lceil", "langle", "lbrace"):
        return Piece(SYMBOLS.get(name, name), "open")
    if name in ("}", "rfloor", "rceil", "rangle", "rbrace"):
        return Piece(SYMBOLS.get(name, name), "close")
    return Piece(SYMBOLS.get(name, name))


def _environment(name: str, kind: str) -> Piece:
    if "matrix" in kind or kind in ("array", "cases"):
        left, right = ("{", "}") if kind == "cases" else ("[", "]")
        return Piece(left, "open") if name == "begin" else Piece(right, "close")
    return Piece("", "space")


def _after_script(kind: Kind) -> Kind:
    return kind if kind in ("function", "sum", "close", "relation", "operator") else "factor"
