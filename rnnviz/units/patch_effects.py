"""Patches beside their controls; see `rnnviz.units.patching`.

Putting any other state in moves predictions. So a patch stands beside random moves of the same length, and
beside the same patch from places of another text.

Shape letters: L layers, H units, n random moves, m places of another text.
"""

from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Doubles, Floats
from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.networks.numpy_engine import Change
from rnnviz.networks.numpy_model import Network
from rnnviz.pictured import Brief
from rnnviz.reading.trace import Trace
from rnnviz.units.patching import Patched, by_quantity, follow, read, states_at
from rnnviz.units.perturbation import kl


@dataclass(frozen=True, eq=False, repr=False)
class PatchControls(Brief):
    """What a patch does beside what others of the same size, and from elsewhere, do.

    ahead      predictions that are compared, fewer where the target ends
    kl         nats a prediction, the mean of KL_t over them, with the patch
    random_each     (n, ahead) KL_t after moves of the same length in random directions of the same layers
    elsewhere_each  (m, ahead) the same with the patch taken from random places of another text; or (0, ahead)
    left       KL from the source's own prediction to the one with the patch, nats: 0, it is the source's
    apart      the same to the target's without the patch: what was to be bridged
    random_left, elsewhere_left  (n,), (m,) `left` of the controls
    """

    ahead: int
    kl: float
    random_each: Doubles
    elsewhere_each: Doubles
    left: float
    apart: float
    random_left: Doubles
    elsewhere_left: Doubles

    @property
    def random(self) -> Doubles:
        """(n,) nats, as `kl`, after random moves."""
        return np.asarray(self.random_each.mean(axis=1))

    @property
    def elsewhere(self) -> Doubles:
        """(m,) nats, as `kl`, of the patches from elsewhere."""
        return np.asarray(self.elsewhere_each.mean(axis=1))


def patch_controls(
    model: Network,
    patched: Patched,
    unrelated: str | Trace | None = None,
    *,
    n: int = 40,
    ahead: int = 20,
    seed: int = 0,
) -> PatchControls:
    """The controls of a patch: `n` random moves of the same length, and the same patch from `n` places of an
    `unrelated` text, all read side by side over `ahead` predictions. Raises ConfigError for n or ahead below
    1 and a seed below 0, EmptyTextError for an unrelated text without characters.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> model = rnnviz.load("timemachine-gru")
    >>> done = units.patch(model, '"I am afraid', 12, "He was afraid, he said", 13, units=[3, 4])
    >>> units.patch_controls(model, done, n=5).random.shape
    (5,)
    """
    if n < 1 or ahead < 1 or seed < 0:
        raise ConfigError(
            "n and ahead are at least 1, seed at least 0; received {n}, {ahead} and {seed}",
            n=n,
            ahead=ahead,
            seed=seed,
        )
    generator = np.random.default_rng(seed)
    target, to = patched.target, patched.to
    own = by_quantity(target.state_after(to))
    moves = {
        (layer, quantity): _random_move(own[quantity][layer], length, n, to, generator)
        for (layer, quantity), length in patched.lengths.items()
    }
    ahead = min(ahead, len(target) + 1 - to)
    random, first = follow(target, to, moves, n, ahead)
    goal = patched.source.log_probs_at(patched.at, patched.at + 1)
    divergence, after = patched.divergence, patched.after.log_probs_at(to, to + 1)
    elsewhere, elsewhere_left = np.zeros((0, ahead)), np.zeros(0)
    if unrelated is not None:
        other = read(model, unrelated)
        if not len(other):
            raise EmptyTextError("an unrelated text has at least one character; received none")
        places = generator.integers(1, len(other) + 1, n)
        elsewhere, theirs = follow(target, to, patched.part.changes(states_at(other, places), to), n, ahead)
        elsewhere_left = kl(goal, theirs)
    return PatchControls(
        ahead=ahead,
        kl=float(divergence[to : to + ahead].mean()),
        random_each=random,
        elsewhere_each=elsewhere,
        left=float(kl(goal, after)[0]),
        apart=float(kl(goal, target.log_probs_at(to, to + 1))[0]),
        random_left=kl(goal, first),
        elsewhere_left=elsewhere_left,
    )


def _random_move(own: Floats, length: float, n: int, to: int, generator: np.random.Generator) -> Change:
    """After input number `to`, n states are `own` (H,), each moved by `length` in another direction."""
    moves = generator.normal(size=(n, len(own)))
    moves *= length / np.linalg.norm(moves, axis=1, keepdims=True)

    def change(t: int, states: Floats) -> None:
        if t == to:
            states[:] = own + moves

    return change
