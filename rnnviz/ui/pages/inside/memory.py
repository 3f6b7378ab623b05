"""Connectivity: which earlier characters a prediction rests on, and how that fades."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from rnnviz import gradients
from rnnviz.figures import heat, plain
from rnnviz.text.characters import visible
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import dashboard
from rnnviz.ui.pages.inside.common import View, beside, cursor, fragment, kept, of_the_same_text
from rnnviz.ui.pages.inside.dashboard import Panel, Text

if TYPE_CHECKING:
    import numpy.typing as npt

    from rnnviz.gradients import Connectivity

    Floats = npt.NDArray[np.float32]
    Doubles = npt.NDArray[np.float64]

KEY = "inside.memory"
SQUARE = 300  # characters of the whole picture: twice as many would take four times as long


@fragment
def section(view: View) -> None:
    at = cursor(dashboard.asked(KEY), view, None)
    if at is None or at == 0:
        at = min(len(view.text), SQUARE) * 2 // 3
    if len(view.text) < 2:
        st.info(_("Connectivity needs a text of at least two characters."), icon=":material/edit:")
        return
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    asked = left.text_input(
        _("Ask about one character"),
        key="inside.asked",
        persist_state="session",
        max_chars=1,
        placeholder=_("empty: the one that came"),
    )
    target = asked or None
    with right:
        usual = of_the_same_text(view) if view.cell != "mlp" else []
        networks = beside(view, _("Beside it"), "beside", usual)
    found = {name: _square(mark, model, view.text, target) for name, (mark, model) in networks.items()}
    texts = []
    for name, (_mark, model) in networks.items():
        row = _row(model, view.text, found[name], at, target)
        before = np.arange(len(view.text)) < at
        label = _("{model}: what its probability of “{c}” as character {n} rests on")
        texts.append(
            Text(
                view.text,
                np.where(before, heat.CONNECTED.levels(row), 0).astype(np.uint8),
                palette="sequential",
                label=label.format(model=name, c=visible(target or view.text[at]), n=f"{at + 1:,}"),
                values=np.where(before, 100 * 10.0**row, np.nan),
                said=f"{name}, %",
            )
        )
    dashboard.mount(
        KEY,
        texts=texts,
        panels=[*_squares(found), _decay(found)],
        at=at,
        scale=("sequential", _("0.01 % of all"), "100 %"),
    )


def _square(mark: str, model: Any, text: str, target: str | None) -> Connectivity:
    return kept(
        ("square", mark, text[:SQUARE], target),
        lambda: gradients.connectivity(model, text[:SQUARE], target=target),
    )


def _shares(log10: Floats) -> Floats:
    """log10 of the shares of each row, (…, s)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = np.max(log10, axis=-1, keepdims=True)
        largest = np.where(np.isfinite(largest), largest, 0)
        total = np.log10(np.maximum(np.sum(10.0 ** (log10 - largest), axis=-1, keepdims=True), 1e-30))
        return np.asarray(log10 - largest - total, np.float32)


def _row(model: Any, text: str, square: Connectivity, at: int, target: str | None) -> Floats:
    """(T,) log10 of each character's share in the prediction of character `at`."""
    out = np.full(len(text), -np.inf, np.float32)
    if at > len(square):
        row = gradients.connectivity_row(model, text, at=at, target=target)
        out[:at] = _shares(row.log10)
    else:
        out[:at] = _shares(square.log10[at - 1, :at])
    return out


def _predicted(square: Connectivity) -> Floats:
    """(T, T) the same for the picture: row t is the prediction of character t, row 0 empty."""
    shares = _shares(square.log10)
    return np.concatenate([np.full((1, len(square)), -np.inf, np.float32), shares[:-1]])


def _squares(found: dict[str, Connectivity]) -> list[Panel]:
    out = []
    for name, square in found.items():
        shares = _predicted(square)
        out.append(
            Panel(
                f"square-{name}",
                _("{model}, the first {n} characters").format(model=name, n=f"{len(square):,}"),
                partial(
                    heat.square,
                    shares,
                    x=_("character read"),
                    y=_("character predicted"),
                    words=("10⁻⁴", "10⁻²", "1"),
                ),
                _(
                    "A wide band below the diagonal is a long memory; upright lines are characters that many "
                    "later ones use."
                ),
                _(
                    "the cause: where the network is saturated a character that decides everything has a "
                    "gradient near 0."
                ),
                height=380,
                width=3 if len(found) == 1 else 6 // len(found),
                link="xy",
                pick="at",
            )
        )
    return out


def _fading(square: Connectivity) -> tuple[Doubles, float]:
    # The picture is kept with them, so that its id() isn't reused.
    found = kept(("decay", id(square)), lambda: (square, square.decay(), square.half_life()))
    return found[1], found[2]


def _decay(found: dict[str, Connectivity]) -> Panel:
    curves = {}
    for name, square in found.items():
        curve, half = _fading(square)
        if math.isfinite(half):
            called = _("{model}, halves in {n} characters").format(model=name, n=f"{half:.1f}")
        else:
            called = name
        curves[called] = curve[: max(2, len(curve) // 2)]
    return Panel(
        "decay",
        _("How fast it fades: the median over all predictions"),
        partial(plain.lines, curves, x=_("characters read since"), y=_("size of the gradient"), log=True),
        _(
            "A straight line is forgetting by a fixed share at each character; a flatter one remembers "
            "longer."
        ),
        _("single characters: an opening quote may still be felt when the median has long gone."),
        height=380 if len(found) == 1 else 320,
        width=3 if len(found) == 1 else 6,
    )
