"""The command line in this process, in an empty folder, with the tiny models."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rnnviz import cli
from tests.support.models import TEXT
from tests.support.refused import assert_one_sentence

ROOT = Path(__file__).resolve().parents[2]


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Standard output's JSON objects, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Done]


@pytest.fixture
def run(
    models_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Run:
    """Run one command: its first words in one string; `data` None: standard input is closed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RNNVIZ_MODELS", str(models_folder))
    monkeypatch.delenv("RNNVIZ_RUNS", raising=False)

    def run(command: str, *arguments: str, data: bytes | None = b"") -> Done:
        standard_input = None if data is None else io.TextIOWrapper(io.BytesIO(data), "utf-8")
        monkeypatch.setattr("sys.stdin", standard_input)
        monkeypatch.setattr("sys.argv", ["rnnviz", *command.split(), *arguments])  # a card's command
        capfdbinary.readouterr()
        try:
            code = cli.main([*command.split(), *arguments])
        except SystemExit as exit:
            code = int(str(exit.code or 0))
        out, err = capfdbinary.readouterr()
        assert b"Traceback" not in err
        return Done(code, out.decode(), err.decode())

    return run


def refuse(run: Run, folder: Path, arguments: list[str], word: str) -> None:
    """A command ends with 1 and one plain line that holds a word, before it has written anything."""
    before = sorted(folder.iterdir())
    done = run(arguments[0], *arguments[1:])
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("rnnviz: ")
    assert word in done.err
    assert_one_sentence(done.err.removesuffix("\n"))
    assert sorted(folder.iterdir()) == before, "refused before anything was written"


def process(command: str, environment: dict[str, str], **options: Any) -> subprocess.Popen[bytes]:
    """A command as a process of its own; its output goes into pipes unless `options` say otherwise."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | options
    environment = {**environment, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "120"}
    return subprocess.Popen([sys.executable, "-m", "rnnviz", *command.split()], env=environment, **options)


@pytest.fixture
def run_beside_text(run: Run) -> Run:
    """Run one command in a folder with a text: its exit code, standard output and error."""
    Path("tiny.txt").write_text(TEXT * 4, "utf-8")
    return run
