"""A change of units beside the same change of random ones, on the text in view and on a longer one, there
also inside a target and outside it.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import streamlit as st

from rnnviz import units
from rnnviz.text.characters import normalise
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs.worker import Check, Step, Steps, as_steps
from rnnviz.ui.pages.inside import question, sources, words
from rnnviz.ui.pages.inside.common import View, done, done_on_request
from rnnviz.ui.pages.inside.question import Question
from rnnviz.ui.pages.inside.words import PATTERN, SPAN
from rnnviz.ui.words import signed, together

if TYPE_CHECKING:
    from rnnviz.reading.resampling import Resampled
    from rnnviz.units import Effect, Intervention, Within

READ = 20_000  # characters of a longer text
REST = 0.5  # seconds that the page has to itself


def here(view: View, intervention: Intervention) -> None:
    """What the change costs on the text in view, beside random ones."""
    found: Effect | None = done(
        view.key("effect", intervention),
        _("Changing random units and directions for comparison"),
        lambda check: _later(view, intervention, check),
        "effect",
        patience=0.0,
    )
    if found is not None:
        st.markdown(said(found))


def elsewhere(view: View, intervention: Intervention) -> None:
    """The same on a longer text, by a job that a button starts: in all, and where a target holds."""
    st.subheader(_("On a longer text, and on a part of it"), anchor=False)
    names = {
        name: about
        for name, about in words.targets(view.python).items()
        if name not in (PATTERN, SPAN, *words.GRADED)
    }
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        looked = [v for k, v in st.session_state.items() if str(k).startswith("inside.target.")]
        usual = "py-string" if view.python else "quotes"
        first = looked[0] if looked and looked[0] in names else usual
        about = st.selectbox(
            _("Part of the text to compare with the rest"),
            list(names),
            index=list(names).index(first),
            key=f"inside.effect.target.{first}",
            persist_state="session",
            format_func=names.__getitem__,
        )
    with right:
        source = sources.pick(view, "inside.effect.source")
    if source is None:
        return
    found: Effect | None = done_on_request(
        source.key(view, "effect", intervention, about),
        _("Changing random units and directions for comparison"),
        lambda check: _longer(view, source, intervention, about),
        "effect.longer",
        label=_("Measure it on a longer text"),
        icon=":material/straighten:",
        said=_("Reads up to {n} characters with the change, and with {controls} random changes.").format(
            n=f"{READ:,}", controls=2 * units.effects.CONTROLS
        ),
    )
    if found is not None:
        st.markdown(said(found))
        if found.within is None:
            st.markdown(
                _("This text has no such part, or consists of nothing else: there is nothing to compare.")
            )
        else:
            st.markdown(_inside(found, found.within, names[about]))


def _later(view: View, intervention: Intervention, check: Check) -> Steps[Effect]:
    """On the text in view, once a reader has let go of the slider: the page answers first."""
    yield Step(0.0)
    time.sleep(REST)
    check()
    return (yield from _steps(view, view.text, intervention, None))


def _longer(view: View, source: sources.Source, intervention: Intervention, about: str) -> Steps[Effect]:
    text = normalise(source.read(view, READ), view.model.normaliser)
    return _steps(view, text, intervention, Question(about))


def _steps(view: View, text: str, intervention: Intervention, asked: Question | None) -> Steps[Effect]:
    yield Step(0.0)
    target = None if asked is None else question.target(asked, view.unclosed, text)
    if target is not None and not target.varies:
        target = None
    steps = units.effect(view.model, text, intervention, target=target)
    return (yield from as_steps(steps, lambda now: Step(now.fraction)))


def said(found: Effect) -> str:
    """What may be said of the change, in Markdown."""
    half = len(found.controls) // 2
    loss, lead = found.losses, found.lead
    counts = {
        "n": f"{found.characters:,}",
        "units": int((found.units < found.loss).sum()),
        "directions": int((found.directions < found.loss).sum()),
        "half": half,
    }
    first = _(
        "On these {n} characters the change costs **{loss} nats a character**{interval}. It costs more than "
        "{units} of {half} changes of random units, and {directions} of {half} along random directions."
    ).format(loss=signed(found.loss, 4), interval=_interval(loss.low[0], loss.high[0]), **counts)
    return together((first, _beyond(lead)))


def _beyond(lead: Resampled) -> str:
    """What may be said of the lead over 95 % of the random changes of either kind."""
    if not lead.enough:
        return _(
            "This text is too short, or too uneven, for an interval, so this may not hold for other passages."
        )
    if lead.estimate <= 0:
        said = _("Changing random units or directions can do as much. **Nothing special here.**")
    elif not lead.excludes():
        said = _(
            "That is {lead} nats more than 95 % of the random changes cost, which is **not sure**{interval}."
        )
    else:
        said = _("So it costs **more than 95 % of the random changes**, by {lead} nats{interval}.")
    interval = _interval(float(lead.low), float(lead.high))
    return said.format(lead=f"{float(lead.estimate):.4f}", interval=interval)


def _inside(found: Effect, within: Within, about: str) -> str:
    inside, outside, apart = within.inside, within.outside, found.conditional
    assert apart is not None
    first = _(
        "**{about}** ({n} characters), the change costs {inside} nats a character{one}; elsewhere it costs "
        "{outside}{other}."
    ).format(
        about=about[0].upper() + about[1:],
        n=f"{within.characters:,}",
        inside=signed(inside.estimate[0], 4),
        outside=signed(outside.estimate[0], 4),
        one=_interval(inside.low[0], inside.high[0]),
        other=_interval(outside.low[0], outside.high[0]),
    )
    return together((first, _apart(apart)))


def _apart(apart: Resampled) -> str:
    """What may be said of inside less outside, beside the same of random changes."""
    if not apart.enough:
        return _("There are too few such passages for an interval, so the difference says nothing yet.")
    values = {
        "by": signed(float(apart.estimate), 4),
        "interval": _interval(float(apart.low), float(apart.high)),
    }
    if apart.estimate > 0 and apart.excludes():
        return _(
            "95 % of the random changes make a smaller difference, by {by} nats{interval}: what was changed "
            "**matters more there**."
        ).format(**values)
    return _(
        "Random changes may show as large a difference, so it **does not follow** that what was changed "
        "matters more there."
    )


def _interval(low: float, high: float) -> str:
    if math.isnan(low) or math.isnan(high):
        return ""
    return _(" (95 % interval {low} to {high})").format(low=signed(low, 4), high=signed(high, 4))
