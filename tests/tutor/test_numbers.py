"""Numbers and units as people type them."""

import re

import pytest

from quizkit.tutor.measure import read_measure
from quizkit.tutor.numbers import number_list, plain_number, rounding, split_number, tidy
from quizkit.tutor.numerals import numeral
from quizkit.tutor.verdict import UnreadableError


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,048,576", 1048576),
        ("1 000 000", 1e6),
        ("1_000", 1000),
        ("１，０２４", 1024),
        ("1,234.5", 1234.5),
        ("0,273", 0.273),
        ("27,3", 27.3),
        ("1e9", 1e9),
        ("3/11", 3 / 11),
        ("2^30", 2**30),
        ("3×10⁸", 3e8),
        ("3x10^8", 3e8),
        ("10⁹", 1e9),
        ("10⁻³", 1e-3),
        ("7万", 70000),
        ("1.5 亿/8", 18750000),
        ("12 billion", 12e9),
        ("2(4-1)/4", 1.5),
        ("−5", -5),
        ("+4", 4),
        ("-2^2", -4),
        ("½", 0.5),
        ("007", 7),
        ("约 12", 12),
        ("= 0.25", 0.25),
        (".5", 0.5),
        ("12。", 12),
        ("70B/8", 70e9 / 8),
        ("7/71≈0.099", 7 / 71),
        ("7/(64+7) = 7/71 ≈ 0.0986", 7 / 71),
        ("(p-1)/(m+p-1) = 7/71 ≈ 0.0986", 7 / 71),
        ("四十八", 48),
        ("一百二十八", 128),
        ("一百零二", 102),
        ("一百二", 120),
        ("两千", 2000),
        ("二〇四八", 2048),
        ("1万", 10000),
        ("3.2万", 32000),
        ("3万2千", 32000),
        ("一万二", 12000),
        ("两亿三千万", 230_000_000),
        ("七百亿", 70e9),
        ("零点二五", 0.25),
        ("三分之二", 2 / 3),
        ("两千/八", 250),
    ],
)
def test_a_number_in_any_spelling(text: str, number: float):
    assert plain_number(text) == pytest.approx(number, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "1..2",
        "1/0",
        "1e999",
        "2**99999",
        "(1+2",
        "12:30",
        "p-1",
        "9**9**9**9",
        "9" * 5000,
        "7/71≈0.2",
        "0.1≈",
        "百万",
        "十十",
        "一样",
    ],
)
def test_what_is_no_number(text: str):
    assert plain_number(text) is None


def in_chinese(number: int) -> str:
    """Written out as one learns it at school; what was just read must not help."""
    if number >= 10_000:
        high, low = divmod(number, 10_000)
        gap = "零" if 0 < low < 1000 else ""
        return in_chinese(high) + "万" + (gap + in_chinese(low) if low else "")
    digits = f"{number:04}"
    said = "".join(
        "零" if digit == "0" else "零一二三四五六七八九"[int(digit)] + unit
        for digit, unit in zip(digits, ("千", "百", "十", ""), strict=True)
    )
    said = re.sub("零+", "零", said).strip("零") or "零"
    return said.removeprefix("一") if said.startswith("一十") else said


def test_every_chinese_numeral_to_twenty_thousand_and_many_beyond():
    assert in_chinese(90_816) == "九万零八百一十六"
    for number in [*range(20_000), *range(20_000, 100_000, 97)]:
        assert numeral(in_chinese(number)) == number, in_chinese(number)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("~10 %", 9.5, 10.5),
        ("约 10%", 9.5, 10.5),
        ("10% 左右", 9.5, 10.5),
        ("≈0.0986", 0.09855, 0.09865),
        ("about 0.1", 0.095, 0.105),
        ("~100", 99.5, 100.5),
        ("约 1,000", 999.5, 1000.5),
        ("约3.2万", 31500, 32500),
        ("大约百分之九点九", 9.85, 9.95),
        ("10 %", 10, 10),
        ("= 10 %", 10, 10),
        ("~3/11", 3 / 11, 3 / 11),
    ],
)
def test_about_so_much_is_what_its_digits_leave_open(text: str, low: float, high: float):
    found = split_number(tidy(text))
    assert found is not None
    off = rounding(text) * found[0]
    assert (found[0] - off, found[0] + off) == pytest.approx((low, high))


@pytest.mark.parametrize(
    "text", ["4 3 2 1", "[4,3,2,1]", "4，3，2，1", "4、3、2、1", "(4; 3; 2; 1)", "4, 3, 2, 1"]
)
def test_a_list_in_any_spelling(text: str):
    assert number_list(text, 4) == [4, 3, 2, 1]


def test_commas_of_a_list_group_digits_only_between_spaces():
    assert number_list("1,024 2,048", 2) == [1024, 2048]
    assert number_list("1,24", 2) == [1, 24]
    assert number_list("1, two", 2) is None


@pytest.mark.parametrize(
    ("typed", "asked", "value"),
    [
        ("16 GB", "GB", 16),
        ("16GB", "GB", 16),
        ("16000 MB", "GB", 16),
        ("16 gb", "GB", 16),
        ("１６ ＧＢ", "GB", 16),
        ("16", "GB", 16),
        ("16G", "GB", 16),
        ("16G", "GiB", 16),
        ("16 GB", "GiB", 16e9 / 2**30),
        ("16 GiB", "GB", 16 * 2**30 / 1e9),
        ("16 gibibytes", "GiB", 16),
        ("2 字节", "bytes", 2),
        ("400 Gbps", "GB/s", 50),
        ("400 Gbit/s", "GB/s", 50),
        ("400 Gb/s", "Gb/s", 400),
        ("50 GB/s", "Gb/s", 400),
        ("50 Gb/s", "GB/s", 50),
        ("50 GB/秒", "GB/s", 50),
        ("50 GB per second", "GB/s", 50),
        ("989 TFLOPS", "TFLOP/s", 989),
        ("0.989 PFLOP/s", "TFLOP/s", 989),
        ("6e9 FLOPs", "GFLOP", 6),
        ("1500 us", "ms", 1.5),
        ("1500 μs", "ms", 1.5),
        ("2 小时", "min", 120),
        ("48 GPU-hours", "GPU-days", 2),
        ("48 卡时", "GPU-days", 2),
        ("7B", "", 7e9),
        ("7B params", "parameters", 7e9),
        ("8 张", "GPUs", 8),
        ("8 microbatches", "micro-batches", 8),
        ("27.3%", "", 0.273),
        ("27.3%", "%", 27.3),
        ("百分之27.3", "", 0.273),
        ("3倍", "", 3),
        ("12 GB左右", "GB", 12),
        ("4 KB/token", "bytes/token", 4000),
        ("700 W", "kW", 0.7),
        ("1.5千兆", "GB", 1.5),
        ("1.5 千兆字节", "GB", 1.5),
        ("1.5吉字节", "GB", 1.5),
        ("1.5 吉", "GB", 1.5),
        ("1.5 G字节", "GB", 1.5),
        ("1500兆字节", "GB", 1.5),
        ("12 兆比特", "MB", 1.5),
        ("2 太字节", "GB", 2000),
        ("16 GB/卡", "GB", 16),
        ("16 GB per GPU", "GB", 16),
        ("8 个 rank", "", 8),
        ("3 steps", "", 3),
        ("16 micro-batches", "", 16),
    ],
)
def test_units_are_understood(typed: str, asked: str, value: float):
    assert read_measure(typed, asked).values[0] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(
    ("typed", "asked"),
    [("16 GB", "s"), ("2 days", "GPU-hours"), ("8 GB", "tokens"), ("12%", "GB"), ("5 GB", "GB/s")],
)
def test_another_dimension_has_no_value(typed: str, asked: str):
    assert read_measure(typed, asked).values == ()


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("12 foo", "GB"),
        ("12p", ""),
        ("16GB*2", "GB"),
        ("4 3", ""),
        ("12 (p-1)", ""),
        ("12 p-m", ""),
        ("1.29世界", ""),
        ("8 foo", ""),
        ("8 foo", "GPUs"),
        ("8 foo", "ms"),
        ("4 KB 世界", "KB"),
        ("4 KB/世界", "bytes/token"),
        ("3 兆", ""),
        ("1.5 千兆", ""),
        ("0.5 ranksoftheworld", ""),
    ],
)
def test_a_rest_nobody_can_read_is_asked_again(typed: str, asked: str):
    with pytest.raises(UnreadableError):
        read_measure(typed, asked)


@pytest.mark.parametrize("typed", ["6 buckets", "6 个桶", "6桶", "6 个 Bucket"])
def test_what_is_counted_is_named_as_the_question_names_it(typed: str):
    said = "梯度分成几个桶？ How many gradient buckets are there?"
    assert read_measure(typed, "", said).values == (6,)
    with pytest.raises(UnreadableError):
        read_measure(typed.replace("桶", "筐").replace("ucket", "asket"), "", said)
