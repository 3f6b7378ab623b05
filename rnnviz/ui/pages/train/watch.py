"""What a browser is sent of one run, whole every time: curves, states as colours, what is expected next."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Arrays
from rnnviz.errors import RnnvizError
from rnnviz.figures import live, training
from rnnviz.figures.live import seriate
from rnnviz.figures.themes import LEVELS, THEMES, Scale
from rnnviz.networks.config import span
from rnnviz.runs import api as runs
from rnnviz.runs.snapshots import Snapshot
from rnnviz.ui.browser.payload import pack
from rnnviz.ui.browser.themes import themes
from rnnviz.ui.pages.train.subject import Subject

NEXT = 8
"""Next characters listed one by one."""

AT_ONCE = 1_500_000
"""Bytes of snapshots in one answer; the browser asks again for the rest."""

WIDEST = 1024
"""Most units to order by likeness; more would take seconds."""

Symbols = dict[str, int]
"""The number of each character that one answer names; 0 is unknown."""


class Watch:
    """The run in view and what has been read of it; `born` distinguishes it from a deleted namesake."""

    def __init__(self, id: str, born: float = 0.0) -> None:
        self.id, self.born = id, born
        self.events: list[dict[str, Any]] = []
        self._read = 0
        self._changes = 0
        self._mark: object = None
        self._now: Snapshot | None = None
        self._rows: tuple[object, Any] = (None, None)

    def refresh(self, subject: Subject) -> None:
        """Read what is new."""
        new, self._read = subject.follow(self._read)
        if new:
            runs.merge(self.events, new)
            self._changes += len(new)
        mark = subject.mark()
        if mark is not None and mark != self._mark:
            try:
                self._now, self._mark = subject.snapshot(None), mark
            except RnnvizError:
                self._now = None  # the view says that there is none

    def last(self, kind: str) -> dict[str, Any]:
        """The newest event of a kind, or {}."""
        return next((e for e in reversed(self.events) if e["event"] == kind), {})

    def answer(
        self,
        subject: Subject,
        words: Mapping[str, str],
        language: str,
        said: Mapping[str, Any],
        *,
        ask: Mapping[str, Any] | None,
        fresh: bool,
    ) -> bytes:
        """Everything the view draws, `said` in the header; `ask` says what the browser holds."""
        config = subject.config
        one = training.curves(
            self.events, clip=float(config.get("clip", 1.0)), rate=float(config.get("learning_rate", 0.0))
        )
        scale = live.scale("hidden", span(str(config.get("cell")), str(config.get("activation", "tanh"))))
        fixed, digest = _fixed(one, words, language)
        steps = subject.steps()
        symbols: Symbols = {"<unk>": 0}
        frames: list[dict[str, Any]] = []
        arrays = _lines(one)
        if self._now is not None:
            frames.append(_frame("now", "now", self._now, scale, symbols, arrays))
        if ask is not None and ask.get("run") == self.id:
            held = ask.get("held")
            missing = [s for s in steps if s not in set(held if isinstance(held, list) else [])]
            frames += _kept(subject, missing, scale, symbols, arrays)
        rows = None if subject.alive else self._alike(subject, steps)
        if rows is not None:
            arrays["rows"] = rows
        header: dict[str, Any] = {
            "run": self.id,
            "born": self.born,
            "state": subject.state,
            "alive": subject.alive,
            "cell": str(config.get("cell", "")),
            "units": int(config.get("hidden_size", 0)),
            "scale": scale.kind,
            "probe": self._now.text if self._now is not None else "",
            "steps": steps,
            "frames": frames,
            "symbols": ["", *list(symbols)[1:]],
            "rows": rows is not None,
            "drawn": self._changes,
            "answer": str(ask.get("client", ""))[:64] if ask else "",
            "digest": digest,
            **said,
        }
        if fresh or (ask is not None and ask.get("static") != digest) or digest != self._sent:
            header["static"] = fixed
        self._sent = digest
        return pack(header, arrays)

    _sent = ""

    def _alike(self, subject: Subject, steps: Sequence[int]) -> npt.NDArray[np.uint16] | None:
        """(L·H,) each layer's units in order of likeness at the end; None if unknown."""
        if self._now is None or self._now.hidden.shape[2] > WIDEST or len(self._now.text) < 3:
            return None
        mark = (self._mark, len(steps))
        if self._rows[0] != mark:
            layers = self._now.hidden.shape[1]
            found = [seriate(self._now.hidden[:, layer]) for layer in range(layers)]
            self._rows = (mark, np.concatenate(found).astype("<u2"))
        rows: npt.NDArray[np.uint16] = self._rows[1]
        return rows


def _numbers(names: Iterable[str], symbols: Symbols) -> npt.NDArray[np.uint16]:
    return np.array([symbols.setdefault(name, len(symbols)) for name in names], "<u2")


def _kept(
    subject: Subject, missing: Sequence[int], scale: Scale, symbols: Symbols, arrays: Arrays
) -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = []
    room = AT_ONCE
    for step in missing:
        if room <= 0:
            break
        try:
            one = subject.snapshot(step)
        except RnnvizError:
            continue
        frames.append(_frame(f"at{step}", "kept", one, scale, symbols, arrays))
        room -= one.hidden.size + 50 * len(one.text)
    return frames


def _frame(
    key: str, kind: str, one: Snapshot, scale: Scale, symbols: Symbols, arrays: Arrays
) -> dict[str, Any]:
    T, V = len(one.text), len(one.symbols)
    rows = one.log_probs
    n = min(NEXT, V)
    ids = np.argpartition(-rows, n - 1, axis=1)[:, :n]
    ids = np.take_along_axis(ids, np.argsort(-np.take_along_axis(rows, ids, 1), axis=1, kind="stable"), 1)
    places = {name: i for i, name in enumerate(one.symbols)}
    came = np.array([places.get(c, 0) for c in one.text], np.int64)
    with np.errstate(invalid="ignore"):
        entropy = -np.sum(np.exp(rows) * np.maximum(rows, -1e4), axis=1)
    arrays[f"{key}.states"] = scale.levels(one.hidden)
    arrays[f"{key}.next"] = _numbers((one.symbols[i] for i in ids.ravel()), symbols).reshape(ids.shape)
    arrays[f"{key}.chances"] = np.exp(np.take_along_axis(rows, ids, 1)).astype("<f4")
    arrays[f"{key}.came"] = _numbers((one.symbols[i] for i in came), symbols)
    arrays[f"{key}.chance"] = np.exp(rows[np.arange(T), came]).astype("<f4")
    arrays[f"{key}.entropy"] = entropy.astype("<f4")
    perplexity = float(one.perplexity[-1]) if T else float("nan")
    return {
        "key": key,
        "kind": kind,
        "step": one.step,
        "characters": one.characters,
        "perplexity": perplexity if np.isfinite(perplexity) else None,
    }


def _lines(one: training.Curves) -> Arrays:
    names = ("characters", "train", "gradient", "rate", "measured", "validation", "looked", "held_out")
    return {name: getattr(one, name).astype("<f4") for name in names}


def _fixed(one: training.Curves, words: Mapping[str, str], language: str) -> tuple[dict[str, Any], str]:
    named = {**words, "ngram": words["ngram.n"].format(order=one.order)}
    colours = themes(diverging=LEVELS, sequential=LEVELS)
    for name, theme in THEMES.items():
        figure = training.skeleton(one, named, theme=theme)
        colours[name]["figure"] = {**figure, "clip": one.clip, "spread": training.SPREAD}
    fixed = {"words": named, "language": language, "themes": colours, "baseline": one.ngram}
    text = json.dumps(fixed, sort_keys=True)
    return fixed, hashlib.sha256(text.encode()).hexdigest()[:12]
