"""Compare: two or three networks on the same text, with one cursor."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import streamlit as st

from rnnviz import units
from rnnviz.errors import RnnvizError, install
from rnnviz.figures import charts, live
from rnnviz.figures.frame import Figure
from rnnviz.figures.live import seriate
from rnnviz.figures.themes import SURPRISAL_FULL, VERSUS_FULL, Scale, Theme
from rnnviz.networks import has_torch
from rnnviz.networks.cells import CELLS
from rnnviz.reading import sampling
from rnnviz.ui import dashboard, i18n
from rnnviz.ui.dashboard import Panel, Text, painted
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.pages.inside.common import (
    Networks,
    View,
    beside,
    cursor,
    fragment,
    kept,
    key_of,
    others,
    say_start,
    symbols,
    untrained,
)
from rnnviz.ui.trouble import describe
from rnnviz.ui.trouble import plain as safe
from rnnviz.ui.words import title

if TYPE_CHECKING:
    from rnnviz.networks.checkpoint import ModelInfo

KEY = "inside.compare"
SURPRISAL = Scale("sequential", 0.0, SURPRISAL_FULL)
DIFFERENCE = Scale("diverging", -VERSUS_FULL, VERSUS_FULL)
LISTED, LENGTH, SEED = 8, 120, 0


@fragment
def section(view: View) -> None:
    at = cursor(dashboard.asked(KEY), view, len(view.text) - 1)
    own = view.context.info
    before = _("{model}, untrained").format(model=title(own))
    made = {before: lambda: untrained(view)} if has_torch.installed() else {}
    networks = beside(
        view,
        _("Compare {model} with").format(model=safe(title(own))),
        "compare",
        [name for name in [_usual(own, others(view)) or before] if name != before or made],
        made=made,
        about=_(
            "Other networks, or this one before its training. A run from the Train page is listed here once "
            "you keep it as a model, which you can do at any moment."
        ),
    )
    if not made:
        said = _(
            "This network before its training needs torch, which is not installed. This brings it: {command}"
        )
        st.caption(said.format(command=f"`{install('train')}`"))
    if before in networks:
        say_start(view)
    if len(networks) < 2:
        st.info(_("Choose one or two networks to compare with this one."), icon=":material/compare:")
        return
    marks = tuple(mark for mark, _model in networks.values())
    try:
        found = kept(
            key_of(view.text, "compare", marks),
            lambda: units.compare([model for _mark, model in networks.values()], view.text),
        )
    except RnnvizError as error:
        st.warning(describe(error), icon=":material/error:")
        return
    names = list(networks)
    dashboard.mount(
        KEY,
        texts=_texts(found, names),
        panels=[*_heats(found, networks), _running(found, names), *_next(found, names, at)],
        at=at,
        scale=("surprisal", _("0 bits"), _("{n} bits of surprise").format(n=f"{SURPRISAL_FULL:g}")),
    )
    _continuations(view, found, networks, at)


def _usual(own: ModelInfo, others: list[ModelInfo]) -> str | None:
    """The most telling network beside this one: trained on the same text, or at least the same language."""
    remembering = [m for m in others if m.kind in CELLS and m.kind != "mlp"]
    for fact in ("corpus", "language"):
        alike = [m for m in remembering if own.card.get(fact) and m.card.get(fact) == own.card[fact]]
        if alike:
            return min(alike, key=lambda m: fact == "language" and m.kind != own.kind).path.stem
    return None


def _texts(found: units.Comparison, names: list[str]) -> list[Text]:
    bits = found.nll / np.log(2)
    texts = []
    for name, values in zip(names, bits, strict=True):
        label = _("{model}: surprise, bits").format(model=name)
        texts.append(painted(found.text, values, SURPRISAL, label, "surprisal", said=name))
    if len(names) == 2:
        label = _("difference, bits; blue: {first} expected it more; orange: {second} did").format(
            first=names[0], second=names[1]
        )
        apart = found.difference(0, 1)
        texts.append(painted(found.text, apart, DIFFERENCE, label, "versus", said=_("difference")))
    return texts


def _heats(found: units.Comparison, networks: Networks) -> list[Panel]:
    out = []
    for (name, (mark, model)), read in zip(networks.items(), found.traces, strict=True):
        values = read.hidden[:, -1]
        order = kept(key_of(read.text, "order", mark, -1, "hidden"), lambda values=values: seriate(values))  # type: ignore[misc]
        scale = live.scale("hidden", model.config.span)
        out.append(
            Panel(
                f"heat-{name}",
                _("{model}: hidden state H").format(model=name),
                partial(_heat, key_of(read.text, "heat", mark, i18n.language()), values.T[order], scale),
                _("Look for characters where one network's state changes and the other's hardly does."),
                _("which units correspond: the same row is an unrelated unit in the other network."),
                height=260,
                width=6 // len(networks),
                link="x",
                pick="at",
            )
        )
    return out


def _heat(key: Key, values: npt.NDArray[np.float32], scale: Scale, *, theme: Theme) -> Figure:
    x, y = _("character"), _("units, similar ones side by side")
    return kept(
        replace(key, rest=(key.rest, theme.name)),
        lambda: charts.table(values, scale, x=x, y=y, places="x", theme=theme),
    )


def _running(found: units.Comparison, names: list[str]) -> Panel:
    return Panel(
        "running",
        _("Running perplexity"),
        partial(
            charts.lines,
            dict(zip(names, found.perplexity, strict=True)),
            x=_("character"),
            y=_("perplexity"),
            log=True,
            places=True,
        ),
        _("The lower line predicts better so far; where the lines meet, the other one has caught up."),
        _("how sure that is: on a few hundred characters, the better network may lose by chance."),
        height=240,
        link="x",
        pick="at",
    )


def _next(found: units.Comparison, names: list[str], at: int) -> list[Panel]:
    panels = []
    for name, read in zip(names, found.traces, strict=True):
        ids, chances = read.top_at(at + 1, at + 2, LISTED)
        panels.append(
            Panel(
                f"next-{name}",
                _("{model}: next-character probabilities after character {n}").format(
                    model=name, n=f"{at + 1:,}"
                ),
                partial(
                    charts.ranking,
                    symbols(read.vocabulary, ids[0].tolist()),
                    chances[0].tolist(),
                    x=_("probability"),
                    last=1.0,
                ),
                _("A long bar means it is sure. Many short ones: it isn't."),
                _("all other characters, which share the rest of the probability."),
                height=270,
                width=6 // len(names),
            )
        )
    return panels


def _continuations(view: View, found: units.Comparison, networks: Networks, at: int) -> None:
    prompt, temperature = view.text[: at + 1], view.context.temperature
    neutral = np.uint8(127)
    texts = []
    for (name, (mark, _model)), read in zip(networks.items(), found.traces, strict=True):
        text = kept(
            key_of(prompt, "on", mark, temperature),
            lambda read=read: sampling.resume(read, at + 1, LENGTH, temperature=temperature, seed=SEED),  # type: ignore[misc]
        )
        texts.append(Text(text, np.full(len(text), neutral), "versus", name, linked=False))
    st.markdown(
        _("**Continuations after character {n}**, from the same random numbers").format(n=f"{at + 1:,}")
    )
    dashboard.mount("inside.compare.on", texts=texts, quiet=True)
