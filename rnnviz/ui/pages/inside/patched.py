"""What a patch changes, in pictures: the next prediction, and those after it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rnnviz.figures import charts
from rnnviz.figures.themes import VERSUS_FULL
from rnnviz.reading import sampling
from rnnviz.ui import dashboard
from rnnviz.ui.dashboard import Panel, Text, painted
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import cause
from rnnviz.ui.pages.inside.common import View, kept, key_of, symbols

if TYPE_CHECKING:
    import numpy.typing as npt

    from rnnviz.units import PatchControls, Patched

KEY = "inside.patch"
LENGTH = 120  # characters of a continuation
SEED = 0


def show(view: View, done: Patched, controls: PatchControls) -> None:
    """The second text, how it goes on, and the next prediction, without and with the patch."""
    temperature = view.context.temperature
    key = key_of(done.target.text, "patch on", view.mark, done.to, temperature)
    before = kept(
        key, lambda: sampling.resume(done.target, done.to, LENGTH, temperature=temperature, seed=SEED)
    )
    after = done.continuation(LENGTH, temperature=temperature, seed=SEED)
    full = f"{VERSUS_FULL:g}"
    dashboard.mount(
        KEY,
        texts=[
            painted(
                done.target.text,
                0.0 - done.loss / np.log(2),
                cause.DIFFERENCE,
                _("bits: with the patch, a character is more (blue) or less (orange) expected"),
                "versus",
                said=_("change in bits"),
            ),
            Text(
                before,
                cause.apart(before, after),
                "sequential",
                _("continuation without the patch, coloured from where the two differ"),
                linked=False,
            ),
            Text(
                after,
                cause.apart(after, before),
                "sequential",
                _("continuation with the patch, from the same random numbers"),
                linked=False,
            ),
        ],
        panels=[_next(view, done), _lines(done, controls)],
        at=max(0, done.to - 1),
        scale=("versus", _("{n} bits less").format(n=full), _("{n} bits more").format(n=full)),
    )


def _next(view: View, done: Patched) -> Panel:
    read, row = (done.target, done.after), slice(done.to, done.to + 1)
    before, now = (np.exp(t.log_probs_at(row.start, row.stop)[0].astype(np.float64)) for t in read)
    order = np.argsort(-np.maximum(before, now), kind="stable")[:10]
    return Panel(
        "next",
        _("Next-character probabilities at the patch"),
        partial(
            charts.pair,
            symbols(view.model.vocabulary, order),
            before[order],
            now[order],
            labels=(_("without the patch"), _("with the patch")),
            x=_("probability"),
        ),
        _(
            "With the whole state put in, these are the first text's probabilities. With a part of it, see "
            "how close they come."
        ),
        _("what matters only later: a state may carry more than shows in the next character."),
        height=360,
        width=3,
    )


def _lines(done: Patched, controls: PatchControls) -> Panel:
    row = slice(done.to, done.to + controls.ahead)
    curves: dict[str, npt.NDArray[Any]] = {
        _("the patch"): done.divergence[row],
        _("random moves, 95 % are below"): np.quantile(controls.random_each, 0.95, axis=0),
        _("states from other places, median"): np.median(controls.elsewhere_each, axis=0),
    }
    return Panel(
        "lines",
        _("How far predictions move as the second text goes on"),
        partial(
            charts.lines,
            curves,
            x=_("characters read of the second text"),
            y="KL, nats",
            first=done.to,
        ),
        _("Where the patch is above the random moves, predictions still depend on the state put in."),
        _("which part of the state matters: to find out, put in one layer, units or a direction."),
        height=360,
        width=3,
    )
