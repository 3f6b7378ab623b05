"""Compare: two or three networks on the same text, unchanged or with a letter changed, with one cursor."""

from dataclasses import replace

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.errors import install
from rnnviz.figures import live
from rnnviz.figures.themes import SURPRISAL_FULL, Scale
from rnnviz.i18n import _
from rnnviz.lab.analysis.comparison import Comparison
from rnnviz.lab.analysis.perturbation import Perturbation
from rnnviz.lab.pages.inside import unit_changes
from rnnviz.lab.pages.inside.parts import Part, found
from rnnviz.lab.pages.inside.view import (
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
from rnnviz.networks import engines
from rnnviz.networks.progress import Progress
from rnnviz.page.formatting import title
from rnnviz.scoring import sampling
from rnnviz.text.characters import visible
from rnnviz.ui.shell import dashboard, render_finding
from rnnviz.ui.shell.error_messages import plain as safe

KEY, CHANGED = "inside.compare", "inside.changed"
BITS = Scale("sequential", 0.0, 2.0)
SURPRISAL = Scale("sequential", 0.0, SURPRISAL_FULL)


@fragment
def section(view: View) -> None:
    own = view.context.info
    before = _("{model}, untrained").format(model=title(own))
    made = {before: lambda: untrained(view)} if engines.has_torch() else {}
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
        st.caption(said.format(command=f"`{install('lab')}`"))
    if before in networks.value:
        say_start(view)
    if len(networks.value) < 2:
        st.info(_("Choose one or two networks to compare with this one."), icon=":material/compare:")
        return
    done = found(COMPARE, view, networks=networks)
    if done is not None:
        st.markdown(render_finding.join_sentences(done.sentences()))
        _compared(view, done, _heats(view, done, networks))


@fragment
def _compared(view: View, done: Comparison, heats: list[dashboard.Panel]) -> None:
    """Draw the text coloured by each network's surprisal, and each network's continuation."""
    at = cursor(dashboard.asked(KEY), view, len(view.text) - 1)
    running, *expected = done.panels(at)
    dashboard.mount(
        KEY,
        texts=_texts(done),
        panels=[
            *heats,
            render_finding.finding_panel(running),
            *(render_finding.finding_panel(one, height=270, width=6 // len(expected)) for one in expected),
        ],
        at=at,
        scale=("surprisal", _("0 bits"), _("{n} bits of surprisal").format(n=f"≥ {SURPRISAL_FULL:g}")),
    )
    _continuations(view, done, at)


def _compare(_model: object, text: str, networks: Held, progress: Progress) -> Comparison:
    found = units.compare(list(networks.value.values()), text)
    named = (replace(read, model_name=name) for name, read in zip(networks.value, found.traces, strict=True))
    return replace(found, traces=tuple(named))


COMPARE = Part[Comparison]("compare", lambda: _("Reading with each network"), _compare)


def _texts(found: Comparison) -> list[dashboard.Text]:
    texts = [
        dashboard.painted(
            found.text,
            read.nll / np.log(2),
            SURPRISAL,
            _("{model}: surprisal, bits").format(model=read.model_name),
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
        texts.append(
            dashboard.painted(
                found.text, apart, unit_changes.DIFFERENCE, label, "versus", said=_("difference")
            )
        )
    return texts


def _heats(view: View, found: Comparison, networks: Held) -> list[dashboard.Panel]:
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


def _continuations(view: View, found: Comparison, at: int) -> None:
    st.markdown(
        _("**Continuations after character {n}**, from the same random numbers").format(n=f"{at + 1:,}")
    )
    plain = np.full(unit_changes.LENGTH, 127, np.uint8)
    texts = [
        dashboard.Text(
            sampling.resume(read, at + 1, **unit_changes.drawn(view)),
            plain,
            "versus",
            read.model_name,
            linked=False,
        )
        for read in found.traces
    ]
    dashboard.mount("inside.compare.on", texts=texts, quiet=True)


@fragment
def letter(view: View) -> None:
    at = cursor(dashboard.asked(CHANGED), view, len(view.text) // 4)
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    came = view.text[at]
    usual = "e" if came != "e" else "a"
    letter = left.text_input(
        _("In place of “{c}”, character {n}").format(c=visible(came), n=f"{at + 1:,}"),
        key="inside.letter",
        persist_state="session",
        max_chars=1,
        placeholder=usual,
        help=_("Click another character in the text to change that one."),
    )
    if letter in ("", came):
        letter = usual
    with right:
        networks = beside(view, _("Compare with"), "perturb", of_the_same_text(view), most=3)
    done = found(LETTER, view, networks=networks, at=at, letter=letter)
    if done is not None:
        _show_letter(view, letter, done)


def _perturb(
    _model: object, text: str, networks: Held, at: int, letter: str, progress: Progress
) -> list[Perturbation]:
    found = [units.perturb(model, text, at, letter) for model in networks.value.values()]
    return [
        replace(one, before=replace(one.before, model_name=name))
        for name, one in zip(networks.value, found, strict=True)
    ]


LETTER = Part[list[Perturbation]]("letter", lambda: _("Reading with another letter"), _perturb)


def _show_letter(view: View, letter: str, found: list[Perturbation]) -> None:
    first, *others = found
    st.markdown("  \n".join(render_finding.join_sentences(one.sentences()) for one in found))
    label = _("{model}: KL divergence, bits: how much “{c}” in the frame changes each prediction").format(
        model=first.before.model_name, c=visible(letter)
    )
    # Row t of a divergence belongs to the prediction of character t, counted from 0: it colours that one.
    bits = first.bits[: len(view.text)]
    dashboard.mount(
        CHANGED,
        texts=[dashboard.painted(view.text, bits, BITS, label, said=_("difference in bits"))],
        panels=[render_finding.finding_panel(one, height=300, width=3) for one in first.panels(others)],
        at=first.at,
        scale=("sequential", _("0 bits"), _("{n} bits").format(n=f"≥ {BITS.high:g}")),
    )
