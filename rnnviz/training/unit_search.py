"""The search for units with a meaning in a run's finished network, so that the network opens on one.

Targets are quotes, brackets, the position in the line and the start of a word, as in `python -m rnnviz units
--card`.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

from rnnviz.analysis.controls import controlled
from rnnviz.analysis.search_result import ENOUGH, Search, holm
from rnnviz.analysis.targets import Target, kinds, named
from rnnviz.networks.config import KINDS
from rnnviz.networks.numpy_model import Network
from rnnviz.networks.progress import run
from rnnviz.scoring.tracer import tracing
from rnnviz.text.characters import normalise
from rnnviz.text.corpora import Corpus, sha256
from rnnviz.training import unit_findings

SECONDS = 60.0
"""The time limit of a search, in seconds."""

MOST, WEIGHTS = 40_000, 2_000_000
"""Characters read, MOST for a network with up to WEIGHTS weights; fewer for a larger one, down to ENOUGH. An
LSTM of 512 units takes 24 seconds on one thread, one of 256 takes 12.
"""


def found(
    model: Network, corpus: Corpus, *, together: bool, command: str, seconds: float = SECONDS
) -> dict[str, Any]:
    """The entry of a card (`unit_findings.KEY`) for a network that was trained on `corpus`, with the
    validation text if `together`, in at most `seconds`. The search reads text that training never read:
    the validation text, and where that is short also the held-out text. Weights and torch's random numbers
    stay as they are.
    """
    until, split = time.monotonic() + seconds, corpus.split()

    def in_time(_step: object) -> None:
        if time.monotonic() > until:
            raise TimeoutError

    most = max(ENOUGH, MOST * WEIGHTS // max(WEIGHTS, model.config.parameter_count))
    part: unit_findings.Part = "held-out"
    text = split.held_out
    if not together:
        part = "validation" if len(split.validation) >= most else "validation and held-out"
        text = split.validation + (split.held_out if part != "validation" else "")
    about = {"name": corpus.name, "sha256": sha256(text), "held_out": part == "held-out", "part": part}
    text = normalise(text, model.normaliser)[:most]
    asked = [named(name, text) for name in kinds(text) if name in unit_findings.SOUGHT]
    why = unit_findings.same_throughout([one for one in asked if not one.varies])
    varying = [one for one in asked if one.varies]
    searches: list[Search] = []
    if len(text) < ENOUGH:
        why |= dict.fromkeys([one.name for one in varying], "short")
    elif varying:
        try:
            searches = run(_searched(model, text, varying), in_time)
        except (MemoryError, TimeoutError):
            why |= dict.fromkeys([one.name for one in varying], "costly")
    return unit_findings.entry(command, searches, about, why)


def _searched(model: Network, text: str, targets: list[Target]) -> Generator[object, None, list[Search]]:
    traced = yield from tracing(model, text)
    quantity = "cell" if KINDS[model.config.cell].has_cell else "hidden"
    each = yield from controlled(model, traced, targets, quantity=quantity)
    return holm(one for one in each if one is not None)
