"""The search for units with a meaning in a run's finished network, so that the network opens on one.

Targets are quotes, brackets, the position in the line and the start of a word, as in `python -m rnnviz units
--card`.
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from rnnviz.lab.analysis.activations import activations
from rnnviz.lab.analysis.controls import controlled, weighted
from rnnviz.lab.analysis.search_result import Search, holm
from rnnviz.lab.analysis.targets import KINDS, PYTHON_KINDS, Target, Unclosed, kinds, named_target
from rnnviz.networks.config import KINDS as CELL_KINDS
from rnnviz.networks.model_card import SOUGHT, Part, Recorded, Why
from rnnviz.networks.numpy_model import Network
from rnnviz.networks.progress import Progress
from rnnviz.networks.verdicts import MIN_VERDICT_CHARS
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace_long_text
from rnnviz.text.characters import normalise
from rnnviz.text.corpora import Corpus, sha256

SEARCH_S = 60.0
"""The time limit of a search, in seconds."""

MAX_FITTING_CHARS = 20_000
"""Characters of the training text to which weighted sums are fitted."""

_MASKS = {"bracket-depth": "brackets", "py-bracket-depth": "py-brackets"}
"""The mask that stands for a graded target: open brackets or none."""

MAX_CHARS_READ, SMALL_NETWORK_WEIGHTS = 40_000, 2_000_000
"""Characters read: MAX_CHARS_READ by a network with up to SMALL_NETWORK_WEIGHTS weights; fewer by a larger
one, down to MIN_VERDICT_CHARS. An LSTM of 512 units takes 24 seconds on one thread, one of 256 takes 12.
"""


def search_units(
    model: Network, corpus: Corpus, *, together: bool, command: str, seconds: float = SEARCH_S
) -> dict[str, Any]:
    """The entry of a card (`rnnviz.networks.model_card.UNITS_KEY`) for a network trained on `corpus`, with
    the validation text if `together`, in at most `seconds`. The search reads text that training never read:
    the validation text, and where that is short also the held-out text. Weights and torch's random numbers
    stay as they are.
    """
    until, split = time.monotonic() + seconds, corpus.split()

    def in_time(_step: object) -> None:
        # The search calls this as it goes on, and so ends soon after its time.
        if time.monotonic() > until:
            raise TimeoutError

    text, part, max_chars = searched_text(model, corpus, together=together)
    about = {"name": corpus.name, "sha256": sha256(text), "held_out": part == "held-out", "part": part}
    text = normalise(text, model.normaliser)[:max_chars]
    targets = [named_target(name, text) for name in kinds(text) if name in SOUGHT]
    why = same_throughout([target for target in targets if not target.varies])
    varying = [target for target in targets if target.varies]
    searches: list[Search] = []
    if len(text) < MIN_VERDICT_CHARS:
        why |= dict.fromkeys([target.name for target in varying], "short")
    elif varying:
        try:
            searches = _search(model, text, varying, normalise(split.train, model.normaliser), in_time)
        except (MemoryError, TimeoutError):
            why |= dict.fromkeys([target.name for target in varying], "costly")
    return card_entry(command, searches, about, why)


def searched_text(model: Network, corpus: Corpus, *, together: bool) -> tuple[str, Part, int]:
    """Text that training never read, its part of the corpus, and the characters of it that a search reads."""
    max_chars = max(
        MIN_VERDICT_CHARS,
        MAX_CHARS_READ * SMALL_NETWORK_WEIGHTS // max(SMALL_NETWORK_WEIGHTS, model.config.parameter_count),
    )
    split = corpus.split()
    if together:
        return split.held_out, "held-out", max_chars
    if len(split.validation) >= max_chars:
        return split.validation, "validation", max_chars
    return split.validation + split.held_out, "validation and held-out", max_chars


def _search(
    model: Network, text: str, targets: list[Target], trained_on: str, progress: Progress
) -> list[Search]:
    """A search for units that follow each target; for targets that no unit remembers, a search for weighted
    sums too, as far as time allows.
    """
    traced = trace_long_text(model, text, progress)
    quantity = "cell" if CELL_KINDS[model.config.cell].has_cell else "hidden"
    all_searches = controlled(model, traced, targets, quantity=quantity, progress=progress)
    searches = holm(search for search in all_searches if search is not None)
    with suppress(MemoryError, TimeoutError):
        lacking = {search.target for search in searches if search.verdict != "remembers"}
        fitting = trace_long_text(model, trained_on[-MAX_FITTING_CHARS:], progress)
        sought = [target for target in targets if target.name in lacking]
        fitting_targets = [named_target(target.name, fitting.text) for target in sought]
        sums = weighted(
            *(model, traced, sought, fitting, fitting_targets), quantity=quantity, progress=progress
        )
        searches = holm([*searches, *(search for search in sums if search is not None)])
    return searches


def same_throughout(targets: Sequence[Target]) -> dict[str, Why]:
    """The reason for no search of each constant target."""
    return {
        target.name: "short" if not len(target) else "throughout" if target.values.any() else "absent"
        for target in targets
    }


def share_typed(
    search: Search, sentences: Sequence[Trace], unclosed: Unclosed = "paragraph"
) -> tuple[float, float] | None:
    """Two shares of the characters of `sentences`, each read from the zero state. The first: where the sign
    of the best unit matches the target, as the page's colours show. The second: the likelier constant
    answer. Open brackets count as a mask. None for another graded target, a pattern, or no characters.
    """
    best, name = search.best, _MASKS.get(search.target, search.target)
    if name not in {**KINDS, **PYTHON_KINDS} or not any(map(len, sentences)):
        return None
    targets = [named_target(name, read.text, unclosed=unclosed) for read in sentences]
    if targets[0].graded:
        return None
    planes = [activations(read, layer=best.unit.layer, quantity=search.quantity) for read in sentences]
    plane = np.concatenate(planes)
    values = plane[:, best.unit.unit] if search.weighted is None else search.weighted.along(plane)
    holds = np.concatenate([target.values for target in targets])
    right, share = ((values * best.direction > 0) == holds).mean(), holds.mean()
    return float(right), float(max(share, 1 - share))


def record_search(search: Search, typed: tuple[float, float] | None = None) -> Recorded:
    """The record of a search on a trace."""
    best, character, weighted = search.best, search.character, search.weighted
    assert character is not None  # it was on a trace
    return Recorded(
        search.target,
        search.quantity,
        search.measure,
        best.unit.layer,
        best.unit.unit if weighted is None else len(weighted.weights),
        best.score,
        search.chance,
        character,
        search.untrained,
        search.characters,
        search.evidence,
        best.p,
        search.levels,
        best.direction,
        typed,
        "" if weighted is None else b64encode(weighted.weights.astype("<f2").tobytes()).decode(),
        0.0 if weighted is None else weighted.bias,
    )


def card_entry(
    command: str,
    searches: Sequence[Search],
    text: Mapping[str, Any] | None = None,
    unanswered: Mapping[str, Why] | None = None,
    typed: Sequence[tuple[float, float] | None] | None = None,
) -> dict[str, Any]:
    """The entry of a card under UNITS_KEY, from the searches whose target was in all parts of the text.

    text        {"name": its name, "sha256": …, "held_out": whether the card calls it that, "part": a Part, if
                any}
    unanswered  the reasons for targets without a search
    typed       the shares of typed sentences for each search, see `Recorded`
    """
    shares = typed or [None] * len(searches)
    records = [
        record_search(search, share)
        for search, share in zip(searches, shares, strict=True)
        if search.held_out
    ]
    named = {(record.target, record.quantity) for record in records if record.verdict == "remembers"}
    return {
        "command": command,
        **({"text": dict(text)} if text is not None else {}),
        "findings": [record.to_json() for record in records if record.verdict == "remembers"],
        "others": [record.to_json() for record in records if (record.target, record.quantity) not in named],
        "unanswered": {**(unanswered or {}), **{s.target: "same text" for s in searches if not s.held_out}},
    }
