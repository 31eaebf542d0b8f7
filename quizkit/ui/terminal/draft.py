"""An answer half given: what a desk keeps in `Moment.draft`, so that nothing typed is ever lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from quizkit.tutor.desk import Moment

Stage = Literal["", "review", "reasons", "rubric"]


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer half given: `value` has the answer's shape, without what is being typed.

    `stage` is how far a kind that asks twice has come, `place` the gap or the list's line in hand,
    `cursor` where in the text the typing hand was.
    """

    value: object = None
    stage: Stage = ""
    typed: str = ""
    place: int = 0
    cursor: int | None = None

    def but(self, **changes: object) -> "Draft":
        """Return the same draft with something changed."""
        return replace(self, **changes)  # pyright: ignore[reportArgumentType]

    @property
    def picked(self) -> list[int]:
        """The value, as indexes of options."""
        return [each for each in _items(self.value) if isinstance(each, int)]

    @property
    def steps(self) -> list[str]:
        """The value, as ids of steps."""
        return [str(each) for each in _items(self.value)]

    @property
    def text(self) -> str:
        """The value, as text."""
        return self.value if isinstance(self.value, str) else ""

    @property
    def unsent(self) -> str:
        """Return what was typed and nobody has read."""
        return (self.typed or str(self.parts.get("text", ""))).strip()

    @property
    def parts(self) -> dict[str, object]:
        """The value, as named parts."""
        value = self.value
        return dict(cast("Mapping[str, object]", value)) if isinstance(value, Mapping) else {}

    def ticks(self, part: str) -> list[int]:
        """Return the ticked indexes of one part."""
        return [each for each in _items(self.parts.get(part)) if isinstance(each, int)]

    def holding(self, **parts: object) -> "Draft":
        """Return the same draft with some parts of its value changed."""
        return self.but(value={**self.parts, **parts})


def draft_of(moment: Moment) -> Draft:
    """Return the draft to go on from; an answer that could not be read is one too."""
    if isinstance(moment.draft, Draft):
        return moment.draft
    if isinstance(moment.draft, str):
        return Draft(moment.draft, typed=moment.draft)
    return Draft(moment.draft)


def found_line(moment: Moment, draft: Draft) -> bool:
    """Tell whether the line that was chosen of a bug is where it is wrong.

    Only then is anybody asked why: reasons speak of that line, and would mislead who has another.
    """
    code = moment.asked.code
    return code is not None and draft.parts.get("line") in code.changed


def _items(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()
