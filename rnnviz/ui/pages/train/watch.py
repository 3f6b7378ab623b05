"""What a browser is sent of one run, whole every time: curves, states as colours, what is expected next."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Arrays, Integers
from rnnviz.errors import RnnvizError
from rnnviz.figures import live, training
from rnnviz.figures.themes import LEVELS, SURPRISAL_FULL, THEMES, Scale
from rnnviz.i18n import language
from rnnviz.networks.config import span
from rnnviz.runs import api as runs
from rnnviz.runs.snapshots import Snapshot
from rnnviz.ui.browser.payload import pack
from rnnviz.ui.browser.themes import themes
from rnnviz.ui.pages.train.shown import Shown

NEXT = 8
"""Next characters listed one by one."""

ROWS = 12
"""Units of a layer that are shown: as many as an eye can follow."""

Symbols = dict[str, int]
"""The number of each character that one answer names; 0 is unknown."""


class Watch:
    """The run in view and what has been read of it; `born` distinguishes it from a deleted namesake."""

    def __init__(self, id: str, born: float = 0.0) -> None:
        self.id, self.born = id, born
        self.events: list[dict[str, Any]] = []
        self._read = self._changes = 0
        self._mark: object = None
        self._now: Snapshot | None = None
        self._sent = ""

    def refresh(self, shown: Shown) -> None:
        """Read what is new."""
        new, self._read = shown.follow(self._read)
        if new:
            runs.merge(self.events, new)
            self._changes += len(new)
        mark = shown.mark()
        if mark is not None and mark != self._mark:
            try:
                self._now, self._mark = shown.snapshot(None), mark
            except RnnvizError:
                self._now = None  # the view says that there is none

    def last(self, kind: str) -> dict[str, Any]:
        """The newest event of a kind, or {}."""
        return next((e for e in reversed(self.events) if e["event"] == kind), {})

    def answer(
        self,
        shown: Shown,
        words: Mapping[str, str],
        said: Mapping[str, Any],
        *,
        ask: Mapping[str, Any],
    ) -> bytes:
        """Everything the view draws, `said` in the header; `ask` says what the browser holds."""
        config, now = shown.config, self._now
        one = training.curves(
            self.events, clip=float(config.get("clip", 1.0)), rate=float(config.get("learning_rate", 0.0))
        )
        scale = live.scale("hidden", span(str(config.get("cell")), str(config.get("activation", "tanh"))))
        fixed, digest = _fixed(one, words)
        steps, frames = shown.steps(), dict[str, Snapshot]()
        if now is not None:
            frames["now"] = now
        if ask.get("run") == self.id:
            held = ask.get("held")
            frames |= _kept(shown, set(steps).difference(held if isinstance(held, list) else []))
        rows = _rows(now, changing=not shown.alive) if now is not None else np.zeros((0, 0), np.int64)
        symbols: Symbols = {"<unk>": 0}
        arrays: Arrays = {
            name: getattr(one, name).astype("<f4") for pair in training.COLUMNS.values() for name in pair
        }
        header: dict[str, Any] = {
            "run": self.id,
            "born": self.born,
            "state": shown.state,
            "alive": shown.alive,
            "cell": str(config.get("cell", "")),
            "scale": scale.kind,
            "probe": now.text if now is not None else "",
            "units": now.hidden.shape[2] if now is not None else 0,
            "rows": rows.tolist(),
            "steps": steps,
            "frames": [_frame(key, frame, rows, scale, symbols, arrays) for key, frame in frames.items()],
            "symbols": ["", *list(symbols)[1:]],
            "drawn": self._changes,
            "answer": str(ask.get("client", ""))[:64],
            "digest": digest,
            **said,
        }
        if ask.get("static", digest) != digest or digest != self._sent:
            header["static"] = fixed
        self._sent = digest
        return pack(header, arrays)


def _rows(one: Snapshot, *, changing: bool) -> Integers:
    """(L, rows) the units to show of each layer: those that change most over the sentence, alike ones side by
    side, or simply the first. Which change most is known once a run is over; until then no row may move.
    """
    layers, units = one.hidden.shape[1:]
    if not changing:
        return np.tile(np.arange(min(ROWS, units)), (layers, 1))
    found = []
    for layer in range(layers):
        states = one.hidden[:, layer]
        most = np.argsort(-states.std(axis=0), kind="stable")[:ROWS]
        found.append(most[live.seriate(states[:, most])])
    return np.stack(found)


def _kept(shown: Shown, missing: Iterable[int]) -> dict[str, Snapshot]:
    """The snapshots of these steps, but those that can't be read."""
    found = {}
    for step in sorted(missing):
        try:
            found[f"at{step}"] = shown.snapshot(step)
        except RnnvizError:
            continue
    return found


def _frame(
    key: str, one: Snapshot, rows: Integers, scale: Scale, symbols: Symbols, arrays: Arrays
) -> dict[str, Any]:
    def numbers(names: Iterable[str]) -> npt.NDArray[np.uint16]:
        return np.array([symbols.setdefault(name, len(symbols)) for name in names], "<u2")

    log_probs = one.log_probs
    n = min(NEXT, len(one.symbols))
    likely = np.argpartition(-log_probs, n - 1, axis=1)[:, :n]
    order = np.argsort(-np.take_along_axis(log_probs, likely, 1), axis=1, kind="stable")
    likely = np.take_along_axis(likely, order, 1)
    places = {name: i for i, name in enumerate(one.symbols)}
    came = np.array([places.get(c, 0) for c in one.text], np.int64)
    with np.errstate(invalid="ignore"):
        entropy = -np.sum(np.exp(log_probs) * np.maximum(log_probs, -1e4), axis=1)
    arrays[f"{key}.states"] = scale.levels(np.take_along_axis(one.hidden, rows[np.newaxis], 2))
    arrays[f"{key}.next"] = numbers(one.symbols[i] for i in likely.ravel()).reshape(likely.shape)
    arrays[f"{key}.chances"] = np.exp(np.take_along_axis(log_probs, likely, 1)).astype("<f4")
    arrays[f"{key}.came"] = numbers(one.symbols[i] for i in came)
    arrays[f"{key}.chance"] = np.exp(log_probs[np.arange(len(came)), came]).astype("<f4")
    arrays[f"{key}.nll"] = one.nll.astype("<f4")
    arrays[f"{key}.entropy"] = entropy.astype("<f4")
    perplexity = float(one.perplexity[-1]) if one.text else float("nan")
    return {
        "key": key,
        "step": one.step,
        "characters": one.characters,
        "perplexity": perplexity if np.isfinite(perplexity) else None,
    }


def _fixed(one: training.Curves, words: Mapping[str, str]) -> tuple[dict[str, Any], str]:
    named = {**words, "ngram": words["ngram.n"].format(order=one.order)}
    colours = themes(diverging=LEVELS, sequential=LEVELS, surprisal=LEVELS)
    for name, theme in THEMES.items():
        colours[name]["curve"] = _emptied(training.figure(one, named, theme=theme))
        colours[name]["details"] = _emptied(training.details(one, named, theme=theme))
    fixed = {
        "words": named,
        "language": language(),
        "themes": colours,
        "baseline": one.ngram,
        "surprisalFull": SURPRISAL_FULL,
    }
    text = json.dumps(fixed, sort_keys=True)
    return fixed, hashlib.sha256(text.encode()).hexdigest()[:12]


def _emptied(figure: dict[str, Any]) -> dict[str, Any]:
    """A figure whose traces name the arrays that each answer brings: the rest stays while a run goes on."""
    for trace in figure["data"]:
        trace["x"], trace["y"] = training.COLUMNS[trace["name"]]
    return figure
