"""`quizkit calc --check`: formula, simulator and run of every sum, side by side."""

from collections import Counter
from dataclasses import asdict

import typer

from quizkit.cli.common import tell
from quizkit.words import Lang, say


def check(json: bool, plain: bool, lang: Lang) -> int:
    """Run every configuration once, print the table, and tell by the exit code."""
    from quizkit.lab.bench import Bench
    from quizkit.lab.catalogue import catalogue
    from quizkit.proof.prove import on_bench
    from quizkit.proof.triple import compare
    from quizkit.proof.triples import TRIPLES

    with Bench() as bench:
        bench.start()
        rows = compare(TRIPLES, on_bench(bench, catalogue()))
    counts = Counter(row.outcome for row in rows)
    told = {name: counts[name] for name in ("agree", "differ", "skipped")}
    if json:
        import json as writer

        said = {"schema": "quizkit/calc.check/1", **told, "results": [asdict(row) for row in rows]}
        typer.echo(writer.dumps(said, ensure_ascii=False))
    else:
        from quizkit.ui.screens.triple_screen import show
        from quizkit.ui.terminal.console import console

        show(console(plain), rows, lang, plain)
        tell(say("check.counts", lang, **told), err=True)
    return 1 if told["differ"] else 3 if told["skipped"] else 0
