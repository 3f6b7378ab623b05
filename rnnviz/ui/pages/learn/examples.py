"""Example texts, and the models that read them, in the session's language.

English is read by the models of *The Time Machine*, Chinese by those of 《西游记》, whose text has no commas.
Of the latter only a GRU and a 6-gram model ship: steps about other networks read English in every language.
"""

from collections.abc import Mapping
from typing import TypeVar

from rnnviz.i18n import _, language
from rnnviz.networks.numpy_model import Model
from rnnviz.telling import DEFAULT
from rnnviz.ui.pages.learn import models

T = TypeVar("T")

KINDS = ("mlp", "rnn", "gru", "lstm", "6gram")
SHIPPED = {"en": ("timemachine", KINDS), "zh": ("chinese", ("gru", "6gram"))}


def spoken(texts: Mapping[str, T]) -> T:
    """Of `texts` by language that of the session."""
    return texts.get(language(), texts[DEFAULT])


def kinds() -> tuple[str, ...]:
    """The kinds of models that read the session's language, each one of KINDS."""
    return spoken(SHIPPED)[1]


def nearest(kind: str) -> str:
    """`kind`, or the first that reads the session's language."""
    return kind if kind in kinds() else kinds()[0]


def reader(kind: str) -> Model:
    """The model of the `nearest` kind. Raises ModelNotFoundError."""
    return models.load(f"{spoken(SHIPPED)[0]}-{nearest(kind)}")


def kind_names() -> dict[str, str]:
    """What the kinds are called, and what they are."""
    return {
        "mlp": "MLP",
        "rnn": "RNN",
        "gru": "GRU",
        "lstm": "LSTM",
        "6gram": _("6-gram"),
        "model": _("model"),
    }
