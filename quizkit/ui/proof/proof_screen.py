"""A proof on the screen: what ran and where, the numbers that decide, each claim tested."""

import re
from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.draw import show_value
from quizkit.bank.formula import Formula, FormulaError
from quizkit.bank.functions import Value
from quizkit.lab.report import Report
from quizkit.proof.judge import key_names
from quizkit.proof.parts import Parts
from quizkit.proof.setting import taken
from quizkit.proof.view import ProofView
from quizkit.tutor.desk import Moment
from quizkit.ui.pictures.chart import Chart, charts
from quizkit.ui.proof.claims import claims
from quizkit.ui.proof.filled import filled
from quizkit.ui.proof.halt import halt
from quizkit.ui.proof.picked import picked
from quizkit.ui.proof.pictured import pictured
from quizkit.ui.proof.predicted import predicted
from quizkit.ui.screens.demo_words import DemoWords, demo_words
from quizkit.ui.screens.parts import RIGHT, WRONG, below, section
from quizkit.ui.screens.report_screen import options, pictures, state
from quizkit.ui.text.inline import CODE
from quizkit.words import Lang, say


def proof_screen(moment: Moment, width: int, plain: bool = False) -> list[RenderableType]:
    """Draw the run that was made for this question."""
    proof, lang = moment.proof, moment.lang
    assert proof is not None
    words = demo_words(proof.demo, lang)
    kept = "_recorded" if proof.report.origin == "recorded" else ""
    parts = section(say(f"ui.proof{kept}", lang), *_setting(moment, proof, words))
    if proof.judgement.reason:
        reason = say("ui.no_decision", lang, reason=proof.judgement.reason)
        return [*parts, Text(reason, WRONG, overflow="fold")]
    # What decides comes last, as that is what a small screen still shows.
    drawn = telling(charts(proof.report.timeline, proof.report.ranks), proof)
    parts += pictures(drawn, width, lang)
    parts += pictured(proof, words, width, plain, lang)
    parts += halt(proof.report, words, lang)
    parts += _checks(proof.report, words, lang)
    parts += _metrics(proof, words, lang)
    names = _names(moment, proof)
    parts += claims(moment, proof, names, plain)
    parts += picked(moment, proof, plain)
    parts += predicted(moment, proof, names)
    parts += filled(moment, proof, plain)
    if not proof.holds:
        return [*parts, Text(""), Text(say("ui.not_proved", lang), WRONG)]
    return [*parts, Text(""), Text(_borne_out(proof.parts, kept, lang), RIGHT, overflow="fold")]


def _borne_out(parts: Parts | None, kept: str, lang: Lang) -> str:
    """That the key stands; or which part of it, where only that rests on a claim."""
    if parts is None or parts.whole:
        return say(f"ui.proved{kept}", lang)
    key = f"ui.proves_{parts.kind}{'_in_part' if parts.in_part else ''}{kept}"
    return say(key, lang, proved=parts.proved, of=parts.of, in_part=parts.in_part)


def telling(drawn: Sequence[Chart], proof: ProofView) -> Sequence[Chart]:
    """Return the charts that the deciding numbers are about; others are drawn for comparison."""
    words = [_words(name) for name in proof.values]
    # What comes after a comma says which part of a schedule it is: `rebuilt, sums`.
    of = [_words(each.schedule.partition(",")[0]) for each in drawn]
    named = [each for each, own in zip(drawn, of, strict=True) if any(own <= w for w in words)]
    # Nothing that was read off a clock, nothing to see on a clock: unless it is the only picture.
    clocked = any(proof.report.how.get(name) == "clocked" for name in proof.values)
    return named or (drawn if clocked or len(drawn) == 1 else ())


def _words(name: str) -> set[str]:
    """The words of a schedule's or a metric's name: `two levels` is in `time_two_level`."""
    words = re.findall(r"[a-z]+[0-9]*|[0-9]+[a-z]+", name.lower())
    return {word.removesuffix("s") for word in words}


def _setting(moment: Moment, proof: ProofView, words: DemoWords) -> list[RenderableType]:
    """Say which run it was, in one line, and whether it was of the learner's own numbers."""
    report, lang = proof.report, moment.lang
    planted = f" --break {report.broken}" if report.broken else ""
    command = f"quizkit demo {report.demo} --ranks {report.ranks}{planted} {options(report)}"
    lines: list[RenderableType] = [
        Text(command.strip(), CODE, overflow="fold"),
        Text(state(report, lang), overflow="fold"),
    ]
    if report.broken:
        lines.append(Text(say("ui.broken", lang, broken=report.broken), overflow="fold"))
        lines.append(below(Text(words.breaks[report.broken], "dim", overflow="fold")))
    if proof.bindings:
        run = {*proof.bindings} & taken(moment.question) if proof.own else {*proof.bindings}
        key = "ui.own" if proof.own else "ui.nearest" if moment.asked.values else "ui.set_to"
        if run != {*proof.bindings}:  # 4096 tokens may be asked and 128 be run: that is no secret
            key = "ui.own_part" if run else "ui.own_none"
        bound = ", ".join(f"{n}={show_value(v)}" for n, v in proof.bindings.items() if n in run)
        lines.append(Text(say(key, lang, setting=bound), overflow="fold"))
    return lines


def _metrics(proof: ProofView, words: DemoWords, lang: Lang) -> list[RenderableType]:
    if not proof.values:
        return []
    lines: list[RenderableType] = []
    for name, value in proof.values.items():
        how = proof.report.how.get(name, "")
        shown = Text.assemble(f"{name} = ", (show_value(value), "bold"), overflow="fold")
        if how:
            shown.append(f"  {say(f'ui.how_{how}', lang)}", "dim")
        lines += [shown, below(Text(words.watch.get(name, ""), "dim", overflow="fold"))]
    return section(say("ui.metrics", lang), *lines)


def _names(moment: Moment, proof: ProofView) -> dict[str, Value]:
    """Every name a claim may use and its value in this run."""
    report = proof.report
    names: dict[str, Value] = {**report.args, "ranks": report.ranks, "outcome": report.outcome}
    names |= {**proof.bindings, **proof.values}
    for name, meaning in key_names(moment.question).items():
        try:
            names[name] = meaning(names) if isinstance(meaning, Formula) else meaning
        except FormulaError:  # a name without a value stays a name
            continue
    return names


def _checks(report: Report, words: DemoWords, lang: Lang) -> list[RenderableType]:
    """Say what the demo checked by itself: that all holds, or what does not."""
    failing = [check for check in report.checks if not check.holds]
    if not failing:
        held = say("ui.checks_hold", lang, count=len(report.checks))
        # Checks that were made before a run hung say nothing about why it did.
        made = report.checks and report.outcome == "finished"
        return [Text(""), Text(held)] if made else []
    lines: Sequence[RenderableType] = [
        Text(
            say(
                "ui.check_fails",
                lang,
                name=words.check(check.name),
                measured=show_value(check.measured),
                relation=check.relation,
                expected=show_value(check.expected),
            ),
            overflow="fold",
        )
        for check in failing
    ]
    return [Text(""), *lines]
