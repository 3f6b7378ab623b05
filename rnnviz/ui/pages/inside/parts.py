"""One way to ask the network in view for a result: a Part says what is asked and what it costs, `found` asks,
shows progress and trouble, and keeps what comes.

    PROBE = Part("probe", lambda: _("Probing …"), probing)
    ...
    if (probe := found(PROBE, view, source, Button(…), layer=0, asked=asked)) is not None: ...
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from types import GeneratorType
from typing import Any, Generic, TypeVar

import streamlit as st

from rnnviz.networks.progress import mapped
from rnnviz.text.characters import normalise
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.pending import PATIENCE, ask
from rnnviz.ui.jobs.worker import Check, Step, Steps
from rnnviz.ui.pages.inside.search_texts import PAGE, Source
from rnnviz.ui.pages.inside.view import LONGEST, View

R = TypeVar("R")


@dataclass(frozen=True)
class Button:
    """What starts a part that takes long: a label, an icon, and in a sentence what it costs."""

    label: str
    icon: str
    cost: str


@dataclass(frozen=True, eq=False)
class Part(Generic[R]):
    """A question to a network.

    name    of its job and its button; stable
    title   what its bar says
    run     (model, text, **given) returns the result, or generates anything with a `fraction` and returns it
    most    characters of the text that it reads at most; 0: no text
    shared  kept for everybody who asks the same of the same text
    patience  seconds that the page waits for it before it shows a bar
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
    """The result of a part for the page's text or a source; while there is none, its progress, what went
    wrong, or the button that starts it; nothing while a source is awaited. `run` gets what is `given` and
    nothing else, so that no result is shown for another question: all of it is in the key.
    """
    if source is None:
        return None
    key = source.key(view, part.name, *sorted(given.items()))
    if part.shared and source.own:
        store.shared().hold(store.holder(), [key.text])
    wanted = f"inside.{part.name}.wanted"
    started = button is None or st.session_state.get(wanted) == key

    def run() -> Any:
        text = normalise(source.read(view, part.most), view.model.normaliser) if part.most else ""
        return part.run(view.model, text, **given)

    pending = ask(
        key,
        part.title(),
        partial(_job, run),
        pressed=None if started else False,
        patience=part.patience,
        shared=part.shared,
    )
    if pending.value is None and pending.job is None and button is not None:

        def start() -> None:  # before the next run, which then has no button
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


def _job(run: Callable[[], Any], check: Check) -> Steps[Any]:
    yield Step(0.0)
    made = run()
    if not isinstance(made, GeneratorType):
        return made
    return (yield from mapped(made, lambda now: Step(now.fraction, getattr(now, "characters", 0))))
