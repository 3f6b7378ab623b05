"""Who is looking: the lecturer, who may do everything, or a visitor."""

from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rnnviz.ui.hosting import environment

HEADER = "x-rnnviz-person"
"""Written by the door on each request, whatever a client has sent."""

FIELD = "rnnviz"
"""What Streamlit calls that header's value in `st.user`; a session is resumed by the same value alone."""


@dataclass(frozen=True)
class User:
    """Somebody with a browser: `id` is random, and the same in all tabs and after a reload."""

    id: str
    lecturer: bool

    def said(self) -> str:
        """This person as the value of HEADER."""
        return f"{'lecturer' if self.lecturer else 'visitor'} {self.id}"


ALONE = User("", lecturer=True)
"""Where the app isn't hosted: one person, who may do everything."""

NOBODY = User("nobody", lecturer=False)
"""Where it is hosted and the door has said nothing: owns nothing, may do least."""


def session() -> str:
    """The session that runs the script; "" outside of one."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def current() -> User:
    """The person whose session runs the script: ALONE where the app isn't hosted.

    A session keeps its person: who they are is read when its connection is made, and Streamlit resumes a
    session only for the same one.
    """
    if not environment.hosted():
        return ALONE
    said = st.user.get(FIELD)
    return heard(said if isinstance(said, str) else None)


def of(headers: Iterable[tuple[bytes, bytes]]) -> User:
    """The person of a request that has passed the door, by its scope's headers."""
    if not environment.hosted():
        return ALONE
    return heard(next((value.decode() for name, value in headers if name == HEADER.encode()), None))


def heard(said: str | None) -> User:
    """The person that a value of HEADER names; NOBODY for any other value.

    >>> heard(User("a1", lecturer=True).said())
    User(id='a1', lecturer=True)
    """
    role, _, id = (said or "").partition(" ")
    if role not in ("lecturer", "visitor") or not id:
        return NOBODY
    return User(id, role == "lecturer")
