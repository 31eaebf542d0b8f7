"""Text that is typed breaks between words: by itself the editor cuts it at the screen's edge."""

from bisect import bisect_right
from collections.abc import Callable

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import fragment_list_to_text
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments
from rich.cells import cell_len

from quizkit.ui.text.linebreak import breaks


class WordWrap(Processor):
    """Fills a row up with blanks where the next word would be cut. The text stays as it is."""

    def __init__(self, before: Callable[[], int]) -> None:
        self._before = before

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Return a line as shown, and where in it each character of the text went."""
        fragments = explode_text_fragments(transformation_input.fragments)
        text = fragment_list_to_text(fragments)
        width = transformation_input.width - self._before()
        filled = fills(text, width)
        if not filled or len(text) != len(fragments):
            return Transformation(transformation_input.fragments)
        shown: StyleAndTextTuples = []
        places: list[int] = []
        for at, fragment in enumerate(fragments):
            if at in filled:
                shown += [("", " ")] * filled[at]
            places.append(len(shown))
            shown.append(fragment)
        places.append(len(shown))

        def to_shown(at: int) -> int:
            return places[at] if at < len(places) else places[-1] + at - len(places) + 1

        def to_text(at: int) -> int:
            return max(0, bisect_right(places, at) - 1)

        return Transformation(shown, to_shown, to_text)


def fills(text: str, width: int) -> dict[int, int]:
    """Return how many blanks go before which character, so that rows of `width` cut no word."""
    found: dict[int, int] = {}
    start = hanging = 0
    # No row takes more of the text than this: a long paragraph is looked at once, not once a row.
    most = 2 * width + 2
    while width > 1 and (cuts := breaks(text[start : start + most], width - hanging)):
        used = hanging + cell_len(text[start : start + cuts[0]])
        start += cuts[0]
        # Blanks that hang over the edge are the first of the next row.
        hanging = max(0, used - width) % width
        if used < width:
            found[start] = width - used
    return found
