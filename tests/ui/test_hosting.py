"""Who is who where the app serves others, as requests meet the door."""

import re
from html import unescape

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from rnnviz.ui.hosting import cookies, environment, limits, permissions, user
from rnnviz.ui.hosting.auth import Auth
from rnnviz.ui.hosting.cookies import LECTURER, VISITOR, Cookies
from rnnviz.ui.hosting.user import ALONE, HEADER, NOBODY, User, heard
from tests.ui.conftest import HALL as KEY

pytestmark = pytest.mark.usefixtures("hosted")

ADDRESS = "http://hall.example"
STREAM = "ws://hall.example/_stcore/stream"


async def page(request: Request) -> Response:
    kept = {"Cache-Control": "public, immutable" if request.url.path.endswith(".js") else "no-cache"}
    return PlainTextResponse("|".join(request.headers.getlist(HEADER)), headers=kept)


async def stream(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text("|".join(websocket.headers.getlist(HEADER)))
    await websocket.close()


def app() -> Auth:
    return Auth(Starlette(routes=[WebSocketRoute("/_stcore/stream", stream), Route("/{path:path}", page)]))


def browser(of: Auth | None = None, address: str = ADDRESS) -> TestClient:
    """Somebody's browser: cookies of its own; it doesn't follow redirects."""
    return TestClient(of or app(), base_url=address, follow_redirects=False)


def seen(client: TestClient, **headers: str) -> User:
    sent = {name: value.encode("latin-1") for name, value in headers.items()}
    return heard(client.get("/", headers=sent).text)


def lecturer(of: Auth | None = None) -> TestClient:
    client = browser(of)
    assert client.get("/", params={"key": KEY}).status_code == 303
    return client


def test_everybody_gets_an_id_and_keeps_it() -> None:
    door = app()
    one, other = browser(door), browser(door)
    first = seen(one)
    assert not first.lecturer
    assert re.fullmatch("[0-9a-f]{16}", first.id)
    assert seen(one) == first != seen(other)
    with one.websocket_connect(STREAM) as socket:
        assert heard(socket.receive_text()) == first


def test_the_key_makes_a_lecturer_and_leaves_the_address() -> None:
    client = browser()
    was = seen(client)
    answer = client.get("/learn", params={"lang": "zh", "key": KEY, "text": "a&b=ü\r\n"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "./learn?lang=zh&text=a%26b%3D%C3%BC%0D%0A"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    assert KEY not in str(answer.headers)
    assert seen(client) == User(was.id, lecturer=True)
    with client.websocket_connect(STREAM) as socket:
        assert heard(socket.receive_text()).lecturer


@pytest.mark.parametrize(
    "given", ["", "x", KEY[:-1], KEY + "x", KEY.upper(), "é" * 10_000, "\r\nSet-Cookie: a=b"]
)
def test_another_key_makes_nobody_a_lecturer(given: str) -> None:
    client = browser()
    answer = client.get("/", params={"key": given})
    assert answer.status_code == 403
    assert "lecturer's key" in unescape(answer.text)
    assert "set-cookie" not in answer.headers
    assert not seen(client).lecturer
    assert client.get("/", params={"key": KEY}).status_code == 303, "no wrong key locks the right one out"


@pytest.mark.parametrize(
    "path", ["//evil.example", "/\\evil.example", "/%2Fevil.example/", "/a/%5C%5Cevil.example"]
)
def test_the_key_leads_to_no_other_site(path: str) -> None:
    location = browser().get(f"{ADDRESS}{path}?key={KEY}").headers["location"]
    assert location.startswith("./")
    assert not re.search(r"[\\:]|/.*/", location)


@pytest.mark.parametrize("name", [VISITOR, LECTURER])
def test_a_cookie_that_was_not_signed_here_counts_for_nothing(name: str) -> None:
    own, elsewhere = Cookies(KEY), Cookies("the key of another hall")
    other = {VISITOR: LECTURER, LECTURER: VISITOR}[name]
    good = own.sign(name, "a" * 16)
    forged = [
        "", "a", "a" * 16, f"{'a' * 16}.x.y", good[:-1], good[:-1] + ("A" if good[-1] != "A" else "E"),
        "b" + good[1:], good.upper(), good + good, "a" * 100_000, "é.ü", elsewhere.sign(name, "a" * 16),
        own.sign(other, "a" * 16), good.rpartition(".")[0],
    ]  # fmt: skip
    for value in forged:
        found = seen(browser(), Cookie=f"{name}={value}")
        assert not found.lecturer
        assert found.id != "a" * 16, value
    assert "a" * 16 in (seen(browser(), Cookie=f"{name}={good}").id, own.read(name, good))
    assert seen(browser(), Cookie=f"{name}={good}").lecturer == (name == LECTURER)


@pytest.mark.parametrize(
    ("later", "good"),
    [
        (0, True),
        (cookies.KEPT - 5, True),
        (cookies.KEPT + 5, False),
        (-1, True),
        (-86_000, True),
        (-90_000, False),
    ],
)
def test_a_cookie_is_good_for_a_month_and_bears_a_clock_that_is_set_back(
    later: int, good: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Cookies(KEY)
    value = own.sign(LECTURER, "a1")
    now = cookies.TimestampSigner.get_timestamp
    monkeypatch.setattr(cookies.TimestampSigner, "get_timestamp", lambda self: now(self) + later)
    assert own.read(LECTURER, value) == ("a1" if good else None)


def test_a_process_knows_the_visitors_of_the_one_before_it_by_the_same_key() -> None:
    client = lecturer(app())
    who = seen(client)
    second = browser(app())
    second.cookies = client.cookies
    assert seen(second) == who


def test_nobody_says_who_they_are_themselves() -> None:
    for name in (HEADER, HEADER.upper(), "X-Rnnviz-Person"):
        assert not seen(browser(), **{name: User("a1", lecturer=True).said()}).lecturer
    with browser().websocket_connect(STREAM, headers={HEADER: "lecturer a1"}) as socket:
        assert not heard(socket.receive_text()).lecturer


def test_cookies_are_out_of_reach_of_scripts_other_sites_and_caches() -> None:
    for address, secure in ((ADDRESS, False), ("https://hall.example", True)):
        for query in ("", f"?key={KEY}"):
            said = browser(address=address).get(f"/{query}").headers["set-cookie"]
            assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(said.split("; "))
            assert ("Secure" in said.split("; ")) == secure
    assert browser().get("/").headers["cache-control"] == "private, no-cache"
    kept = browser().get("/view.js")
    assert "set-cookie" not in kept.headers
    assert kept.headers["cache-control"] == "public, immutable"


@pytest.mark.parametrize(
    "path", ["/_stcore/metrics", "/_stcore/metrics/", "//_stcore/metrics", "/_stcore/script-health-check"]
)
def test_what_tells_about_everybody_is_the_lecturers(path: str) -> None:
    assert browser().get(f"{ADDRESS}{path}").status_code == 403
    assert lecturer().get(f"{ADDRESS}{path}").status_code == 200


def test_a_key_is_made_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RNNVIZ_KEY")
    environment.key.cache_clear()
    made = environment.key()
    assert len(made) >= 22
    assert environment.key() == made
    environment.key.cache_clear()
    assert environment.key() != made


def test_capacity_and_megabytes_are_what_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment.capacity() == limits.CAPACITY == 250
    for given in ("0", "7", " 120 "):
        monkeypatch.setenv("RNNVIZ_CAPACITY", given)
        assert environment.capacity() == int(given)
    assert permissions.text_bytes() == 1_000_000
    monkeypatch.setenv("RNNVIZ_TEXT_MB", " 3 ")
    assert permissions.text_bytes() == 3_000_000


def test_where_the_app_serves_one_person_that_person_may_do_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert user.current() == NOBODY  # hosted, and nothing was said
    for off in ("", "0", "no", "False"):
        monkeypatch.setenv("RNNVIZ_HOSTED", off)
        assert user.current() == ALONE == user.of([])
    monkeypatch.delenv("RNNVIZ_HOSTED")
    assert user.current() == ALONE
    assert ALONE.lecturer


def test_only_what_the_door_says_is_a_person() -> None:
    for said in (None, "", "lecturer", "lecturer ", "Lecturer a", "king a", " lecturer a"):
        assert heard(said) == NOBODY
    assert not NOBODY.lecturer
