"""Backpropagation through time as numba compiles it, where numba is installed: a layer's pass, forward or
back, is one call, in which torch's own threads share the batch. The recurrences with a product at each time
step are in `kernels`, which calls torch's own product of matrices, and the linear ones in `linear_kernels`.
Results are those of `bptt` and of `scan`, to rounding. Where numba has been loaded for this, it also draws
dropout's masks.

What is found in torch's library: sgemm_ (MKL's, on a Mac Accelerate's, elsewhere OpenBLAS's) and OpenMP's
GOMP_parallel, which has the functions done by the threads that also do torch's work: threads of our own
would fight those for the cores. Where either is missing, as on Windows, `ready` says no. On x86 processors
torch also has oneDNN's product of small blocks, up to three times as fast, and twice that in bfloat16.
"""

import ctypes
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from rnnviz.networks.bptt import Rows
from rnnviz.networks.config import CELLS, Cell, ModelConfig

KINDS = ("tanh", "relu", "gru", "lstm")
TRAINED = ("rnn", "gru", "lstm", "mingru")
"""The cells of which all this can be used."""

SGEMM, BRGEMM, BFLOAT16 = range(3)
ROWS = 512
"""Rows of a block of states in bfloat16; see `products`."""

SYMBOLS = {
    "rnnviz_sgemm_": "sgemm_",
    "rnnviz_wait": "GOMP_barrier",
    "rnnviz_thread": "omp_get_thread_num",
    "rnnviz_threads": "omp_get_num_threads",
}
"""What the compiled code calls, by the names in torch's library and in those that it loads."""

BLOCKS = {
    "rnnviz_brgemm": "_ZN2at6native7cpublas6brgemmEllllllbPKfS3_Pfb",
    "rnnviz_brgemm_bfloat16": "_ZN2at6native7cpublas6brgemmEllllllbPKN3c108BFloat16ES5_Pfb",
    "rnnviz_brgemm_release": "_ZN2at6native7cpublas14brgemm_releaseEb",
}
"""What it calls if it is there: C++ functions, whose names say what they take. A torch in which they took
something else would have other names.
"""


def can(config: ModelConfig, parameter: Tensor) -> bool:
    """Whether this can be used for a network with such parameters."""
    fits = parameter.device.type == "cpu" and parameter.dtype == torch.float32
    return fits and config.cell in TRAINED and prepared(config.cell)


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
def multiplies_bfloat16() -> bool:
    """Whether the processor itself does, with AVX512-BF16 or AMX. That may be four times as fast as float32
    or half as fast; elsewhere torch emulates it, 30 times slower.
    """
    supported = (getattr(torch.cpu, f"_is_{f}_supported", None) for f in ("avx512_bf16", "amx_tile"))
    return any(check() for check in supported if check is not None)


@cache
def blocks() -> bool:
    """Whether torch brings the products that suit an unrolled pass; see `products`."""
    library = _library()
    return library is not None and all(hasattr(library, symbol) for symbol in BLOCKS.values())


@cache
def blocks_bfloat16() -> bool:
    """Whether those in bfloat16 are known to work here: where oneDNN can't, it throws, and nothing catches
    what passes through compiled code.
    """
    limited = any(name in os.environ for name in ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"))
    return blocks() and multiplies_bfloat16() and torch.__version__ >= "2.13" and not limited


def _products(H: int) -> int:
    """Which of `products` suit."""
    if not blocks():
        return SGEMM
    wanted = torch.is_autocast_enabled("cpu") and torch.backends.mkldnn.enabled and H % 2 == 0
    return BFLOAT16 if wanted and blocks_bfloat16() else BRGEMM


def prepared(cell: Cell) -> bool:
    """Whether `ready`, and all that such a network needs is compiled: takes its time if it wasn't. What goes
    wrong says no.
    """
    return _prepared(CELLS[cell].linear)


@cache
def _prepared(linear: bool) -> bool:
    if not ready():
        return False
    try:
        prepare(linear)
    except Exception:  # a numba that doesn't go with this numpy, a processor that its LLVM doesn't know …
        return False
    return True


class Passes(NamedTuple):
    """`team_forward` and `team_backward` of `kernels` or of `linear_kernels`, compiled."""

    forward: Any
    backward: Any


@cache
def prepare(linear: bool) -> Passes:
    """Takes 10 to 20 seconds the first time on a computer, and again after an update; then half a second to
    one, from the user's cache folder.
    """
    import llvmlite.binding
    import numba

    from rnnviz.networks import kernels, linear_kernels

    library = cast(ctypes.CDLL, _library())
    for name, symbol in (SYMBOLS | BLOCKS).items():
        found = getattr(library, symbol, library.GOMP_barrier)  # what isn't there isn't called
        llvmlite.binding.add_symbol(name, ctypes.cast(found, ctypes.c_void_p).value)
    pointer: Any = numba.types.CPointer
    passed, source = numba.void(pointer(pointer(numba.float32))), linear_kernels if linear else kernels
    with _kept(numba):
        return Passes(
            _compiled(numba.cfunc, passed, source.team_forward),
            _compiled(numba.cfunc, passed, source.team_backward),
        )


@cache
def _fill() -> Any:
    """`draws.fill`, compiled; None if it doesn't draw as this torch does."""
    import numba

    from rnnviz.networks import draws

    words, numbers = numba.uint32[::1], numba.float32[::1]
    signature = numba.int64(words, numba.int64, numba.int32, numba.float32, numbers)
    with _kept(numba):
        fill = _compiled(numba.njit, signature, draws.fill)
    return fill if _draws_as_torch(fill) else None


@contextmanager
def _kept(numba: Any) -> Iterator[None]:
    """What is compiled is kept in numba's own folder if NUMBA_CACHE_DIR names one, or beside the cached
    corpora; by what all of it is made of, as numba looks at a function's own file alone.
    """
    from rnnviz.text.corpora import cache_folder

    names = "draws", "kernels", "linear_kernels", "products"
    sources = [Path(__file__).with_name(f"{name}.py") for name in names]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    before = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = str(Path(before or cache_folder() / "compiled") / digest)
        yield
    finally:
        numba.config.CACHE_DIR = before


def _compiled(how: Any, signature: Any, function: Any) -> Any:
    try:
        return how(signature, cache=True)(function)
    except Exception:  # nowhere to write, or what is kept can't be read
        return how(signature)(function)


def mask(count: int, lowest: int, scale: float, generator: torch.Generator) -> Tensor | None:
    """So many numbers: `scale` where a 16-bit number drawn from a CPU's generator isn't below `lowest`, else
    0; see `dropout`. None if nothing has been compiled in this process: masks alone aren't worth the wait.
    """
    fill = _fill() if prepare.cache_info().currsize else None
    return None if fill is None else _mask(fill, count, lowest, scale, generator)


def _mask(fill: Any, count: int, lowest: int, scale: float, generator: torch.Generator) -> Tensor:
    """Torch keeps of a generator its seed, how many words are left, which is next, and 624 words."""
    state, out = generator.get_state(), torch.empty(count)
    numbers, left = state.numpy().view(np.uint64), state.numpy().view(np.int32)[2:3]
    words = numbers[3:627].astype(np.uint32)
    place = fill(words, 625 - left[0], lowest, scale, out.numpy())
    left[0], numbers[2], numbers[3:627] = 625 - place, place, words
    generator.set_state(state)
    return out


def _draws_as_torch(fill: Any) -> bool:
    """Of another torch a state might look otherwise."""
    ours, theirs = torch.Generator().manual_seed(1), torch.Generator().manual_seed(1)
    for count in (4, 2000, 8):
        draws = torch.empty(count // 4, dtype=torch.int64).random_(-(2**63), None, generator=theirs)
        kept = draws.view(torch.int16) >= 100
        try:
            same = torch.equal(_mask(fill, count, 100, 2.0, ours), kept * 2.0)
        except (ValueError, RuntimeError, IndexError):
            return False
        if not same or not torch.equal(ours.get_state(), theirs.get_state()):
            return False
    return True


def unroll(kind: str, inputs: Tensor | Rows, w_hh: Tensor, first: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """As `bptt.unroll`; where torch's products are in bfloat16 for now (autocast), so are those with W_hh."""
    x, ids = _by_row(inputs)
    first = [one.float() for one in first]
    return cast(tuple[Tensor, ...], _Unrolled.apply(kind, x, ids, w_hh, *first))  # type: ignore[no-untyped-call]


def recurrence(inputs: Tensor | Rows, first: Tensor) -> Tensor:
    """One layer of a linear recurrence, of inputs (B, T, 2 H) and the state `first` (B, H): H (B, T, H)."""
    x, ids = _by_row(inputs)
    return cast(Tensor, _Linear.apply(x, ids, isinstance(inputs, Rows), first.float()))  # type: ignore[no-untyped-call]


def _by_row(inputs: Tensor | Rows) -> tuple[Tensor, Tensor]:
    """A table in float32, and which of its rows are read at each place."""
    if not isinstance(inputs, Rows):
        x = inputs.float().flatten(0, 1)
        return x, torch.arange(len(x)).view(inputs.shape[:2])
    x, ids = inputs.table.float(), inputs.ids
    # Compiled code wouldn't notice.
    if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < len(x):
        raise IndexError("index out of range")
    return x, ids


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
        gates, parts, by = len(w_hh) // H, x.shape[1] // H, _products(H)
        room = x.new_empty(w_hh.numel() + B * H)
        shapes = (T, B, H, gates, parts - gates, len(x))
        sizes = torch.tensor([KINDS.index(kind), *shapes, by, room.numel()])
        states, given = x.new_empty(T + 1, B, H), x.new_empty(T, B, parts * H)
        cells, narrow = x.new_empty((T + 1, B, H) if c0 else 0), x.new_empty((T, B, H) if c0 else 0)
        states[0] = h0
        if c0:
            cells[0] = c0[0]
        arrays = (sizes, x, ids, w_hh, room, states, given, cells, narrow)
        _call(prepare(False).forward, torch.get_num_threads(), *arrays)
        ctx.save_for_backward(sizes, ids, w_hh, states, given, cells, narrow)
        ctx.set_materialize_grads(False)
        return (states[1:], cells[-1].clone()) if c0 else (states[1:],)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        sizes, ids, w_hh, states, given, cells, narrow = ctx.saved_tensors
        _, T, B, H, gates, more, rows, by, _ = sizes.tolist()
        above, d_c = gradients[0], gradients[1] if len(gradients) > 1 else None
        above = states.new_zeros(T, B, H) if above is None else above.contiguous()
        d_h = states.new_zeros(B, H)
        d_c = torch.zeros_like(d_h) if d_c is None else d_c.clone(memory_format=torch.contiguous_format)
        to_x, to_w = states.new_zeros(rows, (gates + more) * H), torch.empty_like(w_hh)
        room = (w_hh.numel() + B * gates * H + -(-T * B // ROWS) * ROWS * H) // 2 if by == BFLOAT16 else 0
        sizes[-1] = room
        # What was given becomes its own gradient: a second pass back has nothing left, and is told so.
        torch.autograd.graph.increment_version(given)
        _call(
            prepare(False).backward,
            torch.get_num_threads(),
            sizes,
            ids,
            w_hh,
            states.new_empty(room),
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


class _Linear(torch.autograd.Function):
    """See `linear_kernels.forward` and `linear_kernels.backward`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ids: Tensor, looked_up: bool, first: Tensor) -> Tensor:
        x, ids, first = (one.contiguous() for one in (x, ids, first))
        states = x.new_empty(*ids.shape, first.shape[1])
        sizes = torch.tensor([*states.shape, *x.shape, looked_up])
        _call(prepare(True).forward, torch.get_num_threads(), sizes, x, ids, first, states)
        ctx.save_for_backward(sizes, x, ids, first, states)
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        sizes, x, ids, first, states = ctx.saved_tensors
        looked_up = bool(sizes[-1])
        d, to_rows = torch.zeros_like(first), x.new_empty(*ids.shape, x.shape[1])
        to_x = torch.zeros_like(x) if looked_up else x[:0]
        arrays = (sizes, x, ids, first, states, gradients[0].contiguous(), d, to_rows, to_x)
        _call(prepare(True).backward, torch.get_num_threads(), *arrays)
        return (to_x if looked_up else to_rows.view_as(x)), None, None, d
