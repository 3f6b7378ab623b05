"""The clock of a hosted app: who is told to be there, and whose uploads go."""

import asyncio
from collections.abc import Collection

import pytest

from rnnviz.training import visitors
from rnnviz.ui.hosting import uploads
from rnnviz.ui.server import sessions

HERE, GONE = "here", "gone"


class Over(Exception):
    """The clock has been heard."""


def test_the_clock_says_who_is_there_where_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Collection[str]] = []

    def sweep(there: Collection[str]) -> None:
        told.append(there)
        raise Over

    class Server:
        is_active_session = staticmethod(lambda session: session == HERE)

    monkeypatch.setattr(sessions, "_visitors", {HERE: "ann", GONE: "bob"})
    monkeypatch.setattr(sessions, "SELDOM", 0.0)
    monkeypatch.setattr(sessions, "OFTEN", 0.0)
    monkeypatch.setattr(sessions.runtime, "get_instance", Server)
    monkeypatch.setattr(visitors, "sweep", sweep)
    sessions._sweep({"another process's"})
    monkeypatch.setattr(visitors.serving, "is_set", lambda: True)
    with pytest.raises(Over):
        asyncio.run(sessions.reap())
    assert told == [{"ann"}]


def test_who_uploads_without_running_a_page_is_watched_too(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    class Server:
        is_active_session = staticmethod(lambda session: False)
        close_session = staticmethod(closed.append)

    def collect() -> None:
        raise Over

    monkeypatch.setenv("RNNVIZ_HOSTED", "1")
    monkeypatch.setattr(uploads, "holding", lambda: [HERE])
    monkeypatch.setattr(sessions, "_sessions", sessions.Sessions())
    monkeypatch.setattr(sessions.st, "get_option", lambda name: 0)
    monkeypatch.setattr(sessions, "SELDOM", 0.0)
    monkeypatch.setattr(sessions.runtime, "get_instance", Server)
    monkeypatch.setattr(sessions.free_memory, "collect", collect)
    with pytest.raises(Over):
        asyncio.run(asyncio.wait_for(sessions.reap(), 10))
    assert closed == [HERE]
