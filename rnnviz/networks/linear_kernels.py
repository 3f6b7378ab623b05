"""A linear recurrence's layer, forward and back, as numba compiles it: what `compiled` calls. Formulas and
names are those of `linear`.

One pass over a text where `scan` makes some forty: gates, states and gradients are made while what they are
made of is in the processor's cache. A team of threads shares the rows of a batch. Without numba these are
functions of plain Python, which nobody calls.
"""

import numpy as np

from rnnviz.networks.kernels import exp, numba, sigmoid, thread, threads, wait
from rnnviz.networks.products import add, begin, f32, jit, part


@jit
def positive_of(a, to):
    """A loop over few arrays: see `kernels.sigmoid_`."""
    for j in range(len(to)):
        below = sigmoid(a[j] if a[j] < f32(0) else f32(0))
        to[j] = below if a[j] < f32(0) else a[j] + f32(0.5)


@jit
def weights_of(gate, keep, lets):
    """A and 1 - A, with all their digits."""
    one = f32(1)
    for j in range(len(keep)):
        e = exp(-gate[j])
        keep[j] = one / (one + e)
        lets[j] = e / (one + e)


@jit
def step(row, old, new, room):
    """One row of a batch at one time step: the state after."""
    H = len(new)
    keep, lets, candidate = room[:H], room[H : 2 * H], room[2 * H : 3 * H]
    weights_of(row[:H], keep, lets)
    positive_of(row[H:], candidate)
    for j in range(H):
        new[j] = keep[j] * old[j] + lets[j] * candidate[j]


@jit
def step_back(row, before, d, to_row, room):
    """∂L/∂H_t, `d`, becomes ∂L/∂H_{t-1}; `to_row` is what the row gets."""
    H, one = len(d), f32(1)
    keep, lets, candidate = room[:H], room[H : 2 * H], room[2 * H : 3 * H]
    to_gate, to_last = to_row[:H], to_row[H:]
    weights_of(row[:H], keep, lets)
    positive_of(row[H:], candidate)
    for j in range(H):
        to_gate[j] = d[j] * keep[j] * lets[j] * (before[j] - candidate[j])
    for j in range(H):
        slope = candidate[j] * (one - candidate[j])
        to_last[j] = d[j] * lets[j] * (slope if candidate[j] < f32(0.5) else one)
    for j in range(H):
        d[j] *= keep[j]


@jit
def forward(p, P, x, ids, first, states):
    """What thread p of P does. x (N, 2 H), ids (B, T) of its rows, first (B, H), states (B, T, H)."""
    B, T, H = states.shape
    room = np.empty(3 * H, np.float32)
    begins, ends = part(p, P, B)
    for b in range(begins, ends):
        old = first[b]
        for t in range(T):
            new = states[b, t]
            step(x[ids[b, t]], old, new, room)
            old = new


@jit
def backward(p, P, x, ids, first, states, come, d, to_rows, to_x):
    """`come` (B, T, H) is ∂L/∂H; d (B, H) what comes from after the last step, and at the end what goes on
    before the first; to_rows (B, T, 2 H). Where `to_x`, zero, has the rows of x, what their uses get is added
    up there.
    """
    B, T, H = states.shape
    room = np.empty(3 * H, np.float32)
    begins, ends = part(p, P, B)
    for b in range(begins, ends):
        for t in range(T - 1, -1, -1):
            before = states[b, t - 1] if t else first[b]
            add(come[b, t], d[b])
            step_back(x[ids[b, t]], before, d[b], to_rows[b, t], room)
    if len(to_x):
        wait()
        lo, hi = begin(p, P, to_x.shape[1]), begin(p + 1, P, to_x.shape[1])
        for b in range(B):
            for t in range(T):
                add(to_rows[b, t, lo:hi], to_x[ids[b, t], lo:hi])


def team_forward(data):
    """`forward` as each thread of a team calls it; data: sizes, then its arrays."""
    s = numba.carray(data[0], (12,)).view(np.int64)
    B, T, H, N, G = s[0], s[1], s[2], s[3], s[4]
    forward(
        thread(), threads(),
        numba.carray(data[1], (N, G)),
        numba.carray(data[2], (B, 2 * T)).view(np.int64),
        numba.carray(data[3], (B, H)),
        numba.carray(data[4], (B, T, H)),
    )  # fmt: skip


def team_backward(data):
    """`backward` likewise."""
    s = numba.carray(data[0], (12,)).view(np.int64)
    B, T, H, N, G, summed = s[0], s[1], s[2], s[3], s[4], s[5]
    backward(
        thread(), threads(),
        numba.carray(data[1], (N, G)),
        numba.carray(data[2], (B, 2 * T)).view(np.int64),
        numba.carray(data[3], (B, H)),
        numba.carray(data[4], (B, T, H)),
        numba.carray(data[5], (B, T, H)),
        numba.carray(data[6], (B, H)),
        numba.carray(data[7], (B, T, G)),
        numba.carray(data[8], (N * summed, G)),
    )  # fmt: skip
