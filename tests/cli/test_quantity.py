"""What people type after an option of a calculator, and what they hear if it cannot be read."""

import pytest

from quizkit.calc.sheet import Input, Kind
from quizkit.cli.quantity import EXAMPLES, quantity
from quizkit.errors import UsageError


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("count", "8", 8),
        ("count", "7.5e9", 7_500_000_000),
        ("count", "7.5B", 7_500_000_000),
        ("count", "7b", 7_000_000_000),
        ("count", "7.3B", 7_300_000_000),
        ("count", "70亿", 7_000_000_000),
        ("count", "1.5T", 1_500_000_000_000),
        ("count", "1,048,576", 1_048_576),
        ("count", "2^20", 1_048_576),
        ("count", "9007199254740993", 9_007_199_254_740_993),
        ("count", "８", 8),
        ("size", "64GB", 64_000_000_000),
        ("size", "64 GB", 64_000_000_000),
        ("size", "80GiB", 80 * 2**30),
        ("size", "14.9TiB", 14.9 * 2**40),
        ("size", "1e9", 1_000_000_000),
        ("size", "400Gb", 50_000_000_000),
        ("size", "7.5B", 7.5),
        ("rate", "50GB/s", 50_000_000_000),
        ("rate", "400Gb/s", 50_000_000_000),
        ("rate", "400Gbps", 50_000_000_000),
        ("rate", "5e10", 50_000_000_000),
        ("time", "5us", 5e-6),
        ("time", "5µs", 5e-6),
        ("time", "5 微秒", 5e-6),
        ("time", "1.2ms", 1.2e-3),
        ("time", "2 days", 172_800),
        ("time", "0", 0),
        ("speed", "989e12", 989 * 10**12),
        ("speed", "989TFLOPS", 989 * 10**12),
        ("speed", "989 TFLOP/s", 989 * 10**12),
        ("speed", "1.2 PFLOPs", 1_200 * 10**12),
        ("number", "0.5", 0.5),
        ("number", "45%", 0.45),
        ("number", "3/2", 1.5),
        ("number", "-1", -1),
        ("numbers", "1,1,2,1", [1, 1, 2, 1]),
        ("numbers", "1 1.5 2", [1, 1.5, 2]),
        ("numbers", "[1，2]", [1, 2]),
        ("file", "a b.txt", "a b.txt"),
    ],
)
def test_what_is_typed(kind: Kind, text: str, value: object) -> None:
    found = quantity(Input("x", kind), text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("count", "64GB"),
        ("count", "x"),
        ("count", ""),
        ("count", "8 8x"),
        ("size", "80G"),  # decimal or binary?
        ("size", "5us"),
        ("size", "50GB/s"),
        ("rate", "50GB"),
        ("time", "5GB"),
        ("speed", "312T"),
        ("speed", "312TB"),
        ("number", "nan"),
        ("number", "inf"),
        ("number", "9**9**9**9"),
        ("numbers", "1,a"),
        ("numbers", ""),
    ],
)
def test_what_is_not_of_its_kind_is_told_what_would_be(kind: Kind, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        quantity(Input("micro_batches", kind), text)
    for said in (caught.value.message("en"), caught.value.message("zh")):
        assert "--micro-batches" in said
        assert EXAMPLES[kind] in said


@pytest.mark.parametrize("kind", [kind for kind in EXAMPLES if kind not in ("flag", "file")])
def test_every_example_can_be_read(kind: Kind) -> None:
    examples = EXAMPLES[kind].split(", ") if kind != "numbers" else [EXAMPLES[kind]]
    for example in examples:
        assert quantity(Input("x", kind), example)


def test_a_choice_is_one_of_them_or_gets_the_nearest() -> None:
    zero = Input("zero", "choice", 0, (0, 1, 2, 3))
    assert quantity(zero, "3") == 3
    with pytest.raises(UsageError, match=r"--zero has no choice 4\. Try: 0\|1\|2\|3"):
        quantity(zero, "4")
    optimizer = Input("optimizer", "choice", "adam", ("adam", "sgd-momentum", "adam-8bit"))
    assert quantity(optimizer, "sgd-momentum") == "sgd-momentum"
    with pytest.raises(UsageError, match="Try: sgd-momentum"):
        quantity(optimizer, "sgd-momentun")
