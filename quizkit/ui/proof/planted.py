"""A planted bug at a glance: the line as it should be and as it was, and what came of it."""

from rich.console import RenderableType
from rich.text import Text

from quizkit.lab.report import Report
from quizkit.proof.view import ProofView
from quizkit.ui.proof.halt import own_frame
from quizkit.ui.proof.measurement import in_unit
from quizkit.ui.screens.demo_words import DemoWords, demo_words
from quizkit.ui.screens.parts import colon, short
from quizkit.words import Lang, say

_MOST = 3  # lines of each side
_RANKS = 2  # that are shown where they stopped


def planted(proof: ProofView, lang: Lang, width: int) -> list[RenderableType]:
    """Show the planted bug and what came of it, in at most a dozen lines."""
    report = proof.report
    words = demo_words(proof.demo, lang)
    bug = proof.demo.breaks.get(report.broken or "")
    parts: list[RenderableType] = []
    for sign, code, style in (("-", bug.old, "green"), ("+", bug.new, "red")) if bug else ():
        kept = [line.strip() for line in code.split("\n") if line.strip()][:_MOST]
        label = say(f"glance.{'right' if sign == '-' else 'wrong'}", lang)
        parts += [_styled(f"{label}{colon(lang)}{line}", style, width) for line in kept]
    return [*parts, *_came_of_it(report, words, lang, width), Text("")]


def ending(proof: ProofView, lang: Lang, width: int) -> list[RenderableType]:
    """Say how a run ended that did not finish; nothing of one that did."""
    if proof.report.error is None:
        return []
    return [Text(""), *_came_of_it(proof.report, demo_words(proof.demo, lang), lang, width)]


def _styled(line: str, style: str, width: int) -> Text:
    text = short(Text(line), width)
    text.style = style
    return text


def _came_of_it(report: Report, words: DemoWords, lang: Lang, width: int) -> list[Text]:
    """Say how it ended, and where ranks stood then; or the checks that failed."""
    did = say("glance.did", lang)
    if report.error is not None:
        told = [f"{did}{colon(lang)}{words.ending(report.error.message.split(chr(10))[0])}"]
        frames = [own_frame(stack or "", report.demo) for stack in report.error.stacks]
        for rank, frame in [(n, each) for n, each in enumerate(frames) if each][:_RANKS]:
            file, line, code = frame
            told.append(f"{say('ui.rank_at', lang, rank=rank, file=file, line=line)} {code}")
        return [short(Text(each), width) for each in told]
    failing = [check for check in report.checks if not check.holds][:_RANKS]
    values = (in_unit(check.measured, None, lang) for check in failing)
    names = (words.check(check.name) for check in failing)
    return [
        short(Text(say("glance.check", lang, did=did, name=name, measured=value)), width)
        for name, value in zip(names, values, strict=True)
    ]
