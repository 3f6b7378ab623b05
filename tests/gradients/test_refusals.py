"""What has no gradient, and what is no gradient, is refused in a sentence."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rnnviz import gradients
from rnnviz.errors import CheckpointError, ConfigError, EmptyTextError, TextError
from rnnviz.gradients import (
    SmallRNN,
    clip,
    connectivity,
    connectivity_row,
    cuts,
    expected_crossing,
    gradient,
    half_life,
    hidden_weights,
    jacobian_norms,
    lag_gradients,
    pair_weights,
    power_norms,
    random_crossings,
    reach,
    reach_of,
    remaining,
    scaled,
    state_gradients,
    unroll,
)
from rnnviz.gradients.memory import Rows
from rnnviz.networks.ngram import NgramModel
from rnnviz.reading.scoring import UniformModel
from rnnviz.text.vocabulary import Vocabulary
from rnnviz.units import run
from tests.conftest import TEXT, tiny
from tests.gradients.autograd import fading
from tests.gradients.test_truncation import INPUTS, LABELS, NETS
from tests.refused import one_sentence

GRU, RNN, MINGRU = tiny("gru"), tiny("rnn"), tiny("mingru")
LINEAR: Any = (connectivity_row, state_gradients, jacobian_norms)
GOOD, BIG = SmallRNN.random(2, 3, 4), SmallRNN.random(1, 300, 2)
TURN = np.array([[0.0, -2.0], [2.0, 0.0]])
STATELESS = (NgramModel.fit(TEXT, order=3, name="table"), UniformModel(Vocabulary(("a",))))
NO_STEPS: list[tuple[Any, Any]] = [
    (np.ones((0, 2)), []),
    (np.ones((3, 1)), [0, 0, 0]),
    ([0, 2], [0, 0]),
    (np.ones((2, 2)), [0, 4]),
    (np.ones((2, 2)), [0]),
    (np.ones((2, 2)), [0.0, 1.0]),
]
ATTRIBUTED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"text": ""}, EmptyTextError, "at least one"),
    ({"at": 0}, ConfigError, "from 1 to 30; received 0"),
    ({"at": 31}, ConfigError, "received 31"),
    ({"method": "x"}, ConfigError, "'occlusion'"),
    ({"instead": "x"}, ConfigError, "'average'"),
    ({"instead": "out"}, ConfigError, "left out"),
    ({"target": "ab"}, ConfigError, "target is one character"),
    ({"against": ""}, ConfigError, "against is one character"),
    ({"last": 0}, ConfigError, "at least 1"),
    ({"text": "e" * 1200, "last": 1001}, TextError, "limit is 1,000"),
]
SCALED: list[tuple[Any, float, str]] = [
    (np.array([[0.0, 1.0], [0.0, 0.0]]), 1.0, "eigenvalues of this matrix are 0"),
    (TURN, -1.0, "rho is a number from 0"),
    (TURN, math.nan, "rho is a number from 0"),
    (np.ones((2, 3)), 1.0, r"received shape \(2, 3\)"),
    (np.full((2, 2), np.inf), 1.0, "not finite"),
    (GRU, 1.0, "received a gru"),
]
NETS_THAT_DISAGREE: list[tuple[dict[str, Any], str]] = [
    ({"W_hh": np.ones((2, 2))}, r"W_hh should be \(3, 3\)"),
    ({"W_xh": np.ones(3)}, r"W_xh should be \(3, 3\); received \(3,\)"),
    ({"activation": "gelu"}, "received 'gelu'"),
]


def draw(keep: Any, draws: int = 1) -> Any:
    return random_crossings(3, keep, np.random.default_rng(0), draws)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    **{
        f"attribute {given}".replace("e" * 1200, "long"): (
            lambda given=given: gradients.attribute(GRU, **{"text": TEXT[:30], **given}),
            error,
            words,
        )
        for given, error, words in ATTRIBUTED
    },
    **{
        f"{ask.__name__}: no text": (lambda ask=ask: ask(GRU, ""), EmptyTextError, "at least one")
        for ask in (connectivity, *LINEAR)
    },
    **{
        f"{ask.__name__}: {model.name}": (
            lambda ask=ask, model=model: ask(model, "abc"),
            ConfigError,
            f"{model.name!r} has no hidden state.*choose a network",
        )
        for ask in (connectivity, *LINEAR)
        for model in STATELESS
    },
    **{
        f"{ask.__name__}: half a character": (lambda ask=ask: ask(GRU, "a\ud800"), TextError, "surrogate")
        for ask in (connectivity, *LINEAR)
    },
    **{
        f"{ask.__name__}: at {at}": (
            lambda ask=ask, at=at: ask(GRU, "abc", at=at),
            ConfigError,
            f"from 1 to 3; received {at}",
        )
        for ask in LINEAR
        for at in (0, -1, 4)
    },
    **{
        f"{ask.__name__}: too long": (
            lambda ask=ask, limit=limit: ask(GRU, "a" * (limit + 1)),
            TextError,
            f"limit is {limit:,}: cut the text's beginning off",
        )
        for ask, limit in zip(LINEAR, (10_000, 10_000, 1_000), strict=True)
    },
    "connectivity: too long": (
        lambda: connectivity(GRU, "a" * 1_001),
        TextError,
        r"received 1,001 characters.*1,000.*connectivity_row",
    ),
    "connectivity: states that overflow": (
        lambda: connectivity(fading(1e3), "ab" * 100),
        CheckpointError,
        "overflow within 200",
    ),
    **{
        f"connectivity: of {target!r}": (
            lambda target=target: connectivity(GRU, "abc", target=target),
            ConfigError,
            "one character",
        )
        for target in ("", "ab")
    },
    **{
        f"a row at {at}": (lambda at=at: Rows(GRU, TEXT[:50]).row(at), ConfigError, "from 1 to 50")
        for at in (0, 51)
    },
    "an average": (lambda: connectivity(GRU, "abc").decay("mode"), ConfigError, "received 'mode'"),  # type: ignore[arg-type]
    **{
        f"the half-life of {decay}": (lambda decay=decay: half_life(decay), ConfigError, "lag 0 first")
        for decay in (np.ones((2, 2)), np.array([1, -1.0, 2]))
    },
    "a norm of Jacobians": (
        lambda: jacobian_norms(GRU, "machine", norm="nuclear"),  # type: ignore[arg-type]
        ConfigError,
        "received 'nuclear'",
    ),
    # reach and what remains
    **{
        f"{lags} lags in {count} characters": (
            lambda lags=lags, count=count: run(reach(GRU, TEXT[:count], lags=lags)),
            ConfigError,
            f"received {lags} lags and {count} characters",
        )
        for count, lags in ((9, 10), (30, 1))
    },
    **{
        f"{lags} lags in rows of {count} characters": (
            lambda lags=lags, count=count: reach_of(connectivity(GRU, TEXT[:count]), lags),
            ConfigError,
            "at least as many",
        )
        for count, lags in ((9, 10), (30, 1))
    },
    "what remains in a gru": (
        lambda: remaining(GRU, "abc"),
        ConfigError,
        r"no gate looks at the state \(mingru\).*gru cells",
    ),
    "what remains in layer 1": (
        lambda: remaining(MINGRU, "abc", layer=1),
        ConfigError,
        "layer is 0 to 0; received 1",
    ),
    "what remains of nothing": (lambda: remaining(MINGRU, ""), EmptyTextError, "at least one"),
    # spectra
    **{
        f"scaled {n}": (lambda matrix=matrix, rho=rho: scaled(matrix, rho), ConfigError, words)
        for n, (matrix, rho, words) in enumerate(SCALED)
    },
    "W_hh of layer 1": (lambda: hidden_weights(RNN, 1), ConfigError, "from 0 to 0; received 1"),
    "W_hh of no network": (lambda: hidden_weights(STATELESS[1]), ConfigError, "no network"),  # type: ignore[arg-type]
    "powers from -1": (lambda: power_norms(TURN, -1), ConfigError, "from 0 to 10,000"),
    "a norm of powers": (lambda: power_norms(TURN, 1, norm="max"), ConfigError, "received 'max'"),  # type: ignore[arg-type]
    # truncation and clipping
    **{
        f"cuts at {cut}": (lambda cut=cut: cuts(5, cut), ConfigError, "received")  # type: ignore[misc]
        for cut in (0, -1, [0], [5], [1.5])
    },
    **{
        f"going on with {keep}": (lambda keep=keep: draw(keep), ConfigError, "probability of going on")
        for keep in (0, 1.1, -1, np.nan, [0.5, 0.5])
    },
    **{
        f"{draws} draws": (lambda draws=draws: draw(0.5, draws), ConfigError, "draws are from 1")
        for draws in (0, 1 << 40)
    },
    "no step to cross": (lambda: expected_crossing(0, 0.5), ConfigError, "at least one step"),
    "pairs of a table": (lambda: pair_weights(np.ones((2, 2))), ConfigError, r"\(T,\)"),
    **{
        f"a small net of {n}": (lambda other=other: SmallRNN.of(other), ConfigError, "rnn with one layer")
        for n, other in enumerate((GRU, tiny("rnn", layers=2), "rnn"))
    },
    **{
        f"a small net with another {next(iter(change))}": (
            lambda change=change: replace(GOOD, **change),
            ConfigError,
            words,
        )
        for change, words in NETS_THAT_DISAGREE
    },
    **{
        f"steps that are none: {n}": (
            lambda inputs=inputs, labels=labels: unroll(GOOD, inputs, labels),
            ConfigError,
            "received",
        )
        for n, (inputs, labels) in enumerate(NO_STEPS)
    },
    "crossings of other steps": (
        lambda: gradient(NETS[0], INPUTS, LABELS, np.ones(3)),
        ConfigError,
        "a number for each of 12 steps",
    ),
    "lags of too many": (
        lambda: lag_gradients(BIG, np.ones((1_000, 1)), np.zeros(1_000, np.int64)),
        ConfigError,
        "too many",
    ),
    "draws of too many": (
        lambda: gradient(BIG, np.ones((2, 1)), [0, 1], np.ones((1_000, 2))),
        ConfigError,
        "too many at once",
    ),
    **{
        f"clipped at {theta}": (lambda theta=theta: clip([1.0], theta), ConfigError, "above 0")
        for theta in (0, -1, np.nan, np.inf)
    },
    "what is not finite, clipped": (lambda: clip([np.inf], 1), ConfigError, "not finite"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused_in_a_sentence(what: str) -> None:
    call, error, words = REFUSED[what]
    with pytest.raises(error, match=words) as caught:
        call()
    one_sentence(str(caught.value))
