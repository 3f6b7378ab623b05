"""What has no gradient, and what is no gradient, is refused in a sentence."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rnnviz import gradients
from rnnviz.errors import CheckpointError, ConfigError, EmptyTextError, TextError
from rnnviz.gradients import connectivity, jacobian, memory_length, remaining
from rnnviz.lab.analysis.connectivity import GradientRows, connectivity_row
from rnnviz.lab.analysis.memory_length import square_reach
from rnnviz.lab.analysis.spectra import eigenvalues
from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring.perplexity import UniformModel
from rnnviz.text.vocabulary import Vocabulary
from tests.support.autograd import fading
from tests.support.models import TEXT
from tests.support.refused import assert_refused
from tests.support.torch_models import tiny_torch

GRU, MINGRU = tiny_torch("gru"), tiny_torch("mingru")


def loss(*arguments: Any, **options: Any) -> Any:
    return jacobian(*arguments, of="loss", **options)


LINEAR: Any = (connectivity_row, loss, jacobian)
STATELESS = (NgramModel.fit(TEXT, order=3, name="table"), UniformModel(Vocabulary(("a",))))
ATTRIBUTED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"text": ""}, EmptyTextError, "at least one"),
    ({"at": 0}, ConfigError, "from 1 to 30; received 0"),
    ({"at": 31}, ConfigError, "received 31"),
    ({"at": "b"}, ConfigError, "received .b."),
    ({"method": "x"}, ConfigError, "'occlusion'"),
    ({"instead": "x"}, ConfigError, "'average'"),
    ({"instead": "out"}, ConfigError, "left out"),
    ({"character": "ab"}, ConfigError, "character is one character"),
    ({"against": ""}, ConfigError, "against is one character"),
    ({"last": 0}, ConfigError, "at least 1"),
    ({"text": "e" * 1200, "last": 1001}, TextError, "limit is 1,000"),
]

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
        r"received 1,001 characters.*1,000.*at=…",
    ),
    "connectivity: states that overflow": (
        lambda: connectivity(fading(1e3), "ab" * 100),
        CheckpointError,
        "overflow within 200",
    ),
    **{
        f"connectivity: of {target!r}": (
            lambda target=target: connectivity(GRU, "abc", character=target),
            ConfigError,
            "one character",
        )
        for target in ("", "ab")
    },
    **{
        f"a row at {at}": (lambda at=at: GradientRows(GRU, TEXT[:50]).row(at), ConfigError, "from 1 to 50")
        for at in (0, 51)
    },
    "a norm of Jacobians": (
        lambda: jacobian(GRU, "machine", norm="nuclear"),  # type: ignore[arg-type]
        ConfigError,
        "received 'nuclear'",
    ),
    "a Jacobian of nothing": (
        lambda: jacobian(GRU, "machine", of="text"),  # type: ignore[arg-type]
        ConfigError,
        "received 'text'",
    ),
    # reach and what remains
    **{
        f"{lags} lags in {count} characters": (
            lambda lags=lags, count=count: memory_length(GRU, TEXT[:count], lags=lags),
            ConfigError,
            f"received {lags} lags and {count} characters",
        )
        for count, lags in ((9, 10), (30, 1))
    },
    **{
        f"{lags} lags in rows of {count} characters": (
            lambda lags=lags, count=count: square_reach(connectivity(GRU, TEXT[:count]), lags),
            ConfigError,
            "lags is from 2 to the number",
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
        f"a spectrum of {model.config.cell}, layer {layer}": (
            lambda model=model, layer=layer: gradients.spectrum(model, layer=layer),
            ConfigError,
            words,
        )
        for model, layer, words in (
            (tiny_torch("mlp"), 0, "have no W_hh"),
            (MINGRU, 0, "have no W_hh"),
            (GRU, 1, "from 0 to 0; received 1"),
            (GRU, -1, "from 0 to 0; received -1"),
        )
    },
    "a spectrum of no numbers": (
        lambda: eigenvalues(np.diag([1.0, np.nan])),
        ConfigError,
        "not finite",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_unfit_gradient_call_is_refused_in_a_sentence(case: str) -> None:
    assert_refused(*REFUSED[case])
