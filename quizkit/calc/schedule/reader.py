"""An order as people write it down: one line a rank, `F0 F1 B0 B1`, `F0.1` for chunk 1."""

import re
from dataclasses import dataclass
from pathlib import Path

from quizkit.calc.schedule.placement import Op, Order, StagePlacement
from quizkit.calc.sheet import CalcError

_OP = re.compile(r"([FBW])(\d{1,9})(?:\.(\d{1,9}))?")
_LONGEST = 64 * 2**20


@dataclass(frozen=True)
class Written:
    """The lines of an order file that name operations, and where they stand."""

    path: str
    lines: tuple[tuple[int, str], ...]

    @property
    def where(self) -> tuple[str, ...]:
        """What messages call each rank."""
        return tuple(
            f"{self.path}:{number}: rank {rank}" for rank, (number, _) in enumerate(self.lines)
        )


def read(path: str) -> Written:
    """Take a file's lines; what follows a # is a comment. Raises CalcError."""
    try:
        # Not by its size: a pipe has none, and a device never ends.
        with Path(path).open(encoding="utf-8-sig") as file:
            text = file.read(_LONGEST + 1)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise CalcError("calc_order_file", file=path, reason=error) from error
    if len(text) > _LONGEST:
        raise CalcError("calc_order_file", file=path, reason=f"> {_LONGEST} characters")
    kept = ((at, line.partition("#")[0].strip()) for at, line in enumerate(text.split("\n"), 1))
    return Written(path, tuple((at, line) for at, line in kept if line))


def parse(written: Written, placement: StagePlacement) -> Order:
    """The operations of each rank. `F3+B1` is a pair that overlaps. Raises CalcError.

    B is the whole backward of its micro-batch, or the gradient of the input where W is written too.
    """
    if len(written.lines) != placement.ranks:
        given = len(written.lines)
        raise CalcError("calc_order_ranks", file=written.path, given=given, stages=placement.ranks)
    return [
        _halved([_op(token, rank, placement, where) for token in line.replace("+", "+ ").split()])
        for rank, ((_, line), where) in enumerate(zip(written.lines, written.where, strict=True))
    ]


def _halved(ops: list[Op]) -> list[Op]:
    """What is called B is half a backward wherever its other half has a place of its own."""
    apart = {op[1:] for op in ops if op[0] == "W"}
    return [("B-", *op[1:]) if op[0] == "B" and op[1:] in apart else op for op in ops]


def _op(token: str, rank: int, placement: StagePlacement, where: str) -> Op:
    found = _OP.fullmatch(token.removesuffix("+"))
    if not found or (token[-1] == "+" and found[1] != "F"):
        raise CalcError("calc_order_word", where=where, op=token)
    chunk = int(found[3] or 0)
    if chunk >= placement.chunks:
        chunks = placement.chunks
        raise CalcError("calc_order_chunk", where=where, op=token, chunks=chunks)
    kind = found[1] + ("+" if token[-1] == "+" else "")
    return kind, placement.stages[rank][chunk], int(found[2])
