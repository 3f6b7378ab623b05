"""One reader's live view on the server: what the browser asks, and the bytes that answer it. An ask states
everything wanted, so asks may be dropped and the last one is always right. An answer holds only what is new
since the one that the browser says it holds (`base`): of arrays as long as the text, what follows the common
prefix; of the window's, the new rows. A keystroke costs the same after 5,000 characters as after 50.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rnnviz.figures import live
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.reading.sampling import sample
from rnnviz.reading.trace import Trace, Tracer
from rnnviz.ui import asks
from rnnviz.ui.browser.payload import pack
from rnnviz.ui.pages.explore import rows, tracks

if TYPE_CHECKING:
    from rnnviz.networks.torch_model import CharModel

LIMIT = 20_000  # characters that the live view takes; longer texts belong on the Perplexity page
CONTINUE = 120  # characters that Continue writes at a time
WIDEST = 400  # columns that a window has at most, whatever the browser asks

Ids = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Ask:
    """What a browser wants to see; `from_json` validates it.

    client, seq     who asks, and the ask's number: the answer bears both
    start, columns  the window's first character and its width
    unit            None: the text is coloured by surprisal
    base            the number of the answer that the browser holds, 0 for none
    static          digest of the unchanging part that it holds
    write           whether and at which temperature to continue the text
    fresh           it holds nothing, not even the text
    """

    client: str = ""
    seq: int = 0
    text: str = ""
    start: int | None = None
    columns: int = live.COLUMNS
    quantity: str = "hidden"
    layer: int = 0
    order: str = "steady"
    unit: int | None = None
    base: int = 0
    static: str = ""
    write: bool = False
    temperature: float | None = None
    fresh: bool = False

    @classmethod
    def from_json(cls, value: object) -> Ask:
        """The ask in a JSON object; missing or mistyped values become defaults."""
        ask = asks.valid(
            cls,
            value,
            client=asks.text(64),
            seq=asks.whole(),
            text=lambda v: isinstance(v, str),
            start=asks.whole(),
            columns=asks.whole(1, WIDEST),
            quantity=lambda v: isinstance(v, str) and v in live.SYMBOLS,
            layer=asks.whole(),
            order=lambda v: v in rows.ORDERS,
            unit=asks.whole(),
            base=asks.whole(),
            static=asks.text(64),
            write=asks.true,
            temperature=lambda v: isinstance(v, int | float) and 0 < v <= 10,
            fresh=asks.true,
        )
        # Half a surrogate pair is no character and can't be encoded.
        return replace(ask, text=ask.text[:LIMIT].encode("utf-8", "replace").decode())


Top = tuple[npt.NDArray[np.integer[Any]], Floats]  # ids and probabilities, (rows, live.NEXT) each


class _Expected:
    """The window's most probable next characters, kept while the text before them stays."""

    def __init__(self) -> None:
        self._start = 0
        self._top: Top = np.empty((0, 0), np.int64), np.empty((0, 0), np.float32)

    def rows(self, trace: Trace, start: int, stop: int, kept: int) -> Top:
        """Rows start .. stop - 1; the first `kept` characters are those of the call before."""
        low = max(start, self._start)
        high = min(stop, self._start + len(self._top[0]), kept + 1)
        if low >= high:
            top = trace.top_at(start, stop, live.NEXT)
        else:
            held = slice(low - self._start, high - self._start)
            before, after = trace.top_at(start, low, live.NEXT), trace.top_at(high, stop, live.NEXT)
            ids, probabilities = (
                np.concatenate([b, kept[held], a])
                for b, kept, a in zip(before, self._top, after, strict=True)
            )
            top = ids, probabilities
        self._start, self._top = start, top
        return top


class LiveSession:
    """One reader's text, read by one model, and what the browser already holds."""

    def __init__(self, model: CharModel | NumpyModel, yardstick: NgramModel | None = None) -> None:
        self.model, self.yardstick = model, yardstick
        self.text = ""
        self.quantities = live.quantities(model.config.cell)
        self.tracks = tracks.of(model)
        self._tracer = Tracer(model)
        self._expected = _Expected()
        self._ngram: Doubles = np.empty(0)
        self._revision = 0
        self._coloured_by: tuple[Any, ...] = ()
        self._sent: tuple[tuple[str, int], int, int] = (("", 0), 0, 0)  # what of which rows
        self._symbols = np.dtype("<u2" if model.vocabulary.size <= 0xFFFF else "<u4")

    def answer(
        self, ask: Ask, static: Mapping[str, Any], digest: str, *, temperature: float, **extra: Any
    ) -> bytes:
        """The bytes that answer `ask`: `static` unless the browser holds `digest`, `extra` in the header."""
        self._revision += 1
        trace = self._tracer.extend(ask.text)
        self.text = trace.text
        length, changed = len(trace), self._tracer.changed[0]
        self._follow(trace, changed)
        same = changed if ask.base and ask.base == self._revision - 1 else 0
        start, stop = self._window(ask, length)
        quantity = ask.quantity if ask.quantity in self.quantities else "hidden"
        layer = min(ask.layer, self.model.config.layers - 1)
        unit = ask.unit if ask.unit is not None and ask.unit < self.model.config.hidden_size else None
        low, high = self._held((quantity, layer), start, stop, same)
        coloured_by = (quantity, layer, unit)
        unit_from = same if coloured_by == self._coloured_by else 0
        self._coloured_by = coloured_by
        arrays = self._columns(trace, changed, (quantity, layer), (start, low, high, stop))
        arrays |= self._characters(trace, same)
        if ask.order != "index":
            arrays["rows"] = rows.order(self.model, ask.order, layer, quantity).astype("<u2")
        if unit is not None:
            values = live.plane(trace, quantity, layer, unit_from, length)[:, unit]
            arrays["unit"] = live.scale(quantity, self.model.config.activation).levels(values)
        header = {
            "client": ask.client,
            "seq": ask.seq,
            "revision": self._revision,
            "known": same,
            "unitFrom": unit_from,
            "length": length,
            "start": start,
            "stop": stop,
            "held": [low, high],
            "quantity": quantity,
            "layer": layer,
            "order": ask.order,
            "unit": unit,
            "numbers": numbers(trace),
            "digest": digest,
            **extra,
        }
        if ask.static != digest:
            header["static"] = dict(static)
        if ask.write:
            header["continuation"] = self._continue(ask.text, temperature)
        return pack(header, arrays)

    def _columns(
        self, trace: Trace, changed: int, what: tuple[str, int], window: tuple[int, int, int, int]
    ) -> dict[str, npt.NDArray[Any]]:
        """States (a quantity and layer, `what`) and predictions of the window; low .. high - 1 are held."""
        start, low, high, stop = window
        fixed = live.scale(what[0], self.model.config.activation)
        states = [
            fixed.levels(live.plane(trace, *what, begin, end)) for begin, end in ((start, low), (high, stop))
        ]
        ids, probabilities = self._expected.rows(trace, start, stop + 1, changed)
        # The prediction after the last held character is held too.
        sent = slice(0, None) if low == high else np.r_[0 : low - start, high + 1 - start : stop + 1 - start]
        arrays = {
            "states": np.concatenate(states),
            "next": ids[sent].astype(self._symbols),
            "chances": probabilities[sent].astype("<f4"),
            "entropy": trace.entropy[start : stop + 1][sent].astype("<f4"),
        }
        if self.tracks:
            pieces = (start, low), (high, stop)
            arrays["tracks"] = tracks.levels(self.tracks, trace, self.model.config.activation, pieces)
        return arrays

    def _characters(self, trace: Trace, same: int) -> dict[str, npt.NDArray[Any]]:
        arrays = {
            "ids": trace.ids[same:].astype(self._symbols),
            "nll": trace.nll[same:].astype("<f4"),
            "rank": np.minimum(trace.rank[same:], np.iinfo(self._symbols).max).astype(self._symbols),
        }
        if self.yardstick is not None:
            arrays["ngram"] = self._ngram[same:].astype("<f4")
        return arrays

    def _held(self, what: tuple[str, int], start: int, stop: int, same: int) -> tuple[int, int]:
        """The characters of the new window whose states the browser has; (start, start) if none."""
        before, begin, end = self._sent
        self._sent = (what, start, stop)
        low, high = max(start, begin), min(stop, end, same)
        return (low, high) if before == what and low < high else (start, start)

    def _follow(self, trace: Trace, changed: int) -> None:
        """The n-gram model's costs of the same text, from `changed` on, in nats."""
        if self.yardstick is None:
            return
        vocabulary, reach = self.yardstick.vocabulary, self.yardstick.order - 1
        begin = max(0, changed - reach)
        ids = vocabulary.encode(trace.text[begin:])
        new = ids[changed - begin :]
        costs = -self.yardstick.score(new, ids[: changed - begin])
        costs[new == 0] += vocabulary.unknown_cost
        self._ngram = np.concatenate([self._ngram[:changed], costs])

    @staticmethod
    def _window(ask: Ask, length: int) -> tuple[int, int]:
        last = max(0, length - ask.columns)
        start = last if ask.start is None else min(ask.start, last)
        return start, min(length, start + ask.columns)

    def _continue(self, text: str, temperature: float) -> str:
        room = max(0, min(CONTINUE, LIMIT - len(text)))
        return sample(self.model, text, room, temperature=temperature) if room else ""


def numbers(trace: Trace) -> dict[str, float | int | None]:
    """Figures of the whole text; None if undefined or infinite."""
    length = len(trace)
    perplexity = float(trace.perplexity[-1]) if length else math.nan
    bits = float(trace.nll.mean()) / math.log(2) if length else math.nan
    return {
        "characters": length,
        "perplexity": perplexity if math.isfinite(perplexity) else None,
        "bits": bits if math.isfinite(bits) else None,
        "unknown": length - int(np.count_nonzero(trace.known)),
        "entropy": float(trace.entropy[-1]) / math.log(2),
    }
