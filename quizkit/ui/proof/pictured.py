"""The pictures of a proof's run that are about what decides."""

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from quizkit.lab.picture import Picture
from quizkit.proof.view import ProofView
from quizkit.ui.pictures import measured
from quizkit.ui.screens.demo_words import DemoWords
from quizkit.words import Lang


def pictured(
    proof: ProofView, words: DemoWords, width: int, plain: bool, lang: Lang
) -> Iterator[Text]:
    """Draw those pictures of the run that are about what decides, one under the other."""
    for each in telling(proof.report.pictures, proof.values):
        yield from measured.draw(measured.in_words(each, words.picture), width, plain, lang)


def telling(pictures: Sequence[Picture], deciding: Iterable[str]) -> list[Picture]:
    """Return all pictures but those of another way than the deciding metrics are about.

    A title such as `ring: sent by each rank to each` says of which way it is; a metric's name says
    so too: `sent_bytes_ring`.
    """
    metrics = [_words(name) for name in deciding]

    def about(picture: Picture) -> bool:
        way, colon, _ = picture.title.partition(": ")
        return not colon or any(_words(way) <= metric for metric in metrics)

    return [each for each in pictures if about(each)]


def _words(name: str) -> set[str]:
    return {word.removesuffix("s") for word in re.findall(r"[a-z0-9]+", name.lower())}
