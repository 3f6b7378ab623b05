"""The commands of README and docs/, run as they stand and in order, where the files they name are."""

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rnnviz.cli import main
from rnnviz.page.command import page
from tests.support.written import PAGES, ROOT, blocks, commands, typed, why_not

PROSE = "It was past midnight when the machine came back. 'Well?' said the doctor, and nobody spoke. "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("written")
    for name in set(re.findall(r"(?<= )[\w-]+\.txt", "\n".join(commands()))):
        (path / name).write_text(PROSE * 30, "utf-8")
    names = [
        f"{a}{b}" for a in ("An", "Bel", "Cor", "Dan", "El", "Fre") for b in ("a", "ie", "na", "le", "ys")
    ]
    (path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "regions.csv", path / "examples")
    (path / "names.csv").write_text("\n".join(["name", *names * 4, ""]), "utf-8")
    rows = "".join(f"{json.dumps({'id': n, 'text': PROSE[n:]})}\n" for n in range(9)).encode()
    for name, data in (("corpus/rows.jsonl", rows), ("more/rows.jsonl.gz", gzip.compress(rows))):
        (path / name).parent.mkdir()
        (path / name).write_bytes(data)
    return path


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent.name != "deploy"],  # changes a machine; tests/deploy looks at it
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_a_command_that_is_not_run_says_why(page: Path) -> None:
    left = [line for line in typed(page) if line not in commands() and not why_not(line)]
    assert not left, "run these (tests.support.written.RUN), or say why not (tests.support.written.NOT_RUN)"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_is_of_a_kind_that_is_looked_at(page: Path) -> None:
    kinds = re.findall(r"^ *```(\S+)$", page.read_text("utf-8"), re.MULTILINE)
    assert set(kinds) <= {"bash", "python", "mermaid", "text", "bibtex", "json"}
    for kind in set(kinds):
        assert len(blocks(page, kind)) + len(blocks(page, kind, indented=True)) == kinds.count(kind)
    if page.name not in (
        "cells.md",
        "adding.md",
        "adding.zh.md",
    ):  # places in the code, and what to write there
        assert not blocks(page, "python", indented=True)


@pytest.mark.slow
@pytest.mark.parametrize("line", commands())
def test_a_written_command_runs_and_shows_something(
    line: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = shlex.split(line.split("rnnviz ", 1)[1], comments=True)
    if "train" not in arguments:  # what trains sets its process up for that
        monkeypatch.chdir(folder)
        monkeypatch.setenv("RNNVIZ_CACHE", str(folder / "cache"))
        assert main(arguments, (page,)) == 0, capsys.readouterr().err
        assert capsys.readouterr().out.strip()
        return
    done = subprocess.run(
        [sys.executable, "-m", "rnnviz", *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
            "RNNVIZ_RUNS": str(folder / "runs"),
            "RNNVIZ_CACHE": str(folder / "cache"),
        },
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()
    if name := re.search(r"--name (\S+)", line):
        assert (folder / f"{name[1]}.safetensors").is_file()
