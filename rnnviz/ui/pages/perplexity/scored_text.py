"""A scored text in one session, and what has been computed for its pictures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.figures import perplexity as figures
from rnnviz.figures.themes import BANDS, SURPRISAL_FULL, THEMES, VERSUS_FULL
from rnnviz.i18n import _, language
from rnnviz.reports.analysis import Difference, difference
from rnnviz.reports.record import Record
from rnnviz.ui.browser.link import Link
from rnnviz.ui.browser.themes import themes
from rnnviz.ui.pages.perplexity.expected import CONTEXT, Expected
from rnnviz.ui.pages.perplexity.viewer import ViewerSession
from rnnviz.ui.pages.perplexity.viewer_words import words
from rnnviz.ui.trouble import describe

if TYPE_CHECKING:
    from rnnviz.ui.context import Model

SURPRISAL_STEPS, VERSUS_STEPS = 12, 13  # colours behind the text


class ScoredText:
    """One text in one session, by one model or two: its records, results computed from them, its viewer."""

    def __init__(self, key: str, mark: tuple[Any, ...], readings: list[tuple[Record, Model]]) -> None:
        self.key, self.mark, self.record = key, mark, readings[0][0]
        self.trouble = ""
        self.difference: Difference | None = None
        if len(readings) > 1:
            try:
                self.difference = difference(self.record, readings[1][0])
            except RnnvizError as error:
                self.trouble = describe(error)
                readings = readings[:1]
        self._open = [record for record, _model in readings]
        names = [record.report.model for record, _model in readings]
        if len(set(names)) < len(names):
            names = [f"{name} ({i})" for i, name in enumerate(names, 1)]
        self.names = names
        self.session = ViewerSession(
            self.record,
            {n: Expected(model, record) for n, (record, model) in zip(names, readings, strict=True)},
            readings[1][0] if len(readings) > 1 else None,
            self.difference,
        )
        self.curves = {n: record.curve() for n, (record, _model) in zip(names, readings, strict=True)}
        self.link = Link()
        self._found: dict[object, Any] = {}
        self._static: dict[str, tuple[dict[str, Any], str]] = {}

    def close(self) -> None:
        """Close the records' files, which outlive their folder, and drop what was found in them."""
        self._found.clear()
        for record in self._open:
            record.close()

    def found(self, what: object, make: Callable[[], Any]) -> Any:
        """What `make` returns, computed once."""
        if what not in self._found:
            with st.spinner(_("Reading the whole text …"), show_time=True):
                self._found[what] = make()
        return self._found[what]

    def static(self) -> tuple[dict[str, Any], str]:
        """What the browser needs once, in the session's language: words, colours, axes; and its digest."""
        if language() not in self._static:
            made = self._make_static()
            text = json.dumps([made, [str(part) for part in self.mark]], sort_keys=True)
            self._static[language()] = made, hashlib.sha256(text.encode()).hexdigest()[:12]
        return self._static[language()]

    def _make_static(self) -> dict[str, Any]:
        names, length, ends = tuple(self.names), len(self.record), figures.extent(self.curves)
        cuts = figures.beyond(self.curves, ends)
        colours = themes(surprisal=SURPRISAL_STEPS, versus=VERSUS_STEPS)
        for name, theme in THEMES.items():
            colours[name]["figure"] = figures.skeleton(
                names, length=length, ends=ends, theme=theme, cuts=cuts
            )
        return {
            "words": words(),
            "names": self.names,
            "window": self.curves[self.names[0]].window,
            "context": CONTEXT,
            "language": language(),
            "themes": colours,
            "bands": BANDS,
            "surprisalFull": SURPRISAL_FULL,
            "surprisalSteps": SURPRISAL_STEPS,
            "versusFull": VERSUS_FULL,
            "versusSteps": VERSUS_STEPS,
        }

    def curve_points(self) -> dict[str, Any]:
        """The curves' points as the browser takes them."""
        arrays = {"curveAt": np.asarray(self.curves[self.names[0]].position, "<u4")}
        for n, curve in enumerate(self.curves.values()):
            arrays[f"curveRolling{n}"] = np.asarray(curve.rolling, "<f4")
            arrays[f"curveRunning{n}"] = np.asarray(curve.running, "<f4")
        return arrays
