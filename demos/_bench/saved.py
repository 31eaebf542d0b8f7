"""What autograd keeps alive, and how far two tensors are apart."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

Region = tuple[int, int, int]
"""Where saved bytes lie: address of the storage, offset in it, size."""


def region(tensor: Tensor) -> Region:
    """The bytes a tensor stands for: a micro-batch cut from a batch is not the whole batch."""
    storage = tensor.untyped_storage()
    size = min(tensor.numel() * tensor.element_size(), storage.nbytes())
    return storage.data_ptr(), int(tensor.storage_offset()) * tensor.element_size(), size


class Saved:
    """Bytes held for the backward pass; what is saved twice is counted once."""

    def __init__(self, parameters: Iterable[Tensor]):
        self.live_bytes = 0
        self.peak_bytes = 0
        self._holders: dict[Region, int] = {}
        # Held, so that no other storage can come to lie at the same address.
        self._parameters = [parameter.untyped_storage() for parameter in parameters]
        self._skipped = {storage.data_ptr() for storage in self._parameters}

    def pack(self, tensor: Tensor) -> "Tensor | _Box":
        """Called by autograd for every tensor it saves."""
        if tensor.untyped_storage().data_ptr() in self._skipped:
            return tensor
        return _Box(tensor, self)

    def hold(self, place: Region) -> None:
        """One more saved tensor lies here."""
        holders = self._holders.get(place, 0)
        self._holders[place] = holders + 1
        if holders == 0:
            self.live_bytes += place[2]
            self.peak_bytes = max(self.peak_bytes, self.live_bytes)

    def drop(self, place: Region) -> None:
        """One saved tensor less lies here."""
        self._holders[place] -= 1
        if self._holders[place] == 0:
            del self._holders[place]
            self.live_bytes -= place[2]


class _Box:
    """Holds one saved tensor; goes when autograd frees the node that saved it."""

    def __init__(self, tensor: Tensor, saved: Saved):
        self.tensor, self._saved, self._place = tensor, saved, region(tensor)
        saved.hold(self._place)

    def __del__(self) -> None:
        self._saved.drop(self._place)


def _unpack(kept: Tensor | _Box) -> Tensor:
    return kept.tensor if isinstance(kept, _Box) else kept


@contextmanager
def saved_activations(parameters: Iterable[Tensor]) -> Iterator[Saved]:
    """Count the bytes autograd saves inside, parameters apart; they go down with the backward."""
    saved = Saved(parameters)
    with torch.autograd.graph.saved_tensors_hooks(saved.pack, _unpack):
        yield saved


def max_error(ours: Tensor, reference: Tensor) -> float:
    """The largest absolute difference; NaN stays NaN."""
    if ours.shape != reference.shape:
        raise ValueError(f"shapes differ: {tuple(ours.shape)} and {tuple(reference.shape)}")
    if ours.numel() == 0:
        return 0.0
    wide = torch.promote_types(ours.dtype, reference.dtype)
    if not (wide.is_floating_point or wide.is_complex):
        wide = torch.int64  # unsigned ones would wrap, and booleans cannot be subtracted
    gap = ours.detach().to(reference.device, wide) - reference.detach().to(wide)
    return gap.abs().max().item()
