"""What operations take and give back, written down: each storage they make, and when it is gone."""

import weakref
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Event = tuple[str, int | str, int]
"""A storage made: ("make", which, bytes); its last tensor gone: ("drop", which, 0); or a mark."""


class Tape(TorchDispatchMode):
    """Open while a program runs on the meta device: sizes and lifetimes without the memory."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []
        self._alive: dict[int, int] = {}  # by address

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation; look at what came out."""
        out = func(*args, **(kwargs or {}))
        for each in tree_leaves(out):
            if isinstance(each, Tensor) and each.is_meta:
                storage = each.untyped_storage()
                if storage._cdata not in self._alive:
                    self._alive[storage._cdata] = len(self.events)
                    weakref.finalize(storage, self._gone, storage._cdata).atexit = False
                    self.events.append(("make", len(self.events), storage.nbytes()))
        return out

    def _gone(self, address: int) -> None:
        self.events.append(("drop", self._alive.pop(address), 0))

    def mark(self, words: str) -> None:
        """Say what comes now."""
        self.events.append(("mark", words, 0))

    def until(self, words: str) -> list[Event]:
        """What is written up to a mark."""
        return self.events[: self.events.index(("mark", words, 0)) + 1]
