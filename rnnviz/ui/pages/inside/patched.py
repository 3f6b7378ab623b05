"""What a patch changes, in pictures: the next prediction, those after it, and every place in every place."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rnnviz import units
from rnnviz.figures import bars, heat, plain
from rnnviz.figures.themes import VERSUS_FULL, Scale
from rnnviz.reading import sampling
from rnnviz.ui import choice
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs.worker import Step, as_steps
from rnnviz.ui.pages.inside import cause, dashboard
from rnnviz.ui.pages.inside.common import View, done_on_request, kept, key_of, symbols
from rnnviz.ui.pages.inside.dashboard import Panel, Text, painted

if TYPE_CHECKING:
    import numpy.typing as npt

    from rnnviz.units import PatchControls, Patched, PatchGrid
    from rnnviz.units.patch_effects import Effect

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
            bars.pair,
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
            plain.lines,
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


def grid(view: View, source: str, target: str, part: dict[str, Any], key: Hashable) -> None:
    """The effect of every place of the first text in every place of the second, once it is asked for."""
    words = {"kl": _("the next prediction"), "loss": _("the loss on the next 10 characters")}
    label = _("Patch every place into every place: effect on")
    measure = cast("Effect", choice.pick(label, words, f"{KEY}.measure", default="kl"))

    def make(check: Any) -> Any:
        ahead = 1 if measure == "kl" else 10
        steps = units.patch_grid(view.model, source, target, measure=measure, ahead=ahead, **part)
        return as_steps(steps, lambda now: Step(now.fraction))

    found: PatchGrid | None = done_on_request(
        view.key("patch grid", source, target, measure, key),
        _("Patching every place"),
        make,
        "patchgrid",
        label=_("Compute the grid"),
        icon=":material/grid_on:",
        said=_("{n} patches; it takes some seconds.").format(n=f"{(len(source) + 1) * (len(target) + 1):,}"),
    )
    if found is None:
        return
    dashboard.mount(f"{KEY}.grid", panels=[_square(found, words[measure])], quiet=True)


def _square(found: PatchGrid, measured: str) -> Panel:
    effect = np.nan_to_num(found.effect).astype(np.float32)
    most = float(f"{max(np.abs(effect).max(), 1e-6):.2g}")
    scale = Scale("sequential", 0.0, most) if found.measure == "kl" else Scale("diverging", -most, most)
    return Panel(
        "grid",
        _("Effect on {measure}, nats").format(measure=measured),
        partial(
            heat.table,
            effect,
            scale,
            x=_("put in after this many characters"),
            y=_("taken after this many characters"),
        ),
        _(
            "A strong column: a place where almost any state put in changes the outcome. A strong row: a "
            "state that changes it almost wherever it is put in. A cell near 0: the patch changes little."
        ),
        _("random moves, as a control. Any two states differ: compare a cell with its row and column."),
        height=int(np.clip(8 * len(found.at), 300, 560)),
    )
