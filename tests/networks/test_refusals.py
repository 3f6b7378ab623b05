"""What no network can be made of, read or asked is refused in a sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnnviz import ModelConfig, TrainConfig
from rnnviz.errors import CheckpointError, ConfigError, EmptyTextError, ModelNotFoundError
from rnnviz.networks import checkpoint
from rnnviz.networks.cells import CELLS
from rnnviz.networks.ngram import NgramModel
from tests.support.models import GOOD, tiny
from tests.support.ngrams import ABRACADABRA, SEA_SHELLS, fitted
from tests.support.refused import assert_refused

SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"cell": "transformer"}, rf"cell is one of {', '.join(CELLS)}; received 'transformer'"),
    ({"cell": "rnn", "activation": "gelu"}, r"activation is 'tanh' or 'relu'; received 'gelu'"),
    ({"cell": "s6"}, r"no longer reads or trains the cell s6; rnnviz 1\.0\.0 does; get it from"),
    ({"activation": "relu"}, r"cell 'gru' has its own functions built in; .*'relu' is for mlp and rnn"),
    ({"cell": "mingru", "activation": "relu"}, "cell 'mingru' has its own functions"),
    ({"vocabulary_size": 1}, r"vocabulary_size is a whole number from 2 to 1,112,065; received 1"),
    ({"hidden_size": 0}, r"hidden_size is a whole number from 1 to 16,384; received 0"),
    ({"hidden_size": 2.0}, r"hidden_size is a whole number; received 2\.0"),
    ({"layers": 17}, r"layers is a whole number from 1 to 16; received 17"),
    ({"embedding_size": -1}, r"embedding_size is a whole number from 0 to 16,384; received -1"),
    ({"tied": 1}, r"tied is true or false; received 1"),
    ({"tied": True}, r"tied needs embedding_size = hidden_size; received 128 and 256"),
]
WRONG: list[tuple[list[Any], str]] = [
    ([-1], "[-1]"),
    ([[1, 2]], "[[1 2]]"),
    ([0.5], "[0.5]"),
    ([True], "[ True]"),
    ([99] * 10, "int64 of shape (10,)"),
    (["a"], "['a']"),
]
NAMES = ("../m", "a/b", "/etc/passwd", "..", "a..b", ".hidden", "", "a\\b", "a\0b", "x" * 200)


REFUSED: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    **{
        f"a network with {setting}": (
            lambda _, setting=setting: ModelConfig(**{**GOOD, **setting}),
            ConfigError,
            words,
        )
        for setting, words in SETTINGS
    },
    "dropout of no W_hh": (
        lambda _: TrainConfig(cell="mingru", dropout_weight=0.1),
        ConfigError,
        "W_hh, and cell 'mingru' has none",
    ),
    # counts
    **{
        f"order {order!r}": (
            lambda _, order=order: NgramModel.fit(SEA_SHELLS, order=order),
            ConfigError,
            f"^an n-gram model's order is an integer from 1 to 6; received {order!r}$",
        )
        for order in (0, 7, -1, 2.0, True, "3")
    },
    **{
        f"tensors of order {order!r}": (
            lambda _, order=order: NgramModel.from_tensors({}, ABRACADABRA, order),
            CheckpointError,
            f"order is an integer from 1 to 6; received {order!r}",
        )
        for order in (0, 7, -1, 2.0, True, "3")
    },
    **{
        f"unigrams {counts}": (
            lambda _, c=counts: NgramModel.from_tensors({"counts": np.array(c, np.uint8)}, ABRACADABRA, 1),
            CheckpointError,
            r"text: the start symbol has a count, or nothing has; the file",
        )
        for counts in ([0, 0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0, 1])
    },
    "fewer than were counted": (
        lambda _: fitted(4).shortened(5),
        ConfigError,
        r"^this model counts up to 4-grams; received order 5$",
    ),
    "no order": (lambda _: fitted(4).shortened(0), ConfigError, "integer from 1 to 6; received 0"),
    **{
        f"{ask}: {wrong}": (
            lambda _, ask=ask, wrong=wrong: getattr(fitted(3), ask)(wrong),
            ConfigError,
            f"symbols are integers from 0 to {highest}, in one row; received {received}",
        )
        for ask, highest in (("score", 24), ("predictions", 24), ("log_probs", 25), ("occurs", 24))
        for wrong, received in WRONG
    },
    "counts of nothing": (
        lambda _: NgramModel.fit("", order=3),
        EmptyTextError,
        r"^an n-gram model needs a text to count; received an empty one$",
    ),
    "the start symbol to come": (
        lambda _: fitted(6).score([fitted(6).vocabulary.start]),
        ConfigError,
        f"integers from 0 to {fitted(6).vocabulary.size - 1}",
    ),
    **{
        f"does {ids} occur": (
            lambda _, ids=ids: NgramModel.fit("abcabc", order=4).occurs(np.array(ids, np.int64)),
            ConfigError,
            f"^this model knows sequences of 1 to 4 symbols; received {len(ids)}$",
        )
        for ids in ([], [1] * 5)
    },
    # files
    **{
        f"a model called {name!r}": (lambda _, name=name: checkpoint.load(name), CheckpointError, "no folder")
        for name in NAMES
    },
    "a name of no model": (
        lambda _: checkpoint.load("thine"),
        ModelNotFoundError,
        "no model is called 'thine'; there are: .*timemachine-gru",
    ),
    "a path of no model": (
        lambda tmp: checkpoint.load(tmp / "thine.safetensors"),
        ModelNotFoundError,
        "no model file at",
    ),
    "another ending": (
        lambda tmp: checkpoint.save(tiny("gru"), tmp / "m.pt"),
        CheckpointError,
        "a model file ends in",
    ),
    "a file in the way": (
        lambda tmp: checkpoint.save(
            tiny("gru"), checkpoint.save(tiny("gru"), tmp / "m.safetensors") / "m.safetensors"
        ),
        CheckpointError,
        "can't be written",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusal_says_what_is_wrong(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)
