"""`quizkit demo --all [--breaks]`: every demo on one warm bench, every bug planted if asked."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from quizkit.cli.common import language
from quizkit.cli.demo_run import deadline_for, ranks_for, waiting
from quizkit.errors import LabError, QuizkitError
from quizkit.interrupt import INTERRUPTED
from quizkit.lab.bench import Bench, Cancelled, Device, has_torch
from quizkit.lab.catalogue import Demo, catalogue
from quizkit.lab.report import Report, Setting
from quizkit.ui.screens.demo_words import demo_words
from quizkit.words import Lang, listed, say


@dataclass(frozen=True)
class _Row:
    """One run, and whether it came out as it should."""

    setting: Setting
    report: Report | None
    right: bool
    remark: str

    @property
    def what(self) -> str:
        broken = self.setting.broken
        return f"{self.setting.demo} --break {broken}" if broken else self.setting.demo


def run_all(
    folder: Path | None,
    ranks: int | None,
    device: Device,
    deadline: float | None,
    breaks: bool,
    json: bool,
    lang: str | None,
) -> int:
    """Run everything, a line each; 1 if anything came out otherwise than it should."""
    deadline_for(None, deadline)
    if not has_torch():
        raise LabError("torch_missing", python=sys.executable)
    rows: list[_Row] = []
    with Bench(folder) as bench:
        bench.start()
        spoken = language(lang)
        demos = catalogue(folder)
        settings = [*_settings(demos, ranks, breaks)]
        wide = max((len(_Row(each, None, False, "").what) for each in settings), default=0)
        interrupted = False
        for number, setting in enumerate(settings, 1):
            demo = demos[setting.demo]
            name = f"[{number}/{len(settings)}] {setting.demo} {setting.broken or ''}"
            try:
                with waiting(name.rstrip(), spoken):
                    rows.append(_ran(bench, demo, setting, deadline, device, spoken))
            except Cancelled:
                interrupted = True
                break
            if not json:
                print(_line(rows[-1], wide, spoken), flush=True)
    wrong = [row for row in rows if not row.right]
    if json:
        _print_json(rows)
    elif not interrupted:
        print(say("lab.all_done", spoken, runs=len(rows), wrong=len(wrong)))
    return INTERRUPTED if interrupted else 1 if wrong else 0


def _settings(demos: Mapping[str, Demo], ranks: int | None, breaks: bool) -> Iterator[Setting]:
    for demo in demos.values():
        yield Setting(demo.name, ranks_for(None, ranks))
        if breaks:
            for name, planted in demo.breaks.items():
                yield Setting(demo.name, planted.ranks, (), name)


def _ran(
    bench: Bench,
    demo: Demo,
    setting: Setting,
    deadline: float | None,
    device: Device,
    lang: Lang,
) -> _Row:
    planted = demo.breaks[setting.broken] if setting.broken else None
    try:
        report = bench.run(setting, deadline_for(planted, deadline), device)
    except QuizkitError as error:
        # One demo that takes the bench down must not keep the others from being seen.
        return _Row(setting, None, False, error.message(lang))
    if planted:
        shown = report.shows(planted.expect)
        remark = say("lab.break_shown" if shown else "lab.break_hidden", lang)
        return _Row(setting, report, shown, remark)
    words = demo_words(demo, lang)
    failing = listed((words.check(each.name) for each in report.checks if not each.holds), lang)
    remark = say("lab.failing", lang, names=failing) if failing else ""
    if report.error:
        remark = words.ending(report.error.message.split("\n")[0])
    return _Row(setting, report, report.verdict == "pass", remark)


def _line(row: _Row, wide: int, lang: Lang) -> str:
    word = say("lab.ok" if row.right else "lab.fails", lang)
    seconds = f"{row.report.seconds:6.2f} s" if row.report else " " * 8
    ranks = f"{row.setting.ranks:2d} ranks"
    return f"{row.what:<{wide}}  {ranks}  {seconds}  {word}  {row.remark}".rstrip()


def _print_json(rows: list[_Row]) -> None:
    from json import dumps

    failed = [
        {
            "demo": row.setting.demo,
            "ranks": row.setting.ranks,
            "broken": row.setting.broken,
            "message": row.remark,
        }
        for row in rows
        if not row.right
    ]
    reports = [row.report.to_json() for row in rows if row.report]
    found = {"schema": "quizkit/reports/1", "reports": reports, "failed": failed}
    print(dumps(found, ensure_ascii=False, allow_nan=False))
