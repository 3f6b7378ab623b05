"""Sessions and places of a hosted app, as connections to a running one meet them."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import requests

from rnnviz.ui.hosting.cookies import LECTURER, VISITOR, Cookies
from tests.browser.driving import ROOT, serve
from tests.ui.visitor import Visitor

KEY = "the key of this test's hall"
XSRF = "2|00000000|00000000000000000000000000000000|1700000000"


def hosting(models_folder: Path, **more: str) -> AbstractContextManager[str]:
    """The address of a hosted app."""
    hosted = {"RNNVIZ_HOSTED": "1", "RNNVIZ_KEY": KEY, "RNNVIZ_MODELS": str(models_folder), **more}
    return serve(ROOT / "app.py", environment={**os.environ, **hosted}, warm=False)


@pytest.fixture(scope="module")
def url(models_folder: Path) -> Iterator[str]:
    """The same, for the whole module."""
    with hosting(models_folder) as address:
        yield address


def cookie(id: str, *, lecturer: bool = False) -> str:
    """What the browser of somebody with this id sends."""
    signed = Cookies(KEY)
    also = f"; {LECTURER}={signed.sign(LECTURER, 'l' + id)}" if lecturer else ""
    return f"{VISITOR}={signed.sign(VISITOR, id)}{also}"


def come(url: str, cookies: str, session: str = "") -> Visitor:
    """Somebody who sees the whole page."""
    visitor = Visitor(url, "train", cookie=cookies, session=session)
    visitor.wait(lambda: visitor.session and visitor.runs, 30)
    return visitor


@pytest.mark.slow
def test_nobody_takes_over_a_session_whose_id_they_have(url: str) -> None:
    lecturer = come(url, cookie("host", lecturer=True))
    came = [
        come(url, cookie("ann"), lecturer.session),
        come(url, cookie("host"), lecturer.session),  # the lecturer's visitor cookie alone
        come(url, cookie("ann", lecturer=True), lecturer.session),
    ]
    assert lecturer.session not in {visitor.session for visitor in came}
    before = lecturer.runs
    lecturer.rerun()
    lecturer.wait(lambda: lecturer.runs > before, 30)  # still connected, still theirs
    lecturer.leave()
    came.append(come(url, cookie("ann"), lecturer.session))  # nor one whose owner is away
    assert came[-1].session != lecturer.session
    back = come(url, cookie("host", lecturer=True), lecturer.session)
    assert back.session == lecturer.session
    for visitor in (*came, back):
        visitor.leave()


def test_a_file_finds_its_place_while_the_page_is_drawn_anew(url: str) -> None:
    visitor = come(url, cookie("ann"))
    for _ in range(12):
        visitor.rerun()
        assert visitor.place_for("book.txt", 30).upload_url
    visitor.leave()


def test_a_visitor_changes_nothing_for_others(url: str) -> None:
    lecturer, visitor = come(url, cookie("host", lecturer=True)), come(url, cookie("ann"))
    put = f"{url}/_stcore/upload_file/{{}}/{'0' * 32}"
    for session, cookies, status in (
        (lecturer.session, cookie("ann"), 403),
        (lecturer.session, cookie("host"), 403),
        ("no-session", cookie("ann"), 403),
        (visitor.session, cookie("ann"), 204),
    ):
        with requests.Session() as browser:
            browser.trust_env = False
            browser.headers["Cookie"] = f"{cookies}; _streamlit_xsrf={XSRF}"
            browser.headers["X-Xsrftoken"] = XSRF
            file = {"f": ("f.txt", b"text", "text/plain")}
            assert browser.put(put.format(session), files=file, timeout=30).status_code == status
            assert (browser.delete(put.format(session), timeout=30).status_code == 403) == (status == 403)
    lecturer.leave()
    visitor.leave()
