"""The index: what it says is what the files say, and it notices when they change."""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import pytest

from quizkit.bank.entry import entry
from quizkit.bank.index import Index
from quizkit.bank.library import Library
from quizkit.bank.listed import listed
from quizkit.bank.reader import Bank
from quizkit.errors import BankError
from quizkit.paths import QUESTIONS

GOOD = """
kind: choice
level: {level}
prompt: {{zh: 哪一个？, en: "Which one of {word}?"}}
options:
  - {{text: {{zh: 对, en: right}}, correct: true}}
  - {{text: {{zh: 错, en: wrong}}, myth: the-myth, why: {{zh: 错了, en: It is wrong}}}}
explain: {{zh: 如题, en: As stated}}
followups: [{{ask: b/other}}]
was: [a/older]
sources: ["https://example.org"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two shelves; every stamp lies far enough back to be trusted."""
    bank = tmp_path / "bank"
    for topic in ("a", "b"):
        (bank / topic).mkdir(parents=True)
        (bank / topic / "_topic.yaml").write_text(
            f"title: {{zh: 甲, en: Shelf {topic}}}\nintro: {{zh: 乙, en: About}}\norder: [one]\n"
        )
    (bank / "a" / "_myths.yaml").write_text("the-myth: {zh: 迷思, en: A belief}\n")
    (bank / "a" / "one.yaml").write_text(GOOD.format(level=1, word="bubbles"))
    (bank / "b" / "other.yaml").write_text(GOOD.format(level=2, word="rings"))
    settle(bank)
    return bank


def settle(bank: Path) -> None:
    """Stamps of a minute ago: those of just now are never trusted."""
    then = time.time() - 60
    for path in [*bank.rglob("*"), bank]:
        os.utime(path, (then, then))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    place = tmp_path / "cache"
    place.mkdir()
    return place


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every bank here counts as a large one, of which a quick look does not see every file."""
    monkeypatch.setattr("quizkit.bank.index._FEW", 0)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which question files were read as YAML."""
    import quizkit.bank.index as module

    seen: list[str] = []
    real = module.read

    def watched(folder: Path, path: Path, problems: list[object]) -> object:
        seen.append(path.relative_to(folder).as_posix())
        return real(folder, path, problems)  # pyright: ignore

    monkeypatch.setattr(module, "read", watched)
    return seen


def test_the_shipped_bank_is_what_its_files_say(tmp_path: Path, shipped: Bank):
    index = Index(QUESTIONS, tmp_path)
    wanted = sorted(shipped.questions.values(), key=lambda question: question.id)
    assert index.entries() == [entry(question) for question in wanted]
    assert index.listed(q.id for q in wanted) == [listed(question) for question in wanted]
    assert index.myths() == shipped.myths
    assert index.topics() == shipped.topics
    assert index.problems() == [*shipped.problems]
    question = index.question(wanted[7].id)
    assert question is not None
    assert (question.id, question.digest) == (wanted[7].id, wanted[7].digest)
    topics = {"pp", "tp"}
    assert {each.topic for each in index.entries(topics)} == topics


def test_nothing_is_read_twice(folder: Path, cache: Path, read: list[str]):
    Index(folder, cache).close()
    assert sorted(read) == ["a/one.yaml", "b/other.yaml"]
    read.clear()
    index = Index(folder, cache)
    assert [each.id for each in index.entries()] == ["a/one", "b/other"]
    assert read == []
    assert index.question("a/one") is not None
    assert read == ["a/one.yaml"]  # what is asked is always read from its file


@pytest.mark.parametrize("thorough", [True, False])
def test_files_that_come_and_go(folder: Path, cache: Path, thorough: bool):
    Index(folder, cache).close()
    (folder / "a" / "new.yaml").write_text(GOOD.format(level=4, word="trees"))
    (folder / "b" / "other.yaml").unlink()
    (folder / "c").mkdir()
    (folder / "c" / "third.yaml").write_text(GOOD.format(level=5, word="maps"))
    found = Index(folder, cache, thorough=thorough)
    assert [(each.id, each.level) for each in found.entries()] == [
        ("a/new", 4), ("a/one", 1), ("c/third", 5),
    ]  # fmt: skip
    assert found.search("rings") == []
    assert found.question("b/other") is None
    shutil.rmtree(folder / "a")
    left = Index(folder, cache, thorough=thorough)
    assert [each.id for each in left.entries()] == ["c/third"]
    assert left.myths() == {}
    assert {*left.topics()} == {"b", "c"}


def test_a_file_changed_in_place(folder: Path, cache: Path):
    Index(folder, cache).close()
    path = folder / "a" / "one.yaml"
    path.write_text(GOOD.format(level=5, word="bubbles"))
    settle(folder)
    state = path.stat()
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    quick = Index(folder, cache, thorough=False)
    question = quick.question("a/one")
    assert question is not None
    assert question.level == 5  # read anew, and so the line is
    assert quick.entries()[0].level == 5


def test_in_a_bank_of_few_files_an_edit_in_place_is_seen_at_once(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    path = folder / "a" / "one.yaml"
    with Library([folder], cache) as shelves:
        assert [each.core for each in shelves.entries()] == [0, 0]
    stamp = path.parent.stat().st_mtime_ns
    path.write_text(GOOD.format(level=1, word="bubbles") + "core: true\n")
    assert path.parent.stat().st_mtime_ns == stamp  # nothing came or went
    quick = Library([folder], cache, thorough=False)
    assert [each.core for each in quick.entries()] == [0, 0]
    monkeypatch.setattr("quizkit.bank.index._FEW", 5)  # files, two of them questions
    quick = Library([folder], cache, thorough=False)
    assert [each.core for each in quick.entries()] == [1, 0]


def test_a_thorough_look_sees_every_change(folder: Path, cache: Path):
    Index(folder, cache).close()
    path = folder / "a" / "one.yaml"
    path.write_text(GOOD.format(level=3, word="bubbles"))  # as long as before, and just now
    assert [each.level for each in Index(folder, cache).entries()] == [3, 2]
    path.write_text("kind: choice\n")
    broken = Index(folder, cache)
    assert [each.id for each in broken.entries()] == ["b/other"]
    assert {problem.file for problem in broken.problems()} == {"a/one.yaml"}
    assert broken.problems({"b"}) == []
    assert broken.question("a/one") is None


def test_a_second_change_within_the_same_tick_is_seen(folder: Path, cache: Path):
    path = folder / "a" / "one.yaml"
    path.write_text(GOOD.format(level=4, word="bubbles"))
    stamp = path.stat().st_mtime_ns
    Index(folder, cache).close()
    path.write_text(GOOD.format(level=2, word="bubbles"))
    os.utime(path, ns=(stamp, stamp))  # a coarse clock: same time, same size
    assert Index(folder, cache).entries()[0].level == 2


def test_titles_and_myths_are_never_stale(folder: Path, cache: Path):
    Index(folder, cache).close()
    (folder / "a" / "_myths.yaml").write_text("the-myth: {zh: 误解, en: Another belief}\n")
    (folder / "a" / "_topic.yaml").write_text("title: {zh: 丙, en: New}\nintro: {zh: 丁, en: x}\n")
    quick = Index(folder, cache, thorough=False)
    assert quick.myths()["the-myth"].en == "Another belief"
    assert quick.topics()["a"].title.en == "New"


def test_search(folder: Path, cache: Path):
    index = Index(folder, cache)
    assert index.search("RINGS") == index.search("  ｒｉｎｇｓ ") == [(0, "b/other")]
    assert [name for _, name in index.search("哪一")] == ["a/one", "b/other"]
    assert index.search("one bubbles") == [(0, "a/one")]
    assert index.search("it bubbles")[0][0] == 1  # `it` stands only in a reason
    assert index.search("no such words") == []
    assert index.search(" ") == []
    assert index.search("100%_'\"") == []


def test_a_foreign_file_or_a_broken_one_is_made_anew(folder: Path, cache: Path):
    Index(folder, cache).close()
    (file,) = cache.iterdir()
    file.write_bytes(b"not a database, and long enough to be looked at" * 30)
    assert len(Index(folder, cache).entries()) == 2
    with sqlite3.connect(file) as database:
        database.execute("update made set by = 'another reader'")
    assert len(Index(folder, cache).entries()) == 2


def everything(folder: Path, cache: Path | None, thorough: bool) -> object:
    with Library([folder], cache, thorough=thorough) as shelves:
        names = [each.id for each in shelves.entries()]
        question = shelves.question("a/one")
        return (
            shelves.entries(),
            shelves.listed(names),
            shelves.topics(),
            shelves.myths(),
            shelves.retired(),
            shelves.search("one of"),
            shelves.search("哪一"),
            shelves.problems(),
            question and question.digest,
        )


@pytest.mark.parametrize("thorough", [True, False])
@pytest.mark.parametrize("damage", ["zeroed", "flipped", "cut"])
def test_no_damage_to_the_file_is_for_ever(folder: Path, cache: Path, damage: str, thorough: bool):
    for number in range(4):
        text = GOOD.format(level=1, word="x" * 3000)
        (folder / "a" / f"more-{number}.yaml").write_text(text)
    (folder / "_retired.yaml").write_text("a/gone: {reason: {zh: 旧, en: old}, see: a/one}\n")
    settle(folder)
    wanted = everything(folder, None, True)
    assert everything(folder, cache, thorough) == wanted
    (file,) = cache.iterdir()
    good = file.read_bytes()
    assert len(good) > 10 * 4096
    for place in range(0, len(good), 4096):
        page = good[place : place + 4096]
        broken = {"zeroed": bytes(4096), "flipped": bytes(byte ^ 0xFF for byte in page)}
        rest = good[place + 4096 :] if damage in broken else b""
        file.write_bytes(good[:place] + broken.get(damage, page[:100]) + rest)
        assert everything(folder, cache, thorough) == wanted, place
        # And it was mended: the next one reads what the file holds.
        assert everything(folder, cache, thorough) == wanted, place


def test_a_file_that_is_locked_while_one_reads(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("quizkit.bank.index_file._PATIENCE", 0.01)
    index = Index(folder, cache)
    (file,) = cache.iterdir()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("begin exclusive")
    assert [each.id for each in index.entries()] == ["a/one", "b/other"]
    other.close()
    assert file.exists()  # it is another's, and sound


def dangling(place: Path) -> str:
    place.symlink_to("nowhere.yaml")
    return "cannot be read: No such file or directory"


def looping(place: Path) -> str:
    place.symlink_to(place.name)
    return "cannot be read: Too many levels of symbolic links"


def to_a_folder(place: Path) -> str:
    place.mkdir()
    return "is no file"


def a_pipe(place: Path) -> str:
    os.mkfifo(place)
    return "is no file"


@pytest.mark.parametrize("thorough", [True, False])
@pytest.mark.parametrize("make", [dangling, looping, to_a_folder, a_pipe])
def test_a_files_problem_is_that_files(
    folder: Path, cache: Path, make: Callable[[Path], str], thorough: bool
):
    said = make(folder / "a" / "odd.yaml")
    for place in (cache, cache, None):
        index = Index(folder, place, thorough=thorough)
        assert [each.id for each in index.entries()] == ["a/one", "b/other"]
        assert index.question("a/odd") is None
        assert [str(each) for each in index.problems()] == [f"a/odd.yaml:1: error: {said}"]
        index.close()
    assert [str(each) for each in Bank.load(folder).problems] == [f"a/odd.yaml:1: error: {said}"]


def test_a_link_whose_end_comes_later_is_a_question_then(folder: Path, cache: Path):
    (folder / "a" / "odd.yaml").symlink_to("late")
    Index(folder, cache).close()
    (folder / "a" / "late").write_text(GOOD.format(level=4, word="late"))
    found = Index(folder, cache)
    assert [each.id for each in found.entries()] == ["a/odd", "a/one", "b/other"]
    assert found.problems() == []


def test_a_name_that_is_not_utf_8_is_told_and_read_by_nobody(folder: Path, cache: Path):
    shutil.copyfile(folder / "a" / "one.yaml", os.fsencode(folder / "a") + b"/caf\xe9.yaml")
    os.makedirs(os.fsencode(folder) + b"/caf\xe9")  # noqa: PTH103
    shutil.copyfile(folder / "a" / "one.yaml", os.fsencode(folder) + b"/caf\xe9/one.yaml")
    for place in (cache, cache, None):
        index = Index(folder, place)
        assert [each.id for each in index.entries()] == ["a/one", "b/other"]
        assert [str(each) for each in index.problems()] == [
            r"a/caf\xe9.yaml:1: error: the name is not UTF-8; rename it"
        ]
        index.close()
    assert [str(each) for each in Bank.load(folder).problems] == [
        r"caf\xe9:1: error: the name is not UTF-8; rename it",
        r"a/caf\xe9.yaml:1: error: the name is not UTF-8; rename it",
    ]


def test_what_an_editor_leaves_beside_a_file_is_none_of_ours(folder: Path, cache: Path):
    (folder / "a" / ".#one.yaml").symlink_to("me@host.1234:1700000000")  # Emacs is editing it
    (folder / "a" / "._one.yaml").write_bytes(b"\0\5\26\7")  # a Mac wrote it to a stick
    (folder / ".git").mkdir()
    (folder / ".git" / "one.yaml").write_text("kind: choice\n")
    index = Index(folder, cache)
    assert [each.id for each in index.entries()] == ["a/one", "b/other"]
    assert {*index.topics()} == {"a", "b"}
    assert index.problems() == []
    assert Bank.load(folder).problems == ()


def test_no_place_for_it(folder: Path, tmp_path: Path):
    assert len(Index(folder, None).entries()) == 2
    assert len(Index(folder, tmp_path / "nowhere").entries()) == 2


def test_locked_by_another(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch):
    Index(folder, cache).close()
    (file,) = cache.iterdir()
    monkeypatch.setattr("quizkit.bank.index_file._PATIENCE", 0.01)
    (folder / "a" / "new.yaml").write_text(GOOD.format(level=4, word="trees"))
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("begin exclusive")
    assert len(Index(folder, cache).entries()) == 3
    other.close()


def indexed(folder: Path, cache: Path) -> int:
    return len(Index(folder, cache).entries())


def test_several_at_once(folder: Path, cache: Path):
    for number in range(30):
        (folder / "a" / f"more-{number}.yaml").write_text(GOOD.format(level=1, word="x"))
    with get_context("spawn").Pool(3) as pool:
        assert pool.starmap(indexed, [(folder, cache)] * 6) == [32] * 6


def test_a_folder_that_is_not_there(tmp_path: Path, cache: Path):
    with pytest.raises(BankError):
        Index(tmp_path / "typo", cache)


def test_the_users_own_bank_counts(folder: Path, tmp_path: Path, cache: Path):
    own = tmp_path / "own"
    (own / "a").mkdir(parents=True)
    (own / "a" / "one.yaml").write_text(GOOD.format(level=5, word="my own"))
    (own / "a" / "mine.yaml").write_text(GOOD.format(level=2, word="mine"))
    with Library([folder, own], cache) as library:
        found = {each.id: each.level for each in library.entries({"a"})}
        assert found == {"a/mine": 2, "a/one": 5}
        question = library.question("a/one")
        assert question is not None
        assert question.level == 5
        assert library.search("mine") == ["a/mine"]
        assert library.search("bubbles") == []
        assert [each.level for each in library.listed(["a/one", "b/other", "no/such"])] == [5, 2]
        assert library.question("no/such") is None
