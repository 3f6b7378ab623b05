"""The Explore page: the live view of a network that reads while the reader types.

A keystroke's ask comes over the view's own connection (browser/view_socket.py). Any other ask reruns one
fragment with one component. The session's LiveSession answers both, in bytes.

An address holds the view's state, as a Bookmark: a text, and the view on it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from rnnviz.errors import TextError
from rnnviz.i18n import language
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.page import shown_units
from rnnviz.page.initial_data import first_heat_map, fixed_part, opening_text
from rnnviz.page.live_session import LiveAsk, LiveSession
from rnnviz.ui.browser.component import ASK, Component, presenting_style, take_ask
from rnnviz.ui.browser.view_socket import ViewSocket
from rnnviz.ui.jobs import model_suggestion
from rnnviz.ui.jobs.worker import OVER
from rnnviz.ui.shell import address, model_cache, sidebar
from rnnviz.ui.shell.address import MAX_TEXT_CHARS, unpack_text
from rnnviz.ui.shell.error_messages import describe
from rnnviz.ui.shell.model_cache import ModelContext

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import Network

KEY = "live"
FIRST_TEMPERATURE = 1.0  # at first, the bars are the network's probabilities, unchanged
_component = Component("live")
_LINK, _SESSION, _OFFERED = "explore.link", "explore.session", "explore.offered"


def page(context: ModelContext) -> None:
    st.html(f"<style>{_STYLE}{presenting_style(KEY)}</style>")
    keep_bookmark(context.network)
    # Listed here, not in the fragment, which some asks rerun: the list reads files' headers.
    networks = [info for info in model_cache.list_models()[0] if info.kind != "ngram"]
    _live(context, networks, model_cache.load_memoryless(context.network, networks))


@st.fragment
def _live(context: ModelContext, networks: list[ModelInfo], memoryless: NumpyModel | None) -> None:
    state, arrived = st.session_state, kept_bookmark()
    session, text = _session(context, memoryless, arrived)
    static = _static(session, networks)
    # Without an ask this is a full run of the page: send everything, the text too.
    ask = LiveAsk.from_json(take_ask(KEY) or {"fresh": True})
    if arrived:  # an ask that comes with an arrival, such as Back, is of the view that was left
        ask = replace(ask, fresh=True, model="")
    if ask.model and ask.model != context.info.path.stem:
        _turn(ask, session)
    link: ViewSocket = state.get(_LINK) or state.setdefault(_LINK, ViewSocket())
    # The token tells the browser that the session is new, as after the server's restart.
    extra: dict[str, object] = {"session": link.token}
    extra |= {"better": _glance(context, ask.text)} if ask.glance else {}
    if ask.fresh:
        begin = first_heat_map(shown_units.named_units(context.network))
        looks = arrived.looks if arrived else LiveAsk(**begin)
        # With the ask's number: keys pressed meanwhile have later ones, and their answers still count.
        ask = replace(looks, client=ask.client, seq=ask.seq, text=text)
        extra |= {"text": text, "offer": state[_OFFERED][0], "opening": opening_text(context.model)}
        extra |= {"arrival": arrived.view} if arrived else {}
    # The connection's thread may be answering a key with this session: it gets the new words in between.
    with link.lock:
        session.static = static
        link.serve(session)
        data = session.answer(ask, **extra)
    _component.mount(data, key=KEY)


def _session(
    context: ModelContext, memoryless: NumpyModel | None, arrived: Bookmark | None
) -> tuple[LiveSession, str]:
    """The session's LiveSession for the chosen model, and its text.

    The text is the address's after an arrival, else the present one, else the model's opening.
    """
    state, first = st.session_state, opening_text(context.model)
    session: LiveSession | None = state.get(_SESSION)
    offer, offered = state.get(_OFFERED, (0, None))
    text = session.text if session else None
    if arrived and (arrived.text is not None or session is None or address.has_just_gone_back()):
        text, offered = arrived.text, None
        offer += 1
    if text is None or (text == offered and first != offered):  # an unedited opening follows the model
        text = offered = first
        offer += 1
    state[_OFFERED] = offer, offered
    reads = context.network, context.yardstick, memoryless
    if session is None or any(
        one is not other
        for one, other in zip((session.model, session.yardstick, session.memoryless), reads, strict=True)
    ):
        session = state[_SESSION] = LiveSession(*reads, temperature=FIRST_TEMPERATURE)
    session.text = text
    return session, text


def _turn(ask: LiveAsk, session: LiveSession) -> None:
    """Rerun the whole page with the model that an example or a suggestion asks for, and the same text."""
    state = st.session_state
    session.text, state[_OFFERED] = ask.text, (state[_OFFERED][0], None)
    sidebar.MODEL.request(ask.model)
    state[f"{KEY}.{ASK}"] = asdict(replace(ask, model="", fresh=True))
    st.rerun()


def _glance(context: ModelContext, text: str) -> dict[str, object]:
    """The search for a model that reads the text better: its state, and once done the fields of `Better`."""
    job = model_suggestion.glance(context.info, text)
    if job.state == "done":
        return {"state": "done", **asdict(job.result)}
    return {"state": "failed" if job.state in OVER else "pending"}


def _static(session: LiveSession, networks: list[ModelInfo]) -> tuple[dict[str, Any], str]:
    """The unchanging part of the answers and its digest, cached in the session; see `fixed`."""
    mark = (session, language(), [info.path for info in networks])
    kept = st.session_state.get("explore.static")
    if kept is None or kept[0] != mark:
        kept = (
            mark,
            *fixed_part(session.model, session.yardstick, FIRST_TEMPERATURE, networks, session.memoryless),
        )
        st.session_state["explore.static"] = kept
    return kept[1], kept[2]


# The view fills the page, for a projector; its first line is between the buttons of Streamlit's header.
_STYLE = """
[data-testid="stMainBlockContainer"] { padding: 0.5rem 1.5rem 0.25rem; }
[data-testid="stHeader"] { background: transparent; pointer-events: none; height: 2.4rem; min-height: 0; }
[data-testid="stHeader"] button { pointer-events: auto; }
body { --rv-indent: 0px; }
body:has([data-testid="stExpandSidebarButton"]) { --rv-indent: 4.2rem; }
"""


BOOKMARKED = ("text", "at", "pin", "why", "unit", "layer", "quantity", "order", "rows", "memoryless")
BY_SURPRISAL = "none"
"""The address's `unit` where surprisal colours the text of a model that begins with a named unit."""

_ARRIVED = "explore.arrived"  # a key of st.session_state: the bookmark for the live view's next run


@dataclass(frozen=True)
class Bookmark:
    """A parsed address.

    text   its text; None without one, or if it can't be read
    looks  the view on the text, as an ask
    view   the same as JSON for the browser, with the caret, the pin and any error
    """

    text: str | None
    looks: LiveAsk
    view: dict[str, Any]


def keep_bookmark(model: Network) -> None:
    """Keep the bookmark of an arrival by an address with any of BOOKMARKED, or by Back or Forward.

    Each whole run of the page calls this.
    """
    if any(address.requested_value(name) is not None for name in BOOKMARKED) or address.has_just_gone_back():
        st.session_state[_ARRIVED] = read_bookmark(model)


def read_bookmark(model: Network) -> Bookmark:
    """The address's bookmark, valid whatever the address holds. Missing values are those with which the
    `model`'s view begins.
    """
    number, packed = address.requested_number, address.requested_value("text")
    text, wrong = None, ""
    if packed is not None:
        try:
            text = unpack_text(packed)
        except TextError as error:
            wrong = describe(error).replace("\\", "")  # Markdown's escapes: the browser shows plain text
    looks: dict[str, Any] = {name: address.requested_value(name) for name in ("quantity", "order")}
    looks |= {name: number(name) for name in ("layer", "unit")}
    given = {name: value for name, value in looks.items() if value is not None}
    begin = first_heat_map(shown_units.named_units(model))
    if address.requested_value("unit") == BY_SURPRISAL:
        given = begin | {"unit": None} | given
    elif number("unit") is not None or not given:  # else: a quantity or a layer alone, which has no unit
        given = begin | given
    cut = number("of") if text is not None else None
    asked = LiveAsk.from_json(given | {"memoryless": number("memoryless") == 1})
    view: dict[str, Any] = {
        "wrong": wrong,  # the reason why the text can't be read
        "cut": cut
        if cut and cut > MAX_TEXT_CHARS
        else None,  # the whole text's length, if the address cuts it
        "caret": number("at"),
        "pin": number("pin"),
        "why": number("why") == 1,
        "rows": number("rows") or 0,
    }
    view |= {name: getattr(asked, name) for name in ("quantity", "layer", "order", "unit", "memoryless")}
    return Bookmark(text, asked, view)


def kept_bookmark() -> Bookmark | None:
    """The bookmark that `keep_bookmark` has kept; a second call returns None."""
    found: Bookmark | None = st.session_state.pop(_ARRIVED, None)
    return found
