"""Masks of torch's own random numbers, as numba draws them: the same numbers, several times as fast.

Torch draws one after the other from a Mersenne Twister (Matsumoto & Nishimura 1998). Of its 624 words each
depends on such alone as lie 227 places or more before it, so that compiled code makes several at a time.
Without numba these are functions of plain Python, which nobody calls.
"""

import numpy as np

from rnnviz.networks.products import jit, put, u32

WORDS, BACK = 624, 227


@jit
def twist(now, following, before, to):
    """New words: of old ones, those after them, and words 227 places before or 397 after."""
    for j in range(len(to)):
        y = u32(now[j] & u32(0x80000000)) | u32(following[j] & u32(0x7FFFFFFF))
        to[j] = before[j] ^ u32(y >> u32(1)) ^ u32(u32(0x9908B0DF) * u32(y & u32(1)))


@jit
def renew(words, old):
    """The next 624 words, in place; `old` is room for as many and one more."""
    put(words, old[:WORDS])
    ahead, last = WORDS - BACK, WORDS - 1
    twist(old[:BACK], old[1 : BACK + 1], old[ahead:WORDS], words[:BACK])
    for first in range(BACK, last, BACK):
        end = min(first + BACK, last)
        before = words[first - BACK : end - BACK]
        twist(old[first:end], old[first + 1 : end + 1], before, words[first:end])
    twist(old[last:WORDS], words[:1], words[last - BACK : last - BACK + 1], words[last:])


@jit
def temper(words, to):
    for j in range(len(to)):
        y = words[j]
        y ^= u32(y >> u32(11))
        y ^= u32(u32(y << u32(7)) & u32(0x9D2C5680))
        y ^= u32(u32(y << u32(15)) & u32(0xEFC60000))
        to[j] = y ^ u32(y >> u32(18))


@jit
def drawn(words, place, to):
    """Fill `to` with words drawn from `place` on; returns the place after."""
    old, at = np.empty(WORDS + 1, np.uint32), 0
    while at < len(to):
        if place == WORDS:
            renew(words, old)
            place = 0
        count = min(WORDS - place, len(to) - at)
        temper(words[place : place + count], to[at : at + count])
        at, place = at + count, place + count
    return place


def fill(words, place, lowest, scale, mask):
    """`mask` becomes `scale` where a 16-bit number isn't below `lowest`, else 0: four of each two words, the
    second word's first. Returns the place after.
    """
    raw = np.empty((len(mask) + 3) // 4 * 2, np.uint32)
    place = drawn(words, place, raw)
    for j in range(0, len(raw), 2):
        raw[j], raw[j + 1] = raw[j + 1], raw[j]
    numbers = raw.view(np.int16)
    for j in range(len(mask)):
        mask[j] = scale if numbers[j] >= lowest else np.float32(0)
    return place
