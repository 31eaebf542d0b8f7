"""What is settled once: read, written, and where it comes from."""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import started

from quizkit.errors import UsageError
from quizkit.settings import SETTINGS, glimpse, settings, settle
from quizkit.words.config import WORDS


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QUIZKIT_HOME", str(tmp_path))
    monkeypatch.delenv("QUIZKIT_LANG", raising=False)
    return tmp_path / "config.yaml"


def config(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en"} | more
    return started.quizkit("config", *words, env=env)


def test_every_setting_is_explained():
    assert SETTINGS.keys() <= WORDS.keys()


def test_the_defaults_without_a_file(file: Path):
    assert {name: settled.value for name, settled in settings().items()} == {
        name: setting.default for name, setting in SETTINGS.items()
    }
    assert {settled.origin for settled in settings().values()} == {"default"}


def test_a_file_written_by_hand(file: Path, monkeypatch: pytest.MonkeyPatch):
    file.write_text(
        "\ufeff# mine\n\nlang: 'zh'\nplain: True # for the log\nnew_per_day: 5\n"
        'bank: [~/one, "two words"]\nnew_per_day: 7\n',
        encoding="utf-8",
    )
    found = settings()
    assert found["lang"].value == "zh"
    assert found["plain"].value is True
    assert found["bank"].value == ("~/one", "two words")
    assert (found["new_per_day"].value, found["new_per_day"].origin) == (7, f"{file}:7")
    assert found["reviews_per_day"].origin == "default"
    monkeypatch.setenv("QUIZKIT_LANG", "en")
    assert (settings()["lang"].value, settings()["lang"].origin) == ("en", "$QUIZKIT_LANG")


@pytest.mark.parametrize(
    ("line", "key", "said"),
    [
        ("new_per_day: many", "setting_value", ":2: new_per_day cannot be many"),
        ("new_per_day: -1", "setting_value", "can be: 0-1000000"),
        ("new_per_day: 99999999999999999999", "setting_value", "new_per_day"),
        (f"minutes: {'9' * 5000}", "setting_value", "minutes"),
        ("plain: maybe", "setting_value", "true, false"),
        ("lang: fr", "setting_value", "zh, en"),
        ("new_per_dya: 3", "setting_unknown", "Try: new_per_day."),
        ("new_per_day 3", "setting_line", "`name: value`"),
        ("lang:", "setting_line", "lang:"),
    ],
)
def test_a_wrong_line_is_named(file: Path, line: str, key: str, said: str):
    file.write_text(f"plain: false\n{line}\n")
    with pytest.raises(UsageError) as raised:
        settings()
    assert raised.value.key == key
    assert said in str(raised.value)
    assert f"{file}:2" in str(raised.value)
    assert glimpse("plain") is False  # the language and the like are found all the same


def test_a_glimpse_takes_no_offence(file: Path):
    file.write_bytes(b"nonsense\nnote: \xff\nlang: zh\nlang: klingon\n")
    assert glimpse("lang") is None
    file.write_bytes(b"nonsense\nnote: \xff\nlang: zh\n")
    assert glimpse("lang") == "zh"


def test_writing_leaves_every_other_line_alone(file: Path):
    settle("lang", "zh")
    assert file.read_text() == "lang: zh\n"
    file.write_text("# mine\nlang: zh\nodd line\nlang: en\n")
    settle("lang", "en")
    assert file.read_text() == "# mine\nlang: en\nodd line\n"
    settle("bank", "a, b c")
    settle("plain", "TRUE")
    assert file.read_text() == "# mine\nlang: en\nodd line\nbank: [a, b c]\nplain: true\n"
    settle("lang", None)
    assert file.read_text() == "# mine\nodd line\nbank: [a, b c]\nplain: true\n"
    with pytest.raises(UsageError):
        settle("new_per_day", "x")
    assert [path.name for path in file.parent.iterdir()] == ["config.yaml"]


def test_the_command(tmp_path: Path):
    assert config(tmp_path, "new_per_day", "3").returncode == 0
    assert config(tmp_path, "new_per_day").stdout == "3\n"
    shown = config(tmp_path, "--show-origin").stdout
    assert f"new_per_day: 3\t{tmp_path / 'config.yaml'}:1\n" in shown
    assert "lang: en\t$QUIZKIT_LANG\n" in shown
    assert "plain: false\tdefault\n" in shown
    printed = json.loads(config(tmp_path, "plain", "true", "--json").stdout)
    origin = f"{tmp_path / 'config.yaml'}:2"
    assert printed == {
        "schema": "quizkit/config/1",
        "settings": {"plain": {"value": True, "origin": origin}},
    }
    assert config(tmp_path, "plain", "--unset").returncode == 0
    assert (tmp_path / "config.yaml").read_text() == "new_per_day: 3\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["langg", "zh"], "there is no setting langg. Try: lang."),
        (["--unset"], "Which setting?"),
        (["lang", "zh", "--unset"], "not both"),
        (["lang", "fr"], "it can be: zh, en"),
    ],
)
def test_a_wrong_word(tmp_path: Path, words: list[str], said: str):
    done = config(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (tmp_path / "config.yaml").exists()


def test_a_wrong_file_can_be_mended_by_the_command(tmp_path: Path):
    (tmp_path / "config.yaml").write_text("no_such: 3\nnew_per_day: x\n")
    assert config(tmp_path).returncode == 2
    assert config(tmp_path, "no_such", "--unset").returncode == 0
    assert config(tmp_path, "new_per_day", "9").returncode == 0
    assert (tmp_path / "config.yaml").read_text() == "new_per_day: 9\n"


def test_lines_in_another_encoding_stay_as_they_are(tmp_path: Path):
    file = tmp_path / "config.yaml"
    gbk = "# 面试\n".encode("gbk")
    file.write_bytes(gbk + b"minutes: 20\n")
    assert config(tmp_path).returncode == 0
    assert config(tmp_path, "minutes", "25").returncode == 0
    assert file.read_bytes() == gbk + b"minutes: 25\n"


def test_what_is_no_text_is_left_alone(tmp_path: Path):
    file = tmp_path / "config.yaml"
    before = "minutes: 20\n".encode("utf-16")
    file.write_bytes(before)
    for words, code in (((), 2), (("minutes", "25"), 4)):
        done = config(tmp_path, *words)
        assert done.returncode == code
        assert "UTF-8" in done.stderr
    assert file.read_bytes() == before


def test_a_pipe_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "config.yaml")
    for words, code in (((), 2), (("minutes", "25"), 4)):
        done = config(tmp_path, *words)
        assert done.returncode == code
        assert "no regular file" in done.stderr


def test_of_many_at_once_none_is_lost(tmp_path: Path):
    names = {"minutes": "11", "level": "3", "new_per_day": "7", "reviews_per_day": "9"}
    for _ in range(5):
        (tmp_path / "config.yaml").unlink(missing_ok=True)
        with ThreadPoolExecutor(4) as pool:
            done = [*pool.map(lambda pair: config(tmp_path, *pair), names.items())]
        assert [each.returncode for each in done] == [0] * 4
        lines = (tmp_path / "config.yaml").read_text().splitlines()
        assert sorted(lines) == sorted(f"{name}: {value}" for name, value in names.items())
    assert [each.name for each in tmp_path.iterdir()] == ["config.yaml"]


def test_a_settled_bank_is_asked_from(tmp_path: Path):
    own = tmp_path / "own" / "mine"
    own.mkdir(parents=True)
    (own / "first.yaml").write_text(
        "kind: choice\nlevel: 1\nprompt: {zh: 哪个？, en: Which?}\n"
        "options: [{text: {zh: 对, en: yes}, correct: true}, {text: {zh: 错, en: no}, "
        "myth: m, why: {zh: 错, en: no}}]\nexplain: {zh: 如题, en: As said}\nsources: [x]\n"
    )
    assert config(tmp_path, "bank", str(own.parent)).returncode == 0
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": "en"}
    done = started.quizkit("list", "--topic", "mine", "--json", env=env)
    assert [row["id"] for row in json.loads(done.stdout)["questions"]] == ["mine/first"]
