"""Every demo says in Chinese all that it says in English; what has no Chinese stays as it is."""

from dataclasses import replace
from pathlib import Path

import pytest

from quizkit.errors import LabError
from quizkit.lab.catalogue import find
from quizkit.ui.demo_words import demo_words


def test_a_check_put_together_in_the_run(tmp_path: Path) -> None:
    (tmp_path / "zh").mkdir()
    (tmp_path / "zh" / "mine.yaml").write_text(
        "checks:\n  '{} of rank {}': rank {1} 的 {0}\n  sums: 求和\n", encoding="utf-8"
    )
    mine = replace(find("all-reduce"), name="mine", path=tmp_path / "mine.py")
    told = demo_words(mine, "zh")
    assert told.check("bytes of rank 3") == "rank 3 的 bytes"
    assert told.check("sums") == "求和"
    assert told.check("sums of") == "sums of"
    # The rest is the demo's own.
    assert (told.law, told.trick) == (mine.law, mine.trick)
    assert told.watch == demo_words(mine, "en").watch
    assert demo_words(mine, "en").check("sums") == "sums"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("law: 一\nlaws: 二\n", 2, "unknown key `laws`"),
        ("law: 一\nwatch: 二\n", 2, "`watch` must be a line each name"),
        ("checks:\n  a:\n    b: c\n", 1, "`checks` must be a line each name"),
        ("law: [\n", 2, "not YAML"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, text: str, line: int, reason: str) -> None:
    (tmp_path / "zh").mkdir()
    file = tmp_path / "zh" / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(LabError) as told:
        demo_words(replace(find("all-reduce"), path=tmp_path / "mine.py"), "zh")
    assert f"{file}" in str(told.value)
    assert reason in str(told.value)
    assert f"{line}" in str(told.value)
