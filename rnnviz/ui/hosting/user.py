"""The user of a session: the lecturer, who may do everything, or a visitor."""

from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rnnviz.ui.hosting import environment

HEADER = "x-rnnviz-person"
"""The header that `Auth` sets on each request, in place of any that a client has sent."""

FIELD = "rnnviz"
"""The header's name in `st.user`. Streamlit resumes a session only for the same value."""


@dataclass(frozen=True)
class User:
    """A person with a browser: `id` is random, and the same in all tabs and after a reload."""

    id: str
    lecturer: bool

    def said(self) -> str:
        """This person as the value of HEADER."""
        return f"{'lecturer' if self.lecturer else 'visitor'} {self.id}"


ALONE = User("", lecturer=True)
"""The user of an app that isn't hosted: one person, who may do everything."""

NOBODY = User("nobody", lecturer=False)
"""The user of a hosted app's request without a valid HEADER: owns nothing, may do least."""


def session() -> str:
    """The id of the session that runs the script; "" outside of a run."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def current() -> User:
    """The person whose session runs the script: ALONE where the app isn't hosted.

    A session keeps its person. Streamlit reads the header at connection, and resumes a session only for the
    same value.
    """
    if not environment.hosted():
        return ALONE
    said = st.user.get(FIELD)
    return heard(said if isinstance(said, str) else None)


def of(headers: Iterable[tuple[bytes, bytes]]) -> User:
    """The person of a request that has passed `Auth`, by the headers of its ASGI scope."""
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
