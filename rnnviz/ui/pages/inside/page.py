"""The layout of the Inside page: the text, and the ways of looking at it."""

import importlib
from dataclasses import dataclass

import streamlit as st

from rnnviz.errors import TextError
from rnnviz.i18n import _
from rnnviz.ui import address, choice, examples, sidebar
from rnnviz.ui.context import Context
from rnnviz.ui.jobs.pending import working
from rnnviz.ui.packed import unpack
from rnnviz.ui.pages.inside import words
from rnnviz.ui.pages.inside.common import AT, COMING, LONGEST, NAMED, UNIT, WANTED, WAY, layer_key, view
from rnnviz.ui.trouble import describe, show

_OFFERED, _TEXT = "inside.offered", "inside.text"
# Names of parts that an address may have too: those that parts had, and where what they showed is now.
_ALSO = {
    "find": "units",
    "map": "units",
    "connectivity": "memory",
    "gates": "memory",
    "patch": "cause",
    "compare": "cause",
}


@dataclass(frozen=True)
class Look:
    """A part of the page: its name, what it asks, and what is to be seen in it and to be done next."""

    name: str
    question: str
    next: str


def looks() -> dict[str, Look]:
    """The parts, by what the address calls them; each is a module with a `section`."""
    return {
        "units": Look(
            _("Units"),
            _("What does a single unit tell?"),
            _(
                "The colours are one number of the network at each character. Choose another unit, or look "
                "below for one that follows something."
            ),
        ),
        "memory": Look(
            _("Memory"),
            _("What does it still know of earlier characters?"),
            _(
                "The stronger a character's colour, the more the prediction in view rests on it. Click "
                "another one to see what its prediction rests on."
            ),
        ),
        "match": Look(
            _("Match"),
            _("Where else are the same units on?"),
            _("Drag over a passage: the units that are on throughout are looked for elsewhere."),
        ),
        "cause": Look(
            _("Cause"),
            _("What happens if I change it?"),
            _(
                "Change units, a letter or a whole state, and see which predictions move. Random changes of "
                "the same size stand beside it."
            ),
        ),
    }


def page(context: Context) -> None:
    st.html(f"<style>{_STYLE}{sidebar.BAR}</style>")
    st.title(_("Inside the network"))
    parts = looks()
    names = {key: look.name for key, look in parts.items()}
    if (asked := address.asked("part")) in ("patch", "compare"):
        st.session_state[WAY] = asked
    with st.container(horizontal=True, vertical_alignment="bottom"):
        part = choice.tab(_("What to look at"), names, "part", _ALSO)
        text = _text(context)
        layer = _layer(context)
    choice.missed("part", names)
    st.markdown(f"**{parts[part].question}** {parts[part].next}")
    if not text.strip():
        st.info(_("There is no text to look at: write one under **Text**."), icon=":material/edit:")
        return
    with working("inside"):
        try:
            importlib.import_module(f"rnnviz.ui.pages.inside.{part}").section(view(context, text, layer))
        except Exception as error:
            show(error)


def _text(context: Context) -> str:
    state = st.session_state
    opening = examples.example(context.model.card)[:LONGEST]
    _arrive(opening)
    if COMING in state:
        state["inside.kept-text"] = state[_TEXT] = state.pop(COMING)
    kept = state.get("inside.kept-text", "")
    if not kept or (kept == state.get(_OFFERED) and kept != opening):  # nobody has written anything yet
        kept = state[_OFFERED] = opening
        state[_TEXT] = opening
    elif _TEXT not in state:
        state[_TEXT] = kept
    with st.popover(_("Text"), icon=":material/edit:"):
        text = st.text_area(
            _("The text that all of this page looks at, at most {n} characters").format(n=f"{LONGEST:,}"),
            key=_TEXT,
            height=280,
            width=640,
            max_chars=LONGEST,
        )
        st.button(_("The example again"), on_click=_example, args=(opening,), icon=":material/replay:")
    state["inside.kept-text"] = text
    address.say(text=None if text == opening else text)
    return text


def _arrive(opening: str) -> None:
    """Take the text, the character and the unit from the address, if somebody has just arrived by it."""
    state, packed = st.session_state, address.asked("text")
    if packed is not None or address.went_back():
        state[COMING] = opening
    if packed is not None:
        try:
            state[COMING] = unpack(packed)[:LONGEST] or opening
        except TextError as error:
            st.warning(describe(error), icon=":material/link_off:")
    if (at := address.asked_number("at")) is not None or address.went_back():
        state[AT] = at
    if (unit := address.asked_number("unit")) is not None:
        state[UNIT], state[WANTED], state[NAMED] = unit, True, unit


def _example(opening: str) -> None:
    st.session_state[_TEXT] = st.session_state[_OFFERED] = opening


def _layer(context: Context) -> int:
    layers = int(context.network.config.layers)
    if layers < 2:
        return 0
    key, asked = layer_key(layers), address.asked_number("layer")
    if asked is not None or address.went_back():
        st.session_state[key] = asked if asked is not None and asked < layers else 0
    elif key not in st.session_state:
        known = max(words.standing_in(context.info.card), key=lambda one: one.lead, default=None)
        st.session_state[key] = known.layer if known and known.layer < layers else 0
    layer = st.selectbox(
        _("Layer"),
        range(layers),
        key=key,
        persist_state="session",
        format_func=lambda n: _("layer {n}").format(n=n),
        width=140,
    )
    address.say(layer=layer or None)
    return layer


_STYLE = """
[data-testid="stMainBlockContainer"] { padding: 1.2rem 2.2rem 3rem; max-width: 92rem; }
[data-testid="stHeader"] { background: transparent; pointer-events: none; }
[data-testid="stHeader"] button { pointer-events: auto; }
"""
