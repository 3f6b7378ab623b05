"""Kernels: a layer's whole unrolled pass, forward and back, compiled by numba for `compiled`.

A team of threads shares the rows of a batch, and no thread waits for another between two time steps. A cell's
`tape` has all but the products: each instruction is done for the H units of a row, which lie in the core's
own cache. So looking up an instruction takes a hundredth of the time. The products are sgemm_'s.

Without numba these are functions of plain Python, which nobody calls.
"""

# How a pass is laid out. The rows of a batch are independent of one another, and steps are not. So each
# thread of the team takes some rows and walks through all time steps with them; in the pass forward threads
# never meet. For its rows a step is one product with W_h, for several rows together as that reads W_h once,
# and then, row by row, the instructions of the tape: the vectors of one row (H numbers each) fit into the
# core's own cache, and stay there from one instruction to the next.
#
# The pass back ends in a product over all rows and steps, the gradient of W_h. There threads meet once
# (`wait`) and share the units instead of the rows: each writes rows of the gradient that no other thread
# writes.
#
# Compiled code gets addresses, no arrays: GOMP_parallel passes one pointer, to the addresses that `_call` of
# `compiled` lists, and `team_forward` and `team_backward` make arrays of them again. All places of a tape are
# parts of one array without an end, counted from the place that comes first in memory.
from typing import Any

import numpy as np

from rnnviz.lab.engines.tape import (
    ADD,
    D_C,
    KEPT,
    MUL,
    NEG,
    NEW,
    NEW_C,
    OLD,
    OLD_C,
    PLACE_SIZE,
    POSITIVE,
    PUT,
    RELU,
    REST,
    ROOM,
    SIGMOID,
    TANH,
    TO_POSITIVE,
    TO_RELU,
    TO_SIGMOID,
    TO_TANH,
    ZERO,
    D,
    X,
)
from rnnviz.lab.engines.tape import U as U_PLACE

try:
    import numba
except ImportError:  # it comes with the extra `train`
    numba = None

LINE_UNITS = 16
"""Units that go to one thread together: a line of the processor's cache, which no two threads then write."""

UNBOUNDED_LENGTH = 1 << 60
"""The length of one array that contains all of a tape's places: from the first in memory on, without an end.

Looking up a separate array for each place, and counting references to it, would take longer than the sums.
"""

f32 = np.float32


def jit(function: Any) -> Any:
    """`function`, compiled into its callers. NaN stays NaN, by which a run is seen to diverge."""
    if numba is None:
        return function
    # Sums may change their order, so that eight or sixteen of them are done at a time. "nnan" and "ninf"
    # would let the compiler assume that there is no NaN: then a run that diverges would go on with numbers.
    loose = {"contract", "reassoc", "arcp", "nsz", "afn"}  # all of "fast" but nnan and ninf
    return numba.njit(nogil=True, error_model="numpy", boundscheck=False, fastmath=loose)(function)


if numba is not None:
    # Found by name whenever compiled code is loaded, as addresses change.
    sgemm = numba.types.ExternalFunction("rnnviz_sgemm_", numba.void(*[numba.types.voidptr] * 13))
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
    # x = k log 2 + r. Log 2 is subtracted in two parts, the first of few digits: so k log 2 loses none.
    k = np.floor(x * f32(1.44269504) + f32(0.5))
    r = x - k * f32(0.693359375) + k * f32(2.12194440e-4)
    p = f32(1.9875691500e-4) * r + f32(1.3981999507e-3)
    p = p * r + f32(8.3334519073e-3)
    p = p * r + f32(4.1665795894e-2)
    p = p * r + f32(1.6666665459e-1)
    p = p * r + f32(5.0000001201e-1)
    y = p * r * r + r + f32(1)
    # 2^k, made by writing k into the exponent of a float32.
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
    # Both branches are computed and one is chosen: without a jump the loop around is done for several numbers
    # at a time.
    away = f32(1) - f32(2) / (exp(x + x) + f32(1))
    return p * z * x + x if z < f32(0.390625) else away


@jit
def execute(operation, a, b, to):
    """One instruction of a tape, for the units of a row."""
    # One loop an operation, over the H units of a row: choosing the operation costs once for H numbers.
    # Constants are float32, as a Python float would make the whole sum float64.
    H, unity = len(to), f32(1)
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
            to[j] = unity - a[j]
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
            to[j] = a[j] * b[j] * (unity - b[j])
    elif operation == TO_TANH:
        for j in range(H):
            to[j] = a[j] * (unity - b[j] * b[j])
    elif operation == TO_RELU:
        for j in range(H):
            to[j] = a[j] if b[j] > f32(0) else f32(0)
    elif operation == TO_POSITIVE:
        for j in range(H):
            to[j] = a[j] if b[j] >= f32(0.5) else a[j] * b[j] * (unity - b[j])
    elif operation == PUT:
        copy(a, to)
    elif operation == ZERO:
        for j in range(H):
            to[j] = f32(0)


@jit
def run_tape(tape, memory, at, H):
    """Run the tape for one row; `at` has the beginning of each place in `memory`."""
    for k in range(len(tape)):
        # The operands' beginnings in memory: that of the place for this row and step, plus the vector's
        # number times H.
        a = at[tape[k, 2] // PLACE_SIZE] + tape[k, 2] % PLACE_SIZE * H
        b = at[tape[k, 3] // PLACE_SIZE] + tape[k, 3] % PLACE_SIZE * H
        to = at[tape[k, 1] // PLACE_SIZE] + tape[k, 1] % PLACE_SIZE * H
        execute(tape[k, 0], memory[a : a + H], memory[b : b + H], memory[to : to + H])


@jit
def find_places(begins, at, p, t, b, two, row, sizes):
    """Fill in `at`: where thread p finds the places of time step t and row b, whose input is row `row` of X.

    begins  the beginning of each place's array
    two     1 for an LSTM, which has two states, else 0
    sizes   B, H, and the numbers of vectors in X, U, KEPT and ROOM
    """
    B, H, G, U, K, room = sizes
    # X is looked up by the input's row. U and D have one row of vectors for each row of the batch, and serve
    # all steps; OLD, NEW and KEPT have one for each step too; ROOM one for each thread, as it is forgotten.
    before = (t * B + b) * H
    at[X], at[U_PLACE], at[ROOM] = (
        begins[X] + row * G * H,
        begins[U_PLACE] + b * U * H,
        begins[ROOM] + p * room * H,
    )
    at[OLD], at[NEW] = begins[OLD] + before, begins[OLD] + before + B * H
    # A cell without C has no array of all steps there: with `two` = 0 each step points at its beginning.
    at[OLD_C], at[NEW_C] = begins[OLD_C] + before * two, begins[OLD_C] + (before + B * H) * two
    at[KEPT], at[D], at[D_C] = begins[KEPT] + before * K, begins[D] + b * H, begins[D_C] + b * H


@jit
def first_unit(p, P, H):
    """The first unit of thread p of P."""
    # Whole cache lines a thread: two threads that write into one line take it from each other at every
    # number.
    return min(H, (H + LINE_UNITS - 1) // LINE_UNITS * p // P * LINE_UNITS)


@jit
def part(p, P, count):
    """The share of thread p of P in `count` items: the first, and the one after the last."""
    return p * count // P, (p + 1) * count // P


@jit
def copy(values, to):
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
def multiply(constants, transpose, accumulate, A, B, C):
    """C = A B, or C + A B if `accumulate`, with Aᵀ for A if `transpose`; nothing for a thread without rows.

    sgemm_ reads matrices by columns and so computes Cᵀ = Bᵀ Aᵀ: hence B comes before A.
    """
    M, N, K = C.shape[0], C.shape[1], B.shape[0]
    # Fortran's way: every argument by its address, matrices by columns, and the lengths of rows beside them.
    letters, sizes, scales = constants
    sizes[0], sizes[1], sizes[2] = N, M, K
    sizes[3], sizes[4], sizes[5] = B.strides[0] // 4, A.strides[0] // 4, C.strides[0] // 4
    if M:
        sgemm(
            letters.ctypes, letters[transpose:].ctypes, sizes.ctypes, sizes[1:].ctypes, sizes[2:].ctypes,
            scales[1:].ctypes, B.ctypes, sizes[3:].ctypes, A.ctypes, sizes[4:].ctypes,
            scales[accumulate:].ctypes, C.ctypes, sizes[5:].ctypes,
        )  # fmt: skip


@jit
def forward(p, P, tape, sizes, memory, begins, ids, turned, b_u, u, h):
    """The share of thread p of P in the pass forward.

    memory, begins, sizes  as `play` and `look` take them
    ids     (T, B), the row of x for each input
    turned  (H, U·H), the transpose of U blocks of weights or none
    b_u     (H,), of the last block, or none
    u, h    (B, U·H) room for products; (T + 1, B, H) states, of which the first is known
    """
    # sizes as `_Pass.forward` lists them: B, H, G (blocks of X), U (blocks of U, or 0), vectors in KEPT and
    # ROOM, `two`, T, whether there is b_u, and the number of instructions.
    (T, B), H, U, two = ids.shape, sizes[1], sizes[3], sizes[6]
    first, last = part(p, P, B)
    blas_arguments, at = constants(), np.empty(10, np.int64)
    for t in range(T):
        if U:
            # All rows of this thread at once: W_h is read once for them.
            multiply(blas_arguments, 0, 0, h[t, first:last], turned, u[first:last])
        for b in range(first, last):
            if len(b_u):
                add(b_u, u[b, (U - 1) * H :])
            find_places(begins, at, p, t, b, two, ids[t, b], sizes[:6])
            run_tape(tape, memory, at, H)


@jit
def backward(p, P, tape, sizes, memory, begins, sources, ids, w, h, saved, above, d, to_x, to_w, to_b):
    """The share of thread p of P in the pass back.

    above       (T, B, H), ∂L/∂h from the readout
    d           (B, H), and D_C beside it: the gradient of the last state from later steps; at the end, that
                of the state before the first step
    saved       (T, B, K·H), which becomes the gradient of U and X: see `tape`
    to_x        (N, G·H), the gradient of x; zeros at first
    to_w, to_b  the gradients of w and b_u
    """
    (T, B), H, G, U, two = ids.shape, sizes[1], sizes[2], sizes[3], sizes[6]
    lo, hi = first_unit(p, P, H), first_unit(p + 1, P, H)
    first, last = part(p, P, B)
    blas_arguments, at = constants(), np.empty(10, np.int64)
    columns, states = saved.reshape(T * B, saved.shape[2]), h[:T].reshape(T * B, H)
    for t in range(T - 1, -1, -1):
        for b in range(first, last):
            # The state's gradient comes from two sides: from the readout and the layer above (`above`), and
            # from the next step, which has left its part in d.
            add(above[t, b], d[b])
            find_places(begins, at, p, t, b, two, ids[t, b], sizes[:6])
            run_tape(tape, memory, at, H)
        if U:
            # The part through W_h: the gradients of U, which lie first in KEPT, times W_h, added to d.
            multiply(blas_arguments, 0, 1, saved[t, first:last, : U * H], w, d[first:last])
    wait()  # from here on each thread has some units of all rows
    # The gradient of W_h, all rows and steps in one product: each thread has some rows of W_h.
    start, end = first_unit(p, P, U * H), first_unit(p + 1, P, U * H)
    if U:
        multiply(blas_arguments, 1, 0, columns[:, start:end], states, to_w[start:end])
    for t in range(T):
        for b in range(B):
            row, to = saved[t, b], to_x[ids[t, b]]
            # Several inputs may look up one row of x: adding is safe, as no other thread has these units.
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
    # 10 sizes here, 11 for the way back, which needs N, the rows of x, beside them.
    s, begins = integers(data[0], 10), integers(data[1], 10)
    B, H, U, T, biased, n = s[0], s[1], s[3], s[7], s[8], s[9]
    forward(
        thread(), threads(),
        integers(data[2], 4 * n).reshape(n, 4), s,
        numba.carray(data[3], (UNBOUNDED_LENGTH,)), begins,
        integers(data[4], T * B).reshape(T, B),
        numba.carray(data[5], (H, U * H)),
        numba.carray(data[6], (biased * H,)),
        numba.carray(data[7], (B, U * H)),
        numba.carray(data[8], (T + 1, B, H)),
    )  # fmt: skip


def team_backward(data):
    """`backward` on each thread of a team; `data` are the addresses that `compiled` passes."""
    s, begins = integers(data[0], 11), integers(data[1], 10)
    B, H, G, U, K, T = s[0], s[1], s[2], s[3], s[4], s[7]
    biased, n, N = s[8], s[9], s[10]
    backward(
        thread(), threads(),
        integers(data[2], 4 * n).reshape(n, 4), s,
        numba.carray(data[3], (UNBOUNDED_LENGTH,)), begins,
        integers(data[4], G),
        integers(data[5], T * B).reshape(T, B),
        numba.carray(data[6], (U * H, H)),
        numba.carray(data[7], (T + 1, B, H)),
        numba.carray(data[8], (T, B, K * H)),
        numba.carray(data[9], (T, B, H)),
        numba.carray(data[10], (B, H)),
        numba.carray(data[11], (N, G * H)),
        numba.carray(data[12], (U * H, H)),
        numba.carray(data[13], (biased * H,)),
    )  # fmt: skip
