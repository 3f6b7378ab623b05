"""Products of matrices, as `kernels` has them done by functions that torch's library brings.

SGEMM     any BLAS's product. MKL's is slow where one factor has few rows, and on AMD's processors.
BRGEMM    oneDNN's product of small blocks, fast in both cases; torch's own attention is made of it.
BFLOAT16  the same of factors rounded to bfloat16, added up in float32, for processors that multiply those.

A right factor in bfloat16 has its rows in pairs: (K/2, N) of 32 bits, the lower half of them the even row's.
Without numba these are functions of plain Python, which nobody calls.
"""

from typing import Any

import numpy as np

try:
    import numba
except ImportError:  # it comes with the extra `fast`
    numba = None

SGEMM, BRGEMM, BFLOAT16 = range(3)

LINE = 16
"""Units that threads share out together: a line of the processor's cache."""

ROWS, COLUMNS = 512, 64
"""Of the gates' gradient that W_hh's in bfloat16 is made of at a time: a core's cache has room."""

f32, u32 = np.float32, np.uint32


def jit(function: Any) -> Any:
    """`function`, to be compiled into what calls it. NaN stays NaN: that is how a run is seen to diverge."""
    if numba is None:
        return function
    loose = {"contract", "reassoc", "arcp", "nsz", "afn"}
    return numba.njit(nogil=True, error_model="numpy", boundscheck=False, fastmath=loose)(function)


if numba is not None:
    # Found by name when the compiled code is loaded, whatever their addresses are that time. C++'s bool is
    # passed as the whole number that it is.
    _pointer, _int = numba.types.voidptr, numba.types.int64
    _block = numba.void(*[_int] * 7, _pointer, _pointer, _pointer, _int)
    sgemm = numba.types.ExternalFunction("rnnviz_sgemm_", numba.void(*[_pointer] * 13))
    brgemm = numba.types.ExternalFunction("rnnviz_brgemm", _block)
    brgemm_bfloat16 = numba.types.ExternalFunction("rnnviz_brgemm_bfloat16", _block)
    release = numba.types.ExternalFunction("rnnviz_brgemm_release", numba.void(_int))


@jit
def begin(p, P, H):
    """The first unit of thread p of P."""
    return min(H, (H + LINE - 1) // LINE * p // P * LINE)


@jit
def part(p, P, count):
    """What thread p of P does of so many: first and last."""
    return p * count // P, (p + 1) * count // P


@jit
def put(values, to):
    """Copy; numba would compile what it says of other shapes, too, for `to[:] = values`: for seconds."""
    for j in range(len(to)):
        to[j] = values[j]


@jit
def constants():
    """What `multiply` passes on: "N" and "T", room for sizes, 0 and 1."""
    return np.array([78, 84], np.uint8), np.empty(6, np.int32), np.array([0, 1], np.float32)


@jit
def multiply(by, given, across, keep, A, B, C):
    """C = A B + keep C, of Aᵀ if `across`. In the eyes of sgemm_, which goes by columns, Cᵀ = Bᵀ Aᵀ.

    A thread that has no rows is given empty ones; brgemm doesn't take those.
    """
    M, N, K = C.shape[0], C.shape[1], B.shape[0]
    if not M:
        return
    lda, ldb, ldc = A.strides[0] // 4, B.strides[0] // 4, C.strides[0] // 4
    if by != SGEMM and not across:
        brgemm(M, N, K, lda, ldb, ldc, keep, A.ctypes, B.ctypes, C.ctypes, 0)
        return
    letters, sizes, scales = given
    sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5] = N, M, K, ldb, lda, ldc
    sgemm(
        letters.ctypes, letters[across:].ctypes, sizes.ctypes, sizes[1:].ctypes, sizes[2:].ctypes,
        scales[1:].ctypes, B.ctypes, sizes[3:].ctypes, A.ctypes, sizes[4:].ctypes,
        scales[keep:].ctypes, C.ctypes, sizes[5:].ctypes,
    )  # fmt: skip


@jit
def multiply_low(keep, A, B, C):
    """C = A B + keep C: A (M, K) and the pairs B (K/2, N) in bfloat16, C (M, N) in float32."""
    M, N, K = C.shape[0], C.shape[1], 2 * B.shape[0]
    lda, ldb, ldc = A.strides[0] // 2, B.strides[0] // 4, C.strides[0] // 4
    if M:
        brgemm_bfloat16(M, N, K, lda, ldb, ldc, keep, A.ctypes, B.ctypes, C.ctypes, 1)


@jit
def rounded(x):
    """The bits of a float32, the upper half of them those of the nearest bfloat16."""
    bits = np.float32(x).view(np.uint32)
    return u32(bits + u32(0x7FFF) + u32(u32(bits >> u32(16)) & u32(1)))


@jit
def add(values, to):
    for j in range(len(to)):
        to[j] += values[j]


@jit
def lower(values, to):
    """Each as a bfloat16."""
    for j in range(len(to)):
        to[j] = np.uint16(rounded(values[j]) >> u32(16))


@jit
def pair(even, odd):
    return u32(u32(rounded(odd) & u32(0xFFFF0000)) | u32(rounded(even) >> u32(16)))


@jit
def interleave(even, odd, to):
    for j in range(len(to)):
        to[j] = pair(even[j], odd[j])


@jit
def transpose(w, turned, lo, hi):
    """Rows lo … hi of each gate of w (G·H, H) become columns of `turned` (H, G·H); a line of the cache is
    written once.
    """
    H = w.shape[1]
    for k in range(0, len(w), H):
        for j0 in range(k + lo, k + hi, LINE):
            for i0 in range(0, H, LINE):
                for i in range(i0, min(H, i0 + LINE)):
                    for j in range(j0, min(k + hi, j0 + LINE)):
                        turned[i, j] = w[j, i]


@jit
def transpose_low(w, turned, lo, hi):
    """`transpose` to pairs (H/2, G·H)."""
    H = w.shape[1]
    for k in range(0, len(w), H):
        for j0 in range(k + lo, k + hi, LINE):
            for i0 in range(0, H, 2 * LINE):
                for i in range(i0, min(H, i0 + 2 * LINE), 2):
                    for j in range(j0, min(k + hi, j0 + LINE)):
                        turned[i // 2, j] = pair(w[j, i], w[j, i + 1])


@jit
def pack_low(w, paired, first, last):
    """Pairs first … last of w's rows."""
    for i in range(first, last):
        interleave(w[2 * i], w[2 * i + 1], paired[i])


@jit
def across(h, turned, first, last):
    """Rows of h (N, H) become columns of blocks of `turned` (N/ROWS, H, ROWS) in bfloat16, for units first …
    last; zeros fill the last block.
    """
    N = h.shape[0]
    for k in range(turned.shape[0]):
        for r0 in range(0, ROWS, LINE):
            for j0 in range(first, last, LINE):
                for j in range(j0, min(last, j0 + LINE)):
                    for r in range(r0, r0 + LINE):
                        x = h[k * ROWS + r, j] if k * ROWS + r < N else f32(0)
                        turned[k, j, r] = np.uint16(rounded(x) >> u32(16))


@jit
def weigh(by, given, gates, h, first, last, to_w):
    """Σ_t d_tᵀ h_{t-1} for columns first … last of the gates' gradient, as rows of `to_w`."""
    T, B, H = gates.shape[0], gates.shape[1], h.shape[2]
    d = gates.reshape(T * B, gates.shape[2])[:, first:last]
    multiply(by, given, 1, 0, d, h[:T].reshape(T * B, H), to_w)


@jit
def weigh_low(gates, turned, first, last, to_w):
    """`weigh`, of the states as `across` has turned them."""
    N, H = gates.shape[0] * gates.shape[1], to_w.shape[1]
    d, zeros = gates.reshape(N, gates.shape[2]), np.zeros(COLUMNS, np.float32)
    for c0 in range(first, last, COLUMNS):
        width = min(COLUMNS, last - c0)
        right, sums = np.empty((ROWS // 2, width), np.uint32), np.empty((H, width), np.float32)
        for k in range(turned.shape[0]):
            begin, end = k * ROWS, min(N, (k + 1) * ROWS)
            K = (end - begin + LINE - 1) // LINE * LINE  # few sizes: oneDNN makes a kernel for each
            for r in range(begin, begin + K, 2):
                even = d[r, c0 : c0 + width] if r < end else zeros[:width]
                odd = d[r + 1, c0 : c0 + width] if r + 1 < end else zeros[:width]
                interleave(even, odd, right[(r - begin) // 2])
            multiply_low(1 if k else 0, turned[k, :, :K], right[: K // 2], sums)
        for j0 in range(0, H, LINE):
            for c in range(width):
                for j in range(j0, min(H, j0 + LINE)):
                    to_w[c0 - first + c, j] = sums[j, c]
