"""The compiled path: training on a processor where numba is installed.

A layer's whole pass through time, forward or back, is one call, in which torch's own threads share the batch.
`tape` turns a cell's record into instructions, and `kernels` carries them out. Where anything is missing,
`can` says no, and torch's own layers train.

Torch's library brings sgemm_ (MKL's, on a Mac Accelerate's, elsewhere OpenBLAS's) and OpenMP's GOMP_parallel.
GOMP_parallel runs a function on the threads that also do torch's work, as further threads would fight these
for the cores. Where either is missing, as on Windows, `ready` says no.
"""

import ctypes
import hashlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.nn import functional as F

from rnnviz.lab.engines import tape
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import Cell, ModelConfig

SYMBOLS = {
    "rnnviz_sgemm_": "sgemm_",
    "rnnviz_wait": "GOMP_barrier",
    "rnnviz_thread": "omp_get_thread_num",
    "rnnviz_threads": "omp_get_num_threads",
}
"""The functions that compiled code calls: their name there, and in torch's library or one that it loads."""


def trains(cell: str) -> bool:
    """Whether the compiled path is for such a cell: an mlp has no pass through time."""
    return CELLS[cell].mixes or CELLS[cell].linear


def can(config: ModelConfig, parameter: Tensor) -> bool:
    """Whether the compiled path can train a network with such parameters."""
    fits = parameter.device.type == "cpu" and parameter.dtype == torch.float32
    return fits and prepared(config.cell)


def prepared(cell: Cell) -> bool:
    """Whether the path is for such a cell, `ready` and compiled; see `_compile` for the time that takes."""
    return trains(cell) and _passes() is not None


@cache
def ready() -> bool:
    """Whether this computer has numba and all functions of torch's library. Loads neither numba nor LLVM."""
    return find_spec("numba") is not None and _library() is not None


@cache
def _library() -> ctypes.CDLL | None:
    """Torch's library, if it has every function that is called; else None."""
    # Opened by its path: torch has loaded it already, so this is the same library, with the same threads.
    name = {"linux": "libtorch_cpu.so", "darwin": "libtorch_cpu.dylib"}.get(sys.platform)
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / name)) if name else None
    except OSError:
        return None
    return library if all(hasattr(library, s) for s in ("GOMP_parallel", *SYMBOLS.values())) else None


@cache
def _passes() -> list[Any] | None:
    """`team_forward` and `team_backward` of `kernels`, compiled; None unless `ready`, or if anything fails.

    A numba may not go with this numpy, or its LLVM not know this processor: torch's layers train then.
    """
    try:
        return _compile() if ready() else None
    # Whatever fails here fails for an optional speed: a training must not end because of it.
    except Exception:
        return None


def _compile() -> list[Any]:
    """Compile both passes, or load them from the user's cache folder.

    Compiling takes 10 to 20 seconds, the first time on a computer and after an update; loading half a second
    to one.
    """
    import llvmlite.binding
    import numba

    from rnnviz.lab.engines import kernels

    library = cast(ctypes.CDLL, _library())
    # LLVM resolves the names in `kernels` by this table, each time that the process starts.
    for name, symbol in SYMBOLS.items():
        address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
        llvmlite.binding.add_symbol(name, address)
    pointer: Any = numba.types.CPointer
    passed = numba.void(pointer(pointer(numba.float32)))
    with _cached_code(numba):
        return [_compiled(numba.cfunc, passed, f) for f in (kernels.team_forward, kernels.team_backward)]


@contextmanager
def _cached_code(numba: Any) -> Iterator[None]:
    """Keep compiled code in the folder that NUMBA_CACHE_DIR names, else beside the cached corpora.

    The folder's name has a digest of all sources, as numba notices changes in a function's own file alone.
    """
    from rnnviz.text.corpora import cache_folder

    # `tape` too: its constants are compiled into the kernels.
    sources = [Path(__file__).with_name(f"{name}.py") for name in ("kernels", "tape")]
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
    except Exception:  # the cache folder can't be written or read: compile without
        return how(signature)(function)


class TableRows(NamedTuple):
    """X_t W_x + b (T, B, G·H) as rows of `table` (N, G·H), looked up by `ids` (T, B) during the pass."""

    table: Tensor
    ids: Tensor


def layer(
    config: ModelConfig, tensors: Sequence[Tensor], rows: Tensor | TableRows, first: Sequence[Tensor]
) -> tuple[Tensor, ...]:
    """One layer's H (T, B, H), and the last C (B, H) of an LSTM.

    tensors  the layer's, by torch; W_h and its bias are read
    rows     X_t W_x + b (T, B, G·H), blocks in torch's order
    first    the states before the first step, (B, H) each

    Whoever calls it under autocast has rows and states in bfloat16: float32 is read from memory here.
    Raises IndexError for Rows with ids outside their table.
    """
    if isinstance(rows, TableRows):
        x, ids = rows.table.float(), rows.ids
        # Compiled code checks no index: one out of range would read, and later write, other memory.
        if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < len(x):
            raise IndexError("index out of range")
    else:
        # Rows that are there already are a table that is looked up in order.
        x = rows.float().flatten(0, 1)
        ids = torch.arange(len(x)).view(rows.shape[:2])
    H, kind = config.hidden_size, CELLS[config.cell]
    w = tensors[1] if kind.mixes else x.new_empty(0, H)
    b_u = tensors[3][-H:] if kind.own_bias else x.new_empty(0)
    played = tape.tape(config.cell, config.activation)
    return cast(tuple[Tensor, ...], _Pass.apply(played, x, ids, w, b_u, *(h.float() for h in first)))  # type: ignore[no-untyped-call]


def from_inputs(config: ModelConfig, tensors: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """W_x (G·H, X) and b (G·H,) of torch's tensors: b sums both biases, but for the block of `own_bias`."""
    kind = CELLS[config.cell]
    if not kind.mixes:
        return tensors[0], tensors[1]
    # The last block's second bias stays beside its product, where a reset gate scales it: `own_bias`.
    b, H = tensors[3], config.hidden_size
    return tensors[0], tensors[2] + (F.pad(b[:-H], (0, H)) if kind.own_bias else b)


def _call(pass_index: int, *tensors: Tensor) -> None:
    """Run one of `_passes` on torch's threads. Tensors must be contiguous, as addresses alone are passed."""
    function = cast(list[Any], _passes())[pass_index]
    places = (ctypes.c_void_p * len(tensors))(*(t.data_ptr() for t in tensors))
    # ctypes lets go of Python's lock for the call. The number of threads is torch's at this moment; it may
    # differ from that of the other pass, as each pass splits its rows anew.
    parallel = cast(ctypes.CDLL, _library()).GOMP_parallel
    parallel(
        ctypes.c_void_p(function.address), places, ctypes.c_uint(torch.get_num_threads()), ctypes.c_uint(0)
    )


def _places(arrays: dict[int, Tensor]) -> tuple[Tensor, Tensor]:
    """The tensor that comes first in memory, and each of `tape.PLACES` as an offset from it, in float32s."""
    # Unused places point at the first array, too: no instruction names them.
    lowest = min(arrays.values(), key=Tensor.data_ptr)
    begins = [(arrays.get(place, lowest).data_ptr() - lowest.data_ptr()) // 4 for place in tape.PLACES]
    return lowest, torch.tensor(begins)


class _Pass(torch.autograd.Function):
    """See `kernels.forward` and `kernels.backward`."""

    @staticmethod
    def forward(
        ctx: Any, played: tape.Tape, x: Tensor, ids: Tensor, w: Tensor, b_u: Tensor, *first: Tensor
    ) -> tuple[Tensor, ...]:
        x, ids, w, b_u = (tensor.contiguous() for tensor in (x, ids, w, b_u))
        (T, B), H, two = ids.shape, first[0].shape[-1], len(first) > 1
        room = x.new_empty(torch.get_num_threads(), played.room_vectors, H)
        # The pass forward multiplies by W_h's transpose for every step: turned once, rows are read in order.
        turned = w.T.contiguous()
        u, h = x.new_empty(B, len(w)), x.new_empty(T + 1, B, H)
        # The values for the way back, which live until then.
        saved = x.new_empty(T, B, played.kept_vectors * H)
        c = x.new_empty(T + 1 if two else 1, B, H)
        h[0] = first[0]
        if two:
            c[0] = first[1]
        sizes = [
            B,
            H,
            x.shape[1] // H,
            played.products,
            played.kept_vectors,
            played.room_vectors,
            two,
            T,
            len(b_u) > 0,
        ]
        notes = torch.from_numpy(played.forward)
        lowest, begins = _places(
            {tape.X: x, tape.U: u, tape.OLD: h, tape.OLD_C: c, tape.KEPT: saved, tape.ROOM: room}
        )
        about = torch.tensor([*sizes, len(notes)])
        _call(0, about, begins, notes, lowest, ids, turned, b_u, u, h)
        ctx.save_for_backward(x, ids, w, b_u, h, c, saved)
        ctx.played, ctx.sizes = played, sizes
        # Else autograd would fill in zeros for the last C, whose gradient is mostly absent.
        ctx.set_materialize_grads(False)
        return (h[1:], c[-1].clone()) if two else (h[1:],)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        x, ids, w, b_u, h, c, saved = ctx.saved_tensors
        B, H, *_, two, T, _ = ctx.sizes
        above = h.new_zeros(T, B, H) if gradients[0] is None else gradients[0].contiguous()
        d, d_c = h.new_zeros(B, H), h.new_zeros(B, H)
        if two and gradients[1] is not None:
            d_c.copy_(gradients[1])
        # `to_w` is written by a product; the other two are added to, and so begin at zero.
        to_x, to_w, to_b = torch.zeros_like(x), torch.empty_like(w), torch.zeros_like(b_u)
        room = x.new_empty(torch.get_num_threads(), ctx.played.room_vectors, H)
        notes, sources = torch.from_numpy(ctx.played.backward), torch.from_numpy(ctx.played.sources)
        lowest, begins = _places(
            {
                tape.X: x,
                tape.OLD: h,
                tape.OLD_C: c,
                tape.KEPT: saved,
                tape.ROOM: room,
                tape.D: d,
                tape.D_C: d_c,
            }
        )
        about = torch.tensor([*ctx.sizes, len(notes), len(x)])
        # The pass overwrites `saved` with gradients. By its new version autograd refuses a second pass back.
        torch.autograd.graph.increment_version(saved)
        _call(
            1,
            *(about, begins, notes, lowest, sources, ids, w, h, saved, above, d, to_x, to_w, to_b),
        )
        return None, to_x, None, to_w, to_b, *(d, d_c)[: 1 + two]
