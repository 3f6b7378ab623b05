"""The picture of one run, redrawn while it trains.

Every POLL_S a fragment calls `RunPicture.render`, which reads what is new in the run's folder (`RunMonitor`)
and sends the whole picture: curves, numbers, sentences, the newest snapshot. In between, the browser asks
over the view's own connection for the snapshots that it hasn't got (`RunPicture.answer_ask`), one for each
moment that its slider can show. What it holds already, it says with each ask: the run, the steps, and the
digest of the part that stays the same while a run trains, its words and the figures' layout.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import streamlit as st

from rnnviz.arrays import Arrays, Integers
from rnnviz.errors import RnnvizError
from rnnviz.figures import live
from rnnviz.figures.themes import COLOUR_LEVELS, SURPRISAL_FULL, THEMES, ColourScale, themes
from rnnviz.i18n import _, language
from rnnviz.lab.pages.train import run_words
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
POLL_S = 0.5
"""Seconds between two looks at a run that trains; its process writes as often."""

MAX_EVENTS = 10_000
"""Events held; beyond them the log is read from its beginning again, which thins them."""

_PICTURE = "train.picture"  # a key of st.session_state: the RunPicture of the run in view

LISTED_SYMBOLS = 8
"""Most probable next characters listed."""

SHOWN_UNITS = 12
"""Units of a layer that are shown: as many as a reader can follow."""

_component = Component("training")


def show(run: SelectedRun, *, started: int = 0) -> None:
    """Draw a run's picture. `started` is a new number at each start, which makes it play; 0 before."""
    interval_s = POLL_S if run.alive else None
    st.fragment(_render, run_every=interval_s, key="train-stage")(run.id, run.state, started)


def _render(id: str, state: str, started: int) -> None:
    # Deleted in another tab, perhaps, while this fragment was waiting.
    if (run := find(id)) is None:
        st.info(_("This run is not there any more."), icon=":material/delete:")
        return
    picture = st.session_state.get(_PICTURE)
    if not isinstance(picture, RunPicture) or not picture.shows(run):
        picture = st.session_state[_PICTURE] = RunPicture(run)
    picture.render(run, started)
    if run.state != state:
        st.rerun()  # the page's buttons depend on the state


class RunMonitor:
    """The events and the newest snapshot of one run, read from its folder bit by bit."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.position = 0  # the byte of the log up to which it is read
        self.snapshot: Snapshot | None = None  # the newest
        self._snapshot_version: object = None

    def refresh(self, run: SelectedRun) -> None:
        """Read new events, and the newest snapshot if it has changed."""
        if len(self.events) > MAX_EVENTS:
            self.events, self.position = [], 0
        new, self.position = run.tail_log(self.position)
        runs.merge(self.events, new)
        version = run.snapshot_version()
        if version is not None and version != self._snapshot_version:
            self.snapshot, self._snapshot_version = _snapshot(run, None), version

    def newest(self, kind: str) -> dict[str, Any]:
        """The newest event of a kind, or {}."""
        return next((event for event in reversed(self.events) if event["event"] == kind), {})


class RunPicture:
    """The picture of one run, kept in the session while the run is in view.

    A page's run calls `render`; the view's connection, on another thread, calls `answer_ask`. Both hold the
    socket's lock. The sentences are composed in `render` alone: they ask Streamlit's session and the queue.
    """

    def __init__(self, run: SelectedRun) -> None:
        self.selected, self.monitor, self.socket = run, RunMonitor(), ViewSocket()
        self._words: dict[str, str] = {}
        self._facts: dict[str, Any] = {}
        self._sent_digest = ""

    def shows(self, run: SelectedRun) -> bool:
        """Whether it is this run's, and not a deleted one's of the same name."""
        return (self.selected.id, self.selected.created) == (run.id, run.created)

    def render(self, run: SelectedRun, started: int) -> None:
        """Read what is new, and send the picture; see `show`."""
        with self.socket.lock:
            self.selected = run
            self.monitor.refresh(run)
            self._words = self.words()
            self._facts = {**self.facts(), "started": started, "session": self.socket.token}
            self.socket.serve(self)
            data = self.answer(take_ask(KEY))
        _component.mount(data, key=KEY)

    def answer_ask(self, ask_json: Any, /, *, at_once: bool) -> bytes | None:
        """See `Answerer.answer_ask`; never at once, as reading files would hold up the event loop."""
        return None if at_once else self.answer(ask_json)

    def answer(self, ask_json: Any) -> bytes:
        """The bytes of the picture, in the format of `payload.pack`, without what the browser holds by its
        ask, any JSON value.
        """
        ask = ask_json if isinstance(ask_json, Mapping) else {}
        run, config, newest = self.selected, self.selected.config, self.monitor.snapshot
        curves = training.curves(
            self.monitor.events,
            clip=config.get("clip", 1.0),
            rate=float(config.get("learning_rate", 0.0)),
        )
        scale = live.scale("hidden", span(str(config.get("cell")), str(config.get("activation", "tanh"))))
        steps, sequence = run.steps(), ask.get("seq")
        frames = SnapshotFrames(self._shown_units(), scale)
        if newest is not None:
            frames.add("now", newest)
        # An ask about another run is one from before the page changed: the answer has no old frames then.
        if ask.get("run") == run.id:
            browser_steps = ask.get("held")
            held_steps = browser_steps if isinstance(browser_steps, list) else []
            missing_steps = [step for step in steps if step not in held_steps]
            for step in missing_steps:
                if (snapshot := _snapshot(run, step)) is not None:
                    frames.add(f"at{step}", snapshot)
        curve_arrays: Arrays = {
            # Little-endian float32, which JavaScript reads in place as a Float32Array.
            name: getattr(curves, name).astype("<f4")
            for pair in training.COLUMNS.values()
            for name in pair
        }
        row_names = [run_words.row_name(row) for row in newest.rows] if newest is not None else []
        layout, digest = _layout(curves, self._words | run_words.meaning_words(curves))
        header: dict[str, Any] = {
            "run": run.id,
            "created": run.created,
            "state": run.state,
            "alive": run.alive,
            "cell": str(config.get("cell", "")),
            "scale": scale.kind,
            "watchText": newest.text if newest is not None else "",
            "unitCount": newest.hidden.shape[2] if newest is not None else 0,
            "rows": len(row_names),
            "shownUnits": [[*row_names, *units] for units in frames.shown_units.tolist()],
            "steps": steps,
            "frames": frames.headers,
            "symbols": ["", *list(frames.symbols)[1:]],
            "logPosition": self.monitor.position,
            # Echoed, so that a browser knows which of its asks this answers (view_socket.js). Bounded,
            # because any client may send anything.
            "client": str(ask.get("client", ""))[:64],
            "seq": sequence if type(sequence) is int else 0,
            "digest": digest,
            **self._facts,
        }
        # Words and layout only where the browser lacks them: in the first answer, and after they changed.
        if ask.get("digest", digest) != digest or digest != self._sent_digest:
            header["fixed"] = layout
        self._sent_digest = digest
        return pack(header, {**curve_arrays, **frames.arrays})

    def _shown_units(self) -> Integers:
        """The units to show of each layer, (L, rows): for an ended run those that change most over the
        sentence, similar ones side by side. While a run trains no row may move: then the first.
        """
        snapshot = self.monitor.snapshot
        if snapshot is None:
            return np.zeros((0, 0), np.int64)
        layers, units = snapshot.hidden.shape[1:]
        if self.selected.alive:
            return np.tile(np.arange(min(SHOWN_UNITS, units)), (layers, 1))
        rows = []
        for layer in range(layers):
            states = snapshot.hidden[:, layer]
            # A stable sort: two answers about one snapshot have the same rows.
            changing = np.argsort(-states.std(axis=0), kind="stable")[:SHOWN_UNITS]
            rows.append(changing[live.seriate(states[:, changing])])
        return np.stack(rows)

    def words(self) -> dict[str, str]:
        """The view's words, which depend on what this run measures."""
        start = self.monitor.newest("start")
        return run_words.words(
            self.measurement(),
            steps=self._counts_steps,
            uniform=start.get("uniform") is not None or not start,
            has_watch_text=bool(self.selected.description.get("probe")),
            clips=self.selected.config.get("clip", 1.0) is not None,
        )

    def measurement(self) -> str:
        """Whether the run measures its validation text as it trains, or its held-out text at the end:
        VALIDATION or AT_THE_END.
        """
        unmeasured = self.monitor.newest("start").get("validation_characters") == 0
        together = self.selected.config.get("train_on") == "train+validation"
        return run_words.AT_THE_END if unmeasured or together else run_words.VALIDATION

    @property
    def _counts_steps(self) -> bool:
        """Whether the run's progress is in steps, as another program's may be, not in characters."""
        newest = self.monitor.newest("progress") or self.monitor.newest("report")
        return bool(newest.get("counted") == "steps")

    def facts(self) -> dict[str, Any]:
        """The view's numbers, progress, sentences and sample text, from the run's newest events."""
        last, report, start = (self.monitor.newest(kind) for kind in ("progress", "report", "start"))
        held_out, lines = None, ["validation", "train"]
        if self.measurement() == run_words.AT_THE_END:
            held_out = self.monitor.newest("finished").get("held_out")
            lines = [*(["end"] if held_out else []), "train"]
        sample_place = ""
        if report.get("characters") and report.get("sample"):
            place = _("after {n} steps") if self._counts_steps else _("after {n} characters")
            sample_place = place.format(n=run_words.millions(report["characters"]))
        share = (
            1.0 if self.selected.state == "finished" else run_words.share(last, start.get("total_characters"))
        )
        return {
            "numbers": {
                "validation": report.get("validation_perplexity"),
                "held_out": held_out,
                "train": run_words.training_perplexity(last, report),
                "speed": last.get("characters_per_second"),
                "clipped": last.get("clipped"),
                "rate": last.get("learning_rate"),
            },
            "lines": lines,
            "hasNgram": start.get("ngram") is not None,
            "seconds": last.get("seconds", 0.0),
            "fraction": share or 0.0,
            "progressLine": self.progress_line(),
            "passed": run_words.passed(self.monitor.newest("passed"), start.get("ngram_order", 6)),
            "sample": str(report.get("sample") or ""),
            "samplePlace": sample_place,
        }

    def progress_line(self) -> str:
        """The line on the run's progress, from its newest events."""
        state, run = self.selected.state, self.selected.run
        last = self.monitor.newest("progress") or self.monitor.newest("report")
        total = run_words.as_number(self.monitor.newest("start").get("total_characters"))
        read, seconds, eta = (
            run_words.as_number(last.get(name)) for name in ("characters", "seconds", "eta")
        )
        if state == "waiting" and run is not None:
            return _("Waiting: {place}. It starts by itself.").format(
                place=run_words.queue_place(queue.runs_ahead(RunFolder(run.path)))
            )
        if state == "starting" or (state == "running" and read is None):
            return _("Starting: reading the text and counting its sequences …")
        unit = _("{read} steps") if self._counts_steps else _("{read} characters")
        progress = unit.format(read=run_words.millions(read or 0))
        if state in ("finished", "shipped"):
            took = duration(seconds) if seconds is not None else ""
            done = _("Trained for {time}: {far}").format(time=took, far=progress)
            held_out = run_words.as_number(self.monitor.newest("finished").get("held_out"))
            if held_out is None:
                return done
            return f"{done} · " + _("held-out perplexity {p}").format(p=rounded(held_out))
        if read is not None and total:
            both = _("{read} of {total}").format(
                read=run_words.millions(read), total=run_words.millions(total)
            )
            percent = f"{min(100.0, 100 * read / total):.0f}"
            progress = _("{percent} % · {far}").format(percent=percent, far=unit.format(read=both))
        if state == "running":
            if self.monitor.events[-1]["event"] == "measuring":
                return _("Trained. Measuring it on text it never read, up to a minute …")
            return (
                progress if eta is None else _("{far} · {time} left").format(far=progress, time=duration(eta))
            )
        if state == "diverged":
            return run_words.diverged(
                self.monitor.newest("diverged").get("step"), training.curves(self.monitor.events).gradient
            )
        words = run_words.state_word(state).capitalize()
        if read is not None:
            words = _("{state} at {far}").format(state=words, far=progress)
        cause = self.monitor.newest("failed" if state == "failed" else "stopped").get("cause")
        message = translate_error(run.error) if run is not None and run.error else ""
        reason = run_words.reason(state, cause) or message
        return f"{words}. {reason}" if reason else _("{said}. What was learnt is saved.").format(said=words)


class SnapshotFrames:
    """Snapshots as the browser draws them.

    shown_units  the units shown of each layer, (L, rows)
    headers      what is said of each snapshot
    arrays       its numbers, by "KEY.NAME"
    symbols      numbers of the characters in all of them; 0 is the unknown symbol
    """

    def __init__(self, shown_units: Integers, scale: ColourScale) -> None:
        self.shown_units, self._scale = shown_units, scale
        self.headers: list[dict[str, Any]] = []
        self.arrays: Arrays = {}
        self.symbols: dict[str, int] = {"<unk>": 0}

    def add(self, key: str, snapshot: Snapshot) -> None:
        """Add a snapshot, under "now" or "atSTEP"."""
        log_probs, symbols = snapshot.log_probs, snapshot.symbols
        n = min(LISTED_SYMBOLS, len(symbols))
        # The n likeliest first, unordered, then these alone in order: a vocabulary may have thousands.
        likely = np.argpartition(-log_probs, n - 1, axis=1)[:, :n]
        order = np.argsort(-np.take_along_axis(log_probs, likely, 1), axis=1, kind="stable")
        likely = np.take_along_axis(likely, order, 1)
        places = {name: i for i, name in enumerate(symbols)}
        actual = np.array([places.get(c, 0) for c in snapshot.text], np.int64)
        with np.errstate(invalid="ignore"):
            # A probability of 0 has the log -inf, and 0 * -inf is NaN: the bound makes it 0.
            entropy = -np.sum(np.exp(log_probs) * np.maximum(log_probs, -1e4), axis=1)
        states = np.take_along_axis(snapshot.hidden, self.shown_units[np.newaxis], 2)
        if snapshot.named is not None:  # the named rows stand above the units, in each layer
            T, L, _H = states.shape
            named = np.broadcast_to(snapshot.named[:, :T].T[:, np.newaxis], (T, L, len(snapshot.rows)))
            states = np.concatenate([np.clip(named, -1, 1) * self._scale.high, states], axis=2)
        columns = {
            # Where a diverged run's numbers overflowed, the sum of two infinities is none.
            "states": self._scale.levels(np.where(np.isfinite(states), states, self._scale.high)),
            "next": self._numbers(symbols[i] for i in likely.ravel()).reshape(likely.shape),
            "chances": np.nan_to_num(np.exp(np.take_along_axis(log_probs, likely, 1))).astype("<f4"),
            "actual": self._numbers(symbols[i] for i in actual),
            "chance": np.exp(log_probs[np.arange(len(actual)), actual]).astype("<f4"),
            "nll": snapshot.nll.astype("<f4"),
            "entropy": entropy.astype("<f4"),
        }
        self.arrays |= {f"{key}.{name}": array for name, array in columns.items()}
        perplexity = float(snapshot.perplexity[-1]) if snapshot.text else float("nan")
        self.headers.append(
            {
                "key": key,
                "step": snapshot.step,
                "characters": snapshot.characters,
                "perplexity": perplexity if np.isfinite(perplexity) else None,
            }
        )

    def _numbers(self, names: Iterable[str]) -> Integers:
        return np.array([self.symbols.setdefault(name, len(self.symbols)) for name in names], "<u2")


def _snapshot(run: SelectedRun, step: int | None) -> Snapshot | None:
    """A run's snapshot; None for one that can't be read, without which the view plays the others."""
    try:
        return run.snapshot(step)
    except RnnvizError:
        return None


def _layout(curves: training.Curves, words: Mapping[str, str]) -> tuple[dict[str, Any], str]:
    """What stays the same while a run trains, words, colours and empty figures, and its digest."""
    named = {**words, "ngram": words["ngram.n"].format(order=curves.order)}
    colours = themes(diverging=COLOUR_LEVELS, sequential=COLOUR_LEVELS, surprisal=COLOUR_LEVELS)
    for name, theme in THEMES.items():
        colours[name]["curve"] = _without_values(training.figure(curves, named, theme=theme))
        colours[name]["details"] = _without_values(training.details(curves, named, theme=theme))
    layout = {
        "words": named,
        "language": language(),
        "themes": colours,
        "baseline": curves.ngram,
        "surprisalFull": SURPRISAL_FULL,
    }
    # Sorted, so that equal layouts have equal digests.
    text = json.dumps(layout, sort_keys=True)
    return layout, hashlib.sha256(text.encode()).hexdigest()[:12]


def _without_values(figure: dict[str, Any]) -> dict[str, Any]:
    """A figure whose traces have names of arrays in place of values. Each answer brings the arrays; the
    figure itself stays the same while a run trains.
    """
    for trace in figure["data"]:
        trace["x"], trace["y"] = training.COLUMNS[trace["name"]]
    return figure
