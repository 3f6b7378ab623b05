"""Requests for results of the network in view. A Part describes a request; `found` makes it, shows its
progress or error, and returns the cached result.

    PROBE = Part("probe", lambda: _("Probing …"), probing)
    ...
    if (probe := found(PROBE, view, source, Button(…), layer=0, asked=asked)) is not None: ...
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from types import GeneratorType
from typing import Any, Generic, TypeVar

import streamlit as st

from rnnviz.lab.pages.inside.search_texts import PAGE, Source
from rnnviz.lab.pages.inside.view import LONGEST, View
from rnnviz.networks import progress as progress_module
from rnnviz.networks.progress import Progress, Share
from rnnviz.text.characters import normalise
from rnnviz.ui.jobs.pending import PATIENCE, ask

R = TypeVar("R")


@dataclass(frozen=True)
class Button:
    """The button that starts a long part: its label, its icon, and a sentence on the part's cost."""

    label: str
    icon: str
    cost: str


@dataclass(frozen=True, eq=False)
class Part(Generic[R]):
    """A request to a network.

    name      the stable name of its job and its button
    title     makes the label of its progress bar
    run       (model, text, progress=…, **given) returns the result, and calls `progress` with the share done
    most      characters of the text that it reads, at most; 0: it reads none
    shared    whether all sessions with the same request and text share the result
    patience  seconds that the page waits before it shows a progress bar
    """

    name: str
    title: Callable[[], str]
    run: Callable[..., Any]
    most: int = LONGEST
    shared: bool = False
    patience: float = PATIENCE


def found(
    part: Part[R],
    view: View,
    source: Source | None = PAGE,
    button: Button | None = None,
    **given: Hashable,
) -> R | None:
    """The result of a part for the page's text, or for a `source` (None: one is awaited).

    Without a result, draws the part's progress, its error, or the `button` that starts it, and returns None.
    `run` gets only `given`, all of which is in the key: so no result is shown for another request.
    """
    if source is None:
        return None
    key = source.key(view, part.name, *sorted(given.items()))
    wanted = f"inside.{part.name}.wanted"
    started = button is None or st.session_state.get(wanted) == key

    def run(progress: Progress) -> Any:
        text = normalise(source.read(view, part.most), view.model.normaliser) if part.most else ""
        result = part.run(view.model, text, progress=progress, **given)
        if isinstance(result, GeneratorType):
            return progress_module.run(
                result, lambda now: progress(now if isinstance(now, Share) else Share(now.fraction))
            )
        return result

    pending = ask(
        key,
        part.title(),
        run,
        pressed=None if started else False,
        patience=part.patience,
        shared=part.shared,
    )
    if pending.value is None and pending.job is None and button is not None:

        def start() -> None:  # a callback, which runs before the script: the next run draws no button
            st.session_state[wanted] = key

        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                button.label,
                key=f"inside.{part.name}.start",
                icon=button.icon,
                type="primary",
                on_click=start,
            )
            st.caption(button.cost)
    return pending.show(f"inside-{part.name}")
