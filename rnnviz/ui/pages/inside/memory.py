"""Connectivity: which earlier characters a prediction rests on, and how that fades."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from rnnviz import gradients
from rnnviz.figures import heat, plain
from rnnviz.text.characters import visible
from rnnviz.ui import model_cache
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import board
from rnnviz.ui.pages.inside.board import Panel, Text
from rnnviz.ui.pages.inside.common import Look, cursor, guarded, kept, loaded, others

if TYPE_CHECKING:
    import numpy.typing as npt

    from rnnviz.gradients import Connectivity

    Floats = npt.NDArray[np.float32]
    Doubles = npt.NDArray[np.float64]

BOARD = "inside.memory"
SQUARE = 300
"""Characters of the whole picture: twice as many would take four times as long."""


@st.fragment
@guarded
def section(look: Look) -> None:
    """The whole sub-page."""
    ask = board.asked(BOARD)
    at = cursor(ask, look)
    if at is None or not 0 < at < len(look.text):
        at = min(len(look.text), SQUARE) * 2 // 3
    if len(look.text) < 2:
        st.info(_("Connectivity needs a text of at least two characters."), icon=":material/edit:")
        return
    target, models = _controls(look)
    found = {name: _square(mark, model, look.text, target) for name, (mark, model) in models.items()}
    rows = {name: _row(model, look.text, found[name], at, target) for name, (_mark, model) in models.items()}
    came = target or (look.text[at] if at < len(look.text) else "")
    texts = [
        Text(
            look.text,
            np.where(np.arange(len(look.text)) < at, heat.CONNECTED.levels(row), 0).astype(np.uint8),
            palette="sequential",
            label=_("{model}: what its probability of “{c}” as character {n} rests on").format(
                model=name, c=visible(came), n=f"{at + 1:,}"
            ),
            values=np.where(np.arange(len(look.text)) < at, 100 * 10.0**row, np.nan),
            said=f"{name}, %",
        )
        for name, row in rows.items()
    ]
    board.mount(
        BOARD,
        texts=texts,
        panels=[*_squares(found), _decay(found)],
        at=at,
        scale=("sequential", _("0.01 % of all"), "100 %"),
    )


def _controls(look: Look) -> tuple[str | None, dict[str, tuple[str, Any]]]:
    """The character that is asked about, None for the one that came; and the networks, by name."""
    beside = others(look)
    names = [m.path.stem for m in beside]
    corpus = look.context.info.card.get("corpus")
    usual = [
        m.path.stem
        for m in beside
        if corpus
        and m.card.get("corpus") == corpus
        and m.kind in ("rnn", "gru", "lstm")
        and look.cell != "mlp"
    ][:2]
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        asked = st.text_input(
            _("Ask about one character"),
            key="inside.asked",
            persist_state="session",
            max_chars=1,
            placeholder=_("empty: the one that came"),
        )
    with right:
        chosen = st.multiselect(
            _("Beside it"),
            names,
            default=usual,
            key=f"inside.beside.{look.mark[:12]}",
            persist_state="session",
            max_selections=2,
            placeholder=_("other networks"),
        )
    models: dict[str, tuple[str, Any]] = {look.context.info.path.stem: (look.mark, look.model)}
    for info in beside:
        if info.path.stem in chosen:
            models[info.path.stem] = model_cache.digest(info), loaded(info)
    return asked or None, models


def _square(mark: str, model: Any, text: str, target: str | None) -> Connectivity:
    return kept(
        ("square", mark, text[:SQUARE], target),
        lambda: gradients.connectivity(model, text[:SQUARE], target=target),
    )


def _shares(log10: Floats) -> Floats:
    """Decimal logarithms of the shares of each row, (…, s)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = np.max(log10, axis=-1, keepdims=True)
        largest = np.where(np.isfinite(largest), largest, 0)
        total = np.log10(np.maximum(np.sum(10.0 ** (log10 - largest), axis=-1, keepdims=True), 1e-30))
        return np.asarray(log10 - largest - total, np.float32)


def _row(model: Any, text: str, square: Connectivity, at: int, target: str | None) -> Floats:
    """(T,) the share of each character in the prediction of character `at`, as a logarithm."""
    out = np.full(len(text), -np.inf, np.float32)
    if at > len(square):
        row = gradients.connectivity_row(model, text, at=at, target=target)
        out[:at] = _shares(row.log10)
    else:
        out[:at] = _shares(square.log10[at - 1, :at])
    return out


def _predicted(square: Connectivity) -> Floats:
    """(T, T) the same for the picture: row t is about the prediction of character t, row 0 empty."""
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
                lambda theme, shares=shares: heat.square(  # type: ignore[misc]
                    shares,
                    x=_("character read"),
                    y=_("character predicted"),
                    words=("10⁻⁴", "10⁻²", "1"),
                    theme=theme,
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
                width=6 if len(found) == 1 else 6 // len(found),
                link="xy",
                pick="at",
            )
        )
    if len(found) == 1:
        out[0] = Panel(**{**vars(out[0]), "width": 3})
    return out


def _fading(square: Connectivity) -> tuple[Doubles, float]:
    """The decay and the half-life, computed once for each picture."""
    # The picture is kept with them, so that no other one can have its number.
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
        lambda theme: plain.lines(
            curves, x=_("characters read since"), y=_("size of the gradient"), log=True, theme=theme
        ),
        _(
            "A straight line is forgetting by a fixed share at each character; a flatter one remembers "
            "longer."
        ),
        _("single characters: an opening quote may still be felt when the median has long gone."),
        height=380 if len(found) == 1 else 320,
        width=3 if len(found) == 1 else 6,
    )
