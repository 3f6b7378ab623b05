"""The page that needs no server: what the file holds, and that nothing in it comes from elsewhere."""

import base64
import gzip
import hashlib
import re
from pathlib import Path

import pytest

from rnnviz import cli
from rnnviz.errors import ConfigError
from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.networks.ngram import NgramModel
from rnnviz.page import CELLS, build, command
from rnnviz.page.payload import unpack
from tests.support.models import TEXT, tiny, tiny_card

MEGABYTES = 3 * 2**20


def packed(page: str, name: str) -> bytes:
    match = re.search(rf'<script type="text/plain" id="{name}">([^<]*)</script>', page)
    assert match
    return gzip.decompress(base64.b64decode(match[1]))


def written(tmp_path: Path, info: ModelInfo, *options: str) -> str:
    """The page of a network, as the command writes it."""
    target = tmp_path / "page.html"
    arguments = ["page", "-m", str(info.path), "--output", str(target), *options]
    assert cli.main(arguments, more_commands=[command.page]) == 0
    return target.read_text("utf-8")


@pytest.fixture
def info(only_tiny_models: Path) -> ModelInfo:
    return checkpoint.read_info(only_tiny_models / "tiny-gru.safetensors")


def test_page_command_writes_page(
    info: ModelInfo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = written(tmp_path, info)
    assert "tiny-gru" in capsys.readouterr().out
    header, arrays = unpack(packed(page, "packed"))[0], unpack(packed(page, "weights"))[1]
    assert header["model"]["fixed"]["model"] == "tiny-gru"
    assert header["model"]["fixed"]["ngram"] == "3-gram"  # the model that the card names
    assert {"weight:readout.bias", "level:2.share", "rows:steady,0,hidden"} <= set(arrays)


@pytest.mark.slow
def test_check_page_ignores_packing_and_notices_changes(
    info: ModelInfo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "page.html"
    check = ["dev", "check-page", "-m", str(info.path), "--output", str(target)]
    assert cli.main(check, develop=[command.check_page]) == 1
    assert "rebuild it: python -m rnnviz page --model" in capsys.readouterr().err
    assert not target.exists()
    page = written(tmp_path, info)

    def other(block: re.Match[str]) -> str:
        again = gzip.compress(gzip.decompress(base64.b64decode(block[2])), 1, mtime=1)
        return block[1] + base64.b64encode(again).decode()

    elsewhere = re.sub(r'(id="\w+">)([^<]+)(?=</script>\n<script type)', other, page)
    assert elsewhere != page
    target.write_text(elsewhere, "utf-8")
    assert cli.main(check, develop=[command.check_page]) == 0
    assert written(tmp_path, info) == elsewhere  # nothing to commit
    for damaged in (
        page.replace("<title>", "<title>x"),
        page[:-99],
        page.replace('id="packed">', 'id="packed">A'),
    ):
        target.write_text(damaged, "utf-8")
        assert cli.main(check, develop=[command.check_page]) == 1
    assert written(tmp_path, info) == page == build.page(info, checkpoint.yardstick(info.card))


def test_language_option_writes_chinese_page(info: ModelInfo, tmp_path: Path) -> None:
    page = written(tmp_path, info, "--language", "zh")
    assert '<html lang="zh">' in page
    assert unpack(packed(page, "packed"))[0]["model"]["fixed"]["words"]["perplexity"] == "困惑度"


def test_page_is_small_and_fetches_nothing(info: ModelInfo) -> None:
    page = build.page(info)
    assert len(page.encode()) < MEGABYTES
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}' blob:;" in policy[1]
    assert policy[1].startswith("default-src 'none';")
    assert "unsafe-eval" not in policy[1]
    outside = re.findall(r'(?:src|href)="(?!data:)([^"]*)"', re.sub(r">[A-Za-z0-9+/=]{99,}<", "><", page))
    assert outside == []


def test_markup_in_card_stays_text(tmp_path: Path) -> None:
    evil = '</script><script>alert("x")</script><img src=x onerror="alert(1)">\u2028<!--'
    path = tmp_path / "evil.safetensors"
    checkpoint.save(tiny("rnn", card=tiny_card(name=evil, title=evil, example=evil)), path)
    page = build.page(checkpoint.read_info(path))
    assert evil not in page
    assert "onerror" not in page
    assert (page.count("<script"), page.count("<!--"), page.count("<img")) == (4, 0, 0)
    assert unpack(packed(page, "packed"))[0]["model"]["opening"] == evil


def test_large_or_foreign_ngram_tables_are_left_out(info: ModelInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    yardstick = NgramModel.fit(TEXT, order=3, name="tiny-3gram")
    assert build.page_parts(info, yardstick)[0]["model"]["fixed"]["ngram"] == "3-gram"
    other_counts = NgramModel.fit(TEXT + "ßßßß", order=3, name="other-3gram")
    assert build.page_parts(info, other_counts)[0]["model"]["fixed"]["ngram"] is None
    monkeypatch.setattr(build, "MAX_TABLE_BYTES", 100)
    header, arrays = build.page_parts(info, yardstick)
    assert header["model"]["fixed"]["ngram"] is None
    assert not any(name.startswith("level:") for name in arrays)


def test_ngram_model_has_no_page(
    only_tiny_models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "page.html"
    ngram = str(only_tiny_models / "tiny-3gram.safetensors")
    assert cli.main(["page", "-m", ngram, "--output", str(target)], more_commands=[command.page]) == 1
    assert "received the n-gram model tiny-3gram" in capsys.readouterr().err
    assert not target.exists()


def test_unknown_cell_has_no_page(info: ModelInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "CELLS", ("rnn",))
    with pytest.raises(ConfigError, match="of these cells: rnn; the cell of tiny-gru is gru"):
        build.page(info)


def test_engine_knows_cells_of_pages() -> None:
    gates = re.search(
        r"const GATES = \{(.*?)\};", (build.PAGE_FOLDER / "cells.js").read_text("utf-8"), re.DOTALL
    )
    assert gates
    assert tuple(re.findall(r"(\w+): \[", gates[1])) == CELLS
