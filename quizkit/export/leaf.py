"""One question as Markdown: what is asked on the front, all that is known of it on the back."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from quizkit.bank.draw import FIRST, number_of_draws, show_number
from quizkit.bank.functions import Number
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order, Question, Text, Trace
from quizkit.lab.excerpt import Excerpt
from quizkit.proof.code import code_of
from quizkit.proof.view import ProofView
from quizkit.tutor.asked import Asked, ask
from quizkit.tutor.stem import stem
from quizkit.ui.proof.told import drawn
from quizkit.ui.screens.parts import colon, kind
from quizkit.ui.screens.reading import slipped
from quizkit.ui.screens.worked import worked
from quizkit.words import Lang, say

_WIDE = 64  # columns of a picture: a card on a telephone scrolls sideways, but not for ever


@dataclass(frozen=True, slots=True)
class Leaf:
    """Both sides of a question in one language."""

    title: str
    front: str
    back: str


def leaf(question: Question, lang: Lang, proof: ProofView | None = None) -> Leaf:
    """Return the question as it is asked once. Raises UsageError or LabError where it cannot be.

    `proof` is a recorded run, whose picture comes along.
    """
    asked = ask(question, FIRST, code_of(question))
    title = f"{kind(question, lang)} · {say(f'ui.level_{question.level}', lang)}"
    front = [stem(asked, lang).markdown(), *_given(asked, lang)]
    back = [*_key(asked, lang), *_told(asked, lang, proof)]
    return Leaf(title, _joined(front), _joined(back))


def _given(asked: Asked, lang: Lang) -> Iterator[str]:
    """Yield what stands below the prompt."""
    match asked.question:
        case Choice() as question:
            yield _numbered(question.options[at].text[lang] for at in asked.order)
        case Order() as question:
            yield _numbered(question.steps[at].text[lang] for at in asked.order)
        case Cloze() as question:
            yield _gapped(question, lang)
        case Numeric() as question if number_of_draws(question) > 1:
            yield f"*{say('export.drawn', lang)}*"
        case _:
            if asked.code:
                yield _listing(asked.code)


def _key(asked: Asked, lang: Lang) -> Iterator[str]:
    """The answer, and what is wrong with the others."""
    match asked.question:
        case Choice() as question:
            shown = [question.options[at] for at in asked.order]
            right = [str(n) for n, option in enumerate(shown, 1) if option.correct]
            yield _headed("bank.answer", ", ".join(right), lang)
            yield _listed(
                f"{n}{colon(lang)}{option.why[lang]}" for n, option in enumerate(shown, 1)
                if option.why
            )  # fmt: skip
        case Numeric() as question:
            answer = f"{show_number(asked.answer())} {question.unit}".strip()
            yield _headed("bank.answer", f"`{answer}`", lang)
            sums = worked(question.answer, asked.values, question.unit, lang)
            yield _listed(f"`{each}`" for each in sums)
            traps = (
                f"`{slipped(trap.formula, asked, lang)}`"
                f"{colon(lang)}{asked.fill(trap.forgot, lang)}"
                for trap in question.traps
            )
            yield _section("bank.traps", _listed(traps), lang)
        case Order() as question:
            yield _headed("bank.answer", "", lang)
            yield _numbered(step.text[lang] for step in question.steps)
        case Cloze() as question:
            gaps = (f"[{n}] {gap.answer[lang]}" for n, gap in enumerate(question.gaps.values(), 1))
            yield _headed("bank.answer", " · ".join(gaps), lang)
        case Trace() as question:
            yield _headed("bank.answer", f"`{_plain(question.answer)}`", lang)
        case Bug() as question:
            assert asked.code is not None
            lines = asked.code.lines
            yield _headed("export.lines", "", lang)
            yield _fenced(f"{n:>3}  {lines[n - 1]}" for n in sorted(asked.code.changed))
            yield _listed(reason.says[lang] for reason in question.reasons)
        case Essay() as question:
            yield _section(
                "bank.rubric", _listed(each.says[lang] for each in question.rubric), lang
            )
            vetoes = (f"{v.says[lang]}{colon(lang)}{v.why[lang]}" for v in question.vetoes)
            yield _section("bank.vetoes", _listed(vetoes), lang)
        case _:
            raise AssertionError(asked.question.kind)


def _told(asked: Asked, lang: Lang, proof: ProofView | None) -> Iterator[str]:
    question = asked.question
    yield _section("bank.explain", asked.fill(question.explain, lang), lang)
    if proof and any(picture := drawn(proof, _WIDE, lang)):
        yield _section("export.picture", _fenced(picture), lang)
    yield _section("bank.say", _filled(asked, question.say, lang), lang)
    yield _section("bank.sources", _listed(question.sources), lang)
    if question.proof:
        yield f"*{say('export.prove', lang)}* `quizkit prove {question.id}`"


def _filled(asked: Asked, text: Text | None, lang: Lang) -> str:
    return asked.fill(text, lang) if text else ""


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())


def _section(key: str, text: str, lang: Lang) -> str:
    return f"**{say(key, lang)}**\n\n{text}" if text.strip() else ""


def _headed(key: str, text: str, lang: Lang) -> str:
    return f"**{say(key, lang)}** {text}".strip()


def _numbered(items: Iterable[str]) -> str:
    return "\n".join(f"{n}. {_hung(item, 3)}" for n, item in enumerate(items, start=1))


def _listed(items: Iterable[str]) -> str:
    return "\n".join(f"- {_hung(item, 2)}" for item in items)


def _hung(text: str, indent: int) -> str:
    return text.strip("\n").replace("\n", "\n" + " " * indent)


def _listing(code: Excerpt) -> str:
    # Explanations name lines by these numbers.
    return _fenced(f"{n:>3}  {line}" for n, line in enumerate(code.lines, start=1))


def _fenced(lines: Iterable[str]) -> str:
    return "\n".join(["```text", *lines, "```"])


def _gapped(question: Cloze, lang: Lang) -> str:
    numbers = {name: n for n, name in enumerate(question.gaps, start=1)}
    return re.sub(
        r"\[\[(\w+)\]\]",
        lambda gap: f"[{numbers[gap[1]]} ____]" if gap[1] in numbers else gap[0],
        question.text[lang],
    )


def _plain(answer: Number | tuple[Number, ...]) -> str:
    return ", ".join(str(each) for each in answer) if isinstance(answer, tuple) else str(answer)
