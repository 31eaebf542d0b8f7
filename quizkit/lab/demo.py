"""Nouns for what a demo says of itself: `source` reads them out of a file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from quizkit.errors import UsageError
from quizkit.lab.report import Scalar, Setting
from quizkit.near import nearest

HANGING = 3.0  # seconds for a break that is known never to end

# In brackets after a metric's name in Watch: its unit, and the part of a step that is counted.
UNITS = (
    *("bytes", "bits", "elements", "messages", "collectives", "tensors", "calls", "steps"),
    *("micro-batches", "blocks", "tokens", "rows", "pages", "layers", "buckets", "ranks", "rank"),
    *("index", "seconds", "ticks", "FLOPs", "MACs", "share", "ratio", "difference", "loss", "norm"),
    *("value", "yes/no", "count"),
)
PARTS = ("forward", "backward", "step", "sent", "received", "both")

_CLOCK = re.compile(r"^(from|import) .*\b(time|timed)\b", re.MULTILINE)

Kind = Literal["int", "float", "bool", "str"]
KINDS: Mapping[str, type[Scalar]] = {"int": int, "float": float, "bool": bool, "str": str}


@dataclass(frozen=True, slots=True)
class Watch:
    """One metric that a run reports: one value for the whole run if shared, else one a rank.

    `unit` is what it counts in, `part` the pass or direction where only one is counted.
    """

    shared: bool
    text: str
    unit: str = ""
    part: str = ""

    @property
    def line(self) -> str:
        """The text behind the unit and the pass, which its words go on from."""
        if self.text.startswith(self.unit):  # or there is none
            return self.text
        return f"{', '.join(filter(None, (self.unit, self.part)))}: {self.text}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One keyword of the demo's `main`: an option of its command line.

    `text` says what it is; it is the comment beside the default.
    """

    name: str
    kind: Kind
    default: Scalar
    choices: tuple[str, ...] = ()
    text: str = ""

    @property
    def flags(self) -> tuple[str, ...]:
        """The option, or the two of a switch: on and off."""
        name = self.name.replace("_", "-")
        return (f"--{name}", f"--no-{name}") if self.kind == "bool" else (f"--{name}",)

    @property
    def wanted(self) -> str:
        """The placeholder that stands after the option."""
        return "|".join(self.choices) or {"int": "N", "float": "X", "str": "TEXT"}.get(
            self.kind, ""
        )

    @property
    def usage(self) -> str:
        """The option as help prints it."""
        return f"{'/'.join(self.flags)} {self.wanted}".rstrip()


@dataclass(frozen=True, slots=True)
class Break:
    """A bug that can be planted by one text replacement, and the outcome that gives it away."""

    old: str
    new: str
    expect: str
    ranks: int = 2
    source: str = ""


@dataclass(frozen=True, slots=True)
class Demo:
    """A demo as its file tells of it. `story` is its source up to BREAKS: where bugs go.

    `regime` names the parameters that change what a metric means, `varies` the metrics that the
    same run measures otherwise next time: seconds, and what the demo says hangs on them.
    """

    name: str
    path: Path
    topic: str
    law: str
    trick: str
    watch: Mapping[str, Watch]
    parameters: Mapping[str, Parameter]
    breaks: Mapping[str, Break]
    own_launch: bool
    source: str
    story: str
    regime: tuple[str, ...] = ()
    varies: tuple[str, ...] = ()

    def filled(self, wanted: Setting) -> Setting:
        """Return the same run with every argument named: equal runs are then equal settings."""
        every = {each.name: each.default for each in self.parameters.values()} | dict(wanted.args)
        return replace(wanted, args=tuple(sorted(every.items())))

    @property
    def timed(self) -> bool:
        """Tell whether it reads a real clock: what runs beside it would show in its numbers."""
        return _CLOCK.search(self.source) is not None

    def planted(self, broken: str | None) -> str:
        """Return the story, with one bug put in if one is named."""
        if broken is None:
            return self.story
        if broken not in self.breaks:
            raise UsageError(
                "break_unknown", demo=self.name, name=broken, hint=nearest(broken, self.breaks)
            )
        change = self.breaks[broken]
        return self.story.replace(change.old, change.new)
