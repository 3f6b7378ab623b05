"""Links of README, docs/ and their like: what they name is there, anchors too. Other hosts aren't asked."""

import re
from pathlib import Path

import pytest

from docs.make import FIRST_PAGE
from tests.support.written import PAGES, ROOT, anchors, links

LINKING = [*PAGES, ROOT / "models" / "README.md", ROOT / "tests" / "benchmarks" / "README.md"]


def leads(page: Path, target: str) -> bool:
    """Whether a link of `page` leads to a file of the repository, and to an anchor that is in it."""
    path, _, anchor = target.partition("#")
    if path == FIRST_PAGE and page.parent.name == "docs":  # the built site alone has it
        return True
    if page.parent == ROOT and path.startswith("../../actions/workflows/"):  # GitHub's, from the front page
        return (ROOT / ".github" / "workflows" / path.split("/")[4]).is_file()
    file = (page.parent / path).resolve() if path else page
    if not file.exists() or not file.is_relative_to(ROOT):
        return False
    return not anchor or file.suffix != ".md" or anchor in anchors(file)


def broken(page: Path) -> list[str]:
    return [target for target in links(page) if not leads(page, target)]


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    assert not broken(page)


def test_no_address_of_the_project_is_invented() -> None:
    """It has none yet; CONTRIBUTING says where one will stand."""
    hosts = [ROOT / name for name in ("NOTICE", "CITATION.cff", "pyproject.toml", "zensical.toml")]
    for page in (*LINKING, *hosts):
        assert not re.findall(r"https?://[^\s)>\"`]*rnnviz", page.read_text("utf-8")), page


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("[a](other.md#trace--co) [b](other.md#twice-1)", []),  # anchors are GitHub's
        ("[a](other.md#a-link) [b](other.md#给课堂用-one)", []),
        ("[d](https://x.y/z) `[no](gone.md)`\n\n```\n[no](gone.md)\n```\n", []),
        ("[a](other.md#title) ![b](gone.png) [c](#gone)", ["other.md#title", "gone.png", "#gone"]),
        ('<img src="gone.svg"> [d](../x.md)', ["gone.svg", "../x.md"]),
    ],
)
def test_a_link_that_leads_nowhere_is_found(
    text: str, lost: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.docs.test_links.ROOT", tmp_path.resolve())
    (tmp_path / "page.md").write_text(text, "utf-8")
    (tmp_path / "other.md").write_text(
        "## `trace` & co.\n\n## Twice\n\n## Twice\n\n## [A](b.md) link\n\n## 给课堂用 one\n", "utf-8"
    )
    assert broken(tmp_path / "page.md") == lost
