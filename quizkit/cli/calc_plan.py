"""`quizkit calc plan`: every layout of a job, on the screen or as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from json import dumps
from typing import TYPE_CHECKING, Any

from quizkit.calc.figure import Value
from quizkit.calc.plan.ranking import BEST, Fitting, Ranking, ranked
from quizkit.calc.plan.reasons import Broken, Full, Pinned, Slower, enough, full, why
from quizkit.calc.plan.sheet import SHEET, job, pinned
from quizkit.calc.plan.terms import PARTS
from quizkit.cli.calc_options import parsed
from quizkit.errors import UsageError
from quizkit.words import Lang

if TYPE_CHECKING:
    from quizkit.calc.plan.layout import Layout


def refuse(said: Mapping[str, object]) -> None:
    """Refuse what other calculators take."""
    for name, value in said.items():
        if value:
            hint = "--gpus" if name == "--gpu" else "--explain, --json"
            raise UsageError("calc_option", sheet=SHEET.name, name=name, hint=hint)


def run(
    model: str | None, words: Sequence[str], explain: bool, json: bool, lang: Lang, plain: bool
) -> int:
    """Look at every layout and show the best; 1 if none fits."""
    given = _checked({**parsed(SHEET, words)[0], "model": model})
    seq, batch = (int(str(given[name])) for name in ("seq", "batch"))
    asked = job(str(given["model"]), str(given["gpus"]), seq, batch)
    held = pinned(str(given["why"])) if given.get("why") else None
    ranking = ranked(asked)
    lack = None
    if not ranking.placed and ranking.least:
        lack = full(asked, ranking.least[1], ranking.values(ranking.least[1]))
    reason = why(ranking, held) if held and ranking.placed else None
    gpus = enough(asked) if lack else 0
    if json:
        print(
            dumps(
                _data(ranking, lack, gpus, reason, held or {}), ensure_ascii=False, allow_nan=False
            )
        )
    else:
        from quizkit.ui.screens.layout_screen import Found, show
        from quizkit.ui.terminal.console import console, is_plain

        answer = Found(ranking, lack, gpus, reason, held or {})
        show(console(is_plain(plain)), answer, explain, lang, is_plain(plain))
    return 0 if ranking.placed else 1


def _checked(given: Mapping[str, Value | None]) -> Mapping[str, Value | None]:
    try:
        return SHEET.checked(given)
    except UsageError as error:
        if error.key != "calc_missing":
            raise
        from quizkit.ui.screens.sum_page import EXAMPLES

        name = error.values["name"]
        raise UsageError("calc_plan_missing", name=name, line=EXAMPLES[SHEET.name]) from error


def _data(
    ranking: Ranking,
    lack: Full | None,
    gpus: int,
    reason: Broken | Full | Slower | None,
    held: Pinned,
) -> dict[str, Any]:
    asked = ranking.job
    return {
        "schema": "quizkit/calc.plan/1",
        "inputs": {
            "model": asked.model.name,
            "params": asked.model.params,
            "active_params": asked.model.active_params,
            "chip": asked.chip.name,
            "gpus": asked.gpus,
            "seq": asked.seq,
            "batch": asked.batch,
            "memory_bytes": asked.chip.memory,
            "usable_bytes": asked.usable_bytes,
        },
        "assumed": asdict(asked.assumed),
        "grids": ranking.grids,
        "grids_fell": dict(ranking.fell_grids),
        "grids_slow": ranking.slow,
        "grids_fit": len(ranking.best),
        "layouts": ranking.looked_at,
        "layouts_fit": len(ranking.placed),
        "layouts_fell": dict(ranking.fell),
        "best": [_placed(ranking, each) for each in ranking.best[:BEST]],
        "least": _full(lack) if lack else None,
        "enough_gpus": gpus or None,
        "why": _reason(ranking, reason, held) if reason else None,
        "formulas": _formulas(ranking),
    }


def _placed(ranking: Ranking, placed: Fitting) -> dict[str, Any]:
    values = ranking.values(placed.layout)
    return {
        "layout": _layout(placed.layout),
        "microbatches": values["microbatches"],
        "step_seconds": placed.seconds,
        "tokens_per_second": values["tokens_per_second"],
        "mfu": values["mfu"],
        "memory_bytes": placed.memory,
        "states_bytes": values["states_bytes"],
        "activations_bytes": values["activations_bytes"],
        "logits_bytes": values["held_logits_bytes"],
        "seconds": {part: values[f"{part}_seconds"] for part in PARTS},
    }


def _layout(layout: "Layout") -> dict[str, Any]:
    return layout._asdict()


def _full(lack: Full) -> dict[str, Any]:
    return {
        "layout": _layout(lack.layout),
        "bytes": dict(lack.memory),
        "over_bytes": lack.over,
        "part": lack.part,
    }


def _reason(ranking: Ranking, reason: Broken | Full | Slower, held: Pinned) -> dict[str, Any]:
    mend = reason.mend
    kept = {name: value for name, value in held.items() if mend and name != mend.name}
    mended = {"change": mend.name, "kept": kept, **_placed(ranking, mend.placed)} if mend else None
    match reason:
        case Broken():
            grid = reason.grid._asdict() if reason.grid else None
            return {"kind": "divides", "rule": reason.rule, "grid": grid, "mend": mended}
        case Full():
            return {"kind": "memory", **_full(reason), "mend": mended}
        case Slower():
            return {
                "kind": "slower",
                **_placed(ranking, reason.placed),
                "rank": reason.rank or None,
                "of": reason.of,
                "ratio": reason.ratio,
                "more_seconds": dict(reason.more),
                "mend": mended,
            }


def _formulas(ranking: Ranking) -> Mapping[str, Any]:
    """Every term of the best layout, as the other calculators tell theirs."""
    if not ranking.placed:
        return {}
    values = ranking.values(ranking.best[0].layout)
    return {
        each.name: {
            "value": values[each.name],
            "unit": each.unit,
            "formula": each.formula,
            "filled": each.filled(values),
            "source": each.source,
        }
        for each in SHEET.figures
    }
