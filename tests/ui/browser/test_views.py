"""The browser files of the views, as they are served."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from rnnviz.ui.browser import views

PLOTLY = Path(str(getattr(find_spec("plotly"), "origin", ""))).parent / "package_data"
FOLDERS = {views.address(folder): folder for folder in views.FOLDERS} | {f"{views.ADDRESS}/plotly": PLOTLY}


@pytest.mark.parametrize("place", FOLDERS)
def test_files_are_cached_for_good(place: str) -> None:
    scripts = [path.name for path in sorted(FOLDERS[place].iterdir()) if path.suffix in (".js", ".mjs")]
    file = f"{place}/{scripts[0]}"
    settled = TestClient(Starlette(routes=views.routes()))
    first = settled.get(file)
    again = settled.get(file, headers={"If-None-Match": first.headers["etag"]})
    assert (first.status_code, again.status_code) == (200, 304)
    for answer in (first, again):
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "javascript" in first.headers["content-type"]
    worked_on = TestClient(Starlette(routes=views.routes(settled=False))).get(file)
    assert "cache-control" not in worked_on.headers


SCRIPTS = sorted({view.script for view in views.VIEWS.values()})


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_has_view_with_its_look(name: str) -> None:
    address = views.script_address(name)
    settled = TestClient(Starlette(routes=views.routes()))
    answer = settled.get(address)
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert settled.get(address, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    worked_on = TestClient(Starlette(routes=views.routes(settled=False))).get(address)
    assert (worked_on.text, worked_on.headers["cache-control"]) == (answer.text, "no-cache")
    (view,) = [view for view in views.VIEWS.values() if view.script == name]
    assert f"// {view.files}/view.js\n" in answer.text
    assert f'"root": "{view.root}"' in answer.text
    # A module of the kit has state, such as the address's: it is loaded once for all views.
    assert ("// ui/browser/static/dom.js\n" in answer.text) == (name == "kit")


def test_other_script_is_not_there() -> None:
    assert TestClient(Starlette(routes=views.routes())).get(f"{views.ADDRESS}/other.js").status_code == 404


def test_address_changes_with_files_and_plotly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for folder in ("browser/static", "browser/katex"):
        (tmp_path / folder).mkdir(parents=True)
    file = tmp_path / "browser" / "static" / "view.js"
    monkeypatch.setattr(views, "PACKAGE", tmp_path)
    monkeypatch.setattr(views, "FOLDERS", (file.parent,))
    digests = []
    for content, plotly in (("a", "1"), ("b", "1"), ("b", "2"), ("a", "1")):
        file.write_text(content, "utf-8")
        monkeypatch.setattr(views, "version", lambda name, plotly=plotly: plotly)
        digests.append(views._digest())
    assert len(set(digests)) == 3
    assert digests[0] == digests[3]


def test_style_sheets_import_served_files() -> None:
    """A browser says nothing of a style sheet that isn't there."""
    sheets = [sheet for folder in views.FOLDERS for sheet in folder.glob("*.css")]
    imported = [
        (sheet.parent / name).resolve()
        for sheet in sheets
        for name in re.findall(r'@import "([^"]+)"', sheet.read_text("utf-8"))
    ]
    assert imported
    assert "@import" not in "".join(map(views.make_script, SCRIPTS))
    assert [file for file in imported if file.parent not in views.FOLDERS or not file.is_file()] == []
