"""A linear recurrence's layer, forward and back, as numba compiles it: what `compiled` calls. Formulas and
names are those of `linear` and `selective`.

One pass over a text where `scan` makes some forty: gates, states and gradients are made while what they are
made of is in the processor's cache. A team of threads shares the rows of a batch. Without numba these are
functions of plain Python, which nobody calls.
"""

from __future__ import annotations

import numpy as np

from rnnviz.networks.config import STATES
from rnnviz.networks.kernels import exp, numba, sigmoid, thread, threads, wait
from rnnviz.networks.products import add, begin, f32, jit, part

KINDS = MINGRU, MINLSTM, RGLRU, S6 = range(4)


@jit
def expm1(x):
    """e^x - 1 for x <= 0, where `exp` would lose digits near 0; by the same polynomial."""
    x = f32(-87) if x < f32(-87) else x
    k = np.floor(x * f32(1.44269504) + f32(0.5))
    r = x - k * f32(0.693359375) + k * f32(2.12194440e-4)
    p = f32(1.9875691500e-4) * r + f32(1.3981999507e-3)
    p = p * r + f32(8.3334519073e-3)
    p = p * r + f32(4.1665795894e-2)
    p = p * r + f32(1.6666665459e-1)
    p = p * r + f32(5.0000001201e-1)
    power = np.int32((np.int32(k) + np.int32(127)) << np.int32(23)).view(np.float32)
    return power * (p * r * r + r) + (power - f32(1))


@jit
def logarithm(x):
    """ln(1 + x) of x from 0 to 1, as 2 artanh(x / (2 + x)); the series' next term is below 1e-8."""
    s = x / (f32(2) + x)
    z = s * s
    p = z * f32(1 / 15) + f32(1 / 13)
    p = p * z + f32(1 / 11)
    p = p * z + f32(1 / 9)
    p = p * z + f32(1 / 7)
    p = p * z + f32(1 / 5)
    p = p * z + f32(1 / 3)
    return f32(2) * s * (p * z + f32(1))


@jit
def softplus(x):
    return (x if x > f32(0) else f32(0)) + logarithm(exp(-abs(x)))


@jit
def sigmoid_of(a, to):
    """Each loop over few arrays: see `kernels.sigmoid_`."""
    for j in range(len(to)):
        to[j] = sigmoid(a[j])


@jit
def positive_of(a, to):
    for j in range(len(to)):
        below = sigmoid(a[j] if a[j] < f32(0) else f32(0))
        to[j] = below if a[j] < f32(0) else a[j] + f32(0.5)


@jit
def weights_of(kind, row, keep, lets):
    """Of a mingru or a minlstm A and 1 - A, with all their digits."""
    H, one = len(keep), f32(1)
    first, second = row[:H], row[H : 2 * H]
    if kind == MINGRU:
        for j in range(H):
            e = exp(-first[j])
            keep[j] = one / (one + e)
            lets[j] = e / (one + e)
    else:
        for j in range(H):  # 1/I and 1/F, both divided by the largest of 1, e^-i and e^-f
            most = max(f32(0), max(-first[j], -second[j]))
            by_i = exp(-most) + exp(-first[j] - most)
            by_f = exp(-most) + exp(-second[j] - most)
            keep[j] = by_i / (by_i + by_f)
            lets[j] = by_f / (by_i + by_f)


@jit
def decays_of(row, rate, keep, root):
    """Of an rglru A and sqrt(1 - A²)."""
    for j in range(len(keep)):
        log_decay = -rate[j] * sigmoid(row[j])
        keep[j] = exp(log_decay)
        root[j] = np.sqrt(-expm1(log_decay + log_decay))


@jit
def step(kind, row, rate, old, new, room):
    """One row of a batch at one time step: the state after."""
    H = len(new)
    keep, lets, candidate = room[:H], room[H : 2 * H], room[2 * H : 3 * H]
    last = row[len(row) - H :]
    if kind == RGLRU:
        decays_of(row, rate, keep, lets)
        sigmoid_of(row[H : 2 * H], candidate)
        for j in range(H):
            candidate[j] *= last[j]
    else:
        weights_of(kind, row, keep, lets)
        positive_of(last, candidate)
    for j in range(H):
        new[j] = keep[j] * old[j] + lets[j] * candidate[j]


@jit
def step_back(kind, row, rate, before, d, to_row, to_rate, room):
    """∂L/∂H_t, `d`, becomes ∂L/∂H_{t-1}; `to_row` is what the row gets, `to_rate` what is added to it."""
    if kind == RGLRU:
        rglru_back(row, rate, before, d, to_row, to_rate, room)
        return
    H, one = len(d), f32(1)
    keep, lets, candidate = room[:H], room[H : 2 * H], room[2 * H : 3 * H]
    first, second, to_first, to_second = row[:H], row[H : 2 * H], to_row[:H], to_row[H : 2 * H]
    weights_of(kind, row, keep, lets)
    positive_of(row[len(row) - H :], candidate)
    for j in range(H):
        to_first[j] = d[j] * keep[j] * lets[j] * (before[j] - candidate[j])
    if kind == MINLSTM:
        for j in range(H):
            to_second[j] = to_first[j] * sigmoid(-second[j])
        for j in range(H):
            to_first[j] *= -sigmoid(-first[j])
    to_last = to_row[len(row) - H :]
    for j in range(H):
        slope = candidate[j] * (one - candidate[j])
        to_last[j] = d[j] * lets[j] * (slope if candidate[j] < f32(0.5) else one)
    for j in range(H):
        d[j] *= keep[j]


@jit
def rglru_back(row, rate, before, d, to_row, to_rate, room):
    """See `step_back`."""
    H, one = len(d), f32(1)
    last, to_first, to_second, to_last = row[2 * H :], to_row[:H], to_row[H : 2 * H], to_row[2 * H :]
    keep, root, r, i, by_log = (
        room[:H], room[H : 2 * H], room[2 * H : 3 * H], room[3 * H : 4 * H], room[4 * H : 5 * H]
    )  # fmt: skip
    decays_of(row, rate, keep, root)
    sigmoid_of(row[:H], r)
    sigmoid_of(row[H : 2 * H], i)
    for j in range(H):
        slope = keep[j] / (root[j] if root[j] > f32(1e-12) else f32(1e-12))  # 0 has none: see linear.slopes
        by_log[j] = d[j] * keep[j] * (before[j] - slope * i[j] * last[j])
    for j in range(H):
        to_rate[j] -= r[j] * by_log[j]
    for j in range(H):
        to_first[j] = -rate[j] * r[j] * (one - r[j]) * by_log[j]
    for j in range(H):
        to_last[j] = d[j] * root[j] * i[j]
    for j in range(H):
        to_second[j] = to_last[j] * (one - i[j]) * last[j]
    for j in range(H):
        d[j] *= keep[j]


@jit
def channels(row, K, room):
    """Of an s6 what it has of each channel: Δ, U, σ(Δ's input), and U's slope."""
    delta, u, share, slope = room[:K], room[K : 2 * K], room[2 * K : 3 * K], room[3 * K : 4 * K]
    last = row[K + 2 * STATES :]
    for k in range(K):
        delta[k] = softplus(row[k])
    sigmoid_of(row[:K], share)
    sigmoid_of(last, slope)
    for k in range(K):
        u[k] = last[k] * slope[k]
    for k in range(K):
        slope[k] *= f32(1) + last[k] * (f32(1) - slope[k])
    return delta, u, share, slope


@jit
def selective_step(row, rate, old, new, shown, room):
    """One row of a batch at one time step of an s6: C after, and H."""
    K = len(new) // STATES
    delta, u, _, _ = channels(row, K, room)
    for n in range(STATES):
        write, read, at = row[K + n], row[K + STATES + n], n * K
        a, skip, c, after, h = (
            rate[0, at : at + K], rate[1, at : at + K], old[at : at + K], new[at : at + K],
            shown[at : at + K],
        )  # fmt: skip
        for k in range(K):
            log_decay = -a[k] * delta[k]
            after[k] = exp(log_decay) * c[k] - expm1(log_decay) / a[k] * write * u[k]
        for k in range(K):
            h[k] = read * after[k] + skip[k] * u[k]


@jit
def selective_back(row, rate, before, now, come, d, to_row, to_rate, room):
    """∂L/∂C_t without what H_t says, `d`, becomes ∂L/∂C_{t-1}; `come` is ∂L/∂H_t."""
    K = len(d) // STATES
    delta, u, share, slope = channels(row, K, room)
    to_step, to_u, keep, written, by_step = (
        room[4 * K : 5 * K], room[5 * K : 6 * K], room[6 * K : 7 * K], room[7 * K : 8 * K],
        room[8 * K : 9 * K],
    )  # fmt: skip
    for k in range(K):
        to_step[k] = to_u[k] = f32(0)
    for n in range(STATES):
        write, read, at, end = row[K + n], row[K + STATES + n], n * K, n * K + K
        a, skip, to_a, to_skip = rate[0, at:end], rate[1, at:end], to_rate[0, at:end], to_rate[1, at:end]
        c, after, above, back = before[at:end], now[at:end], come[at:end], d[at:end]
        to_write = to_read = f32(0)
        for k in range(K):
            keep[k] = exp(-a[k] * delta[k])
            written[k] = -expm1(-a[k] * delta[k]) / a[k]
        for k in range(K):
            back[k] += above[k] * read
        for k in range(K):
            to_write += back[k] * written[k] * u[k]
            to_read += above[k] * after[k]
        for k in range(K):
            to_skip[k] += above[k] * u[k]
        for k in range(K):
            to_u[k] += above[k] * skip[k] + back[k] * written[k] * write
        for k in range(K):
            by_step[k] = back[k] * keep[k] * (write * u[k] - a[k] * c[k])
        for k in range(K):
            to_step[k] += by_step[k]
        for k in range(K):
            to_a[k] += (delta[k] * by_step[k] - back[k] * written[k] * write * u[k]) / a[k]
        for k in range(K):
            back[k] *= keep[k]
        to_row[K + n], to_row[K + STATES + n] = to_write, to_read
    for k in range(K):
        to_row[k] = to_step[k] * share[k]
        to_row[K + 2 * STATES + k] = to_u[k] * slope[k]


@jit
def forward(kind, p, P, x, ids, rate, first, states, shown):
    """What thread p of P does. x (N, G·H), ids (B, T) of its rows, `rate` (2, H), first (B, H), states (B,
    T, H) of H, or of an s6 C, whose H are `shown` (B, T, H).
    """
    B, T, H = states.shape
    room = np.empty(5 * H, np.float32)
    begins, ends = part(p, P, B)
    for b in range(begins, ends):
        old = first[b]
        for t in range(T):
            row, new = x[ids[b, t]], states[b, t]
            if kind == S6:
                selective_step(row, rate, old, new, shown[b, t], room)
            else:
                step(kind, row, rate[0], old, new, room)
            old = new


@jit
def backward(kind, p, P, x, ids, rate, first, states, come, d, to_rows, to_rate, to_x):
    """`come` (B, T, H) is ∂L/∂H; d (B, H) what comes from after the last step, and at the end what goes on
    before the first; to_rows (B, T, G·H); to_rate (P, 2, H), zero, each thread's part. Where `to_x`, zero,
    has the rows of x, what their uses get is added up there.
    """
    B, T, H = states.shape
    room = np.empty(7 * H, np.float32)
    begins, ends = part(p, P, B)
    for b in range(begins, ends):
        for t in range(T - 1, -1, -1):
            row, before = x[ids[b, t]], states[b, t - 1] if t else first[b]
            if kind == S6:
                selective_back(
                    row, rate, before, states[b, t], come[b, t], d[b], to_rows[b, t], to_rate[p], room
                )
            else:
                add(come[b, t], d[b])
                step_back(kind, row, rate[0], before, d[b], to_rows[b, t], to_rate[p, 0], room)
    if len(to_x):
        wait()
        lo, hi = begin(p, P, to_x.shape[1]), begin(p + 1, P, to_x.shape[1])
        for b in range(B):
            for t in range(T):
                add(to_rows[b, t, lo:hi], to_x[ids[b, t], lo:hi])


def team_forward(data):
    """`forward` as each thread of a team calls it; data: sizes, then its arrays."""
    s = numba.carray(data[0], (14,)).view(np.int64)
    kind, B, T, H, N, G, shown = s[0], s[1], s[2], s[3], s[4], s[5], s[6]
    forward(
        kind, thread(), threads(),
        numba.carray(data[1], (N, G)),
        numba.carray(data[2], (B, 2 * T)).view(np.int64),
        numba.carray(data[3], (2, H)),
        numba.carray(data[4], (B, H)),
        numba.carray(data[5], (B, T, H)),
        numba.carray(data[6], (B * shown, T, H)),
    )  # fmt: skip


def team_backward(data):
    """`backward` likewise."""
    s = numba.carray(data[0], (14,)).view(np.int64)
    kind, B, T, H, N, G, summed = s[0], s[1], s[2], s[3], s[4], s[5], s[6]
    backward(
        kind, thread(), threads(),
        numba.carray(data[1], (N, G)),
        numba.carray(data[2], (B, 2 * T)).view(np.int64),
        numba.carray(data[3], (2, H)),
        numba.carray(data[4], (B, H)),
        numba.carray(data[5], (B, T, H)),
        numba.carray(data[6], (B, T, H)),
        numba.carray(data[7], (B, H)),
        numba.carray(data[8], (B, T, G)),
        numba.carray(data[9], (threads(), 2, H)),
        numba.carray(data[10], (N * summed, G)),
    )  # fmt: skip
