"""Links of README, docs/ and their like: what they name is there, anchors too. Other hosts aren't asked."""

import re
from pathlib import Path

import pytest

from tests.written import PAGES, ROOT, anchors, links, slug

LINKING = [*PAGES, ROOT / "models" / "README.md", ROOT / "tests" / "benchmarks" / "README.md"]


def leads(page: Path, target: str) -> bool:
    """Whether a link of `page` leads to a file of the repository, and to an anchor that is in it."""
    path, _, anchor = target.partition("#")
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
    others = [ROOT / name for name in ("NOTICE", "CITATION.cff", "pyproject.toml", "zensical.toml")]
    for page in (*LINKING, *others):
        assert not re.findall(r"https?://[^\s)>\"`]*rnnviz", page.read_text("utf-8")), page


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.docs.test_links.ROOT", tmp_path.resolve())
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    other.write_text("# A `title`, and more\n\n## Twice\n\n## Twice\n\n## 中文 one\n", "utf-8")
    good = "[a](other.md#a-title-and-more) [b](other.md#twice-1) [c](other.md#中文-one) [d](https://x.y/z)\n"
    page.write_text(good + "`[no](gone.md)`\n\n```\n[no](gone.md)\n```\n", "utf-8")
    assert not broken(page)
    page.write_text(
        '[a](other.md#title) ![b](gone.png) [c](#gone) <img src="gone.svg"> [d](../x.md)', "utf-8"
    )
    assert broken(page) == ["other.md#title", "gone.png", "#gone", "gone.svg", "../x.md"]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("In Python", "in-python"),
        ("`trace` & co.", "trace--co"),
        ("[A](b.md) link", "a-link"),
        ("给课堂用", "给课堂用"),
    ],
)
def test_anchors_are_githubs(heading: str, anchor: str) -> None:
    assert slug(heading) == anchor
