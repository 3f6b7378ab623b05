"""The models on this machine, each loaded once and shared by all sessions: a loaded model never changes.

And `ModelContext`, the models that one session has chosen.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from rnnviz.errors import CheckpointError, ConfigError, ModelNotFoundError
from rnnviz.i18n import language
from rnnviz.networks import checkpoint, engines
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.networks.modelfile import read_header
from rnnviz.page.initial_data import FIRST_MODELS

if TYPE_CHECKING:
    from rnnviz.networks.checkpoint import ModelInfo
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.networks.numpy_model import Model, Network, NumpyModel


@dataclass(frozen=True)
class ModelContext:
    """One session's choices, for one run of the script.

    ngram_model    the n-gram model that the model's card names; None if it isn't here
    temperature  divides log P before a character is drawn
    """

    model: Model
    ngram_model: NgramModel | None
    info: ModelInfo
    temperature: float

    @property
    def network(self) -> Network:
        """The chosen model. Raises ConfigError if it has no hidden state."""
        if self.info.kind == "ngram":
            raise ConfigError(
                "{name} counts n-grams and has no hidden state; choose a network", name=self.info.name
            )
        return cast("Network", self.model)


MAX_LOADED_MODELS = 12
_paths: set[str] = set()  # files loaded so far; the cache may have evicted some since


def list_models() -> tuple[list[ModelInfo], list[checkpoint.Damaged]]:
    """The models to choose from, and the damaged files. Reads headers only."""
    return checkpoint.available()


def first_model(models: list[ModelInfo]) -> ModelInfo:
    """The model of `models` (not empty) to show first: the language's of FIRST_MODELS, a network, or any."""
    return min(models, key=lambda info: (info.name != FIRST_MODELS[language()], info.kind == "ngram"))


def load(info: ModelInfo, *, to_read: bool = False) -> Model:
    """The model of a file, loaded again only if the file has changed. Raises CheckpointError.

    `to_read`: for one text as it is typed. The numpy engine then suffices, and the first page doesn't wait
    for the import of torch; once that is there, a GPU reads.
    """
    has_gpu = "torch" in sys.modules and engines.gpu_driver()
    light = info.kind == "ngram" or not engines.has_torch() or (to_read and not has_gpu)
    return _load(*version(info), light)


def load_reader(info: ModelInfo) -> NumpyModel | NgramModel:
    """The model of a file in numpy, to read one text at a time without torch. Raises CheckpointError."""
    return cast("NumpyModel | NgramModel", _load(*version(info), True))


def load_scorer(info: ModelInfo) -> Model:
    """The model of a file, in torch if it is installed, to score texts. Raises CheckpointError."""
    return load(info)


def version(info: ModelInfo) -> tuple[str, int, int]:
    """The file of a model as a key: its path, its time and its size. Raises ModelNotFoundError."""
    # The key of all caches below: a file that a training run replaces has another time or size.
    try:
        return str(info.path), info.path.stat().st_mtime_ns, info.bytes
    except OSError:
        raise ModelNotFoundError(
            "the file of the model {name} is not there any more; choose another model", name=info.name
        ) from None


# Streamlit's cache of resources hands all sessions the same object, without a copy. `changed` and `size` have
# no other use here than to be part of the cache's key.
@st.cache_resource(max_entries=MAX_LOADED_MODELS, show_spinner=False)
def _load(path: str, changed: int, size: int, light: bool) -> Model:
    _paths.add(path)
    if light:
        return checkpoint.load_numpy(path)
    return checkpoint.load(path, device="auto")


def in_memory(info: ModelInfo) -> bool:
    """Whether a model has been loaded in this process, so that it probably answers at once."""
    return str(info.path) in _paths


def digest(info: ModelInfo) -> str:
    """The SHA-256 of a model's file in hexadecimal, which keys of its results contain."""
    return file_digest(*version(info))


@functools.lru_cache(maxsize=1000)
def file_digest(path: str, changed: int, size: int) -> str:
    """The SHA-256 of a file in hexadecimal, computed again only if its time or size has changed."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def code_points(info: ModelInfo) -> frozenset[int]:
    """The code points of a model's vocabulary, read from its file's header."""
    return _code_points(*version(info))


@functools.lru_cache(maxsize=1000)
def _code_points(path: str, changed: int, size: int) -> frozenset[int]:
    vocabulary = read_header(Path(path))[1].get("vocabulary")
    return frozenset(code_point for code_point in vocabulary or () if isinstance(code_point, int))


def load_ngram_model(info: ModelInfo, models: list[ModelInfo]) -> NgramModel | None:
    """The n-gram model that the card of `info` names, if `models` has it."""
    for candidate in models:
        if (candidate.name, candidate.kind) == (
            info.card.get("ngram"),
            "ngram",
        ) and candidate.path != info.path:
            return cast("NgramModel", load(candidate))
    return None


def load_memoryless(network: Network, models: list[ModelInfo]) -> NumpyModel | None:
    """The MLP of the same text and vocabulary as `network`, if `models` has one; None for an MLP itself."""
    for candidate in mlps(network.card, models) if network.config.cell != "mlp" else ():
        with suppress(CheckpointError):
            mlp = cast("NumpyModel", load_reader(candidate))
            if mlp.vocabulary == network.vocabulary:
                return mlp
    return None


def mlps(card: Mapping[str, Any], models: list[ModelInfo]) -> list[ModelInfo]:
    """The MLPs of `models` that were trained on the card's text, by its SHA-256."""
    text = card.get("sha256")
    return [
        candidate
        for candidate in models
        if text and candidate.kind == "mlp" and candidate.card.get("sha256") == text
    ]
