"""The command line of a demo file."""

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from . import early, interrupt, load, report, start


def parser(script: load.Script) -> argparse.ArgumentParser:
    """The bench's options, and the demo's own."""
    result = argparse.ArgumentParser(
        prog=script.path.name, description=script.law, allow_abbrev=False
    )
    result.add_argument("--ranks", type=int, metavar="N", help="how many ranks (default 4)")
    result.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto")
    result.add_argument("--break", dest="broken", choices=sorted(script.breaks), metavar="NAME")
    result.add_argument("--json", action="store_true", help="print the report as JSON")
    result.add_argument("--deadline", type=float, default=60.0, metavar="S")
    own = result.add_argument_group("options of this demo")
    for parameter in script.parameters.values():
        options: dict[str, Any] = {"default": parameter.default, "dest": f"arg_{parameter.name}"}
        if parameter.kind == "bool":
            options["action"] = argparse.BooleanOptionalAction
        else:
            options["type"] = load.KINDS[parameter.kind]
            options["choices"] = parameter.choices or None
            options["help"] = f"default {parameter.default}"
        own.add_argument("--" + parameter.name.replace("_", "-"), **options)
    return result


def run(file: str) -> NoReturn:
    """Run the demo in this file as its own program."""
    signal.signal(signal.SIGINT, interrupt.interrupted)
    signal.signal(signal.SIGTERM, interrupt.interrupted)
    try:
        code = answered(Path(file).resolve())
    except load.DemoError as error:
        code = said(str(error), 2)
    except early.EnvironmentMissing as error:
        code = said(str(error), 3)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # taking torch down in order would cost a third of its import


def answered(path: Path) -> int:
    """Read the options, run, print the report; gives the exit code."""
    script = load.Script(path)
    options = parser(script).parse_args()
    ranks = options.ranks
    if ranks is None:
        ranks = script.breaks[options.broken].ranks if options.broken else 4
    setting = start.Setting(
        path=path,
        ranks=ranks,
        args={name: getattr(options, f"arg_{name}") for name in script.parameters},
        broken=options.broken,
        device=options.device,
        deadline=options.deadline,
    )
    result = start.run(setting)
    print(report.as_json(result) if options.json else report.as_text(result))
    return report.exit_code(result)


def said(message: str, code: int) -> int:
    """One clear line."""
    print(message, file=sys.stderr)
    return code
