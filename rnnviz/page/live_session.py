"""One reader's live view on the server: asks, and the bytes that answer them.

- An ask states the whole view, so asks may be dropped: the last one is always right.
- An ask names the answer that the browser holds (`base`). If that is the last one, the next holds only the
  difference to it, see live_answer.py; else an answer was lost, and everything is sent again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rnnviz.arrays import Floats
from rnnviz.figures import live
from rnnviz.networks import contamination
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import Network, NumpyModel
from rnnviz.page import payload, shown_units
from rnnviz.page.live_answer import (
    Selection,
    WindowPredictions,
    content,
    find_browser_rows,
    tree_arrays,
    unit_step,
    weighted_step,
)
from rnnviz.page.payload import pack
from rnnviz.page.text_numbers import number_values
from rnnviz.scoring.occlusion import occlusion_bits
from rnnviz.scoring.sampling import SamplingSettings, branches, resume
from rnnviz.scoring.text_reader import TextReader
from rnnviz.scoring.trace import Trace

MAX_TEXT_CHARS = 20_000  # characters of the text, at most; longer texts belong on the Perplexity page
CONTINUATION_CHARS = 120  # characters that Continue writes at a time
MAX_PAST = 3  # characters before the caret that a tree of continuations begins with
MAX_COLUMNS = 400  # columns of a window, at most, whatever the browser asks
QUICK_CHARS = 16  # characters that a model reads within a millisecond


@dataclass(frozen=True)
class LiveAsk:
    """A browser's ask; `from_json` validates it.

    client, seq     the browser's id and the ask's number, which the answer repeats
    start, columns  the window's first character (None: the last window) and its width
    unit            the unit that colours the text; None: surprisal does
    pin             the character at which the answer describes that unit's step
    why             add the worth of each character before `pin` to its prediction: see `occlusion_bits`
    base            the revision of the answer that the browser holds, 0 for none
    digest          the digest of the fixed part that the browser holds
    write, at       write a continuation of the first `at` characters
    tree            the tree of what may follow them, from this number of characters before on; None: no tree
    temperature, top_k, top_p  reshape predictions and the draw of continuations
    fresh           the browser holds nothing, not even the text
    model           another model to read the text; "": the chosen one
    suggest         search a model that reads the text better
    memoryless      add the predictions of the network without memory
    """

    client: str = ""
    seq: int = 0
    text: str = ""
    start: int | None = None
    columns: int = live.WINDOW_COLUMNS
    quantity: str = "hidden"
    layer: int = 0
    order: str = "steady"
    unit: int | None = None
    pin: int | None = None
    why: bool = False
    base: int = 0
    digest: str = ""
    write: bool = False
    at: int = 0
    tree: int | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    fresh: bool = False
    model: str = ""
    suggest: bool = False
    memoryless: bool = False

    @classmethod
    def from_json(cls, value: object) -> LiveAsk:
        """The ask in any JSON value; missing or mistyped fields become defaults."""
        ask = payload.valid(cls, value, **_VALID_FIELDS)
        # JavaScript strings may end in half a surrogate pair, which can't be encoded: it becomes "?".
        text = ask.text[:MAX_TEXT_CHARS].encode("utf-8", "replace").decode()
        return ask if text == ask.text else replace(ask, text=text)

    @cached_property  # a key needs it twice, and `replace` checks all fields
    def view_choices(self) -> LiveAsk:
        """The ask without text, the window's start and the numbering: equal ones show the same of a text."""
        return replace(self, text="", start=None, client="", seq=0, base=0, digest="", at=0)

    @property
    def needs_page(self) -> bool:
        """Whether only a run of the page can answer: it chooses models, and holds the whole text."""
        return self.fresh or bool(self.model) or self.suggest

    def window(self, length: int) -> tuple[int, int]:
        """Start and stop of the window in a text of `length` characters."""
        last = max(0, length - self.columns)
        start = last if self.start is None else min(self.start, last)
        return start, min(length, start + self.columns)


# A field without an entry, or with a value that its entry refuses, keeps its default.
_VALID_FIELDS: Mapping[str, payload.Accepts] = {
    "client": payload.text(64),
    "seq": payload.whole(),
    "text": lambda v: isinstance(v, str),
    "start": payload.whole(),
    "columns": payload.whole(1, MAX_COLUMNS),
    "quantity": lambda v: isinstance(v, str) and v in live.SYMBOLS,
    "layer": payload.whole(),
    "order": lambda v: v in shown_units.ORDERS,
    "unit": payload.whole(),
    "pin": payload.whole(),
    "why": payload.true,
    "base": payload.whole(),
    "digest": payload.text(64),
    "write": payload.true,
    "at": payload.whole(),
    "tree": payload.whole(0, MAX_PAST),
    "temperature": payload.number(0, 10),
    "top_k": payload.whole(1),
    "top_p": payload.number(1e-6, 1),
    "fresh": payload.true,
    "model": payload.text(200),
    "suggest": payload.true,
    "memoryless": payload.true,
}


class LiveSession:
    """One reader's text, read by one model, and a record of what the browser holds.

    ngram_model  the n-gram model whose surprisal is shown beside, or None
    memoryless   a network of the same vocabulary that can be shown beside, or None
    temperature  used unless an ask has one
    fixed        the fixed part of the answers and its digest, see `initial_data.fixed_part`; left out if
                 the browser holds this digest. It may be replaced, as when the reader changes the language.
    """

    def __init__(
        self,
        model: Network,
        ngram_model: NgramModel | None = None,
        memoryless: NumpyModel | None = None,
        *,
        temperature: float = 1.0,
        fixed: tuple[Mapping[str, Any], str] = ({}, ""),
    ) -> None:
        self.model, self.ngram_model, self.memoryless = model, ngram_model, memoryless
        self.temperature, self.fixed = temperature, fixed
        self.text = ""
        self._reader = TextReader(model, ngram_model, memoryless)
        self._predictions = WindowPredictions()
        self._occlusion: tuple[str, Floats] = ("", np.empty(0, np.float32))  # of the text that was read
        self._view_choices: LiveAsk | None = None
        self._sent: Selection | None = None
        self._revision = 0

    def answer_ask(self, ask_json: object, *, at_once: bool) -> bytes | None:
        """The answer to any JSON value from the view's own connection; None: ask the page.

        With `at_once`, None also if the answer takes more than about a millisecond.
        """
        ask = LiveAsk.from_json(ask_json)
        if ask.needs_page or (at_once and not self.is_quick(ask)):
            return None
        return self.answer(ask)

    def is_quick(self, ask: LiveAsk) -> bool:
        """Whether `ask` differs from the last one by QUICK_CHARS: answered in about a millisecond."""
        if ask.write or ask.why or ask.tree is not None or self._sent is None:
            return False
        if ask.view_choices != self._view_choices:
            return False
        start, stop = ask.window(len(ask.text))
        # Columns that the window moves by are new ones too, with a prediction each.
        if max(abs(start - self._sent.start), abs(stop - self._sent.stop)) > QUICK_CHARS:
            return False
        # The new text, without its last QUICK_CHARS characters, must be the old one's beginning.
        return self.text.startswith(ask.text[: max(0, len(ask.text) - QUICK_CHARS)])

    def answer(self, ask: LiveAsk, **extra: Any) -> bytes:
        """The bytes that answer `ask`, in the format of `payload.pack`; `extra` goes into the header."""
        # The browser holds what was sent last if it has the last answer. The count goes up first: if this
        # answer fails, the next ask's base is too old, and everything is sent again.
        browser_selection = self._sent if ask.base and ask.base == self._revision else None
        self._revision += 1
        self._view_choices = ask.view_choices
        read = self._reader.read(ask.text, with_memoryless=ask.memoryless)
        self.text = read.text
        selection = self._sent = self._select(ask, len(read.trace))
        settings = SamplingSettings(
            self.temperature if ask.temperature is None else ask.temperature, ask.top_k, ask.top_p
        )
        if settings != self._predictions.settings:
            self._predictions.reshape(settings)
        rows = find_browser_rows(browser_selection, selection, read.unchanged)
        arrays = content(read, selection, rows, self._predictions)
        numbers = number_values(read.trace)
        fixed, digest = self.fixed
        header = {
            "client": ask.client,
            "seq": ask.seq,
            "revision": self._revision,
            "heldRows": rows.text_rows,
            "heldUnitRows": rows.unit_rows,
            "length": selection.length,
            "start": selection.start,
            "stop": selection.stop,
            "heldColumns": [rows.low, rows.high],
            "quantity": selection.quantity,
            "layer": selection.layer,
            "order": selection.order,
            "unit": selection.unit,
            "numbers": numbers,
            "foreign": self._foreign(read.trace, numbers["bits"]),
            "digest": digest,
            **extra,
        }
        # The reach of units is found by reading a text, so not before a browser needs the fixed part.
        if ask.digest != digest:
            reach = {name: values.tolist() for name, values in shown_units.unit_reach(self.model).items()}
            header["fixed"] = {**fixed, "reach": reach}
        if ask.pin is not None and ask.pin < selection.length:
            if selection.unit is not None:
                header |= self._step(read.trace, ask.pin, selection, selection.unit)
            if ask.why:
                header["occlusionAt"], arrays["occlusion"] = (
                    ask.pin,
                    self._cached_occlusion(read.trace, ask.pin),
                )
        at = min(ask.at, selection.length)
        if ask.write:
            room = max(0, min(CONTINUATION_CHARS, MAX_TEXT_CHARS - selection.length))
            header["continuation"] = resume(read.trace, at, room, **asdict(settings))
        if ask.tree is not None:
            past = min(ask.tree, at)
            header["tree"] = {"at": at, "past": past}
            arrays |= tree_arrays(branches(read.trace, at, past, settings), arrays["ids"].dtype)
        return pack(header, arrays)

    def _select(self, ask: LiveAsk, length: int) -> Selection:
        """What the ask shows of a text of `length` characters; choices that the model lacks become others."""
        config = self.model.config
        start, stop = ask.window(length)
        quantity = ask.quantity if ask.quantity in live.quantities(config.cell) else "hidden"
        rows = config.hidden_size + len(shown_units.weighted_sums(self.model, quantity))
        return Selection(
            length=length,
            start=start,
            stop=stop,
            quantity=quantity,
            layer=min(ask.layer, config.layers - 1),
            order=ask.order,
            unit=ask.unit if ask.unit is not None and ask.unit < rows else None,
            memoryless=ask.memoryless and self.memoryless is not None,
        )

    def _step(self, trace: Trace, t: int, selection: Selection, unit: int) -> dict[str, Any]:
        """The header's entries on the step of a unit, or of a weighted sum, at character `t`."""
        behind = unit - self.model.config.hidden_size
        if behind < 0:
            return {"step": {"at": t, **unit_step(trace, t, selection.layer, unit)}}
        weighted = shown_units.weighted_sums(self.model, selection.quantity)[behind].weighted
        assert weighted is not None
        step, moves = weighted_step(trace, t, selection.quantity, weighted)
        return {"step": {"at": t, **step}, "moves": moves}

    def _foreign(self, trace: Trace, bits: float | None) -> str:
        """The reason why the model's numbers say little of this text, see `contamination.foreign_reason`."""
        unknown = len(trace) - int(np.count_nonzero(trace.known))
        return contamination.foreign_reason(self.model.card, len(trace), unknown, bits)

    def _cached_occlusion(self, trace: Trace, t: int) -> Floats:
        """`occlusion_bits` at character `t`, cached: they read the text many times; the window may move."""
        text_read = trace.text[: t + 1]
        if self._occlusion[0] != text_read:
            self._occlusion = text_read, occlusion_bits(trace, t).astype("<f4")
        return self._occlusion[1]
