"""What the page's parts share: the view, results kept for it, jobs, other networks."""

import functools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, ParamSpec, TypeVar

import streamlit as st

from rnnviz.analysis import connectivity
from rnnviz.arrays import Array
from rnnviz.figures import live
from rnnviz.figures.pictures import draw
from rnnviz.figures.themes import Scale
from rnnviz.findings import Heat
from rnnviz.i18n import N_, _
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.numpy_model import Network
from rnnviz.networks.untrained import of_known_start
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace
from rnnviz.text.characters import normalise
from rnnviz.ui import error_messages, model_cache
from rnnviz.ui.compressed_text import unpack
from rnnviz.ui.context import Context
from rnnviz.ui.dashboard import Ask, Panel
from rnnviz.ui.fields import Field
from rnnviz.ui.formatting import title, titles
from rnnviz.ui.jobs.pending import working
from rnnviz.ui.jobs.store import Key, checksum

T = TypeVar("T")
P = ParamSpec("P")
LONGEST = connectivity.MAX_SQUARE  # characters of the text at most: as many as a whole connectivity takes
REMEMBERED = 40  # results of a session

TEXT = Field("inside.text", "", address="text", check=lambda packed: unpack(packed)[:LONGEST], brief=True)
LAYER = Field("inside.layer", 0, address="layer", title=N_("Layer"), check=int, brief=True)
QUANTITY = Field("inside.quantity", "hidden", address="quantity", title=N_("Look at"))
AT = Field[int | None]("inside.at", address="at", title=N_("Character"), check=int)
UNIT = Field[int | None]("inside.unit", address="unit", title=N_("Unit"), check=int)
WAY = Field("inside.way", "change")  # what is changed under Cause


@dataclass(frozen=True)
class Held:
    """What a page has already and gives to a run, known by its `mark`."""

    mark: Hashable
    value: Any = field(compare=False, repr=False)


@dataclass(frozen=True)
class View:
    """What a run of the script looks at: a network, a text, a layer. `mark` identifies the model's file."""

    context: Context
    text: str
    mark: str
    layer: int

    @property
    def model(self) -> Network:
        return self.context.network

    @property
    def cell(self) -> str:
        return str(self.model.config.cell)

    @property
    def H(self) -> int:
        return int(self.model.config.hidden_size)

    def key(self, what: str, *rest: Hashable) -> Key:
        """The key of what is found of the text in this network."""
        return Key(what, checksum(self.text), (self.mark, *rest))

    @property
    def trace(self) -> Trace:
        return kept(self.key("trace"), lambda: trace(self.model, self.text))

    @property
    def python(self) -> bool:
        """Whether it reads programs, for which Python's tokeniser stands in for rules of thumb."""
        return self.context.info.card.get("language") == "python"

    @property
    def unclosed(self) -> Literal["line", "paragraph"]:
        """Where quotes and brackets end that are never closed."""
        return "line" if self.context.info.card.get("language") in ("python", "zh") else "paragraph"

    def scale(self, quantity: str) -> Scale:
        return live.scale(quantity, self.model.config.span)


def view(context: Context, text: str, layer: int) -> View:
    """The text as the model reads it, at most LONGEST characters."""
    text = normalise(text, context.network.normaliser)[:LONGEST]
    return View(context, text, model_cache.digest(context.info), layer)


def cursor(ask: Ask, view: View, otherwise: T) -> int | T:
    """The character that all parts of the page look at: the one just asked for, else the last one."""
    asked = ask.position(len(view.text))
    if asked is not None:
        AT.put(asked)
    at = AT.now(range(len(view.text)))
    return otherwise if at is None else at


def fragment(section: Callable[P, None]) -> Callable[P, None]:
    """A part of the page that is redrawn by itself and shows its own errors. One in another is redrawn alone
    for what is clicked in it, with what it was given: that has to be all that it shows of the other's fields.
    """

    @st.fragment
    @functools.wraps(section)
    def run(*given: P.args, **named: P.kwargs) -> None:
        with working("inside", f"{section.__module__}.{section.__name__}"):
            try:
                section(*given, **named)
            except Exception as error:
                error_messages.show(error)

    return run


def kept(key: Key, make: Callable[[], T]) -> T:
    """What `make` returns, computed once and kept while among the newest."""
    memory: dict[Key, Any] = st.session_state.setdefault("inside.kept", {})
    found: T = memory.pop(key) if key in memory else make()
    memory[key] = found  # behind all others
    if len(memory) > REMEMBERED:
        del memory[next(iter(memory))]
    return found


def heat_panel(
    name: str,
    title: str,
    values: Array,
    order: Key,
    scale: Scale,
    notice: str,
    limits: str,
    **options: Any,
) -> Panel:
    """A heat map of `values` (T, H), the units in order of likeness, which is kept under the key `order`."""
    values = values[:, kept(order, lambda: live.seriate(values))]
    x, y = _("character"), _("units, similar ones side by side")
    return Panel(
        name,
        title,
        partial(draw, Heat(values.T, (scale.kind, scale.low, scale.high), x, y)),
        notice,
        limits,
        link="x",
        pick="at",
        **options,
    )


def others(view: View) -> list[ModelInfo]:
    """The other networks on this machine, those of the same corpus first."""
    corpus = view.context.info.card.get("corpus")
    listed = model_cache.listed()[0]
    found = [m for m in listed if m.path != view.context.info.path and m.kind != "ngram"]
    return sorted(found, key=lambda m: (m.card.get("corpus") != corpus, m.name))


def of_the_same_text(view: View) -> list[str]:
    """The names of two other networks with memory, trained on the same text."""
    corpus = view.context.info.card.get("corpus")
    alike = [m for m in others(view) if corpus and m.card.get("corpus") == corpus and m.kind != "mlp"]
    return [m.path.stem for m in alike[:2]]


def beside(
    view: View,
    label: str,
    key: str,
    usual: list[str],
    most: int = 2,
    made: Mapping[str, Callable[[], tuple[str, Any]]] = MappingProxyType({}),
    about: str | None = None,
) -> Held:
    """The network in view and up to `most` that the reader adds, by name; `made` are networks without a
    file, each made with a mark that identifies it.
    """
    files = {m.path.stem: m for m in others(view)}
    names = titles(files.values())
    chosen = Field[tuple[str, ...]](f"inside.{key}.with", ()).choose(
        label,
        names | {name: name for name in made},
        tuple(usual),
        of=view.mark,
        draw=st.multiselect,
        max_selections=most,
        placeholder=_("other networks"),
        help=about,
    )
    networks: dict[str, tuple[str, Any]] = {title(view.context.info): (view.mark, view.model)}
    for name, info in files.items():
        if name in chosen:
            networks[names[name]] = model_cache.digest(info), model_cache.load(info, to_read=True)
    networks |= {name: make() for name, make in made.items() if name in chosen}
    marks = tuple((name, mark) for name, (mark, _model) in networks.items())
    return Held(marks, {name: model for name, (_mark, model) in networks.items()})


def say_start(view: View) -> None:
    """How untrained copies begin, where the network itself may have begun otherwise."""
    if not of_known_start(view.model):
        st.caption(
            _("Untrained copies have torch's default initial weights: how this network began is not known.")
        )


def untrained(view: View) -> tuple[str, Any]:
    """The network before its training, and a key that identifies it."""
    from rnnviz.networks.torch_model import untrained

    recipe = view.context.info.card.get("recipe")
    seed = recipe.get("seed") if isinstance(recipe, dict) else None
    seed = seed if type(seed) is int and 0 <= seed < 2**63 else TrainConfig().seed
    model = view.model
    made = kept(
        Key("untrained", rest=(view.mark, seed)),
        lambda: untrained(
            model.config, model.vocabulary, seed=seed, name=model.name, normaliser=model.normaliser
        ).eval(),
    )
    return f"untrained {seed} {view.mark}", made
