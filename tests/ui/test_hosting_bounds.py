"""How much a visitor's session may upload, and who is told to be there: as requests and the clock meet it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from rnnviz.runs import visitors
from rnnviz.ui.hosting import allowed, bounds
from rnnviz.ui.hosting.bounds import Bounds
from rnnviz.ui.hosting.person import HEADER, Person
from rnnviz.ui.server import sessions

ANN, LECTURER = Person("ann", lecturer=False).said(), Person("l", lecturer=True).said()
HERE, GONE, TABS = "here", "gone", ("one", "two", "three")


async def upload(request: Request) -> Response:
    """Takes what comes, unless it is asked to fail."""
    await request.body()
    if "breaks" in request.headers:
        raise ClientDisconnect
    return Response(status_code=403 if "fails" in request.headers else 204)


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setenv("RNNVIZ_HOSTED", "1")
    monkeypatch.setattr(bounds, "_there", lambda session: session in (HERE, *TABS))
    monkeypatch.setattr(allowed, "text_bytes", lambda: 10_000)
    monkeypatch.setattr(allowed, "HELD_BYTES", 20_000)
    monkeypatch.setattr(allowed, "ALL_BYTES", 50_000)
    monkeypatch.setattr(bounds, "TABS", 2)
    methods = ["PUT", "DELETE", "GET"]
    app = Starlette(routes=[Route("/_stcore/upload_file/{session}/{file}", upload, methods=methods)])
    yield TestClient(Bounds(app), raise_server_exceptions=False)
    bounds.forget([HERE, *TABS])


def put(
    browser: TestClient, file: str, size: int, who: str = ANN, session: str = HERE, **headers: str
) -> int:
    path = f"/_stcore/upload_file/{session}/{file}"
    return browser.put(
        path, content=b"a" * (size + bounds.FRAME), headers={HEADER: who, **headers}
    ).status_code


def remove(browser: TestClient, file: str, **headers: str) -> int:
    path = f"/_stcore/upload_file/{HERE}/{file}"
    return browser.delete(path, headers={HEADER: ANN, **headers}).status_code


def test_one_file_and_all_together_have_a_size(browser: TestClient) -> None:
    assert put(browser, "a", 10_001) == 413
    assert put(browser, "a", 10_000) == 204
    assert put(browser, "b", 10_000) == 204
    assert put(browser, "c", 1) == 413
    assert put(browser, "b", 9_999) == 204, "in place of itself"
    assert put(browser, "c", 1) == 204
    assert put(browser, "d", 10_000_0, LECTURER) == 204
    assert put(browser, "d", 99, session=GONE) == 204, "Streamlit refuses it"
    bounds.forget([HERE])
    assert put(browser, "d", 10_000) == 204


def test_only_what_is_gone_is_not_counted(browser: TestClient) -> None:
    assert put(browser, "a", 10_000) == put(browser, "b", 10_000) == 204
    assert remove(browser, "a", fails="yes") == 403
    assert put(browser, "c", 1) == 413
    assert remove(browser, "a") == 204
    assert put(browser, "c", 1, fails="yes") == 403
    assert put(browser, "d", 10_000) == 204
    assert put(browser, "b", 1, fails="yes") == 403
    assert put(browser, "e", 1) == 413, "the one that was there before is there still"


def test_what_a_browser_is_cut_off_at_is_not_counted(browser: TestClient) -> None:
    for _ in range(3):
        assert put(browser, "a", 10_000, breaks="yes") == 500
    assert put(browser, "a", 10_000) == put(browser, "b", 10_000) == 204
    assert remove(browser, "a", breaks="yes") == 500
    assert put(browser, "b", 10_000, breaks="yes") == 500
    assert put(browser, "c", 1) == 413, "both are still there"


def test_one_visitors_tabs_and_all_visitors_have_a_bound_together(browser: TestClient) -> None:
    one, two, three = TABS
    for session in (one, two):  # perhaps closed by now
        assert put(browser, "a", 10_000, session=session) == put(browser, "b", 10_000, session=session) == 204
    assert put(browser, "a", 1, session=three) == 413
    assert put(browser, "a", 5_000, session=one) == 204, "in place of itself"
    assert put(browser, "a", 5_000, session=three) == 204
    bob = Person("bob", lecturer=False).said()
    assert put(browser, "a", 10_000, bob) == 204
    assert put(browser, "b", 1, bob) == 413, "there is no room for anybody's"
    bounds.forget(bounds.holding())
    assert put(browser, "b", 1, bob) == 204


def test_files_are_counted_and_say_how_long_they_are(browser: TestClient) -> None:
    assert [put(browser, str(n), 0) for n in range(allowed.HELD_FILES + 1)] == [204] * allowed.HELD_FILES + [
        413
    ]
    path = f"/_stcore/upload_file/{HERE}/0"
    assert browser.put(path, content=iter([b"a"]), headers={HEADER: ANN}).status_code == 411


class Over(Exception):
    """The clock has been heard."""


def test_the_clock_says_who_is_there_and_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []

    def present(owners: Collection[str]) -> None:
        told.append(set(owners))
        raise Over

    class Server:
        is_active_session = staticmethod(lambda session: session == HERE)

    monkeypatch.setattr(sessions, "_visitors", {HERE: "ann", GONE: "bob"})
    monkeypatch.setattr(sessions, "SELDOM", 0.0)
    monkeypatch.setattr(sessions, "OFTEN", 0.0)
    monkeypatch.setattr(sessions.runtime, "get_instance", Server)
    monkeypatch.setattr(visitors, "sweep", lambda: told.append("swept"))
    monkeypatch.setattr(visitors, "present", present)
    with pytest.raises(Over):
        asyncio.run(sessions.reap())
    assert told == ["swept", {"ann"}]


def test_what_a_page_drops_is_let_go_and_counts_no_more(
    browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed: list[tuple[str, ...]] = []

    class Files:
        remove_file = staticmethod(lambda session, file: removed.append((session, file)))
        remove_session_files = staticmethod(lambda session: removed.append((session,)))

    monkeypatch.setattr(bounds.runtime, "exists", lambda: True)
    monkeypatch.setattr(bounds.runtime, "get_instance", lambda: SimpleNamespace(uploaded_file_mgr=Files))
    monkeypatch.setattr(bounds, "get_script_run_ctx", lambda: SimpleNamespace(session_id=HERE))
    assert put(browser, "a", 10_000) == put(browser, "b", 10_000) == 204
    bounds.drop("a")
    assert put(browser, "c", 10_000) == 204
    assert put(browser, "d", 1) == 413
    bounds.drop_all()
    assert put(browser, "d", 10_000) == 204
    assert removed == [(HERE, "a"), (HERE,)]


def test_who_uploads_without_running_a_page_is_watched_too(
    browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []

    class Server:
        is_active_session = staticmethod(lambda session: False)
        close_session = staticmethod(closed.append)

    def give_back() -> None:
        raise Over

    assert put(browser, "a", 1) == 204
    monkeypatch.setattr(sessions, "_sessions", sessions.Sessions())
    monkeypatch.setattr(sessions.st, "get_option", lambda name: 0)
    monkeypatch.setattr(sessions, "SELDOM", 0.0)
    monkeypatch.setattr(sessions.runtime, "get_instance", Server)
    monkeypatch.setattr(sessions, "_give_back", give_back)
    with pytest.raises(Over):
        asyncio.run(asyncio.wait_for(sessions.reap(), 10))
    assert closed == [HERE]
    assert not bounds.holding()


def test_what_is_over_is_counted_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    forgotten: list[str] = []

    class Server:
        is_active_session = staticmethod(lambda session: False)
        close_session = staticmethod(lambda session: None)

    class Ended:
        def gone(self, there: object, after: float) -> list[str]:
            return [GONE]

    def give_back() -> None:
        raise Over

    monkeypatch.setattr(sessions, "_visitors", {HERE: "ann", GONE: "bob"})
    monkeypatch.setattr(sessions, "_sessions", Ended())
    monkeypatch.setattr(sessions, "SELDOM", 0.0)
    monkeypatch.setattr(sessions, "OFTEN", 0.0)
    monkeypatch.setattr(sessions.runtime, "get_instance", Server)
    monkeypatch.setattr(sessions, "_give_back", give_back)
    monkeypatch.setattr(bounds, "forget", forgotten.extend)
    with pytest.raises(Over):
        asyncio.run(sessions.reap())
    assert forgotten == [GONE]
    assert sessions._visitors == {HERE: "ann"}
