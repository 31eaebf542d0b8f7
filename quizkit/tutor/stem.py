"""Fill in what is asked: the prompt and all that belongs to it are put together here alone."""

from dataclasses import dataclass

from quizkit.bank.model import Exhibit
from quizkit.tutor.asked import Asked
from quizkit.words import Lang, say


@dataclass(frozen=True, slots=True)
class Stem:
    """The prompt, the conditions and the evidence of one asking, in one language.

    `usual` are conditions that the topic has a name for: whoever knows the topic knows them.
    """

    prompt: str
    assume: tuple[str, ...]
    usual: tuple[str, ...]
    evidence: tuple[Exhibit, ...]
    lang: Lang

    def markdown(self, *, folded: bool = False) -> str:
        """Write all of it as Markdown; `folded` counts the usual conditions and tells none."""
        told = [*self.assume]
        if folded and self.usual:
            told.append(say("bank.assume_folded", self.lang, count=len(self.usual)))
        else:
            told += self.usual
        parts = [self.prompt]
        if told:
            joined = ("；" if self.lang == "zh" else "; ").join(told)
            parts.append(say("bank.assume", self.lang, told=joined))
        for each in self.evidence:
            parts += [
                say(f"bank.evidence_{each.kind}", self.lang),
                fenced(each),
            ]
        return "\n\n".join(parts)


def stem(asked: Asked, lang: Lang) -> Stem:
    """Return what is asked, with this asking's numbers in it."""
    question = asked.question
    own = [each for each in question.assume if not isinstance(each, str)]
    named = [each for each in question.assume if isinstance(each, str)]
    return Stem(
        asked.fill(question.prompt, lang).strip(),
        tuple(asked.fill(each, lang) for each in own),
        tuple(asked.fill(question.usual[each], lang) for each in named if each in question.usual),
        question.exhibits,
        lang,
    )


def fenced(exhibit: Exhibit) -> str:
    """Write what was recorded as a block of Markdown."""
    return f"```text\n{_columns(exhibit)}\n```"


def _columns(exhibit: Exhibit) -> str:
    """What was recorded; numbers that are compared stand below one another."""
    if exhibit.kind != "bytes":
        return exhibit.text
    rows = [line.split("  ", 1) for line in exhibit.text.split("\n")]
    widest = max(len(name) for name, *_ in rows)
    return "\n".join("  ".join((name.ljust(widest), *values)) for name, *values in rows)
