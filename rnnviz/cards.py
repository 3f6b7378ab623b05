"""The card of a model: what it was trained on, how, and how well it predicts text it never saw.

A card is a JSON object in the model's file. Its held-out figures are measured
here, on the last part of the corpus, by the rule of `rnnviz.scoring`.
"""

from __future__ import annotations

import platform
from typing import Any

from rnnviz import checkpoint
from rnnviz.corpora import Corpus
from rnnviz.scoring import LanguageModel, perplexity

# What each shipped corpus is shown with first: words like those the model has read.
EXAMPLES = {
    "timemachine": "The Time Traveller smiled round at us. Then, still smiling faintly, he",
    "tinyshakespeare": "KING RICHARD:\nWhat is the night, my lord? The morning",
    "python-source": "def read(self, size=-1):\n    if self.closed:\n        raise ValueError(",
    "xiyouji": "行者道：“师父，你看那山上有",
}


def make_card(
    model: LanguageModel,
    corpus: Corpus,
    *,
    trained_on: str,
    recipe: dict[str, Any],
    seed: int | None,
    seconds: float,
    command: str,
    parameters: int,
    yardstick: str | None = None,
    example: str | None = None,
) -> dict[str, Any]:
    """The card of a freshly trained model.

    `yardstick` names an n-gram model trained on the same text, scored here on
    the same held-out characters. Perplexities are per character; bits are per
    character too. Raises what `checkpoint.load` and `scoring.perplexity` raise.
    """
    split = corpus.split()
    card: dict[str, Any] = {
        "corpus": corpus.name,
        "title": corpus.title,
        "licence": corpus.licence,
        "language": corpus.language,
        "characters": corpus.characters,
        "sha256": corpus.sha256,
        "split": "train 85 %, validation 5 %, held out 10 %, in order" if split.held_out else "not split",
        "trained_on": trained_on,
        "recipe": recipe,
        "seed": seed,
        "training_seconds": round(seconds, 1),
        "command": command,
        "parameters": parameters,
        "example": example or EXAMPLES.get(corpus.name, ""),
        "versions": versions(),
    }
    if yardstick:
        card["ngram"] = yardstick
    if split.held_out:
        report = perplexity(model, text=split.held_out)
        card["held_out"] = {
            "characters": report.characters,
            "unknown": report.unknown,
            "perplexity": report.perplexity,
            "bits_per_character": report.bits_per_character,
            "uniform": model.vocabulary.size,
        }
        if yardstick:
            other = perplexity(checkpoint.load(yardstick), text=split.held_out)
            card["held_out"] |= {"ngram": other.perplexity, "ngram_name": yardstick}
    return card


def versions() -> dict[str, str]:
    """The versions that a result depends on."""
    import torch

    from rnnviz import __version__

    return {"python": platform.python_version(), "torch": torch.__version__, "rnnviz": __version__}
