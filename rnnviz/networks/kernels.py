"""A layer's whole unrolled pass, forward and back, as numba compiles it: what `compiled` calls.

A team of threads shares the rows of a batch, and nobody waits for another between two time steps.

Gates lie in memory as (T, B, G·H + E·H): of each time step first those that W_hh makes, in torch's order,
then, of a gru, what is to become n. Without numba these are functions of plain Python, which nobody calls.
"""

import numpy as np

from rnnviz.networks.products import (
    BFLOAT16,
    ROWS,
    across,
    add,
    begin,
    constants,
    f32,
    jit,
    lower,
    multiply,
    multiply_low,
    numba,
    pack_low,
    part,
    put,
    release,
    transpose,
    transpose_low,
    weigh,
    weigh_low,
)

KINDS = TANH, RELU, GRU, LSTM = range(4)

if numba is not None:
    # Found by name when the compiled code is loaded, whatever their addresses are that time.
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
def step(kind, row, old, new, c, after, narrow):
    """What W_hh and the inputs give of one row of a batch at one time step becomes gates and a state."""
    H = len(new)
    if kind == TANH:
        tanh_(new)
    elif kind == RELU:
        for j in range(H):
            new[j] = f32(0) if new[j] < f32(0) else new[j]
    elif kind == GRU:
        r, z, mixed, n = row[:H], row[H : 2 * H], row[2 * H : 3 * H], row[3 * H :]
        sigmoid_(row[: 2 * H])
        for j in range(H):
            n[j] += r[j] * mixed[j]
        tanh_(n)
        for j in range(H):
            new[j] = n[j] + z[j] * (old[j] - n[j])
    else:
        i, f, g, o = row[:H], row[H : 2 * H], row[2 * H : 3 * H], row[3 * H :]
        sigmoid_(row[: 2 * H])
        tanh_(g)
        sigmoid_(o)
        for j in range(H):
            after[j] = f[j] * c[j] + i[j] * g[j]
        put(after, narrow)
        tanh_(narrow)
        for j in range(H):
            new[j] = o[j] * narrow[j]


@jit
def gather(x, ids, out, G, E):
    """The inputs' parts, rows of x, as gates lie in `out` (B, …)."""
    H = x.shape[1] // (G + E)
    for b in range(len(ids)):
        row = x[ids[b]]
        put(row[E * H :], out[b, : G * H])
        if E:
            put(row[:H], out[b, G * H :])


@jit
def scatter(x, ids, gates, lo, hi, G, E):
    """Add units lo … hi of all rows of `gates` (T, B, …) to the rows of x that they came from."""
    H = x.shape[1] // (G + E)
    for t in range(ids.shape[0]):
        for b in range(ids.shape[1]):
            row, to = gates[t, b], x[ids[t, b]]
            for k in range(G):
                at = (k + E) * H
                add(row[k * H + lo : k * H + hi], to[at + lo : at + hi])
            if E:
                add(row[G * H + lo : G * H + hi], to[lo:hi])


@jit
def forward(kind, by, p, P, x, ids, w, room, h, gates, c, narrow):
    """What thread p of P does, with products `by`.

    x (N, parts·H), ids (T, B) of its rows, w (G·H, H), h and c (T+1, B, H) with the first known, gates (T,
    B, parts·H), of an rnn none, narrow = tanh(c) (T, B, H). `room` is w's size, and B·H more.
    """
    T, B, H = ids.shape[0], ids.shape[1], h.shape[2]
    G, E, cells, low = w.shape[0] // H, (x.shape[1] - w.shape[0]) // H, kind == LSTM, by == BFLOAT16
    lo, hi = begin(p, P, H), begin(p + 1, P, H)
    first, last = part(p, P, B)
    given = constants()
    turned = room[: G * H * H].reshape(H, G * H)
    turned_low = room.view(np.uint32)[: H // 2 * G * H].reshape(H // 2, G * H)
    old = room.view(np.uint16)[2 * G * H * H :][: B * H].reshape(B, H)[first:last]
    if low:
        transpose_low(w, turned_low, lo, hi)
        for b in range(first, last):
            lower(h[0, b], old[b - first])
    else:
        transpose(w, turned, lo, hi)
    wait()
    for t in range(T):
        out = gates[t, first:last] if kind >= GRU else h[t + 1, first:last]
        gather(x, ids[t, first:last], out, G, E)
        if low:
            multiply_low(1, old, turned_low, out[:, : G * H])
        else:
            multiply(by, given, 0, 1, h[t, first:last], turned, out[:, : G * H])
        s = t if cells else 0
        for b in range(first, last):
            step(kind, out[b - first], h[t, b], h[t + 1, b], c[s, b], c[s + cells, b], narrow[s, b])
            if low:
                lower(h[t + 1, b], old[b - first])
    if low:
        release(1)


@jit
def gru_back(row, old, d_h, room):
    """See `step_back`."""
    H, one = len(old), f32(1)
    r, z, mixed, n = row[:H], row[H : 2 * H], row[2 * H : 3 * H], row[3 * H :]
    to_n, keep = room[:H], room[H:]
    for j in range(H):
        to_n[j] = d_h[j] * (one - z[j]) * (one - n[j] * n[j])
        keep[j] = d_h[j] * z[j]
    for j in range(H):
        z[j] = keep[j] * (old[j] - n[j]) * (one - z[j])
    for j in range(H):
        to_r = to_n[j] * mixed[j] * r[j] * (one - r[j])
        mixed[j] = to_n[j] * r[j]
        r[j] = to_r
    put(to_n, n)
    put(keep, d_h)


@jit
def lstm_back(row, c, narrow, d_h, d_c):
    """See `step_back`."""
    H, one = len(c), f32(1)
    i, f, g, o = row[:H], row[H : 2 * H], row[2 * H : 3 * H], row[3 * H :]
    for j in range(H):
        d_c[j] += d_h[j] * o[j] * (one - narrow[j] * narrow[j])
    for j in range(H):
        o[j] = d_h[j] * narrow[j] * o[j] * (one - o[j])
    for j in range(H):
        to_i = d_c[j] * g[j] * i[j] * (one - i[j])
        g[j] = d_c[j] * i[j] * (one - g[j] * g[j])
        i[j] = to_i
    for j in range(H):
        kept = d_c[j] * f[j]
        f[j] = kept * c[j] * (one - f[j])
        d_c[j] = kept
    d_h[:] = 0


@jit
def step_back(kind, row, old, new, c, narrow, d_h, d_c, above, room):
    """∂L/∂h and ∂L/∂c of one row of a batch after a time step become what of those before it doesn't pass
    through W_hh, and the gates their own gradient.
    """
    add(above, d_h)
    if kind == GRU:
        gru_back(row, old, d_h, room)
    elif kind == LSTM:
        lstm_back(row, c, narrow, d_h, d_c)
    else:
        for j in range(len(new)):
            slope = f32(1) - new[j] * new[j] if kind == TANH else f32(1) if new[j] > f32(0) else f32(0)
            row[j] = d_h[j] * slope
        d_h[:] = 0


@jit
def backward(kind, by, p, P, ids, w, room, h, gates, c, narrow, above, d_h, d_c, to_x, to_w):
    """`above` (T, B, H) is ∂L/∂h from the readout, d_h and d_c (B, H) what comes from after the last step,
    and at the end what goes on before the first. `gates` become their own gradient. to_x is like `forward`'s
    x, and zero, to_w like w. `room` is for bfloat16: half of w's size, of `gates`' for one step, and of h's
    for all, rounded up to ROWS.
    """
    T, B, H = ids.shape[0], ids.shape[1], h.shape[2]
    G, E, low = w.shape[0] // H, (to_x.shape[1] - w.shape[0]) // H, by == BFLOAT16
    lo, hi = begin(p, P, H), begin(p + 1, P, H)
    first, last = part(p, P, B)
    given, aside = constants(), np.empty(2 * H, np.float32)
    half, blocks = G * H // 2, (T * B + ROWS - 1) // ROWS if low else 0
    paired = room.view(np.uint32)[: half * H if low else 0].reshape(half if low else 0, H)
    halves = room.view(np.uint16)[2 * paired.size :]
    turned = halves[: blocks * H * ROWS].reshape(blocks, H, ROWS)
    later = halves[turned.size :][: B * G * H if low else 0].reshape(B if low else 0, G * H)[first:last]
    if low:
        begins, ends = part(p, P, half)
        pack_low(w, paired, begins, ends)
        across(h[:T].reshape(T * B, H), turned, lo, hi)
        wait()
    for t in range(T - 1, -1, -1):
        s = t if kind == LSTM else 0
        for b in range(first, last):
            row, new = gates[t, b], h[t + 1, b]
            step_back(kind, row, h[t, b], new, c[s, b], narrow[s, b], d_h[b], d_c[b], above[t, b], aside)
            if low:
                lower(row[: G * H], later[b - first])
        if low:
            multiply_low(1, later, paired, d_h[first:last])
        else:
            multiply(by, given, 0, 1, gates[t, first:last, : G * H], w, d_h[first:last])
    wait()
    begins, ends = begin(p, P, G * H), begin(p + 1, P, G * H)
    if low:
        weigh_low(gates, turned, begins, ends, to_w[begins:ends])
        release(1)
    else:
        weigh(by, given, gates, h, begins, ends, to_w[begins:ends])
    scatter(to_x, ids, gates, lo, hi, G, E)


def team_forward(data):
    """`forward` as each thread of a team calls it; data: sizes, then `forward`'s arrays from x on."""
    s = numba.carray(data[0], (18,)).view(np.int64)
    kind, T, B, H, G, E, N, by, size = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8]
    L = T if kind == LSTM else 1
    forward(
        kind, by, thread(), threads(),
        numba.carray(data[1], (N, (G + E) * H)),
        numba.carray(data[2], (T, 2 * B)).view(np.int64),
        numba.carray(data[3], (G * H, H)),
        numba.carray(data[4], (size,)),
        numba.carray(data[5], (T + 1, B, H)),
        numba.carray(data[6], (T, B, (G + E) * H)),
        numba.carray(data[7], (L + 1, B, H)),
        numba.carray(data[8], (L, B, H)),
    )  # fmt: skip


def team_backward(data):
    """`backward` likewise; data: sizes, then its arrays from ids on."""
    s = numba.carray(data[0], (18,)).view(np.int64)
    kind, T, B, H, G, E, N, by, size = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8]
    L = T if kind == LSTM else 1
    backward(
        kind, by, thread(), threads(),
        numba.carray(data[1], (T, 2 * B)).view(np.int64),
        numba.carray(data[2], (G * H, H)),
        numba.carray(data[3], (size,)),
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
