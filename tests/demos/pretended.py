"""A warm bench whose GPU is pretended: `python -P pretended.py`, asked as `python -m _bench` is.

A rank's device is called cuda:0 and lies in host memory. Which tensors are on it is kept by
storage, Python sees it in `.device`, and what a GPU would refuse is refused: an operation on
tensors of both sides, host memory for a device's message, a device's memory for gloo.
A wrapper subclass that claims to be on cuda would abort in autograd on a CPU build.
"""
# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false
# pyright: reportOptionalMemberAccess=false

import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[2] / "demos")

from _bench import backend, body, early, metric, serve

CUDA, HOST = "cuda", "cpu"

# These must have every operand in one place, a single number too.
TOGETHER = {"aten::cat", "aten::stack"}
# These take from the one side and give to the other.
ACROSS = {"aten::copy_", "aten::set_"}
# Their indices may lie in host memory.
BY_INDEX = {"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"}
MADE = (
    "arange empty empty_strided eye full linspace logspace ones rand randint randn randperm"
    " scalar_tensor tensor as_tensor tril_indices triu_indices zeros"
)
MADE_LIKE = "empty_like full_like ones_like rand_like randint_like randn_like zeros_like"
MADE_NEW = "new_empty new_empty_strided new_full new_ones new_tensor new_zeros"


class WrongPlaceError(RuntimeError):
    """What a GPU would have refused."""


def install(nccl: bool, host_only: bool) -> None:
    """Pretend, in this process and for good."""
    import torch
    import torch.distributed as dist
    from torch import Tensor
    from torch.multiprocessing.reductions import StorageWeakRef
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    # Weak references, because they keep a storage's number from being given to another.
    there: dict[int, StorageWeakRef] = {}
    # What torch makes inside an operation has no side until it meets a tensor that has one.
    loose: dict[int, StorageWeakRef] = {}
    plain = (Tensor, torch.nn.Parameter, torch.nn.Buffer)
    worked = [0]

    def on_gpu(tensor: Tensor) -> bool:
        return type(tensor) in plain and tensor.untyped_storage()._cdata in there

    def is_loose(tensor: Tensor) -> bool:
        return tensor.untyped_storage()._cdata in loose

    def put(found: Any, gpu: bool | None) -> Any:
        for tensor in tree_leaves(found):
            if isinstance(tensor, Tensor) and type(tensor) in plain:
                reference = StorageWeakRef(tensor.untyped_storage())
                there.pop(reference.cdata, None)
                loose.pop(reference.cdata, None)
                if gpu is not False:
                    (there if gpu else loose)[reference.cdata] = reference
        return found

    def is_gpu(device: Any) -> bool:
        return torch.device(device).type == CUDA

    def shown(tensors: Iterable[Tensor]) -> str:
        return ", ".join(f"{CUDA if on_gpu(t) else HOST}{list(t.shape)}" for t in tensors)

    def in_world(group: Any) -> bool:
        try:
            return dist.ProcessGroup.unbox(group).group_name == dist.group.WORLD.group_name
        except RuntimeError:  # it was a reduce operation
            return False

    class Pretended(TorchDispatchMode):
        """Refuses what a GPU would refuse; results are where their operands are."""

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor)]
            if any(type(t) not in plain for t in tensors):
                out = func(*args, **kwargs)  # of a DTensor, say: what is inside goes unseen
                inside = [getattr(t, "_local_tensor", t) for t in tensors]
                came = [getattr(t, "_local_tensor", t) for t in tree_leaves(out)]
                return put(came, True) and out if any(map(on_gpu, inside)) else out
            name = func._schema.name
            gpu = [t for t in tensors if on_gpu(t)]
            if name.startswith("c10d::"):
                groups = [g for g in tree_leaves(args) if isinstance(g, torch.ScriptObject)]
                if nccl and any(in_world(g) for g in groups):
                    if not all(on_gpu(t) or is_loose(t) for t in tensors):
                        raise WrongPlaceError(
                            f"nccl takes a GPU's memory: {name}({shown(tensors)})"
                        )
                elif gpu:
                    raise WrongPlaceError(f"gloo takes host memory only: {name}({shown(tensors)})")
                return func(*args, **kwargs)
            out = func(*args, **kwargs)
            if name in ACROSS:
                return out
            if not gpu:
                return put(out, None) if all(map(is_loose, tensors)) else out
            worked[0] += 1
            looked = tensors[:1] if name in BY_INDEX else tensors
            if name in BY_INDEX and "put" in name:
                looked = [tensors[0], tensors[-1]]
            for tensor in looked:
                if is_loose(tensor):
                    put(tensor, True)
                elif not on_gpu(tensor) and (tensor.dim() or name in TOGETHER):
                    raise WrongPlaceError(
                        f"tensors must be on one device: {name}({shown(tensors)})"
                    )
            return put(out, True)

    class Moved(torch.autograd.Function):
        """A copy on the other side; the gradient goes back."""

        @staticmethod
        def forward(ctx: Any, tensor: Tensor, gpu: bool) -> Tensor:
            return put(tensor.clone(), gpu)

        @staticmethod
        def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # pyright: ignore
            return put(grad.clone(), not on_gpu(grad)), None

    def moved(tensor: Tensor, gpu: bool) -> Tensor:
        return tensor if on_gpu(tensor) == gpu else Moved.apply(tensor, gpu)  # pyright: ignore

    def made(original: Callable[..., Any], source: int | None) -> Callable[..., Any]:
        def make(*args: Any, **kwargs: Any) -> Any:
            device = kwargs.pop("device", None)
            if device is not None and torch.device(device).type not in (CUDA, HOST):
                return original(*args, device=device, **kwargs)  # torch's own shapes without data
            generator = kwargs.get("generator")
            like = args[source] if source is not None and args else None
            gpu = isinstance(like, Tensor) and on_gpu(like)
            if device is not None:
                gpu = is_gpu(device)
            if generator is not None and generator.gpu != gpu:
                raise WrongPlaceError("a generator must be on the device that it draws for")
            found = original(*args, **kwargs)
            if found is like:
                return moved(found, gpu)
            return put(found, gpu)

        return make

    for name in MADE.split():
        source = 0 if name in ("tensor", "as_tensor") else None
        setattr(torch, name, made(getattr(torch, name), source))
    for name in MADE_LIKE.split():
        setattr(torch, name, made(getattr(torch, name), 0))
    for name in MADE_NEW.split():
        setattr(Tensor, name, made(getattr(Tensor, name), 0))

    to, numpy, deepcopy = Tensor.to, Tensor.numpy, Tensor.__deepcopy__

    def sent_to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        device, rest = kwargs.pop("device", None), list(args)
        if rest and isinstance(rest[0], Tensor):
            other = rest.pop(0)
            device, kwargs["dtype"] = other.device, other.dtype
        elif rest and not isinstance(rest[0], torch.dtype):
            device = rest.pop(0)
        here = self if device is None else moved(self, is_gpu(device))
        names = ("non_blocking", "copy")
        if rest and (rest[0] is None or isinstance(rest[0], torch.dtype)):
            kwargs["dtype"] = rest.pop(0)
        kwargs |= dict(zip(names, rest, strict=False))
        kwargs["dtype"] = kwargs.get("dtype") or here.dtype
        kwargs["copy"] = kwargs.get("copy", False) and here is self
        return to(here, **kwargs)

    def copied(self: Tensor, memo: Any) -> Tensor:
        return put(deepcopy(self, memo), on_gpu(self))

    def read(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if on_gpu(self):
            raise WrongPlaceError("numpy reads host memory only")
        return numpy(self, *args, **kwargs)

    class Generator(torch.Generator):
        """One whose numbers may be for the pretended device."""

        gpu: bool

        def __new__(cls, device: Any = HOST) -> "Generator":
            made = super().__new__(cls)
            made.gpu = is_gpu(device)
            return made

        @property
        def device(self) -> torch.device:  # pyright: ignore
            return there_is if self.gpu else torch.device(HOST)

    there_is, truly = torch.device(CUDA, 0), Tensor.device.__get__
    Tensor.device = property(lambda self: there_is if on_gpu(self) else truly(self))  # pyright: ignore
    Tensor.is_cuda = property(on_gpu)  # pyright: ignore
    Tensor.is_cpu = property(lambda self: not on_gpu(self))  # pyright: ignore
    Tensor.to, Tensor.numpy, Tensor.__deepcopy__ = sent_to, read, copied  # pyright: ignore
    Tensor.cpu = lambda self: moved(self, False)  # pyright: ignore
    Tensor.cuda = lambda self, *_: moved(self, True)  # pyright: ignore

    future = torch.futures.Future
    begin, set_result = future.__init__, future.set_result

    def begun(self: Any, *, devices: Any = None) -> None:
        begin(self)
        self._told = [torch.device(each) for each in devices or ()]

    def resulted(self: Any, result: Any) -> None:
        if any(t.device not in self._told for t in tree_leaves(result) if on_gpu(t)):
            raise WrongPlaceError("a future must be told of the device of what it will hold")
        set_result(self, result)

    future.__init__, future.set_result = begun, resulted
    torch.Generator = Generator  # pyright: ignore
    torch.cuda.synchronize = lambda *_: None
    torch.cuda.current_stream = lambda *_: SimpleNamespace(synchronize=lambda: None)
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    torch.cuda.get_rng_state = lambda *_: torch.get_rng_state()
    torch.cuda.set_rng_state = lambda *_: None
    torch.cuda.nccl.version = lambda: (2, 0, 0)
    parse = torch._C._nn._parse_to
    torch._C._nn._parse_to = lambda *args, **options: (
        parse(args[0].device, args[0].dtype, *args[1:], **options)
        if args and isinstance(args[0], Tensor)
        else parse(*args, **options)
    )
    if nccl:
        buffer = dist.GradBucket.buffer
        dist.GradBucket.buffer = lambda bucket: put(buffer(bucket), True)
        backend_of = dist.get_backend
        world = dist.group.WORLD
        dist.get_backend = lambda group=None: (
            "nccl" if group in (None, world) else backend_of(group)
        )
        dist.barrier = lambda *_, **__: None  # of one rank
        dist.distributed_c10d._get_object_coll_device = lambda group=None: (
            CUDA if group in (None, world) else HOST
        )
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False
    packed = metric.packed

    def gathered(*args: Any) -> Any:
        if not worked[0] and not host_only:
            raise WrongPlaceError("main did nothing on device()")
        return packed(*args)

    metric.packed = gathered
    alone = threading.Thread.run

    def beside(self: threading.Thread) -> None:
        with Pretended():
            alone(self)

    threading.Thread.run = beside

    # Whoever ends a transfer first calls what waits for it: this thread, or one of gloo's.
    then = torch._C.Future.then

    def pretending(self: Any, callback: Callable[[Any], Any]) -> Any:
        def called(future: Any) -> Any:
            if torch._C._len_torch_dispatch_stack():
                return callback(future)
            with Pretended():
                return callback(future)

        return then(self, called)

    torch._C.Future.then = pretending  # pyright: ignore
    Pretended().__enter__()


def main() -> None:
    """Serve, with ranks that pretend."""
    host_only = set(sys.argv[1:])
    early.quiet_import()
    early.torch_version()
    import torch
    import torch._dynamo  # which a mode of dispatch needs: here once, and not in each rank

    torch.cuda.device_count = lambda: 1
    torch.cuda.set_device = lambda device: None
    backend.gpus_here = lambda: 1  # pyright: ignore
    import torch.distributed as dist

    join, initialise = body.join, dist.init_process_group

    def joined(task: body.Task, *args: Any) -> Any:
        me = join(task, *args)
        install(task.backend == "nccl", Path(task.path).stem.replace("_", "-") in host_only)
        return me

    def by_gloo(backend: str, *, device_id: Any, **options: Any) -> None:
        initialise("gloo", **options)

    dist.init_process_group = by_gloo

    body.join = joined
    serve.main()


if __name__ == "__main__":
    main()
