"""The shipped models that scenes show, without torch; shared by all sessions."""

from rnnviz.errors import ModelNotFoundError
from rnnviz.networks import checkpoint
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.ui import model_cache


def load(name: str) -> NumpyModel | NgramModel:
    """A model by name. Raises ModelNotFoundError, or CheckpointError for a damaged file."""
    try:
        info = checkpoint.read_info(checkpoint.find(name))
    except ModelNotFoundError:
        raise ModelNotFoundError(
            "there is no model called {name}, which this scene shows; "
            "copy it back into the folder models, where it was shipped",
            name=name,
        ) from None
    return model_cache.reader(info)


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
