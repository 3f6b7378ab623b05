"""How much worse a network predicts without one of its units, for every unit.

Copies of the network, each without another unit, read the text as a batch: sixty-four cost little more than
one.

    loss = mean over the text of  -log P(x_t | x_<t) without the unit  -  the same with it (nats a character)

Silencing a unit leads to states that no text leads to, so a loss is an upper limit of what the unit is for.
Holding it at its own mean is the milder question.

A ranking by loss says something of the network only if another text gives about the same one. Most units are
missed about as much as the next, so that takes text. The losses of units in one half and the other have these
rank correlations, with units held at their means; see `Ablation.replication`.

    characters           4,000   8,000   16,000   32,000   64,000
    timemachine-gru                         0.2      0.4      0.7
    chinese-gru            0.2     0.2      0.4      0.5
    python-gru             0.3     0.1      0.2      0.3      0.4
    shakespeare-lstm       0.2     0.1

Shape letters: n characters, U units, H units of a layer, B texts side by side, m passages, R directions.
"""

from collections.abc import Generator, Sequence
from typing import Literal

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids, Integers
from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.networks.numpy_engine import LOGITS, Change, NetworkReader, Weights
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.progress import Clock, Share
from rnnviz.reading import scoring
from rnnviz.text.characters import normalise
from rnnviz.units import directions
from rnnviz.units.ablated import Ablation, Tally
from rnnviz.units.targets import Target
from rnnviz.units.unit import Unit, check_layer, check_units, may_be_one, refuse_pair, within_layer

FIRST = 4_000
"""Characters after which it is first asked whether a ranking replicates; then after twice as many each."""


def ablate(
    model: Network,
    text: str,
    *,
    layer: int | None = None,
    units: Sequence[int] | Sequence[Unit] | None = None,
    to: Literal["zero", "mean"] | float = "zero",
    batch: int = 64,
    until: float | None = None,
    target: Target | None = None,
    controls: int = 0,
) -> Generator[Share, None, Ablation]:
    """Read `text` once without each of `units` (all of `layer` where None); returns the Ablation.

    Units carry their layer; else `layer` is 0 unless it is given.
    The missing unit's hidden state is `to`, from the start symbol on: 0, its mean over the text, or a number.
    `until`   stop reading once the ranking replicates so well, a rank correlation: asked after 4,000
              characters, 8,000, and so on; None: read all
    `target`  (n,) of the normalised text, no graded one: also the losses inside it and outside
    `controls`  so many random directions are held like the units, beside them: `Ablation.random`

    Yields about ten times a second; 2,000 characters without each of 256 units of a GRU take some seconds.
    Raises ConfigError for a layer or units that don't exist or another target, EmptyTextError for no text.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> units.run(units.ablate(rnnviz.load("timemachine-gru"), "The machine", units=[3, 17])).loss.shape
    (2,)
    """
    weights = weights_of(model)
    layer, which = _chosen(weights, layer, units)
    text = normalise(text, model.normaliser)
    _check(to, batch)
    check_text(text, target)
    ids = model.vocabulary.encode(text)
    inputs = np.concatenate(([model.vocabulary.start], ids[:-1]))

    clock, total = Clock(), (len(which) + controls + 1) * len(ids)
    added, parts = np.zeros(weights.layers[layer].units), []
    for start, top, own in stretches(NetworkReader(weights, texts=1), inputs, layer):
        parts.append(costs(weights, top, ids[start : start + len(top)])[:, 0])
        added += own.sum(axis=0, dtype=np.float64)
        if clock.due():
            yield Share((start + len(top)) / total)
    whole = np.concatenate(parts)  # (n,) nats of the whole network
    random = np.array([directions.random(len(added), seed).vector for seed in range(controls)])
    mean = added / len(ids)
    groups = _groups(weights, layer, which, mean[which] if to == "mean" else to, batch, 0)
    groups += _groups(
        weights, layer, random, random @ mean if controls and to == "mean" else to, batch, len(which)
    )

    tally = Tally(len(which) + controls, len(ids), target)
    done, begin, found, name = len(ids), 0, None, None if target is None else target.name
    for end in _rounds(len(ids), until):
        for columns, without in groups:
            for start, top, _ in stretches(without, inputs[begin:end], layer):
                here = slice(begin + start, begin + start + len(top))
                tally.add(here, columns, costs(weights, top, ids[here]) - whole[here, None])
                done += top.shape[0] * top.shape[1]
                if clock.due():
                    yield Share(done / total)
        nats = float(scoring.costs(-whole[:end], ids[:end], model.vocabulary).sum())
        sums, counts = tally.until(end)
        asked, rest = sums[..., : len(which)], sums[..., len(which) :]
        beside = Ablation(layer, np.arange(controls), nats, rest, counts, name) if controls else None
        found = Ablation(layer, which, nats, asked, counts, name, beside, units is None)
        begin = end
        if until is not None and found.replication >= until:
            break
    assert found is not None
    yield Share(1.0)
    return found


def _check(to: object, batch: int) -> None:
    if batch < 1:
        raise ConfigError("a batch has at least 1 unit; received {batch}", batch=batch)
    if isinstance(to, str) and to not in ("zero", "mean"):
        raise ConfigError("a missing unit is 'zero', its 'mean', or a number; received {to!r}", to=to)


def check_text(text: str, target: Target | None) -> None:
    """Raise EmptyTextError for no text, ConfigError for a target that isn't its mask."""
    if not text:
        raise EmptyTextError("a text of no characters has no perplexity; choose another text")
    if target is None:
        return
    if target.graded or len(target) != len(text):
        raise ConfigError(
            "a target that holds or doesn't at each of the {count:,} characters is asked for; received "
            "{name} of {characters:,}",
            count=len(text),
            name=target.name,
            characters=len(target),
        )


def _rounds(n: int, until: float | None) -> list[int]:
    """The characters after which it is asked whether to go on, the last n."""
    if until is None:
        return [n]
    passage = Tally.passage_of(n)
    ends = [FIRST << k for k in range(n.bit_length()) if FIRST << k < n]
    return [*(end // passage * passage for end in ends), n]


def _groups(
    weights: Weights, layer: int, what: Ids | Doubles, to: Doubles | str | float, batch: int, first: int
) -> list[tuple[slice, NetworkReader]]:
    """Copies of the network that each lack one of `what`: units (K,), or directions of length 1 (K, H). They
    are held at `to`, one value for all or (K,); and their columns from the `first` on.
    """
    held = np.broadcast_to(np.asarray(0.0 if isinstance(to, str) else to, np.float32), len(what))
    groups = []
    for begin in range(0, len(what), batch):
        here = slice(begin, begin + batch)
        count, changes = len(what[here]), {(layer, "hidden"): _held(what[here], held[here])}
        columns = slice(first + begin, first + begin + count)
        groups.append((columns, NetworkReader(weights, texts=count, changes=changes)))
    return groups


def _held(what: Ids | Doubles, values: Floats) -> Change:
    """One unit of each text (B,), or direction (B, H), held at `values` (B,). An axis is a direction too, but
    to set one number takes less than products with all.
    """

    def change(t: int, h: Floats) -> None:
        if what.ndim == 1:
            h[np.arange(len(h)), what] = values
            return
        own = np.einsum("bh,bh->b", h, what)[:, None]
        h[:] = (h - own * what) + values[:, None] * what

    return change


def _chosen(
    weights: Weights, layer: int | None, units: Sequence[int] | Sequence[Unit] | None
) -> tuple[int, Integers]:
    """The layer, and which of its units."""
    if directions.within(units):
        raise ConfigError(
            "units are ablated one by one; a direction is with rnnviz.units.effect(model, text, "
            "Intervention(direction, 'zero'))"
        )
    numbers, said = (None, layer) if units is None else within_layer(units, layer)
    if said is None and numbers is not None and may_be_one(numbers):
        refuse_pair(numbers, len(weights.layers))
    which = 0 if said is None else said
    check_layer(which, len(weights.layers))
    H = weights.layers[which].units
    return which, np.arange(H) if numbers is None else check_units(numbers, H)


def stretches(
    reader: NetworkReader, inputs: Ids, layer: int, texts: int = 0
) -> Generator[tuple[int, Floats, Floats], None, None]:
    """Stretches of time steps: the first, the top layer's H (n, B, H), and H (n, H) of `layer` in text 0.
    They are as long as for `texts` of them.
    """
    B = reader.hidden.shape[2]
    step = int(np.clip(LOGITS // (max(B, texts) * len(reader.weights.bias)), 1, 64))
    for begin in range(0, len(inputs), step):
        hidden, _ = reader.states(inputs[begin : begin + step])
        yield begin, hidden[1:, -1], hidden[1:, layer, 0]


def costs(weights: Weights, top: Floats, ids: Ids) -> Doubles:
    """-log P (n, B) in nats of the symbols `ids` (n,), given the states (n, B, H) before them."""
    n, B, H = top.shape
    logits, log_sum = weights.predict(top.reshape(n * B, H))
    came = logits.reshape(n, B, -1)[np.arange(n), :, ids]
    return np.asarray(log_sum.reshape(n, B) - came)
