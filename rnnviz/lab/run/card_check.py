"""A check of models' cards: their figures computed again from the files and the texts, as `dev check-models`.

The sha256 of a text, or of its held-out part alone, identifies it, whatever its name.
"""

import contextlib
import math
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rnnviz.errors import CheckpointError, RnnvizError
from rnnviz.networks import checkpoint
from rnnviz.scoring.perplexity import perplexity
from rnnviz.text import corpora

MAX_DIFFERENCE_SHARE = 1e-4
"""The largest relative difference of perplexities that count as equal: machines sum in different orders."""


@dataclass(frozen=True)
class CardFigure:
    """One figure of a card: `recorded` in the card, and `computed` again."""

    model: str
    name: str
    recorded: Any
    computed: Any

    @property
    def same(self) -> bool:
        """Whether both values agree: exactly, or for floats within MAX_DIFFERENCE_SHARE."""
        if isinstance(self.recorded, float) and isinstance(self.computed, int | float):
            return math.isclose(self.recorded, self.computed, rel_tol=MAX_DIFFERENCE_SHARE)
        return bool(self.recorded == self.computed)


def texts(folder: Path | None = None) -> dict[str, str]:
    """The corpora on this machine and the text files in `folder`, by sha256."""
    text_by_sha256 = {}
    sources: list[str | Path] = [*corpora.names(), *(sorted(folder.glob("*.txt")) if folder else [])]
    for source in sources:
        # A corpus that isn't downloaded, or a file that is no text, identifies nothing.
        with contextlib.suppress(RnnvizError):
            corpus = corpora.named_or_file(source)
            text_by_sha256[corpus.sha256] = corpus.text
    return text_by_sha256


def held_out(card: Mapping[str, Any], text_by_sha256: Mapping[str, str]) -> str | None:
    """The held-out text of a card's figures, a part of a known text or a text by itself; None if unknown."""
    whole = text_by_sha256.get(str(card.get("sha256")))
    if whole is not None:
        return corpora.from_text(whole).split().held_out
    return text_by_sha256.get(str(card.get("sha256_held_out")))


def figures(info: checkpoint.ModelInfo, text: str | None) -> Iterator[CardFigure | str]:
    """The figures of one model's card, beside those computed from the file and its held-out text, if known.
    Figures that the card lacks are left out; a missing n-gram model yields a sentence.

    Takes as long as scoring the text with the model and its n-gram model. Raises the errors of loading it.
    """
    model, card = checkpoint.load(info.path), info.card
    card_scores = card.get("held_out", {})

    perplexed = card_scores.get("perplexity") or 0
    rows: list[tuple[Mapping[str, Any], str, Any]] = [
        (card, "parameters", model.parameter_count),
        (card_scores, "uniform", model.vocabulary.size),
        (card_scores, "bits_per_character", math.log2(perplexed) if perplexed > 0 else None),
    ]
    if text and card_scores:
        score = perplexity(model, text=text)
        rows.append((card, "sha256_held_out", corpora.sha256(text)))
        rows += [
            (card_scores, name, getattr(score, name)) for name in ("characters", "unknown", "perplexity")
        ]
        if card_scores.get("ngram") is not None and card_scores.get("ngram_name"):
            try:
                rival = checkpoint.load(card_scores["ngram_name"])
                rows.append((card_scores, "ngram", perplexity(rival, text=text).perplexity))
            except CheckpointError:
                name = card_scores["ngram_name"]
                yield f"{info.name}: the model {name} is not here, so its figure was not computed"
    for entry, name, computed in rows:
        if computed is not None and entry.get(name) is not None:
            yield CardFigure(info.name, name, entry[name], computed)


def check(models: Iterable[checkpoint.ModelInfo], folder: Path | None = None) -> Iterator[CardFigure | str]:
    """Every figure of every model's card, and a sentence for each text that isn't on this machine."""
    text_by_sha256 = texts(folder)
    for info in models:
        text = held_out(info.card, text_by_sha256)
        yield from figures(info, text)
        if text is None:
            title, python = info.card.get("title") or "its text", platform.python_version()
            trained_with = info.card.get("versions", {}).get("python")
            if info.card.get("corpus") in corpora.OF_PYTHON and trained_with != python:
                yield f"{info.name}: its text is the library of Python {trained_with}, and this is {python}"
            yield f"{info.name}: {title} is not on this machine, so nothing was scored with it"
