"""The page as static files: what they hold, and that nothing in them comes from elsewhere."""

import base64
import gzip
import hashlib
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz import cli
from rnnviz.errors import ConfigError
from rnnviz.figures import live
from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.networks.ngram import NgramModel
from rnnviz.page import CELLS, build, command, folder
from rnnviz.page.modules import PACKAGE, bundle
from rnnviz.page.payload import unpack
from tests.support.models import TEXT, tiny, tiny_card

MAX_SINGLE_FILE_BYTES = 3 * 2**20
MAX_INDEX_BYTES = 25_000  # so that a phone has the first picture within a second


@pytest.fixture
def info(only_tiny_models: Path) -> ModelInfo:
    return checkpoint.read_info(only_tiny_models / "tiny-gru.safetensors")


@pytest.fixture
def infos(only_tiny_models: Path) -> list[ModelInfo]:
    return [checkpoint.read_info(only_tiny_models / f"tiny-{cell}.safetensors") for cell in ("gru", "lstm")]


def write_page(*arguments: str) -> int:
    return cli.main(["page", *arguments], more_commands=[command.page])


def index_of(page: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="index">([^<]*)</script>', page)
    assert match
    index: dict[str, Any] = json.loads(match[1])
    return index


def block(page: str, name: str) -> bytes:
    match = re.search(rf'<script type="text/plain" id="{re.escape(name)}">([^<]*)</script>', page)
    assert match
    return gzip.decompress(base64.b64decode(match[1]))


def test_folder_has_every_file_that_index_names(infos: list[ModelInfo]) -> None:
    files = build.folder_files(infos)
    page = files["index.html"].decode()
    # Before any script has run, which knows the reader's language.
    assert '<p lang="en">This network reads one character at a time' in page
    assert '<p lang="zh">' in page
    index = index_of(page)
    named = [index["offline"], index["worker"], *index["openings"].values(), *index["texts"].values()]
    named += [*index["training"].values(), *(corpus["file"] for corpus in index["corpora"].values())]
    for network in index["networks"].values():
        named += [network["weights"], network["data"], *network["fixed"].values()]
    linked = re.findall(r'(?:src|href)="(?!data:)([^"]*)"', page)
    fonts = re.findall(r'url\("([^"]+)"\)', files[linked[0]].decode())
    assert set(files) == {"index.html", build.NOTICE, *named, *linked, *fonts}
    assert set(index["networks"]) == {"tiny-gru", "tiny-lstm"}
    for name, content in files.items():
        digest = hashlib.sha256(content).hexdigest()[:12]
        assert name in ("index.html", "offline.js", build.NOTICE) or f".{digest}." in name


def test_index_leads_a_replaced_network_on(infos: list[ModelInfo], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnviz.networks.checkpoint.SUCCESSORS", {"older": "tiny-gru", "gone": "lost"})
    index = index_of(build.folder_files(infos)["index.html"].decode())
    assert index["successors"] == {"older": "tiny-gru"}


def test_folder_holds_networks_in_both_languages(infos: list[ModelInfo]) -> None:
    files = build.folder_files(infos)
    network = index_of(files["index.html"].decode())["networks"]["tiny-gru"]
    assert files[network["weights"]] == infos[0].path.read_bytes()
    for language, word in (("en", "perplexity"), ("zh", "困惑度")):
        header = json.loads(files[network["fixed"][language]])
        assert header["fixed"]["model"] == "tiny-gru"
        assert header["fixed"]["words"]["perplexity"] == word
        assert header["fixed"]["ngram"] is not None  # the n-gram model that the card names
    assert {"level:2.share", "rows:steady,0,hidden", "reach:hidden"} <= set(unpack(files[network["data"]])[1])


def test_opening_shows_first_rows_as_core_reads_them(infos: list[ModelInfo]) -> None:
    files = build.folder_files(infos)
    index = index_of(files["index.html"].decode())
    answer, arrays = unpack(gzip.decompress(files[index["openings"]["en"]]))
    trace = rnnviz.trace(rnnviz.load(infos[0].path), answer["text"])
    np.testing.assert_allclose(arrays["nll"], trace.nll, atol=2e-4)
    shown = arrays["unitOfRow"][: answer["fixed"]["steadyUnits"]]
    assert len(set(arrays["states"][:, shown].ravel())) > 2
    assert block(files["index.html"].decode(), index["openings"]["en"]) == gzip.decompress(
        files[index["openings"]["en"]]
    )


@pytest.mark.slow
def test_shipped_index_is_small() -> None:
    shipped = [network for network in checkpoint.available()[0] if network.kind in CELLS]
    assert len(build.folder_files(shipped)["index.html"]) <= MAX_INDEX_BYTES


def test_folder_forbids_foreign_sources(infos: list[ModelInfo]) -> None:
    page = build.folder_files(infos)["index.html"].decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert policy[1].startswith("default-src 'none'; script-src 'self' 'wasm-unsafe-eval';")
    assert "'unsafe-eval'" not in policy[1]
    assert "http" not in policy[1]
    assert "<script>" not in page  # no inline script, which this policy would stop


def test_command_writes_folder_and_replaces_former_build(
    infos: list[ModelInfo], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "site"
    both = [option for info in infos for option in ("-m", str(info.path))]
    assert write_page(*both, "-o", str(target)) == 0
    assert "2 networks" in capsys.readouterr().out
    first = {path.name for path in target.iterdir()}
    assert sum(name.endswith(".safetensors") for name in first) == 2
    assert write_page("-m", str(infos[0].path), "-o", str(target)) == 0
    second = {path.name for path in target.iterdir()}
    assert [name for name in second if name.endswith(".safetensors")] == [
        index_of((target / "index.html").read_text("utf-8"))["networks"]["tiny-gru"]["weights"]
    ]
    assert not any(name.startswith("tiny-lstm") for name in second)


def test_folder_with_other_files_is_refused(infos: list[ModelInfo], tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("x", "utf-8")
    with pytest.raises(ConfigError, match="is not empty and isn't a page of rnnviz"):
        folder.write(tmp_path, build.folder_files(infos[:1]))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_networks_of_one_name_are_refused(info: ModelInfo) -> None:
    with pytest.raises(ConfigError, match="two networks of a page have the same name"):
        build.folder_files([info, info])
    with pytest.raises(ConfigError, match="at least one network"):
        build.folder_files([])


def test_single_file_holds_one_network_and_fetches_nothing(info: ModelInfo, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    assert write_page("-m", str(info.path), "-o", str(target), "--language", "zh") == 0
    page = target.read_text("utf-8")
    assert len(page.encode()) < MAX_SINGLE_FILE_BYTES
    assert '<html lang="zh">' in page
    index = index_of(page)
    network = index["networks"]["tiny-gru"]
    assert block(page, network["weights"]) == info.path.read_bytes()
    assert json.loads(block(page, network["fixed"]["zh"]))["fixed"]["words"]["perplexity"] == "困惑度"
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}' 'wasm-unsafe-eval';" in policy[1]
    assert "connect-src" not in policy[1]
    assert re.findall(r'(?:src|href)="(?!data:)([^"]*)"', page.replace(script, "")) == []


def test_single_file_of_several_networks_is_refused(
    infos: list[ModelInfo], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = [option for info in infos for option in ("-m", str(info.path))]
    assert write_page(*both, "-o", str(tmp_path / "page.html")) == 1
    assert "one HTML file holds one network; received 2" in capsys.readouterr().err


def test_markup_in_card_stays_text(tmp_path: Path) -> None:
    evil = '</script><script>alert("x")</script><img src=x onerror="alert(1)">\u2028<!--'
    path = tmp_path / "evil.safetensors"
    checkpoint.save(tiny("rnn", card=tiny_card(name=evil, title=evil, example=evil)), path)
    page = build.single_file(checkpoint.read_info(path))
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    outside = page.replace(script, "").removesuffix(f"<!--\n{build.notice()}-->\n")
    assert "onerror" not in outside
    assert (outside.count("<!--"), outside.count("<img")) == (0, 0)
    fixed = index_of(page)["networks"]["evil"]["fixed"]["en"]
    assert json.loads(block(page, fixed))["opening"] == evil


def test_large_or_foreign_ngram_tables_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = tiny("gru").vocabulary
    assert build.table_arrays(NgramModel.fit(TEXT, order=3, name="tiny-3gram"), vocabulary)
    assert not build.table_arrays(NgramModel.fit(TEXT + "ßßßß", order=3, name="other"), vocabulary)
    monkeypatch.setattr(build, "MAX_TABLE_BYTES", 100)
    assert not build.table_arrays(NgramModel.fit(TEXT, order=3, name="tiny-3gram"), vocabulary)


def test_ngram_model_and_unknown_cell_have_no_page(
    info: ModelInfo, only_tiny_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ngram = checkpoint.read_info(only_tiny_models / "tiny-3gram.safetensors")
    with pytest.raises(ConfigError, match="received the n-gram model tiny-3gram"):
        build.folder_files([ngram])
    monkeypatch.setattr(build, "CELLS", ("rnn",))
    with pytest.raises(ConfigError, match="of these cells: rnn; the cell of tiny-gru is gru"):
        build.single_file(info)


def test_engine_knows_cells_of_pages() -> None:
    cells = re.search(r"const CELLS = \{(.*?)\};", (build.PAGE_FOLDER / "cells.js").read_text("utf-8"))
    assert cells
    assert tuple(re.findall(r"(\w+): ", cells[1])) == CELLS
    scales = build.page_look()["scales"]
    assert scales["lstm"]["tanh"] == {name: asdict(live.scale(name)) for name in live.quantities("lstm")}
    assert scales["rnn"]["relu"]["hidden"] == asdict(live.scale("hidden", "relu"))


def test_bundle_refuses_cycles_and_other_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnviz.page.modules.PACKAGE", tmp_path)
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\nexport const a = b + 1;\n', "utf-8")
    (tmp_path / "b.js").write_text("export const b = 1;\n", "utf-8")
    assert "return { a };" in bundle("a.js")
    (tmp_path / "b.js").write_text('import { a } from "./a.js";\nexport const b = a;\n', "utf-8")
    with pytest.raises(ValueError, match="imports itself"):
        bundle("a.js")
    (tmp_path / "b.js").write_text("export default 1;\n", "utf-8")
    with pytest.raises(ValueError, match="can't hold 'export default 1;'"):
        bundle("a.js")
    (tmp_path / "b.js").write_text('import c from "./c.mjs";\nexport const b = c;\n', "utf-8")
    with pytest.raises(ValueError, match="can't hold 'import c"):
        bundle("a.js")


def test_bundle_takes_external_modules_and_leaves_comments_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rnnviz.page.modules.PACKAGE", tmp_path)
    source = 'import { b as d } from "./b.js";\nimport c from "./c.mjs";\n/** Why. */\n// What.\n'
    code = 'const url = "https://x"; // where\n'
    (tmp_path / "a.js").write_text(f"{source}{code}export const a = [d, c, import.meta.url];\n", "utf-8")
    bundled = bundle("a.js", external={"b.js": "kit.b", "c.mjs": "library.default"})
    assert "const { b: d } = kit.b;\nconst c = library.default;\n" + code in bundled
    assert "Why" not in bundled
    assert "What" not in bundled
    assert 'new URL("./a.js", import.meta.url).href' in bundled
    (tmp_path / "e.js").write_text("export const e = 1;\n", "utf-8")
    assert 'return { "e.js": module0 };' not in bundle("e.js")
    both = bundle("e.js", "a.js", external={"b.js": "kit.b", "c.mjs": "library.default"})
    assert 'return { "e.js": module0, "a.js": module1 };' in both


def test_every_page_module_is_in_bundle() -> None:
    script = build.page_script() + build.worker_script()
    modules = {path.relative_to(PACKAGE).as_posix() for path in build.PAGE_FOLDER.glob("*.js")}
    assert modules - set(re.findall(r"^// (\S+\.js)$", script, re.MULTILINE)) == {"page/offline.js"}
