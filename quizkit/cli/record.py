"""`quizkit bank record`: make the record of all runs that ships with the tool."""

from typing import Annotated

import typer

from quizkit.cli.common import language, tell
from quizkit.cli.options import Spoken
from quizkit.errors import UsageError
from quizkit.interrupt import unwinding


def record(
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run everything, also what is recorded already.")
    ] = False,
    lang: Spoken = None,
) -> None:
    """Record the runs of all shipped proofs, for machines that have no torch.

    What is recorded of a demo stays as long as the demo, the bench and torch are the same.
    """
    from quizkit.bank.reader import Bank
    from quizkit.lab.catalogue import catalogue
    from quizkit.lab.content import torch_version
    from quizkit.lab.lanes import Lanes, lanes_for
    from quizkit.lab.record import Record
    from quizkit.paths import QUESTIONS, RECORD
    from quizkit.proof.kept import is_sound
    from quizkit.proof.prove import distinct, on_lanes
    from quizkit.words import say

    spoken = language(lang)
    bank, demos = Bank.load(QUESTIONS), catalogue()
    if broken := [str(each) for each in bank.problems if each.severity == "error"]:
        raise UsageError("question_broken", problems="\n".join(broken))
    wanted = distinct(bank.questions.values(), demos)
    kept = Record(RECORD, demos, "recorded", torch_version())
    missing = [each for each in wanted if fresh or not kept.get(each)]
    wrong = 0
    with unwinding():
        try:
            with Lanes(lanes_for(len(missing))) as lanes:
                run = on_lanes(lanes, demos, missing)
                for each in missing:
                    typer.echo(each, err=True)
                    report = run(each)
                    if is_sound(report, demos[each.demo]):
                        kept.put(report)
                    else:
                        wrong += 1
                        typer.echo(say("bank.record_wrong", spoken, ended=report.verdict), err=True)
            kept.keep_only({each.demo for each in wanted})
        finally:
            kept.write()
    counts = {"runs": len(wanted) - wrong, "made": len(missing) - wrong, "wrong": wrong}
    tell(say("bank.recorded", spoken, **counts), err=True)
    raise typer.Exit(1 if wrong else 0)
