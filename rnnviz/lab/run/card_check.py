"""A check of models' cards: their figures computed again from the files and the texts, as `dev check-models`.

The sha256 of a text, or of its held-out part alone, identifies it, whatever its name.
"""

import contextlib
import math
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
    """One figure of a card: `said` by the card, and `found` by computing it again."""

    model: str
    name: str
    said: Any
    found: Any

    @property
    def same(self) -> bool:
        """Whether both values agree: exactly, or for floats within CLOSE."""
        if isinstance(self.said, float) and isinstance(self.found, int | float):
            return math.isclose(self.said, self.found, rel_tol=MAX_DIFFERENCE_SHARE)
        return bool(self.said == self.found)


def texts(folder: Path | None = None) -> dict[str, str]:
    """The corpora on this machine and the text files in `folder`, by sha256."""
    found = {}
    sources: list[str | Path] = [*corpora.names(), *(sorted(folder.glob("*.txt")) if folder else [])]
    for source in sources:
        with contextlib.suppress(RnnvizError):
            corpus = corpora.named_or_file(source)
            found[corpus.sha256] = corpus.text
    return found


def held_out(card: Mapping[str, Any], known: Mapping[str, str]) -> str | None:
    """The held-out text of a card's figures, a part of a known text or a text by itself; None if unknown."""
    whole = known.get(str(card.get("sha256")))
    if whole is not None:
        return corpora.from_text(whole).split().held_out
    return known.get(str(card.get("sha256_held_out")))


def figures(info: checkpoint.ModelInfo, text: str | None) -> Iterator[CardFigure | str]:
    """The figures of one model's card, beside those computed from the file and its held-out text, if known.
    Figures that the card lacks are left out; a missing n-gram model yields a sentence.

    Takes as long as scoring the text with the model and its n-gram model. Raises the errors of loading it.
    """
    model, card = checkpoint.load(info.path), info.card
    said = card.get("held_out", {})

    perplexed = said.get("perplexity") or 0
    rows: list[tuple[Mapping[str, Any], str, Any]] = [
        (card, "parameters", model.parameter_count),
        (said, "uniform", model.vocabulary.size),
        (said, "bits_per_character", math.log2(perplexed) if perplexed > 0 else None),
    ]
    if text and said:
        score = perplexity(model, text=text)
        rows.append((card, "sha256_held_out", corpora.sha256(text)))
        rows += [(said, name, getattr(score, name)) for name in ("characters", "unknown", "perplexity")]
        if said.get("ngram") is not None and said.get("ngram_name"):
            try:
                rival = checkpoint.load(said["ngram_name"])
                rows.append((said, "ngram", perplexity(rival, text=text).perplexity))
            except CheckpointError:
                name = said["ngram_name"]
                yield f"{info.name}: the model {name} is not here, so its figure was not computed"
    for entry, name, found in rows:
        if found is not None and entry.get(name) is not None:
            yield CardFigure(info.name, name, entry[name], found)


def check(models: Iterable[checkpoint.ModelInfo], folder: Path | None = None) -> Iterator[CardFigure | str]:
    """Every figure of every model's card, and a sentence for each text that isn't on this machine."""
    known = texts(folder)
    for info in models:
        text = held_out(info.card, known)
        yield from figures(info, text)
        if text is None:
            title = info.card.get("title") or "its text"
            yield f"{info.name}: {title} is not on this machine, so nothing was scored with it"
