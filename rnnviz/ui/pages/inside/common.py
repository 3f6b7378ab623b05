"""What the parts of the page share: the text that is looked at, what was computed for it, and jobs."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

import streamlit as st

from rnnviz import gradients, units
from rnnviz.figures import live
from rnnviz.figures.themes import Scale
from rnnviz.networks.config import TrainConfig
from rnnviz.reading.trace import Trace, trace
from rnnviz.text.characters import visible
from rnnviz.text.normalising import normalise
from rnnviz.ui import model_cache, trouble
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs import progress
from rnnviz.ui.jobs.worker import Jobs, Make, presence
from rnnviz.ui.trouble import describe

if TYPE_CHECKING:
    from rnnviz.networks.checkpoint import ModelInfo
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.networks.torch_model import CharModel
    from rnnviz.text.vocabulary import Vocabulary
    from rnnviz.ui.context import Context
    from rnnviz.ui.pages.inside.board import Ask

T = TypeVar("T")

LONGEST = gradients.memory.MAX_SQUARE
"""Characters of the text that is looked at: as many as a whole connectivity takes."""

REMEMBERED = 40  # results of a session
_KEPT, _JOBS = "inside.kept", "inside.jobs"


@dataclass(frozen=True)
class Look:
    """A network and the text it is looked at with, in one run of the script.

    `mark` tells the model's file from all others; `layer` is the one whose units are meant.
    """

    context: Context
    text: str
    mark: str
    layer: int

    @property
    def model(self) -> CharModel | NumpyModel:
        """The network."""
        return self.context.network

    @property
    def cell(self) -> str:
        """mlp, rnn, gru or lstm."""
        return str(self.model.config.cell)

    @property
    def H(self) -> int:
        """Units of a layer."""
        return int(self.model.config.hidden_size)

    @property
    def trace(self) -> Trace:
        """The text as the network reads it."""
        return kept(("trace", self.mark, self.text), lambda: trace(self.model, self.text))

    def scale(self, quantity: str) -> Scale:
        """The fixed colours of a quantity."""
        return live.scale(quantity, self.model.config.activation)


@overload
def cursor(ask: Ask, look: Look) -> int | None: ...
@overload
def cursor(ask: Ask, look: Look, otherwise: int) -> int: ...
def cursor(ask: Ask, look: Look, otherwise: int | None = None) -> int | None:
    """The character that all parts of the page look at: the one just asked for, or the one before."""
    asked = ask.position(len(look.text))
    if asked is not None:
        st.session_state["inside.at"] = asked
    at: int | None = st.session_state.get("inside.at")
    return otherwise if at is None or at >= len(look.text) else at


def look(context: Context, text: str, layer: int) -> Look:
    """The text, prepared as the model wants it."""
    return Look(
        context,
        normalise(text, context.network.normaliser)[:LONGEST],
        model_cache.digest(context.info),
        layer,
    )


def guarded(section: Callable[[Look], None]) -> Callable[[Look], None]:
    """A part of the page that says what goes wrong in it, also when it is run by itself, as a fragment."""

    @functools.wraps(section)
    def run(look: Look) -> None:
        try:
            section(look)
        except Exception as error:
            trouble.show(error)

    return run


def kept(key: Hashable, make: Callable[[], T]) -> T:
    """What `make` returns, computed once and kept while it is among the newest."""
    memory: OrderedDict[Hashable, Any] = st.session_state.setdefault(_KEPT, OrderedDict())
    if key not in memory:
        memory[key] = make()
        while len(memory) > REMEMBERED:
            memory.popitem(last=False)
    memory.move_to_end(key)
    found: T = memory[key]
    return found


def jobs() -> Jobs:
    """The jobs of this session's page."""
    if _JOBS not in st.session_state:
        st.session_state[_JOBS] = Jobs(presence())
    found: Jobs = st.session_state[_JOBS]
    return found


def done(key: Hashable, title: str, make: Make, name: str, *, patience: float = 0.3) -> Any:
    """The result of a job, which is started if it isn't known; None while it is at work, or came to nothing.

    Its progress bar, or why there is nothing, stands where this is called.
    """
    work = jobs()
    job = work.ask(key, title, make) if work.get(key) is None else work.get(key)
    assert job is not None
    if job.state == "left":
        job = work.ask(key, title, make)
    work.wait([key], patience)
    if job.state == "done":
        # Results are large: of each kind the newest is kept.
        before = st.session_state.get(f"inside.done.{name}")
        if before != key:
            st.session_state[f"inside.done.{name}"] = key
            work.forget([before])
        return job.result
    if job.state == "failed" and job.error is not None:
        st.error(describe(job.error), icon=":material/error:")
    elif job.state == "cancelled":
        progress.again(work, job, f"inside.again.{name}")
    else:
        progress.bar(work, [key], f"inside-{name}")
    return None


def quantities() -> dict[str, str]:
    """What each quantity is called."""
    return {
        "hidden": _("hidden state H"),
        "cell": _("cell C"),
        "reset": _("reset gate R"),
        "update": _("update gate Z"),
        "candidate": _("candidate"),
        "input": _("input gate I"),
        "forget": _("forget gate F"),
        "output": _("output gate O"),
    }


def quantity(look: Look, key: str) -> str:
    """A choice among what this kind of cell has."""
    names = units.quantities(look.cell)
    words = quantities()
    if len(names) == 1:
        return names[0]
    chosen = st.selectbox(
        _("Look at"), names, key=key, format_func=words.__getitem__, persist_state="session"
    )
    return chosen if chosen in names else names[0]


def symbols(vocabulary: Vocabulary, ids: Any) -> list[str]:
    """Symbols by their numbers, as they stand alone."""
    return [visible(vocabulary.symbol(int(i))) for i in ids]


def others(look: Look, *, networks: bool = True) -> list[ModelInfo]:
    """Other models on this machine, those of the same text first."""
    listed, _damaged = model_cache.listed()
    corpus = look.context.info.card.get("corpus")
    found = [m for m in listed if m.path != look.context.info.path and not (networks and m.kind == "ngram")]
    return sorted(found, key=lambda m: (m.card.get("corpus") != corpus, m.name))


def loaded(info: ModelInfo) -> Any:
    """Another network, to read with."""
    return model_cache.load(info, to_read=True)


def beginning(look: Look) -> tuple[str, CharModel]:
    """The network as it was before its training, and a mark that tells it from others."""
    from rnnviz.networks.torch_model import untrained

    recipe = look.context.info.card.get("recipe")
    seed = recipe.get("seed") if isinstance(recipe, dict) else None
    seed = seed if type(seed) is int and 0 <= seed < 2**63 else TrainConfig().seed
    model = look.model
    made = kept(
        ("untrained", look.mark, seed),
        lambda: untrained(
            model.config, model.vocabulary, seed=seed, name=model.name, normaliser=model.normaliser
        ).eval(),
    )
    return f"untrained {seed} {look.mark}", made
