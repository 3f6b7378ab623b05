"""Long computations on the network in view, made by the session's jobs.

    PROBE = Computation[Probe]("probe", lambda: _("Probing …"), probe_text)
    ...
    if (probe := PROBE.render(view, source, StartButton(…), layer=0, question=question)) is not None: ...

`render` draws what there is to see of it: the button that starts it, its progress, or its error. Where the
result is needed higher up on the page than that, `request` asks for it first and draws nothing:

    request = PROBE.request(view, source, StartButton(…), layer=0, question=question)
    if request.result is not None: ...
    request.render()
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from rnnviz.lab.pages.inside.page_view import MAX_TEXT_CHARS, PageView
from rnnviz.lab.pages.inside.search_texts import PAGE, Source
from rnnviz.networks.progress import Progress
from rnnviz.text.characters import normalise
from rnnviz.ui.jobs.pending import BAR_AFTER_S, Pending, ask
from rnnviz.ui.jobs.store import Key

R = TypeVar("R")


@dataclass(frozen=True)
class StartButton:
    """The button that starts a long computation: its label, its icon, and a sentence on what it costs."""

    label: str
    icon: str
    cost: str


@dataclass(frozen=True, eq=False)
class ResultRequest(Generic[R]):
    """A computation that was asked for in this run of the page: its result, or what there is of it so far."""

    name: str
    key: Key
    pending: Pending[R]
    button: StartButton | None

    @property
    def result(self) -> R | None:
        return self.pending.value

    def render(self) -> R | None:
        """Draw the button, the progress or the error that stands for the result; return the result."""
        # Before the first press alone: a job that failed or was cancelled says so, and how to begin again.
        if self.result is None and self.pending.job is None and self.button is not None:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    self.button.label,
                    key=f"inside.{self.name}.start",
                    icon=self.button.icon,
                    type="primary",
                    on_click=self._start,
                )
                st.caption(self.button.cost)
        return self.pending.show(f"inside-{self.name}")

    def _start(self) -> None:
        # A callback, which runs before the script: the next run asks for the job and draws no button.
        st.session_state[started_key(self.name)] = self.key


def started_key(name: str) -> str:
    """The key of st.session_state that holds the key of the result whose button was pressed last."""
    return f"inside.{name}.wanted"


@dataclass(frozen=True, eq=False)
class Computation(Generic[R]):
    """A computation on a network and a text.

    name       the stable name of its job and its button
    title      makes the label of its progress bar
    run        (model, text, progress=…, **arguments) returns the result, and calls `progress` with the share
               done
    max_chars  characters of the text that it reads, at most; 0: it reads none
    shared     whether all sessions with the same request and text share the result
    patience   seconds that the page waits before it shows a progress bar
    """

    name: str
    title: Callable[[], str]
    run: Callable[..., Any]
    max_chars: int = MAX_TEXT_CHARS
    shared: bool = False
    patience: float = BAR_AFTER_S

    def request(
        self,
        view: PageView,
        source: Source = PAGE,
        button: StartButton | None = None,
        **arguments: Hashable,
    ) -> ResultRequest[R]:
        """Ask for the result on a source's text. With a `button`, nothing is computed before it is pressed.

        `run` gets only `arguments`, all of which are in the key: so no result is shown for another request.
        """
        # Sorted: the key must not depend on the order in which a caller names its arguments.
        key = source.key(view, self.name, *sorted(arguments.items()))
        started = button is None or st.session_state.get(started_key(self.name)) == key

        # In the job's thread, which has no session: what the session holds is in `view` and `source`.
        def run(progress: Progress) -> Any:
            text = (
                normalise(source.read(view, self.max_chars), view.model.normaliser) if self.max_chars else ""
            )
            return self.run(view.model, text, progress=progress, **arguments)

        pending: Pending[R] = ask(
            key,
            self.title(),
            run,
            pressed=None if started else False,
            patience=self.patience,
            shared=self.shared,
        )
        return ResultRequest(self.name, key, pending, button)

    def render(
        self,
        view: PageView,
        source: Source | None = PAGE,
        button: StartButton | None = None,
        **arguments: Hashable,
    ) -> R | None:
        """Ask for the result, and draw what stands for it while there is none. None too without a source."""
        return None if source is None else self.request(view, source, button, **arguments).render()
