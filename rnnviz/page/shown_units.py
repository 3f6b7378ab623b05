"""The units that the live view shows: their names and findings, their order in the heat map, and their reach.

Order and reach come from a text that the model itself writes, so they exist for every model, even without its
training text. The results of the twelve models shown last are cached for all sessions.

A named unit is one whose finding the model's card has confirmed. The live view begins with the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Floats
from rnnviz.figures import live
from rnnviz.figures.live import seriate, steady
from rnnviz.i18n import _
from rnnviz.networks import model_card
from rnnviz.page.formatting import measure_name, spoken
from rnnviz.scoring.sampling import sample_texts
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import Tracer

if TYPE_CHECKING:
    from rnnviz.networks.model_card import Recorded
    from rnnviz.networks.numpy_model import Network

REFERENCE_LENGTH = 1000
"""Characters of the reference text, which the model writes."""

STEADY_UNITS = 8
"""Units that change least often, shown below the named units: as many as a reader sees at a glance."""

REACH_PERCENTILE = 98
"""Percentile of a unit's values on the reference text: the upper end of its `unit_reach`. The lower end is at
100 − REACH_PERCENTILE. Beyond them are rare peaks, which would leave all other colours pale.
"""

MIN_SIDE_RATIO = 0.2
"""Each side of a unit's reach is at least this fraction of the other: a hardly used side stays pale."""

ORDERS = ("steady", "alike", "index")

Ids = npt.NDArray[np.int64]

# As many models as the app keeps in memory (model_cache.MAX_LOADED_MODELS). A model is its own key: it never
# changes, and is hashed by identity.
_once = lru_cache(maxsize=12)


@_once
def reference_trace(model: Network) -> Trace:
    """The trace of the reference text, always the same: REFERENCE_LENGTH characters that the model writes."""
    return Tracer(model).extend(sample_texts(model, "", REFERENCE_LENGTH, temperature=0.8, seed=0))


# Each keystroke's answer has an order; a reader turns between few.
@lru_cache(maxsize=12)
def unit_order(
    model: Network, kind: str, layer: int, quantity: str = "hidden", first: tuple[int, ...] = ()
) -> Ids:
    """The unit of each row, (H,).

    kind  "steady": the units of `first`, then the STEADY_UNITS that change least often, then all
          others. The quantity "cell" has an order of cell states; every other quantity uses that of hidden
          states.
          "alike": similar units side by side
    """
    # A gate follows its state's rows, so that a unit keeps its row while a reader turns from one to the
    # other.
    state = "cell" if (kind, quantity) == ("steady", "cell") else "hidden"
    units = _row_orders(model)[kind, state, layer]
    sums = weighted_sums(model, quantity)
    units = np.concatenate([units, model.config.hidden_size + np.arange(len(sums))])
    if kind == "steady" and first:
        units = np.concatenate([np.asarray(first, np.int64), units[~np.isin(units, first)]])
    return units


@_once
def unit_reach(model: Network) -> dict[str, npt.NDArray[np.float32]]:
    """Each unit's reach below and above 0 on the reference text, by state ("hidden", "cell"), (2, L, H) each.

    The strongest colours of a unit are at its reach. Behind the H units of each layer stand the quantity's
    weighted sums, whose reach is 1.
    """
    reach = {}
    for name, values in _states(reference_trace(model)).items():
        # 1e-3: a unit that never leaves 0 would otherwise be divided by 0.
        ends = abs(np.percentile(values, (100 - REACH_PERCENTILE, REACH_PERCENTILE), axis=0))
        ends = np.maximum(ends, np.maximum(MIN_SIDE_RATIO * ends.max(axis=0), 1e-3)).astype(np.float32)
        further = (0, len(weighted_sums(model, name)))
        reach[name] = np.pad(ends, ((0, 0), (0, 0), further), constant_values=1)
    return reach


@_once
def _row_orders(model: Network) -> dict[tuple[str, str, int], Ids]:
    read = reference_trace(model)
    orders = {}
    for layer in range(model.config.layers):
        alike = orders["alike", "hidden", layer] = seriate(read.hidden[:, layer])
        for state, values in _states(read).items():
            steadiest = steady(values[:, layer], STEADY_UNITS)
            orders["steady", state, layer] = np.concatenate([steadiest, alike[~np.isin(alike, steadiest)]])
    return orders


def _states(read: Trace) -> dict[str, npt.NDArray[np.float32]]:
    return {"hidden": read.hidden, **({} if read.cell is None else {"cell": read.cell})}


MAX_NAMED_UNITS = 4
"""Named units of a view, at most; a reader takes in no more."""

TRACE_QUANTITIES = ("hidden", "cell")
"""Quantities that a trace holds for every character, so that a keystroke computes nothing more."""


@dataclass(frozen=True)
class NamedUnit:
    """A unit with its findings on the model's card, the best first. Weighted sums of a quantity are numbered
    behind the units, from H on.
    """

    quantity: str
    layer: int
    unit: int
    findings: Sequence[Recorded]


@_once
def named_units(model: Network) -> tuple[NamedUnit, ...]:
    """A model's first MAX_NAMED_UNITS named units, each once; () if its card has no confirmed finding."""
    from rnnviz.networks import model_card

    if not model.card.get(model_card.UNITS_KEY):
        return ()
    config, findings_by_unit = model.config, dict[tuple[str, int, int], list["Recorded"]]()
    counts = Counter[str]()
    for finding in model_card.unit_findings(model.card):
        exists = finding.layer < config.layers and finding.unit < config.hidden_size
        unit = finding.unit
        if finding.weighted is not None:
            exists = finding.layer < config.layers and len(finding.weighted.weights) == config.hidden_size
            unit = config.hidden_size + counts[finding.quantity]
        is_drawn = finding.quantity in TRACE_QUANTITIES and finding.quantity in live.quantities(config.cell)
        if exists and is_drawn and finding.verdict == "remembers":
            findings_by_unit.setdefault((finding.quantity, finding.layer, unit), []).append(finding)
            counts[finding.quantity] += finding.weighted is not None
    return tuple(NamedUnit(*where, same) for where, same in list(findings_by_unit.items())[:MAX_NAMED_UNITS])


def weighted_sums(model: Network, quantity: str) -> list[Recorded]:
    """The named weighted sums of a quantity, in the order of their numbers."""
    rows = (row.findings[0] for row in named_units(model) if row.quantity == quantity)
    return [finding for finding in rows if finding.weighted is not None]


def row_values(model: Network, trace: Trace, quantity: str, layer: int, start: int, stop: int) -> Floats:
    """The rows of the heat map over characters start .. stop - 1: (n, H) of the units, then the quantity's
    weighted sums, whichever layer they are of.
    """
    values = live.heat_map_values(trace, quantity, layer, start, stop)
    sums = weighted_sums(model, quantity)
    if not sums:
        return values
    planes = (live.heat_map_values(trace, quantity, finding.layer, start, stop) for finding in sums)
    return np.column_stack([values, *(f.along(plane) for f, plane in zip(sums, planes, strict=True))])


def named_among(named: tuple[NamedUnit, ...], quantity: str, layer: int) -> tuple[int, ...]:
    """The numbers of the named units in a heat map of this quantity and layer."""
    return tuple(
        named_unit.unit
        for named_unit in named
        if (named_unit.quantity, named_unit.layer) == (quantity, layer)
    )


def target_name(target: str) -> str:
    """A target's name; a pattern stands for itself."""
    return spoken(model_card.described(target))


def followed_targets(card: Mapping[str, Any]) -> str:
    """The sentence on the targets that a network's named rows follow; "" without a standing finding."""
    stand = model_card.remembering(card)
    if not stand:
        return ""
    phrases = [
        _("{list} ({why})").format(
            list=target_name(finding.target),
            why=f"{measure_name(finding)} {finding.reported:.2f}",
        )
        for finding in stand
    ]
    return _("It keeps track of this: {what}.").format(what=_(", ").join(phrases))


def reason_words() -> dict[str, str]:
    """The reasons why a unit has no name, by verdict and by `model_card.Why`."""
    return {
        "nothing": _("no unit follows it"),
        "chance": _("no unit follows it"),
        "character": _("the last character alone may do as well"),
        "context": _("the last few characters may do as well"),
        "untrained": _("an untrained network may do as well"),
        "open": _("not compared with anything simpler"),
        "short": _("the text is too short"),
        "same text": _("too rare to say"),
        "absent": _("the text has none"),
        "throughout": _("the same at every character"),
        "costly": _("the search took too much time or memory"),
    }


def unnamed_targets(card: Mapping[str, Any]) -> str:
    """The sentence that says why no unit has a name; "" if the card records no search."""
    words = reason_words()
    searches = sorted(model_card.other_searches(card), key=lambda search: search.reported)
    reasons = {
        search.target: _lack(search) for search in searches
    }  # of a unit and a sum the one that tells more
    reasons |= {name: words[why] for name, why in model_card.unanswered(card).items()}
    sought = {name: reasons[name] for name in model_card.SOUGHT if name in reasons}
    phrases = [
        _("{list} ({why})").format(
            list=_(", ").join(target_name(name) for name, why in sought.items() if why == reason), why=reason
        )
        for reason in dict.fromkeys(sought.values())
    ]
    where = model_card.searched_text(card)
    if where and searches:
        where = _("{n} characters of {text}").format(n=f"{searches[0].characters:,}", text=where)
    message = _("No unit could be named from {where}: {reasons}.")
    if any(search.weighted for search in searches):
        message = _("No unit and no direction could be named from {where}: {reasons}.")
    if len(phrases) == 1 and not model_card.unit_findings(card):  # one reason for all targets: name it alone
        phrases = list(sought.values())[:1]
    where = where or _("text it never read")
    return message.format(where=where, reasons=_("; ").join(phrases)) if phrases else ""


def _lack(search: Recorded) -> str:
    """The reason why a search named nothing: with its score, where something simpler tells as much."""
    rival = search.strongest
    if rival is None or search.verdict not in ("character", "context", "untrained"):
        return reason_words()[search.verdict]
    messages = {
        "character": _("score {score}, the last character alone {rival}"),
        "context": _("score {score}, the last characters alone {rival}"),
        "untrained": _("score {score}, untrained {rival}"),
    }
    return messages[rival.kind].format(score=f"{search.reported:.2f}", rival=f"{rival.score:.2f}")
