"""One answer of the live view: its content, and its difference to what the browser holds.

`find_browser_rows` says which rows the browser holds, `content` computes all others. So a keystroke costs
the same after 5,000 characters as after 50. An example: the text grows from "The Time" to "The Time ", in a
window of 8 columns.

    text     both begin with the same 8 characters: `text_rows` is 8, and ids and costs have one new row, 8
    window   columns 0 .. 7 become 1 .. 8; 1 .. 7 are in both (`low` 1, `high` 8): one new column of states
    next     a window of n characters has n + 1 predictions, so the browser holds those after 1 .. 8
             characters: one new prediction, after 9

page/answers.js does the same in the page without a server; store.js puts an answer's rows to those it holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from rnnviz.arrays import Array, Arrays
from rnnviz.figures import live
from rnnviz.networks.model_card import WeightedSum
from rnnviz.networks.numpy_model import Network
from rnnviz.page import shown_units
from rnnviz.scoring.sampling import PLAIN, Branch, SamplingSettings, sampling_distribution
from rnnviz.scoring.text_reader import TextRead
from rnnviz.scoring.trace import Trace

MAX_MOVES = 3
"""Units named in a weighted sum's step, at most."""


@dataclass(frozen=True)
class Selection:
    """What an answer shows of a text.

    length        the text's characters
    start, stop   the window: characters start .. stop − 1
    quantity, layer, order  of the heat map
    unit          the unit that colours the text; None: surprisal does
    memoryless    whether the network without memory is shown beside
    """

    length: int
    start: int
    stop: int
    quantity: str = "hidden"
    layer: int = 0
    order: str = "steady"
    unit: int | None = None
    memoryless: bool = False

    @property
    def heat_map_source(self) -> tuple[str, int]:
        """The quantity and the layer of the heat map."""
        return self.quantity, self.layer


@dataclass(frozen=True)
class BrowserRows:
    """The rows of a selection that the browser holds; an answer has all others.

    text_rows  characters at the text's beginning, in all arrays as long as the text
    unit_rows  the same for the chosen unit's array
    low, high  columns low .. high − 1 of the window; both are the window's start if the browser holds none
    """

    text_rows: int
    unit_rows: int
    low: int
    high: int


def find_browser_rows(
    browser_selection: Selection | None, selection: Selection, unchanged: int
) -> BrowserRows:
    """What the browser holds of `selection`.

    browser_selection  the selection that it shows now, all of which it holds; None: it holds nothing
    unchanged          characters at the beginning that the text shares with that selection's
    """
    start = selection.start
    # The network without memory has arrays as long as the text too. When the reader turns it on, these are
    # sent from the beginning; `text_rows` is one number for all such arrays, so all are.
    if browser_selection is None or browser_selection.memoryless != selection.memoryless:
        return BrowserRows(0, 0, start, start)
    same_source = browser_selection.heat_map_source == selection.heat_map_source
    low, high = max(start, browser_selection.start), min(selection.stop, browser_selection.stop, unchanged)
    if not same_source or low >= high:
        low = high = start
    return BrowserRows(
        unchanged, unchanged if same_source and browser_selection.unit == selection.unit else 0, low, high
    )


def content(
    read: TextRead, selection: Selection, browser_rows: BrowserRows, predictions: WindowPredictions
) -> dict[str, Array]:
    """The arrays of an answer: `selection` of the text `read`, without the `browser_rows`.

    `predictions` caches the rows of the last window, and knows how the reader reshapes them.
    """
    trace, start, stop = read.trace, selection.start, selection.stop
    # Vocabularies are small: two bytes a symbol, unless it has more than two bytes can tell apart.
    symbol_type = "<u2" if read.model.vocabulary.size <= 0xFFFF else "<u4"

    # As long as the text: the rows after those that are known.
    arrays: Arrays = {
        "ids": trace.ids[browser_rows.text_rows :].astype(symbol_type),
        "nll": trace.nll[browser_rows.text_rows :].astype("<f4"),
    }
    if read.ngram is not None:
        arrays["ngram"] = read.ngram[browser_rows.text_rows :].astype("<f4")
    if read.memoryless is not None:
        arrays["memoryless"] = read.memoryless.nll[browser_rows.text_rows :].astype("<f4")
    if selection.unit is not None:
        values = shown_units.row_values(
            read.model, trace, *selection.heat_map_source, browser_rows.unit_rows, selection.length
        )[:, selection.unit]
        arrays["unit"] = colour_levels(read.model, values, *selection.heat_map_source, selection.unit)

    # The window: the columns on both sides of those that are held. Colours, a byte each, not values.
    arrays["states"] = np.concatenate(
        [
            colour_levels(
                read.model,
                shown_units.row_values(read.model, trace, *selection.heat_map_source, begin, end),
                *selection.heat_map_source,
            )
            for begin, end in ((start, browser_rows.low), (browser_rows.high, stop))
        ]
    )
    if selection.order != "index":
        arrays["unitOfRow"] = unit_order(read.model, selection)
    # Predictions after start .. stop characters. The browser also holds the one after column high − 1.
    sent = slice(0, None)
    if browser_rows.low < browser_rows.high:
        sent = np.r_[0 : browser_rows.low - start, browser_rows.high + 1 - start : stop + 1 - start]
    symbols, probabilities = predictions.listed(read, start, stop)
    arrays["next"] = symbols[sent].astype(symbol_type)
    arrays["chances"] = probabilities[sent].astype("<f4")
    arrays["entropy"] = trace.entropy[start : stop + 1][sent].astype("<f4")

    # Whole windows, while they are shown: a change of a slider changes every row.
    if predictions.settings != PLAIN:
        arrays["reshaped"] = predictions.reshaped(read, start, stop)
    if read.memoryless is not None:
        arrays["memorylessNext"] = predictions.memoryless(read, start, stop)
    return arrays


def tree_arrays(tree: list[Branch], symbol_type: np.dtype[Any]) -> dict[str, Array]:
    """The arrays of a tree of continuations, a row for each branch: see `Branch`."""
    rows = np.array(tree, np.float64).reshape(-1, 4)
    return {
        "treeParents": rows[:, 0].astype("<u2"),
        "treeIds": rows[:, 1].astype(symbol_type),
        "treeChances": rows[:, 2:].astype("<f4"),
    }


def colour_levels(model: Network, values: Array, quantity: str, layer: int, unit: int | None = None) -> Array:
    """Colour indices of all units' values (n, H), or of one `unit`'s (n,), in the same shape.

    A cell state is unbounded, and one unit alone may use a small part of a scale. Both are scaled by the
    unit's own reach (`shown_units.unit_reach`).
    """
    scale = live.scale(quantity, model.config.span)
    if quantity == "cell" or (unit is not None and quantity == "hidden"):
        columns = slice(None) if unit is None else unit
        below, above = shown_units.unit_reach(model)[quantity][:, layer, columns]
        values = values * (scale.high / np.where(values < 0, below, above))
    return scale.levels(values)


def unit_order(model: Network, selection: Selection) -> Array:
    """The unit of each row of the heat map, the named units first."""
    quantity, layer = selection.heat_map_source
    named = shown_units.named_among(shown_units.named_units(model), quantity, layer)
    return shown_units.unit_order(model, selection.order, layer, quantity, named).astype("<u2")


def unit_step(trace: Trace, t: int, layer: int, unit: int) -> dict[str, float]:
    """One unit's step at character `t`: its gates and candidate by name, and its states before and after.

    Values that are not finite are left out.
    """
    values = {name: float(gate[0, layer, unit]) for name, gate in trace.gates_at(t, t + 1).items()}
    (hidden_before, cell_before), (hidden, cell) = trace.state_after(t), trace.state_after(t + 1)
    if cell_before is not None and cell is not None:
        values |= {"cell_before": float(cell_before[layer, unit]), "cell": float(cell[layer, unit])}
    values |= {"before": float(hidden_before[layer, unit]), "hidden": float(hidden[layer, unit])}
    return {name: value for name, value in values.items() if math.isfinite(value)}


def weighted_step(
    trace: Trace, t: int, quantity: str, weighted: WeightedSum
) -> tuple[dict[str, float], list[tuple[int, float]]]:
    """A weighted sum's step at character `t`: its values before and after, and the MAX_MOVES units whose
    changes, weighted, moved it most, each with what it added. Values that are not finite are left out.
    """
    of_state = 1 if quantity == "cell" else 0
    states = [trace.state_after(at)[of_state] for at in (t, t + 1)]
    before, after = (np.asarray(state)[weighted.layer] for state in states)
    values = {"before": float(weighted.along(before)), quantity: float(weighted.along(after))}
    added = np.nan_to_num(weighted.weights.astype(np.float32) * (after - before))
    strongest = np.argsort(-abs(added), kind="stable")[:MAX_MOVES]
    moves = [(unit, float(added[unit])) for unit in strongest.tolist()]
    return {name: value for name, value in values.items() if math.isfinite(value)}, moves


Rows = tuple[Array, ...]
"""Arrays with a row for each prediction."""

Source = TypeVar("Source")
ComputeRows = Callable[[Source, int, int], Rows]
"""(source, start, stop) -> the rows of the predictions after start .. stop − 1 characters. The source is a
Trace or two.
"""


class RowCache(Generic[Source]):
    """The rows of the last window, so that a key computes only those after the text's change."""

    def __init__(self, compute: ComputeRows[Source]) -> None:
        self._compute = compute
        self._start = 0
        self._rows: Rows = ()

    def rows(self, source: Source, start: int, stop: int, unchanged: int) -> Rows:
        """Rows start .. stop − 1; those before row `unchanged` are as at the last call."""
        low = max(start, self._start)
        high = min(stop, self._start + len(self._rows[0]), unchanged) if self._rows else low
        if low >= high:
            rows = self._compute(source, start, stop)
        else:
            cached = slice(low - self._start, high - self._start)
            before, after = self._compute(source, start, low), self._compute(source, high, stop)
            rows = tuple(
                np.concatenate([first, middle[cached], last])
                for first, middle, last in zip(before, self._rows, after, strict=True)
            )
        self._start, self._rows = start, rows
        return rows


class WindowPredictions:
    """The predictions of the last window: as they are, reshaped, and those of the network without memory."""

    def __init__(self) -> None:
        self._listed = RowCache(listed_rows)
        self.reshape(PLAIN)

    def reshape(self, settings: SamplingSettings) -> None:
        """Reshape predictions by `settings` from now on."""
        self.settings = settings
        self._reshaped, self._memoryless = RowCache(shaped_rows(settings)), RowCache(shaped_rows(settings))

    def listed(self, read: TextRead, start: int, stop: int) -> Rows:
        """The rows of `listed_rows` after start .. stop characters."""
        # The prediction after `unchanged` characters has read only these, so it is unchanged too: hence + 1.
        return self._listed.rows(read.trace, start, stop + 1, read.unchanged + 1)

    def reshaped(self, read: TextRead, start: int, stop: int) -> Array:
        """The rows of `shaped_rows` after start .. stop characters."""
        # No + 1: the row after `unchanged` characters has the probability of a character that has changed.
        return self._reshaped.rows((read.trace, read.trace), start, stop + 1, read.unchanged)[0]

    def memoryless(self, read: TextRead, start: int, stop: int) -> Array:
        """The same for the network without memory, of the symbols that this network lists."""
        assert read.memoryless is not None
        traces = read.memoryless, read.trace
        return self._memoryless.rows(traces, start, stop + 1, read.memoryless_unchanged)[0]


def listed_rows(trace: Trace, start: int, stop: int) -> Rows:
    """The most probable symbols: ids and probabilities, (n, live.LISTED_NEXT) each."""
    return trace.top_at(start, stop, live.LISTED_NEXT)


def shaped_rows(settings: SamplingSettings) -> ComputeRows[tuple[Trace, Trace]]:
    """Predictions reshaped by temperature, top-k and top-p: one float32 array, (n, live.LISTED_NEXT + 2).

    A row has the probabilities of the symbols of `listed_rows`, then the probability of the actual character
    (0 after the last) and the number of symbols left to draw from. Of the two traces of one text, the first
    predicts, and the second lists symbols.
    """

    def compute(traces: tuple[Trace, Trace], start: int, stop: int) -> Rows:
        predicting, listing = traces
        P = sampling_distribution(predicting.log_probs_at(start, stop), **asdict(settings))  # (n, V)
        listed = np.take_along_axis(P, listed_rows(listing, start, stop)[0], axis=1)
        actual = np.zeros(len(P))
        ids = listing.ids[start:stop]  # one fewer than predictions at the text's end
        actual[: len(ids)] = P[np.arange(len(ids)), ids]
        return (np.column_stack([listed, actual, np.count_nonzero(P, axis=1)]).astype("<f4"),)

    return compute
