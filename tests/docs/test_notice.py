"""NOTICE has all that is shipped of others. A file counts as theirs if it says so, if it is minified, or if
it is of a kind that is not written by hand here, as fonts and texts.
"""

import json
import re
from pathlib import Path

import pytest

from docs import make
from rnnviz.networks import checkpoint
from rnnviz.page import build
from tests.support.written import ROOT

NOTICE = (ROOT / "NOTICE").read_text("utf-8")
NAMED = re.findall(r"(?:rnnviz|docs|models)/[\w./-]*\w-?", NOTICE)

OWN = {".css", ".html", ".jinja", ".js", ".json", ".md", ".mjs", ".po", ".py", ".pyi", ".svg", ".toml"}
OWN |= {".ts", ".typed", ".wat"}
BESIDE = {"", ".csv", ".dockerignore", ".ipynb", ".png", ".service", ".webp", ".yaml"}
"""More suffixes of our own outside the package: pictures of it, and how it is set up."""

SAYS_SO = re.compile(
    r"copyright (?:\(c\)|\d|©)|@licen[cs]e|licen[cs]ed under|SPDX-|all rights reserved", re.IGNORECASE
)
LONGEST = 4_000
"""Characters in a line of a script or style that is not minified; products.js has 3,321 of WebAssembly."""


def of_others(path: Path, own: set[str]) -> bool:
    if path.suffix not in own:
        return True
    if path.suffix in {".png", ".webp"}:
        return False
    text = path.read_text("utf-8")
    minified = (
        path.suffix in {".css", ".js", ".mjs"} and max(map(len, text.splitlines()), default=0) > LONGEST
    )
    return minified or bool(SAYS_SO.search(text))


@pytest.mark.parametrize(
    ("folder", "own"),
    [
        *((name, OWN) for name in ("rnnviz", "models")),
        *((name, OWN | BESIDE) for name in ("deploy", "docs", "examples")),
    ],
)
def test_every_file_of_others_is_in_the_notice(folder: str, own: set[str]) -> None:
    files = [
        path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    names = [path.relative_to(ROOT).as_posix() for path in files if of_others(path, own)]
    assert [name for name in names if not name.startswith(tuple(NAMED))] == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("font.woff2", ""),
        ("library.min.js", "a" * 5_000),
        ("style.css", "/*! Copyright (c) 2020 Somebody */"),
        ("module.js", "// Licensed under the Apache License"),
        ("text.txt", "Once upon a time"),
    ],
)
def test_a_file_of_others_is_found(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    assert of_others(tmp_path / name, OWN)


def test_the_notice_names_files_that_are_there_and_katexs_version() -> None:
    assert len(NAMED) > 10
    assert [name for name in NAMED if not list(ROOT.glob(f"{name}*"))] == []
    package = json.loads((ROOT / "package.json").read_text("utf-8"))
    assert f"\nKaTeX {package['devDependencies']['katex']}\n" in NOTICE


def test_the_notice_names_the_families_of_katexs_fonts() -> None:
    fonts = (ROOT / "rnnviz" / "ui" / "browser" / "katex" / "fonts").glob("*.woff2")
    assert {font.stem.partition("-")[0] for font in fonts} == set(re.findall(r"KaTeX_\w+", NOTICE))


def test_the_notice_has_the_licences_of_what_models_learned() -> None:
    free = NOTICE[NOTICE.index("\nTexts in the public domain") :].partition("\n\n")[0]
    infos = [info for info in checkpoint.available()[0] if ROOT / "models" in info.path.parents]
    assert len(infos) > 10
    for info in infos:
        licence = info.card["licence"]
        assert licence in ("public domain", "PSF-2.0"), info.name
        assert (f"models/{info.name.partition('-')[0]}-*" in free) == (licence == "public domain"), info.name
    assert NOTICE.count("PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2") == 1


def test_a_page_holds_its_licences() -> None:
    info = checkpoint.read_info(ROOT / "models" / "names-lstm.safetensors")
    said = build.folder_files([info])[build.NOTICE].decode()
    for licence in ("MIT License", "SIL OPEN FONT LICENSE", "Adobe", "PYTHON SOFTWARE FOUNDATION LICENSE"):
        assert licence in said
    assert build.single_file(info).endswith(f"</html>\n<!--\n{said}-->\n")
    assert "-->" not in said


def test_an_asset_of_the_site_without_licence_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make, "LICENCES", {"worker.js styles/": [ROOT / "LICENSE"]})
    (tmp_path / "worker.js").touch()
    (tmp_path / "styles").mkdir()
    (tmp_path / "styles" / "main.css").touch()
    assert make.licences(tmp_path).startswith("worker.js styles/\n=================\n\nMIT License")
    (tmp_path / "d3.min.js").touch()
    with pytest.raises(LookupError, match=r"no licence of d3\.min\.js"):
        make.licences(tmp_path)
