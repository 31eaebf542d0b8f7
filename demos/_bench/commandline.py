"""The command line of a demo file."""

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from . import backend, early, interrupt, load, report, start, stop, torchrun

DEFAULT_RANKS = 4


def seconds(text: str) -> float:
    """A positive time."""
    value = float(text)
    if not 0 < value <= stop.LONGEST:
        raise ValueError(text)
    return value


def parser(script: load.Script) -> argparse.ArgumentParser:
    """The bench's options, and the demo's own."""
    result = argparse.ArgumentParser(
        prog=script.path.name, description=script.law, allow_abbrev=False
    )
    result.add_argument("--ranks", type=int, metavar="N", help=f"default {DEFAULT_RANKS}")
    result.add_argument("--device", choices=backend.DEVICES, default="auto")
    result.add_argument(
        "--break", dest="broken", choices=sorted(script.breaks), help="plant this bug"
    )
    result.add_argument("--json", action="store_true", help="print the report as JSON")
    result.add_argument("--deadline", type=seconds, default=60.0, metavar="S")
    own = result.add_argument_group("options of this demo")
    for parameter in script.parameters.values():
        options: dict[str, Any] = {"default": parameter.default, "dest": f"of_{parameter.name}"}
        if parameter.kind == "bool":
            options["action"] = argparse.BooleanOptionalAction
        elif parameter.choices:
            options["choices"] = parameter.choices
        else:
            options |= {"type": load.KINDS[parameter.kind], "metavar": parameter.kind.upper()}
        option = "--" + parameter.name.replace("_", "-")
        said = (parameter.text.replace("%", "%%"), f"default {parameter.default}")
        own.add_argument(option, help=", ".join(filter(None, said)), **options)
    return result


def run(file: str) -> NoReturn:
    """Run the demo in this file as its own program; ends the process."""
    signal.signal(signal.SIGINT, interrupt.interrupted)
    signal.signal(signal.SIGTERM, interrupt.interrupted)
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = answered(Path(file).resolve())
        sys.stdout.flush()
    except load.DemoError as error:
        code = said(str(error), 2)
    except early.MissingError as error:
        code = said(str(error), 3)
    except torchrun.AbsentError as error:
        code = said(str(error), 124)
    except BrokenPipeError:  # whoever was reading has seen enough
        code = 1
    sys.stderr.flush()
    os._exit(code)  # taking torch down in order would cost a third of its import


def answered(path: Path) -> int:
    """Read the options, run, print the report; gives the exit code."""
    script = load.Script(path)
    options = parser(script).parse_args()
    change = script.breaks.get(options.broken)
    if torchrun.joining():
        ranks = torchrun.world_size(options.ranks)
    else:
        ranks = (
            options.ranks
            if options.ranks is not None
            else (change.ranks if change else DEFAULT_RANKS)
        )
    setting = start.Setting(
        path=path,
        ranks=ranks,
        args={name: getattr(options, f"of_{name}") for name in script.parameters},
        broken=options.broken,
        device=options.device,
        deadline=options.deadline,
    )

    def show(result: report.Report) -> None:
        print(report.as_json(result) if options.json else report.as_text(result, change))

    if torchrun.joining():
        return torchrun.run(setting, show)
    interrupt.adopt_strays()
    result = start.run(start.Plan(setting, start.method()))
    show(result)
    return report.exit_code(result)


def said(message: str, code: int) -> int:
    """One clear line, once: rank 0 speaks, unless it is missing or all is well there."""
    rank = os.environ.get("RANK", "0")
    alone = not rank.isdecimal() or "RANK must be" in message or "no rank 0" in message
    if rank == "0" or alone:
        print(message, file=sys.stderr)
    return code
