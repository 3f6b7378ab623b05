"""Kernels: a layer's whole unrolled pass, forward and back, compiled by numba for `compiled`.

A team of threads shares the rows of a batch, and no thread waits for another between two time steps. A cell's
`tape` has all but the products: each instruction is done for the H units of a row, which lie in the core's
own cache. So looking up an instruction takes a hundredth of the time.

The products are functions of torch's library: sgemm_, as in any BLAS, and oneDNN's product of small blocks,
rounded to bfloat16 and added up in float32, which torch's attention uses. Where the processor multiplies
bfloat16, oneDNN's product trains a GRU 1.7 to 2 times as fast, an LSTM 1.2 to 1.5 times. In float32 oneDNN
has 0.8 to 1.2 times the speed of sgemm_, which is used there. The right factor of oneDNN's product has rows
in pairs: (K/2, N) of 32 bits, whose lower half is the even row's.

Without numba these are functions of plain Python, which nobody calls.
"""

from typing import Any

import numpy as np

from rnnviz.networks.tape import (
    ADD,
    D_C,
    KEPT,
    MUL,
    NEG,
    NEW,
    NEW_C,
    OLD,
    OLD_C,
    POSITIVE,
    PUT,
    RELU,
    REST,
    ROOM,
    ROWS,
    SIGMOID,
    SIZE,
    TANH,
    TO_POSITIVE,
    TO_RELU,
    TO_SIGMOID,
    TO_TANH,
    ZERO,
    D,
    X,
)
from rnnviz.networks.tape import U as U_PLACE

try:
    import numba
except ImportError:  # it comes with the extra `train`
    numba = None

LINE = 16
"""Units that go to one thread together: a line of the processor's cache, which no two threads then write."""

COLUMNS = 64
"""Columns of the gates' gradient that `weigh_low` multiplies at a time: ROWS × 64 numbers and the sums for 64
columns fit into a core's cache."""

FAR = 1 << 60
"""The length of one array that contains all of a tape's places: from the first in memory on, without an end.

Looking up a separate array for each place, and counting references to it, would take longer than the sums.
"""

f32, u32 = np.float32, np.uint32


def jit(function: Any) -> Any:
    """`function`, compiled into its callers. NaN stays NaN, by which a run is seen to diverge."""
    if numba is None:
        return function
    loose = {"contract", "reassoc", "arcp", "nsz", "afn"}  # all of "fast" but nnan and ninf
    return numba.njit(nogil=True, error_model="numpy", boundscheck=False, fastmath=loose)(function)


if numba is not None:
    # Found by name whenever compiled code is loaded, as addresses change. C++'s bool is passed as an integer.
    _pointer, _int = numba.types.voidptr, numba.types.int64
    _block = numba.void(*[_int] * 7, _pointer, _pointer, _pointer, _int)
    sgemm = numba.types.ExternalFunction("rnnviz_sgemm_", numba.void(*[_pointer] * 13))
    brgemm_bfloat16 = numba.types.ExternalFunction("rnnviz_brgemm_bfloat16", _block)
    release = numba.types.ExternalFunction("rnnviz_brgemm_release", numba.void(_int))
    wait = numba.types.ExternalFunction("rnnviz_wait", numba.void())
    thread = numba.types.ExternalFunction("rnnviz_thread", numba.int32())
    threads = numba.types.ExternalFunction("rnnviz_threads", numba.int32())


@jit
def exp(x):
    """e^x in float32, after Cephes: 2^k e^r, |r| <= log(2) / 2. Relative error 1e-7; x is clamped to ±87.

    The C library's would be called for one number at a time; this one is compiled for eight or sixteen.
    """
    x = f32(-87) if x < f32(-87) else x
    x = f32(87) if x > f32(87) else x
    k = np.floor(x * f32(1.44269504) + f32(0.5))
    r = x - k * f32(0.693359375) + k * f32(2.12194440e-4)
    p = f32(1.9875691500e-4) * r + f32(1.3981999507e-3)
    p = p * r + f32(8.3334519073e-3)
    p = p * r + f32(4.1665795894e-2)
    p = p * r + f32(1.6666665459e-1)
    p = p * r + f32(5.0000001201e-1)
    y = p * r * r + r + f32(1)
    return y * np.int32((np.int32(k) + np.int32(127)) << np.int32(23)).view(np.float32)


@jit
def sigmoid(x):
    return f32(1) / (f32(1) + exp(-x))


@jit
def tanh(x):
    """Near 0 by Cephes' polynomial, as 1 - 2 / (e^2x + 1) loses digits there."""
    z = x * x
    p = f32(-5.70498872745e-3) * z + f32(2.06390887954e-2)
    p = p * z + f32(-5.37397155531e-2)
    p = p * z + f32(1.33314422036e-1)
    p = p * z + f32(-3.33332819422e-1)
    far = f32(1) - f32(2) / (exp(x + x) + f32(1))
    return p * z * x + x if z < f32(0.390625) else far


@jit
def do(operation, a, b, to):
    """One instruction of a tape, for the units of a row."""
    H, one = len(to), f32(1)
    if operation == ADD:
        for j in range(H):
            to[j] = a[j] + b[j]
    elif operation == MUL:
        for j in range(H):
            to[j] = a[j] * b[j]
    elif operation == NEG:
        for j in range(H):
            to[j] = -a[j]
    elif operation == REST:
        for j in range(H):
            to[j] = one - a[j]
    elif operation == SIGMOID:
        for j in range(H):
            to[j] = sigmoid(a[j])
    elif operation == TANH:
        for j in range(H):
            to[j] = tanh(a[j])
    elif operation == RELU:
        for j in range(H):
            to[j] = f32(0) if a[j] < f32(0) else a[j]  # not max(a, 0): that of NaN is 0
    elif operation == POSITIVE:
        for j in range(H):
            below = sigmoid(a[j] if a[j] < f32(0) else f32(0))
            to[j] = below if a[j] < f32(0) else a[j] + f32(0.5)
    elif operation == TO_SIGMOID:
        for j in range(H):
            to[j] = a[j] * b[j] * (one - b[j])
    elif operation == TO_TANH:
        for j in range(H):
            to[j] = a[j] * (one - b[j] * b[j])
    elif operation == TO_RELU:
        for j in range(H):
            to[j] = a[j] if b[j] > f32(0) else f32(0)
    elif operation == TO_POSITIVE:
        for j in range(H):
            to[j] = a[j] if b[j] >= f32(0.5) else a[j] * b[j] * (one - b[j])
    elif operation == PUT:
        put(a, to)
    elif operation == ZERO:
        for j in range(H):
            to[j] = f32(0)


@jit
def play(tape, memory, at, H):
    """Do a tape's instructions for one row; `at` has the beginning of each place in `memory`."""
    for k in range(len(tape)):
        a = at[tape[k, 2] // SIZE] + tape[k, 2] % SIZE * H
        b = at[tape[k, 3] // SIZE] + tape[k, 3] % SIZE * H
        to = at[tape[k, 1] // SIZE] + tape[k, 1] % SIZE * H
        do(tape[k, 0], memory[a : a + H], memory[b : b + H], memory[to : to + H])


@jit
def look(begins, at, p, t, b, two, row, sizes):
    """Fill in `at`: where thread p finds the places of time step t and row b, whose input is row `row` of X.

    begins  the beginning of each place's array
    two     1 for an LSTM, which has two states, else 0
    sizes   B, H, and the numbers of vectors in X, U, KEPT and ROOM
    """
    B, H, G, U, K, room = sizes
    before = (t * B + b) * H
    at[X], at[U_PLACE], at[ROOM] = (
        begins[X] + row * G * H,
        begins[U_PLACE] + b * U * H,
        begins[ROOM] + p * room * H,
    )
    at[OLD], at[NEW] = begins[OLD] + before, begins[OLD] + before + B * H
    at[OLD_C], at[NEW_C] = begins[OLD_C] + before * two, begins[OLD_C] + (before + B * H) * two
    at[KEPT], at[D], at[D_C] = begins[KEPT] + before * K, begins[D] + b * H, begins[D_C] + b * H


@jit
def begin(p, P, H):
    """The first unit of thread p of P."""
    return min(H, (H + LINE - 1) // LINE * p // P * LINE)


@jit
def part(p, P, count):
    """The share of thread p of P in `count` items: the first, and the one after the last."""
    return p * count // P, (p + 1) * count // P


@jit
def put(values, to):
    """Copy. For `to[:] = values` numba would also compile the errors of other shapes, for seconds."""
    for j in range(len(to)):
        to[j] = values[j]


@jit
def add(values, to):
    for j in range(len(to)):
        to[j] += values[j]


@jit
def constants():
    """The arrays that `multiply` passes to sgemm_: letters N and T, room for sizes, factors 0 and 1."""
    return np.array([78, 84], np.uint8), np.empty(6, np.int32), np.array([0, 1], np.float32)


@jit
def multiply(given, across, keep, A, B, C):
    """C = A B + keep C, with Aᵀ for A if `across`; nothing for a thread without rows.

    sgemm_ reads matrices by columns and so computes Cᵀ = Bᵀ Aᵀ: hence B comes before A.
    """
    M, N, K = C.shape[0], C.shape[1], B.shape[0]
    letters, sizes, scales = given
    sizes[0], sizes[1], sizes[2] = N, M, K
    sizes[3], sizes[4], sizes[5] = B.strides[0] // 4, A.strides[0] // 4, C.strides[0] // 4
    if M:
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
    """The bits of a float32 whose upper half is the nearest bfloat16, ties to even."""
    bits = np.float32(x).view(np.uint32)
    return u32(bits + u32(0x7FFF) + u32(u32(bits >> u32(16)) & u32(1)))


@jit
def lower(values, to):
    """Write each value into `to` as a bfloat16."""
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
def weigh_low(d, turned, first, last, to_w):
    """Σ_t d_tᵀ h_{t-1} for columns first … last of d (N, …), as rows of `to_w`; `turned` has the states as
    `across` writes them.
    """
    N, H, zeros = d.shape[0], to_w.shape[1], np.zeros(COLUMNS, np.float32)
    for c0 in range(first, last, COLUMNS):
        width = min(COLUMNS, last - c0)
        right, sums = np.empty((ROWS // 2, width), np.uint32), np.empty((H, width), np.float32)
        for k in range(turned.shape[0]):
            start, end = k * ROWS, min(N, (k + 1) * ROWS)
            K = (end - start + LINE - 1) // LINE * LINE  # few sizes: oneDNN makes a kernel for each
            for r in range(start, start + K, 2):
                even = d[r, c0 : c0 + width] if r < end else zeros[:width]
                odd = d[r + 1, c0 : c0 + width] if r + 1 < end else zeros[:width]
                interleave(even, odd, right[(r - start) // 2])
            multiply_low(1 if k else 0, turned[k, :, :K], right[: K // 2], sums)
        for j0 in range(0, H, LINE):
            for c in range(width):
                for j in range(j0, min(H, j0 + LINE)):
                    to_w[c0 - first + c, j] = sums[j, c]


@jit
def forward(low, p, P, tape, sizes, memory, begins, ids, turned, b_u, own, u, h):
    """The share of thread p of P in the pass forward; products are in bfloat16 if `low`.

    memory, begins, sizes  as `play` and `look` take them
    ids     (T, B), the row of x for each input
    turned  (H, U·H), the transpose of U blocks of weights or none; (H/2, U·H) rows in pairs if `low`
    b_u     (H,), of the last block, or none
    own     room for a state in bfloat16
    u, h    (B, U·H) room for products; (T + 1, B, H) states, of which the first is known
    """
    (T, B), H, U, two = ids.shape, sizes[1], sizes[3], sizes[6]
    first, last = part(p, P, B)
    given, at = constants(), np.empty(10, np.int64)
    pairs, old = turned.view(np.uint32), own.view(np.uint16)[: B * H].reshape(B, H)[first:last]
    if low:
        for b in range(first, last):
            lower(h[0, b], old[b - first])
    for t in range(T):
        if low:
            multiply_low(0, old, pairs, u[first:last])
        elif U:
            multiply(given, 0, 0, h[t, first:last], turned, u[first:last])
        for b in range(first, last):
            if len(b_u):
                add(b_u, u[b, (U - 1) * H :])
            look(begins, at, p, t, b, two, ids[t, b], sizes[:6])
            play(tape, memory, at, H)
            if low:
                lower(h[t + 1, b], old[b - first])
    if low:
        release(1)  # AMX is set up for these products on this core, where other code runs next


@jit
def backward(
    low, p, P, tape, sizes, memory, begins, sources, ids, w, own, h, kept, above, d, to_x, to_w, to_b
):
    """The share of thread p of P in the pass back; products are in bfloat16 if `low`.

    above       (T, B, H), ∂L/∂h from the readout
    d           (B, H), and D_C beside it: the gradient of the last state from later steps; at the end, that
                of the state before the first step
    kept        (T, B, K·H), which becomes the gradient of U and X: see `tape`
    to_x        (N, G·H), the gradient of x; zeros at first
    to_w, to_b  the gradients of w and b_u
    own         room in bfloat16: w in pairs, U·H for each row, the states of all steps, rounded up to ROWS
    """
    (T, B), H, G, U, two = ids.shape, sizes[1], sizes[2], sizes[3], sizes[6]
    lo, hi = begin(p, P, H), begin(p + 1, P, H)
    first, last = part(p, P, B)
    given, at = constants(), np.empty(10, np.int64)
    columns, states = kept.reshape(T * B, kept.shape[2]), h[:T].reshape(T * B, H)
    half, blocks = U * H // 2, (T * B + ROWS - 1) // ROWS if low else 0
    paired = own.view(np.uint32)[: half * H if low else 0].reshape(half if low else 0, H)
    halves = own.view(np.uint16)[2 * paired.size :]
    turned = halves[: blocks * H * ROWS].reshape(blocks, H, ROWS)
    later = halves[turned.size :][: B * U * H if low else 0].reshape(B if low else 0, U * H)[first:last]
    if low:
        start, end = part(p, P, half)
        for i in range(start, end):
            interleave(w[2 * i], w[2 * i + 1], paired[i])
        across(states, turned, lo, hi)
        wait()  # each thread has turned some of all rows, and multiplies with all of them
    for t in range(T - 1, -1, -1):
        for b in range(first, last):
            add(above[t, b], d[b])
            look(begins, at, p, t, b, two, ids[t, b], sizes[:6])
            play(tape, memory, at, H)
            if low:
                lower(kept[t, b, : U * H], later[b - first])
        if low:
            multiply_low(1, later, paired, d[first:last])
        elif U:
            multiply(given, 0, 1, kept[t, first:last, : U * H], w, d[first:last])
    wait()  # from here on each thread has some units of all rows
    start, end = begin(p, P, U * H), begin(p + 1, P, U * H)
    if low:
        weigh_low(columns, turned, start, end, to_w[start:end])
        release(1)
    elif U:
        multiply(given, 1, 0, columns[:, start:end], states, to_w[start:end])
    for t in range(T):
        for b in range(B):
            row, to = kept[t, b], to_x[ids[t, b]]
            for k in range(G):
                n = sources[k] * H
                add(row[n + lo : n + hi], to[k * H + lo : k * H + hi])
            if len(to_b):
                add(row[(U - 1) * H + lo : (U - 1) * H + hi], to_b[lo:hi])


@jit
def integers(pointer, count):
    return numba.carray(pointer, (2 * count,)).view(np.int64)


def team_forward(data):
    """`forward` on each thread of a team; `data` are the addresses that `compiled` passes."""
    s, begins = integers(data[0], 12), integers(data[1], 10)
    B, H, U, T, low, own, biased, n = s[0], s[1], s[3], s[7], s[8], s[9], s[10], s[11]
    forward(
        low, thread(), threads(),
        integers(data[2], 4 * n).reshape(n, 4), s,
        numba.carray(data[3], (FAR,)), begins,
        integers(data[4], T * B).reshape(T, B),
        numba.carray(data[5], (H // 2 if low else H, U * H)),
        numba.carray(data[6], (biased * H,)),
        numba.carray(data[7], (own,)),
        numba.carray(data[8], (B, U * H)),
        numba.carray(data[9], (T + 1, B, H)),
    )  # fmt: skip


def team_backward(data):
    """`backward` on each thread of a team; `data` are the addresses that `compiled` passes."""
    s, begins = integers(data[0], 13), integers(data[1], 10)
    B, H, G, U, K, T, low = s[0], s[1], s[2], s[3], s[4], s[7], s[8]
    own, biased, n, N = s[9], s[10], s[11], s[12]
    backward(
        low, thread(), threads(),
        integers(data[2], 4 * n).reshape(n, 4), s,
        numba.carray(data[3], (FAR,)), begins,
        integers(data[4], G),
        integers(data[5], T * B).reshape(T, B),
        numba.carray(data[6], (U * H, H)),
        numba.carray(data[7], (own,)),
        numba.carray(data[8], (T + 1, B, H)),
        numba.carray(data[9], (T, B, K * H)),
        numba.carray(data[10], (T, B, H)),
        numba.carray(data[11], (B, H)),
        numba.carray(data[12], (N, G * H)),
        numba.carray(data[13], (U * H, H)),
        numba.carray(data[14], (biased * H,)),
    )  # fmt: skip
