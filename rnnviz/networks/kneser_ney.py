"""N-gram counts and their interpolated modified Kneser–Ney probabilities.

S. F. Chen and J. Goodman, "An Empirical Study of Smoothing Techniques for Language Modeling", Computer Speech
& Language 13 (1999), 359–394, section 3. For a context h = (w_1 … w_{k-1}) that was seen in training,

    P_k(w | h) = (a(h w) - D_k(a(h w))) / C(h)  +  γ(h) P_{k-1}(w | h')      h' = (w_2 … w_{k-1})
    C(h) = Σ_w a(h w)          γ(h) = Σ_w D_k(a(h w)) / C(h)          P_0(w) = 1 / V

and P_k(w | h) = P_{k-1}(w | h') for an unseen one. a(·) is the n-gram's count if it has the model's order or
begins with the start symbol, else the number of different symbols seen before it.

The n-grams form a tree: a node of level k is an n-gram of k symbols, its parent the same without the last. A
level's nodes are numbered in lexicographic order, so that bisection in one sorted array finds a node by

    key = parent · (V + 1) + symbol

Level 1 is left out: its nodes are the V + 1 symbols.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Array, Arrays, Doubles, Integers, Mask
from rnnviz.errors import ConfigError

# The discounts of a text that is too small to estimate them from: half of the count.
FALLBACK = (0.5, 1.0, 1.5)

LARGE, LARGE_COUNTS = 0xFFFF, "counts.large"
"""The least count that is stored apart, and the tensor of such counts."""

_NO_KEY = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Counts:
    """The n-grams of a text and the counts of the highest order, from which the others follow.

    size         V; the integer V itself is the start symbol
    keys         keys[j], int64 and increasing, are the nodes of level j + 2
    leaf_counts  int64, of the last level's nodes: positive, except that an order-1 model counts all V + 1
                 symbols, seen or not, and the start symbol zero times
    initial      of texts that end, initial[j] are how often each node of level j + 2 stands that begins
                 with the start symbol, the last nodes of that level; all but the longest's. None: one text,
                 which begins once
    """

    size: int
    keys: tuple[Integers, ...]
    leaf_counts: Integers
    initial: tuple[Integers, ...] | None = None

    @property
    def order(self) -> int:
        """The length of the longest n-gram."""
        return len(self.keys) + 1


@dataclass(frozen=True)
class Level:
    """The n nodes of one level, and one more for "never seen", which has share 0 and backoff 1.

    keys     (n + 1,) int64, increasing; empty at level 1
    share    (n + 1,) the first summand of P_k; at level 1 all of P_1
    backoff  (n + 1,) γ of the node as a context, 1 where nothing followed it
    """

    keys: Integers
    share: Doubles
    backoff: Doubles

    def find(self, keys: Integers) -> Integers:
        """The nodes with these keys, same shape; the extra node for an unseen key."""
        places = np.searchsorted(self.keys, keys)
        return np.where(self.keys[places] == keys, places, len(self.keys) - 1)


def count(ids: npt.NDArray[np.integer[Any]], size: int, order: int, end: int | None = None) -> Counts:
    """Count the n-grams of `ids` (T,), integers below `size` = V, read after one start symbol; with `end`, of
    the texts that each end with it, read after a start symbol each.
    """
    sequence = np.concatenate([[size], ids]).astype(np.int64)
    if end is not None:
        sequence = np.insert(sequence, np.flatnonzero(sequence[:-1] == end) + 1, size)
    keys: list[Integers] = []
    initial: list[Integers] = []
    # The positions at which an n-gram begins, and its node: a symbol at first.
    begins, nodes = np.arange(len(sequence)), sequence
    for level in range(2, order + 1):
        # `return_inverse` numbers the n-gram at each position: the nodes from which the next level's keys are
        # made. None goes on from one text's end to the next one's start.
        last = begins + level - 1
        inside = last < len(sequence)
        inside[inside] = sequence[last[inside]] != size
        begins, nodes = begins[inside], nodes[inside]
        level_keys, nodes = np.unique(nodes * (size + 1) + sequence[begins + level - 1], return_inverse=True)
        keys.append(level_keys)
        counted = np.bincount(nodes, minlength=len(level_keys)).astype(np.int64)
        initial.append(counted[np.unique(nodes[sequence[begins] == size])])
    if order == 1:
        return Counts(size, (), np.append(np.bincount(ids, minlength=size), 0).astype(np.int64))
    return Counts(size, tuple(keys), counted, None if end is None else tuple(initial[:-1]))


def _suffixes(counts: Counts) -> Iterator[tuple[Integers, Mask]]:
    """By level from the second on: of each node, the node one level up of its n-gram without the first
    symbol; and whether that symbol is the start symbol. Raises ConfigError for a node without its suffix.
    """
    base = counts.size + 1
    upper_keys, suffixes, initial = np.arange(base), np.zeros(base, np.int64), np.arange(base) == counts.size
    for keys in counts.keys:
        parents, symbols = np.divmod(keys, base)
        suffix_keys = suffixes[parents] * base + symbols
        suffixes = np.minimum(np.searchsorted(upper_keys, suffix_keys), len(upper_keys) - 1)
        if np.any(upper_keys[suffixes] != suffix_keys):
            raise ConfigError("an n-gram is there without the shorter n-gram at its end")
        upper_keys, initial = keys, initial[parents]
        yield suffixes, initial


def shorten(counts: Counts, order: int) -> Counts:
    """The counts of the n-grams up to `order`; see `NgramModel.shortened`."""
    levels, leaf_counts = list(_suffixes(counts)), counts.leaf_counts
    for level in range(len(levels) - 1, order - 2, -1):
        # An n-gram stands wherever a longer one ends in it, and where a text begins with it.
        nodes = len(counts.keys[level - 1]) if level else counts.size + 1
        leaf_counts = np.bincount(levels[level][0], leaf_counts, minlength=nodes).astype(np.int64)
        if level:
            begun = 1 if counts.initial is None else counts.initial[level - 1]
            leaf_counts[levels[level - 1][1]] = begun
    initial_counts = counts.initial and counts.initial[: max(0, order - 2)]
    return Counts(counts.size, counts.keys[: order - 1], leaf_counts, initial_counts)


def discounts(counts: Integers) -> tuple[float, float, float]:
    """D_1, D_2 and D_3+ (for counts 1, 2, ≥ 3) of one order, from the counts a(·) of all its n-grams.

    D_j = j - (j + 1) Y t_{j+1} / t_j, equation 26 of the paper, with t_j the number of n-grams whose count is
    j and Y = t_1 / (t_1 + 2 t_2). Where a t_j is 0 or the estimate outside (0, j], D_j is FALLBACK's: above
    its count, probabilities would be negative; at 0, unseen symbols would get nothing.
    """
    t = [float(np.count_nonzero(counts == j)) for j in range(5)]
    result = list(FALLBACK)
    # Counts of the training text are too high on average: of the n-grams seen j times some were lucky. The
    # ratio t_{j+1} / t_j tells how many, as in Good-Turing estimation. It needs n-grams of both counts, which
    # small and repetitive texts lack.
    for j in (1, 2, 3):
        if all(t[1:3]) and t[j] and t[j + 1]:
            estimate = j - (j + 1) * t[1] / (t[1] + 2 * t[2]) * t[j + 1] / t[j]
            if 0 < estimate <= j:
                result[j - 1] = estimate
    return result[0], result[1], result[2]


def adjusted_counts(counts: Counts) -> list[Integers]:
    """a(·) of every node, one array a level, level 1 first.

    Raises ConfigError for a node without its suffix, or one of a lower order that nothing precedes.
    """
    result: list[Integers] = []
    upper = np.zeros(counts.size + 1, bool)  # the nodes one level up whose first symbol is the start symbol
    for level, (suffixes, initial) in enumerate(_suffixes(counts)):
        preceding = np.bincount(suffixes, minlength=len(upper)).astype(np.int64)
        if level:
            # Nothing precedes the start symbol: how often a text begins so.
            preceding[upper] = 1 if counts.initial is None else counts.initial[level - 1]
            if not preceding.all():
                raise ConfigError("an n-gram is there without the longer n-grams that end in it")
        result.append(preceding)
        if counts.initial is None and np.count_nonzero(initial) > 1:
            raise ConfigError("the text begins in more than one way")
        upper = initial
    return [*result, counts.leaf_counts]


def estimate(counts: Counts) -> list[Level]:
    """The levels of the interpolated model, level 1 first. Raises ConfigError as `adjusted_counts` does."""
    base = counts.size + 1
    adjusted = adjusted_counts(counts)
    all_keys = (np.empty(0, np.int64), *counts.keys)
    shares: list[Doubles] = []
    backoffs: list[Doubles] = []
    for level, a in enumerate(adjusted):
        # Level 1 has a single context, the empty one.
        parents = all_keys[level] // base if level else np.zeros(base, np.int64)
        contexts = len(adjusted[level - 1]) if level else 1
        # The discount of each n-gram, by its count: 0, 1, 2, and 3 or more.
        discount = np.array([0.0, *discounts(a)])[np.minimum(a, 3)]
        total = np.bincount(parents, a, minlength=contexts)
        # What the discounts take from a context's n-grams goes to the shorter context: no probability is
        # lost.
        kept_back = np.bincount(parents, discount, minlength=contexts)
        backoff = np.divide(kept_back, total, out=np.ones(contexts), where=total > 0)
        share = (a - discount) / total[parents]
        if level:
            backoffs.append(np.append(backoff, 1.0))
        else:
            share += backoff / counts.size  # the start symbol's is never read: it is not predicted
        # The extra node, for an n-gram that was never seen: nothing of its own, all from the shorter one.
        shares.append(np.append(share, 0.0))
    backoffs.append(np.ones_like(shares[-1]))
    return [
        Level(np.append(keys, _NO_KEY), share, backoff)
        for keys, share, backoff in zip(all_keys, shares, backoffs, strict=True)
    ]


def split_counts(counts: Integers) -> Arrays:
    """The tensors of the highest order's counts, each of the smallest unsigned integers.

    In a text of millions of characters only runs of spaces occur LARGE times; they would double the bytes of
    all other counts. They stand as LARGE, and their counts apart, in their order.
    """
    tensors: Arrays = {"counts": smallest(np.minimum(counts, LARGE))}
    if (large := counts[counts >= LARGE]).size:
        tensors[LARGE_COUNTS] = smallest(large)
    return tensors


def smallest(values: Integers) -> npt.NDArray[np.unsignedinteger[Any]]:
    """`values`, none below 0, in the smallest unsigned integers that hold them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def _unsigned(key: str, array: object) -> Integers:
    received: object = type(array).__name__
    if isinstance(array, np.ndarray):
        if array.ndim == 1 and array.dtype in (np.uint8, np.uint16, np.uint32):
            return array.astype(np.int64)
        received = f"{array.dtype} of shape {array.shape}"
    raise ConfigError(
        "the tensor {key!r} is a row of unsigned integers of 8 to 32 bits; received {received}",
        key=key,
        received=received,
    )


def counts_from(tensors: Mapping[str, Array], size: int, order: int, *, ends: bool = False) -> Counts:
    """The Counts in `NgramModel.to_tensors`. Raises ConfigError for tensors that don't fit together."""
    expected = {"counts", *(key for k in range(1, order) for key in (f"children.{k}", f"symbols.{k + 1}"))}
    if ends:
        expected |= {f"initial.{k}" for k in range(2, order)}
    if set(tensors) - {LARGE_COUNTS} != expected:
        raise ConfigError(
            "an order-{order} n-gram model is stored as {expected}; received {received}",
            order=order,
            expected=", ".join(sorted(expected)),
            received=", ".join(sorted(map(str, tensors)))[:200] or "-",
        )
    arrays = {key: _unsigned(key, tensor) for key, tensor in tensors.items()}
    keys: list[Integers] = []
    nodes = size + 1
    for level in range(2, order + 1):
        # A stranger's file: every number is checked before it is used as an index. Counts of children that
        # don't add up, a symbol beyond V, or keys out of order would give wrong probabilities, or reads
        # beyond an array.
        children, symbols = arrays[f"children.{level - 1}"], arrays[f"symbols.{level}"]
        if len(children) != nodes or int(children.sum()) != len(symbols):
            raise ConfigError("symbols.{level} and the children before it do not fit together", level=level)
        if symbols.max(initial=0) >= size:
            raise ConfigError("symbols.{level} goes beyond a vocabulary of {size:,}", level=level, size=size)
        keys.append(np.repeat(np.arange(nodes), children) * (size + 1) + symbols)
        if np.any(keys[-1][1:] <= keys[-1][:-1]):
            raise ConfigError("symbols.{level} is not in order", level=level)
        nodes = len(symbols)
    leaf_counts = arrays["counts"]
    large = np.flatnonzero(leaf_counts == LARGE)
    # Files up to version 2.0.0 have no large counts apart.
    count = len(leaf_counts) - len(large) + len(arrays.setdefault(LARGE_COUNTS, leaf_counts[large]))
    if {len(leaf_counts), count} != {nodes}:
        raise ConfigError(
            "{nodes:,} n-grams need as many counts; there are {count:,}", nodes=nodes, count=count
        )
    leaf_counts[large] = arrays[LARGE_COUNTS]
    if order == 1 and (leaf_counts[size] or not leaf_counts.any()):
        raise ConfigError("the start symbol has a count, or nothing has")
    if order > 1 and not (len(keys[0]) and leaf_counts.all()):
        raise ConfigError("an n-gram has the count 0, or there is none")
    if not ends:
        return Counts(size, tuple(keys), leaf_counts)
    counts = Counts(size, tuple(keys), leaf_counts, tuple(arrays[f"initial.{k}"] for k in range(2, order)))
    for level, (begun, (_, initial)) in enumerate(
        zip(counts.initial or (), _suffixes(counts), strict=False), 2
    ):
        if not begun.all() or len(begun) != np.count_nonzero(initial):
            raise ConfigError("initial.{level} is not of the n-grams that begin a text", level=level)
    return counts
