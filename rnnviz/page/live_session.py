"""One reader's live view on the server: asks, and the bytes that answer them.

- An ask states the whole view, so asks may be dropped: the last one is always right.
- An answer holds only the difference to the answer that the browser names (`base`). Arrays as long as the
  text start after the common prefix; the window's arrays hold the new rows.
- So a keystroke costs the same after 5,000 characters as after 50.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from rnnviz.figures import live
from rnnviz.networks import contamination
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import Network, NumpyModel
from rnnviz.page import payload, shown_units
from rnnviz.page.payload import pack
from rnnviz.scoring.occlusion import left_out
from rnnviz.scoring.sampling import PLAIN, Shape, resume, sampling_distribution
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import Tracer, common_prefix
from rnnviz.text.characters import normalise

LIMIT = 20_000  # characters of the text, at most; longer texts belong on the Perplexity page
CONTINUE = 120  # characters that Continue writes at a time
WAYS = 3  # continuations to choose from, side by side
SHORT = 80  # characters of each of several continuations
WIDEST = 400  # columns of a window, at most, whatever the browser asks
FEW = 16  # characters that a model reads within a millisecond

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ask:
    """A browser's ask; `from_json` validates it.

    client, seq     the browser's id and the ask's number, which the answer repeats
    start, columns  the window's first character (None: the last window) and its width
    unit            the unit that colours the text; None: surprisal does
    pin             the character at which the answer describes that unit's step
    why             add the worth of each character before `pin` to its prediction: see `left_out`
    base            the revision of the answer that the browser holds, 0 for none
    static          the digest of the unchanging part that the browser holds
    write, at       how many continuations to write, of the first `at` characters
    temperature, top_k, top_p  reshape predictions and the draw of continuations
    fresh           the browser holds nothing, not even the text
    model           another model to read the text; "": the chosen one
    glance          search a model that reads the text better
    memoryless      add the predictions of the network without memory
    """

    client: str = ""
    seq: int = 0
    text: str = ""
    start: int | None = None
    columns: int = live.MAX_COLUMNS
    quantity: str = "hidden"
    layer: int = 0
    order: str = "steady"
    unit: int | None = None
    pin: int | None = None
    why: bool = False
    base: int = 0
    static: str = ""
    write: int = 0
    at: int = 0
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    fresh: bool = False
    model: str = ""
    glance: bool = False
    memoryless: bool = False

    @classmethod
    def from_json(cls, value: object) -> Ask:
        """The ask in any JSON value; missing or mistyped fields become defaults."""
        ask = payload.valid(
            cls,
            value,
            client=payload.text(64),
            seq=payload.whole(),
            text=lambda v: isinstance(v, str),
            start=payload.whole(),
            columns=payload.whole(1, WIDEST),
            quantity=lambda v: isinstance(v, str) and v in live.SYMBOLS,
            layer=payload.whole(),
            order=lambda v: v in shown_units.ORDERS,
            unit=payload.whole(),
            pin=payload.whole(),
            why=payload.true,
            base=payload.whole(),
            static=payload.text(64),
            write=payload.whole(0, WAYS),
            at=payload.whole(),
            temperature=payload.number(0, 10),
            top_k=payload.whole(1),
            top_p=payload.number(1e-6, 1),
            fresh=payload.true,
            model=payload.text(200),
            glance=payload.true,
            memoryless=payload.true,
        )
        # JavaScript strings may end in half a surrogate pair, which can't be encoded: it becomes "?".
        return replace(ask, text=ask.text[:LIMIT].encode("utf-8", "replace").decode())


class LiveSession:
    """One reader's text, read by one model, and a record of the arrays that the browser holds.

    yardstick   the n-gram model whose surprisal is shown beside, or None
    memoryless  a network of the same vocabulary that can be shown beside, or None
    """

    def __init__(
        self,
        model: Network,
        yardstick: NgramModel | None = None,
        memoryless: NumpyModel | None = None,
    ) -> None:
        self.model, self.yardstick, self.memoryless = model, yardstick, memoryless
        self.text = ""
        self.quantities = live.quantities(model.config.cell)
        self.named = shown_units.named_units(model)
        self._tracer = Tracer(model)
        self._expected = Held(expected)
        self._shape, self._redrawn, self._beside = PLAIN, Held(redrawn(PLAIN)), Held(redrawn(PLAIN))
        self._forgetful: Tracer | None = None  # the memoryless network's, made at its first ask
        self._compared = False
        self._ngram: Doubles = np.empty(0)
        self._revision = 0
        self._coloured_by: tuple[Any, ...] = ()
        self._why: tuple[str, npt.NDArray[np.float32]] = ("", np.empty(0, np.float32))  # by the text read
        self._sent: tuple[tuple[str, int], int, int] = (("", 0), 0, 0)  # (quantity, layer), start, stop
        self._symbols = np.dtype("<u2" if model.vocabulary.size <= 0xFFFF else "<u4")
        self._looks: Ask | None = None

    def quick(self, ask: Ask) -> bool:
        """Whether `ask` differs from the last one by FEW characters: answered in about a millisecond."""
        if ask.write or ask.why or _looks(ask) != self._looks:
            return False
        start, stop = self._window(ask, len(ask.text))
        moved = max(abs(start - self._sent[1]), abs(stop - self._sent[2]))
        return max(moved, len(ask.text) - common_prefix(self.text, ask.text)) <= FEW

    def answer(
        self, ask: Ask, static: Mapping[str, Any], digest: str, *, temperature: float, **extra: Any
    ) -> bytes:
        """The bytes that answer `ask`, in the format of `payload.pack`.

        static       the unchanging part, left out if the browser holds its `digest`
        temperature  used unless the ask has one
        extra        further entries of the header
        """
        self._looks = _looks(ask)
        self._revision += 1
        trace = self._tracer.extend(ask.text)
        self.text = normalise(ask.text)  # not `trace.text`, where the model's normaliser replaces characters
        length, changed = len(trace), self._tracer.changed[0]
        self._follow(trace, changed)
        compared = ask.memoryless and self.memoryless is not None
        turned, self._compared = compared != self._compared, compared
        same = changed if ask.base and ask.base == self._revision - 1 and not turned else 0
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
        shape = Shape(temperature if ask.temperature is None else ask.temperature, ask.top_k, ask.top_p)
        arrays |= self._reshaped(trace, shape, start, stop, changed)
        arrays |= self._without_memory(trace, start, stop, same)
        if ask.order != "index":
            first = shown_units.named_among(self.named, quantity, layer)
            arrays["rows"] = shown_units.unit_order(self.model, ask.order, layer, quantity, first).astype(
                "<u2"
            )
        if unit is not None:
            values = live.plane(trace, quantity, layer, unit_from, length)[:, unit]
            arrays["unit"] = self._levels(values, quantity, layer, unit)
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
            "numbers": numbers(trace, self.model.card),
            "digest": digest,
            **extra,
        }
        if unit is not None and ask.pin is not None and ask.pin < length:
            header["step"] = {"at": ask.pin, **step(trace, ask.pin, layer, unit)}
        if ask.why and ask.pin is not None and ask.pin < length:
            header["why"], arrays["why"] = ask.pin, self._reasons(trace, ask.pin)
        if ask.static != digest:
            reach = {name: values.tolist() for name, values in shown_units.unit_reach(self.model).items()}
            header["static"] = {**static, "reach": reach}
        if ask.write:
            header["continuations"] = self._continue(trace, ask, shape)
        return pack(header, arrays)

    def _columns(
        self, trace: Trace, changed: int, what: tuple[str, int], window: tuple[int, int, int, int]
    ) -> dict[str, npt.NDArray[Any]]:
        """The window's states of `what` (quantity, layer) and its predictions. The columns low .. high − 1,
        which the browser holds, are left out; `window` is (start, low, high, stop).
        """
        start, low, high, stop = window
        states = [
            self._levels(live.plane(trace, *what, begin, end), *what)
            for begin, end in ((start, low), (high, stop))
        ]
        ids, probabilities = self._expected.rows(trace, start, stop + 1, changed + 1)
        # A window of n characters has n + 1 predictions; the browser holds the one after column high − 1 too.
        sent = slice(0, None) if low == high else np.r_[0 : low - start, high + 1 - start : stop + 1 - start]
        return {
            "states": np.concatenate(states),
            "next": ids[sent].astype(self._symbols),
            "chances": probabilities[sent].astype("<f4"),
            "entropy": trace.entropy[start : stop + 1][sent].astype("<f4"),
        }

    def _levels(
        self, values: npt.NDArray[Any], quantity: str, layer: int, unit: int | None = None
    ) -> npt.NDArray[np.uint8]:
        """Colour indices of all units' values (n, H), or of one `unit`'s (n,), in the same shape.

        A cell state is unbounded, and one unit alone may use a small part of a scale. Both are scaled by the
        unit's own reach (`shown_units.unit_reach`).
        """
        scale = live.scale(quantity, self.model.config.span)
        if quantity == "cell" or (unit is not None and quantity == "hidden"):
            below, above = shown_units.unit_reach(self.model)[quantity][
                :, layer, slice(None) if unit is None else unit
            ]
            values = values * (scale.high / np.where(values < 0, below, above))
        return scale.levels(values)

    def _reshaped(
        self, trace: Trace, shape: Shape, start: int, stop: int, changed: int
    ) -> dict[str, npt.NDArray[Any]]:
        """The window's reshaped predictions, see `predictions.redrawn`; empty while `shape` is PLAIN."""
        if shape != self._shape:
            self._shape, self._redrawn, self._beside = shape, Held(redrawn(shape)), Held(redrawn(shape))
        if shape == PLAIN:
            return {}
        # From `changed`, not `changed` + 1: the prediction there is the same, but the actual character isn't.
        return {"reshaped": self._redrawn.rows((trace, trace), start, stop + 1, changed)[0]}

    def _without_memory(self, trace: Trace, start: int, stop: int, same: int) -> dict[str, npt.NDArray[Any]]:
        """The memoryless network's surprisal (nats) from `same` on, and its probabilities of the listed
        symbols, reshaped alike; empty unless the ask compares.
        """
        if not self._compared or self.memoryless is None:
            return {}
        self._forgetful = self._forgetful or Tracer(self.memoryless)
        other = self._forgetful.extend(trace.text)
        beside = self._beside.rows((other, trace), start, stop + 1, same)[0]
        return {"memoryless": other.nll[same:].astype("<f4"), "beside": beside}

    def _characters(self, trace: Trace, same: int) -> dict[str, npt.NDArray[Any]]:
        arrays = {
            "ids": trace.ids[same:].astype(self._symbols),
            "nll": trace.nll[same:].astype("<f4"),
        }
        if self.yardstick is not None:
            arrays["ngram"] = self._ngram[same:].astype("<f4")
        return arrays

    def _reasons(self, trace: Trace, t: int) -> npt.NDArray[np.float32]:
        """`left_out` at character `t`, cached: it reads the text many times, and the window may move."""
        read = trace.text[: t + 1]
        if self._why[0] != read:
            self._why = read, left_out(trace, t).astype("<f4")
        return self._why[1]

    def _held(self, what: tuple[str, int], start: int, stop: int, same: int) -> tuple[int, int]:
        """Start and stop of the new window's columns that the browser holds; (start, start) if none."""
        before, begin, end = self._sent
        self._sent = (what, start, stop)
        low, high = max(start, begin), min(stop, end, same)
        return (low, high) if before == what and low < high else (start, start)

    def _follow(self, trace: Trace, changed: int) -> None:
        """Extend the n-gram model's surprisal of the text (nats) from `changed` on."""
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

    @staticmethod
    def _continue(trace: Trace, ask: Ask, shape: Shape) -> list[str]:
        """As many continuations as were asked for, no two alike."""
        room = max(0, min(CONTINUE if ask.write == 1 else SHORT, LIMIT - len(trace)))
        at, settings = min(ask.at, len(trace)), asdict(shape)
        written = (resume(trace, at, room, **settings) for _ in range(ask.write if room else 0))
        return list(dict.fromkeys(written))


def _looks(ask: Ask) -> Ask:
    """The ask without the text, the window and the numbering: two equal ones show the same of a text."""
    return replace(ask, text="", start=None, client="", seq=0, base=0, static="", at=0)


def step(trace: Trace, t: int, layer: int, unit: int) -> dict[str, float]:
    """One unit's step at character `t`: its gates and candidate by name, and its states before and after.

    Values that are not finite are left out.
    """
    found = {name: float(values[0, layer, unit]) for name, values in trace.gates_at(t, t + 1).items()}
    (hidden, cell), (now, kept) = trace.state_after(t), trace.state_after(t + 1)
    if cell is not None and kept is not None:
        found |= {"cell_before": float(cell[layer, unit]), "cell": float(kept[layer, unit])}
    found |= {"before": float(hidden[layer, unit]), "hidden": float(now[layer, unit])}
    return {name: value for name, value in found.items() if math.isfinite(value)}


def numbers(trace: Trace, card: Mapping[str, Any]) -> dict[str, float | int | str | None]:
    """Numbers of the whole text, None if undefined or infinite; `bits` are bits per character.

    `foreign` is the reason why the model's numbers say little of this text, see `contamination.why`.
    """
    length = len(trace)
    perplexity = float(trace.perplexity[-1]) if length else math.nan
    bits = float(trace.nll.mean()) / math.log(2) if length else math.nan
    unknown = length - int(np.count_nonzero(trace.known))
    return {
        "characters": length,
        "perplexity": perplexity if math.isfinite(perplexity) else None,
        "bits": bits if math.isfinite(bits) else None,
        "unknown": unknown,
        "foreign": contamination.why(card, length, unknown, bits if math.isfinite(bits) else None),
        "entropy": float(trace.entropy[-1]) / math.log(2),
    }


Rows = tuple[npt.NDArray[Any], ...]  # arrays with a row a prediction each
R = TypeVar("R")  # the source of predictions: a Trace, or two
Compute = Callable[[R, int, int], Rows]


class Held(Generic[R]):
    """A cache of `compute`'s rows for the last window; only rows after a change of the text are computed."""

    def __init__(self, compute: Compute[R]) -> None:
        self._compute = compute
        self._start = 0
        self._rows: Rows = ()

    def rows(self, read: R, start: int, stop: int, kept: int) -> Rows:
        """Rows start .. stop − 1; those before row `kept` are unchanged since the last call."""
        low = max(start, self._start)
        high = min(stop, self._start + len(self._rows[0]), kept) if self._rows else low
        if low >= high:
            rows = self._compute(read, start, stop)
        else:
            held = slice(low - self._start, high - self._start)
            before, after = self._compute(read, start, low), self._compute(read, high, stop)
            rows = tuple(
                np.concatenate([b, old[held], a]) for b, old, a in zip(before, self._rows, after, strict=True)
            )
        self._start, self._rows = start, rows
        return rows


def expected(trace: Trace, start: int, stop: int) -> Rows:
    """The most probable symbols: ids and probabilities, (n, live.NEXT) each."""
    return trace.top_at(start, stop, live.LISTED_NEXT)


def redrawn(shape: Shape) -> Compute[tuple[Trace, Trace]]:
    """A `Compute` for predictions reshaped by temperature, top-k and top-p: one float32 array.

    Its shape is (n, live.NEXT + 2). A row has the probabilities of the symbols that `expected` lists. Then
    follow the probability of the actual character (0 after the last) and the number of symbols left to draw
    from. Of the two traces of one text, the first predicts, and the second lists symbols.
    """

    def compute(traces: tuple[Trace, Trace], start: int, stop: int) -> Rows:
        predicts, lists = traces
        P = sampling_distribution(predicts.log_probs_at(start, stop), **asdict(shape))  # (n, V)
        listed = np.take_along_axis(P, expected(lists, start, stop)[0], axis=1)
        came = np.zeros(len(P))
        ids = lists.ids[start:stop]
        came[: len(ids)] = P[np.arange(len(ids)), ids]
        return (np.column_stack([listed, came, np.count_nonzero(P, axis=1)]).astype("<f4"),)

    return compute
