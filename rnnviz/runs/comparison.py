"""Networks of the same text side by side, for `models/README.md`: what cards say, and speeds of one run.

`python -m tests.benchmarks.linear --record models/speeds.json` measures; a file is one JSON object:

    machine, versions, threads  where and with what
    load       of the machine besides: its load average when the run began
    networks   by name: "training" and "scoring" in characters a second, "training_memory" and
               "scoring_memory" in bytes beyond those of a process that has torch loaded
    layers     of networks of the same width with random weights: cell, layers, hidden_size, parameters,
               training and scoring in characters a second, and both as a `ratio` to the first row's
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.networks.config import CELLS

FILE = "speeds.json"

INTRODUCTION = """
## Networks of the same text

Held-out perplexity is from the cards. Speeds and memory were measured in one run, in turns, on one thread of
a machine whose load average was {load:.1f} when it began ({machine}; {versions}):
training by the card's recipe in float32, without numba, and scoring as `perplexity` does. *Minutes* are those
of the whole training at that speed. Memory is what a process takes beyond torch itself.

| network | layers × units | parameters | perplexity | passes | minutes | training, characters/s | \
scoring, characters/s | training memory | scoring memory |
|---|---|---|---|---|---|---|---|---|---|
"""

LAYERS = """
Layers of about the same width, batch 16 × 50, embedding 128, random weights:

| network | parameters | training, characters/s | ÷ {first} | scoring, characters/s | ÷ {first} |
|---|---|---|---|---|---|
"""


def to_markdown(models: Sequence[ModelInfo]) -> str:
    """A section for each folder that has a file of measurements beside its models; "" where none has."""
    sections = []
    for folder in sorted({info.path.parent for info in models}):
        if (path := folder / FILE).exists():
            own = [info for info in models if info.path.parent == folder]
            sections.append(section(own, json.loads(path.read_text("utf-8"))))
    return "".join(sections)


def section(models: Sequence[ModelInfo], measured: dict[str, Any]) -> str:
    """The tables and what they say of linear recurrences; "" where none of these models was measured."""
    shown = [info for info in models if info.name in measured.get("networks", {})]
    if not shown:
        return ""
    shown.sort(key=lambda info: (info.card["corpus"], -_perplexity(info)))
    versions = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    head = INTRODUCTION.format(machine=measured["machine"], load=measured["load"], versions=versions)
    rows = "".join(_row(info, measured["networks"][info.name]) for info in shown)
    said = "".join(_beside(info, shown, measured["networks"]) for info in shown if CELLS[info.kind].linear)
    return head + rows + said + _layers(measured["layers"])


def _perplexity(info: ModelInfo) -> float:
    return float(info.card["held_out"]["perplexity"])


def _row(info: ModelInfo, found: dict[str, float]) -> str:
    recipe = info.card["recipe"]
    read = recipe["epochs"] * 0.9 * info.card["characters"]
    cells = (
        f"[{info.name}](#{info.name})",
        f"{recipe.get('layers', 1)} × {recipe['hidden_size']}",
        f"{info.card['parameters']:,}",
        f"{_perplexity(info):.2f}",
        f"{recipe['epochs']:g}",
        f"{read / found['training'] / 60:.0f}",
        *(f"{float(f'{found[key]:.2g}'):,.0f}" for key in ("training", "scoring")),
        *(f"{found[key] / 1e6:.0f} MB" for key in ("training_memory", "scoring_memory")),
    )
    return f"| {' | '.join(cells)} |\n"


def _beside(info: ModelInfo, shown: Sequence[ModelInfo], speeds: dict[str, Any]) -> str:
    """How a linear recurrence compares with the others of its text, in a sentence for each."""
    others = [one for one in shown if one.card["corpus"] == info.card["corpus"] and one.name != info.name]
    sentences = []
    for one in others:
        mine, theirs = _perplexity(info), _perplexity(one)
        own, its = speeds[info.name], speeds[one.name]
        sentences.append(
            f"it predicts {'better' if mine < theirs else 'worse'} than `{one.name}` "
            f"({mine:.2f} against {theirs:.2f}), "
            f"trains at {own['training'] / its['training']:.2f} and scores at "
            f"{own['scoring'] / its['scoring']:.2f} times its speed"
        )
    return f"\n`{info.name}`: {'; '.join(sentences)}.\n" if sentences else ""


def _layers(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return ""
    out = LAYERS.format(first=_named(rows[0]))
    for row in rows:
        training, scoring = (float(f"{row[key]:.2g}") for key in ("training", "scoring"))
        by = row["ratio"]
        out += (
            f"| {_named(row)} | {row['parameters']:,} | {training:,.0f} | {by['training']:.2f} | "
            f"{scoring:,.0f} | {by['scoring']:.2f} |\n"
        )
    return out


def _named(row: dict[str, Any]) -> str:
    return f"{row['cell']} {row['layers']} × {row['hidden_size']}"
