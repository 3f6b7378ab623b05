"""Shared by the page's parts: the view, cached results, fragments, and other networks."""

import functools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, ParamSpec, TypeVar

import streamlit as st

from rnnviz.arrays import Array
from rnnviz.figures import live
from rnnviz.figures.pictures import draw
from rnnviz.figures.themes import Scale
from rnnviz.findings import Heat
from rnnviz.i18n import N_, _
from rnnviz.lab.analysis import connectivity
from rnnviz.lab.engines.untrained import of_known_start
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.numpy_model import Network
from rnnviz.page.formatting import title, titles
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace
from rnnviz.text.characters import normalise
from rnnviz.ui.jobs.pending import working
from rnnviz.ui.jobs.store import Key, checksum
from rnnviz.ui.shell import error_messages, model_cache
from rnnviz.ui.shell.address import unpack_text
from rnnviz.ui.shell.dashboard import Ask, Panel
from rnnviz.ui.shell.fields import Field
from rnnviz.ui.shell.model_cache import ModelContext

T = TypeVar("T")
P = ParamSpec("P")
LONGEST = connectivity.MAX_SQUARE  # characters of the text, at most: the longest whole connectivity
REMEMBERED = 40  # cached results of a session

TEXT = Field(
    "inside.text", "", address="text", check=lambda packed: unpack_text(packed)[:LONGEST], brief=True
)
LAYER = Field("inside.layer", 0, address="layer", title=N_("Layer"), check=int, brief=True)
QUANTITY = Field("inside.quantity", "hidden", address="quantity", title=N_("Look at"))
AT = Field[int | None]("inside.at", address="at", title=N_("Character"), check=int)
UNIT = Field[int | None]("inside.unit", address="unit", title=N_("Unit"), check=int)
WAY = Field("inside.way", "change")  # the kind of change under Cause


@dataclass(frozen=True)
class Held:
    """A value passed to a part's `run` and identified by its `mark`, which alone is hashed and compared."""

    mark: Hashable
    value: Any = field(compare=False, repr=False)


@dataclass(frozen=True)
class View:
    """The network, the text and the layer of one run. `mark` is the digest of the model's file."""

    context: ModelContext
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
        """The key of a result `what` on the page's text and this network."""
        return Key(what, checksum(self.text), (self.mark, *rest))

    @property
    def trace(self) -> Trace:
        return kept(self.key("trace"), lambda: trace(self.model, self.text))

    @property
    def python(self) -> bool:
        """Whether the network reads Python, for which Python's tokeniser replaces the simple rules."""
        return self.context.info.card.get("language") == "python"

    @property
    def unclosed(self) -> Literal["line", "paragraph"]:
        """The end of quotes and brackets that are never closed."""
        return "line" if self.context.info.card.get("language") in ("python", "zh") else "paragraph"

    def scale(self, quantity: str) -> Scale:
        return live.scale(quantity, self.model.config.span)


def view(context: ModelContext, text: str, layer: int) -> View:
    """The view of a text, normalised as the model reads it and cut to LONGEST characters."""
    text = normalise(text, context.network.normaliser)[:LONGEST]
    return View(context, text, model_cache.digest(context.info), layer)


def cursor(ask: Ask, view: View, otherwise: T) -> int | T:
    """The index of the character chosen in all parts of the page: the ask's, else the last one.

    `otherwise` if none has been chosen.
    """
    asked = ask.position(len(view.text))
    if asked is not None:
        AT.request(asked)
    at = AT.resolve(range(len(view.text)))
    return otherwise if at is None else at


def fragment(section: Callable[P, None]) -> Callable[P, None]:
    """A decorator: a Streamlit fragment that shows its own errors and drops its own unwanted jobs.

    A click in a nested fragment redraws it alone, with the arguments of its last call. So values of the outer
    fragment's fields must be among these.
    """

    @st.fragment
    @functools.wraps(section)
    def run(*given: P.args, **named: P.kwargs) -> None:
        with working("inside", f"{section.__module__}.{section.__name__}"):
            try:
                section(*given, **named)
            except Exception as error:
                error_messages.show_error(error)

    return run


def kept(key: Key, make: Callable[[], T]) -> T:
    """The result of `make`, computed once and kept in the session while among the REMEMBERED newest."""
    memory: dict[Key, Any] = st.session_state.setdefault("inside.kept", {})
    found: T = memory.pop(key) if key in memory else make()
    memory[key] = found  # last: the dict is in the order of use
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
    """A heat map of `values` (T, H), similar units side by side; that order is cached by the key `order`."""
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
    listed = model_cache.list_models()[0]
    found = [m for m in listed if m.path != view.context.info.path and m.kind != "ngram"]
    return sorted(found, key=lambda m: (m.card.get("corpus") != corpus, m.name))


def of_the_same_text(view: View) -> list[str]:
    """The names of at most two other networks with memory that were trained on the same corpus."""
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
    """Draw the choice of further networks. Returns the network in view and those chosen, by name.

    usual  names chosen at first
    most   further networks, at most
    made   networks without a file: functions by name that return a mark, which identifies it, and the network
    about  the widget's help
    """
    files = {m.path.stem: m for m in others(view)}
    names = titles(files.values())
    chosen = Field[tuple[str, ...]](f"inside.{key}.with", ()).choose(
        label,
        names | {name: name for name in made},
        tuple(usual),
        subject=view.mark,
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
    """Show that untrained copies have torch's initial weights, if the network's own are not known."""
    if not of_known_start(view.model):
        st.caption(
            _("Untrained copies have torch's default initial weights: how this network began is not known.")
        )


def untrained(view: View) -> tuple[str, Any]:
    """A mark, and the network before its training: its shape with initial weights of the card's seed, or the
    default seed.
    """
    from rnnviz.lab.engines.torch_model import untrained

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
