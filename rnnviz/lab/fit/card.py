"""Model cards: the text, the recipe and the held-out scores of a model, as a JSON object in its file."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rnnviz.networks import checkpoint, engines, modelfile
from rnnviz.scoring.perplexity import LanguageModel, perplexity
from rnnviz.text import files
from rnnviz.text.corpora import Corpus, sha256

if TYPE_CHECKING:
    from rnnviz.lab.engines.torch_model import CharModel
    from rnnviz.networks.config import TrainConfig

# The first text shown for each shipped corpus: newly written in the corpus's style, and chosen so that the
# networks predict it better than n-gram counts do.
EXAMPLES = {
    "timemachine": (
        'I looked at the Time Traveller. "There is something the matter with the machine," he said.'
    ),
    "names": "Arabella\nKatrinka\nMirabel",
    "tinyshakespeare": "KING RICHARD:\nWhat is the night, my lord? The morning",
    "python-source": "def average(self, values):\n    if not values:\n        raise ValueError(",
    # The heat map ends with the text: its last two lines have a comment, a string and nested brackets.
    "python-library": (
        'def mean(values):\n    """Return the average."""\n    if not values:\n'
        '        # Never divide by zero.\n        raise ValueError("no values: %r" % (values,))'
    ),
    "holmes": '"There is a light on the moor," said Holmes. He lit his pipe.',
    "journey": "行者笑道：“师父莫怕，有我在此。”说罢，他举起了金箍棒。",
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
    ngram: str | None = None,
    choice: list[dict[str, Any]] | None = None,
    example: str | None = None,
) -> dict[str, Any]:
    """The card of a freshly trained model. `ngram` names an n-gram model of the same text, scored on the
    same held-out characters; `choice` is the table of `model_card.read_candidates`. Perplexities and
    bits are per character; `sha256` is of the whole text, the others of its parts. Raises the errors of
    `checkpoint.load` and `scoring.perplexity`.
    """
    split = corpus.split()
    # What training read, by its checksum: `save` refuses it as held-out text.
    read = split.train if trained_on == "first 85 %" else split.train + split.validation
    card: dict[str, Any] = {
        "corpus": corpus.name,
        "title": corpus.title,
        "licence": corpus.licence,
        "language": corpus.language,
        "characters": corpus.characters,
        "sha256": corpus.sha256,
        "sha256_trained_on": sha256(read),
        "split": "train 85 %, validation 5 %, held out 10 %, in order" if split.held_out else "not split",
        "trained_on": trained_on,
        "recipe": recipe,
        "seed": seed,
        "training_seconds": round(seconds, 1),
        "command": files.without_folders(command),
        "parameters": parameters,
        "example": example or EXAMPLES.get(corpus.name, ""),
        "versions": versions(),
    }
    ngram_name = Path(ngram or "").name.removesuffix(modelfile.SUFFIX)
    if ngram_name:
        card["ngram"] = ngram_name
    if choice:
        card["choice"] = choice
    if split.held_out:
        card["sha256_held_out"] = sha256(split.held_out)
        card["held_out"] = held_out_figures(model, split.held_out)
        if ngram:
            ngram_score = perplexity(checkpoint.load(ngram), text=split.held_out)
            card["held_out"] |= {"ngram": ngram_score.perplexity, "ngram_name": ngram_name}
    return card


def score_and_card(
    model: CharModel,
    corpus: Corpus,
    config: TrainConfig,
    *,
    seconds: float,
    compute_facts: Mapping[str, Any],
    threads_fixed: bool = False,
    command: str = "",
    ngram: str | None = None,
    choice: list[dict[str, Any]] | None = None,
    example: str | None = None,
) -> None:
    """Score a trained network on the held-out text, and give it its card and its text's sketch.

    `compute_facts` are device, precision and engine, see `Trainer.compute_facts`; the others are those of
    `make_card`.
    """
    from rnnviz.networks import contamination

    together, split = config.train_on == "train+validation", corpus.split()
    model.card = make_card(
        model,
        corpus,
        trained_on="first 90 %" if together else "first 85 %",
        recipe=config.to_json(),
        seed=config.seed,
        seconds=seconds,
        command=command,
        parameters=model.parameter_count,
        ngram=ngram,
        choice=choice,
        example=example,
    )
    # Devices, precisions, engines and numbers of threads differ in the last digits of their results.
    model.card["engine"] = {
        "device": compute_facts.get("device"),
        "precision": "bfloat16" if compute_facts.get("bfloat16") else "float32",
        "backward": compute_facts.get("backward"),
        "threads": compute_facts.get("threads"),
        "threads_fixed": threads_fixed,
    }
    model.sketch = contamination.sketch(split.train + split.validation if together else split.train)


def held_out_figures(model: LanguageModel, held_out: str) -> dict[str, Any]:
    """A card's figures on a held-out text. Raises the errors of `scoring.perplexity`."""
    score = perplexity(model, text=held_out)
    return {
        "characters": score.characters,
        "unknown": score.unknown,
        "perplexity": score.perplexity,
        "bits_per_character": score.bits_per_character,
        "uniform": model.vocabulary.size,
    }


def versions() -> dict[str, str]:
    """The versions of Python, of torch where it is installed, and of rnnviz."""
    from rnnviz import __version__

    version_by_name = {"python": platform.python_version()}
    if engines.has_torch():
        import torch

        version_by_name["torch"] = torch.__version__
    return {**version_by_name, "rnnviz": __version__}
