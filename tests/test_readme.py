"""The README's commands, run as they stand and in their order, in a folder with the files they name."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
PROSE = "It was past midnight when the machine came back. 'Well?' said the doctor, and nobody spoke. "


def commands() -> list[str]:
    """What the README lets one type after `python -m rnnviz` or torchrun; the rest installs or serves."""
    typed = [
        line for block in re.findall(r"```bash\n(.*?)```", README, re.DOTALL) for line in block.splitlines()
    ]
    runs = ("python -m rnnviz", "torchrun")
    return [line for line in typed if line.startswith(runs) and line != "python -m rnnviz host"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("readme")
    for name in ("book.txt", "notes.txt", "mytext.txt"):
        (made / name).write_text(PROSE * 30, "utf-8")
    rows = "".join(f"{json.dumps({'id': n, 'text': PROSE[n:]})}\n" for n in range(9)).encode()
    for name, data in (("corpus/rows.jsonl", rows), ("more/rows.jsonl.gz", gzip.compress(rows))):
        (made / name).parent.mkdir()
        (made / name).write_bytes(data)
    return made


def test_every_kind_of_command_is_among_them() -> None:
    named = {line.split(" rnnviz ")[1].split()[0] for line in commands()}
    assert named == {
        *("match", "models", "perplexity", "sample", "trace", "train", "units"),
        *("ablate", "connectivity", "page", "perturb"),
    }
    assert sum(line.startswith("torchrun") for line in commands()) == 1
    names = re.findall(r"--name (\S+)", "\n".join(commands()))
    assert len(names) == len(set(names))  # a name is a run's folder, and taken after the first


@pytest.mark.parametrize("line", commands())
def test_a_command_of_the_readme_runs_and_shows_something(line: str, folder: Path) -> None:
    program, *arguments = shlex.split(line, comments=True)
    start = [sys.executable] if program == "python" else [sys.executable, "-m", "torch.distributed.run"]
    done = subprocess.run(
        [*start, *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "RNNVIZ_RUNS": str(folder / "runs"),
            "RNNVIZ_CACHE": str(folder / "cache"),
        },
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()
    if name := re.search(r"--name (\S+)", line):
        assert (folder / f"{name[1]}.safetensors").is_file()
