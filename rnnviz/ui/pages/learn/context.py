"""What a scene may use: the shipped models, ready to read, without torch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rnnviz.errors import ModelNotFoundError
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.ui import model_cache

if TYPE_CHECKING:
    from rnnviz.networks.checkpoint import ModelInfo


@dataclass(frozen=True)
class Context:
    """One answer's surroundings: the language of the session, and models by name.

    Models are loaded when first asked for, and shared by all sessions.
    """

    language: str

    @cached_property
    def models(self) -> list[ModelInfo]:
        """What there is, by name."""
        return model_cache.listed()[0]

    def network(self, name: str) -> NumpyModel:
        """A network by name. Raises ModelNotFoundError."""
        found = self._read(name)
        if not isinstance(found, NumpyModel):
            raise ModelNotFoundError("{name} is no network; this scene needs one of that name", name=name)
        return found

    def ngram(self, name: str) -> NgramModel:
        """A count-based model by name. Raises ModelNotFoundError."""
        found = self._read(name)
        if not isinstance(found, NgramModel):
            raise ModelNotFoundError(
                "{name} is no n-gram model; this scene needs one of that name", name=name
            )
        return found

    def _read(self, name: str) -> NumpyModel | NgramModel:
        for info in self.models:
            if info.path.stem == name:
                return model_cache.reader(info)
        raise ModelNotFoundError(
            "there is no model called {name}, which this scene shows; "
            "copy it back into the folder models, where it was shipped",
            name=name,
        )
