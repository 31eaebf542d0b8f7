"""`quizkit config`: what is settled once for all sessions, and where each value comes from."""

from typing import TYPE_CHECKING, Annotated

import typer

from quizkit.cli import complete
from quizkit.cli.common import language, tell
from quizkit.cli.options import Json, Spoken

if TYPE_CHECKING:
    from quizkit.settings import Settled, Value
    from quizkit.words import Lang


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(config)


def config(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="A setting, as in lang.", autocompletion=complete.settings
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Argument(
            metavar="VALUE", help="What it shall be from now on.", autocompletion=complete.values
        ),
    ] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Back to the default.")] = False,
    show_origin: Annotated[
        bool, typer.Option("--show-origin", help="Where each value comes from.")
    ] = False,
    json: Json = False,
    lang: Spoken = None,
) -> None:
    """Show your settings: all of them (the default) or one, or give one a new value."""
    from quizkit.errors import UsageError
    from quizkit.near import nearest
    from quizkit.settings import SETTINGS, settings, settle
    from quizkit.words import say

    spoken = language(lang)
    if name is None and unset:
        raise UsageError("setting_which")
    if name is not None and name not in SETTINGS and not unset:
        hint = nearest(name, SETTINGS)
        raise UsageError("setting_unknown", place="quizkit config", name=name, hint=hint)
    if name is not None and (unset or value is not None):
        if unset and value is not None:
            raise UsageError("setting_both")
        file = settle(name, value)
        if not json:
            key = "config.unset" if unset else "config.set"
            tell(say(key, spoken, name=name, file=file))
            return
    found = settings()
    rows = found if name is None else {name: found[name]}
    if json:
        _print(rows)
        return
    for each, settled in rows.items():
        _tell(each, settled, spoken, show_origin, alone=name is not None)


def _tell(name: str, settled: "Settled", lang: "Lang", origin: bool, *, alone: bool) -> None:
    from quizkit.words import say

    value = _shown(settled.value, lang)
    came = f"\t{settled.origin}" if origin else ""
    if alone:
        typer.echo(f"{value}{came}")
        return
    typer.echo(f"{name}: {value}{came}")
    tell(f"  {say(f'config.{name}', lang)}")


def _shown(value: "Value", lang: "Lang") -> str:
    from quizkit.words import say

    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or value == ():
        return say("config.nothing", lang)
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _print(rows: "dict[str, Settled]") -> None:
    import json
    from dataclasses import asdict

    found = {name: asdict(settled) for name, settled in rows.items()}
    typer.echo(json.dumps({"schema": "quizkit/config/1", "settings": found}, ensure_ascii=False))
