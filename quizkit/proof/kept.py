"""Runners that need not run: what was seen here before, and what ships for want of torch."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from os.path import isfile

from quizkit import paths
from quizkit.errors import QuizkitError
from quizkit.lab.content import torch_version
from quizkit.lab.demo import Demo
from quizkit.lab.record import Record
from quizkit.lab.report import Report, Setting
from quizkit.proof.prove import NOT_HERE, Runner


def shipped(demos: Mapping[str, Demo]) -> Record:
    """Return the record that ships, of the demos as they are."""
    return Record(paths.RECORD, demos, "recorded")


def falling_back(run: Runner, record: Record) -> Runner:
    """Wrap a runner to return what was recorded where nothing can be run."""

    def answer(wanted: Setting) -> Report:
        try:
            return run(wanted)
        except QuizkitError as error:
            found = record.get(wanted) if error.key in NOT_HERE else None
            if found is None:
                raise
            return found

    return answer


@contextmanager
def remembered(demos: Mapping[str, Demo]) -> Generator[Record]:
    """Hold a record of this user's runs; what is put into it meanwhile is kept for next time."""
    folder = paths.cache_folder()
    # Without torch nothing was run by what runs would now be made with.
    kept = Record(folder and folder / "runs", demos, "cached", torch_version() or "none")
    try:
        yield kept
    finally:
        with suppress(QuizkitError):  # a folder that takes nothing costs the next time its speed
            kept.write()


def keeping(run: Runner, kept: Record, fresh: bool = False) -> Runner:
    """Run only what is not kept, or all that is asked if `fresh`, and keep it.

    What did not come out as its demo declares is not kept: it runs again. So does what an argument
    hands a file, which may say something else by then.
    """

    def answer(wanted: Setting) -> Report:
        if not fresh and not _reads_a_file(wanted) and (found := kept.get(wanted)):
            return found
        report = run(wanted)
        if is_sound(report, kept.demos[report.demo]) and not _reads_a_file(wanted):
            kept.put(report)
        return report

    return answer


def _reads_a_file(wanted: Setting) -> bool:
    texts = (value for _, value in wanted.args if isinstance(value, str))
    return any(map(isfile, texts))  # pathlib stumbles over an order too long to be a name


def is_sound(report: Report, demo: Demo) -> bool:
    """Tell whether a run came out as its demo declares: all checks hold, or the bug shows."""
    if report.broken is None:
        return report.verdict == "pass"
    return report.shows(demo.breaks[report.broken].expect)
