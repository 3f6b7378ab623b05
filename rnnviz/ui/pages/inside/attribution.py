"""What each character adds to the prediction in view: two ways of asking, beside the gradient."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import streamlit as st

from rnnviz import gradients
from rnnviz.figures import charts
from rnnviz.figures.themes import Scale
from rnnviz.text.characters import visible
from rnnviz.ui import choice, dashboard
from rnnviz.ui.dashboard import Text
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs.worker import Step, Steps, as_steps
from rnnviz.ui.pages.inside.common import View, done
from rnnviz.ui.words import signed

if TYPE_CHECKING:
    import numpy.typing as npt

    from rnnviz.gradients import Attribution
    from rnnviz.gradients.attribution import Instead

KEY = "inside.attribution"
OCCLUDED = 300  # characters before the prediction that are occluded
CANCELS = 3.0  # times the difference: sizes above that are said to cancel
NATS = Scale("diverging", -2.0, 2.0)

Both = tuple["Attribution", "Attribution"]


def section(view: View, at: int, target: str | None, shares: npt.NDArray[np.float32]) -> None:
    """Three rows over the text for the prediction of character `at`, once they are asked for; `shares` (T,)
    are log10 of the gradient's.
    """
    label = _("Integrated gradients and occlusion beside the gradient")
    if not st.toggle(label, key="inside.attribution.on", persist_state="session"):
        return
    words = {"average": _("average of all characters"), "unknown": _("unknown character")}
    pick = choice.pick(_("Baseline: what replaces a character"), words, "inside.instead", default="average")
    instead = cast("Instead", pick)
    found: Both | None = done(
        view.key("attribution", at, target, instead),
        _("Attribution"),
        lambda check: _job(view, at, target, instead),
        "attribution",
    )
    if found is not None:
        _show(view, at, target, shares, *found)


def _job(view: View, at: int, target: str | None, instead: Instead) -> Steps[Both]:
    asked = partial(gradients.attributing, view.model, view.text, at=at, target=target, instead=instead)
    integrated = yield from as_steps(asked(), lambda share: Step(share / 2))
    occluded = yield from as_steps(
        asked(method="occlusion", last=OCCLUDED), lambda share: Step((1 + share) / 2)
    )
    return integrated, occluded


def _show(
    view: View,
    at: int,
    target: str | None,
    shares: npt.NDArray[np.float32],
    integrated: Attribution,
    occluded: Attribution,
) -> None:
    character = visible(target or view.text[at])
    st.markdown(_said(integrated, character))
    before = np.arange(len(view.text)) < at
    gradient = Text(
        view.text,
        np.where(before, charts.CONNECTED.levels(shares), 0).astype(np.uint8),
        palette="sequential",
        label=_("gradient, %: each character's share, without a sign"),
        values=np.where(before, 100 * 10.0**shares, np.nan),
        said=_("gradient, %"),
    )
    rows = [gradient]
    if integrated.adds_up:
        label = _("integrated gradients, nats: all characters change together from the baseline to the text")
        rows.append(_row(view, integrated, label, _("integrated")))
    label = _("occlusion, nats: one character at a time is replaced by the baseline")
    rows.append(_row(view, occluded, label, _("occlusion")))
    dashboard.mount(
        KEY,
        texts=rows,
        at=at,
        scale=("versus", _("lowers log P by 2 nats"), _("raises it by 2 nats")),
    )
    st.markdown(
        _(
            "Strong in nats but faint in the gradient: replacing the character matters, changing it slightly "
            "doesn't. The network may be saturated there. Where integrated gradients and occlusion differ, "
            "characters act together."
        )
    )
    st.caption(
        _(
            "Not shown: the effect of a real alternative. Nobody writes a text with a baseline in it, and "
            "another baseline gives other numbers."
        )
    )


def _row(view: View, found: Attribution, label: str, said: str) -> Text:
    values = np.full(len(view.text), np.nan)
    values[found.first : len(found)] = found.values[found.first :]
    levels: Any = NATS.levels(np.nan_to_num(values))
    return Text(view.text, levels, "versus", label, values, said=said)


def _said(found: Attribution, character: str) -> str:
    """How far the sum of integrated gradients is right."""
    n = len(found) - found.first
    if not found.adds_up:
        return _(
            "Integrated gradients are left out here: even over the last {n} characters their sum is wrong by "
            "{error}."
        ).format(n=n, error=f"{found.error:.0%}")
    words = _(
        "With the last {n} characters instead of the baseline, log P(“{c}”) changes by {difference} nats; "
        "integrated gradients add up to {sum}."
    ).format(
        n=f"{n:,}",
        c=character,
        difference=signed(found.whole - found.without),
        sum=signed(found.values.sum()),
    )
    if found.size > CANCELS * abs(found.whole - found.without):
        words += " " + _(
            "**Most of them cancel**: without their signs they add up to {size}, so a single character's "
            "number says little."
        ).format(size=f"{found.size:.2f}")
    if not math.isnan(found.beyond):
        words += " " + _(
            "Characters further back are kept as they are. Over twice as many the sum is wrong: the network "
            "changes too abruptly between the baseline and the text."
        )
    return words
