"""Patches beside their controls; see `rnnviz.units.patching`.

Putting any other state in moves predictions. So a patch stands beside random moves of the same length, and
beside the same patch from places of another text.

Shape letters: L layers, H units, n random moves, m places of another text.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Doubles, Floats
from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.findings import Json, Lines, Number, Pair, Panel, Picture, Said, Table, count, say, words
from rnnviz.networks.numpy_engine import Change
from rnnviz.networks.numpy_model import Network
from rnnviz.pictured import Brief, Pictured
from rnnviz.reading.trace import Trace
from rnnviz.text.characters import visible
from rnnviz.units.patching import Patched, follow, read, states_at
from rnnviz.units.perturbation import kl


@dataclass(frozen=True, eq=False, repr=False)
class PatchControls(Brief, Pictured):
    """What a patch does beside what others of the same size, and from elsewhere, do.

    patched    the patch itself
    ahead      predictions that are compared, fewer where the target ends
    kl         nats a prediction, the mean of KL_t over them, with the patch
    random_each     (n, ahead) KL_t after moves of the same length in random directions of the same layers
    elsewhere_each  (m, ahead) the same with the patch taken from random places of another text; or (0, ahead)
    left       KL from the source's own prediction to the one with the patch, nats: 0, it is the source's
    apart      the same to the target's without the patch: what was to be bridged
    random_left, elsewhere_left  (n,), (m,) `left` of the controls
    """

    patched: Patched
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

    def facts(self) -> Json:
        """The patch, what the target's predictions are from there on without and with it, and the controls.
        KL and loss in nats.
        """
        done = self.patched
        along, index = done.part.direction, done.part.index
        return {
            "at": done.at,
            "to": done.to,
            "layers": list(done.part.layers),
            "quantities": list(done.part.quantities),
            "units": None if index is None else index.tolist(),
            "direction": along and {"name": along.name, "origin": along.origin},
            "moved": done.moved,
            "loss": done.remainder,
            "predictions": [_prediction(done, t) for t in range(done.to, len(done.target) + 1)],
            "controls": {
                "ahead": self.ahead,
                "kl": self.kl,
                "random": self.random.tolist(),
                "elsewhere": self.elsewhere.tolist(),
                "left": self.left,
                "apart": self.apart,
                "random_left": self.random_left.tolist(),
                "elsewhere_left": self.elsewhere_left.tolist(),
            },
        }

    def table(self) -> Table:
        """A row a prediction of the target from the patch on."""
        heads = ("after", "letter", "kl-nats", "loss-nats", "expected", "patched")
        rows = [
            (
                count(one["after"]),
                visible(one["character"] or ""),
                Number(one["kl"]),
                None if one["loss"] is None else Number(one["loss"], "signed"),
                _expected(*one["expected"]),
                _expected(*one["expected_patched"]),
            )
            for one in self.facts()["predictions"]
        ]
        return Table([words(f"head.{name}") for name in heads], rows)

    def sentences(self) -> list[Said]:
        """How far predictions move beside the controls, and what that allows to say."""
        along = self.patched.part.direction
        random, low, high = (
            float(np.quantile(found, share)) if len(found) else None
            for found, share in ((self.random, 0.95), (self.elsewhere, 0.05), (self.elsewhere, 0.95))
        )
        return say(
            self._codes(random or 0.0, high),
            direction=along and along.name,
            origin=along and along.origin,
            next=_nats(self.patched.divergence[self.patched.to]),
            kl=_nats(self.kl),
            ahead=self.ahead,
            random=_nats(random),
            low=_nats(low),
            high=_nats(high),
        )

    def _codes(self, random: float, elsewhere: float | None) -> Iterator[str]:
        """Given what most controls give at most, nats."""
        if self.patched.part.direction is not None:
            yield "patch.along"
        if self.patched.moved == 0:
            yield from ("patch.same", "patch.same-click")
            return
        yield from ("patch.moves", "patch.random")
        if elsewhere is not None:
            yield from ("patch.elsewhere", "patch.elsewhere-here")
        if self.kl <= random:
            yield "patch.no-more-than-random"
        elif elsewhere is not None and self.kl <= elsewhere:
            yield "patch.no-more-than-elsewhere"

    def panels(self) -> list[Panel]:
        """The next prediction without and with the patch, and how far those after it move."""
        done = self.patched
        next_row = done.to, done.to + 1
        before, after = (
            np.exp(one.log_probs_at(*next_row)[0].astype(np.float64)) for one in (done.target, done.after)
        )
        order = np.argsort(-np.maximum(before, after), kind="stable")[:10]
        symbols = [visible(done.target.vocabulary.symbol(int(i))) for i in order]
        curves: list[tuple[object, Doubles]] = [
            (words("patch.itself"), done.divergence[done.to : done.to + self.ahead]),
            (words("patch.level-random"), np.quantile(self.random_each, 0.95, axis=0)),
        ]
        if len(self.elsewhere_each):
            curves.append((words("patch.level-elsewhere"), np.median(self.elsewhere_each, axis=0)))
        pictures: dict[str, Picture] = {
            "next": Pair(
                symbols,
                before[order],
                after[order],
                (words("patch.without"), words("patch.with")),
                words("axis.probability"),
            ),
            "lines": Lines(curves, words("patch.lines-axis"), words("patch.kl-axis"), first=done.to),
        }
        return [
            Panel(
                name,
                words(f"patch.{name}-title"),
                picture,
                [words(f"patch.{name}-notice")],
                words(f"patch.{name}-limits"),
            )
            for name, picture in pictures.items()
        ]


def _prediction(done: Patched, t: int) -> Json:
    """What is expected after `t` characters, and what came."""
    came = t < len(done.target)
    return {
        "after": t,
        "character": done.target.text[t] if came else None,
        "kl": float(done.divergence[t]),
        "loss": float(done.loss[t]) if came else None,
        "expected": list(done.target.top(t, 1)[0]),
        "expected_patched": list(done.after.top(t, 1)[0]),
    }


def _expected(character: str, probability: float) -> Said:
    return words("expected", character=visible(character), percent=Number(100 * probability, digits=1))


def _nats(value: float | None) -> Number:
    return Number(value, "significant")


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
    own = states_at(target, [to])
    moves = {
        (layer, quantity): _random_move(own[quantity][0, layer], length, n, to, generator)
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
        patched,
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
