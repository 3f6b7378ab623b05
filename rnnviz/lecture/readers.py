"""The shipped models that steps show, without torch; each is loaded once, until its file changes.

Models of *The Time Machine* read English, those of 《西游记》 Chinese. Of the latter only a GRU
and a 6-gram model ship: steps about other networks read English in every language.
"""

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from rnnviz.errors import ModelNotFoundError
from rnnviz.i18n import _, language
from rnnviz.networks import checkpoint
from rnnviz.networks.numpy_model import Model
from rnnviz.sentences import DEFAULT
from rnnviz.text.characters import visible

T = TypeVar("T")

SHIPPED = {
    "en": ("timemachine", ("mlp", "rnn", "gru", "lstm", "6gram")),
    "zh": ("chinese", ("gru", "6gram")),
}


def in_language(texts: Mapping[str, T]) -> T:
    """The entry of `texts` for the session's language, or the default language."""
    return texts.get(language(), texts[DEFAULT])


def kinds() -> dict[str, str]:
    """The kinds of models that read the session's language, with their names."""
    names = {"mlp": "MLP", "rnn": "RNN", "gru": "GRU", "lstm": "LSTM", "6gram": _("6-gram")}
    return {kind: names[kind] for kind in in_language(SHIPPED)[1]}


def reader(kind: str) -> Any:
    """The model of a kind that reads the session's language; without such a kind, that language's first
    model.
    """
    name, available = in_language(SHIPPED)
    return load(f"{name}-{kind if kind in available else available[0]}")


def unread(model: Any, text: str) -> str:
    """The sentence on characters of `text` that a model doesn't know; "" without any."""
    unknown = dict.fromkeys(visible(c) for c in text if c not in model.vocabulary)
    sentence = _("This model has never read {characters}: to it, each of them is the same unknown symbol.")
    return sentence.format(characters=" ".join(unknown)) if unknown else ""


def load(name: str) -> Any:
    """A model by name, network or counts. Raises ModelNotFoundError; CheckpointError for a damaged file."""
    try:
        path = checkpoint.find(name)
    except ModelNotFoundError:
        raise ModelNotFoundError(
            "there is no model called {name}, which this scene shows; "
            "copy it back into the folder models, where it was shipped",
            name=name,
        ) from None
    status = path.stat()
    return _load(str(path), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=12)
def _load(path: str, _changed: int, _size: int) -> Model:
    return checkpoint.load_numpy(path)


@cache
def recorded(name: str) -> Any:
    """Recorded measurements: a JSON file of this folder, by its name."""
    return json.loads(Path(__file__).with_name(f"{name}.json").read_text("utf-8"))
