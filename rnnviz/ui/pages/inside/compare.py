"""Compare: two or three networks on the same text, with one cursor."""

from dataclasses import replace

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.errors import install
from rnnviz.figures import live
from rnnviz.figures.themes import SURPRISAL_FULL, Scale
from rnnviz.i18n import _
from rnnviz.networks import has_torch
from rnnviz.reading import sampling
from rnnviz.ui import dashboard, findings
from rnnviz.ui.dashboard import Panel, Text, painted
from rnnviz.ui.pages.inside import changed
from rnnviz.ui.pages.inside.common import (
    Held,
    View,
    beside,
    cursor,
    fragment,
    heat_panel,
    of_the_same_text,
    say_start,
    untrained,
)
from rnnviz.ui.pages.inside.parts import Part, found
from rnnviz.ui.trouble import plain as safe
from rnnviz.ui.words import title

KEY = "inside.compare"
SURPRISAL = Scale("sequential", 0.0, SURPRISAL_FULL)


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
        of_the_same_text(view)[:1] or list(made),
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
    if before in networks.value:
        say_start(view)
    if len(networks.value) < 2:
        st.info(_("Choose one or two networks to compare with this one."), icon=":material/compare:")
        return
    done = found(COMPARE, view, networks=networks)
    if done is None:
        return
    st.markdown(findings.told(done.sentences()))
    running, *expected = done.panels(at)
    dashboard.mount(
        KEY,
        texts=_texts(done),
        panels=[
            *_heats(view, done, networks),
            findings.panel(running),
            *(findings.panel(one, height=270, width=6 // len(expected)) for one in expected),
        ],
        at=at,
        scale=("surprisal", _("0 bits"), _("{n} bits of surprise").format(n=f"{SURPRISAL_FULL:g}")),
    )
    _continuations(view, done, at)


def _compare(_model: object, text: str, networks: Held) -> units.Comparison:
    found = units.compare(list(networks.value.values()), text)
    named = (replace(read, model_name=name) for name, read in zip(networks.value, found.traces, strict=True))
    return replace(found, traces=tuple(named))


COMPARE = Part[units.Comparison]("compare", lambda: _("Reading with each network"), _compare)


def _texts(found: units.Comparison) -> list[Text]:
    texts = [
        painted(
            found.text,
            read.nll / np.log(2),
            SURPRISAL,
            _("{model}: surprise, bits").format(model=read.model_name),
            "surprisal",
            said=read.model_name,
        )
        for read in found.traces
    ]
    if len(texts) == 2:
        first, second = (read.model_name for read in found.traces)
        label = _("difference, bits; blue: {first} expected it more; orange: {second} did").format(
            first=first, second=second
        )
        apart = found.difference()
        texts.append(painted(found.text, apart, changed.DIFFERENCE, label, "versus", said=_("difference")))
    return texts


def _heats(view: View, found: units.Comparison, networks: Held) -> list[Panel]:
    return [
        heat_panel(
            f"heat-{name}",
            _("{model}: hidden state H").format(model=name),
            read.hidden[:, -1],
            view.key("order", networks, name),
            live.scale("hidden", model.config.span),
            _("Look for characters where one network's state changes and the other's hardly does."),
            _("which units correspond: the same row is an unrelated unit in the other network."),
            height=260,
            width=6 // len(found.traces),
        )
        for read, (name, model) in zip(found.traces, networks.value.items(), strict=True)
    ]


def _continuations(view: View, found: units.Comparison, at: int) -> None:
    st.markdown(
        _("**Continuations after character {n}**, from the same random numbers").format(n=f"{at + 1:,}")
    )
    plain = np.full(changed.LENGTH, 127, np.uint8)
    texts = [
        Text(
            sampling.resume(read, at + 1, **changed.drawn(view)),
            plain,
            "versus",
            read.model_name,
            linked=False,
        )
        for read in found.traces
    ]
    dashboard.mount("inside.compare.on", texts=texts, quiet=True)
