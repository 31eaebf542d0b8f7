"""Reports that are kept: a file a demo, first what was run and where, then a line a run.

What this user's runs have shown is kept like this, and so is what ships for machines without
torch: text, sorted, so that a changed run is a changed line. A file that does not fit the demo as
it is now, or cannot be read, counts for nothing and is written anew.
"""

import json
import os
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from threading import Lock
from typing import Any

from quizkit import safe_file
from quizkit.errors import LabError
from quizkit.lab.content import content
from quizkit.lab.demo import Demo
from quizkit.lab.processor import processor
from quizkit.lab.report import SCHEMA, Event, Failure, Hop, Origin, Report, Scalar, Setting

KEPT = "quizkit/record/1"
_LARGEST = 1 << 25  # bytes of a demo's file
_MOST = 2000  # runs of one demo
_FRAME = re.compile(r'^ *File "[^"]*/([^"/]+)", (line \d+, in .*\n +\S.*)$', re.MULTILINE)

Key = tuple[int, str, str]
Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """The facts that the runs of one file share: what the code was, and where it ran.

    `processor` is empty in files of before it was written down.
    """

    content: str
    torch: str
    start: str
    backend: str
    device: str
    processor: str = ""


@dataclass(slots=True)
class _File:
    """One demo's runs. `made` is None as long as there are none."""

    content: str
    made: Made | None = None
    runs: dict[Key, Line] = field(default_factory=dict["Key", "Line"])
    used: set[Key] = field(default_factory=set["Key"])
    changed: bool = False


class Record:
    """The kept reports of some demos, in one folder; each file is read when it is first asked for.

    With `torch` only what that version has shown counts, and only if a run now would be made the
    same way: forked or spawned, without a GPU.
    """

    def __init__(
        self,
        folder: Path | None,
        demos: Mapping[str, Demo],
        origin: Origin,
        torch: str | None = None,
    ) -> None:
        self._folder = folder
        self.demos = demos
        self._origin: Origin = origin
        self._torch = torch
        self._files: dict[str, _File] = {}
        self._reading = Lock()  # several runs may be under way at once

    def __contains__(self, setting: Setting) -> bool:
        """Tell whether there is a line for such a run; only `get` knows if it can be read."""
        demo = self.demos[setting.demo]
        return _key(demo.filled(setting)) in self._file(demo).runs

    def get(self, setting: Setting) -> Report | None:
        """Return the report of a run like this one, if one is kept that would be the same now."""
        demo = self.demos[setting.demo]
        file, key = self._file(demo), _key(demo.filled(setting))
        line = file.runs.get(key)
        if line is None or file.made is None:
            return None
        file.used.add(key)
        return _report(demo.name, file.made, line, self._origin)

    def healthy(self, name: str) -> list[dict[str, Any]]:
        """Return what the names of a demo meant in each run without a bug: arguments, metrics."""
        defaults = {each.name: each.default for each in self.demos[name].parameters.values()}
        return [
            {**defaults, **line["args"], "ranks": line["ranks"], **line["metrics"]}
            for line in self._file(self.demos[name]).runs.values()
            if not line["break"] and line["verdict"] == "pass"
        ]

    def put(self, report: Report) -> None:
        """Keep a report, in place of an older one of the same run."""
        demo = self.demos[report.demo]
        file = self._file(demo)
        where = report.start, report.backend, report.device, processor()
        made = Made(file.content, report.torch, *where)
        if file.made != made:
            file.made, file.runs, file.used = made, {}, set()
        args = tuple(sorted(report.args.items()))
        key = _key(Setting(report.demo, report.ranks, args, report.broken))
        file.runs[key] = _line(report)
        file.used.add(key)
        file.changed = True

    def keep_only(self, names: Collection[str]) -> None:
        """Forget what nobody has asked for, and every demo that is none of these."""
        for file in self._files.values():
            _forget_unused(file)
        for path in self._folder.glob("*.jsonl") if self._folder else ():
            if path.stem.replace("_", "-") not in names:
                path.unlink()

    def write(self) -> None:
        """Put on disk what is new."""
        if self._folder is None:
            return
        for name, file in self._files.items():
            if len(file.runs) > _MOST:
                _forget_unused(file)
            # A demo that was edited while it ran is not what these runs were of.
            if file.changed and content(self.demos[name].path) == file.content:
                assert file.made is not None
                head = {"schema": KEPT, "demo": name, **asdict(file.made)}
                lines = [head, *(file.runs[key] for key in sorted(file.runs))]
                text = "".join(_json(line) + "\n" for line in lines)
                _make_folder(self._folder)
                safe_file.write(_place(self._folder, name), text, failure=LabError)
                file.changed = False

    def made(self, name: str) -> Made | None:
        """Return where the runs of a demo were made, whether or not they still count."""
        head, _ = self._lines(name)
        return _made(head) if head else None

    def _file(self, demo: Demo) -> _File:
        with self._reading:
            if demo.name not in self._files:
                self._files[demo.name] = self._read(demo)
            return self._files[demo.name]

    def _read(self, demo: Demo) -> _File:
        file = _File(content(demo.path))
        head, lines = self._lines(demo.name)
        if head is None:
            return file
        try:
            made = _made(head)
            runs = {_line_key(demo.name, line): line for line in lines}
        except (KeyError, TypeError, ValueError, AttributeError):
            return file
        if made.content == file.content and (self._torch is None or made == self._now(file)):
            file.made, file.runs = made, runs
        return file

    def _now(self, file: _File) -> Made | None:
        """Return how a run would be made now, or None where only a run can tell."""
        if self._torch is None or gpu_here():
            return None
        start = "fork" if sys.platform == "linux" else "spawn"
        start = os.environ.get("QUIZKIT_START") or start
        return Made(file.content, self._torch, start, "gloo", "cpu", processor())

    def _lines(self, name: str) -> tuple[Line | None, list[Line]]:
        if self._folder is None:
            return None, []
        try:
            said = safe_file.read(_place(self._folder, name), _LARGEST, failure=LabError)
            head, *lines = map(json.loads, said.splitlines())
            if head["schema"] == KEPT and head["demo"] == name:
                return head, lines
        except (LabError, ValueError, KeyError, TypeError, RecursionError):
            pass  # not there, or damaged: as if there were none
        return None, []


def _place(folder: Path, demo: str) -> Path:
    return folder / f"{demo.replace('-', '_')}.jsonl"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise LabError("file_write", file=folder, reason=error.strerror or str(error)) from error


def _forget_unused(file: _File) -> None:
    if unused := file.runs.keys() - file.used:
        file.runs = {key: line for key, line in file.runs.items() if key not in unused}
        file.changed = True


def gpu_here() -> bool:
    """Tell if a driver shows a GPU (NVIDIA's, WSL's, AMD's): what runs on it, torch would say."""
    return any(Path(each).exists() for each in ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd"))


def _key(setting: Setting) -> Key:
    # Where an argument is a float, 2 may be asked for and 2.0 come back.
    args = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in setting.args
    }
    return setting.ranks, _json(args), setting.broken or ""


def _line_key(name: str, line: Line) -> Key:
    args: Mapping[str, Scalar] = line["args"]
    return _key(Setting(name, line["ranks"], tuple(sorted(args.items())), line["break"]))


def _made(head: Line) -> Made:
    said = {"processor": "", **head}
    return Made(**{name: said[name] for name in Made.__slots__})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _line(report: Report) -> Line:
    """Return what one run adds to its file. Of whose machine it was nothing is left."""
    said = replace(report, error=_nameless(report)).to_json()
    timeline = said["timeline"]
    for kept in ("events", "hops"):
        timeline[kept] = [[*each.values()] for each in timeline[kept]]
    return {
        "ranks": said["ranks"],
        "args": said["args"],
        "break": said["broken"],
        **{name: said[name] for name in ("outcome", "verdict", "metrics", "how", "floors")},
        "checks": [[*check.values()] for check in said["checks"]],
        "timeline": {name: each for name, each in timeline.items() if each or name == "events"},
        **({"pictures": said["pictures"]} if said["pictures"] else {}),
        "error": said["error"],
    }


def _nameless(report: Report) -> Failure | None:
    """Return what went wrong, and where each rank was in the demo: no folder of anybody's."""
    if report.error is None:
        return None
    own = f"{report.demo.replace('-', '_')}.py"
    stacks = (
        "\n".join(
            f'  File "demos/{own}", {rest}' for name, rest in _FRAME.findall(stack) if name == own
        )
        if stack
        else None
        for stack in report.error.stacks
    )
    return replace(report.error, message=report.error.message.split("\n")[0], stacks=tuple(stacks))


def _report(name: str, made: Made, line: Line, origin: Origin) -> Report | None:
    """A line as the report it was, or None where it is none."""
    try:
        checks = ("name", "measured", "relation", "expected", "holds")
        kinds = {"events": Event, "hops": Hop}
        columns = {kept: [each.name for each in fields(kind)] for kept, kind in kinds.items()}
        timeline = line["timeline"]
        said = {
            **line,
            **asdict(made),
            "schema": SCHEMA,
            "demo": name,
            "broken": line["break"],
            "staged": False,
            "reason": "",
            "seconds": None,
            "checks": [dict(zip(checks, each, strict=True)) for each in line["checks"]],
            "timeline": {
                **timeline,
                **{
                    kept: [dict(zip(names, each, strict=True)) for each in timeline.get(kept, ())]
                    for kept, names in columns.items()
                },
            },
        }
        return replace(Report.from_json(said), origin=origin)
    except (LabError, KeyError, TypeError, ValueError):
        return None
