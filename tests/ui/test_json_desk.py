"""The JSON desk over real pipes, with a real diary behind it."""

import io
import json
import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from quizkit.bank.entry import entry
from quizkit.bank.reader import Bank
from quizkit.diary import Diary
from quizkit.errors import LabError
from quizkit.lab.catalogue import find
from quizkit.lab.excerpt import Excerpt
from quizkit.lab.report import Report, Timeline
from quizkit.proof.judge import Judgement
from quizkit.proof.parts import parts
from quizkit.proof.view import ProofView
from quizkit.tutor.asked import Asked
from quizkit.tutor.lineup import today
from quizkit.tutor.queue import Queue
from quizkit.tutor.study import Study
from quizkit.ui.jsonl.json_desk import JsonDesk

NOW = datetime(2026, 3, 1, 8, tzinfo=UTC)
FILES = {
    "pick": """
kind: choice
level: 1
prompt: {zh: 省的是什么？, en: What is saved?}
options:
  - text: {zh: 激活显存, en: activation memory}
    correct: true
  - text: {zh: 气泡, en: the bubble}
    why: {zh: 气泡不变, en: the bubble stays}
    myth: cuts-bubble
  - text: {zh: 通信, en: traffic}
    why: {zh: 一样多, en: as much as before}
hints: [{zh: 想想峰值, en: think of the peak}]
explain: {zh: 峰值更低, en: a lower peak}
say: {zh: 这样说, en: say so}
sources: ["https://example.org"]
""",
    "share": """
kind: numeric
level: 2
prompt: {zh: "{p} 级的占比？", en: "The share of {p} stages?"}
params: {p: [4]}
answer: (p - 1) / (p + 7)
traps:
  - {formula: (p - 1) / 8, forgot: {zh: 分母漏了, en: the denominator}, myth: overhead}
explain: {zh: "是 {answer}", en: "it is {answer}"}
sources: ["https://example.org"]
""",
    "why": """
kind: essay
level: 4
prompt: {zh: 为什么？, en: Why?}
rubric:
  - {points: 1, says: {zh: 说到峰值, en: names the peak}, keywords: [peak]}
explain: {zh: 如题, en: as stated}
sources: ["https://example.org"]
""",
    "fix": """
kind: bug
level: 3
prompt: {zh: 哪一行？, en: Which line?}
function: story
reasons: [{points: 1, says: {zh: 少一步, en: one step short}}]
explain: {zh: 如题, en: as stated}
proof: {demo: pipeline, break: short, claims: [ranks > 1]}
""",
    "fill": """
kind: cloze
level: 2
prompt: {zh: 填空, en: Fill in}
text: {zh: "用 [[how]]", en: "By [[how]]"}
gaps: {how: {answer: all-reduce}}
explain: {zh: 如题, en: as stated}
sources: ["https://example.org"]
""",
    "sort": """
kind: order
level: 2
prompt: {zh: 排序, en: Sort}
steps: [{id: one, text: {zh: 一, en: first}}, {id: two, text: {zh: 二, en: second}}]
explain: {zh: 如题, en: as stated}
sources: ["https://example.org"]
""",
}
REPORT = Report(
    demo="pipeline",
    ranks=4,
    args={},
    broken=None,
    start="fork",
    backend="gloo",
    device="cpu",
    staged=False,
    reason="",
    torch="2",
    seconds=0.1,
    outcome="finished",
    error=None,
    checks=(),
    metrics={"bubble": float("nan")},
    how={"bubble": "clocked"},
    timeline=Timeline(),
    verdict="pass",
)
CODE = Excerpt(("def story():", "    go()"), 7, frozenset({2}))


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    folder = tmp_path / "bank" / "t"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return Bank.load(folder.parent)


def prove(asked: Asked, _: object) -> ProofView:
    if asked.question.id == "t/why":
        raise LabError("torch_missing", python="python")
    key = parts(asked.question)
    return ProofView({}, True, find("pipeline"), REPORT, Judgement((), ()), 0.25, {}, parts=key)


class Sink(io.BytesIO):
    """What was printed, and what was on disk by then."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.on_disk: list[set[str]] = []

    def write(self, data: Any) -> int:
        with Diary(self.path) as diary:
            self.on_disk.append({row.uuid for row in diary.answers()})
        return super().write(data)


def session(
    bank: Bank,
    tmp_path: Path,
    names: Sequence[str],
    *lines: object,
    patience: float = 0.0,
    left_open: bool = False,
) -> list[dict[str, Any]]:
    """What the desk prints when it is given these lines, then the end of the input, or nothing."""
    text = "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in lines)
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    if not left_open:
        os.close(writing)
    sink = Sink(tmp_path / "diary.sqlite3")
    entries = [entry(bank.questions[f"t/{name}"]) for name in names]
    with Diary(sink.path) as diary, os.fdopen(reading, "rb", 0) as source:
        desk = JsonDesk(source.fileno(), sink, patience)
        Study(
            entries,
            diary,
            desk,
            lambda: NOW,
            lang="en",
            queue=lambda cards: Queue(entries, today(entries, cards, NOW, 1), 1),
            read=bank.questions.get,
            prove=prove,
            show=lambda _: CODE,
        ).run()
    if left_open:
        os.close(writing)
    printed = [json.loads(line) for line in sink.getvalue().splitlines()]
    for said, known in zip(printed, sink.on_disk, strict=True):
        if "verdict" in said:
            assert said["verdict"]["uuid"] in known
    return printed


def words(printed: Sequence[dict[str, Any]]) -> list[str]:
    return [next(iter(said)) for said in printed]


def test_ask_answer_verdict_end(bank: Bank, tmp_path: Path):
    ask, verdict, end = session(bank, tmp_path, ["pick"], {"answer": [0]})
    assert ask["ask"]["id"] == "t/pick"
    assert ask["ask"]["kind"] == "choice"
    assert {option["id"] for option in ask["ask"]["options"]} == {0, 1, 2}
    assert verdict["verdict"]["right"] is True
    assert (verdict["verdict"]["question"], verdict["verdict"]["grade"]) == ("t/pick", 3)
    assert verdict["verdict"]["correct"] == [0]
    assert (end["end"]["answered"], end["end"]["right"], end["end"]["wrong"]) == (1, 1, [])


@pytest.mark.parametrize("name", FILES)
def test_a_question_does_not_give_itself_away(bank: Bank, tmp_path: Path, name: str):
    ask = session(bank, tmp_path, [name])[0]["ask"]
    assert not {"answer", "correct", "explain", "changed", "rubric", "reasons", "say"} & {*ask}
    for option in ask.get("options", []):
        assert {*option} == {"id", "text"}
    text = json.dumps(ask, ensure_ascii=False)
    assert "all-reduce" not in text
    assert "a lower peak" not in text
    assert "cuts-bubble" not in text
    if name == "fix":
        assert ask["code"] == {"lines": ["def story():", "    go()"], "first": 7}
    if name == "sort":
        assert [step["id"] for step in ask["steps"]] == ["two", "one"]
    if name == "share":
        assert (ask["prompt"], ask["values"], ask["unit"]) == (
            "The share of 4 stages?",
            {"p": 4},
            "",
        )


def test_the_next_question_follows_at_once(bank: Bank, tmp_path: Path):
    printed = session(bank, tmp_path, ["pick", "fill"], {"answer": [0]}, {"answer": "all reduce"})
    assert words(printed) == ["ask", "verdict", "ask", "verdict", "end"]
    assert [said["verdict"]["last"] for said in printed if "verdict" in said] == [False, True]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("{nonsense", "study.line_json"),
        ("[1]", "study.line_json"),
        ('"hint"', "study.line_json"),
        ("null", "study.line_json"),
        ('{"answer": NaN}', "study.line_json"),
        ('{"answer": [-1e999]}', "study.line_json"),
        ("\udcff\udcfe", "study.line_json"),
        ("[" * 100_000, "study.line_json"),
        ({}, "study.line_neither"),
        ({"reply": 1}, "study.line_neither"),
        ({"command": "hnit"}, "study.line_command"),
        ({"command": ["hint"]}, "study.line_command"),
        ({"answer": "x"}, "study.needs_list"),
        ({"answer": [7]}, "study.no_such_option"),
        ({"answer": [0], "seconds": -1}, "study.line_seconds"),
        ({"answer": [0], "sure": "very"}, "study.line_sure"),
        ({"answer": [0], "seconds": 10**400}, "study.line_seconds"),
        ({"answer": [0], "seconds": 10**6 + 1}, "study.line_seconds"),
        ({"answer": [0], "seconds": True}, "study.line_seconds"),
        ({"answer": [0], "sure": 1}, "study.line_sure"),
        ({"command": "grade", "value": 2}, "study.answer_first"),
        ({"command": "grade", "value": 5}, "study.line_grade"),
        ({"command": "continue"}, "study.line_nothing"),
        ({"command": "prove"}, "study.answer_first"),
        ({"command": "undo"}, "study.nothing_to_undo"),
    ],
)
def test_what_is_malformed_changes_nothing(bank: Bank, tmp_path: Path, line: Any, key: str):
    if isinstance(line, str):
        line = line.encode("utf-8", "surrogateescape").decode("latin-1")
    if isinstance(line, str) and len(line) > 60_000:
        line = line[:60_000]  # as much as a pipe holds
    printed = session(bank, tmp_path, ["pick"], line, {"answer": [0]})
    assert words(printed) == ["ask", "error", "verdict", "end"]
    assert printed[1]["error"]["key"] == key
    assert printed[1]["error"]["text"]


def test_empty_lines_are_nothing(bank: Bank, tmp_path: Path):
    assert words(session(bank, tmp_path, ["pick"], "", "  ", {"answer": 0})) == [
        "ask",
        "verdict",
        "end",
    ]


def test_hints_toggles_and_certainty(bank: Bank, tmp_path: Path):
    commands = [{"command": name} for name in ("hint", "hint", "toggle", "sure")]
    printed = session(bank, tmp_path, ["pick"], *commands, {"answer": [1]})
    assert words(printed)[:6] == ["ask", "hint", "error", "ask", "sure", "verdict"]
    assert printed[1]["hint"] == {
        "question": "t/pick",
        "number": 1,
        "of": 1,
        "text": "think of the peak",
    }
    english, chinese = printed[0]["ask"], printed[3]["ask"]
    assert (english["lang"], chinese["lang"]) == ("en", "zh")
    assert [o["id"] for o in english["options"]] == [o["id"] for o in chinese["options"]]
    assert chinese["options"] != english["options"]
    assert printed[4] == {"sure": True}
    assert printed[5]["verdict"]["myth"] == "cuts-bubble"
    assert printed[5]["verdict"]["expected"] == "激活显存"


def test_a_trap_is_named_and_the_number_is_shown(bank: Bank, tmp_path: Path):
    printed = session(bank, tmp_path, ["share"], {"answer": "37.5%"})
    verdict = printed[1]["verdict"]
    assert (verdict["number"], verdict["forgot"], verdict["myth"]) == (
        0.375,
        "the denominator",
        "overhead",
    )
    assert (verdict["expected"], verdict["explain"]) == ("0.272727", "it is 0.273")


def test_proof_why_and_say_are_about_the_last_verdict(bank: Bank, tmp_path: Path):
    commands = [{"command": name} for name in ("prove", "why", "say")]
    lines = [{"answer": 2}, *commands, {"answer": "the peak"}]
    printed = session(bank, tmp_path, ["fix", "why"], *lines)
    assert words(printed) == ["ask", "verdict", "ask", "proof", "why", "say", "verdict", "end"]
    assert printed[3]["question"] == printed[4]["why"]["question"] == "t/fix"
    assert printed[3]["proof"]["schema"] == "quizkit/report/1"
    assert printed[3]["proof"]["metrics"] == {"bubble": "NaN"}
    assert (printed[3]["own"], printed[3]["measured"]) == (True, 0.25)
    assert printed[3]["parts"] == {"kind": "reasons", "proved": 0, "of": 1, "in_part": 0}


def test_the_last_verdict_can_still_be_asked_about(bank: Bank, tmp_path: Path):
    lines = [{"answer": "0.375"}, {"command": "why"}, {"command": "right"}, {"command": "undo"}]
    printed = session(bank, tmp_path, ["share"], *lines, {"answer": "3/11"}, patience=5.0)
    # Right after all: so it is not asked again, and the second verdict is the last.
    kinds = ["ask", "verdict", "message", "ask", "why", "message", "verdict"]
    kinds += ["message", "ask", "verdict"]
    assert words(printed)[: len(kinds)] == kinds
    assert [trap["myth"] for trap in printed[4]["why"]["traps"]] == ["overhead"]
    assert printed[-1]["end"]["right"] == 1


def test_a_pick_is_not_right_after_all_and_that_is_said(bank: Bank, tmp_path: Path):
    lines = [{"answer": [1]}, {"command": "right"}, {"answer": [1]}]
    printed = session(bank, tmp_path, ["pick"], *lines, patience=5.0)
    errors = [each["error"]["key"] for each in printed if "error" in each]
    assert errors == ["study.right_exact"]
    assert printed[-1]["end"]["right"] == 0


def test_a_command_after_the_very_last_verdict(bank: Bank, tmp_path: Path):
    lines = [{"answer": 2}, {"command": "prove"}, {"answer": 1}, {"command": "quit"}]
    printed = session(bank, tmp_path, ["fix"], *lines, patience=5.0)
    assert words(printed) == ["ask", "verdict", "proof", "error", "end"]
    assert printed[3]["error"]["key"] == "study.line_no_question"


def test_a_session_nobody_writes_to_any_more_ends(bank: Bank, tmp_path: Path):
    printed = session(bank, tmp_path, ["pick"], {"answer": [0]}, left_open=True)
    assert words(printed)[-1] == "end"


def test_a_proof_that_cannot_run(bank: Bank, tmp_path: Path):
    changed = replace(bank.questions["t/why"], proof=bank.questions["t/fix"].proof)
    bank = Bank({"t/why": changed})
    lines = [{"answer": "the peak"}, {"command": "prove"}]
    printed = session(bank, tmp_path, ["why"], *lines, patience=5.0)
    assert words(printed) == ["ask", "verdict", "error", "end"]
    assert printed[2]["error"]["key"] == "errors.torch_missing"


def test_undo_asks_again_just_as_it_was(bank: Bank, tmp_path: Path):
    lines = [{"answer": [1]}, {"command": "undo"}, {"answer": [0]}]
    printed = session(bank, tmp_path, ["pick", "fill"], *lines)
    assert words(printed) == ["ask", "verdict", "ask", "message", "ask", "verdict", "ask", "end"]
    assert printed[3]["message"]["key"] == "study.undone"
    assert printed[3]["message"]["uuid"] == printed[1]["verdict"]["uuid"]
    assert printed[4]["ask"] == printed[0]["ask"]
    assert printed[6]["ask"]["id"] == printed[2]["ask"]["id"] == "t/fill"
    assert printed[-1]["end"]["right"] == 1


def test_going_on_by_itself_is_no_answer(bank: Bank, tmp_path: Path):
    lines = [{"answer": [0]}, {"command": "continue"}, {"command": "skip"}]
    printed = session(bank, tmp_path, ["pick", "fill"], *lines)
    assert words(printed) == ["ask", "verdict", "ask", "error", "end"]
    assert printed[3]["error"]["key"] == "study.line_nothing"
    assert (printed[-1]["end"]["answered"], printed[-1]["end"]["skipped"]) == (1, 1)


@pytest.mark.parametrize("value", [2.0, True, "2", 0, 5, 10**400, None, [2], {"grade": 2}])
def test_a_grade_is_a_whole_number_from_1_to_4(bank: Bank, tmp_path: Path, value: object):
    lines = [{"answer": [0]}, {"command": "grade", "value": value}, {"command": "quit"}]
    printed = session(bank, tmp_path, ["pick", "fill"], *lines)
    assert words(printed) == ["ask", "verdict", "ask", "error", "end"]
    assert printed[3]["error"]["key"] == "study.line_grade"
    with Diary(tmp_path / "diary.sqlite3") as diary:
        assert [row.grade for row in diary.answers()] == [3]


@pytest.mark.parametrize("left", [["pick", "fill"], ["pick"]])
@pytest.mark.parametrize("name", ["hint", "sure", "right", "continue", "grade", "why", "flag"])
def test_each_line_has_one_reply_after_a_verdict_too(
    bank: Bank, tmp_path: Path, left: list[str], name: str
):
    value = {"value": 3} if name == "grade" else {}
    lines = [{"answer": [0]}, {"command": name, **value}, {"command": "quit"}]
    printed = session(bank, tmp_path, left, *lines, patience=10.0)
    asked = ["ask"] * (len(left) - 1)
    said = words(printed)
    assert said[: 2 + len(asked)] == ["ask", "verdict", *asked]
    # On the last verdict there is nothing left to go on to but the end.
    over = name == "continue" and not asked
    assert len(said) == 2 + len(asked) + (not over) + 1, said
    assert said[-1] == "end"


def test_a_line_that_is_too_long_is_one_error_and_the_next_one_is_read(tmp_path: Path):
    reading, writing = os.pipe()
    sink = Sink(tmp_path / "diary.sqlite3")
    long = b'{"answer": "' + b"x" * (1 << 20) + b'"}\n'
    just = b'{"answer": {"text": "' + b"x" * ((1 << 20) - 24) + b'"}}\n'
    assert len(just) == (1 << 20) + 1

    def feed() -> None:
        with os.fdopen(writing, "wb") as stream:
            stream.write(long * 8 + just + long[:-2])

    feeder = threading.Thread(target=feed)
    feeder.start()
    with os.fdopen(reading, "rb", 0) as source:
        desk = JsonDesk(source.fileno(), sink, 0.0)
        desk._asked = object()  # pyright: ignore  # a question waits
        said = [desk._read() for _ in range(2)]
    feeder.join()
    assert [type(each).__name__ for each in said] == ["Given", "Command"]
    printed = [json.loads(line) for line in sink.getvalue().splitlines()]
    assert [each["error"]["key"] for each in printed] == ["study.line_long"] * 9


def test_not_knowing(bank: Bank, tmp_path: Path):
    printed = session(bank, tmp_path, ["pick", "fill"], {"answer": None}, {"command": "quit"})
    assert printed[1]["verdict"]["right"] is False
    assert printed[1]["verdict"]["notes"] == ["Not known."]
    assert words(printed)[-1] == "end"


def test_what_a_front_end_knows_better(bank: Bank, tmp_path: Path):
    session(bank, tmp_path, ["pick"], {"answer": [0], "seconds": 7.5, "sure": True})
    with Diary(tmp_path / "diary.sqlite3") as diary:
        (row,) = diary.answers()
    assert (row.seconds, row.sure, row.grade) == (7.5, True, 4)


def test_flags_and_grades(bank: Bank, tmp_path: Path):
    lines = [
        {"command": "flag", "value": "typo"},
        {"answer": [0]},
        {"command": "grade", "value": 2},
    ]
    printed = session(bank, tmp_path, ["pick", "fill"], *lines)
    assert words(printed) == ["ask", "message", "verdict", "ask", "verdict", "end"]
    assert printed[4]["verdict"]["grade"] == 2
    with Diary(tmp_path / "diary.sqlite3") as diary:
        assert [row.note for row in diary.answers()] == ["flag: typo", "", "grade"]


def test_endless_seconds_are_refused_and_half_a_character_ends_nothing(bank: Bank, tmp_path: Path):
    lines = (
        '{"answer": [0], "seconds": 1e999}',
        '{"answer": "\\ud800"}',
        {"answer": [0]},
    )
    printed = session(bank, tmp_path, ["pick"], *lines)
    assert printed[1]["error"]["key"] == "study.line_json"
    assert "verdict" in words(printed)
    assert words(printed)[-1] == "end"
