"""Where it comes from: the curve, the coloured text, and tables of what cost most.

All numbers are the record's. The viewer and the tables are fragments, one in
the other: scrolling reruns the viewer alone, and a click in a table the two.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.figures import perplexity as figures
from rnnviz.figures.themes import BANDS, SURPRISAL_FULL, THEMES, VERSUS_FULL, ramp
from rnnviz.reports.analysis import Curve, Difference, difference
from rnnviz.reports.record import Record
from rnnviz.ui.i18n import _, language
from rnnviz.ui.pages.perplexity import component, tables
from rnnviz.ui.pages.perplexity.expected import CONTEXT, Expected
from rnnviz.ui.pages.perplexity.viewer import Ask, ViewerSession
from rnnviz.ui.pages.perplexity.viewer_words import words
from rnnviz.ui.trouble import describe

if TYPE_CHECKING:
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.networks.torch_model import CharModel

    Model = CharModel | NumpyModel | NgramModel

KEPT = 3  # sections of a session beside the newest
SURPRISAL_STEPS, VERSUS_STEPS = 12, 13  # colours behind the text; viewer.css numbers them


def show(record: Record, model: Model, other: tuple[Record, Model] | None = None) -> None:
    """The whole section, for a text that `model` has read; `other` is the same text read by another model."""
    state = st.session_state
    key = "where." + hashlib.sha256(str(record.folder).encode()).hexdigest()[:12]
    mark = (str(record.folder), id(model), other and str(other[0].folder), other and id(other[1]))
    kept = state.get(key)
    if kept is None or kept.mark != mark:
        kept = state[key] = Where(key, mark, record, model, other)
        # Each holds a record's files open: of those that a reader has left, a few are kept to come back to.
        others = [name for name, value in state.items() if isinstance(value, Where) and name != key]
        for name in others[:-KEPT]:
            del state[name]
    if kept.trouble:
        st.warning(kept.trouble, icon=":material/warning:")
    _section(kept)


class Where:
    """One text's section in one session: what has been computed for it, and what its viewer knows."""

    def __init__(
        self,
        key: str,
        mark: tuple[Any, ...],
        record: Record,
        model: Model,
        other: tuple[Record, Model] | None,
    ) -> None:
        self.key, self.mark, self.record = key, mark, record
        self.trouble = ""
        self.difference: Difference | None = None
        if other is not None:
            try:
                self.difference = difference(record, other[0])
            except RnnvizError as error:
                self.trouble, other = describe(error), None
        self.other = other[0] if other else None
        names = [record.report.model, *([self.other.report.model] if self.other else [])]
        self.names = (
            names if len(set(names)) == len(names) else [f"{n} ({i})" for i, n in enumerate(names, 1)]
        )
        models = [model, *([other[1]] if other else [])]
        records = [record, *([self.other] if self.other else [])]
        self.session = ViewerSession(
            record,
            {n: Expected(m, record) for n, m in zip(self.names, models, strict=True)},
            self.other,
            self.difference,
        )
        self.curves: dict[str, Curve] = {n: r.curve() for n, r in zip(self.names, records, strict=True)}
        self.ask: Ask | None = None
        self._found: dict[object, Any] = {}
        self._static: dict[str, tuple[dict[str, Any], str]] = {}

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
        ends = figures.extent(self.curves)
        themes = {
            theme.name: {
                **asdict(theme),
                "surprisal": ramp(theme.surprisal, SURPRISAL_STEPS),
                "versus": ramp(theme.versus, VERSUS_STEPS),
                "figure": figures.skeleton(
                    tuple(self.names), length=len(self.record), ends=ends, theme=theme
                ),
            }
            for theme in THEMES.values()
        }
        return {
            "words": words(),
            "names": self.names,
            "window": self.curves[self.names[0]].window,
            "context": CONTEXT,
            "themes": themes,
            "bands": BANDS,
            "surprisalFull": SURPRISAL_FULL,
            "surprisalSteps": SURPRISAL_STEPS,
            "versusFull": VERSUS_FULL,
            "versusSteps": VERSUS_STEPS,
        }

    def lines(self) -> dict[str, Any]:
        """The curve's points as the browser takes them."""
        first = self.curves[self.names[0]]
        arrays = {"curveAt": np.asarray(first.position, "<u4")}
        for n, curve in enumerate(self.curves.values()):
            arrays[f"curveRolling{n}"] = np.asarray(curve.rolling, "<f4")
            arrays[f"curveRunning{n}"] = np.asarray(curve.running, "<f4")
        return arrays


@st.fragment
def _section(where: Where) -> None:
    _viewer(where)
    tables.show(where)


@st.fragment
def _viewer(where: Where) -> None:
    ask, where.ask = where.ask, None
    static, digest = where.static()
    data = where.session.answer(ask, static, digest, where.lines())
    key = f"{where.key}.viewer"

    def take() -> None:
        where.ask = Ask.from_json(component.asked(key))

    component.mount(data, key=key, on_ask=take)
