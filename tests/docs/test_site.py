"""The site's frame: its navigation has every page, its API every name, and links become what they should.

`python docs/make.py` builds it, which .ci/run does.
"""

import importlib
import pkgutil
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from docs import docstrings, make

ROOT = make.ROOT
API = ROOT / "docs" / "api"
NAMESPACES = ("rnnviz", "rnnviz.units", "rnnviz.gradients", "rnnviz.corpora")


def leaves(nav: list[Any]) -> list[str]:
    """The pages of a navigation, in order."""
    return [
        page
        for entry in nav
        for value in entry.values()
        for page in ([value] if isinstance(value, str) else leaves(value))
    ]


def named() -> list[str]:
    """What the API's pages show."""
    pages = [page.read_text("utf-8") for page in API.glob("*.md")]
    return [name for page in pages for name in re.findall(r"^::: (\S+)$", page, re.M)]


def test_every_page_stands_once_in_the_navigation() -> None:
    config = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    assert sorted(leaves(config["nav"])) == sorted(["gallery.md", *make.pages().values()])
    assert (ROOT / config["docs_dir"]).is_relative_to(ROOT / "build")  # which git ignores
    assert (ROOT / config["site_dir"]).is_relative_to(ROOT / "build")
    assert config["theme"]["font"] is False


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_public_name_is_on_an_api_page(namespace: str) -> None:
    public = set(importlib.import_module(namespace).__all__) - {"__version__"}
    if namespace == "rnnviz":
        public -= {space.partition(".")[2] for space in NAMESPACES}  # pages of their own
    assert {f"{namespace}.{name}" for name in public} <= set(named())


def test_api_pages_name_existing_modules() -> None:
    assert len(named()) == len(set(named()))
    for name in named():
        pkgutil.resolve_name(name)


@pytest.mark.parametrize(
    ("path", "text", "laid"),
    [
        (
            "docs/guides/learn.md",
            "[a](../class.md#one) [b](https://x.y)",
            "[a](../class.md#one) [b](https://x.y)",
        ),
        ("docs/class.md", "[deploy](../deploy/README.md)", "[deploy](deploy.md)"),
        ("docs/guides/train.md", "[`code`](../../rnnviz/lab/run/runs.py)", "`code`"),
        ("docs/start.md", "[it](../README.md#why)", "[it](readme.md#why)"),
        ("README.md", '<img src="docs/pictures/a.webp">', '<img src="pictures/a.webp">'),
        ("CONTRIBUTING.md", "[cells](docs/cells.md#a)", "[cells](cells.md#a)"),
        ("README.md", "[![a](../../actions/b/badge.svg)](../../actions/b)\n**Here**", "**Here**"),
        ("tests/benchmarks/README.md", "| [room](room.py) |", "| room |"),
        ("docs/class.md", "```\n[no](../deploy/README.md)\n```\n", "```\n[no](../deploy/README.md)\n```\n"),
        ("docs/class.md", "[gone](../nowhere.md)", "[gone](../nowhere.md)"),
        (
            "docs/guides/explore.md",
            "![E](../pictures/explore.png)",
            (
                "[![E](../pictures/explore.png#only-light)](../pictures/explore.png)"
                "[![E](../pictures/explore-dark.png#only-dark)](../pictures/explore-dark.png)"
            ),
        ),
    ],
)
def test_links_are_laid_as_the_site_needs_them(path: str, text: str, laid: str) -> None:
    assert make.relinked(text, path) == laid


@pytest.mark.slow
def test_the_pages_are_laid_side_by_side(tmp_path: Path) -> None:
    make.lay(tmp_path / "pages")
    laid = {path.relative_to(tmp_path / "pages").as_posix() for path in (tmp_path / "pages").rglob("*.*")}
    assert set(make.pages().values()) <= laid
    assert {"icon.svg", "site.css", "pictures/explore.png"} <= laid
    assert not [name for name in laid if name.endswith((".py", ".pyc")) or "language" in name]
    chinese = [
        name for name in laid if (tmp_path / "pages" / name).read_bytes().startswith(b"---\nlang: zh\n")
    ]
    assert set(chinese) == {name for name in laid if name.endswith(".zh.md")} != set()


def test_foreign_address_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        '<a href="https://x.y">x</a><script src="a.js"></script><link rel="canonical" href="//x.y">', "utf-8"
    )
    assert make.fetched(tmp_path) == set()
    page.write_text(
        '<script async src="https://a.b/c.js"></script><link href="//f.g/h.css" rel="stylesheet">', "utf-8"
    )
    (tmp_path / "s.css").write_text(
        '@import "https://i.j/k.css"; a { b: url(https://l.m/n.woff) url(o.png) }', "utf-8"
    )
    assert make.fetched(tmp_path) == {
        *("https://a.b/c.js", "//f.g/h.css", "https://i.j/k.css", "https://l.m/n.woff"),
    }


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        (
            "Cost of `<unk>`, P(x_t | x_<t).\n\n    ids   (T,) integers\n\n>>> 1 < 2\nTrue\n\nThe <end>.\n",
            (
                "Cost of `<unk>`, P(x_t | x_&lt;t).\n\n    ids   (T,) integers\n\n"
                "```pycon\n>>> 1 < 2\nTrue\n```\n\nThe &lt;end>.\n"
            ),
        ),
        (
            "A path.\n\npoints  (T, k) the state\naxes    (k, H), of which\n        one is < 0\n",
            "A path.\n\n\n- `points`: (T, k) the state\n- `axes`: (k, H), of which\n  one is &lt; 0\n\n",
        ),
    ],
)
def test_docstrings_become_markdown_that_shows_all_they_say(text: str, markdown: str) -> None:
    assert docstrings.as_markdown(text) == markdown
