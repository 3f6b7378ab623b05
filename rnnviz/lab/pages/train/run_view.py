"""The view of one run, followed while it trains: events and snapshots read from its folder, the whole answer
for the browser, and its sentences.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from rnnviz.arrays import Arrays, Integers
from rnnviz.errors import RnnvizError
from rnnviz.figures import live
from rnnviz.figures.themes import COLOUR_LEVELS, SURPRISAL_FULL, THEMES, Scale, themes
from rnnviz.i18n import _, language
from rnnviz.lab.pages.train import run_words as say
from rnnviz.lab.pages.train.selected_run import SelectedRun, find
from rnnviz.lab.reports import training
from rnnviz.lab.run import queue, runs
from rnnviz.lab.run.folder import RunFolder
from rnnviz.lab.run.snapshots import Snapshot
from rnnviz.networks.config import span
from rnnviz.page.formatting import duration, rounded
from rnnviz.page.payload import pack
from rnnviz.ui.browser.component import Component, take_ask
from rnnviz.ui.browser.view_socket import ViewSocket
from rnnviz.ui.shell.error_messages import translate_error

KEY = "training"
_component = Component("training")
EVERY = 0.5  # seconds between two looks at a run that trains
HELD = 10_000
"""Events held, at most; more are read again from the log's beginning, which thins them."""

_WATCH = "train.watch"  # a key of st.session_state: the Watch of the run in view

NEXT = 8
"""Most probable next characters listed."""

ROWS = 12
"""Units of a layer that are shown: as many as a reader can follow."""

Symbols = dict[str, int]
"""Numbers of the characters in one answer; 0 is the unknown symbol."""


def show(shown: SelectedRun, *, started: int = 0) -> None:
    """Draw a run's view. `started` is a new number at each start, which makes the view play; 0 before."""
    every = EVERY if shown.alive else None
    st.fragment(_follow, run_every=every, key="train-stage")(shown.id, shown.state, started)


def _follow(id: str, state: str, started: int) -> None:
    if (shown := find(id)) is None:
        st.info(_("This run is not there any more."), icon=":material/delete:")
        return
    watch = st.session_state.get(_WATCH)
    if not isinstance(watch, Watch) or (watch.id, watch.born) != (id, shown.born):
        watch = st.session_state[_WATCH] = Watch(id, shown.born)
    with watch.link.lock:
        watch.refresh(shown)
    start = watch.last("start")
    words = say.words(
        measured(shown, watch),
        steps=watch.last("progress").get("counted") == "steps",
        uniform=start.get("uniform") is not None or not start,
        has_watch_text=bool(shown.description.get("probe")),
    )
    facts = {**said(shown, watch), "started": started, "session": watch.link.token}
    answers = RunAnswers(watch, shown, words, facts)
    with watch.link.lock:
        watch.link.serve(answers)
        data = answers.answer(take_ask(KEY))
    _component.mount(data, key=KEY)
    if shown.state != state:
        st.rerun()  # the page's buttons depend on the state


@dataclass(frozen=True)
class RunAnswers:
    """The answers to a run's view; the fields are `Watch.answer`'s arguments."""

    watch: Watch
    shown: SelectedRun
    words: dict[str, Any]
    facts: dict[str, Any]

    def answer_ask(self, ask_json: Any, /, *, at_once: bool) -> bytes | None:
        """See `Answerer.answer_ask`; never at once, as reading files would hold up the event loop."""
        return None if at_once else self.answer(ask_json)

    def answer(self, ask_json: Any) -> bytes:
        """The answer to any JSON value."""
        ask = ask_json if isinstance(ask_json, Mapping) else {}
        return self.watch.answer(self.shown, self.words, self.facts, ask=ask)


class Watch:
    """The events and the newest snapshot of the run in view.

    `born`, its time of creation, tells it from a deleted run of the same name.
    """

    def __init__(self, id: str, born: float = 0.0) -> None:
        self.id, self.born, self.link = id, born, ViewSocket()
        self.events: list[dict[str, Any]] = []
        self._read = 0
        self._mark: object = None
        self._now: Snapshot | None = None
        self._sent = ""

    def refresh(self, shown: SelectedRun) -> None:
        """Read new events, and the newest snapshot if it has changed."""
        if len(self.events) > HELD:
            self.events, self._read = [], 0
        new, self._read = shown.follow(self._read)
        runs.merge(self.events, new)
        mark = shown.mark()
        if mark is not None and mark != self._mark:
            self._now, self._mark = _snapshot(shown, None), mark

    def last(self, kind: str) -> dict[str, Any]:
        """The newest event of a kind, or {}."""
        return next((e for e in reversed(self.events) if e["event"] == kind), {})

    def answer(
        self,
        shown: SelectedRun,
        words: Mapping[str, str],
        said: Mapping[str, Any],
        *,
        ask: Mapping[str, Any],
    ) -> bytes:
        """The bytes of the whole view, in the format of `payload.pack`; `said` has further entries of the
        header.

        `ask` names the run, the steps and the unchanging part that the browser holds, which are left out.
        """
        config, now, seq = shown.config, self._now, ask.get("seq")
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
            missing = [step for step in steps if not isinstance(held, list) or step not in held]
            kept = {f"at{step}": _snapshot(shown, step) for step in missing}
            frames |= {key: one for key, one in kept.items() if one is not None}
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
            "drawn": self._read,
            "client": str(ask.get("client", ""))[:64],
            "seq": seq if type(seq) is int else 0,
            "digest": digest,
            **said,
        }
        if ask.get("static", digest) != digest or digest != self._sent:
            header["static"] = fixed
        self._sent = digest
        return pack(header, arrays)


def _rows(one: Snapshot, *, changing: bool) -> Integers:
    """The units to show of each layer, (L, rows): with `changing`, those that change most over the sentence,
    similar ones side by side; else the first. While a run trains no row may move, so `changing` is for ended
    ones.
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


def _snapshot(shown: SelectedRun, step: int | None) -> Snapshot | None:
    """A run's snapshot; None for one that can't be read, without which the view plays the others."""
    try:
        return shown.snapshot(step)
    except RnnvizError:
        return None


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
    colours = themes(diverging=COLOUR_LEVELS, sequential=COLOUR_LEVELS, surprisal=COLOUR_LEVELS)
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
    """A figure whose traces have names of arrays in place of values. Each answer brings the arrays; the
    figure itself stays the same while a run trains.
    """
    for trace in figure["data"]:
        trace["x"], trace["y"] = training.COLUMNS[trace["name"]]
    return figure


def measured(shown: SelectedRun, watch: Watch) -> str:
    """Whether the run measures its validation text as it trains, or its held-out text at the end: VALIDATION
    or AT_THE_END.
    """
    unmeasured = watch.last("start").get("validation_characters") == 0
    together = shown.config.get("train_on") == "train+validation"
    return say.AT_THE_END if unmeasured or together else say.VALIDATION


def said(shown: SelectedRun, watch: Watch) -> dict[str, Any]:
    """The view's numbers, progress, sentences and sample text, from the run's newest events."""
    last, report, start = (watch.last(kind) for kind in ("progress", "report", "start"))
    held_out, lines = None, ["validation", "train"]
    if measured(shown, watch) == say.AT_THE_END:
        held_out = watch.last("finished").get("held_out")
        lines = [*(["end"] if held_out else []), "train"]
    sampled = ""
    if report.get("characters") and report.get("sample"):
        counted = _("after {n} steps") if last.get("counted") == "steps" else _("after {n} characters")
        sampled = counted.format(n=say.millions(report["characters"]))
    share = 1.0 if shown.state == "finished" else say.share(last, start.get("total_characters"))
    return {
        "numbers": {
            "validation": report.get("validation_perplexity"),
            "held_out": held_out,
            "train": say.training_perplexity(last, report),
            "speed": last.get("characters_per_second"),
            "clipped": last.get("clipped"),
            "rate": last.get("learning_rate"),
        },
        "lines": lines,
        "counted": start.get("ngram") is not None,
        "seconds": last.get("seconds", 0.0),
        "fraction": share or 0.0,
        "line": line(shown, watch),
        "passed": say.passed(watch.last("passed"), start.get("ngram_order", 6)),
        "sample": str(report.get("sample") or ""),
        "sampled": sampled,
    }


def line(shown: SelectedRun, watch: Watch) -> str:
    """The line on a run's progress, from its newest events."""
    state, run = shown.state, shown.run
    last = watch.last("progress") or watch.last("report")
    total = say.number(watch.last("start").get("total_characters"))
    read, seconds, eta = (say.number(last.get(name)) for name in ("characters", "seconds", "eta"))
    if state == "waiting" and run is not None:
        return _("Waiting: {place}. It starts by itself.").format(
            place=say.place(queue.ahead(RunFolder(run.path)))
        )
    if state == "starting" or (state == "running" and read is None):
        return _("Starting: it reads the text and counts its sequences …")
    unit = _("{read} steps") if last.get("counted") == "steps" else _("{read} characters")
    far = unit.format(read=say.millions(read or 0))
    if state in ("finished", "shipped"):
        took = duration(seconds) if seconds is not None else ""
        done = _("Trained for {time}: {far}").format(time=took, far=far)
        held_out = say.number(watch.last("finished").get("held_out"))
        if held_out is None:
            return done
        return f"{done} · " + _("held-out perplexity {p}").format(p=rounded(held_out))
    if read is not None and total:
        of = _("{read} of {total}").format(read=say.millions(read), total=say.millions(total))
        percent = f"{min(100.0, 100 * read / total):.0f}"
        far = _("{percent} % · {far}").format(percent=percent, far=unit.format(read=of))
    if state == "running":
        if watch.events[-1]["event"] == "measuring":
            return _("Trained. Measuring it on text it never read, up to a minute …")
        return far if eta is None else _("{far} · {time} left").format(far=far, time=duration(eta))
    words = say.state(state).capitalize()
    if read is not None:
        words = _("{state} at {far}").format(state=words, far=far)
    cause = watch.last("failed" if state == "failed" else "stopped").get("cause")
    told = translate_error(run.error) if run is not None and run.error else ""
    reason = say.reason(state, cause) or told
    return f"{words}. {reason}" if reason else _("{said}. What was learnt is saved.").format(said=words)
