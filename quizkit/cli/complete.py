"""Offer words to the Tab key. Runs on every press: names of files are read, never files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import typer

from quizkit.cli import aliases

Words = Callable[[str], list[str]]
_NONE: Mapping[str, Sequence[str]] = MappingProxyType({})


def _offer(
    names: Callable[[], Iterable[str]], others: Mapping[str, Sequence[str]] = _NONE
) -> Words:
    def begun(incomplete: str) -> list[str]:
        from quizkit.errors import QuizkitError

        try:
            known = {*names()}
            if incomplete:  # else what there is, and not what else it is called
                known |= {also for name in known for also in others.get(name, ())}
            return sorted(name for name in known if name.startswith(incomplete))
        except (QuizkitError, OSError):
            return []  # a shell that completes has no place for a message

    return begun


def _shelves() -> Iterator[Path]:
    from quizkit.cli.common import own_banks
    from quizkit.paths import QUESTIONS

    for bank in (QUESTIONS, *own_banks(())):
        yield from (each for each in bank.iterdir() if each.is_dir() and each.name[0] not in "._")


def _topics() -> Iterator[str]:
    return (shelf.name for shelf in _shelves() if shelf.name != "mocks")


def _questions() -> Iterator[str]:
    for shelf in _shelves():
        if shelf.name != "mocks":
            files = (file.stem for file in shelf.glob("*.yaml") if file.name[0] != "_")
            yield from (f"{shelf.name}/{name}" for name in files)


def _scripts() -> Iterator[str]:
    for shelf in _shelves():
        if shelf.name == "mocks":
            yield from (file.stem for file in shelf.glob("*.yaml"))


def _demos() -> Iterable[str]:
    from quizkit.lab.catalogue import names

    return names()


def _kinds() -> Iterable[str]:
    from quizkit.bank.model import KINDS

    return KINDS


def _settings() -> Iterable[str]:
    from quizkit.settings import SETTINGS

    return SETTINGS


def _calculators() -> Iterable[str]:
    from quizkit.calc.sheets import NAMES

    return NAMES


def _models() -> Iterable[str]:
    from quizkit.calc.models import names

    return names()


def _chips() -> Iterable[str]:
    from quizkit.calc.chips import names

    return (name.casefold() for name in names())


topics, demos = _offer(_topics, aliases.TOPICS), _offer(_demos, aliases.DEMOS)
questions, scripts = _offer(_questions), _offer(_scripts)
kinds, settings = _offer(_kinds), _offer(_settings)
calculators, models, chips = _offer(_calculators), _offer(_models), _offer(_chips)


def breaks(context: typer.Context, incomplete: str) -> list[str]:
    """Return the bugs of the demo that the line names."""
    from quizkit.errors import QuizkitError
    from quizkit.lab.catalogue import find

    # Options of a demo's own may follow its name, so click leaves all words where they are.
    name = context.params.get("name") or next(iter(context.args), "")
    try:
        demo = find(aliases.demo_named(name, None))
        return [each for each in demo.breaks if each.startswith(incomplete)]
    except (QuizkitError, OSError):
        return []


def values(context: typer.Context, incomplete: str) -> list[str]:
    """List the values that the setting named on the line may have."""
    from quizkit.settings import SETTINGS

    setting = SETTINGS.get(str(context.params.get("name")))
    if setting is None:
        return []
    choices = ("true", "false") if isinstance(setting.default, bool) else setting.choices
    return [each for each in choices if each.startswith(incomplete)]
