"""The browser files of the views, as they are served."""

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from rnnviz.ui.browser import views

FILES = [*(f"{views.address(folder)}/{{}}" for folder in views.FOLDERS), f"{views.ADDRESS}/plotly/{{}}"]


def a_file_of(place: str) -> str:
    folders = {views.address(folder): folder for folder in views.FOLDERS}
    folders[f"{views.ADDRESS}/plotly"] = views.plotly_folder()
    return next(path.name for path in sorted(folders[place].iterdir()) if path.suffix in (".js", ".mjs"))


@pytest.mark.parametrize("place", FILES)
def test_a_browser_asks_for_a_file_once(place: str) -> None:
    file = place.format(a_file_of(place.removesuffix("/{}")))
    settled = TestClient(Starlette(routes=views.routes()))
    first = settled.get(file)
    again = settled.get(file, headers={"If-None-Match": first.headers["etag"]})
    assert (first.status_code, again.status_code) == (200, 304)
    for answer in (first, again):
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "javascript" in first.headers["content-type"]
    worked_on = TestClient(Starlette(routes=views.routes(settled=False))).get(file)
    assert "cache-control" not in worked_on.headers


def test_the_address_changes_with_a_file_and_with_plotly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder in ("browser/static", "browser/katex"):
        (tmp_path / folder).mkdir(parents=True)
    file = tmp_path / "browser" / "static" / "view.js"
    monkeypatch.setattr(views, "PACKAGE", tmp_path)
    monkeypatch.setattr(views, "FOLDERS", (file.parent,))
    found = []
    for content, plotly in (("a", "1"), ("b", "1"), ("b", "2"), ("a", "1")):
        file.write_text(content, "utf-8")
        monkeypatch.setattr(views, "version", lambda name, plotly=plotly: plotly)
        found.append(views._digest())
    assert len(set(found)) == 3
    assert found[0] == found[3]


def test_style_sheets_import_files_that_are_served() -> None:
    """A browser says nothing of a style sheet that isn't there."""
    found = 0
    for folder in views.FOLDERS:
        for sheet in folder.glob("*.css"):
            for name in re.findall(r'@import "([^"]+)"', sheet.read_text("utf-8")):
                found += 1
                assert (sheet.parent / name).resolve().parent in views.FOLDERS, (sheet, name)
                assert (sheet.parent / name).is_file(), (sheet, name)
    assert found
