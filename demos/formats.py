"""Five short formats: what a number becomes in them, updates they lose, and one outlier's price.

The trick
    A format is a sign, an exponent and a mantissa. Between two powers of two its numbers lie
    evenly: the step is the lower power divided by 2 ** mantissa. So a number is divided by its
    step, rounded to a whole one (ties to the even), and multiplied again. Below the smallest normal
    number the step shrinks no more: those are the subnormals. What is too large becomes inf; e4m3
    has none, and torch's cast makes it 448 (torch 2.13).

              bits  exponent  mantissa   largest  smallest  step at 1
        fp16    16         5        10     65504      6e-8     1/1024
        bf16    16         8         7    3.4e38     9e-41      1/128
        tf32    19         8        10    3.4e38     1e-41     1/1024
        e4m3     8         4         3       448      2e-3        1/8
        e5m2     8         5         2     57344    1.5e-5        1/4

    A weight of 1 in bf16 and an update of 0.001: the sum is nearer to 1 than to the next number, so
    it is 1 again, each time. fp32 master weights add up what is lost. Or the sum is rounded up with
    the chance of the part cut off, a draw each: then it is right on average.

    In e4m3 a scale brings a tensor's largest value to 448. One outlier sets it for all, and others
    fall among the subnormals or to 0. A scale for each block confines that to the outlier's block.

Watch
    fp16 (shared, value)            what `value` becomes in fp16
    bf16 (shared, value)            what `value` becomes in bf16
    tf32 (shared, value)            what `value` becomes in tf32
    e4m3 (shared, value)            what `value` becomes in e4m3
    e5m2 (shared, value)            what `value` becomes in e5m2
    largest (shared, value)         finite number of `kind`, of all that came out of rounding
    normal (shared, value)          smallest number of `kind` with all its mantissa bits
    smallest (shared, value)        number of `kind` above 0 that came out of rounding
    spacing (shared, value)         from 1 to the next number of `kind`
    weight_fp32 (shared, value)     after `steps` updates, kept in fp32
    weight_bf16 (shared, value)     after `steps` updates, rounded to the nearest bf16 at each
    weight_drawn (shared, value)    after `steps` updates, rounded to bf16 by draws: mean of 1000
                                    copies
    error_nearest (shared, ratio)   rms error of numbers rounded to the nearest bf16, over that of
                                    one rounding by draws
    error_mean (shared, ratio)      rms error of the mean of `draws` roundings to bf16 by draws,
                                    over that of one
    zeros_tensor (shared, share)    of the values beside the outlier, 0 in e4m3 with one scale for
                                    all
    zeros_block (shared, share)     of the values beside the outlier, 0 in e4m3 with a scale a block
    error_tensor (shared, share)    rms error over rms of the values beside the outlier, one scale
                                    for all
    error_block (shared, share)     rms error over rms of the values beside the outlier, a scale a
                                    block

Run
    quizkit demo formats --gpus 1
    python demos/formats.py --value 0.1 --kind e4m3
    torchrun --nproc-per-node 2 demos/formats.py
"""

from dataclasses import dataclass
from math import inf
from typing import Literal

from _bench import Break, Metrics, check, compared, counted, device, picture, refuse, run, shared

import torch
from torch import Tensor

TOPIC = "precision"
COPIES = 1000


@dataclass(frozen=True)
class Format:
    """A sign bit, and so many more; what lies beyond the largest becomes inf or the largest."""

    exponent: int
    mantissa: int
    largest: float
    beyond: float = inf

    @property
    def lowest(self) -> int:
        """The exponent of the smallest normal number."""
        return 2 - 2 ** (self.exponent - 1)


FORMATS = {
    "fp16": Format(5, 10, 65504.0),
    "bf16": Format(8, 7, (2 - 2**-7) * 2.0**127),
    "tf32": Format(8, 10, (2 - 2**-10) * 2.0**127),
    "e4m3": Format(4, 3, 448.0, beyond=448.0),
    "e5m2": Format(5, 2, 57344.0),
}


def exponent_of(numbers: Tensor, form: Format) -> Tensor:
    """The power of two at or below each number; for subnormals and 0 the smallest normal's."""
    exponent = (torch.frexp(numbers)[1] - 1).clamp(min=form.lowest)
    return torch.where(numbers == 0, form.lowest, exponent)


def rounded(numbers: Tensor, form: Format, draws: Tensor | None = None) -> Tensor:
    """fp64 numbers to the nearest of the format; with draws from 0 to 1, up or down by chance."""
    step = torch.ldexp(torch.ones_like(numbers), exponent_of(numbers, form) - form.mantissa)
    steps = numbers / step
    whole = steps.round() if draws is None else (steps + draws).floor()
    found = whole * step
    over = torch.full_like(found, form.beyond).copysign(found)
    return torch.where(found.abs() > form.largest, over, found)


def pattern(numbers: Tensor, form: Format) -> Tensor:
    """The bits of numbers of the format, NaN apart: sign, exponent, mantissa, as an integer."""
    exponent = exponent_of(numbers, form)
    steps = numbers.abs() / torch.ldexp(torch.ones_like(numbers), exponent - form.mantissa)
    # A normal number has 2 ** mantissa steps or more: that carries 1 into the exponent's field.
    bits = ((exponent - form.lowest).long() << form.mantissa) + steps.long()
    ends = (2**form.exponent - 1) << form.mantissa
    bits = torch.where(numbers.isinf(), ends, bits)
    return bits + (numbers.signbit().long() << (form.exponent + form.mantissa))


def updated(weight: Tensor, update: float, form: Format, by_chance: bool) -> Tensor:
    """The weight after an update, in its format again."""
    draws = torch.rand_like(weight) if by_chance else None
    return rounded(weight + update, form, draws)


def scaled(values: Tensor, form: Format, block: int) -> Tensor:
    """To the format and back, with a scale for each block that brings its largest to the end."""
    blocks = values.view(-1, block)
    largest = blocks.abs().amax(1, keepdim=True)
    scale = largest.clamp(min=1e-30) / form.largest
    return (rounded(blocks / scale, form) * scale).view_as(values)


def main(
    value: float = 0.1,  # a number to be rounded
    kind: Literal["fp16", "bf16", "tf32", "e4m3", "e5m2"] = "bf16",  # the format that is measured
    weight: float = 1.0,  # a weight at the start, rounded to bf16
    update: float = 1e-3,  # what each step adds to it
    steps: int = 100,  # updates
    draws: int = 64,  # roundings by chance of which the mean is taken
    outlier: float = 1000.0,  # one value, among others with a deviation of 0.01
    block: int = 128,  # values that share a scale, a divisor of 4096
) -> Metrics:
    """Round a dense sample to all formats; then updates, draws and an outlier."""
    if not (1 <= steps <= 2000 and 1 <= draws <= 4096 and 1 <= block <= 4096 and 4096 % block == 0):
        refuse("steps lie from 1 to 2000, draws from 1 to 4096, and block divides 4096")
    if not (abs(value) < 1e300 and 0 < outlier < 1e30 and 0 <= weight + steps * update < 1e30):
        refuse("value stays below 1e300 in size, outlier above 0, they and the weight below 1e30")
    wide = {"dtype": torch.float64, "device": device()}
    sample = dense().to(device())
    known = ~sample.isnan()
    made = {name: rounded(sample, form) for name, form in FORMATS.items()}
    for name, form in FORMATS.items():
        check(f"{name}: NaN stays NaN", (made[name].isnan() == known).sum(), "==", 0)
        wrong = pattern(made[name], form)[known] != cast(sample, name)[known]
        check(f"{name}: the bits of a cast", wrong.sum(), "==", 0)
    numbers = made[kind][made[kind].isfinite() & (made[kind] > 0)]
    form, bf16, e4m3 = FORMATS[kind], FORMATS["bf16"], FORMATS["e4m3"]
    normal = numbers[pattern(numbers, form) >= 1 << form.mantissa].min()
    found = [numbers.max(), normal, numbers.min(), numbers[numbers > 1].min() - 1]
    for ours, torchs in zip(found, limits(kind), strict=True):
        check("the limits are torch's finfo", ours, "==", torchs)

    start = rounded(torch.full((COPIES,), weight, **wide), bf16)
    plain, nearest, drawn = start[0].float(), start[0], start
    ways: dict[str, list[float]] = {"fp32": [], "bf16": [], "bf16, by draws": []}
    for _ in range(steps):
        plain = plain + update
        nearest = updated(nearest, update, bf16, by_chance=False)
        drawn = updated(drawn, update, bf16, by_chance=True)
        for way, each in zip(ways.values(), (plain, nearest, drawn.mean()), strict=True):
            way.append(each.item())
    picture("curve", "a weight and its updates", series=ways, x="steps", y="weight")
    due = start[0] + steps * update
    away = (drawn.mean() - due).abs()
    check("by draws a weight is right on average", away, "<=", 5 * drawn.std() / COPIES**0.5 + 1e-9)
    check("and no copy goes its own way", drawn.std(), "<=", due / 128 * steps**0.5)

    several = torch.rand(1000, **wide) + 1
    errors = [rounded(several, bf16, torch.rand_like(several)) - several for _ in range(draws)]
    once = rms(torch.stack(errors))

    values = torch.randn(4096, **wide) * 0.01
    values[0] = outlier
    one, many = (scaled(values, e4m3, size) for size in (4096, block))
    calm = values.clone()
    calm[0] = 0
    touched = (many != scaled(calm, e4m3, block))[block:]
    check("an outlier touches its own block alone", touched.sum(), "==", 0)
    return {
        **{n: shared(counted(rounded(torch.tensor(value, **wide), f))) for n, f in FORMATS.items()},
        "largest": shared(counted(found[0])),
        "normal": shared(counted(found[1])),
        "smallest": shared(counted(found[2])),
        "spacing": shared(counted(found[3])),
        "weight_fp32": shared(counted(plain)),
        "weight_bf16": shared(counted(nearest)),
        "weight_drawn": shared(counted(drawn.mean())),
        "error_nearest": shared(compared(rms(rounded(several, bf16) - several) / once, floor=0)),
        "error_mean": shared(compared(rms(torch.stack(errors).mean(0)) / once, floor=0)),
        "zeros_tensor": shared(counted((one[1:] == 0).double().mean())),
        "zeros_block": shared(counted((many[1:] == 0).double().mean())),
        "error_tensor": shared(compared(rms((one - values)[1:]) / rms(values[1:]), floor=0)),
        "error_block": shared(compared(rms((many - values)[1:]) / rms(values[1:]), floor=0)),
    }


# Below: what the results are held against.

DTYPES = {
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
}
INTS = {1: torch.uint8, 2: torch.int16, 4: torch.int32}
ENDS = (0, 0x0FFF, 0x1000, 0x1001, 0x3000, 0x8000, 0x8001, 0xE000)


def dense() -> Tensor:
    """fp32 numbers with all 2 ** 16 upper halves, and lower halves at and beside ties, in fp64."""
    upper = torch.arange(2**15, dtype=torch.int32) << 16
    positive = torch.cat([upper | end for end in ENDS]).view(torch.float32).double()
    return torch.cat([positive, -positive[: len(upper)]])


def cast(numbers: Tensor, name: str) -> Tensor:
    """The bits that torch's cast gives to fp32 numbers; tf32 is fp32 with 13 bits rounded off."""
    single = numbers.float()
    if name in DTYPES:
        short = single.to(DTYPES[name])
        bits = short.view(INTS[short.element_size()]).long()
        return bits & (2 ** (8 * short.element_size()) - 1)
    bits = single.view(torch.int32).long() & 0xFFFFFFFF
    return (bits + 0xFFF + ((bits >> 13) & 1)) >> 13


def limits(kind: str) -> list[float]:
    """Largest, smallest normal, smallest number, and the step at 1, as torch has them."""
    if kind == "tf32":
        single, step = torch.finfo(torch.float32), torch.finfo(torch.float16).eps
        largest = 2 * (single.max / (2 - single.eps)) - step * single.max / (2 - single.eps)
        return [largest, single.smallest_normal, single.smallest_normal * step, step]
    known = torch.finfo(DTYPES[kind])
    return [known.max, known.smallest_normal, known.smallest_normal * known.eps, known.eps]


def rms(numbers: Tensor) -> Tensor:
    """Root mean square."""
    return numbers.square().mean().sqrt()


BREAKS = {
    "cut-off": Break(
        old="steps.round() if",
        new="steps.trunc() if",
        expect="bf16: the bits of a cast",
        ranks=1,
        source="a cast that drops the lower 16 bits of fp32, as TensorFlow's first to bfloat16 did",
    ),
    "half-up": Break(
        old="steps.round() if",
        new="(steps.abs() + 0.5).floor().copysign(steps) if",
        expect="bf16: the bits of a cast",
        ranks=1,
        source="adding half a step before cutting off: a tie always goes away from 0",
    ),
    "no-subnormals": Break(
        old="(torch.frexp(numbers)[1] - 1).clamp(min=form.lowest)",
        new="torch.frexp(numbers)[1] - 1",
        expect="fp16: the bits of a cast",
        ranks=1,
        source="a format simulated by its mantissa alone, as if its exponent went down for ever",
    ),
    "same-draws": Break(
        old="    draws = torch.rand_like(weight) if by_chance else None",
        new="    torch.manual_seed(0)\n    draws = torch.rand_like(weight) if by_chance else None",
        expect="and no copy goes its own way",
        ranks=1,
        source="a generator seeded anew in each step: who was unlucky once is so each time",
    ),
    "one-scale": Break(
        old="    largest = blocks.abs().amax(1, keepdim=True)",
        new="    largest = blocks.abs().amax().expand(len(blocks), 1)",
        expect="an outlier touches its own block alone",
        ranks=1,
        source="per-tensor scaling under the name of blocks: the largest of all, not of each",
    ),
}

if __name__ == "__main__":
    run(__file__)
