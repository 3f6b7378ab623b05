"""The sidebar's choices, which every page receives; and the id of the session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from streamlit.runtime.scriptrunner import get_script_run_ctx

from rnnviz.errors import ConfigError

if TYPE_CHECKING:
    from rnnviz.networks.checkpoint import ModelInfo
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.networks.numpy_model import Model, Network


def session() -> str:
    """The id of the session that runs the script; "" outside of a run."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


@dataclass(frozen=True)
class Context:
    """One session's choices, for one run of the script.

    yardstick    the n-gram model that the model's card names; None if it isn't here
    temperature  divides log P before a character is drawn
    """

    model: Model
    yardstick: NgramModel | None
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
