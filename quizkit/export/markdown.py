"""The bank to read: a page for each topic, answers folded away."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from quizkit.bank.model import Question, Topic
from quizkit.export.leaf import Leaf, leaf
from quizkit.proof.view import ProofView
from quizkit.words import Lang, say

Seen = Callable[[Question], ProofView | None]
"""The recorded run of a question's proof, if there is one."""


def page(topic: Topic, questions: Iterable[Question], langs: Sequence[Lang], seen: Seen) -> str:
    """Write a topic: its introduction, then its questions in reading order, each with what is seen
    of its proof.
    """
    return "\n\n".join(_blocks(topic, questions, langs, seen)) + "\n"


def contents(pages: Sequence[tuple[Topic, int]], langs: Sequence[Lang]) -> str:
    """Write the page that leads to the pages of all topics."""
    total = sum(count for _, count in pages)
    lines = [f"# quizkit\n\n{' '.join(say('export.made', lang, count=total) for lang in langs)}\n"]
    lines += [f"- [{_title(topic, langs)}]({topic.slug}.md) · {count}" for topic, count in pages]
    return "\n".join(lines) + "\n"


def _blocks(
    topic: Topic, questions: Iterable[Question], langs: Sequence[Lang], seen: Seen
) -> Iterator[str]:
    yield f"# {_title(topic, langs)}"
    for lang in langs:
        yield topic.intro[lang].strip()
    for question in questions:
        proof = seen(question)
        sides: list[tuple[Lang, Leaf]] = [(lang, leaf(question, lang, proof)) for lang in langs]
        yield f"## {question.id}"
        for _, side in sides:
            yield f"*{side.title}*"
            yield side.front
        for lang, side in sides:
            # The blank lines matter: without them what is inside is taken for HTML.
            yield f"<details>\n<summary>{say('export.fold', lang)}</summary>"
            yield side.back
            yield "</details>"


def _title(topic: Topic, langs: Sequence[Lang]) -> str:
    return " · ".join(dict.fromkeys(topic.title[lang] for lang in langs))
