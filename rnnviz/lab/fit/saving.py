"""Saving of any model with a card, so that it opens in the app like a trained one."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rnnviz.checks import check_text, checked
from rnnviz.errors import ConfigError
from rnnviz.lab.fit.card import held_out_figures, versions
from rnnviz.networks import checkpoint, contamination
from rnnviz.networks.modelfile import Sketch
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_engine import weights_from
from rnnviz.networks.numpy_model import NumpyModel, no_model
from rnnviz.scoring.score import MIN_OVERLAP_SHARE
from rnnviz.text.corpora import Corpus, as_corpus, sha256

if TYPE_CHECKING:
    from rnnviz.lab.engines.torch_model import CharModel


MAX_SEEN_SHARE = 0.5
"""The share of a held-out text from which it counts as trained on. A text that says everything twice, as
Python's reference, shares 0.43 with its own beginning; a novel 0.00.
"""


@checked
def save(
    model: CharModel | NumpyModel | NgramModel,
    path: str | Path,
    *,
    half: bool = False,
    sketch: Sketch | None = None,
    title: str | None = None,
    example: str | None = None,
    corpus: str | Path | Corpus | None = None,
    held_out: str | Path | Corpus | None = None,
) -> Path:
    """Write `model` to `path`, all of it or nothing, and return the path; `half` stores weights as float16.
    A model that is there already is replaced, any other file is not.

    The arguments below go into its card, which the app shows; None leaves an entry of `model.card` as it is.

    title      of the training text
    example    the text that Explore begins with
    corpus     the whole training text: a text, a Path or a Corpus. The card gets its size and checksum, the
               file a sketch by which the app recognises a training text
    held_out   a text that the model wasn't trained on: the model is scored on all of it, as stored. What the
               training text's sketch knows of it is looked up first; the card and a warning tell the share
    sketch     of the training text; None: that of `corpus`, or the model's own, see
               `rnnviz.networks.contamination`

    Raises CheckpointError if the name or the folder can't be used, ConfigError for a held-out text that was
    trained on, as half of it or more was, and for a network whose step is a Python function; and the errors
    of reading and scoring.

    >>> import rnnviz
    >>> import tempfile
    >>> model = rnnviz.load("timemachine-gru")
    >>> path = f"{tempfile.mkdtemp()}/copy.safetensors"
    >>> path = rnnviz.save(model, path, example="The door", held_out="He opened the door and went in.")
    >>> rnnviz.load(path).card["held_out"]["characters"]
    31
    """
    refuse(model)
    path = checkpoint.check_target(path, replaces=lambda existing: True)
    card: dict[str, Any] = {"parameters": model.parameter_count, **model.card}
    sketch = model.sketch if sketch is None and corpus is None else sketch
    if corpus is not None:
        text: Corpus = as_corpus(corpus)
        card |= {
            "corpus": text.name,
            "title": text.title,
            "licence": text.licence,
            "language": text.language,
            "characters": text.characters,
            "sha256": text.sha256,
            "sha256_trained_on": text.sha256,
        }
        sketch = contamination.sketch(text.text) if sketch is None else sketch
    for key, value in (("title", title), ("example", example)):
        if value is not None:
            card[key] = check_text(value)
    if held_out is not None:
        unseen: Corpus = as_corpus(held_out)
        seen_share = _seen_share(unseen.text, text.text if corpus is not None else "", sketch, card)
        if seen_share >= MAX_SEEN_SHARE:
            raise ConfigError(
                "the model was trained on {share:.0%} of the held-out text; give one that it never read",
                share=seen_share,
            )
        # The figures are those of the weights in the file, which float16 rounds.
        stored = _half_copy(model) if half else model
        card |= {"held_out": held_out_figures(stored, unseen.text), "sha256_held_out": sha256(unseen.text)}
        if seen_share >= MIN_OVERLAP_SHARE:
            card["held_out"]["trained_on"] = seen_share
            message = f"the model was trained on {seen_share:.0%} of the held-out text; the card says so"
            warnings.warn(message, stacklevel=2)
    if corpus is not None or held_out is not None:
        card.setdefault("versions", versions())
    return checkpoint.save(model, path, half=half, sketch=sketch, card=card)


def _seen_share(unseen: str, corpus: str, sketch: Sketch | None, card: Mapping[str, Any]) -> float:
    """The share of a held-out text that was trained on, as far as corpus, checksums and sketch tell."""
    # Exact matches first: a text shorter than the sketch's n-grams has no hash in it.
    if unseen in corpus or sha256(unseen) in (card.get("sha256"), card.get("sha256_trained_on")):
        return 1.0
    return contamination.share(unseen, sketch).share if sketch is not None else 0.0


def _half_copy(model: CharModel | NumpyModel | NgramModel) -> CharModel | NumpyModel | NgramModel:
    """A copy of a network with its weights rounded to float16."""
    if isinstance(model, NgramModel):
        return model
    if not isinstance(model, NumpyModel):
        return copy.deepcopy(model).half().float()
    tensors = {name: w.astype(np.float16).astype(np.float32) for name, w in model.tensors.items()}
    return replace(
        model, weights=weights_from(model.config, tensors, end=model.vocabulary.end), tensors=tensors
    )


def refuse(model: Any) -> None:
    """Raise ConfigError for an object that isn't a model that can be saved."""
    stored = ("state_dict", "tensors", "to_tensors")
    if hasattr(model, "vocabulary") and any(hasattr(model, name) for name in stored):
        return
    if getattr(model, "parts", None):
        raise ConfigError(
            "a network whose step is a Python function can't be saved, as a file holds weights alone: keep "
            "the program that adapts it; one of torch's own layers can be adapted with its weights and saved"
        )
    raise no_model(model)
