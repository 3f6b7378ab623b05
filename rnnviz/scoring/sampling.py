"""Sampling: each next character of a text is drawn from the model's prediction.

    P(x) ∝ exp(log P(x | everything before) / temperature)

over the `top_k` most probable symbols (Fan et al. 2018), and of those over the fewest that hold `top_p` of
the probability left (the nucleus of Holtzman et al. 2020). `<unk>` is no character and never drawn; the other
probabilities are renormalised without it. `sampling_distribution` is this one definition, and every sample is
drawn from it.

Shape letters: n symbols, V symbols of the vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from rnnviz import checks
from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.checks import checked
from rnnviz.errors import CheckpointError, ConfigError
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_engine import NO_CHANGES, Changes, NetworkReader, StateChange, combined
from rnnviz.networks.numpy_model import Model, no_model, weights_of
from rnnviz.text.characters import normalise
from rnnviz.text.vocabulary import END, UNKNOWN_ID, Vocabulary

if TYPE_CHECKING:
    from rnnviz.scoring.trace import Trace

PROMPT_PIECE_CHARS = 1024
"""Characters whose states are computed at a time."""

TREE_STEPS = 6
"""Steps of a tree of continuations: 16 predictions, which the page's engine makes within a keystroke."""
TREE_PATHS = 3
"""Paths of a tree that go on at each step."""
FEWEST_BRANCHES, MOST_BRANCHES = 2, 4
"""Characters at each step: the likeliest path may show more than the others, which keeps a column short."""
LEAST_PROBABILITY = 0.01
"""Beyond the fewest, no character less likely than this is shown, and no path goes on from one that sampling
draws less often: where a network is sure, they are noise.
"""


class Reader(Protocol):
    """A model's state after the text that it has read."""

    def read(self, ids: Ids) -> object:
        """Read the next symbols `ids` (n,)."""

    def log_probs(self) -> Doubles:
        """log P (V,) of the next symbol in nats, a new array; not finite where a model is damaged."""
        ...


def make_reader(model: Model, text: str = "", changes: Changes = NO_CHANGES) -> Reader:
    """A reader of `model` after `text`, under a network's `changes`. Raises TextError for half a surrogate
    pair."""
    if not hasattr(model, "vocabulary"):
        raise no_model(model)
    ids = model.vocabulary.encode(normalise(text, model.normaliser))
    reader: Reader
    if isinstance(model, NgramModel):
        reader = model.scorer()
    else:
        reader = NetworkReader(weights_of(model), changes=changes)
        ids = np.concatenate(([model.vocabulary.start], ids))
    for begin in range(0, len(ids), PROMPT_PIECE_CHARS):
        reader.read(ids[begin : begin + PROMPT_PIECE_CHARS])
    return reader


@dataclass(frozen=True)
class SamplingSettings:
    """The settings of sampling: see `sample`. Raises ConfigError for values outside their range."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def __post_init__(self) -> None:
        temperature, top_k, top_p = self.temperature, self.top_k, self.top_p
        if not 0 <= temperature < math.inf:
            raise ConfigError(
                "temperature is a number from 0 on; received {temperature!r}", temperature=temperature
            )
        if top_k is not None and top_k < 1:
            raise ConfigError(
                "top_k is at least 1, or None for all characters; received {top_k!r}", top_k=top_k
            )
        if top_p is not None and not 0 < top_p <= 1:
            raise ConfigError(
                "top_p is above 0 and at most 1, or None for all characters; received {top_p!r}", top_p=top_p
            )


PLAIN = SamplingSettings()
"""The model's own distribution."""


@checked
def sample(
    model: Model,
    prompt: str,
    length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    change: StateChange | Sequence[StateChange] | None = None,
) -> str:
    """`length` characters that `model` writes after `prompt`, as a text without the prompt; fewer where the
    model ends the text.

    prompt       read first; with an empty prompt, a text begins
    temperature  1 draws from the model's own distribution, less sharpens it, 0 takes the most
                 probable character
    top_k        draw from this number of most probable characters; None: from all
    top_p        draw from the fewest of those that hold this share of the probability; None: from all
    seed         the same seed gives the same characters; None: random ones
    change       changes a network's states, those of the prompt too: `rnnviz.units.Clamp(17, 1.0)`, say

    Raises ConfigError for a negative length, temperature or seed, top_k < 1 or a top_p outside 0 .. 1,
    TextError for half a surrogate pair in the prompt, CheckpointError if the model gives no probabilities.

    >>> import rnnviz
    >>> model = rnnviz.load("timemachine-gru")
    >>> rnnviz.sample(model, "The Time Trav", 5, temperature=0)
    'eller'
    """
    return "".join(
        stream(
            model,
            prompt,
            length,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            seed=seed,
            change=change,
        )
    )


@checked
def stream(
    model: Model,
    prompt: str,
    length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    change: StateChange | Sequence[StateChange] | None = None,
) -> Iterator[str]:
    """`sample`, a character at a time. Wrong arguments raise at the call, before the prompt is read."""
    settings = SamplingSettings(temperature, top_k, top_p)
    check_length(length)
    changes = NO_CHANGES if change is None else combined(weights_of(model), change)  # type: ignore[arg-type]
    # Not a generator function itself, so wrong arguments raise now and not at the first character.
    return draw_characters(
        make_reader(model, prompt, changes), model.name, model.vocabulary, length, settings, seed
    )


def sample_texts(model: Model, prompt: str, length: int, *, temperature: float, seed: int) -> str:
    """A sample; of a model that knows where texts end, texts one after another, each from its start, as what
    follows a whole text is its end alone. All are cut to the same length.
    """
    if not model.vocabulary.ends:
        return sample(model, prompt, length, temperature=temperature, seed=seed)
    text, end = "", "\n" if model.vocabulary.by_line else END
    while len(text) < length:
        text += sample(model, "", length, temperature=temperature, seed=seed) + end
        seed += 1
    return text[:length]


def resume(
    read: Trace,
    t: int,
    length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    changes: Changes = NO_CHANGES,
) -> str:
    """`length` characters that follow the first `t` characters of a Trace, which are not read again; fewer
    where the text ends.

    The same seed gives the same characters as `sample` there, unless `changes` change the network's states.
    Raises ConfigError for a t outside 0 .. T, and raises as `stream` does.
    """
    settings = SamplingSettings(temperature, top_k, top_p)
    check_length(length)
    # The start symbol is input 0, so t characters later the next input is number t + 1.
    after = NetworkReader(read.weights, read.state_after(t), time=t + 1, changes=changes)
    return "".join(draw_characters(after, read.model_name, read.vocabulary, length, settings, seed))


class Branch(NamedTuple):
    """A character of a tree of continuations.

    parent  the number of the branch that it follows, counted from 1; 0: it is a first character
    symbol  its integer
    p       its probability after what stands before it, by the network
    share   the probability that sampling draws it there, 0 if the settings leave it out
    """

    parent: int
    symbol: int
    p: float
    share: float


def branches(read: Trace, t: int, past: int, settings: SamplingSettings) -> list[Branch]:
    """The tree of continuations of a text's first `t - past` characters, of TREE_STEPS steps, step by step.

    The first `past` steps follow the text and show its character too, however unlikely. At each later step
    the TREE_PATHS paths go on that sampling by `settings` is likeliest to take, and none beyond a text's
    end. A place without probabilities, as after a relu network's states have exploded, has no branches.
    Raises ConfigError for a t - past outside 0 .. T.
    """
    tree: list[Branch] = []
    # The paths that go on, in the tree's order, so that no two lines cross: the number of each one's last
    # branch, how likely sampling takes it, and the state before that branch is read.
    paths = [(0, 1.0, read.state_after(t - past))]
    for step in range(TREE_STEPS):
        actual = int(read.ids[t - past + step]) if step < past else None
        likeliest_path = max(range(len(paths)), key=[reach for _, reach, _ in paths].__getitem__, default=0)
        reached: list[tuple[int, float, tuple[Floats, Floats | None]]] = []
        for n, (number, reach, state) in enumerate(paths):
            reader = NetworkReader(read.weights, state)
            if number:
                reader.read(np.array([tree[number - 1].symbol]))
            log_probs = reader.log_probs()
            if not np.isfinite(log_probs).all():
                continue
            p, shares = np.exp(log_probs), sampling_distribution(log_probs, **asdict(settings))
            likeliest = 1 + np.argsort(-log_probs[1:], kind="stable")  # without <unk>, which is never drawn
            limit = MOST_BRANCHES if n == likeliest_path else FEWEST_BRANCHES
            symbols = [
                int(s)
                for k, s in enumerate(likeliest[:limit])
                if k < FEWEST_BRANCHES or p[s] >= LEAST_PROBABILITY
            ]
            if actual is not None and actual not in symbols:
                symbols.append(actual)
            after = reader.hidden[0], None if reader.cell is None else reader.cell[0]
            for symbol in symbols:
                tree.append(Branch(number, symbol, float(p[symbol]), float(shares[symbol])))
                reached.append((len(tree), reach * tree[-1].share, after))
        if actual is not None:  # what stands there goes on, though it may never be drawn
            paths = [(n, 1.0, state) for n, _, state in reached if tree[n - 1].symbol == actual]
        else:
            # Where a text most likely ends, what else could come says little.
            going_on = [
                path
                for path in reached
                if tree[path[0] - 1].symbol != read.vocabulary.end
                and tree[path[0] - 1].share >= LEAST_PROBABILITY
            ]
            likely = sorted(going_on, key=lambda path: -path[1])[:TREE_PATHS]
            paths = sorted(likely, key=lambda path: path[0])
    return tree


@checked
def sampling_distribution(
    log_probs: npt.ArrayLike,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Doubles:
    """The probabilities with which `sample` draws the next character, from predictions in nats.

    log_probs  (..., V): log P of each symbol, as in `Trace.log_probs`; symbol 0 is `<unk>`
    returns    (..., V): 0 for `<unk>` and for symbols that top_k and top_p leave out; each row sums to 1

    The temperature comes first, then `top_k`, then `top_p` of the probability left; ties go to the lower id.
    Temperature 0 leaves the most probable character alone. Raises ConfigError for settings outside their
    range.

    >>> import numpy as np
    >>> import rnnviz
    >>> log_probs = np.log([0.1, 0.4, 0.3, 0.2])
    >>> rnnviz.sampling_distribution(log_probs).round(3)
    array([0.   , 0.444, 0.333, 0.222])
    >>> rnnviz.sampling_distribution(log_probs, temperature=0.5).round(3)
    array([0.   , 0.552, 0.31 , 0.138])
    >>> rnnviz.sampling_distribution(log_probs, temperature=0.5, top_p=0.8).round(3)
    array([0.  , 0.64, 0.36, 0.  ])
    """
    try:
        rows = np.array(log_probs, np.float64)
    except (TypeError, ValueError):
        rows = np.empty(0)
    if rows.ndim == 0 or rows.shape[-1] < 2:
        raise ConfigError(
            "log_probs are numbers, log P of each symbol of a vocabulary; received {received}",
            received=checks.received(log_probs),
        )
    # A copy was made above: the caller's array stays as it is.
    rows[..., UNKNOWN_ID] = -np.inf
    if not np.isfinite(rows.max(-1)).all():  # NaN, or no symbol with a probability
        raise ConfigError("log_probs are numbers below 0; received a row with NaN, or of -inf alone")
    symbols, weights = _weights(rows, SamplingSettings(temperature, top_k, top_p))
    distribution = np.zeros_like(rows)
    np.put_along_axis(distribution, symbols, weights / weights.sum(-1, keepdims=True), axis=-1)
    return distribution


def _weights(log_probs: Doubles, settings: SamplingSettings) -> tuple[Ids, Doubles]:
    """For each row (..., V), the symbols to draw from, most probable first, and their weights, (..., K)."""
    kept_symbols = 1 if settings.temperature == 0 else settings.top_k
    # Stable: of two equal symbols the lower id comes first.
    symbols = np.argsort(-log_probs, kind="stable")[..., :kept_symbols]
    ordered = np.take_along_axis(log_probs, symbols, axis=-1)
    with np.errstate(over="ignore"):  # a temperature near 0 sends all but the best to -inf, as it should
        weights = np.exp((ordered - ordered[..., :1]) / (settings.temperature or 1))
    if settings.top_p is not None and settings.top_p < 1:
        sums = weights.cumsum(-1)
        # A symbol stays while those before it hold less than the share: the first always does.
        before = np.concatenate([np.zeros_like(sums[..., :1]), sums[..., :-1]], axis=-1)
        weights[before >= settings.top_p * sums[..., -1:]] = 0
    return symbols, weights


def check_length(length: int) -> None:
    """Raise ConfigError for a negative length."""
    if length < 0:
        raise ConfigError("length counts characters and is at least 0; received {length!r}", length=length)


def draw_characters(
    reader: Reader,
    name: str,
    vocabulary: Vocabulary,
    length: int,
    settings: SamplingSettings,
    seed: int | None,
) -> Iterator[str]:
    """Draw `length` characters, each read by `reader` before the next, fewer if the text ends; `name` is the
    model's in errors.
    """
    generator = np.random.default_rng(seed)
    for _ in range(length):
        # A new array by the protocol, so it may be changed.
        log_probs = reader.log_probs()
        log_probs[UNKNOWN_ID] = -np.inf
        best = int(log_probs.argmax())
        if not math.isfinite(log_probs[best]):
            raise CheckpointError(
                "the model {name!r} gave no probabilities: its weights are damaged, "
                "or its training diverged; use another model",
                name=name,
            )
        symbol = best if settings.temperature == 0 else _choose(log_probs, settings, generator)
        if symbol == vocabulary.end:
            return
        yield vocabulary.symbol(symbol)
        reader.read(np.array([symbol]))


def _choose(log_probs: Doubles, settings: SamplingSettings, generator: np.random.Generator) -> int:
    """One symbol at random: the place of a uniform number among the summed weights."""
    symbols, weights = _weights(log_probs, settings)
    # The weights needn't sum to one; one uniform number a character keeps samples of one seed in step.
    sums = weights.cumsum()
    return int(symbols[np.searchsorted(sums, generator.random() * sums[-1], side="right")])
