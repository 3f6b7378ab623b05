"""The Explore page: the live view of a network that reads while the reader types.

A keystroke's ask comes over the view's own connection (browser/view_socket.py). Any other ask reruns one
fragment with one component. The session's LiveSession answers both, in bytes.

An address holds the view's state, as a Bookmark: a text, and the view on it.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from operator import is_
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from rnnviz.i18n import language
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.page import shown_units
from rnnviz.page.initial_data import first_heat_map, fixed_part, opening_text
from rnnviz.page.live_session import LiveAsk, LiveSession
from rnnviz.ui.browser.component import ASK, Component, presenting_style, take_ask
from rnnviz.ui.browser.view_socket import ViewSocket
from rnnviz.ui.jobs import model_suggestion
from rnnviz.ui.jobs.worker import END_STATES
from rnnviz.ui.shell import address, model_cache, sidebar
from rnnviz.ui.shell.bookmark import BOOKMARKED, Bookmark, read_bookmark
from rnnviz.ui.shell.model_cache import ModelContext

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import Network

KEY = "live"
FIRST_TEMPERATURE = 1.0  # at first, the bars are the network's probabilities, unchanged
_component = Component("live")
# Keys of st.session_state. _OFFERED holds the number of the text that the page offered last, and that text.
_SOCKET, _SESSION, _OFFERED = "explore.socket", "explore.session", "explore.offered"


def page(context: ModelContext) -> None:
    st.html(f"<style>{_STYLE}{presenting_style(KEY)}</style>")
    keep_bookmark(context.network)
    # Listed here, not in the fragment, which some asks rerun: the list reads files' headers.
    networks = [info for info in model_cache.list_models()[0] if info.kind != "ngram"]
    _live(context, networks, model_cache.load_memoryless(context.network, networks))


@st.fragment
def _live(context: ModelContext, networks: list[ModelInfo], memoryless: NumpyModel | None) -> None:
    state, arrived = st.session_state, take_bookmark()
    session, text = _session(context, memoryless, arrived)
    fixed = _fixed(session, networks)
    # Streamlit runs this fragment for an ask, and within each whole run of the page: then without an ask, for
    # a browser that may hold nothing, so everything is sent, the text too.
    ask = LiveAsk.from_json(take_ask(KEY) or {"fresh": True})
    # What comes with Back is of the view that was left; a first picture may have chosen a network.
    if arrived:
        ask = replace(ask, fresh=True, model="" if address.has_just_gone_back() else ask.model)
    if ask.model and ask.model != context.info.path.stem:
        _choose_model(ask, session)
    socket: ViewSocket = state.get(_SOCKET) or state.setdefault(_SOCKET, ViewSocket())
    # The token tells the browser that the session is new, as after the server's restart.
    extra: dict[str, object] = {"session": socket.token}
    extra |= {"suggestion": _suggestion(context, ask.text)} if ask.suggest else {}
    if ask.fresh:
        begin = first_heat_map(shown_units.named_units(context.network))
        begin_ask = arrived.ask if arrived else LiveAsk(**begin)
        # With the ask's number: keys pressed meanwhile have later ones, and their answers still count.
        ask = replace(begin_ask, client=ask.client, seq=ask.seq, text=text)
        extra |= {"text": text, "offer": state[_OFFERED][0], "opening": opening_text(context.model)}
        extra |= {"arrival": arrived.view} if arrived else {}
    # The connection's thread may be answering a key with this session: it gets the new words in between.
    with socket.lock:
        session.fixed = fixed
        socket.serve(session)
        data = session.answer(ask, **extra)
    _component.mount(data, key=KEY)


def _session(
    context: ModelContext, memoryless: NumpyModel | None, arrived: Bookmark | None
) -> tuple[LiveSession, str]:
    """The session's LiveSession for the chosen model, and its text.

    The text is the address's after an arrival, else the present one, else the model's opening.
    """
    state, opening = st.session_state, opening_text(context.model)
    session: LiveSession | None = state.get(_SESSION)
    # The page may offer a text: an address's, or an opening. A browser keeps what was typed since (a run of
    # the page takes a while), unless the offer has a new number.
    offer, offered = state.get(_OFFERED, (0, None))
    text = session.text if session else None
    if arrived and (arrived.text is not None or session is None or address.has_just_gone_back()):
        text, offered = arrived.text, None
        offer += 1
    if text is None or (text == offered and opening != offered):  # an unedited opening follows the model
        text = offered = opening
        offer += 1
    state[_OFFERED] = offer, offered
    models = context.network, context.ngram_model, memoryless
    if session is None or not all(map(is_, (session.model, session.ngram_model, session.memoryless), models)):
        session = state[_SESSION] = LiveSession(*models, temperature=FIRST_TEMPERATURE)
    # Without the lock: the answer that follows reads the text anew, and until then `is_quick` alone compares
    # with it, which decides where an ask is answered, not how.
    session.text = text
    return session, text


def _choose_model(ask: LiveAsk, session: LiveSession) -> None:
    """Rerun the whole page with the model that an example or a suggestion asks for, and the same text."""
    state = st.session_state
    # No text is offered any more: this one stays, though the other model has another opening.
    session.text, state[_OFFERED] = ask.text, (state[_OFFERED][0], None)
    sidebar.MODEL.request(ask.model)
    # The rerun finds the ask, as if the browser had sent it then; without `model`, or it would turn again.
    state[f"{KEY}.{ASK}"] = asdict(replace(ask, model="", fresh=True))
    st.rerun()


def _suggestion(context: ModelContext, text: str) -> dict[str, object]:
    """The search for a model that reads the text better: its state; once done, the fields of `Suggestion`."""
    job = model_suggestion.ask_suggestion(context.info, text)
    if job.state == "done":
        return {"state": "done", **asdict(job.result)}
    return {"state": "failed" if job.state in END_STATES else "pending"}


def _fixed(session: LiveSession, networks: list[ModelInfo]) -> tuple[dict[str, Any], str]:
    """The fixed part of the answers and its digest, cached in the session; see `fixed_part`."""
    # Making it takes longer than an answer: it holds all words, colours and symbols.
    key = (session, language(), [info.path for info in networks])
    cached_key, fixed = st.session_state.get("explore.fixed", (None, None))
    if fixed is None or cached_key != key:
        models = session.model, session.ngram_model
        fixed = fixed_part(*models, FIRST_TEMPERATURE, networks, session.memoryless)
        st.session_state["explore.fixed"] = key, fixed
    return cast("tuple[dict[str, Any], str]", fixed)


# The view fills the page, for a projector; its first line is between the buttons of Streamlit's header.
_STYLE = """
[data-testid="stMainBlockContainer"] { padding: 0.5rem 1.5rem 0.25rem; }
[data-testid="stHeader"] { background: transparent; pointer-events: none; height: 2.4rem; min-height: 0; }
[data-testid="stHeader"] button { pointer-events: auto; }
body { --rv-indent: 0px; }
body:has([data-testid="stExpandSidebarButton"]) { --rv-indent: 4.2rem; }
"""


_ARRIVED = "explore.arrived"  # a key of st.session_state: the bookmark for the live view's next run


def keep_bookmark(model: Network) -> None:
    """Keep the bookmark of an arrival by an address with any of BOOKMARKED, or by Back or Forward.

    Each whole run of the page calls this.
    """
    if not address.has_just_arrived():
        return
    values = address.arrival().values
    if not values.keys().isdisjoint(BOOKMARKED) or address.has_just_gone_back():
        st.session_state[_ARRIVED] = read_bookmark(model, values)


def take_bookmark() -> Bookmark | None:
    """The bookmark that `keep_bookmark` has kept; a second call returns None."""
    bookmark: Bookmark | None = st.session_state.pop(_ARRIVED, None)
    return bookmark
