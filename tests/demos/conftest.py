"""One warm bench for all that demos are asked here; each distinct run is made once."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import pytest

from quizkit.lab.bench import Bench
from quizkit.lab.catalogue import find
from quizkit.lab.report import Report, Setting
from quizkit.ui.screens.demo_words import demo_words

Run = Callable[..., dict[str, Any]]

HANGING = 3.0  # seconds for a break whose point is that it never ends


class Lab:
    """One warm bench, and the reports it has already brought."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.seen: dict[Setting, Report] = {}

    def run(self, setting: Setting, ends: bool = False) -> Report:
        """Return the report. `ends`: of a bug that hangs elsewhere, and here must not."""
        demo = find(setting.demo)
        setting = demo.filled(setting)  # a default that is named is the same run
        if setting not in self.seen:
            planted = demo.breaks.get(setting.broken or "")
            hangs = planted is not None and planted.expect == "hangs" and not ends
            limit = HANGING if hangs else 60.0
            report = self.seen[setting] = self.bench.run(setting, limit, device="cpu")
            # Names that are put together in the run are seen nowhere else.
            words = demo_words(demo, "zh")
            assert not [
                check.name for check in report.checks if words.check(check.name) == check.name
            ]
            if report.error:
                first = report.error.message.split("\n")[0]
                assert words.ending(first) != first
        return self.seen[setting]


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    with Bench() as bench:
        yield Lab(bench)
        # However many runs crashed or hung on it, the bench itself comes to a clean end.
        assert bench._child is not None  # pyright: ignore[reportPrivateUsage]
        how, said = bench._child.stop()  # pyright: ignore[reportPrivateUsage]
        assert how == "exit code 0", said


@pytest.fixture(scope="module")
def run(lab: Lab, request: pytest.FixtureRequest) -> Run:
    """Runs the demo that the test file is named after; the report is as `--json` prints it.

    A bug that hangs elsewhere is given the time of any other run where it `ends`.
    """
    demo = request.path.stem.removeprefix("test_").replace("_", "-")

    def run(
        ranks: int, broken: str | None = None, ends: bool = False, **args: Any
    ) -> dict[str, Any]:
        report = lab.run(Setting(demo, ranks, tuple(args.items()), broken), ends)
        return json.loads(json.dumps(asdict(report)))

    return run


def failed(report: dict[str, Any]) -> list[str]:
    """Names of the checks that went red."""
    assert report["outcome"] == "finished", report["error"]
    return [check["name"] for check in report["checks"] if not check["holds"]]
