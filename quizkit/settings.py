"""What the learner has settled once: a flat file of `name: value` lines, and where each came from.

The file is YAML that anyone can write by hand. Only so much of it is understood that the YAML
library need not be loaded before the first question.
"""

import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from quizkit import safe_file
from quizkit.errors import DiaryError, QuizkitError, UsageError
from quizkit.near import nearest
from quizkit.paths import config_file

_LARGEST = 2**20

Value = str | int | bool | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Preference:
    """One thing that can be settled. `default` says its type too; None is a word or nothing.

    The word is one of the choices, or any where there are none; a `day` is a date.
    """

    name: str
    default: Value
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 10**6
    variable: str = ""
    day: bool = False


SETTINGS: Mapping[str, Preference] = {
    setting.name: setting
    for setting in (
        Preference("lang", None, choices=("zh", "en"), variable="QUIZKIT_LANG"),
        Preference("answer_in", None, choices=("zh", "en")),
        Preference("level", 1, least=1, most=5),
        Preference("plain", False),
        Preference("bank", ()),
        Preference("new_per_day", 20),
        Preference("reviews_per_day", 100),
        Preference("interview", None, day=True),
        Preference("minutes", 30, most=1440),
        Preference("interview_for", None),
        Preference("interview_topics", ()),
    )
}


@dataclass(frozen=True, slots=True)
class Settled:
    """A setting's value and where it comes from: `default`, `$NAME`, or `file:line`."""

    value: Value
    origin: str

    @property
    def number(self) -> int:
        """The value of a setting that is a whole number."""
        assert isinstance(self.value, int)
        return self.value

    @property
    def words(self) -> tuple[str, ...]:
        """The value of a setting that is a list."""
        assert isinstance(self.value, tuple)
        return self.value


def settings() -> dict[str, Settled]:
    """Everything there is to settle, as it stands. Raises UsageError for a line that is wrong."""
    found = {name: Settled(setting.default, "default") for name, setting in SETTINGS.items()}
    for number, name, text in _lines(_file()):
        place = f"{_file()}:{number}"
        if name not in SETTINGS:
            hint = nearest(name, SETTINGS)
            raise UsageError("setting_unknown", place=place, name=name, hint=hint)
        found[name] = Settled(read(name, text, place), place)
    for name, setting in SETTINGS.items():
        told = os.environ.get(setting.variable) if setting.variable else None
        if told:
            found[name] = Settled(read(name, told, f"${setting.variable}"), f"${setting.variable}")
    return found


def glimpse(name: str) -> Value:
    """One setting, whatever else is wrong with the file: for those who must speak all the same."""
    try:
        said = [text for _, found, text in _lines(_file(), lenient=True) if found == name]
        return read(name, said[-1], "") if said else SETTINGS[name].default
    except QuizkitError:
        return SETTINGS[name].default


def settle(name: str, text: str | None) -> Path:
    """Write a setting into the file, or with None take its line out; all other lines stay."""
    file = config_file()
    line = None if text is None else f"{name}: {_written(read(name, text, name))}"
    with _alone(file.parent):
        kept, placed = list[str](), False
        # Bytes that are no UTF-8 go back in as they came out.
        old = _stored(file, DiaryError).decode("utf-8-sig", "surrogateescape")
        for each in old.splitlines():
            if each.split(":")[0].strip() != name:
                kept.append(each)
            elif line is not None and not placed:
                kept.append(line)
                placed = True
        if line is not None and not placed:
            kept.append(line)
        said = "".join(f"{each}\n" for each in kept)
        safe_file.write(file, said.encode("utf-8", "surrogateescape"), failure=DiaryError)
    return file


def read(name: str, text: str, place: str) -> Value:
    """A setting's value as it is written. Raises UsageError where it cannot be meant."""
    setting = SETTINGS[name]
    said = text.strip()
    match setting.default:
        case bool():
            if said.lower() in ("true", "false"):
                return said.lower() == "true"
            wanted = "true, false"
        case int():
            # Of thousands of digits Python makes no number at all.
            digits = said.lstrip("0") or "0"
            fits = said.isascii() and said.isdigit() and len(digits) <= len(str(setting.most))
            if fits and setting.least <= int(digits) <= setting.most:
                return int(digits)
            wanted = f"{setting.least}-{setting.most}"
        case tuple():
            inside = said[1:-1] if said.startswith("[") and said.endswith("]") else said
            return tuple(_bare(each) for each in inside.split(",") if each.strip())
        case _ if setting.day:
            with suppress(ValueError):
                return date.fromisoformat(_bare(said)).isoformat()
            wanted = "2027-03-01"
        case _:
            if _bare(said) in setting.choices or not setting.choices:
                return _bare(said)
            wanted = ", ".join(setting.choices)
    raise UsageError("setting_value", place=place, name=name, given=said, wanted=wanted)


def _file() -> Path | None:
    try:
        return config_file()
    except DiaryError:
        return None  # no home, no settings; whoever needs the home for more will say so


def _lines(file: Path | None, *, lenient: bool = False) -> Iterator[tuple[int, str, str]]:
    """(number, name, value) of each line that says something."""
    text = _stored(file, UsageError).decode("utf-8-sig", "replace") if file else ""
    for number, line in enumerate(text.splitlines(), start=1):
        said = line.split(" #")[0].strip()
        if not said or said.startswith("#"):
            continue
        name, colon, value = said.partition(":")
        if not colon or not value.strip():
            if lenient:
                continue
            raise UsageError("setting_line", place=f"{file}:{number}", line=said)
        yield number, name.strip(), value.strip()


def _stored(file: Path, failure: type[QuizkitError]) -> bytes:
    """What is in the file, or nothing."""
    if not os.path.lexists(file):
        return b""
    said = safe_file.read(file, _LARGEST, failure=failure)
    if b"\0" in said:
        raise failure("setting_encoding", file=file)
    return said


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """While it is held no other process changes a line: each would write over the other's."""
    try:
        from fcntl import LOCK_EX, flock
    except ImportError:  # Windows
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a file system without locks
            flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _bare(text: str) -> str:
    said = text.strip()
    quoted = len(said) > 1 and said[0] == said[-1] and said[0] in "'\""
    return said[1:-1] if quoted else said


def _written(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case tuple():
            return f"[{', '.join(value)}]"
        case _:
            return str(value)
