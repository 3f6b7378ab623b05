"""The control of the matches: the same passage in untrained copies of the network, when asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from rnnviz.ui.i18n import _
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Step, Steps, as_steps
from rnnviz.ui.pages.inside.common import View, done, done_on_request
from rnnviz.ui.words import together
from rnnviz.units import match_untrained
from rnnviz.units.controls import COPIES

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import Network
    from rnnviz.units import Index, Matches
    from rnnviz.units.match_controls import Controls
    from rnnviz.units.match_untrained import Copy, Untrained


@dataclass(frozen=True)
class Asked:
    """What is looked for: `least` characters, in which a `share` of the units are on; `most` such places."""

    threshold: float
    edges: int
    share: float
    least: int
    most: int


def beside(
    view: View,
    index: Index,
    found: Matches,
    controls: Controls,
    start: int,
    asked: Asked,
    *,
    key: Key,
) -> Untrained | None:
    """The matches of untrained copies, as `rnnviz.units.match_untrained.untrained` takes what was asked; None
    until they have read. `key` identifies it all.
    """
    made: tuple[Copy, ...] | None = done_on_request(
        Key("match copies", key.text, (view.mark, str(index.path))),
        _("Reading the text with {n} untrained copies of the network").format(n=COPIES),
        lambda check: _reading(view.model, index),
        "match-copies",
        label=_("Compare with untrained copies"),
        icon=":material/compare_arrows:",
        said=_(
            "Reads the first {n} characters with {copies} untrained copies of the network. It takes some "
            "seconds, or more for a large network."
        ).format(n=f"{min(len(index), match_untrained.CHARACTERS):,}", copies=COPIES),
    )
    if made is None:
        return None
    compare = partial(
        match_untrained.untrained,
        index,
        found,
        controls,
        view.trace,
        start,
        made,
        share=asked.share,
        edges=asked.edges,
        layer=view.layer,
        most=asked.most,
    )
    compared: Untrained | None = done(
        replace(key, what="match untrained", rest=(key.rest, view.text, start)),
        _("Matching with {n} untrained copies of the network").format(n=COPIES),
        lambda check: _comparing(compare),
        "match-untrained",
    )
    return compared


def _reading(model: Network, index: Index) -> Steps[tuple[Copy, ...]]:
    yield Step(0.0)
    steps = match_untrained.copies(model, index.text(0, match_untrained.CHARACTERS))
    return (yield from as_steps(steps, lambda now: Step(now.fraction)))


def _comparing(compare: Callable[[], Untrained]) -> Steps[Untrained]:
    yield Step(0.0)
    return compare()


def sentence(found: Untrained) -> str:
    """What was compared, as Markdown free of any text from the reader."""
    whole = found.shares[0]
    said = [
        _(
            "**Control**: in {copies} untrained copies of this network {units} units are on throughout the "
            "passage. Each copy's threshold is set so that as large a share of its states is on."
        )
    ]
    if found.own and found.matches:
        said.append(
            _(
                "In the first {n} characters, {a} of this network's {own} best matches end in the passage "
                "itself, and {b} of the copies' {matches}."
            )
        )
        said.append(_("Where both shares are alike, training is not why these places match."))
    elif found.matches:
        said.append(
            _("In the first {n} characters the copies have {matches} matches, and this network has none.")
        )
    else:
        said.append(_("In the first {n} characters the copies have no match."))
    return together(said).format(
        copies=len(found.units),
        units=_counts(found.units),
        n=f"{found.characters:,}",
        a=whole.own,
        own=found.own,
        b=whole.untrained,
        matches=found.matches,
    )


def _counts(units: tuple[int, ...]) -> str:
    return (
        str(units[0])
        if len(set(units)) == 1
        else _("{low} to {high}").format(low=min(units), high=max(units))
    )
