"""The Learn page: one component with the scene's picture, title and formula.

The component's own connection answers the lecturer's asks. An ask that concerns the room, or that begins or
ends the presentation, reruns one fragment.

Ask the room: the class answers a step's question with phones, while the room is open.

wish     {"open": true} opens the room, false closes it; {"reveal": number}, {"again": number},
         {"address": …} while it is open
answer   {"door": …} the room's address and QR code, or null; {"trouble": …} the reason why there is none
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.figures.themes import themes
from rnnviz.i18n import _, language
from rnnviz.lecture import symbols
from rnnviz.page.formatting import presenting_words
from rnnviz.ui.browser.component import Component, take_ask
from rnnviz.ui.browser.view_socket import ViewSocket
from rnnviz.ui.pages.learn.lecture import Lecture
from rnnviz.ui.serving.room import classroom
from rnnviz.ui.serving.room.classroom import OpenRoom
from rnnviz.ui.serving.room.room import RoomQuestion
from rnnviz.ui.shell.error_messages import describe

KEY = "learn"
_component = Component("learn")
COLOUR_LEVELS = 41
"""Colours of each scale in the browser."""

_LECTURE, _LINK = "learn.lecture", "learn.link"


def page() -> None:
    # Once a session: later the lecture writes the address, and a rerun must not read it back.
    # Each step replaces its one entry in the browser's history; a jump makes another, from which Back leads
    # back (view.js, `address` and `visit`).
    if _LECTURE not in st.session_state:
        st.session_state[_LECTURE] = Lecture(st.query_params.to_dict())
        st.session_state[_LINK] = ViewSocket()
    _scene()


# A fragment, so that an ask reruns this function alone, not the sidebar with its list of models.
@st.fragment
def _scene() -> None:
    lecture: Lecture = st.session_state[_LECTURE]
    link: ViewSocket = st.session_state[_LINK]
    ask = take_ask(KEY)
    room = apply_room_ask(ask, error_text)
    answers = SceneAnswers(lecture, _static(room) | {"session": link.token})
    # The connection's thread may be at a step of this lecture: the page waits for its end.
    with link.lock:
        # From here on the connection answers with this run's `static`: the language or the room may be new.
        link.serve(answers)
        data = answers.answer(ask)
        room.pop("trouble", None)  # shown once: later answers over the connection don't repeat it
    st.html(f"<style>{_STYLE}{_PRESENT if lecture.present else ''}</style>")
    with st.container(key="learn-page", gap=None):
        _component.mount(data, key=KEY)


def first_answer(query: Mapping[str, str]) -> bytes:
    """The first picture's answer: the step of an address, without a session's room and connection."""
    return Lecture(query).answer(None, _static({"door": None}), error_text)


def _static(room: dict[str, Any]) -> dict[str, Any]:
    """What is in each answer; `room` is its part on the room."""
    return {
        "words": words(),
        "symbols": symbols.meanings(),
        "language": language(),
        "themes": colours(),
        "room": room,
    }


@dataclass(frozen=True)
class SceneAnswers:
    """The answers to the lecturer's asks; `static` is in each of them."""

    lecture: Lecture
    static: dict[str, Any]

    def answer_ask(self, ask_json: Any, /, *, at_once: bool) -> bytes | None:
        """See `Answerer.answer_ask`. None at once, as a step's picture takes longer than that; and where the
        page must answer: what concerns the room may open a listener, and what begins or ends the presentation
        changes Streamlit's own elements. What is no JSON object is also left to the page.
        """
        if at_once or not isinstance(ask_json, Mapping) or "room" in ask_json:
            return None
        if ask_json.get("present") != self.lecture.present:
            return None
        return self.answer(ask_json)

    def answer(self, ask_json: Any) -> bytes:
        """The answer to any JSON value; a question of the step then is the room's."""
        data = self.lecture.answer(ask_json, self.static, error_text)
        stage_question(self.lecture.room_question(), self.lecture.still)
        return data


def words() -> dict[str, str]:
    """The words around every scene, by the browser modules' names; the browser fills in the braces."""
    return {
        "scenes": _("Scenes"),
        "notice": _("Notice"),
        "symbols": _("Symbols of the formula"),
        **symbols.letters(),
        "step": _("Step {n} of {count}"),
        "next": _("Next step (Space)"),
        "back": _("Step back (↑)"),
        **presenting_words(),
        "code": _("Code"),
        "code.help": _("Code for this step (C; Escape closes it)"),
        "code.label": _("Code that runs by itself"),
        "code.close": _("Close the code (Escape)"),
        "desk": _("Notes"),
        "desk.help": _("Notes, the next step and a clock in a window of their own (N)"),
        "desk.next": _("Next"),
        "desk.last": _("The lecture ends here."),
        "desk.appendix": _("Appendix"),
        "appendix": _("Appendix"),
        "desk.back": _("Back"),
        "desk.on": _("Go on"),
        "desk.clock": _("time since the start"),
        "desk.start": _("Start"),
        "desk.pause": _("Pause"),
        "desk.reset": _("Set to 0:00"),
        "desk.plan": _("{all} minutes: begins at {begins}, {minutes} min"),
        "desk.skip": _("{all} minutes: left out"),
        "desk.lost": _("The lecture's window is closed. Open the notes again from the lecture."),
        "copy": _("Copy"),
        "copied": _("Copied"),
        "copy.failed": _("Select it and copy it with the keyboard"),
        "late": _("The answer is taking longer than usual …"),
        "pair": _("{name}: {value}"),
        "edit": _("{value}: row {i}, column {j}; press Enter to change it"),
        **room_words(),
    }


def error_text(error: Exception) -> str:
    """An error as plain text: the component shows no Markdown."""
    return describe(error).replace("\\", "")


@cache
def colours() -> dict[str, Any]:
    """Both themes for the browser, with ramps of COLOUR_LEVELS colours."""
    return themes(diverging=COLOUR_LEVELS, sequential=COLOUR_LEVELS, surprisal=COLOUR_LEVELS)


# The component fills one screen. Streamlit's buttons are over its header, on both sides.
_STYLE = """
[data-testid="stMainBlockContainer"] { padding: 0.4rem 1.5rem 0; max-width: none; }
[data-testid="stHeader"] { background: transparent; height: 2.4rem; min-height: 0; }
[data-testid="stHeader"], [data-testid="stHeader"] * { pointer-events: none; }
[data-testid="stHeader"] :is(button, a, input, button *) { pointer-events: auto; }
[data-testid="stMain"] { overflow: hidden; }
body:has([data-testid="stExpandSidebarButton"]) .st-key-learn-page { --ln-aside: 4.4rem; }
"""
_PRESENT = """
[data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stExpandSidebarButton"] { display: none; }
[data-testid="stMainBlockContainer"] { padding: 0.4rem 1.25rem 0; }
"""


def apply_room_ask(ask_json: object, error_words: Callable[[Exception], str]) -> dict[str, Any]:
    """Do to the room what a browser's ask says and return the answer; `error_words` words errors."""
    fields = ask_json.get("room") if isinstance(ask_json, Mapping) else None
    try:
        opened = _opened_room(fields if isinstance(fields, Mapping) else {})
    except RnnvizError as error:
        return {"door": None, "trouble": error_words(error)}
    return {"door": None if opened is None else opened.join_info()}


def _opened_room(fields: Mapping[str, Any]) -> OpenRoom | None:
    if fields.get("open") is False:
        classroom.close()
    if fields.get("open") is True:
        classroom.open_room(language()).asks_questions = True
    opened = classroom.open_room_now()
    if opened is None or not opened.asks_questions:
        return None
    # The lecturer may have changed the app's language since the room was opened.
    opened.room.set_language(language())
    opened.choose_address(fields.get("address"))
    for name, act in (("reveal", opened.room.reveal), ("again", opened.room.ask_again)):
        if type(number := fields.get(name)) is int:
            act(number)
    return opened


def stage_question(question: RoomQuestion | None, still: Mapping[str, str]) -> None:
    """Make the current step's question the room's, None: there is none; and show the step's still there."""
    opened = classroom.open_room_now()
    if opened is not None and opened.asks_questions:
        opened.stage_question(question, still)


def room_words() -> dict[str, str]:
    """The stage's words on the room, by the names that static/room.js uses."""
    return {
        "room.ask": _("Ask the room"),
        "room.help": _("Open a page on which the class answers the lecture's questions by phone"),
        "room.open": _("Room: {phones}"),
        "room.scan": _("Scan this, or type the address:"),
        "room.how": _(
            "Phones must be on the same network as this computer. A firewall or a guest Wi-Fi may keep them "
            "out."
        ),
        "room.trust": _("No account, no name. Answers are counted, and forgotten when the room closes."),
        "room.phones": _("phones in the room"),
        "room.address": _("Another address of this computer"),
        "room.start": _("Start (Space)"),
        "room.close": _("Close the room"),
        "room.answers": _("Answers as CSV"),
        "room.answered": _("{n} of {phones} answered"),
        "room.reveal": _("Reveal (Space)"),
        "room.again": _("Ask again"),
        "room.votes": _("{n} votes"),
        "room.next": _("Next letter (Space)"),
        "room.lost": _("The room can't be reached. Trying again …"),
    }
