"""What all parts of the page look at: one network, text and layer, and the fields that they share.

Also here: the base class of a part, and what parts need from Streamlit: fragments, remembered results.
"""

import functools
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, ParamSpec, TypeVar

import streamlit as st

from rnnviz.arrays import Array
from rnnviz.figures import live
from rnnviz.figures.pictures import draw
from rnnviz.figures.themes import ColourScale
from rnnviz.findings import Heat
from rnnviz.i18n import N_, _
from rnnviz.lab.analysis import connectivity
from rnnviz.networks.numpy_model import Network
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace
from rnnviz.text.characters import normalise
from rnnviz.ui.jobs.pending import working
from rnnviz.ui.jobs.store import Key, checksum
from rnnviz.ui.shell import error_messages, model_cache
from rnnviz.ui.shell.address import unpack_text
from rnnviz.ui.shell.dashboard import DashboardPanel, DashboardRequest
from rnnviz.ui.shell.fields import Field
from rnnviz.ui.shell.model_cache import ModelContext

T = TypeVar("T")
P = ParamSpec("P")
MAX_TEXT_CHARS = connectivity.MAX_SQUARE  # the longest text whose whole connectivity can be drawn
MAX_REMEMBERED_RESULTS = 40  # of a session

TEXT = Field(
    "inside.text",
    "",
    address="text",
    parse=lambda packed: unpack_text(packed)[:MAX_TEXT_CHARS],
    brief=True,
)
LAYER = Field("inside.layer", 0, address="layer", title=N_("Layer"), parse=int, brief=True)
QUANTITY = Field("inside.quantity", "hidden", address="quantity", title=N_("Look at"))
AT = Field[int | None]("inside.at", address="at", title=N_("Character"), parse=int)
UNIT = Field[int | None]("inside.unit", address="unit", title=N_("Unit"), parse=int)
CHANGE_WAY = Field("inside.way", "change")  # the way to change something, under Cause


@dataclass(frozen=True)
class IdentifiedValue:
    """A value passed to a computation; of the two, `identity` alone is hashed and compared."""

    identity: Hashable
    value: Any = field(compare=False, repr=False)


@dataclass(frozen=True)
class PageView:
    """The network, the text and the layer of one run. `model_digest` is that of the model's file."""

    context: ModelContext
    text: str
    model_digest: str
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

    def key(self, result_name: str, *rest: Hashable) -> Key:
        """The key of a result on the page's text and this network."""
        return Key(result_name, checksum(self.text), (self.model_digest, *rest))

    @property
    def trace(self) -> Trace:
        return remember(self.key("trace"), lambda: trace(self.model, self.text))

    @property
    def python(self) -> bool:
        """Whether the network reads Python, for which Python's tokeniser replaces the simple rules."""
        return self.context.info.card.get("language") == "python"

    @property
    def unclosed(self) -> Literal["line", "paragraph"]:
        """The end of quotes and brackets that are never closed."""
        return "line" if self.context.info.card.get("language") in ("python", "zh") else "paragraph"

    def scale(self, quantity: str) -> ColourScale:
        return live.scale(quantity, self.model.config.span)


def page_view(context: ModelContext, text: str, layer: int) -> PageView:
    """The view of a text, normalised as the model reads it and cut to MAX_TEXT_CHARS."""
    # Cut afterwards: normalising may change the number of characters.
    text = normalise(text, context.network.normaliser)[:MAX_TEXT_CHARS]
    return PageView(context, text, model_cache.digest(context.info), layer)


@dataclass(frozen=True, eq=False)
class PagePart:
    """A part of the page. `render` draws it from top to bottom; it lives for one run of the page.

    A nested fragment is redrawn alone, with the part of the page's last run: what a reader may change between
    the two is read anew from the fields, never kept in the part.

    key       its name in the address
    label     its name on the page; this and the two below are in English, translated when they are drawn
    question  what it answers
    hint      where to look, and what to do next
    """

    view: PageView
    key: ClassVar[str]
    label: ClassVar[str]
    question: ClassVar[str]
    hint: ClassVar[str]

    def render(self) -> None:
        raise NotImplementedError


def cursor(request: DashboardRequest, view: PageView, otherwise: T) -> int | T:
    """The index of the character chosen in all parts of the page: the request's, else the last one.

    `otherwise` if none has been chosen.
    """
    # The cursor is one field for all dashboards: a click in one is seen in all at their next drawing.
    requested = request.position(len(view.text))
    if requested is not None:
        AT.request(requested)
    at = AT.resolve(range(len(view.text)))
    return otherwise if at is None else at


def fragment(section: Callable[P, None]) -> Callable[P, None]:
    """A decorator: a Streamlit fragment that shows its own errors and drops its own unwanted jobs.

    A click in a nested fragment redraws it alone, with the arguments of its last call. So values of the outer
    fragment's fields must be among these.
    """

    # Streamlit tells fragments apart by their qualified name, which `wraps` takes over from the section.
    @st.fragment
    @functools.wraps(section)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with working("inside", fragment_name(section)):
            try:
                section(*args, **kwargs)
            # Inside the fragment: an error leaves the rest of the page standing.
            except Exception as error:
                error_messages.show_error(error)

    return run


def fragment_name(section: Callable[..., None]) -> str:
    """The name under which a fragment's jobs are kept apart from those of the page's other fragments."""
    return f"{section.__module__}.{section.__qualname__}"


def remember(key: Key, make: Callable[[], T]) -> T:
    """The result of `make`, computed once and kept in the session while among the newest."""
    results: dict[Key, Any] = st.session_state.setdefault("inside.kept", {})
    result: T = results.pop(key) if key in results else make()
    # A dict keeps the order of insertion: taken out and put in again, a result is the newest.
    results[key] = result
    if len(results) > MAX_REMEMBERED_RESULTS:
        del results[next(iter(results))]
    return result


def heat_panel(
    name: str,
    title: str,
    values: Array,
    order: Key,
    scale: ColourScale,
    notice: str,
    limits: str,
    **options: Any,
) -> DashboardPanel:
    """A heat map of `values` (T, H), similar units side by side; that order is cached by the key `order`."""
    # The order compares all pairs of units: it is made once, not at each drawing.
    values = values[:, remember(order, lambda: live.seriate(values))]
    x, y = _("character"), _("units, similar ones side by side")
    return DashboardPanel(
        name,
        title,
        partial(draw, Heat(values.T, (scale.kind, scale.low, scale.high), x, y)),
        notice,
        limits,
        link="x",
        pick="at",
        **options,
    )
