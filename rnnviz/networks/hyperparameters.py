"""Hyperparameters and their choice: candidates, each trained on the first 85 % of the text and scored on the
next 5 %, the validation text. The held-out tenth has no part in it.

A file of candidates is a JSON list of objects:

    settings               by the names of TrainConfig, or of an n-gram model's recipe; "corpus" names the
                           text, and is not compared
    validation_perplexity  at the end of the candidate's training
    characters             characters it was trained on
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rnnviz.errors import ConfigError
from rnnviz.text import files

Row = dict[str, Any]


def read(path: str | Path, recipe: Mapping[str, Any]) -> list[Row]:
    """The table for the card of a model with this `recipe`, the best candidate first.

    A row has `settings` (those in which candidates differ), `validation_perplexity` and `characters`; the row
    of this recipe is `chosen`. Raises ConfigError if the file can't be used or another candidate is best.
    """
    rows = sorted(_candidates(Path(path)), key=lambda row: float(row["validation_perplexity"]))
    chosen = [row for row in rows if all(recipe.get(k) == v for k, v in row["settings"].items())]
    if not chosen or chosen[0]["validation_perplexity"] > rows[0]["validation_perplexity"]:
        raise ConfigError(
            "this model's settings aren't the best candidate of {path}, which has {best}; give the file from "
            "which they were chosen",
            path=path,
            best=in_words(rows[0]["settings"]) if rows else "none",
        )
    chosen[0]["chosen"] = True
    return [{**row, "settings": _own(row, rows)} for row in rows]


def _candidates(path: Path) -> list[Row]:
    try:
        rows: list[Row] = [
            {
                "settings": {k: v for k, v in one["settings"].items() if k != "corpus"},
                "validation_perplexity": float(one["validation_perplexity"]),
                "characters": int(one["characters"]),
            }
            for one in json.loads(files.read(path, 1 << 24))
        ]
    except OSError as error:
        raise ConfigError("{path} can't be read: {strerror}", path=path, strerror=error.strerror) from None
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
        raise ConfigError(
            "{path} is no list of candidates with settings, validation_perplexity and characters ({error})",
            path=path,
            error=error,
        ) from None
    return [row for row in rows if math.isfinite(row["validation_perplexity"])]  # else diverged


def _own(row: Row, rows: Sequence[Row]) -> dict[str, Any]:
    """The settings of one row in which the rows differ."""
    own = row["settings"]
    return {k: v for k, v in own.items() if any(other["settings"].get(k) != v for other in rows)}


def in_words(settings: Mapping[str, Any]) -> str:
    """Settings in one line.

    >>> in_words({"epochs": 12, "learning_rate": 0.004})
    'epochs 12, learning_rate 0.004'
    """
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in settings.items()
    )


def sound(rows: Any) -> list[Row]:
    """The well-formed rows of a card's table; a card may come from anywhere."""
    return [
        row
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
        and isinstance(row.get("settings"), dict)
        and type(row.get("validation_perplexity")) in (int, float)
        and type(row.get("characters")) is int
    ]


HEAD = """
Settings chosen by perplexity on the validation text, each candidate trained on the first 85 %:

| settings | validation perplexity | characters trained on |
|---|---|---|
"""


def to_markdown(rows: Any) -> str:
    """A card's table as Markdown, the chosen row in bold; "" without rows."""
    lines = []
    for row in sound(rows):
        figures = in_words(row["settings"]), f"{row['validation_perplexity']:.4f}", f"{row['characters']:,}"
        bold = "**" if row.get("chosen") else ""
        lines.append(f"| {' | '.join(bold + one + bold for one in figures)} |\n")
    return HEAD + "".join(lines) if lines else ""
