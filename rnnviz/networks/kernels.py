"""A layer's whole unrolled pass, forward and back, as numba compiles it: what `compiled` calls.

A team of threads shares the rows of a batch, and nobody waits for another between two time steps. Where W_hh
is too large for a core's cache they share the units in place of the rows: each has its units' part of W_hh,
in an order of its own, and all wait for one another at each step, as each needs the others' states.

Gates lie in memory as (T, B, G·H + E·H): of each time step first those that W_hh makes, slice by slice of
the units and within that gate by gate, so that a slice's are one block and all of them one matrix; then, of
a gru, what is to become n. Without numba these are functions of plain Python, which nobody calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    import numba
except ImportError:  # it comes with the extra `fast`
    numba = None

KINDS = TANH, RELU, GRU, LSTM = range(4)

LINE = 16
"""Units that threads share out together: a line of the processor's cache."""

f32 = np.float32


def jit(function: Any) -> Any:
    """`function`, to be compiled into what calls it. NaN stays NaN: that is how a run is seen to diverge."""
    if numba is None:
        return function
    loose = {"contract", "reassoc", "arcp", "nsz", "afn"}
    return numba.njit(nogil=True, error_model="numpy", boundscheck=False, fastmath=loose)(function)


if numba is not None:
    # Found by name when the compiled code is loaded, whatever their addresses are that time.
    _pointer = numba.types.voidptr
    product = numba.types.ExternalFunction("rnnviz_sgemm_", numba.void(*[_pointer] * 13))
    wait = numba.types.ExternalFunction("rnnviz_wait", numba.void())
    thread = numba.types.ExternalFunction("rnnviz_thread", numba.int32())
    threads = numba.types.ExternalFunction("rnnviz_threads", numba.int32())


@jit
def exp(x):
    """e^x in float32, after Cephes: 2^k e^r, |r| <= log(2) / 2. Relative error 1e-7; clamped to ±87."""
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
def begin(p, P, H):
    """The first unit of thread p of P."""
    return min(H, (H + LINE - 1) // LINE * p // P * LINE)


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
def multiply(given, across, keep, A, B, C):
    """C = A B + keep C, of Aᵀ if `across`. In the eyes of sgemm_, which goes by columns, Cᵀ = Bᵀ Aᵀ."""
    letters, sizes, scales = given
    sizes[0], sizes[1] = C.shape[1], C.shape[0]
    sizes[2], sizes[3] = B.shape[0], B.strides[0] // 4
    sizes[4], sizes[5] = A.strides[0] // 4, C.strides[0] // 4
    product(
        letters.ctypes, letters[across:].ctypes, sizes.ctypes, sizes[1:].ctypes, sizes[2:].ctypes,
        scales[1:].ctypes, B.ctypes, sizes[3:].ctypes, A.ctypes, sizes[4:].ctypes,
        scales[keep:].ctypes, C.ctypes, sizes[5:].ctypes,
    )  # fmt: skip


@jit
def transpose(w, packed, lo, hi, first, last):
    """Units lo … hi of each gate of w (G·H, H) become columns of `packed` (H, G·n), which has units first …
    last; a line of the cache is written once.
    """
    H, n = w.shape[1], last - first
    for k in range(w.shape[0] // H):
        for j0 in range(lo, hi, LINE):
            for i0 in range(0, H, LINE):
                for i in range(i0, min(H, i0 + LINE)):
                    for j in range(j0, min(hi, j0 + LINE)):
                        packed[i, k * n + j - first] = w[k * H + j, i]


@jit
def sigmoid_(a):
    """Each in its place. A loop over few arrays, one after the other: the compiler takes 8 numbers at a time
    where it can tell that no two overlap.
    """
    for j in range(len(a)):
        a[j] = sigmoid(a[j])


@jit
def tanh_(a):
    for j in range(len(a)):
        a[j] = tanh(a[j])


@jit
def step(kind, row, old, new, c, after, narrow, lo, hi, G):
    """What W_hh and the inputs give of one row of a batch at one time step becomes gates and a state."""
    n, H = hi - lo, len(new)
    old, new = old[lo:hi], new[lo:hi]
    if kind == TANH:
        tanh_(new)
    elif kind == RELU:
        for j in range(n):
            new[j] = f32(0) if new[j] < f32(0) else new[j]
    elif kind == GRU:
        a, s = row[G * lo : G * hi], row[G * H + lo : G * H + hi]
        r, z, mixed = a[:n], a[n : 2 * n], a[2 * n :]
        sigmoid_(a[: 2 * n])
        for j in range(n):
            s[j] += r[j] * mixed[j]
        tanh_(s)
        for j in range(n):
            new[j] = s[j] + z[j] * (old[j] - s[j])
    else:
        a, c, after, narrow = row[G * lo : G * hi], c[lo:hi], after[lo:hi], narrow[lo:hi]
        i, f, g, o = a[:n], a[n : 2 * n], a[2 * n : 3 * n], a[3 * n :]
        sigmoid_(a[: 2 * n])
        tanh_(g)
        sigmoid_(o)
        for j in range(n):
            after[j] = f[j] * c[j] + i[j] * g[j]
        put(after, narrow)
        tanh_(narrow)
        for j in range(n):
            new[j] = o[j] * narrow[j]


@jit
def gather(x, ids, rows, out, first, last, G, E):
    """The inputs' part of units first … last, from x's rows, as gates lie in `out` (B, …)."""
    n, H = last - first, x.shape[1] // (G + E)
    for b in range(rows[0], rows[1]):
        row, to = x[ids[b]], out[b]
        for k in range(G):
            at, source = G * first + k * n, (k + E) * H + first
            put(row[source : source + n], to[at : at + n])
        if E:
            put(row[first:last], to[G * H + first : G * H + last])


@jit
def scatter(x, ids, gates, lo, hi, first, last, G, E):
    """Add all rows of `gates` (T, B, …) to the rows of x that they came from; of units lo … hi, which lie
    among first … last.
    """
    n, H = last - first, x.shape[1] // (G + E)
    for t in range(ids.shape[0]):
        for b in range(ids.shape[1]):
            row, to = gates[t, b], x[ids[t, b]]
            for k in range(G):
                at, target = G * first + k * n + lo - first, (k + E) * H + lo
                for j in range(hi - lo):
                    to[target + j] += row[at + j]
            if E:
                for j in range(lo, hi):
                    to[j] += row[G * H + j]


@jit
def forward(kind, p, P, S, x, ids, w, room, h, gates, c, narrow):
    """What thread p of P does; S slices of the units, 1 or P: of 1, threads share the rows of the batch.

    x (N, parts·H), ids (T, B) of its rows, w (G·H, H), room of its size, h and c (T+1, B, H) with the first
    known, gates (T, B, parts·H), of an rnn none, narrow = tanh(c) (T, B, H).
    """
    T, B, H = ids.shape[0], ids.shape[1], h.shape[2]
    G, E, cells = w.shape[0] // H, (x.shape[1] - w.shape[0]) // H, kind == LSTM
    lo, hi = begin(p, P, H), begin(p + 1, P, H)
    first, last = (0, H) if S == 1 else (lo, hi)
    rows = (p * B // P, (p + 1) * B // P) if S == 1 else (0, B)
    given, work = constants(), last > first and rows[1] > rows[0]
    packed = room[G * H * first : G * H * last].reshape(H, G * (last - first))
    transpose(w, packed, lo, hi, first, last)
    wait()
    for t in range(T):
        out = gates[t] if kind >= GRU else h[t + 1]
        gather(x, ids[t], rows, out, first, last, G, E)
        if work:
            mine = out[rows[0] : rows[1], G * first : G * last]
            multiply(given, 0, 1, h[t, rows[0] : rows[1]], packed, mine)
        s = t if cells else 0
        for b in range(rows[0], rows[1]):
            step(kind, out[b], h[t, b], h[t + 1, b], c[s, b], c[s + cells, b], narrow[s, b], first, last, G)
        if S > 1:
            wait()


@jit
def gru_back(a, s, old, d_h, room):
    """See `step_back`."""
    n, one = len(s), f32(1)
    r, z, mixed = a[:n], a[n : 2 * n], a[2 * n :]
    to_n, keep = room[:n], room[n : 2 * n]
    for j in range(n):
        to_n[j] = d_h[j] * (one - z[j]) * (one - s[j] * s[j])
        keep[j] = d_h[j] * z[j]
    for j in range(n):
        z[j] = keep[j] * (old[j] - s[j]) * (one - z[j])
    for j in range(n):
        to_r = to_n[j] * mixed[j] * r[j] * (one - r[j])
        mixed[j] = to_n[j] * r[j]
        r[j] = to_r
    put(to_n, s)
    put(keep, d_h)


@jit
def lstm_back(a, c, narrow, d_h, d_c):
    """See `step_back`."""
    n, one = len(c), f32(1)
    i, f, g, o = a[:n], a[n : 2 * n], a[2 * n : 3 * n], a[3 * n :]
    for j in range(n):
        d_c[j] += d_h[j] * o[j] * (one - narrow[j] * narrow[j])
    for j in range(n):
        o[j] = d_h[j] * narrow[j] * o[j] * (one - o[j])
    for j in range(n):
        to_i = d_c[j] * g[j] * i[j] * (one - i[j])
        g[j] = d_c[j] * i[j] * (one - g[j] * g[j])
        i[j] = to_i
    for j in range(n):
        kept = d_c[j] * f[j]
        f[j] = kept * c[j] * (one - f[j])
        d_c[j] = kept
    d_h[:] = 0


@jit
def step_back(kind, row, old, new, c, narrow, d_h, d_c, above, room, lo, hi, G):
    """∂L/∂h and ∂L/∂c of one row of a batch after a time step become what of those before it doesn't pass
    through W_hh, and the gates their own gradient.
    """
    n, H = hi - lo, len(new)
    new, d_h, above = new[lo:hi], d_h[lo:hi], above[lo:hi]
    for j in range(n):
        d_h[j] += above[j]
    if kind == GRU:
        gru_back(row[G * lo : G * hi], row[G * H + lo : G * H + hi], old[lo:hi], d_h, room)
    elif kind == LSTM:
        lstm_back(row[G * lo : G * hi], c[lo:hi], narrow[lo:hi], d_h, d_c[lo:hi])
    else:
        a = row[lo:hi]
        for j in range(n):
            slope = f32(1) - new[j] * new[j] if kind == TANH else f32(1) if new[j] > f32(0) else f32(0)
            a[j] = d_h[j] * slope
        d_h[:] = 0


@jit
def pack(w, packed, P, lo, hi):
    """Columns lo … hi of w (G·H, H), its rows in the order in which P threads' gates lie in memory."""
    H, at = w.shape[1], 0
    for q in range(P):
        for k in range(w.shape[0] // H):
            for i in range(k * H + begin(q, P, H), k * H + begin(q + 1, P, H)):
                put(w[i, lo:hi], packed[at])
                at += 1


@jit
def weigh(given, gates, h, first, last, to_w):
    """Σ_t d_tᵀ h_{t-1} for columns first … last of the gates' gradient, as rows of `to_w`."""
    T, B, H = gates.shape[0], gates.shape[1], h.shape[2]
    if last > first:
        d = gates.reshape(T * B, gates.shape[2])[:, first:last]
        multiply(given, 1, 0, d, h[:T].reshape(T * B, H), to_w)


@jit
def backward(kind, p, P, S, ids, w, room, h, gates, c, narrow, above, d_h, d_c, to_x, to_w):
    """`above` (T, B, H) is ∂L/∂h from the readout, d_h and d_c (B, H) what comes from after the last step,
    and at the end what goes on before the first. `gates` become their own gradient. to_x is like `forward`'s
    x, and zero, to_w like w.
    """
    T, B, H = ids.shape[0], ids.shape[1], h.shape[2]
    G, E = w.shape[0] // H, (to_x.shape[1] - w.shape[0]) // H
    lo, hi = begin(p, P, H), begin(p + 1, P, H)
    first, last = (0, H) if S == 1 else (lo, hi)
    rows, n = (p * B // P, (p + 1) * B // P) if S == 1 else (0, B), last - first
    given, work, aside = constants(), n > 0 and rows[1] > rows[0], np.empty(2 * n, np.float32)
    packed = room[G * H * first : G * H * last].reshape(G * H, n)
    if S > 1:
        pack(w, packed, P, lo, hi)
    for t in range(T - 1, -1, -1):
        s = t if kind == LSTM else 0
        for b in range(rows[0], rows[1]):
            step_back(
                kind, gates[t, b], h[t, b], h[t + 1, b], c[s, b], narrow[s, b],
                d_h[b], d_c[b], above[t, b], aside, first, last, G,
            )  # fmt: skip
        if S > 1:
            wait()
        if work:
            d = gates[t, rows[0] : rows[1], : G * H]
            multiply(given, 0, 1, d, w if S == 1 else packed, d_h[rows[0] : rows[1], first:last])
    wait()
    if S == 1:
        begins, ends = begin(p, P, G * H), begin(p + 1, P, G * H)
        weigh(given, gates, h, begins, ends, to_w[begins:ends])
    else:
        own = packed.reshape(G * n, H)
        weigh(given, gates, h, G * lo, G * hi, own)
        for k in range(G):
            for i in range(n):
                put(own[k * n + i], to_w[k * H + lo + i])
    scatter(to_x, ids, gates, lo, hi, first, last, G, E)


def team_forward(data):
    """`forward` as each thread of a team calls it; data: sizes, then `forward`'s arrays from x on."""
    s = numba.carray(data[0], (16,)).view(np.int64)
    kind, S, T, B, H, G, E, N = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
    L = T if kind == LSTM else 1
    forward(
        kind, thread(), threads(), S,
        numba.carray(data[1], (N, (G + E) * H)),
        numba.carray(data[2], (T, 2 * B)).view(np.int64),
        numba.carray(data[3], (G * H, H)),
        numba.carray(data[4], (G * H * H,)),
        numba.carray(data[5], (T + 1, B, H)),
        numba.carray(data[6], (T, B, (G + E) * H)),
        numba.carray(data[7], (L + 1, B, H)),
        numba.carray(data[8], (L, B, H)),
    )  # fmt: skip


def team_backward(data):
    """`backward` likewise; data: sizes, then its arrays from ids on."""
    s = numba.carray(data[0], (16,)).view(np.int64)
    kind, S, T, B, H, G, E, N = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
    L = T if kind == LSTM else 1
    backward(
        kind, thread(), threads(), S,
        numba.carray(data[1], (T, 2 * B)).view(np.int64),
        numba.carray(data[2], (G * H, H)),
        numba.carray(data[3], (G * H * H,)),
        numba.carray(data[4], (T + 1, B, H)),
        numba.carray(data[5], (T, B, (G + E) * H)),
        numba.carray(data[6], (L + 1, B, H)),
        numba.carray(data[7], (L, B, H)),
        numba.carray(data[8], (T, B, H)),
        numba.carray(data[9], (B, H)),
        numba.carray(data[10], (B, H)),
        numba.carray(data[11], (N, (G + E) * H)),
        numba.carray(data[12], (G * H, H)),
    )  # fmt: skip
