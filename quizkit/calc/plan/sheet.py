"""What `calc plan` is asked with, and how the words of it are read."""

import re

from quizkit.calc.chips import chip
from quizkit.calc.plan.job import Job
from quizkit.calc.plan.layout import RECOMPUTE, SHORT, Layout
from quizkit.calc.plan.terms import FIGURES
from quizkit.calc.sheet import Calculator, Input
from quizkit.errors import UsageError
from quizkit.near import nearest

SHEET = Calculator(
    "plan",
    inputs=[
        Input("model", "text", required=True),
        Input("gpus", "text", required=True),
        Input("seq", required=True),
        Input("batch", required=True),
        Input("why", "text"),
    ],
    figures=FIGURES,
)
_LONG = {short: name for name, short in SHORT.items()}
_GPUS = re.compile(r"\s*([1-9]\d{0,6})\s*[x×*]\s*(\S.*)")


def job(model_name: str, gpus: str, seq: int, batch: int) -> Job:
    """What is asked for: `64xH100` is a number and a chip. Raises UsageError."""
    from quizkit.calc.models import model

    found = _GPUS.fullmatch(gpus)
    if found is None:
        raise UsageError("calc_plan_gpus", given=gpus)
    return Job(model(model_name), chip(found[2].strip()), int(found[1]), seq, batch)


def pinned(text: str) -> dict[str, int | str]:
    """Degrees as `--why` has them, `tp=8,pp=4`. Raises UsageError with the nearest name."""
    names = [SHORT.get(name, name) for name in Layout._fields]
    found: dict[str, int | str] = {}
    for word in re.split(r"[,;\s]+", text.strip()):
        short, equals, value = word.partition("=")
        name = _LONG.get(short, short)
        if name not in Layout._fields:
            raise UsageError("calc_plan_degree", given=short, hint=nearest(short, names))
        if name == "recompute":
            if value not in RECOMPUTE:
                raise UsageError("calc_plan_recompute", given=value, hint=", ".join(RECOMPUTE))
            found[name] = value
        elif not equals or not value.isdecimal():
            raise UsageError("calc_plan_value", name=short, given=value)
        else:
            found[name] = int(value)
    return found
