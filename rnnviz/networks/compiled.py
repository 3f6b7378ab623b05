"""Backpropagation through time as numba compiles it (`kernels`), where numba is installed: a layer's pass,
forward or back, is one call, in which torch's own threads share the units, and torch's own product of
matrices is called for each time step. The interface is `bptt`'s, and so are the results, to rounding.

What is found in torch's library: sgemm_ (MKL's, on a Mac Accelerate's, elsewhere OpenBLAS's) and OpenMP's
GOMP_parallel, which has the functions done by the threads that also do torch's work: threads of our own
would fight those for the cores. Where either is missing, as on Windows, `ready` says no.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from rnnviz.networks import bptt
from rnnviz.networks.bptt import Rows
from rnnviz.networks.config import ModelConfig

KINDS = ("tanh", "relu", "gru", "lstm")

FITS = 5 << 18
"""Bytes of W_hh that a core's own cache holds beside what else it needs: of an lstm of 280 units."""

SYMBOLS = {
    "rnnviz_sgemm_": "sgemm_",
    "rnnviz_wait": "GOMP_barrier",
    "rnnviz_thread": "omp_get_thread_num",
    "rnnviz_threads": "omp_get_num_threads",
}
"""What the compiled code calls, by the names in torch's library and in those that it loads."""


def can(config: ModelConfig, parameter: Tensor) -> bool:
    """Whether this can be used for a network with such parameters."""
    return bptt.can(config, parameter) and prepared()


@cache
def ready() -> bool:
    """Whether this computer has what it takes. Loads neither numba nor LLVM."""
    return find_spec("numba") is not None and _library() is not None


@cache
def _library() -> ctypes.CDLL | None:
    """Torch's own, if all that is called of it can be."""
    name = {"linux": "libtorch_cpu.so", "darwin": "libtorch_cpu.dylib"}.get(sys.platform)
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / name)) if name else None
    except OSError:
        return None
    return library if all(hasattr(library, s) for s in ("GOMP_parallel", *SYMBOLS.values())) else None


@cache
def prepared() -> bool:
    """Whether `ready`, and all is compiled: takes its time if it wasn't. What goes wrong says no."""
    if not ready():
        return False
    try:
        prepare()
    except Exception:  # a numba that doesn't go with this numpy, a processor that its LLVM doesn't know …
        return False
    return True


@cache
def prepare() -> tuple[Any, Any]:
    """The compiled passes, forward and back. Takes 5 to 10 seconds the first time on a computer, and again
    after an update; then half a second, from the user's cache folder.
    """
    import llvmlite.binding
    import numba

    from rnnviz.networks import kernels

    library = cast(ctypes.CDLL, _library())
    for name, symbol in SYMBOLS.items():
        address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
        llvmlite.binding.add_symbol(name, address)
    pointer: Any = numba.types.CPointer
    passed = numba.void(pointer(pointer(numba.float32)))
    made = [_compiled(numba, passed, one) for one in (kernels.team_forward, kernels.team_backward)]
    return made[0], made[1]


def _compiled(numba: Any, signature: Any, function: Any) -> Any:
    """Kept in numba's own folder if NUMBA_CACHE_DIR names one, or beside the cached corpora."""
    from rnnviz.text.downloads import cache_folder

    before = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = before or str(cache_folder() / "compiled")
        return numba.cfunc(signature, cache=True)(function)
    except Exception:  # nowhere to write, or what is kept can't be read
        return numba.cfunc(signature)(function)
    finally:
        numba.config.CACHE_DIR = before


def unroll(kind: str, inputs: Tensor | Rows, w_hh: Tensor, first: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """As `bptt.unroll`, in float32 alone."""
    if isinstance(inputs, Rows):
        x, ids = inputs
        # Compiled code wouldn't notice.
        if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < len(x):
            raise IndexError("index out of range")
    else:
        x = inputs.flatten(0, 1)
        ids = torch.arange(len(x)).view(inputs.shape[:2])
    return cast(tuple[Tensor, ...], _Unrolled.apply(kind, x, ids, w_hh, *first))  # type: ignore[no-untyped-call]


def _slices(w_hh: Tensor) -> int:
    """1: threads share the rows of a batch, and wait for one another at the end alone. One a thread: they
    share the units, as W_hh is too large for a core's cache, a part of it isn't.
    """
    return 1 if 4 * w_hh.numel() <= FITS else torch.get_num_threads()


def _call(function: Any, threads: int, *tensors: Tensor) -> None:
    """Have it done by so many threads. Tensors are contiguous."""
    places = (ctypes.c_void_p * len(tensors))(*(t.data_ptr() for t in tensors))
    parallel = cast(ctypes.CDLL, _library()).GOMP_parallel
    parallel(ctypes.c_void_p(function.address), places, ctypes.c_uint(threads), ctypes.c_uint(0))


class _Unrolled(torch.autograd.Function):
    """See `kernels.forward` and `kernels.backward`."""

    @staticmethod
    def forward(
        ctx: Any, kind: str, x: Tensor, ids: Tensor, w_hh: Tensor, h0: Tensor, *c0: Tensor
    ) -> tuple[Tensor, ...]:
        x, ids, w_hh = x.contiguous(), ids.contiguous(), w_hh.contiguous()
        (T, B), H = ids.shape, h0.shape[-1]
        gates, parts = len(w_hh) // H, x.shape[1] // H
        sizes = torch.tensor([KINDS.index(kind), _slices(w_hh), T, B, H, gates, parts - gates, len(x)])
        states, given = x.new_empty(T + 1, B, H), x.new_empty(T, B, parts * H)
        cells, narrow = x.new_empty((T + 1, B, H) if c0 else 0), x.new_empty((T, B, H) if c0 else 0)
        states[0] = h0
        if c0:
            cells[0] = c0[0]
        room = torch.empty_like(w_hh)
        arrays = (sizes, x, ids, w_hh, room, states, given, cells, narrow)
        _call(prepare()[0], torch.get_num_threads(), *arrays)
        ctx.save_for_backward(sizes, ids, w_hh, states, given, cells, narrow)
        ctx.set_materialize_grads(False)
        return (states[1:], cells[-1].clone()) if c0 else (states[1:],)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        sizes, ids, w_hh, states, given, cells, narrow = ctx.saved_tensors
        _, slices, T, B, H, gates, more, rows = sizes.tolist()
        above, d_c = gradients[0], gradients[1] if len(gradients) > 1 else None
        above = states.new_zeros(T, B, H) if above is None else above.contiguous()
        d_h = states.new_zeros(B, H)
        d_c = torch.zeros_like(d_h) if d_c is None else d_c.clone(memory_format=torch.contiguous_format)
        to_x, to_w = states.new_zeros(rows, (gates + more) * H), torch.empty_like(w_hh)
        # What was given becomes its own gradient: a second pass back has nothing left, and is told so.
        torch.autograd.graph.increment_version(given)
        _call(
            prepare()[1],
            slices if slices > 1 else torch.get_num_threads(),  # slices lie as so many threads left them
            sizes,
            ids,
            w_hh,
            torch.empty_like(w_hh),
            states,
            given,
            cells,
            narrow,
            above,
            d_h,
            d_c,
            to_x,
            to_w,
        )
        return (None, to_x, None, to_w, d_h, d_c)[: 4 + len(gradients)]
