"""The shipped models that steps show, without torch; each is loaded once, until its file changes.

English is read by the models of *The Time Machine*, Chinese by those of 《西游记》, whose text has no commas.
Of the latter only a GRU and a 6-gram model ship: steps about other networks read English in every language.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar

from rnnviz.errors import ModelNotFoundError
from rnnviz.i18n import _, language
from rnnviz.networks import checkpoint
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import Model, NumpyModel
from rnnviz.telling import DEFAULT

T = TypeVar("T")

KINDS = ("mlp", "rnn", "gru", "lstm", "6gram")
SHIPPED = {"en": ("timemachine", KINDS), "zh": ("chinese", ("gru", "6gram"))}


def spoken(texts: Mapping[str, T]) -> T:
    """Of `texts` by language that of the session."""
    return texts.get(language(), texts[DEFAULT])


def kinds() -> tuple[str, ...]:
    """The kinds of models that read the session's language, each one of KINDS."""
    return spoken(SHIPPED)[1]


def kind_names() -> dict[str, str]:
    """What the session's kinds are called, for a choice."""
    names = {"mlp": "MLP", "rnn": "RNN", "gru": "GRU", "lstm": "LSTM", "6gram": _("6-gram")}
    return {kind: names[kind] for kind in kinds()}


def reader(kind: str) -> Model:
    """The model of a kind that reads the session's language; its first where that kind doesn't."""
    return load(_name(kind))


def state_reader(kind: str) -> NumpyModel:
    """The `reader` of a kind of network."""
    return network(_name(kind))


def counts() -> NgramModel:
    """The n-gram model that reads the session's language."""
    return ngram(_name("6gram"))


def _name(kind: str) -> str:
    return f"{spoken(SHIPPED)[0]}-{kind if kind in kinds() else kinds()[0]}"


def load(name: str) -> Model:
    """A model by name. Raises ModelNotFoundError, or CheckpointError for a damaged file."""
    try:
        path = checkpoint.find(name)
    except ModelNotFoundError:
        raise ModelNotFoundError(
            "there is no model called {name}, which this scene shows; "
            "copy it back into the folder models, where it was shipped",
            name=name,
        ) from None
    found = path.stat()
    return _load(str(path), found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=12)
def _load(path: str, _changed: int, _size: int) -> Model:
    return checkpoint.load_numpy(path)


def network(name: str) -> NumpyModel:
    """A network by name. Raises as `load` does, and ModelNotFoundError for an n-gram model."""
    found = load(name)
    if not isinstance(found, NumpyModel):
        raise ModelNotFoundError("{name} is no network; this scene needs one of that name", name=name)
    return found


def ngram(name: str) -> NgramModel:
    """An n-gram model by name. Raises as `load` does, and ModelNotFoundError for a network."""
    found = load(name)
    if not isinstance(found, NgramModel):
        raise ModelNotFoundError("{name} is no n-gram model; this scene needs one of that name", name=name)
    return found
