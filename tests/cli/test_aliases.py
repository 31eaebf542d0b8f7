"""Other names for topics and demos: they lead somewhere, to one place, and a command takes them."""

import os
from collections import Counter
from pathlib import Path

import pytest
import started

from quizkit.bank.reader import Bank, topic_slugs
from quizkit.cli.aliases import DEMOS, NOT_YET, TOPICS, fold, meant
from quizkit.lab.catalogue import names
from quizkit.paths import QUESTIONS


def run(home: Path, *words: str):
    env = os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en"}
    return started.quizkit(*words, env=env)


def test_every_other_name_leads_to_what_there_is(shipped: Bank):
    assert {*TOPICS} == {*topic_slugs(QUESTIONS)}
    assert {*DEMOS} <= {*names()}
    for each in NOT_YET:
        assert each.question in shipped.questions
        assert each.demo in names()


@pytest.mark.parametrize(("table", "known"), [(TOPICS, topic_slugs(QUESTIONS)), (DEMOS, names())])
def test_no_other_name_hides_one_that_there_is(table: dict[str, tuple[str, ...]], known: list[str]):
    own = {*map(fold, known)}
    for target, also in table.items():
        assert not own & {*map(fold, also)}, target
        assert max(Counter(map(fold, also)).values(), default=1) == 1, target


def test_a_topic_goes_by_a_name_alone_and_what_is_not_there_yet_is_nowhere():
    said = Counter(fold(name) for also in TOPICS.values() for name in also)
    assert [name for name, times in said.items() if times > 1] == []
    absent = Counter(fold(name) for each in NOT_YET for name in each.names)
    assert max(absent.values()) == 1
    assert not {*absent} & {*said}
    assert not {*absent} & {fold(name) for also in DEMOS.values() for name in also}


def test_its_own_name_comes_first_then_its_spellings_then_other_names():
    others = {"dp": ("ddp",), "all-reduce": ("ring",), "ring-attention": ("ring",)}
    assert meant("dp", ["dp", "ddp"], others) == ["dp"]
    assert meant("ddp", ["dp", "ddp"], others) == ["ddp"]  # a bank of one's own may have it
    assert meant("DDP", ["dp"], others) == ["dp"]
    assert meant("All_Reduce", ["all-reduce", "ring-attention"], others) == ["all-reduce"]
    assert meant("ring", ["all-reduce", "ring-attention"], others) == [
        "all-reduce",
        "ring-attention",
    ]
    assert meant("moe", ["dp"], others) == []


@pytest.mark.parametrize(
    ("typed", "topic"),
    [
        *(("ddp", "dp"), ("hsdp", "fsdp"), ("zero3", "zero"), ("ZeRO-3", "zero"), ("nccl", "comm")),
        *(("流水线", "pp"), ("张量并行", "tp"), ("Tensor Parallel", "tp"), ("数据并行", "dp")),
    ],
)
def test_a_topic_is_taken_by_the_name_people_type(tmp_path: Path, typed: str, topic: str):
    done, plainly = (run(tmp_path, "list", "--topic", each) for each in (typed, topic))
    assert (done.returncode, done.stdout) == (0, plainly.stdout)
    assert done.stderr == f"{typed}: this is topic {topic}\n"
    assert plainly.stderr == ""


@pytest.mark.parametrize(
    ("typed", "demo"),
    [
        *(("1f1b", "pipeline"), ("gpipe", "pipeline"), ("allreduce", "all-reduce")),
        *(("flash-attention", "flash"), ("zero", "model-states")),
        *(("ring_attention", "ring-attention"), ("Unused", "ddp-unused")),
    ],
)
def test_a_demo_is_found_by_the_name_people_type(tmp_path: Path, typed: str, demo: str):
    done, plainly = (run(tmp_path, "demo", each, "--help") for each in (typed, demo))
    assert (done.returncode, done.stdout) == (0, plainly.stdout)
    assert done.stderr == f"{typed}: this is demo {demo}\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("demo", "ring"),
            "go by ring: all-reduce, ring-attention, ring-rounding, ring-ulysses.",
        ),
        (("demo", "rounding"), "go by rounding: all-reduce-rounding, ring-rounding."),
        (("demo", "cp"), "cp is a topic; its demos are: all-gather-attention, cp-activations,"),
        (("demo", "cp"), "quizkit demo --topic cp"),
        (("demo", "pipeline", "--topic", "pp"), "--topic lists demos"),
        (("demo", "--topic", "pq"), "There is no topic pq. Try: tp."),
        (("demo", "--topic", "inference"), "Topic inference has no demo yet. Topics that have: "),
        (("demo", "triton"), "no demo on triton yet. The nearest: quizkit demo flash"),
        (
            ("study", "--topic", "triton"),
            "no topic on triton yet. The nearest question: quizkit study",
        ),
        (("study", "ddp"), "To study it: quizkit study --topic dp"),
        (("demo", "pipelines"), "There is no demo named pipelines. Try: pipeline."),
    ],
)
def test_what_is_no_one_thing_is_said_with_what_to_type(
    tmp_path: Path, words: tuple[str, ...], says: str
):
    done = run(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_learning_by_another_name_is_learning_the_topic(tmp_path: Path):
    done = run(tmp_path, "learn", "ddp", "--plain")
    assert done.stderr.startswith("ddp: this is topic dp\n")
    assert done.returncode == 0
